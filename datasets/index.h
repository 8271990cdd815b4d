/* SPDX-License-Identifier: Apache-2.0
 * A walk's result in a file, which is mapped as it is: 64-bit little-endian
 * machines only. */
#ifndef PFI_DATASETS_INDEX_H
#define PFI_DATASETS_INDEX_H

#include <stddef.h>

#include "datasets/folder.h"

/* What an index holds; after a load all of it is borrowed from the map. */
struct pfi_listing {
    struct pfi_strings classes, paths;
    int64_t *ends; /* [classes]: paths of class c end before ends[c] */
    struct pfi_folders folders;
    uint64_t class_list; /* hash of the list that chose the classes; 0 = none */
    void *map;
    size_t map_size;
};

/* Frees or unmaps all of it. */
void pfi_listing_end(struct pfi_listing *listing);

/* Maps the index `file` of the tree at root_fd.  PINFOLD_E_IO with ENOENT where
 * there is none; otherwise the message says why it is of no use: cut, damaged,
 * foreign, or stale.  With `trust` no folder below the root is looked at. */
pinfold_status pfi_index_load(struct pfi_listing *out, const char *file,
                              int root_fd, uint64_t class_list, bool trust,
                              pinfold_error *err);

/* Writes it under another name and renames it. */
pinfold_status pfi_index_save(const struct pfi_listing *listing,
                              const char *file, int root_fd, pinfold_error *err);

/* The file's head; behind it, each from a multiple of 8 on: where classes,
 * their ends, paths and folders begin, the folders' times, then the bytes of
 * the three, each string ended by a NUL. */
struct pfi_index_head {
    char magic[8];
    uint64_t version;  /* as the machine writes numbers */
    uint64_t size;     /* of the file */
    uint64_t checksum; /* of all that follows */
    uint64_t root_inode, root_changed, class_list;
    uint64_t n_classes, n_paths, n_folders;
    uint64_t class_bytes, path_bytes, folder_bytes;
    uint64_t reserved[3];
};

#define PFI_INDEX_MAGIC "PFINDEX\n"
#define PFI_INDEX_VERSION 1

/* Whether this machine can map an index. */
static inline bool pfi_index_possible(void)
{
    const union {
        uint64_t number;
        unsigned char first;
    } one = {1};

    return sizeof(size_t) == 8 && one.first == 1;
}

#endif
