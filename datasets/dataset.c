/* SPDX-License-Identifier: Apache-2.0
 * The data set: classes, paths and labels, fixed once it is open. */
#include "datasets/dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "datasets/folder.h"
#include "src/base/hash.h"
#include "src/base/memory.h"

struct pinfold_dataset {
    atomic_long users;
    char *root;
    int root_fd;
    struct pfi_strings classes, paths;
    int64_t *ends; /* [classes]: paths of class c end before ends[c] */
};

static pinfold_status open_root(pinfold_dataset *dataset, const char *root,
                                pinfold_error *err)
{
    const size_t size = strlen(root) + 1;
    char reason[128];

    dataset->root = pfi_malloc(size);
    if (!dataset->root)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a path");
    memcpy(dataset->root, root, size);
    dataset->root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dataset->root_fd >= 0)
        return PINFOLD_OK;
    const int code = errno;

    if (strerror_r(code, reason, sizeof(reason)))
        (void)snprintf(reason, sizeof(reason), "errno %d", code);
    return pfi_fail_path(err, PINFOLD_E_IO, code, root,
                         "cannot open the folder: %s", reason);
}

/* torchvision's message: the classes, and what would count as a picture. */
static pinfold_status fail_empty(const pinfold_dataset *dataset,
                                 pinfold_error *err)
{
    char names[200];
    size_t used = 0;
    int64_t before = 0;

    for (int64_t c = 0; c < dataset->classes.count; c++) {
        const char *const name = pfi_strings_get(&dataset->classes, c);

        if (dataset->ends[c] == before && used < sizeof(names))
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                     used ? ", " : "", name);
        before = dataset->ends[c];
    }
    (void)pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, names,
                        "no picture in this class; extensions: .jpg .jpeg "
                        ".png .ppm .bmp .pgm .tif .tiff .webp");
    pfi_error_add_path(err, dataset->root);
    return PINFOLD_E_ARGUMENT;
}

static pinfold_status read_classes(pinfold_dataset *dataset, bool allow_empty,
                                   pinfold_error *err)
{
    const int64_t n = dataset->classes.count;
    pinfold_status status = PINFOLD_OK;
    bool empty = false;

    dataset->ends = pfi_calloc((size_t)n, sizeof(*dataset->ends));
    if (!dataset->ends)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for the classes");
    for (int64_t c = 0; !status && c < n; c++) {
        const int64_t before = dataset->paths.count;

        status = pfi_folder_pictures(dataset->root_fd, dataset->root,
                                     pfi_strings_get(&dataset->classes, c),
                                     &dataset->paths, err);
        dataset->ends[c] = dataset->paths.count;
        empty = empty || dataset->ends[c] == before;
    }
    if (!status && empty && !allow_empty)
        return fail_empty(dataset, err);
    return status;
}

static pinfold_status fill(pinfold_dataset *dataset, const char *root,
                           bool allow_empty, pinfold_error *err)
{
    pinfold_status status = open_root(dataset, root, err);

    if (!status)
        status = pfi_folder_classes(dataset->root_fd, dataset->root,
                                    &dataset->classes, err);
    if (status)
        return status;
    if (!dataset->classes.count)
        return pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, root,
                             "no class folder in it");
    return read_classes(dataset, allow_empty, err);
}

pinfold_status pinfold_dataset_open(pinfold_dataset **out, const char *root,
                                    const pinfold_dataset_options *options,
                                    pinfold_error *err)
{
    pinfold_dataset_options o = {.struct_size = sizeof(o)};
    pinfold_dataset *dataset;
    pinfold_status status = PINFOLD_OK;

    pfi_error_clear(err);
    *out = NULL;
    if (!root || !*root)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "root is empty");
    if (options)
        status = pfi_struct_in(&o, sizeof(o), sizeof(o), options, err);
    if (status)
        return status;
    dataset = pfi_calloc(1, sizeof(*dataset));
    if (!dataset)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a data set");
    atomic_init(&dataset->users, 1);
    dataset->root_fd = -1;
    status = fill(dataset, root, o.allow_empty != 0, err);
    if (status) {
        pinfold_dataset_close(dataset);
        return status;
    }
    *out = dataset;
    return PINFOLD_OK;
}

void pfi_dataset_ref(pinfold_dataset *dataset)
{
    /* Relaxed: the caller holds a reference already. */
    atomic_fetch_add_explicit(&dataset->users, 1, memory_order_relaxed);
}

void pinfold_dataset_close(pinfold_dataset *dataset)
{
    /* Acquire and release: what other users did comes before the free. */
    if (!dataset || atomic_fetch_sub_explicit(&dataset->users, 1,
                                              memory_order_acq_rel) != 1)
        return;
    if (dataset->root_fd >= 0)
        close(dataset->root_fd);
    pfi_free(dataset->root);
    pfi_free(dataset->ends);
    pfi_strings_end(&dataset->classes);
    pfi_strings_end(&dataset->paths);
    pfi_free(dataset);
}

uint64_t pfi_dataset_fingerprint(const pinfold_dataset *dataset)
{
    const struct pfi_strings *const classes = &dataset->classes;
    uint64_t hash = pfi_hash(classes->bytes, classes->used, 0);

    for (int64_t c = 0; c < classes->count; c++)
        hash = pfi_hash(&dataset->ends[c], sizeof(dataset->ends[c]), hash);
    hash = pfi_hash(dataset->paths.bytes, dataset->paths.used, hash);
    return hash ? hash : 1;
}

int pfi_dataset_root_fd(const pinfold_dataset *dataset)
{
    return dataset->root_fd;
}

int64_t pinfold_dataset_size(const pinfold_dataset *dataset)
{
    return dataset->paths.count;
}

int64_t pinfold_dataset_class_count(const pinfold_dataset *dataset)
{
    return dataset->classes.count;
}

const char *pinfold_dataset_root(const pinfold_dataset *dataset)
{
    return dataset->root;
}

const char *pinfold_dataset_class_name(const pinfold_dataset *dataset,
                                       int64_t index)
{
    return pfi_strings_get(&dataset->classes, index);
}

const char *pinfold_dataset_path(const pinfold_dataset *dataset, int64_t index)
{
    return pfi_strings_get(&dataset->paths, index);
}

int64_t pinfold_dataset_label(const pinfold_dataset *dataset, int64_t index)
{
    int64_t low = 0, high = dataset->classes.count - 1;

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;

        if (index < dataset->ends[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
