/* SPDX-License-Identifier: Apache-2.0
 * The tensors of an export in one file: images, then what belongs to them. */
#include "src/cli/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/describe.h"
#include "src/cli/text.h"
#include "src/cli/written.h"

static struct pfi_cli_packed column(const char *name, const char *dtype,
                                    size_t item, int64_t n)
{
    return (struct pfi_cli_packed){
        .name = name,
        .dtype = dtype,
        .rank = 1,
        .shape = {n},
        .item = item,
        .bytes = (size_t)n * item,
    };
}

void pfi_cli_pack_plan(struct pfi_cli_pack *pack,
                       const struct pfi_cli_export *e)
{
    static const char *const dtypes[] = {"F32", "F16", "U8", "BF16"};
    struct pfi_cli_packed *const t = pack->tensors;
    const int64_t n = e->shape[0];
    const pinfold_dtype dtype = e->o->recipe.dtype;

    t[PFI_CLI_PACK_IMAGES] = (struct pfi_cli_packed){
        .name = "images",
        .dtype = dtypes[dtype],
        .rank = 4,
        .item = pfi_cli_dtype_size(dtype),
        .bytes = (size_t)n * e->sample_bytes,
    };
    memcpy(t[PFI_CLI_PACK_IMAGES].shape, e->shape, sizeof(e->shape));
    t[PFI_CLI_PACK_PADDING] = column("padding", "U8", 1, 0);
    t[PFI_CLI_PACK_INDEX] = column("indices", "I64", 8, n);
    t[PFI_CLI_PACK_LABELS] = e->o->labels32 ? column("labels", "I32", 4, n)
                                            : column("labels", "I64", 8, n);
    t[PFI_CLI_PACK_STATUS] = column("statuses", "I32", 4, n);
    t[PFI_CLI_PACK_PATHS] = column("paths", "U8", 1, 0);
}

int pfi_cli_pack_write(struct pfi_cli_pack *pack,
                       const struct pfi_cli_export *e,
                       const pinfold_batch *batch)
{
    pfi_cli_sha256_add(pack->sha256, batch->data, batch->size);
    if (fwrite(batch->data, 1, batch->size, pack->file.file) != batch->size)
        return pfi_cli_export_errno(e, pack->label);
    return PFI_CLI_OK;
}

char *pfi_cli_pack_paths(const struct pfi_cli_export *e, size_t *size)
{
    struct pfi_cli_written written;
    FILE *const out = pfi_cli_written_open(&written);
    char *text;

    if (!out)
        return NULL;
    for (int64_t i = 0; i < e->written; i++) {
        pfi_cli_print_name(out, e->paths[i]);
        (void)fputc('\n', out);
    }
    text = pfi_cli_written_close(&written, out);
    *size = written.size;
    return text;
}

static bool write_tensor(struct pfi_cli_pack *pack, struct pfi_cli_packed *t,
                         const void *data, size_t *at)
{
    FILE *const out = pack->file.file;

    if (!t->bytes)
        return true;
    for (; *at < t->offset; ++*at)
        if (fputc(0, out) == EOF)
            return false;
    pfi_cli_sha256(data, t->bytes, t->sha256);
    *at += t->bytes;
    return fwrite(data, 1, t->bytes, out) == t->bytes;
}

/* The labels as int32, which the caller frees; NULL without memory. */
static int32_t *narrow(const struct pfi_cli_export *e)
{
    int32_t *const labels = calloc((size_t)e->written + 1, sizeof(*labels));

    for (int64_t i = 0; labels && i < e->written; i++)
        labels[i] = (int32_t)e->labels[i];
    return labels;
}

int pfi_cli_pack_finish(struct pfi_cli_pack *pack,
                        const struct pfi_cli_export *e, size_t start)
{
    static const char zeros[PFI_CLI_PACK_ALIGNMENT];
    struct pfi_cli_packed *const t = pack->tensors;
    const void *data[PFI_CLI_PACK_N] = {NULL,      zeros,       e->indices,
                                        e->labels, e->statuses, NULL};
    size_t at = start + t[PFI_CLI_PACK_IMAGES].bytes, size = 0;
    int32_t *labels32 = NULL;
    char *paths = NULL;
    bool good = true;

    pfi_cli_sha256_end(pack->sha256, t[PFI_CLI_PACK_IMAGES].sha256);
    pack->sha256 = NULL;
    if (t[PFI_CLI_PACK_PATHS].bytes) {
        paths = pfi_cli_pack_paths(e, &size);
        data[PFI_CLI_PACK_PATHS] = paths;
        errno = ENOMEM;
        good = paths && size == t[PFI_CLI_PACK_PATHS].bytes;
    }
    if (e->o->labels32) {
        data[PFI_CLI_PACK_LABELS] = labels32 = narrow(e);
        good = good && labels32;
    }
    for (int i = PFI_CLI_PACK_PADDING; good && i < PFI_CLI_PACK_N; i++)
        good = write_tensor(pack, &t[i], data[i], &at);
    free(paths);
    free(labels32);
    return good ? PFI_CLI_OK : pfi_cli_export_errno(e, pack->label);
}
