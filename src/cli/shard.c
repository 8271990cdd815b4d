/* SPDX-License-Identifier: Apache-2.0
 * Locks a shard, goes on where an earlier run stopped, ends it. */
#include "src/cli/shard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/order.h"
#include "src/cli/text.h"

/* A block ends where one of them is reached: what a killed run makes again, and
 * how often the disk is waited for. */
#define BLOCK_BYTES (64 << 20)
#define BLOCK_BATCHES 16

static int fail(const struct pfi_cli_shard *s, const char *name,
                const char *why)
{
    return pfi_cli_place_fail(&s->place, name, why);
}

static int fail_errno(const struct pfi_cli_shard *s, const char *name)
{
    return pfi_cli_place_cannot(&s->place, name, "write");
}

/* ----------------------------------------------------------------- open --- */

static const char *refuse(const struct pfi_cli_options *o)
{
    if (o->format == PFI_CLI_NPY_EACH)
        return "--format npy-each has no shards; npy, safetensors and raw have";
    if (o->loader.drop_last)
        return "--drop-last goes with no shards of an export: each would leave "
               "something out";
    return NULL;
}

/* What cannot be done, with errno set, or NULL. */
static const char *open_place(struct pfi_cli_shard *s)
{
    const struct pfi_cli_options *const o = s->o;
    const bool is_file = o->format == PFI_CLI_SAFETENSORS;
    const char *const target = o->arguments[1];
    const bool is_raw = o->format == PFI_CLI_RAW;
    const struct pfi_cli_suffix none = {""};
    const char *stem, *end;

    if (!is_file && mkdir(target, 0777) && errno != EEXIST)
        return "make the folder";
    if (pfi_cli_place_open(&s->place, target, is_file))
        return is_file ? "open the folder that holds it" : "open the folder";
    s->suffix = pfi_cli_suffix(o->order.rank, o->order.world);
    stem = is_file ? s->place.stem : is_raw ? "data" : "images";
    end = is_file ? s->place.end : is_raw ? ".bin" : ".npy";
    s->images = pfi_cli_place_name("", stem, &s->suffix, end);
    s->manifest = pfi_cli_place_name("", s->place.stem, &s->suffix, ".json");
    s->journal =
        pfi_cli_place_name(".", s->place.stem, &s->suffix, ".json.journal");
    s->lock = pfi_cli_place_name(".", s->place.stem, &s->suffix, ".json.lock");
    s->part =
        s->images ? pfi_cli_place_name(".", s->images, &none, ".part") : NULL;
    errno = ENOMEM;
    s->files[s->n_files++] = s->images;
    return s->part && s->manifest && s->journal && s->lock ? NULL : "write";
}

static void hash_dataset(struct pfi_cli_shard *s,
                         const pinfold_dataset *dataset)
{
    uint64_t hash = PFI_CLI_HASH;

    s->dataset_size = pinfold_dataset_size(dataset);
    for (int64_t i = 0; i < pinfold_dataset_class_count(dataset); i++) {
        const char *const name = pinfold_dataset_class_name(dataset, i);

        hash = pfi_cli_hash(hash, name, strlen(name) + 1);
    }
    for (int64_t i = 0; i < s->dataset_size; i++) {
        const char *const path = pinfold_dataset_path(dataset, i);
        const int64_t label = pinfold_dataset_label(dataset, i);

        hash = pfi_cli_hash(hash, path, strlen(path) + 1);
        hash = pfi_cli_hash(hash, &label, sizeof(label));
    }
    s->dataset_hash = hash;
}

/* The caller frees what it returns; NULL after printing why. */
static int64_t *list_indices(const struct pfi_cli_shard *s,
                             const pinfold_loader_options *options,
                             int64_t *count)
{
    int64_t *indices;
    pinfold_error err;

    if (pinfold_order_indices(options, s->dataset_size, s->o->epoch, NULL, 0,
                              count, &err)) {
        pfi_cli_place_fail(&s->place, s->manifest, err.message);
        return NULL;
    }
    indices = calloc((size_t)*count + 1, sizeof(*indices));
    if (!indices) {
        errno = ENOMEM;
        fail_errno(s, "");
    } else if (pinfold_order_indices(options, s->dataset_size, s->o->epoch,
                                     indices, *count, count, &err)) {
        fail(s, s->manifest, err.message);
        free(indices);
        indices = NULL;
    }
    return indices;
}

/* The indices of this rank, and the hash of those of all. */
static int list_orders(struct pfi_cli_shard *s)
{
    pinfold_loader_options options = s->o->loader;
    struct pfi_cli_order order;
    int64_t *all = NULL, count = 0;
    size_t bytes;
    pinfold_error err;
    int code = pfi_cli_order_open(&order, s->o);

    if (code)
        return code;
    options.order = &order.order;
    s->batches = order.order.sampler == PINFOLD_SAMPLER_BATCHES;
    s->indices = list_indices(s, &options, &count);
    if (s->indices && pinfold_recipe_size(&s->o->recipe, count, &bytes,
                                          s->shape, &err))
        code = fail(s, s->manifest, err.message);
    s->shape[0] = count;
    order.order.rank = order.order.world = 0;
    if (!code && s->indices)
        all = list_indices(s, &options, &s->order_size);
    if (all)
        s->order_hash = pfi_cli_hash(PFI_CLI_HASH, all,
                                     (size_t)s->order_size * sizeof(*all));
    if (!all && !code)
        code = PFI_CLI_FAILED;
    free(all);
    pfi_cli_order_close(&order);
    return code;
}

/* The lock's file is removed by the one who holds it: another one that waited
 * for it has to see whether it still goes by that name. */
static int take_lock(struct pfi_cli_shard *s)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    struct stat own, named;

    for (;;) {
        s->lock_fd = openat(s->place.folder, s->lock,
                            O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (s->lock_fd < 0)
            return fail_errno(s, s->lock);
        if (fcntl(s->lock_fd, F_SETLK, &lock)) {
            const int code = errno;

            close(s->lock_fd);
            s->lock_fd = -1;
            return fail(s, s->manifest,
                        code == EACCES || code == EAGAIN
                            ? "another process is writing this shard"
                            : strerror(code));
        }
        if (fstat(s->lock_fd, &own))
            return fail_errno(s, s->lock);
        if (!fstatat(s->place.folder, s->lock, &named, AT_SYMLINK_NOFOLLOW)) {
            if (own.st_dev == named.st_dev && own.st_ino == named.st_ino)
                return PFI_CLI_OK;
        } else if (errno != ENOENT) {
            return fail_errno(s, s->lock);
        }
        close(s->lock_fd);
    }
}

/* Whether the text of an earlier run is of one with the same options. */
static int compare(const struct pfi_cli_shard *s, const char *name,
                   const char *text)
{
    const char *differs;
    char why[160];

    if (!pfi_cli_shard_differs_from(s, text, &differs))
        return fail(s, name, strerror(ENOMEM));
    if (!differs)
        return PFI_CLI_OK;
    (void)snprintf(why, sizeof(why),
                   "made with other options: its \"%s\" differs; --force "
                   "starts anew",
                   differs);
    return fail(s, name, why);
}

/* 0 or an exit status; s->whole where nothing is left to be done. */
static int look_at_manifest(struct pfi_cli_shard *s)
{
    char *const text = pfi_cli_place_read(&s->place, s->manifest);
    struct pfi_cli_json all, number;
    uint64_t bad = 0;
    int code;

    if (!text)
        return errno == ENOENT ? PFI_CLI_OK : fail_errno(s, s->manifest);
    all = (struct pfi_cli_json){text, text + strlen(text)};
    code = compare(s, s->manifest, text);
    if (!code && pfi_cli_json_member(all, "bad_samples", &number))
        (void)pfi_cli_json_number(&number, &bad);
    free(text);
    if (code)
        return code;
    (void)unlinkat(s->place.folder, s->journal, 0);
    s->bad = (long long)bad;
    s->whole = true;
    return PFI_CLI_OK;
}

/* NULL, or why the images that the journal speaks of cannot be gone on with.
 * Takes them back where a run ended between their rename and the manifest's. */
static const char *part_lacks(const struct pfi_cli_shard *s,
                              size_t sample_bytes)
{
    const int folder = s->place.folder;
    struct stat st;

    if (fstatat(folder, s->part, &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
        (void)renameat(folder, s->images, folder, s->part);
    if (fstatat(folder, s->part, &st, AT_SYMLINK_NOFOLLOW)) {
        if (errno != ENOENT)
            return strerror(errno);
    } else if (S_ISREG(st.st_mode) &&
               (uint64_t)st.st_size >= (uint64_t)s->written * sample_bytes) {
        return NULL;
    }
    return "less is left of it than its journal says; --force starts anew";
}

static int look_at_journal(struct pfi_cli_shard *s)
{
    const char *lacks;
    size_t sample_bytes;
    pinfold_error err;
    int code;

    s->stopped = pfi_cli_place_read(&s->place, s->journal);
    if (!s->stopped)
        return errno == ENOENT ? PFI_CLI_OK : fail_errno(s, s->journal);
    code = compare(s, s->journal, s->stopped);
    if (code)
        return code;
    if (!pfi_cli_shard_read_journal(s))
        return fail(s, s->journal, "damaged; --force starts anew");
    if (pinfold_recipe_size(&s->o->recipe, 1, &sample_bytes, NULL, &err))
        return fail(s, s->journal, err.message);
    lacks = part_lacks(s, sample_bytes);
    return lacks ? fail(s, s->images, lacks) : PFI_CLI_OK;
}

static int forget(const struct pfi_cli_shard *s)
{
    const char *const names[] = {s->manifest, s->journal};

    for (int i = 0; i < 2; i++)
        if (unlinkat(s->place.folder, names[i], 0) && errno != ENOENT)
            return fail_errno(s, names[i]);
    return PFI_CLI_OK;
}

/* A run that was killed while it wrote one of them may leave so little to do
 * that this one writes no journal, and so replaces none. */
static int forget_parts(const struct pfi_cli_shard *s)
{
    const char *const names[] = {s->manifest, s->journal};

    for (int i = 0; i < 2; i++)
        if (pfi_cli_part_forget(s->place.folder, names[i]))
            return fail_errno(s, names[i]);
    return PFI_CLI_OK;
}

int pfi_cli_shard_open(struct pfi_cli_shard *s, const struct pfi_cli_options *o,
                       const pinfold_dataset *dataset)
{
    const char *what;
    int code;

    *s = (struct pfi_cli_shard){.o = o, .lock_fd = -1, .place.folder = -1};
    if (refuse(o)) {
        pfi_cli_say("pinfold: %s", refuse(o));
        return PFI_CLI_USAGE;
    }
    what = open_place(s);
    if (what) {
        pfi_cli_cannot(o->arguments[1], what);
        return PFI_CLI_FAILED;
    }
    hash_dataset(s, dataset);
    code = list_orders(s);
    if (!code)
        code = take_lock(s);
    if (!code && o->force)
        code = forget(s);
    if (!code)
        code = forget_parts(s);
    if (!code)
        code = look_at_manifest(s);
    if (!code && !s->whole)
        code = look_at_journal(s);
    return code;
}

/* --------------------------------------------------------------- blocks --- */

int pfi_cli_shard_start(struct pfi_cli_shard *s, struct pfi_cli_export *e,
                        FILE *images)
{
    const off_t at = ftello(images);
    const off_t end = at + (off_t)((size_t)s->written * e->sample_bytes);

    /* Its state has to stand behind as many samples as it says. */
    if (e->shape[0] != s->shape[0])
        return fail(s, s->journal, "damaged; --force starts anew");
    s->images_offset = (size_t)at;
    s->block_start = s->written;
    if (at < 0 || fflush(images) || ftruncate(fileno(images), end) ||
        fseeko(images, 0, SEEK_END))
        return fail_errno(s, s->images);
    e->written = s->written;
    for (int64_t i = 0; i < s->written; i++) {
        e->indices[i] = s->indices[i];
        e->labels[i] = pinfold_dataset_label(e->dataset, s->indices[i]);
        e->paths[i] = pinfold_dataset_path(e->dataset, s->indices[i]);
    }
    if (s->stopped && !pfi_cli_shard_read_statuses(s, e))
        return fail(s, s->journal, "damaged; --force starts anew");
    if (s->stopped && !s->o->quiet)
        pfi_cli_say("pinfold: %s/%s: goes on behind %lld of %lld images",
                    s->place.path, s->manifest, (long long)s->written,
                    (long long)s->shape[0]);
    return PFI_CLI_OK;
}

static int replace(const struct pfi_cli_shard *s,
                   const struct pfi_cli_export *e, const char *name,
                   int (*write)(FILE *, const struct pfi_cli_shard *,
                                const struct pfi_cli_export *))
{
    struct pfi_cli_part part;
    int code = PFI_CLI_OK;

    if (pfi_cli_part_open(&part, s->place.folder, name))
        code = fail_errno(s, name);
    if (!code)
        code = write(part.file, s, e);
    if (!code && (pfi_cli_part_sync(&part) || pfi_cli_part_rename(&part) ||
                  fsync(s->place.folder)))
        code = fail_errno(s, name);
    pfi_cli_part_drop(&part);
    return code;
}

int pfi_cli_shard_block(struct pfi_cli_shard *s, const struct pfi_cli_export *e,
                        FILE *images, pinfold_loader *loader, bool now)
{
    const size_t samples = (size_t)(e->written - s->block_start);
    pinfold_error err;
    int code;

    s->block_batches++;
    if (!samples || (!now && s->block_batches < BLOCK_BATCHES &&
                     samples < BLOCK_BYTES / e->sample_bytes))
        return PFI_CLI_OK;
    if (fflush(images) || fsync(fileno(images)))
        return fail_errno(s, s->images);
    if (pinfold_loader_state(loader, s->state, sizeof(s->state), &s->state_size,
                             &err))
        return fail(s, s->journal, err.message);
    code = replace(s, e, s->journal, pfi_cli_shard_write_journal);
    s->block_start = e->written;
    s->block_batches = 0;
    return code;
}

int pfi_cli_shard_finish(struct pfi_cli_shard *s,
                         const struct pfi_cli_export *e)
{
    const int code = replace(s, e, s->manifest, pfi_cli_shard_write_manifest);

    if (!code && unlinkat(s->place.folder, s->journal, 0) && errno != ENOENT)
        return fail_errno(s, s->journal);
    s->whole = !code;
    return code;
}

void pfi_cli_shard_close(struct pfi_cli_shard *s)
{
    if (s->lock_fd >= 0) {
        /* What no journal speaks of is of no use; one that could not be read
         * this time may be read the next. */
        if (!s->whole &&
            faccessat(s->place.folder, s->journal, F_OK, AT_SYMLINK_NOFOLLOW) &&
            errno == ENOENT)
            (void)unlinkat(s->place.folder, s->part, 0);
        (void)unlinkat(s->place.folder, s->lock, 0);
        close(s->lock_fd);
    }
    pfi_cli_place_close(&s->place);
    free(s->images);
    free(s->part);
    free(s->manifest);
    free(s->journal);
    free(s->lock);
    free(s->indices);
    free(s->stopped);
    *s = (struct pfi_cli_shard){.lock_fd = -1, .place.folder = -1};
}
