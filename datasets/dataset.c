/* SPDX-License-Identifier: Apache-2.0
 * The data set: classes, paths and labels, fixed once it is open. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* realpath() */
#endif
#include "datasets/dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "datasets/index.h"
#include "datasets/list.h"
#include "datasets/walk.h"
#include "src/base/hash.h"
#include "src/base/memory.h"

struct pinfold_dataset {
    atomic_long users;
    char *root;
    char *inside; /* its real path, which no link may leave; or NULL */
    int root_fd;
    struct pfi_listing listing;
    int32_t *labels; /* [paths] of a list; NULL: listing.ends tells them */
    char *remark;    /* or NULL */
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
    const struct pfi_listing *const l = &dataset->listing;
    char names[200];
    size_t used = 0;
    int64_t before = 0;

    for (int64_t c = 0; c < l->classes.count; c++) {
        const char *const name = pfi_strings_get(&l->classes, c);

        if (l->ends[c] == before && used < sizeof(names))
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                     used ? ", " : "", name);
        before = l->ends[c];
    }
    (void)pfi_fail_path(err, PINFOLD_E_ARGUMENT, 0, names,
                        "no picture in this class (allow_empty keeps it); "
                        "extensions: .jpg .jpeg .png .ppm .bmp .pgm .tif "
                        ".tiff .webp");
    pfi_error_add_path(err, dataset->root);
    return PINFOLD_E_ARGUMENT;
}

static bool has_empty(const struct pfi_listing *l)
{
    int64_t before = 0;

    for (int64_t c = 0; c < l->classes.count; c++) {
        if (l->ends[c] == before)
            return true;
        before = l->ends[c];
    }
    return false;
}

/* More than the CPUs: on a network's file system they wait. */
#define PFI_WALK_THREADS 16

static pinfold_status walk(pinfold_dataset *dataset,
                           const pinfold_dataset_options *o, pinfold_error *err)
{
    const struct pfi_root root = {dataset->root_fd, dataset->root,
                                  dataset->inside};

    return pfi_walk(&dataset->listing, &root, o->class_list,
                    o->walk_threads ? o->walk_threads : PFI_WALK_THREADS, err);
}

/* ------------------------------------------------------------------ index --- */

/* Keeps "FILE: WHY; then"; without memory there is no remark. */
static void remark(pinfold_dataset *dataset, const char *file, const char *why,
                   const char *then)
{
    const size_t room = strlen(file) + strlen(why) + strlen(then) + 8;

    dataset->remark = pfi_malloc(room);
    if (dataset->remark)
        (void)snprintf(dataset->remark, room, "%s: %s; %s", file, why, then);
}

/* Loads the index, or walks and writes it. */
static pinfold_status use_index(pinfold_dataset *dataset,
                                const pinfold_dataset_options *o,
                                pinfold_error *err)
{
    struct pfi_listing *const l = &dataset->listing;
    struct pfi_strings names = {0};
    uint64_t class_list = 0;
    pinfold_error why, unsaved;
    pinfold_status status = PINFOLD_OK;

    if (o->class_list)
        status = pfi_list_classes(o->class_list, &names, err);
    if (o->class_list && !status)
        class_list = pfi_hash(names.bytes, names.used, 0) | 1;
    pfi_strings_end(&names);
    if (status)
        return status;
    pfi_error_clear(&why);
    if (!pfi_index_load(l, o->index, dataset->root_fd, class_list,
                        o->trust_index, &why))
        return PINFOLD_OK;
    status = walk(dataset, o, err);
    if (status)
        return status;
    l->class_list = class_list;
    pfi_error_clear(&unsaved);
    if (why.status == PINFOLD_E_FORMAT)
        (void)pfi_fail(&unsaved, PINFOLD_E_FORMAT, 0, "left as it is");
    else
        (void)pfi_index_save(l, o->index, dataset->root_fd, &unsaved);
    remark(dataset, o->index, why.message,
           unsaved.status ? unsaved.message : "written anew");
    return PINFOLD_OK;
}

/* ------------------------------------------------------------------- list --- */

static pinfold_status name_classes(struct pfi_strings *classes,
                                   const int32_t *labels, int64_t n,
                                   pinfold_error *err)
{
    int32_t most = 0;
    char name[16];

    for (int64_t i = 0; i < n; i++)
        most = labels[i] > most ? labels[i] : most;
    for (int32_t c = 0; c <= most; c++) {
        (void)snprintf(name, sizeof(name), "%d", c);
        if (!pfi_strings_add(classes, "", name))
            return pfi_fail(err, PINFOLD_E_MEMORY, 0,
                            "no memory for the classes");
    }
    return PINFOLD_OK;
}

static pinfold_status read_list(pinfold_dataset *dataset,
                                const pinfold_dataset_options *o,
                                pinfold_error *err)
{
    struct pfi_listing *const l = &dataset->listing;
    pinfold_status status = PINFOLD_OK;

    if (o->class_list)
        status = pfi_list_classes(o->class_list, &l->classes, err);
    if (!status)
        status = pfi_list_samples(
            o->list, dataset->root_fd,
            o->class_list ? l->classes.count : PFI_LIST_CLASSES, &l->paths,
            &dataset->labels, err);
    pfi_strings_trim(&l->paths);
    if (status || o->class_list)
        return status;
    return name_classes(&l->classes, dataset->labels, l->paths.count, err);
}

/* ------------------------------------------------------------------- open --- */

static pinfold_status stay_inside(pinfold_dataset *dataset, pinfold_error *err)
{
    char real[PATH_MAX];

    if (!realpath(dataset->root, real))
        return pfi_fail_path(err, PINFOLD_E_IO, errno, dataset->root,
                             "cannot find the folder's real path");
    dataset->inside = pfi_malloc(strlen(real) + 1);
    if (!dataset->inside)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a path");
    memcpy(dataset->inside, real, strlen(real) + 1);
    return PINFOLD_OK;
}

static pinfold_status fill(pinfold_dataset *dataset, const char *root,
                           const pinfold_dataset_options *o, pinfold_error *err)
{
    pinfold_status status = open_root(dataset, root, err);

    if (!status && o->no_follow_outside)
        status = stay_inside(dataset, err);

    if (!status && o->list)
        return read_list(dataset, o, err);
    if (!status)
        status = o->index ? use_index(dataset, o, err) : walk(dataset, o, err);
    if (!status && !o->allow_empty && has_empty(&dataset->listing))
        return fail_empty(dataset, err);
    return status;
}

static pinfold_status check_flags(const pinfold_dataset_options *o,
                                  pinfold_error *err)
{
    const struct {
        const char *name;
        int32_t value;
    } flags[] = {{"allow_empty", o->allow_empty},
                 {"trust_index", o->trust_index},
                 {"no_follow_outside", o->no_follow_outside}};

    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        if (flags[i].value != 0 && flags[i].value != 1)
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "%s is %d, not 0 or 1",
                            flags[i].name, flags[i].value);
    return PINFOLD_OK;
}

static pinfold_status take_options(pinfold_dataset_options *o,
                                   const pinfold_dataset_options *options,
                                   pinfold_error *err)
{
    pinfold_status status = PINFOLD_OK;

    *o = (pinfold_dataset_options){.struct_size = sizeof(*o)};
    if (options)
        status = pfi_struct_in(o, sizeof(*o),
                               PFI_SIZE_WITH(pinfold_dataset_options,
                                             walk_threads),
                               options, err);
    if (!status)
        status = check_flags(o, err);
    if (!status && o->list && o->index)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "a list and an index exclude each other");
    if (!status && o->trust_index && !o->index)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "trust_index, but there is no index");
    if (!status && o->no_follow_outside && (o->list || o->index))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "no_follow_outside is of a walk, not of a list or an "
                        "index");
    if (!status && (o->walk_threads < 0 || o->walk_threads > PINFOLD_WORKERS_MAX))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "walk_threads is %d, not 0 to %d", o->walk_threads,
                        PINFOLD_WORKERS_MAX);
    return status;
}

pinfold_status pinfold_dataset_open(pinfold_dataset **out, const char *root,
                                    const pinfold_dataset_options *options,
                                    pinfold_error *err)
{
    pinfold_dataset_options o;
    pinfold_dataset *dataset;
    pinfold_status status;

    pfi_error_clear(err);
    *out = NULL;
    if (!root || !*root)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "root is empty");
    status = take_options(&o, options, err);
    if (status)
        return status;
    dataset = pfi_calloc(1, sizeof(*dataset));
    if (!dataset)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory for a data set");
    atomic_init(&dataset->users, 1);
    dataset->root_fd = -1;
    status = fill(dataset, root, &o, err);
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
    pfi_free(dataset->inside);
    pfi_free(dataset->labels);
    pfi_free(dataset->remark);
    pfi_listing_end(&dataset->listing);
    pfi_free(dataset);
}

uint64_t pfi_dataset_fingerprint(const pinfold_dataset *dataset)
{
    const struct pfi_listing *const l = &dataset->listing;
    uint64_t hash = pfi_hash(l->classes.bytes, l->classes.used, 0);

    if (dataset->labels)
        hash = pfi_hash(dataset->labels,
                        (size_t)l->paths.count * sizeof(*dataset->labels), hash);
    else
        hash = pfi_hash(l->ends, (size_t)l->classes.count * sizeof(*l->ends),
                        hash);
    hash = pfi_hash(l->paths.bytes, l->paths.used, hash);
    return hash ? hash : 1;
}

pinfold_status pinfold_dataset_save(const pinfold_dataset *dataset,
                                    const char *file, pinfold_error *err)
{
    pfi_error_clear(err);
    if (!file || !*file)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "the file's name is empty");
    if (dataset->labels)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "an index is of a tree, not of a list");
    return pfi_index_save(&dataset->listing, file, dataset->root_fd, err);
}

const char *pinfold_dataset_remark(const pinfold_dataset *dataset)
{
    return dataset->remark;
}

int pfi_dataset_root_fd(const pinfold_dataset *dataset)
{
    return dataset->root_fd;
}

int64_t pinfold_dataset_size(const pinfold_dataset *dataset)
{
    return dataset->listing.paths.count;
}

int64_t pinfold_dataset_class_count(const pinfold_dataset *dataset)
{
    return dataset->listing.classes.count;
}

const char *pinfold_dataset_root(const pinfold_dataset *dataset)
{
    return dataset->root;
}

const char *pinfold_dataset_class_name(const pinfold_dataset *dataset,
                                       int64_t index)
{
    return pfi_strings_get(&dataset->listing.classes, index);
}

const char *pinfold_dataset_path(const pinfold_dataset *dataset, int64_t index)
{
    return pfi_strings_get(&dataset->listing.paths, index);
}

int64_t pinfold_dataset_label(const pinfold_dataset *dataset, int64_t index)
{
    int64_t low = 0, high = dataset->listing.classes.count - 1;

    if (dataset->labels)
        return dataset->labels[index];
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;

        if (index < dataset->listing.ends[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
