/* SPDX-License-Identifier: Apache-2.0
 * A folder of data.bin, to be mapped, and manifest.json, which says what lies
 * where in it. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/cli/describe.h"
#include "src/cli/pack.h"
#include "src/cli/shard.h"
#include "src/cli/text.h"

struct state {
    int folder;
    struct pfi_cli_pack pack;
    struct pfi_cli_part manifest;
};

static int open_raw(struct pfi_cli_export *e)
{
    struct state *const s = calloc(1, sizeof(*s));
    size_t end = 0;

    e->state = s;
    if (!s) {
        errno = ENOMEM;
        return pfi_cli_export_errno(e, "");
    }
    s->folder = pfi_cli_export_folder(e);
    if (s->folder < 0)
        return PFI_CLI_FAILED;
    s->pack.label = e->shard ? e->shard->images : "data.bin";
    if (pfi_cli_export_open_images(e, &s->pack.file, s->folder, s->pack.label))
        return pfi_cli_export_errno(e, s->pack.label);
    if (!e->shard &&
        pfi_cli_part_open(&s->manifest, s->folder, "manifest.json"))
        return pfi_cli_export_errno(e, "manifest.json");
    pfi_cli_pack_plan(&s->pack, e);
    for (int i = 0; i < PFI_CLI_PACK_N; i++) {
        end += -end % PFI_CLI_PACK_ALIGNMENT;
        s->pack.tensors[i].offset = end;
        end += s->pack.tensors[i].bytes;
    }
    if (e->shard)
        return PFI_CLI_OK;
    s->pack.sha256 = pfi_cli_sha256_start();
    errno = ENOMEM;
    return pfi_cli_have_sha256() && !s->pack.sha256
               ? pfi_cli_export_errno(e, s->pack.label)
               : PFI_CLI_OK;
}

static int write_raw(struct pfi_cli_export *e, const pinfold_batch *batch)
{
    struct state *const s = e->state;

    return pfi_cli_pack_write(&s->pack, e, batch);
}

/* Strides are in bytes, as numpy counts them. */
static void write_tensor(FILE *out, const struct pfi_cli_packed *t)
{
    size_t stride = t->bytes;

    (void)fprintf(out, "{\"name\":\"%s\",\"dtype\":\"%s\",\"shape\":[", t->name,
                  t->dtype);
    for (int i = 0; i < t->rank; i++)
        (void)fprintf(out, "%s%lld", i ? "," : "", (long long)t->shape[i]);
    (void)fputs("],\"strides\":[", out);
    for (int i = 0; i < t->rank; i++) {
        stride = t->shape[i] ? stride / (size_t)t->shape[i] : t->item;
        (void)fprintf(out, "%s%zu", i ? "," : "", stride);
    }
    (void)fprintf(out, "],\"offset\":%zu,\"bytes\":%zu,\"sha256\":", t->offset,
                  t->bytes);
    if (t->sha256[0])
        (void)fprintf(out, "\"%s\"}", t->sha256);
    else
        (void)fputs("null}", out);
}

static void write_samples(const struct pfi_cli_export *e)
{
    const struct state *const s = e->state;
    FILE *const out = s->manifest.file;

    (void)fputc('{', out);
    pfi_cli_describe_export(out, e->o, e->shape, e->bad);
    (void)fputs(",\"root\":", out);
    pfi_cli_print_json(out, e->o->arguments[0]);
    (void)fputc(',', out);
    pfi_cli_export_write_samples(e, out);
}

static void write_tensors(const struct pfi_cli_export *e)
{
    const struct state *const s = e->state;
    FILE *const out = s->manifest.file;
    bool first = true;

    (void)fputs(",\n\"byte_order\":\"little\",\"file\":\"data.bin\","
                "\"tensors\":[",
                out);
    for (int i = 0; i < PFI_CLI_PACK_N; i++) {
        if (!s->pack.tensors[i].bytes && i != PFI_CLI_PACK_IMAGES)
            continue;
        (void)fputs(first ? "\n" : ",\n", out);
        write_tensor(out, &s->pack.tensors[i]);
        first = false;
    }
    (void)fputs("]}\n", out);
}

/* The manifest is last: where it is, the rest is whole. */
static int rename_raw(struct pfi_cli_export *e)
{
    struct state *const s = e->state;

    if (pfi_cli_part_sync(&s->pack.file))
        return pfi_cli_export_errno(e, s->pack.label);
    if (pfi_cli_part_sync(&s->manifest))
        return pfi_cli_export_errno(e, "manifest.json");
    if (!e->shard && pfi_cli_export_forget(e, s->folder))
        return PFI_CLI_FAILED;
    if (pfi_cli_part_rename(&s->pack.file))
        return pfi_cli_export_errno(e, s->pack.label);
    if (!e->shard && pfi_cli_part_rename(&s->manifest))
        return pfi_cli_export_errno(e, "manifest.json");
    return fsync(s->folder) ? pfi_cli_export_errno(e, "") : PFI_CLI_OK;
}

static int finish_raw(struct pfi_cli_export *e)
{
    struct state *const s = e->state;
    int code;

    if (!e->shard)
        write_samples(e);
    code = pfi_cli_pack_finish(&s->pack, e, 0);
    if (code)
        return code;
    if (!e->shard)
        write_tensors(e);
    return rename_raw(e);
}

static void close_raw(struct pfi_cli_export *e)
{
    struct state *const s = e->state;
    char unused[65];

    pfi_cli_sha256_end(s->pack.sha256, unused);
    pfi_cli_part_drop(&s->pack.file);
    pfi_cli_part_drop(&s->manifest);
    if (s->folder >= 0)
        close(s->folder);
}

static FILE *images_raw(const struct pfi_cli_export *e)
{
    const struct state *const s = e->state;

    return s->pack.file.file;
}

const struct pfi_cli_exporter pfi_cli_export_raw = {
    .open = open_raw,
    .write = write_raw,
    .finish = finish_raw,
    .close = close_raw,
    .images = images_raw,
    .hashes = true,
};
