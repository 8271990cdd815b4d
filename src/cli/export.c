/* SPDX-License-Identifier: Apache-2.0
 * pinfold export: tensors as .npy files that appear only when they are whole. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/npy.h"
#include "src/cli/progress.h"
#include "src/cli/run.h"
#include "src/cli/text.h"

/* manifest.json is last: where it is, the rest is whole. */
enum { IMAGES, LABELS, INDICES, CLASSES, FILES, MANIFEST, N_FILES };

static const char *const names[N_FILES] = {"images.npy",  "labels.npy",
                                           "indices.npy", "classes.txt",
                                           "files.txt",   "manifest.json"};
static const char *const dtypes[] = {"f32", "f16", "u8", "bf16"};
/* .npy has no bf16: its bits are written as u2, and the manifest says so. */
static const char *const descriptions[] = {"<f4", "<f2", "|u1", "<u2"};

struct export {
    const struct pfi_cli_options *o;
    int folder;
    FILE *files[N_FILES];
    bool made[N_FILES]; /* a temporary file is there */
    long long images, bad;
};

static int fail_errno(const struct export *e, const char *name)
{
    const int code = errno;

    (void)fprintf(stderr, "pinfold: %s%s%s: %s\n", e->o->arguments[1],
                  *name ? "/" : "", name, strerror(code));
    return PFI_CLI_FAILED;
}

static void temporary(int i, char out[32])
{
    (void)snprintf(out, 32, ".%s.part", names[i]);
}

static int open_folder(struct export *e)
{
    const char *const path = e->o->arguments[1];

    if (mkdir(path, 0777) && errno != EEXIST)
        return fail_errno(e, "");
    e->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (e->folder < 0)
        return fail_errno(e, "");
    if (!faccessat(e->folder, names[MANIFEST], F_OK, 0) && !e->o->force) {
        (void)fprintf(stderr,
                      "pinfold: %s holds an export already; --force replaces "
                      "it\n",
                      path);
        return PFI_CLI_FAILED;
    }
    return PFI_CLI_OK;
}

/* A leftover of a killed run is removed; a link in its place is not followed. */
static int open_files(struct export *e)
{
    char name[32];

    for (int i = 0; i < N_FILES; i++) {
        temporary(i, name);
        if (unlinkat(e->folder, name, 0) && errno != ENOENT)
            return fail_errno(e, name);
        const int fd =
            openat(e->folder, name,
                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);

        e->made[i] = fd >= 0;
        e->files[i] = fd < 0 ? NULL : fdopen(fd, "wb");
        if (!e->files[i]) {
            const int code = fail_errno(e, name);

            if (fd >= 0)
                close(fd);
            return code;
        }
    }
    return PFI_CLI_OK;
}

static int write_batch(struct export *e, const pinfold_batch *batch)
{
    const size_t n = (size_t)batch->count;

    if (fwrite(batch->data, 1, batch->size, e->files[IMAGES]) != batch->size)
        return fail_errno(e, names[IMAGES]);
    if (fwrite(batch->labels, sizeof(int64_t), n, e->files[LABELS]) != n)
        return fail_errno(e, names[LABELS]);
    if (fwrite(batch->indices, sizeof(int64_t), n, e->files[INDICES]) != n)
        return fail_errno(e, names[INDICES]);
    return PFI_CLI_OK;
}

static void write_names(struct export *e, const pinfold_dataset *dataset,
                        const pinfold_batch *batch)
{
    for (int32_t i = 0; i < batch->count; i++) {
        pfi_cli_print_name(e->files[FILES],
                           pinfold_dataset_path(dataset, batch->indices[i]));
        (void)fputc('\n', e->files[FILES]);
    }
}

static int write_all(struct export *e, const struct pfi_cli_run *run)
{
    const pinfold_batch *batch;
    struct pfi_cli_bar bar;
    pinfold_status status;
    pinfold_error err;
    int code = PFI_CLI_OK;

    pfi_cli_bar_start(&bar, e->o, pinfold_dataset_size(run->dataset));
    while (!code) {
        status = pfi_cli_next(run->loader, &batch, &err);
        if (status) {
            pfi_cli_bar_end(&bar);
            return status == PINFOLD_END       ? PFI_CLI_OK
                   : status == PINFOLD_TIMEOUT ? PFI_CLI_FAILED
                                               : pfi_cli_fail(&err);
        }
        code = write_batch(e, batch);
        write_names(e, run->dataset, batch);
        e->bad += pfi_cli_report_bad(batch, e->bad);
        e->images += batch->count;
        pfi_cli_bar_add(&bar, batch->count);
        pinfold_batch_release(batch);
    }
    pfi_cli_bar_end(&bar);
    return code;
}

static void write_classes(struct export *e, const pinfold_dataset *dataset)
{
    for (int64_t i = 0; i < pinfold_dataset_class_count(dataset); i++) {
        pfi_cli_print_name(e->files[CLASSES],
                           pinfold_dataset_class_name(dataset, i));
        (void)fputc('\n', e->files[CLASSES]);
    }
}

static void write_manifest(struct export *e, const int64_t shape[4])
{
    static const char *const filters[] = {"bilinear", "nearest", "box",
                                          "hamming",  "bicubic", "lanczos"};
    const pinfold_recipe *const r = &e->o->recipe;
    pinfold_info info = {.struct_size = sizeof(info)};
    FILE *const f = e->files[MANIFEST];

    pinfold_info_get(&info);
    (void)fprintf(f,
                  "{\"schema\":1,\"pinfold\":\"%s\",\"libjpeg_turbo\":\"%s\","
                  "\"zlib\":\"%s\",\"pillow\":\"%s\",\"images\":%lld,"
                  "\"bad_samples\":%lld,\"dtype\":\"%s\",\"layout\":\"%s\","
                  "\"shape\":[%lld,%lld,%lld,%lld],",
                  info.version, info.libjpeg_turbo, info.zlib,
                  r->pillow == PINFOLD_PILLOW_12 ? "12" : "13", e->images,
                  e->bad, dtypes[r->dtype],
                  r->layout == PINFOLD_NHWC ? "nhwc" : "nchw", e->images,
                  (long long)shape[1], (long long)shape[2],
                  (long long)shape[3]);
    (void)fprintf(f,
                  "\"recipe\":{\"resize_short\":%d,\"resize_height\":%d,"
                  "\"resize_width\":%d,\"max_size\":%d,\"crop_height\":%d,"
                  "\"crop_width\":%d,\"filter\":\"%s\",\"mean\":[%.9g,%.9g,"
                  "%.9g],\"std\":[%.9g,%.9g,%.9g]},\"shuffle\":%s,"
                  "\"seed\":%llu,\"epoch\":%lld,\"root\":",
                  r->resize_short, r->resize_height, r->resize_width,
                  r->max_size, r->crop_height, r->crop_width,
                  filters[r->filter], (double)r->mean[0], (double)r->mean[1],
                  (double)r->mean[2], (double)r->stddev[0],
                  (double)r->stddev[1], (double)r->stddev[2],
                  e->o->loader.shuffle ? "true" : "false",
                  (unsigned long long)e->o->loader.seed, e->o->epoch);
    pfi_cli_print_json(f, e->o->arguments[0]);
    (void)fputs("}\n", f);
}

/* Everything is on the disk before the first file gets its name. */
static int close_files(struct export *e)
{
    int code = PFI_CLI_OK;

    for (int i = 0; i < N_FILES; i++) {
        FILE *const file = e->files[i];
        const bool good =
            file && !fflush(file) && !ferror(file) && !fsync(fileno(file));

        if (!good && !code)
            code = fail_errno(e, names[i]);
        if (file && fclose(file) && !code)
            code = fail_errno(e, names[i]);
        e->files[i] = NULL;
    }
    return code;
}

static int rename_files(struct export *e)
{
    char name[32];

    /* An earlier export stays whole until here, and then does not look so. */
    if (unlinkat(e->folder, names[MANIFEST], 0) && errno != ENOENT)
        return fail_errno(e, names[MANIFEST]);
    for (int i = 0; i < N_FILES; i++) {
        temporary(i, name);
        if (renameat(e->folder, name, e->folder, names[i]))
            return fail_errno(e, names[i]);
        e->made[i] = false;
    }
    return fsync(e->folder) ? fail_errno(e, "") : PFI_CLI_OK;
}

static void clean(struct export *e)
{
    char name[32];

    for (int i = 0; i < N_FILES; i++) {
        if (e->files[i])
            (void)fclose(e->files[i]);
        temporary(i, name);
        if (e->made[i])
            (void)unlinkat(e->folder, name, 0);
    }
    if (e->folder >= 0)
        close(e->folder);
}

static int run_export(struct export *e, const struct pfi_cli_run *run)
{
    const pinfold_recipe *const r = &e->o->recipe;
    int64_t shape[4];
    pinfold_error err;
    size_t bytes;
    int code = open_folder(e);

    if (!code)
        code = open_files(e);
    if (code)
        return code;
    if (pinfold_recipe_size(r, 1, &bytes, shape, &err))
        return pfi_cli_fail(&err);
    pfi_cli_npy_header(e->files[IMAGES], descriptions[r->dtype], 0, shape + 1, 3);
    pfi_cli_npy_header(e->files[LABELS], "<i8", 0, NULL, 0);
    pfi_cli_npy_header(e->files[INDICES], "<i8", 0, NULL, 0);
    code = write_all(e, run);
    if (code || pfi_cli_signal())
        return PFI_CLI_FAILED;
    rewind(e->files[IMAGES]);
    rewind(e->files[LABELS]);
    rewind(e->files[INDICES]);
    pfi_cli_npy_header(e->files[IMAGES], descriptions[r->dtype], e->images,
                       shape + 1, 3);
    pfi_cli_npy_header(e->files[LABELS], "<i8", e->images, NULL, 0);
    pfi_cli_npy_header(e->files[INDICES], "<i8", e->images, NULL, 0);
    write_classes(e, run->dataset);
    write_manifest(e, shape);
    code = close_files(e);
    return code ? code : rename_files(e);
}

int pfi_cli_export(const struct pfi_cli_options *o)
{
    struct export e = {.o = o, .folder = -1};
    struct pfi_cli_options host = *o;
    struct pfi_cli_run run;
    int code;

    host.loader.upload = PINFOLD_UPLOAD_OFF;
    code = pfi_cli_run_open(&run, &host);
    if (code)
        return code;
    code = run_export(&e, &run);
    clean(&e);
    pfi_cli_run_close(&run);
    if (!code && !o->quiet)
        (void)fprintf(stderr, "%lld images, %lld bad, in %s\n", e.images, e.bad,
                      o->arguments[1]);
    return code ? code : e.bad ? PFI_CLI_FAILED : PFI_CLI_OK;
}
