/* SPDX-License-Identifier: Apache-2.0
 * One safetensors file: 8 bytes of the header's size, the header in JSON, the
 * tensors without a gap (huggingface.co/docs/safetensors).  The images start at
 * a multiple of 256 bytes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/describe.h"
#include "src/cli/pack.h"
#include "src/cli/safetensors.h"
#include "src/cli/shard.h"
#include "src/cli/text.h"
#include "src/cli/written.h"

struct state {
    int folder;
    char *name;
    struct pfi_cli_pack pack;
    size_t header; /* bytes before the data */
};

/* `write` makes JSON, which becomes the text of a string: metadata holds
 * nothing else.  False without memory. */
static bool write_nested(FILE *out, const struct pfi_cli_export *e,
                         void (*write)(FILE *, const struct pfi_cli_export *))
{
    struct pfi_cli_written written;
    FILE *const nested = pfi_cli_written_open(&written);
    char *text;

    if (!nested)
        return false;
    write(nested, e);
    text = pfi_cli_written_close(&written, nested);
    if (text)
        pfi_cli_print_json(out, text);
    free(text);
    return text != NULL;
}

static void write_classes(FILE *out, const struct pfi_cli_export *e)
{
    pfi_cli_describe_classes(out, e->classes, e->n_classes);
}

static void write_recipe(FILE *out, const struct pfi_cli_export *e)
{
    pfi_cli_describe_recipe(out, &e->o->recipe);
}

static void write_steps(FILE *out, const struct pfi_cli_export *e)
{
    pfi_cli_describe_words(out, &e->o->recipe);
}

static bool write_metadata(FILE *out, const struct pfi_cli_export *e,
                           long long bad)
{
    const pinfold_recipe *const r = &e->o->recipe;
    pinfold_info info = {.struct_size = sizeof(info)};
    bool good;

    pinfold_info_get(&info);
    (void)fprintf(out,
                  "{\"__metadata__\":{\"schema\":\"1\",\"pinfold\":\"%s\","
                  "\"libjpeg_turbo\":\"%s\",\"zlib\":\"%s\",\"pillow\":\"%s\","
                  "\"bad_samples\":\"%lld\",\"dtype\":\"%s\","
                  "\"layout\":\"%s\",\"shuffle\":\"%s\",\"seed\":\"%llu\","
                  "\"epoch\":\"%lld\",\"steps\":",
                  info.version, info.libjpeg_turbo, info.zlib,
                  r->pillow == PINFOLD_PILLOW_12 ? "12" : "13", bad,
                  pfi_cli_dtype_name(r->dtype),
                  r->layout == PINFOLD_NHWC ? "nhwc" : "nchw",
                  e->o->loader.shuffle ? "true" : "false",
                  (unsigned long long)e->o->loader.seed, e->o->epoch);
    good = write_nested(out, e, write_steps);
    (void)fputs(",\"recipe\":", out);
    good = good && write_nested(out, e, write_recipe);
    (void)fputs(",\"classes\":", out);
    good = good && write_nested(out, e, write_classes);
    (void)fputs(",\"root\":", out);
    pfi_cli_print_json(out, e->o->arguments[0]);
    (void)fputc('}', out);
    return good;
}

static void write_tensor(FILE *out, const struct pfi_cli_packed *t)
{
    (void)fprintf(out, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", t->name,
                  t->dtype);
    for (int i = 0; i < t->rank; i++)
        (void)fprintf(out, "%s%lld", i ? "," : "", (long long)t->shape[i]);
    (void)fprintf(out, "],\"data_offsets\":[%zu,%zu]}", t->offset,
                  t->offset + t->bytes);
}

/* The caller frees it; NULL without memory. */
static char *make_header(const struct pfi_cli_export *e, long long bad,
                         size_t *size)
{
    const struct state *const s = e->state;
    struct pfi_cli_written written;
    FILE *const out = pfi_cli_written_open(&written);
    char *text;
    bool good;

    if (!out)
        return NULL;
    good = write_metadata(out, e, bad);
    for (int i = 0; i < PFI_CLI_PACK_N; i++)
        if (s->pack.tensors[i].bytes || i == PFI_CLI_PACK_IMAGES)
            write_tensor(out, &s->pack.tensors[i]);
    (void)fputc('}', out);
    text = pfi_cli_written_close(&written, out);
    *size = written.size;
    if (good)
        return text;
    free(text);
    return NULL;
}

/* Written with as many spaces behind as the size that was set aside needs. */
static int write_header(const struct pfi_cli_export *e, long long bad)
{
    const struct state *const s = e->state;
    FILE *const out = s->pack.file.file;
    size_t size = 0;
    char *const text = make_header(e, bad, &size);
    const uint64_t total = s->header - 8;

    errno = ENOMEM;
    if (!text || size > total) {
        free(text);
        return pfi_cli_export_errno(e, "");
    }
    for (int i = 0; i < 8; i++)
        (void)fputc((int)(total >> 8 * i & 0xFF), out);
    (void)fwrite(text, 1, size, out);
    for (; size < total; size++)
        (void)fputc(' ', out);
    free(text);
    return ferror(out) ? pfi_cli_export_errno(e, "") : PFI_CLI_OK;
}

/* Offsets count from the header's end.  Without a gap and yet aligned, since
 * images of an odd size have bytes behind that are a tensor of their own. */
static void place(struct pfi_cli_pack *pack)
{
    struct pfi_cli_packed *const padding = &pack->tensors[PFI_CLI_PACK_PADDING];
    size_t end = 0;

    padding->bytes = -pack->tensors[PFI_CLI_PACK_IMAGES].bytes % 8;
    padding->shape[0] = (int64_t)padding->bytes;
    for (int i = 0; i < PFI_CLI_PACK_N; i++) {
        pack->tensors[i].offset = end;
        end += pack->tensors[i].bytes;
    }
}

/* The size of the paths is known beforehand only without a shuffle, so that
 * they are left out of the plan until the end, but for room in the header. */
static int plan_header(struct pfi_cli_export *e)
{
    struct state *const s = e->state;
    struct pfi_cli_packed *const paths = &s->pack.tensors[PFI_CLI_PACK_PATHS];
    size_t size = 0;
    char *text;

    s->pack.label = "";
    pfi_cli_pack_plan(&s->pack, e);
    place(&s->pack);
    paths->bytes = SIZE_MAX / 2;
    paths->shape[0] = INT64_MAX;
    text = make_header(e, LLONG_MAX, &size);
    paths->bytes = 0;
    free(text);
    errno = ENOMEM;
    if (!text)
        return pfi_cli_export_errno(e, "");
    size += 8;
    size += -size % PFI_CLI_PACK_ALIGNMENT;
    if (size - 8 > PFI_CLI_SAFETENSORS_MAX_HEADER) {
        (void)fprintf(stderr,
                      "pinfold: the class names make a header of %zu bytes; "
                      "safetensors allows %d\n",
                      size - 8, PFI_CLI_SAFETENSORS_MAX_HEADER);
        return PFI_CLI_FAILED;
    }
    s->header = size;
    return PFI_CLI_OK;
}

static int open_safetensors(struct pfi_cli_export *e)
{
    struct state *const s = calloc(1, sizeof(*s));
    int code;

    e->state = s;
    if (!s) {
        errno = ENOMEM;
        return pfi_cli_export_errno(e, "");
    }
    s->folder = pfi_cli_export_parent(e, &s->name);
    if (s->folder < 0)
        return PFI_CLI_FAILED;
    if (e->shard) {
        free(s->name);
        s->name = strdup(e->shard->images);
        errno = ENOMEM;
        if (!s->name)
            return pfi_cli_export_errno(e, "");
    } else if (!e->o->force && pfi_cli_export_there(e, s->folder, s->name,
                                                    "is there already")) {
        return PFI_CLI_FAILED;
    }
    if (pfi_cli_export_open_images(e, &s->pack.file, s->folder, s->name))
        return pfi_cli_export_errno(e, "");
    code = plan_header(e);
    return code ? code : write_header(e, 0);
}

static int write_safetensors(struct pfi_cli_export *e,
                             const pinfold_batch *batch)
{
    struct state *const s = e->state;

    return pfi_cli_pack_write(&s->pack, e, batch);
}

static int finish_safetensors(struct pfi_cli_export *e)
{
    struct state *const s = e->state;
    struct pfi_cli_packed *const paths = &s->pack.tensors[PFI_CLI_PACK_PATHS];
    char *const text = pfi_cli_pack_paths(e, &paths->bytes);
    int code;

    free(text);
    errno = ENOMEM;
    if (!text)
        return pfi_cli_export_errno(e, "");
    paths->shape[0] = (int64_t)paths->bytes;
    place(&s->pack);
    code = pfi_cli_pack_finish(&s->pack, e, 0);
    if (code)
        return code;
    if (fseek(s->pack.file.file, 0, SEEK_SET))
        return pfi_cli_export_errno(e, "");
    code = write_header(e, e->bad);
    if (code)
        return code;
    if (pfi_cli_part_sync(&s->pack.file) ||
        pfi_cli_part_rename(&s->pack.file) || fsync(s->folder))
        return pfi_cli_export_errno(e, "");
    return PFI_CLI_OK;
}

static void close_safetensors(struct pfi_cli_export *e)
{
    struct state *const s = e->state;

    pfi_cli_part_drop(&s->pack.file);
    free(s->name);
    if (s->folder >= 0)
        close(s->folder);
}

static FILE *images_safetensors(const struct pfi_cli_export *e)
{
    const struct state *const s = e->state;

    return s->pack.file.file;
}

const struct pfi_cli_exporter pfi_cli_export_safetensors = {
    .open = open_safetensors,
    .write = write_safetensors,
    .finish = finish_safetensors,
    .close = close_safetensors,
    .images = images_safetensors,
};
