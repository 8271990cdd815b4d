/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes saved indices: as they are, and with a head whose size, checksum and
 * root are right, so that what lies behind it counts. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "datasets/index.h"
#include "src/base/hash.h"
#include "tests/fuzz/fuzz.h"

static int root = -1;

/* Reads all that a data set would. */
static void read_all(const struct pfi_listing *l)
{
    const struct pfi_strings *const all[] = {&l->classes, &l->paths,
                                             &l->folders.paths};
    int64_t last = 0;
    size_t bytes = 0;

    for (int k = 0; k < 3; k++)
        for (int64_t i = 0; i < all[k]->count; i++)
            bytes += strlen(pfi_strings_get(all[k], i)) + 1;
    fuzz_require(bytes <= l->map_size, "strings inside the file");
    for (int64_t c = 0; c < l->classes.count; c++) {
        fuzz_require(l->ends[c] >= last, "rising ends");
        last = l->ends[c];
    }
    fuzz_require(last == l->paths.count, "paths up to the last end");
}

static void load(const uint8_t *data, size_t size, uint64_t class_list,
                 bool trust)
{
    struct pfi_listing listing = {0};
    pinfold_error err;

    pfi_error_clear(&err);
    if (!pfi_index_load(&listing, fuzz_file(0, data, size), root, class_list,
                        trust, &err))
        read_all(&listing);
    pfi_listing_end(&listing);
}

static void repair(uint8_t *data, size_t size, struct pfi_index_head *head)
{
    const size_t behind = offsetof(struct pfi_index_head, root_inode);
    struct stat info;

    fuzz_require(!fstat(root, &info), "the root");
    memcpy(head, data, sizeof(*head));
    memcpy(head->magic, PFI_INDEX_MAGIC, sizeof(head->magic));
    head->version = PFI_INDEX_VERSION;
    head->size = size;
    head->root_inode = (uint64_t)info.st_ino;
    memcpy(data, head, sizeof(*head));
    head->checksum = pfi_hash(data + behind, size - behind, 0);
    memcpy(data, head, sizeof(*head));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pfi_index_head head;
    uint8_t *copy;

    if (root < 0)
        root = open(PFI_GOLDEN_DIR "/tree", O_RDONLY | O_DIRECTORY);
    fuzz_require(root >= 0, "tests/golden/tree");
    load(data, size, 0, true);
    if (size < sizeof(head))
        return 0;
    copy = (uint8_t *)fuzz_text(data, size);
    repair(copy, size, &head);
    load(copy, size, head.class_list, true);
    load(copy, size, head.class_list, false);
    free(copy);
    return 0;
}
