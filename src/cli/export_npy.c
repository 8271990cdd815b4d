/* SPDX-License-Identifier: Apache-2.0
 * A folder of .npy files: images, labels, indices, statuses. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/cli/describe.h"
#include "src/cli/export.h"
#include "src/cli/npy.h"
#include "src/cli/shard.h"
#include "src/cli/text.h"

/* manifest.json is last: where it is, the rest is whole. */
enum { IMAGES, LABELS, INDICES, STATUSES, CLASSES, FILES, MANIFEST, N_FILES };

static const struct {
    const char *stem, *end;
} names[N_FILES] = {{"images", ".npy"},   {"labels", ".npy"},
                    {"indices", ".npy"},  {"statuses", ".npy"},
                    {"classes", ".txt"},  {"files", ".txt"},
                    {"manifest", ".json"}};

struct state {
    int folder;
    int n_files; /* a shard has a manifest of its own kind */
    char names[N_FILES][48];
    struct pfi_cli_part parts[N_FILES];
};

static int fail(const struct pfi_cli_export *e, int file)
{
    const struct state *const s = e->state;

    return pfi_cli_export_errno(e, s->names[file]);
}

static void make_names(struct pfi_cli_export *e)
{
    struct state *const s = e->state;

    s->n_files = e->shard ? MANIFEST : N_FILES;
    for (int i = 0; i < s->n_files; i++)
        (void)snprintf(s->names[i], sizeof(s->names[i]), "%s%s%s",
                       names[i].stem, e->shard ? e->shard->suffix.text : "",
                       names[i].end);
    for (int i = LABELS; e->shard && i < s->n_files; i++)
        e->shard->files[e->shard->n_files++] = s->names[i];
}

static int open_npy(struct pfi_cli_export *e)
{
    struct state *const s = calloc(1, sizeof(*s));

    e->state = s;
    if (!s) {
        errno = ENOMEM;
        return pfi_cli_export_errno(e, "");
    }
    make_names(e);
    s->folder = pfi_cli_export_folder(e);
    if (s->folder < 0)
        return PFI_CLI_FAILED;
    if (pfi_cli_export_open_images(e, &s->parts[IMAGES], s->folder,
                                   s->names[IMAGES]))
        return fail(e, IMAGES);
    for (int i = LABELS; i < s->n_files; i++)
        if (pfi_cli_part_open(&s->parts[i], s->folder, s->names[i]))
            return fail(e, i);
    pfi_cli_npy_header(s->parts[IMAGES].file,
                       pfi_cli_npy_description(e->o->recipe.dtype), e->shape,
                       4);
    return PFI_CLI_OK;
}

static int write_npy(struct pfi_cli_export *e, const pinfold_batch *batch)
{
    const struct state *const s = e->state;

    if (fwrite(batch->data, 1, batch->size, s->parts[IMAGES].file) !=
        batch->size)
        return fail(e, IMAGES);
    return PFI_CLI_OK;
}

static int write_numbers(const struct pfi_cli_export *e)
{
    const struct state *const s = e->state;
    const size_t n = (size_t)e->written;
    FILE *const labels = s->parts[LABELS].file,
                *const indices = s->parts[INDICES].file,
                *const statuses = s->parts[STATUSES].file;

    pfi_cli_npy_header(labels, e->o->labels32 ? "<i4" : "<i8", e->shape, 1);
    pfi_cli_npy_header(indices, "<i8", e->shape, 1);
    pfi_cli_npy_header(statuses, "<i4", e->shape, 1);
    if (!pfi_cli_export_write_labels(e, labels))
        return fail(e, LABELS);
    if (fwrite(e->indices, sizeof(*e->indices), n, indices) != n)
        return fail(e, INDICES);
    if (fwrite(e->statuses, sizeof(*e->statuses), n, statuses) != n)
        return fail(e, STATUSES);
    return PFI_CLI_OK;
}

static void write_names(const struct pfi_cli_export *e)
{
    const struct state *const s = e->state;
    FILE *const classes = s->parts[CLASSES].file;
    FILE *const manifest = s->parts[MANIFEST].file;

    for (int64_t i = 0; i < e->n_classes; i++) {
        pfi_cli_print_name(classes, e->classes[i]);
        (void)fputc('\n', classes);
    }
    for (int64_t i = 0; i < e->written; i++) {
        pfi_cli_print_name(s->parts[FILES].file, e->paths[i]);
        (void)fputc('\n', s->parts[FILES].file);
    }
    if (!manifest)
        return;
    (void)fputc('{', manifest);
    pfi_cli_describe_export(manifest, e->o, e->shape, e->bad);
    (void)fputs(",\"root\":", manifest);
    pfi_cli_print_json(manifest, e->o->arguments[0]);
    (void)fputs("}\n", manifest);
}

/* Everything is on the disk before the first file gets its name. */
static int finish_npy(struct pfi_cli_export *e)
{
    struct state *const s = e->state;
    const int code = write_numbers(e);

    if (code)
        return code;
    write_names(e);
    for (int i = 0; i < s->n_files; i++)
        if (pfi_cli_part_sync(&s->parts[i]))
            return fail(e, i);
    if (!e->shard && pfi_cli_export_forget(e, s->folder))
        return PFI_CLI_FAILED;
    for (int i = 0; i < s->n_files; i++)
        if (pfi_cli_part_rename(&s->parts[i]))
            return fail(e, i);
    return fsync(s->folder) ? pfi_cli_export_errno(e, "") : PFI_CLI_OK;
}

static void close_npy(struct pfi_cli_export *e)
{
    struct state *const s = e->state;

    for (int i = 0; i < N_FILES; i++)
        pfi_cli_part_drop(&s->parts[i]);
    if (s->folder >= 0)
        close(s->folder);
}

static FILE *images_npy(const struct pfi_cli_export *e)
{
    const struct state *const s = e->state;

    return s->parts[IMAGES].file;
}

const struct pfi_cli_exporter pfi_cli_export_npy = {
    .open = open_npy,
    .write = write_npy,
    .finish = finish_npy,
    .close = close_npy,
    .images = images_npy,
};
