/* SPDX-License-Identifier: Apache-2.0
 * pinfold export: loads a data set and hands its batches to a format. */
#include "src/cli/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/describe.h"
#include "src/cli/progress.h"
#include "src/cli/run.h"
#include "src/cli/sha256.h"
#include "src/cli/shard.h"
#include "src/cli/text.h"

static const struct pfi_cli_exporter *const formats[] = {
    [PFI_CLI_NPY] = &pfi_cli_export_npy,
    [PFI_CLI_SAFETENSORS] = &pfi_cli_export_safetensors,
    [PFI_CLI_RAW] = &pfi_cli_export_raw,
    [PFI_CLI_NPY_EACH] = &pfi_cli_export_npy_each,
};

const struct pfi_cli_exporter *
pfi_cli_export_format(const struct pfi_cli_options *o)
{
    return formats[o->format];
}

int pfi_cli_export_open_images(const struct pfi_cli_export *e,
                               struct pfi_cli_part *part, int folder,
                               const char *name)
{
    if (e->shard && e->shard->written)
        return pfi_cli_part_reopen(part, folder, name);
    if (pfi_cli_part_open(part, folder, name))
        return -1;
    part->made = !e->shard;
    return 0;
}

int pfi_cli_export_errno(const struct pfi_cli_export *e, const char *name)
{
    const int code = errno;

    pfi_cli_say("pinfold: %s%s%s: cannot write: %s", e->o->arguments[1],
                *name ? "/" : "", name, strerror(code));
    return PFI_CLI_FAILED;
}

bool pfi_cli_export_there(const struct pfi_cli_export *e, int folder,
                          const char *name, const char *what)
{
    if (!faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW))
        pfi_cli_say("pinfold: %s %s; --force replaces it", e->o->arguments[1],
                    what);
    else if (errno == ENOENT)
        return false;
    else
        (void)pfi_cli_export_errno(e, "");
    return true;
}

int pfi_cli_export_folder(const struct pfi_cli_export *e)
{
    const char *const path = e->o->arguments[1];
    int folder;

    if (mkdir(path, 0777) && errno != EEXIST) {
        pfi_cli_cannot(path, "make the folder");
        return -1;
    }
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        pfi_cli_cannot(path, "open the folder");
        return -1;
    }
    if (!e->shard && !e->o->force &&
        pfi_cli_export_there(e, folder, "manifest.json",
                             "holds an export already")) {
        close(folder);
        return -1;
    }
    return folder;
}

int pfi_cli_export_forget(const struct pfi_cli_export *e, int folder)
{
    static const char *const names[] = {
        "manifest.json", "images.npy",  "labels.npy", "indices.npy",
        "statuses.npy",  "classes.txt", "files.txt",  "data.bin"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!unlinkat(folder, names[i], 0))
            continue;
        if (errno != ENOENT)
            return pfi_cli_export_errno(e, names[i]);
        if (i == 0) /* no export */
            break;
    }
    return PFI_CLI_OK;
}

int pfi_cli_export_parent(const struct pfi_cli_export *e, char **name)
{
    char *path;
    const int folder = pfi_cli_place_parent(e->o->arguments[1], &path, name);

    if (folder < 0)
        pfi_cli_cannot(e->o->arguments[1], "open the folder that holds it");
    free(path);
    return folder;
}

bool pfi_cli_export_write_labels(const struct pfi_cli_export *e, FILE *out)
{
    for (int64_t i = 0; i < e->written; i++) {
        const int32_t narrow = (int32_t)e->labels[i];
        const size_t size = e->o->labels32 ? sizeof(narrow) : sizeof(int64_t);

        if (fwrite(e->o->labels32 ? (const void *)&narrow : &e->labels[i], size,
                   1, out) != 1)
            return false;
    }
    return true;
}

void pfi_cli_export_write_samples(const struct pfi_cli_export *e, FILE *out)
{
    (void)fputs("\"classes\":", out);
    pfi_cli_describe_classes(out, e->classes, e->n_classes);
    (void)fputs(",\"samples\":[", out);
    for (int64_t i = 0; i < e->written; i++) {
        (void)fputs(i ? ",\n{\"path\":" : "\n{\"path\":", out);
        pfi_cli_print_json(out, e->paths[i]);
        (void)fprintf(out, ",\"label\":%lld,\"index\":%lld,\"status\":\"%s\"}",
                      (long long)e->labels[i], (long long)e->indices[i],
                      pinfold_status_name((pinfold_status)e->statuses[i]));
    }
    (void)fputs("\n]", out);
}

int pfi_cli_export_allocate(struct pfi_cli_export *e)
{
    const size_t n = (size_t)e->shape[0] + 1;

    e->classes = calloc((size_t)e->n_classes + 1, sizeof(*e->classes));
    e->paths = calloc(n, sizeof(*e->paths));
    e->indices = calloc(n, sizeof(*e->indices));
    e->labels = calloc(n, sizeof(*e->labels));
    e->statuses = calloc(n, sizeof(*e->statuses));
    errno = ENOMEM;
    return e->classes && e->paths && e->indices && e->labels && e->statuses
               ? PFI_CLI_OK
               : pfi_cli_export_errno(e, "");
}

void pfi_cli_export_free(struct pfi_cli_export *e)
{
    free(e->classes);
    free(e->paths);
    free(e->indices);
    free(e->labels);
    free(e->statuses);
}

/* -------------------------------------------------------------- command --- */

static int keep_numbers(struct pfi_cli_export *e, const pinfold_batch *batch)
{
    if (batch->count > e->shape[0] - e->written) {
        (void)fputs("pinfold: more samples than the data set has\n", stderr);
        return PFI_CLI_FAILED;
    }
    for (int32_t i = 0; i < batch->count; i++, e->written++) {
        e->indices[e->written] = batch->indices[i];
        e->labels[e->written] = batch->labels[i];
        e->statuses[e->written] = (int32_t)batch->statuses[i];
        e->paths[e->written] =
            pinfold_dataset_path(e->dataset, batch->indices[i]);
    }
    return PFI_CLI_OK;
}

static int write_all(struct pfi_cli_export *e, const struct pfi_cli_run *run,
                     const struct pfi_cli_exporter *format)
{
    const pinfold_batch *batch;
    struct pfi_cli_bar bar;
    pinfold_status status;
    pinfold_error err;
    int code = PFI_CLI_OK;

    pfi_cli_bar_start(&bar, e->o, e->shape[0] - e->written);
    while (!code) {
        status = pfi_cli_next(run->loader, &batch, &err);
        if (status) {
            pfi_cli_bar_end(&bar);
            if (status == PINFOLD_TIMEOUT && e->shard)
                (void)pfi_cli_shard_block(e->shard, e, format->images(e),
                                          run->loader, true);
            return status == PINFOLD_END       ? PFI_CLI_OK
                   : status == PINFOLD_TIMEOUT ? PFI_CLI_FAILED
                                               : pfi_cli_fail(&err);
        }
        e->bad += pfi_cli_report_bad(batch, e->bad);
        code = format->write(e, batch);
        if (!code)
            code = keep_numbers(e, batch);
        if (!code && e->shard)
            code = pfi_cli_shard_block(e->shard, e, format->images(e),
                                       run->loader, false);
        pfi_cli_bar_add(&bar, batch->count);
        pinfold_batch_release(batch);
    }
    pfi_cli_bar_end(&bar);
    return code;
}

/* How many samples there will be, and room for their numbers. */
static int prepare(struct pfi_cli_export *e, const struct pfi_cli_run *run)
{
    const int64_t count = pinfold_loader_sample_count(run->loader) +
                          (e->shard ? e->shard->written : 0);
    pinfold_error err;

    if (pinfold_recipe_size(&e->o->recipe, count, &e->sample_bytes,
                            e->shape, &err) ||
        pinfold_recipe_size(&e->o->recipe, 1, &e->sample_bytes, NULL, &err))
        return pfi_cli_fail(&err);
    e->shape[0] = count;
    e->dataset = run->dataset;
    e->n_classes = pinfold_dataset_class_count(run->dataset);
    if (pfi_cli_export_allocate(e))
        return PFI_CLI_FAILED;
    for (int64_t i = 0; i < e->n_classes; i++)
        e->classes[i] = pinfold_dataset_class_name(run->dataset, i);
    return PFI_CLI_OK;
}

static int run_export(struct pfi_cli_export *e, const struct pfi_cli_run *run,
                      const struct pfi_cli_exporter *format)
{
    int code = prepare(e, run);

    if (code)
        return code;
    code = format->open(e);
    if (!code && e->shard)
        code = pfi_cli_shard_start(e->shard, e, format->images(e));
    if (!code)
        code = write_all(e, run, format);
    if (!code && e->written != e->shape[0] && !pfi_cli_signal()) {
        (void)fputs("pinfold: fewer samples than the data set has\n", stderr);
        code = PFI_CLI_FAILED;
    }
    if (!code && pfi_cli_signal())
        code = PFI_CLI_FAILED;
    if (!code)
        code = format->finish(e);
    return code || !e->shard ? code : pfi_cli_shard_finish(e->shard, e);
}

static bool ends_in(const char *name, const char *ending)
{
    const size_t n = strlen(name), size = strlen(ending);

    return n > size && !strcmp(name + n - size, ending);
}

/* A name that ends in .safetensors chooses the format; none may tell of another
 * one than is written. */
static int take_name(struct pfi_cli_options *o)
{
    static const char *const made[] = {
        [PFI_CLI_NPY] = "npy makes a folder with images.npy",
        [PFI_CLI_SAFETENSORS] = "safetensors makes another file",
        [PFI_CLI_RAW] = "raw makes a folder with data.bin",
        [PFI_CLI_NPY_EACH] = "npy-each makes a folder of .npy files",
    };
    static const char *const files[] = {".npy", ".npz",  ".pt",      ".pth",
                                        ".pkl", ".bin",  ".tar",     ".zip",
                                        ".h5",  ".hdf5", ".parquet", ".tfrecord"};
    const char *const out = o->arguments[1], *file = NULL;
    const bool tensors = ends_in(out, ".safetensors");

    if (tensors && !o->format_given)
        o->format = PFI_CLI_SAFETENSORS;
    if (tensors && o->format != PFI_CLI_SAFETENSORS)
        file = "safetensors";
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        file = ends_in(out, files[i]) ? files[i] : file;
    if (!file)
        return PFI_CLI_OK;
    pfi_cli_say("pinfold: %s: named as one %s file, but --format %s", out, file,
                made[o->format]);
    return PFI_CLI_USAGE;
}

static int refuse(const struct pfi_cli_options *o)
{
    if (o->recipe.dtype == PINFOLD_BF16 &&
        (o->format == PFI_CLI_NPY || o->format == PFI_CLI_NPY_EACH)) {
        (void)fputs("pinfold: .npy has no bf16; --format safetensors and "
                    "--format raw have it\n",
                    stderr);
        return PFI_CLI_USAGE;
    }
    if (o->checksums && (!o->order.world || !pfi_cli_have_sha256())) {
        (void)fputs(o->order.world
                        ? "pinfold: this one was built without libmd: it has "
                          "no --checksums\n"
                        : "pinfold: --checksums goes with --rank and --world\n",
                    stderr);
        return PFI_CLI_USAGE;
    }
    return PFI_CLI_OK;
}

/* Makes and writes what is not yet there. */
static int make_export(struct pfi_cli_export *e, struct pfi_cli_run *run)
{
    const struct pfi_cli_exporter *const format = formats[e->o->format];
    int code = pfi_cli_run_open_loader(run, e->o);

    if (code)
        return code;
    code = run_export(e, run, format);
    if (e->state)
        format->close(e);
    free(e->state);
    code = pfi_cli_run_close(run, code);
    if (!code && !e->o->quiet)
        pfi_cli_say("%lld image%s, %lld bad, in %s", (long long)e->written,
                    pfi_cli_plural(e->written, "s"), e->bad,
                    e->o->arguments[1]);
    return code;
}

/* One rank's share: what an earlier run has made stays. */
static int export_shard(struct pfi_cli_export *e, struct pfi_cli_run *run,
                        struct pfi_cli_options *o)
{
    struct pfi_cli_shard shard;
    int code = pfi_cli_shard_open(&shard, o, run->dataset);

    e->shard = &shard;
    if (!code && shard.whole) {
        e->bad = shard.bad;
        if (!o->quiet)
            pfi_cli_say("pinfold: %s/%s: whole already: %lld image%s, %lld bad",
                        shard.place.path, shard.manifest,
                        (long long)shard.shape[0],
                        pfi_cli_plural(shard.shape[0], "s"), shard.bad);
    }
    if (code || shard.whole) {
        code = pfi_cli_run_close(run, code);
    } else {
        o->loader.state = shard.written ? shard.state : NULL;
        o->loader.state_size = shard.written ? shard.state_size : 0;
        code = make_export(e, run);
    }
    pfi_cli_shard_close(&shard);
    return code;
}

int pfi_cli_export(const struct pfi_cli_options *options)
{
    struct pfi_cli_options o = *options;
    struct pfi_cli_export e = {.o = &o};
    struct pfi_cli_run run;
    int code = take_name(&o);

    if (!code)
        code = refuse(&o);
    if (!code)
        code = pfi_cli_run_open_dataset(&run, &o);
    if (code)
        return code;
    code = o.order.world ? export_shard(&e, &run, &o) : make_export(&e, &run);
    pfi_cli_export_free(&e);
    return code ? code : e.bad ? PFI_CLI_FAILED : PFI_CLI_OK;
}
