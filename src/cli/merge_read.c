/* SPDX-License-Identifier: Apache-2.0
 * Finds and reads the manifests of shards.  Nothing in them is trusted. */
#include "src/cli/merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/shard.h"
#include "src/cli/text.h"

#define SHOWN 10 /* of what is missing; the rest is counted */

static int fail(const struct pfi_cli_merge *m, const char *name,
                const char *why)
{
    return pfi_cli_place_fail(&m->place, name, why);
}

int pfi_cli_merge_damaged(const struct pfi_cli_merge *m, int32_t rank)
{
    return fail(m, m->shards[rank].manifest, "not a shard's manifest");
}

struct pfi_cli_json pfi_cli_merge_text(const struct pfi_cli_merged *shard)
{
    return (struct pfi_cli_json){shard->text, shard->text + shard->size};
}

bool pfi_cli_merge_number(struct pfi_cli_json object, const char *name,
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
    if (!pfi_cli_json_string(t, out, shard->size + 1))
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
    char own[sizeof(struct pfi_cli_suffix) + sizeof(".json")], *end;
    long rank, world;

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

    (void)snprintf(own, sizeof(own), "%s.json", suffix.text);
    return strcmp(own, name + stem) ? 0 : (int32_t)world;
}

/* *found: its manifests that are there. */
static int find_world(struct pfi_cli_merge *m, int32_t *found)
{
    const int fd = openat(m->place.folder, ".", O_RDONLY | O_CLOEXEC);
    DIR *const dir = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;
    char why[96] = "no shards of an export are there";

    if (!dir) {
        if (fd >= 0)
            close(fd);
        return pfi_cli_place_cannot(&m->place, "", "read the folder");
    }
    for (errno = 0; (entry = readdir(dir)) != NULL; errno = 0) {
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
        *found += world != 0;
    }
    if (!entry && errno) {
        (void)snprintf(why, sizeof(why), "cannot read the folder: %s",
                       strerror(errno));
        m->world = 0;
    }
    (void)closedir(dir);
    return m->world ? PFI_CLI_OK : fail(m, "", why);
}

/* Names the first of them, and fails.  A file's name alone may speak of any
 * number of shards: nothing is allocated for it. */
static int name_missing(const struct pfi_cli_merge *m, int32_t missing)
{
    int32_t named = 0;

    for (int32_t r = 0; named < SHOWN && r < m->world; r++) {
        const struct pfi_cli_suffix suffix = pfi_cli_suffix(r, m->world);
        char *const name =
            pfi_cli_place_name("", m->place.stem, &suffix, ".json");
        const int code =
            !name ? ENOMEM
            : faccessat(m->place.folder, name, F_OK, AT_SYMLINK_NOFOLLOW)
                ? errno
                : 0;

        if (code == ENOENT)
            named++;
        if (code)
            (void)fail(m, name ? name : "",
                       code == ENOENT ? "missing: this rank has not ended"
                                      : strerror(code));
        free(name);
        if (code && code != ENOENT)
            return PFI_CLI_FAILED;
        if (named == missing)
            break;
    }
    if (missing > SHOWN)
        pfi_cli_say("pinfold: %d shards of %d are missing", missing, m->world);
    return PFI_CLI_FAILED;
}

static int read_text(struct pfi_cli_merge *m, int32_t rank)
{
    struct pfi_cli_merged *const shard = &m->shards[rank];
    const struct pfi_cli_suffix suffix = pfi_cli_suffix(rank, m->world);

    shard->manifest = pfi_cli_place_name("", m->place.stem, &suffix, ".json");
    if (!shard->manifest)
        return fail(m, "", strerror(ENOMEM));
    shard->text = pfi_cli_place_read(&m->place, shard->manifest);
    if (!shard->text)
        return pfi_cli_place_cannot(&m->place, shard->manifest, "read");
    shard->size = strlen(shard->text);
    shard->names = malloc(2 * shard->size + 2);
    return shard->names ? PFI_CLI_OK
                        : fail(m, shard->manifest, strerror(ENOMEM));
}

static int read_texts(struct pfi_cli_merge *m)
{
    int code = PFI_CLI_OK;

    m->shards = calloc((size_t)m->world, sizeof(*m->shards));
    if (!m->shards)
        return fail(m, "", strerror(ENOMEM));
    for (int32_t r = 0; r < m->world; r++)
        m->shards[r].fd = -1;
    for (int32_t r = 0; !code && r < m->world; r++)
        code = read_text(m, r);
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

    if (!pfi_cli_json_member(pfi_cli_merge_text(first), "options", &t))
        return pfi_cli_merge_damaged(m, 0);
    m->words = calloc(most_strings(t), sizeof(*m->words));
    if (!m->words)
        return fail(m, first->manifest, strerror(ENOMEM));
    if (!pfi_cli_json_take(&t, '['))
        return pfi_cli_merge_damaged(m, 0);
    while ((m->words[n] = keep_string(first, &t)) != NULL) {
        n++;
        if (!pfi_cli_json_take(&t, ','))
            break;
    }
    pfi_cli_options_init(&m->o, PFI_CLI_EXPORT);
    if (!pfi_cli_options_parse(&m->o, n, m->words) || m->o.n_arguments != 2)
        return fail(m, first->manifest, "its options are not those of export");
    if (m->o.format == PFI_CLI_NPY_EACH)
        return pfi_cli_merge_damaged(m, 0);
    kind = string_of(first, pfi_cli_merge_text(first), "shard");
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
    uint64_t total, most = 0;
    size_t bytes;
    pinfold_error err;

    /* Each sample takes more than a byte of text. */
    for (int32_t r = 0; r < m->world; r++)
        most += m->shards[r].size;
    if (!pfi_cli_json_member(pfi_cli_merge_text(first), "order", &order) ||
        !pfi_cli_merge_number(order, "samples", &total) ||
        total > most ||
        !pfi_cli_json_member(pfi_cli_merge_text(first), "classes", &t))
        return pfi_cli_merge_damaged(m, 0);
    e->o = &m->o;
    if (pinfold_recipe_size(&m->o.recipe, (int64_t)total, &bytes, e->shape,
                            &err) ||
        pinfold_recipe_size(&m->o.recipe, 1, &e->sample_bytes, NULL, &err))
        return fail(m, first->manifest, err.message);
    e->shape[0] = (int64_t)total;
    e->n_classes = (int64_t)most_strings(t);
    if (pfi_cli_export_allocate(e))
        return PFI_CLI_FAILED;
    e->n_classes = 0;
    if (!pfi_cli_json_take(&t, '['))
        return pfi_cli_merge_damaged(m, 0);
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
    if (!e->paths[at] || !pfi_cli_merge_number(sample, "index", &index) ||
        !pfi_cli_merge_number(sample, "label", &label) || index > INT64_MAX ||
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

        if (!pfi_cli_merge_number(pfi_cli_merge_text(shard), "images",
                                  &count) ||
            count > (uint64_t)(total - start) ||
            (m->o.order.shard == PINFOLD_SHARD_EXACT &&
             count != (uint64_t)fair))
            return pfi_cli_merge_damaged(m, r);
        shard->start = start;
        shard->count = (int64_t)count;
        start += shard->count;
    }
    return start == total ? PFI_CLI_OK : pfi_cli_merge_damaged(m, m->world - 1);
}

static int fill(struct pfi_cli_merge *m, int32_t rank)
{
    struct pfi_cli_merged *const shard = &m->shards[rank];
    struct pfi_cli_json t, sample;

    shard->images = string_of(shard, pfi_cli_merge_text(shard), "images_file");
    if (!shard->images || strchr(shard->images, '/') ||
        !pfi_cli_merge_number(pfi_cli_merge_text(shard), "images_offset",
                              &shard->offset) ||
        shard->offset > INT64_MAX / 2 ||
        !pfi_cli_json_member(pfi_cli_merge_text(shard), "samples", &t) ||
        !pfi_cli_json_take(&t, '['))
        return pfi_cli_merge_damaged(m, rank);
    for (int64_t i = 0; i < shard->count; i++) {
        if (i && !pfi_cli_json_take(&t, ','))
            return pfi_cli_merge_damaged(m, rank);
        sample = t;
        if (!pfi_cli_json_skip(&t) ||
            !fill_sample(m, shard, sample, pfi_cli_merge_at(m, rank, i)))
            return pfi_cli_merge_damaged(m, rank);
    }
    return pfi_cli_json_take(&t, ']') ? PFI_CLI_OK
                                      : pfi_cli_merge_damaged(m, rank);
}

/* ----------------------------------------------------------------- read --- */

int pfi_cli_merge_read(struct pfi_cli_merge *m)
{
    int32_t found = 0;
    int code = find_world(m, &found);

    if (!code)
        code = found < m->world ? name_missing(m, m->world - found)
                                : read_texts(m);
    for (int32_t r = 0; !code && r < m->world; r++)
        code = pfi_cli_merge_check_kind(m, r);
    if (!code)
        code = read_options(m);
    if (!code)
        code = prepare(m);
    if (!code)
        code = count_shards(m);
    for (int32_t r = 0; !code && r < m->world; r++)
        code = fill(m, r);
    if (!code)
        code = pfi_cli_merge_check_order(m);
    for (int32_t r = 0; !code && r < m->world; r++)
        code = pfi_cli_merge_check_files(m, r);
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
