/* SPDX-License-Identifier: Apache-2.0
 * Class folders are read in any order, and what they hold is put together in the
 * classes' order. */
#include "datasets/walk.h"

#include "datasets/list.h"
#include "src/base/memory.h"
#include "src/base/parallel.h"
#include "src/base/retry.h"

/* What a class holds, until it is gathered. */
struct part {
    struct pfi_strings paths;
    struct pfi_folders folders;
    pinfold_status status;
    pinfold_error error;
};

struct walk {
    const struct pfi_root *root;
    struct pfi_listing *listing;
    struct pfi_retry retry;
    struct part *parts; /* [classes] */
    pinfold_error *err;
    pinfold_status status;
};

static void end_part(struct part *part)
{
    pfi_strings_end(&part->paths);
    pfi_folders_end(&part->folders);
}

static void read_class(void *cookie, int64_t c)
{
    struct walk *const w = cookie;
    struct part *const part = &w->parts[c];
    struct pfi_attempts attempts = {0};

    do {
        pfi_error_clear(&part->error);
        part->status = pfi_folder_pictures(
            w->root, pfi_strings_get(&w->listing->classes, c),
            &part->paths, &part->folders, &part->error);
    } while (part->status == PINFOLD_E_IO &&
             pfi_retry_wait(&w->retry, &attempts, part->error.sys_code));
    if (part->status)
        pfi_attempts_tell(&attempts, &part->error);
}

static bool add_class(void *cookie, int64_t c)
{
    struct walk *const w = cookie;
    struct pfi_listing *const l = w->listing;
    struct part *const part = &w->parts[c];

    w->status = part->status;
    if (w->status) {
        if (w->err)
            *w->err = part->error;
    } else if (!pfi_strings_append(&l->paths, &part->paths) ||
               !pfi_folders_append(&l->folders, &part->folders)) {
        w->status = pfi_fail(w->err, PINFOLD_E_MEMORY, 0,
                             "no memory for the listing");
    }
    l->ends[c] = l->paths.count;
    end_part(part);
    return !w->status;
}

static pinfold_status read_classes(struct walk *w, int32_t threads)
{
    struct pfi_listing *const l = w->listing;
    const int64_t n = l->classes.count;
    const struct pfi_parallel work = {w, read_class, add_class};

    l->ends = pfi_calloc((size_t)n, sizeof(*l->ends));
    w->parts = pfi_calloc((size_t)n, sizeof(*w->parts));
    if (l->ends && w->parts)
        pfi_parallel_run(&work, n, threads);
    else
        w->status = pfi_fail(w->err, PINFOLD_E_MEMORY, 0,
                             "no memory for the classes");
    /* Those behind the one that failed were not gathered. */
    for (int64_t c = 0; w->parts && c < n; c++)
        end_part(&w->parts[c]);
    pfi_free(w->parts);
    pfi_strings_trim(&l->paths);
    return w->status;
}

static pinfold_status read_root(struct walk *w, struct pfi_strings *names)
{
    struct pfi_attempts attempts = {0};
    pinfold_status status;
    pinfold_error error;

    do {
        pfi_error_clear(&error);
        status = pfi_folder_classes(w->root, names,
                                    &w->listing->folders, &error);
    } while (status == PINFOLD_E_IO &&
             pfi_retry_wait(&w->retry, &attempts, error.sys_code));
    if (status)
        pfi_attempts_tell(&attempts, &error);
    if (status && w->err)
        *w->err = error;
    return status;
}

static pinfold_status walk(struct walk *w, const char *class_list,
                           int32_t threads)
{
    struct pfi_listing *const l = w->listing;
    struct pfi_strings all = {0};
    pinfold_status status = read_root(w, class_list ? &all : &l->classes);

    pfi_strings_end(&all);
    if (!status && class_list)
        status = pfi_list_classes(class_list, &l->classes, w->err);
    if (status)
        return status;
    if (!l->classes.count)
        return pfi_fail_path(w->err, PINFOLD_E_ARGUMENT, 0, w->root->path,
                             "no class folder in it: pictures belong one folder "
                             "deeper, as CLASS/PICTURE");
    return read_classes(w, threads);
}

pinfold_status pfi_walk(struct pfi_listing *out, const struct pfi_root *root,
                        const char *class_list, int32_t threads,
                        pinfold_error *err)
{
    struct walk w = {.root = root, .listing = out, .err = err};
    const int code = pfi_retry_init(&w.retry, PFI_RETRIES);
    pinfold_status status;

    if (code)
        return pfi_fail(err, PINFOLD_E_THREAD, code,
                        "cannot make a lock: errno %d", code);
    status = walk(&w, class_list, threads);
    pfi_retry_end(&w.retry);
    return status;
}
