/* SPDX-License-Identifier: Apache-2.0
 * Reads and checks the manifests of shards.  Nothing in them is trusted. */
#include "src/cli/merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/sha256.h"
#include "src/cli/shard.h"

#define SHOWN 10 /* of what is missing; the rest is counted */

static int fail(const struct pfi_cli_merge *m, const char *name,
                const char *why)
{
    return pfi_cli_place_fail(&m->place, name, why);
}

static int damaged(const struct pfi_cli_merge *m, int32_t rank)
{
    return fail(m, m->shards[rank].manifest, "not a shard's manifest");
}

static struct pfi_cli_json all_of(const struct pfi_cli_merged *shard)
{
    return (struct pfi_cli_json){shard->text,
                                 shard->text + strlen(shard->text)};
}

static bool number_of(struct pfi_cli_json object, const char *name,
                      uint64_t *out)
{
    struct pfi_cli_json value;

    return pfi_cli_json_member(object, name, &value) &&
           pfi_cli_json_number(&value, out);
}

/* A string that lives as long as the shard; NULL where there is none. */
static char *keep_string(struct pfi_cli_merged *shard, struct pfi_cli_json *t)
{
    char *const out = shard->names + shard->names_used;

    /* No string is longer than the text that it stands in. */
    if (!pfi_cli_json_string(t, out, strlen(shard->text) + 1))
        return NULL;
    shard->names_used += strlen(out) + 1;
    return out;
}

static char *string_of(struct pfi_cli_merged *shard, struct pfi_cli_json object,
                       const char *name)
{
    struct pfi_cli_json value;

    return pfi_cli_json_member(object, name, &value)
               ? keep_string(shard, &value)
               : NULL;
}

/* How many an array may hold, and one: each takes two quotes and a comma. */
static size_t most_strings(struct pfi_cli_json array)
{
    return (size_t)(array.end - array.at) / 3 + 2;
}

/* ----------------------------------------------------------------- find --- */

/* The world of a manifest's name, or 0 where it is another file's. */
static int32_t world_of(const struct pfi_cli_merge *m, const char *name)
{
    const size_t stem = strlen(m->place.stem);
    char *own, *end;
    long rank, world;
    bool same;

    if (strncmp(name, m->place.stem, stem) != 0 || name[stem] != '-')
        return 0;
    rank = strtol(name + stem + 1, &end, 10);
    if (strncmp(end, "-of-", 4) != 0)
        return 0;
    world = strtol(end + 4, &end, 10);
    if (strcmp(end, ".json") != 0 || rank < 0 || world <= rank ||
        world > INT32_MAX)
        return 0;
    const struct pfi_cli_suffix suffix =
        pfi_cli_suffix((int32_t)rank, (int32_t)world);

    own = pfi_cli_place_name("", m->place.stem, &suffix, ".json");
    same = own && !strcmp(own, name);
    free(own);
    return same ? (int32_t)world : 0;
}

static int find_world(struct pfi_cli_merge *m)
{
    const int fd = openat(m->place.folder, ".", O_RDONLY | O_CLOEXEC);
    DIR *const dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    char why[96] = "no shards of an export are there";

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return fail(m, "", strerror(errno));
    }
    while ((entry = readdir(dir)) != NULL) {
        const int32_t world = world_of(m, entry->d_name);

        if (world && m->world && world != m->world) {
            (void)snprintf(why, sizeof(why),
                           "shards of %d and of %d are there; remove those of "
                           "one",
                           world < m->world ? world : m->world,
                           world < m->world ? m->world : world);
            m->world = 0;
            break;
        }
        m->world = world ? world : m->world;
    }
    (void)closedir(dir);
    return m->world ? PFI_CLI_OK : fail(m, "", why);
}

/* The missing ones are all named before it fails. */
static int read_texts(struct pfi_cli_merge *m)
{
    int missing = 0;

    m->shards = calloc((size_t)m->world, sizeof(*m->shards));
    if (!m->shards)
        return fail(m, "", strerror(ENOMEM));
    for (int32_t r = 0; r < m->world; r++)
        m->shards[r].fd = -1;
    for (int32_t r = 0; r < m->world; r++) {
        struct pfi_cli_merged *const shard = &m->shards[r];
        const struct pfi_cli_suffix suffix = pfi_cli_suffix(r, m->world);

        shard->manifest =
            pfi_cli_place_name("", m->place.stem, &suffix, ".json");
        if (!shard->manifest)
            return fail(m, "", strerror(ENOMEM));
        shard->text = pfi_cli_place_read(&m->place, shard->manifest);
        if (shard->text) {
            shard->names = malloc(2 * strlen(shard->text) + 2);
            if (!shard->names)
                return fail(m, shard->manifest, strerror(ENOMEM));
        } else if (errno != ENOENT) {
            return fail(m, shard->manifest, strerror(errno));
        } else if (missing++ < SHOWN) {
            (void)fail(m, shard->manifest, "missing: this rank has not ended");
        }
    }
    if (missing > SHOWN)
        (void)fprintf(stderr, "pinfold: %d shards of %d are missing\n", missing,
                      m->world);
    return missing ? PFI_CLI_FAILED : PFI_CLI_OK;
}

/* ---------------------------------------------------------------- check --- */

static int check_kind(const struct pfi_cli_merge *m, int32_t rank)
{
    const struct pfi_cli_merged *const shard = &m->shards[rank];
    const struct pfi_cli_json own = all_of(shard);
    uint64_t own_rank, world;
    const char *differs;
    char why[160];

    if (!number_of(own, "rank", &own_rank) || !number_of(own, "world", &world))
        return damaged(m, rank);
    if (own_rank != (uint64_t)rank || world != (uint64_t)m->world) {
        (void)snprintf(why, sizeof(why), "is the manifest of rank %llu of %llu",
                       (unsigned long long)own_rank, (unsigned long long)world);
        return fail(m, shard->manifest, why);
    }
    differs = pfi_cli_shard_differs(all_of(&m->shards[0]), own, false);
    if (!differs)
        return PFI_CLI_OK;
    (void)snprintf(why, sizeof(why), "its \"%s\" is not that of %s", differs,
                   m->shards[0].manifest);
    return fail(m, shard->manifest, why);
}

static int check_file(const struct pfi_cli_merge *m, struct pfi_cli_json entry,
                      const char *name)
{
    struct pfi_cli_json value;
    char wanted[65], got[65], why[96];
    uint64_t bytes;
    struct stat st;

    if (!number_of(entry, "bytes", &bytes))
        return fail(m, name, "its manifest does not say how long it is");
    if (fstatat(m->place.folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return fail(m, name, strerror(errno));
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != bytes) {
        (void)snprintf(why, sizeof(why), "%lld bytes, %llu in its manifest",
                       (long long)st.st_size, (unsigned long long)bytes);
        return fail(m, name, why);
    }
    if (!m->given->checksums)
        return PFI_CLI_OK;
    if (!pfi_cli_json_member(entry, "sha256", &value) ||
        !pfi_cli_json_string(&value, wanted, sizeof(wanted)))
        return fail(m, name, "its manifest has no checksum");
    pfi_cli_sha256_file(m->place.folder, name, got);
    return strcmp(got, wanted) ? fail(m, name, "its checksum differs")
                               : PFI_CLI_OK;
}

int pfi_cli_merge_files(const struct pfi_cli_merge *m, int32_t rank,
                        int (*file)(const struct pfi_cli_merge *m,
                                    struct pfi_cli_json entry,
                                    const char *name))
{
    const struct pfi_cli_suffix suffix = pfi_cli_suffix(rank, m->world);
    struct pfi_cli_json t, entry, value;
    char name[256];
    int code = PFI_CLI_OK;

    if (!pfi_cli_json_member(all_of(&m->shards[rank]), "files", &t) ||
        !pfi_cli_json_take(&t, '['))
        return damaged(m, rank);
    do {
        entry = t;
        if (!pfi_cli_json_skip(&t) ||
            !pfi_cli_json_member(entry, "name", &value) ||
            !pfi_cli_json_string(&value, name, sizeof(name)) ||
            strchr(name, '/') || !strstr(name, suffix.text))
            return damaged(m, rank);
        code = file(m, entry, name);
    } while (!code && pfi_cli_json_take(&t, ','));
    return code;
}

/* ----------------------------------------------------------------- fill --- */

/* The words are parsed again: what an option means stands in one place. */
static int read_options(struct pfi_cli_merge *m)
{
    struct pfi_cli_merged *const first = &m->shards[0];
    struct pfi_cli_json t;
    const char *kind;
    int n = 0;

    if (!pfi_cli_json_member(all_of(first), "options", &t))
        return damaged(m, 0);
    m->words = calloc(most_strings(t), sizeof(*m->words));
    if (!m->words)
        return fail(m, first->manifest, strerror(ENOMEM));
    if (!pfi_cli_json_take(&t, '['))
        return damaged(m, 0);
    while ((m->words[n] = keep_string(first, &t)) != NULL) {
        n++;
        if (!pfi_cli_json_take(&t, ','))
            break;
    }
    pfi_cli_options_init(&m->o, PFI_CLI_EXPORT);
    if (!pfi_cli_options_parse(&m->o, n, m->words) || m->o.n_arguments != 2)
        return fail(m, first->manifest, "its options are not those of export");
    if (m->o.format == PFI_CLI_NPY_EACH)
        return damaged(m, 0);
    kind = string_of(first, all_of(first), "shard");
    if (kind && !strcmp(kind, "torch"))
        return fail(m, first->manifest,
                    "torch's shards hold samples twice: they are not merged");
    if (kind && !strcmp(kind, "exact batches"))
        return fail(m, first->manifest,
                    "an order of batches is merged from --shard contiguous");
    m->o.arguments[1] = m->given->arguments[0];
    m->o.force = m->given->force;
    m->o.order.rank = m->o.order.world = 0;
    return PFI_CLI_OK;
}

int64_t pfi_cli_merge_at(const struct pfi_cli_merge *m, int32_t rank, int64_t i)
{
    return m->o.order.shard == PINFOLD_SHARD_EXACT ? rank + i * m->world
                                                   : m->shards[rank].start + i;
}

/* What all shards share, and memory. */
static int prepare(struct pfi_cli_merge *m)
{
    struct pfi_cli_merged *const first = &m->shards[0];
    struct pfi_cli_export *const e = &m->e;
    struct pfi_cli_json t, order;
    uint64_t total;
    size_t bytes;
    pinfold_error err;

    if (!pfi_cli_json_member(all_of(first), "order", &order) ||
        !number_of(order, "samples", &total) || total > INT64_MAX / 64 ||
        !pfi_cli_json_member(all_of(first), "classes", &t))
        return damaged(m, 0);
    e->o = &m->o;
    if (pinfold_recipe_size(&m->o.recipe, (size_t)total, &bytes, e->shape,
                            &err) ||
        pinfold_recipe_size(&m->o.recipe, 1, &e->sample_bytes, NULL, &err))
        return fail(m, first->manifest, err.message);
    e->shape[0] = (int64_t)total;
    e->n_classes = (int64_t)most_strings(t);
    if (pfi_cli_export_allocate(e))
        return PFI_CLI_FAILED;
    e->n_classes = 0;
    if (!pfi_cli_json_take(&t, '['))
        return damaged(m, 0);
    while ((e->classes[e->n_classes] = keep_string(first, &t)) != NULL) {
        e->n_classes++;
        if (!pfi_cli_json_take(&t, ','))
            break;
    }
    return PFI_CLI_OK;
}

static bool fill_sample(struct pfi_cli_merge *m, struct pfi_cli_merged *shard,
                        struct pfi_cli_json sample, int64_t at)
{
    struct pfi_cli_export *const e = &m->e;
    struct pfi_cli_json status_text;
    pinfold_status status;
    uint64_t index, label;

    e->paths[at] = string_of(shard, sample, "path");
    if (!e->paths[at] || !number_of(sample, "index", &index) ||
        !number_of(sample, "label", &label) || index > INT64_MAX ||
        label > INT64_MAX ||
        !pfi_cli_json_member(sample, "status", &status_text) ||
        !pfi_cli_shard_status(&status_text, &status))
        return false;
    e->indices[at] = (int64_t)index;
    e->labels[at] = (int64_t)label;
    e->statuses[at] = (int32_t)status;
    e->bad += status != PINFOLD_OK;
    return true;
}

/* How many samples each one has; pieces may end between batches. */
static int count_shards(struct pfi_cli_merge *m)
{
    const int64_t total = m->e.shape[0];
    int64_t start = 0;

    for (int32_t r = 0; r < m->world; r++) {
        const int64_t fair = total / m->world + (r < total % m->world);
        struct pfi_cli_merged *const shard = &m->shards[r];
        uint64_t count;

        if (!number_of(all_of(shard), "images", &count) ||
            count > (uint64_t)(total - start) ||
            (m->o.order.shard == PINFOLD_SHARD_EXACT &&
             count != (uint64_t)fair))
            return damaged(m, r);
        shard->start = start;
        shard->count = (int64_t)count;
        start += shard->count;
    }
    return start == total ? PFI_CLI_OK : damaged(m, m->world - 1);
}

static int fill(struct pfi_cli_merge *m, int32_t rank)
{
    struct pfi_cli_merged *const shard = &m->shards[rank];
    struct pfi_cli_json t, sample;

    shard->images = string_of(shard, all_of(shard), "images_file");
    if (!shard->images || strchr(shard->images, '/') ||
        !number_of(all_of(shard), "images_offset", &shard->offset) ||
        shard->offset > INT64_MAX / 2 ||
        !pfi_cli_json_member(all_of(shard), "samples", &t) ||
        !pfi_cli_json_take(&t, '['))
        return damaged(m, rank);
    for (int64_t i = 0; i < shard->count; i++) {
        if (i && !pfi_cli_json_take(&t, ','))
            return damaged(m, rank);
        sample = t;
        if (!pfi_cli_json_skip(&t) ||
            !fill_sample(m, shard, sample, pfi_cli_merge_at(m, rank, i)))
            return damaged(m, rank);
    }
    return pfi_cli_json_take(&t, ']') ? PFI_CLI_OK : damaged(m, rank);
}

/* ----------------------------------------------------------------- once --- */

/* Whether the order has each sample of the data set once. */
static bool each_once(const struct pfi_cli_options *o)
{
    return !o->subset && !o->weights && !o->list_order &&
           !o->order.replacement && !o->order.num_samples;
}

/* `from` holds 1 + the rank that has a sample, or 0. */
static int count_samples(const struct pfi_cli_merge *m, int32_t *from,
                         int64_t n)
{
    char why[256];
    int64_t missing = 0;

    for (int32_t r = 0; r < m->world; r++) {
        for (int64_t i = 0; i < m->shards[r].count; i++) {
            const int64_t index = m->e.indices[pfi_cli_merge_at(m, r, i)];
            const char *const name = m->shards[r].manifest;

            if (index < n && !from[index]) {
                from[index] = 1 + r;
                continue;
            }
            (void)snprintf(
                why, sizeof(why), "sample %lld is %s%.120s", (long long)index,
                index < n ? "in it, and already in " : "none",
                index < n ? m->shards[from[index] - 1].manifest : "");
            return fail(m, name, why);
        }
    }
    for (int64_t i = 0; i < n; i++)
        if (!from[i] && missing++ < SHOWN)
            (void)fprintf(stderr,
                          "pinfold: %s: sample %lld is missing in all shards\n",
                          m->place.path, (long long)i);
    return missing ? PFI_CLI_FAILED : PFI_CLI_OK;
}

/* Every sample of the order at its place. */
static int check_order(const struct pfi_cli_merge *m)
{
    const uint64_t hash =
        pfi_cli_hash(PFI_CLI_HASH, m->e.indices,
                     (size_t)m->e.shape[0] * sizeof(*m->e.indices));
    struct pfi_cli_json order, dataset, value;
    char wanted[24] = "", got[24];
    uint64_t n;
    int code = PFI_CLI_OK;

    if (!pfi_cli_json_member(all_of(&m->shards[0]), "order", &order) ||
        !pfi_cli_json_member(all_of(&m->shards[0]), "dataset", &dataset) ||
        !number_of(dataset, "samples", &n) || n > INT64_MAX / 64 ||
        !pfi_cli_json_member(order, "fingerprint", &value) ||
        !pfi_cli_json_string(&value, wanted, sizeof(wanted)))
        return damaged(m, 0);
    if (each_once(&m->o)) {
        int32_t *const from = calloc((size_t)n + 1, sizeof(*from));

        code = from ? count_samples(m, from, (int64_t)n)
                    : fail(m, "", strerror(ENOMEM));
        free(from);
    }
    (void)snprintf(got, sizeof(got), "%016llx", (unsigned long long)hash);
    if (!code && strcmp(got, wanted) != 0)
        code = fail(m, m->shards[0].manifest,
                    "the samples of the shards are not in the order that it "
                    "names");
    return code;
}

/* ----------------------------------------------------------------- read --- */

int pfi_cli_merge_read(struct pfi_cli_merge *m)
{
    int code = find_world(m);

    if (!code)
        code = read_texts(m);
    for (int32_t r = 0; !code && r < m->world; r++)
        code = check_kind(m, r);
    if (!code)
        code = read_options(m);
    if (!code)
        code = prepare(m);
    if (!code)
        code = count_shards(m);
    for (int32_t r = 0; !code && r < m->world; r++)
        code = fill(m, r);
    if (!code)
        code = check_order(m);
    for (int32_t r = 0; !code && r < m->world; r++)
        code = pfi_cli_merge_files(m, r, check_file);
    return code;
}

void pfi_cli_merge_close(struct pfi_cli_merge *m)
{
    for (int32_t r = 0; m->shards && r < m->world; r++) {
        if (m->shards[r].fd >= 0)
            close(m->shards[r].fd);
        free(m->shards[r].manifest);
        free(m->shards[r].text);
        free(m->shards[r].names);
    }
    free(m->shards);
    free(m->words);
    pfi_cli_export_free(&m->e);
    pfi_cli_place_close(&m->place);
}
