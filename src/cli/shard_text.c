/* SPDX-License-Identifier: Apache-2.0
 * The manifest and the journal of a shard, written and read. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cli/describe.h"
#include "src/cli/sha256.h"
#include "src/cli/shard.h"
#include "src/cli/text.h"
#include "src/cli/written.h"

static struct pfi_cli_json json(const char *text)
{
    return (struct pfi_cli_json){text, text + strlen(text)};
}

/* -------------------------------------------------------------- writing --- */

static void write_hash(FILE *out, const char *name, int64_t size, uint64_t hash)
{
    (void)fprintf(out, ",\"%s\":{\"samples\":%lld,\"fingerprint\":\"%016llx\"}",
                  name, (long long)size, (unsigned long long)hash);
}

/* What is known before the first sample is made, and the count of bad ones. */
static void write_head(FILE *out, const struct pfi_cli_shard *s, long long bad)
{
    static const char *const formats[] = {"npy", "safetensors", "raw"},
                             *const kinds[] = {"exact", "contiguous", "torch"};
    const struct pfi_cli_options *const o = s->o;

    (void)fputc('{', out);
    pfi_cli_describe_export(out, o, s->shape, bad);
    (void)fprintf(out,
                  ",\"format\":\"%s\",\"labels\":\"%s\",\"shard\":\"%s\","
                  "\"rank\":%d,\"world\":%d",
                  formats[o->format], o->labels32 ? "int32" : "int64",
                  s->batches && !o->order.shard ? "exact batches"
                                                : kinds[o->order.shard],
                  o->order.rank, o->order.world);
    write_hash(out, "dataset", s->dataset_size, s->dataset_hash);
    write_hash(out, "order", s->order_size, s->order_hash);
}

static int32_t batch_size(const struct pfi_cli_shard *s)
{
    return s->o->loader.batch_size ? s->o->loader.batch_size : 256;
}

int pfi_cli_shard_write_journal(FILE *out, const struct pfi_cli_shard *s,
                                const struct pfi_cli_export *e)
{
    const char *comma = "";

    write_head(out, s, e->bad);
    (void)fprintf(out, ",\"batch\":%d,\"written\":%lld,\"statuses\":[",
                  batch_size(s), (long long)e->written);
    for (int64_t i = 0; i < e->written; i++) {
        if (!e->statuses[i])
            continue;
        (void)fprintf(out, "%s[%lld,\"%s\"]", comma, (long long)i,
                      pinfold_status_name((pinfold_status)e->statuses[i]));
        comma = ",";
    }
    (void)fputs("],\"state\":\"", out);
    for (size_t i = 0; i < s->state_size; i++)
        (void)fprintf(out, "%02x", s->state[i]);
    (void)fputs("\"}\n", out);
    return PFI_CLI_OK;
}

static int write_file(FILE *out, const struct pfi_cli_shard *s, int i)
{
    const char *const name = s->files[i];
    struct stat st;
    char hex[65] = "";

    if (fstatat(s->place.folder, name, &st, AT_SYMLINK_NOFOLLOW) ||
        (s->o->checksums && !pfi_cli_sha256_file(s->place.folder, name, hex)))
        return pfi_cli_place_cannot(&s->place, name, "read");
    (void)fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
    pfi_cli_print_json_exact(out, name);
    (void)fprintf(out, ",\"bytes\":%lld", (long long)st.st_size);
    if (hex[0])
        (void)fprintf(out, ",\"sha256\":\"%s\"}", hex);
    else
        (void)fputs(",\"sha256\":null}", out);
    return PFI_CLI_OK;
}

static void write_samples(FILE *out, const struct pfi_cli_export *e)
{
    (void)fputs(",\n\"classes\":[", out);
    for (int64_t i = 0; i < e->n_classes; i++) {
        (void)fputs(i ? "," : "", out);
        pfi_cli_print_json_exact(out, e->classes[i]);
    }
    (void)fputs("],\n\"samples\":[", out);
    for (int64_t i = 0; i < e->written; i++) {
        (void)fputs(i ? ",\n{\"path\":" : "\n{\"path\":", out);
        pfi_cli_print_json_exact(out, e->paths[i]);
        (void)fprintf(out, ",\"label\":%lld,\"index\":%lld,\"status\":\"%s\"}",
                      (long long)e->labels[i], (long long)e->indices[i],
                      pinfold_status_name((pinfold_status)e->statuses[i]));
    }
    (void)fputs("\n]", out);
}

int pfi_cli_shard_write_manifest(FILE *out, const struct pfi_cli_shard *s,
                                 const struct pfi_cli_export *e)
{
    int code = PFI_CLI_OK;

    write_head(out, s, e->bad);
    (void)fputs(",\"root\":", out);
    pfi_cli_print_json_exact(out, s->o->arguments[0]);
    (void)fputs(",\n\"options\":[", out);
    for (int i = 0; i < s->o->n_words; i++) {
        (void)fputs(i ? "," : "", out);
        pfi_cli_print_json_exact(out, s->o->words[i]);
    }
    (void)fputs("],\n\"images_file\":", out);
    pfi_cli_print_json_exact(out, s->images);
    (void)fprintf(out, ",\"images_offset\":%zu,\"files\":[", s->images_offset);
    for (int i = 0; !code && i < s->n_files; i++)
        code = write_file(out, s, i);
    (void)fputs("]", out);
    write_samples(out, e);
    (void)fputs("}\n", out);
    return code;
}

/* -------------------------------------------------------------- reading --- */

bool pfi_cli_shard_status(struct pfi_cli_json *t, pinfold_status *out)
{
    char name[64];

    if (!pfi_cli_json_string(t, name, sizeof(name)))
        return false;
    for (int i = 0; i > -100; i--) {
        *out = (pinfold_status)i;
        if (!strcmp(name, pinfold_status_name(*out)))
            return true;
    }
    return false;
}

static bool read_state(struct pfi_cli_shard *s, struct pfi_cli_json hex)
{
    const size_t size = (size_t)(hex.end - hex.at);

    s->state_size = size / 2 - 1;
    if (size < 4 || size % 2 || s->state_size > sizeof(s->state))
        return false;
    for (size_t i = 0; i < s->state_size; i++) {
        const char digits[] = {hex.at[1 + 2 * i], hex.at[2 + 2 * i], '\0'};
        char *end;

        s->state[i] = (unsigned char)strtoul(digits, &end, 16);
        if (*end)
            return false;
    }
    return true;
}

bool pfi_cli_shard_read_journal(struct pfi_cli_shard *s)
{
    struct pfi_cli_json written, state;
    uint64_t n;

    if (!pfi_cli_json_member(json(s->stopped), "written", &written) ||
        !pfi_cli_json_member(json(s->stopped), "state", &state) ||
        !pfi_cli_json_number(&written, &n) || n > (uint64_t)s->shape[0] ||
        !read_state(s, state))
        return false;
    s->written = (int64_t)n;
    return true;
}

bool pfi_cli_shard_read_statuses(const struct pfi_cli_shard *s,
                                 struct pfi_cli_export *e)
{
    struct pfi_cli_json t;
    pinfold_status status;
    uint64_t i;

    if (!pfi_cli_json_member(json(s->stopped), "statuses", &t) ||
        !pfi_cli_json_take(&t, '['))
        return false;
    if (pfi_cli_json_take(&t, ']'))
        return true;
    do {
        if (!pfi_cli_json_take(&t, '[') || !pfi_cli_json_number(&t, &i) ||
            i >= (uint64_t)e->written || !pfi_cli_json_take(&t, ',') ||
            !pfi_cli_shard_status(&t, &status) || !pfi_cli_json_take(&t, ']'))
            return false;
        e->statuses[i] = (int32_t)status;
        e->bad++;
    } while (pfi_cli_json_take(&t, ','));
    return pfi_cli_json_take(&t, ']');
}

const char *pfi_cli_shard_differs(struct pfi_cli_json a, struct pfi_cli_json b,
                                  bool same_rank)
{
    static const char *const names[] = {
        "schema", "pinfold", "libjpeg_turbo", "zlib",   "pillow",
        "format", "dtype",   "labels",        "layout", "recipe",
        "steps",  "shuffle", "seed",          "epoch",  "dataset",
        "order",  "shard",   "world",         "rank",   "shape"};
    const size_t n = sizeof(names) / sizeof(names[0]) - (same_rank ? 0 : 2);

    for (size_t i = 0; i < n; i++) {
        struct pfi_cli_json x, y;

        if (!pfi_cli_json_member(a, names[i], &x) ||
            !pfi_cli_json_member(b, names[i], &y) ||
            x.end - x.at != y.end - y.at ||
            memcmp(x.at, y.at, (size_t)(x.end - x.at)) != 0)
            return names[i];
    }
    return NULL;
}

bool pfi_cli_shard_differs_from(const struct pfi_cli_shard *s, const char *text,
                                const char **differs)
{
    struct pfi_cli_written written;
    FILE *const out = pfi_cli_written_open(&written);
    struct pfi_cli_json batch;
    uint64_t size;
    char *own = NULL;

    if (out) {
        write_head(out, s, 0);
        (void)fputc('}', out);
        own = pfi_cli_written_close(&written, out);
    }
    if (!own)
        return false;
    *differs = pfi_cli_shard_differs(json(own), json(text), true);
    free(own);
    /* A journal's state is of batches; the bytes do not depend on them. */
    if (!*differs && pfi_cli_json_member(json(text), "batch", &batch) &&
        (!pfi_cli_json_number(&batch, &size) ||
         size != (uint64_t)batch_size(s)))
        *differs = "batch";
    return true;
}

uint64_t pfi_cli_hash(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *const bytes = data;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001B3u;
    return hash;
}
