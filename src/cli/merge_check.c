/* SPDX-License-Identifier: Apache-2.0
 * Whether shards are those of one export, whole, with every sample once. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/cli/merge.h"
#include "src/cli/sha256.h"
#include "src/cli/shard.h"

#define SHOWN 10 /* samples that are missing; the rest is not named */

static int fail(const struct pfi_cli_merge *m, const char *name,
                const char *why)
{
    return pfi_cli_place_fail(&m->place, name, why);
}

int pfi_cli_merge_check_kind(const struct pfi_cli_merge *m, int32_t rank)
{
    const struct pfi_cli_merged *const shard = &m->shards[rank];
    const struct pfi_cli_json own = pfi_cli_merge_text(shard);
    uint64_t own_rank, world;
    const char *differs;
    char why[160];

    if (!pfi_cli_merge_number(own, "rank", &own_rank) ||
        !pfi_cli_merge_number(own, "world", &world))
        return pfi_cli_merge_damaged(m, rank);
    if (own_rank != (uint64_t)rank || world != (uint64_t)m->world) {
        (void)snprintf(why, sizeof(why), "is the manifest of rank %llu of %llu",
                       (unsigned long long)own_rank, (unsigned long long)world);
        return fail(m, shard->manifest, why);
    }
    differs =
        pfi_cli_shard_differs(pfi_cli_merge_text(&m->shards[0]), own, false);
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

    if (!pfi_cli_merge_number(entry, "bytes", &bytes))
        return fail(m, name, "its manifest does not say how long it is");
    if (fstatat(m->place.folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return pfi_cli_place_cannot(&m->place, name, "read");
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
    if (!pfi_cli_sha256_file(m->place.folder, name, got))
        return pfi_cli_place_cannot(&m->place, name, "read");
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

    if (!pfi_cli_json_member(pfi_cli_merge_text(&m->shards[rank]), "files",
                             &t) ||
        !pfi_cli_json_take(&t, '['))
        return pfi_cli_merge_damaged(m, rank);
    do {
        entry = t;
        if (!pfi_cli_json_skip(&t) ||
            !pfi_cli_json_member(entry, "name", &value) ||
            !pfi_cli_json_string(&value, name, sizeof(name)) ||
            strchr(name, '/') || !strstr(name, suffix.text))
            return pfi_cli_merge_damaged(m, rank);
        code = file(m, entry, name);
    } while (!code && pfi_cli_json_take(&t, ','));
    return code;
}

int pfi_cli_merge_check_files(const struct pfi_cli_merge *m, int32_t rank)
{
    return pfi_cli_merge_files(m, rank, check_file);
}

/* ----------------------------------------------------------------- once --- */

/* Whether the order has each sample of the data set once. */
static bool each_once(const struct pfi_cli_options *o)
{
    return !o->subset && !o->weights && !o->list_order &&
           !o->order.replacement && !o->order.num_samples;
}

/* The first that are missing lie below this, however many a manifest says that
 * there are. */
static int64_t most_seen(const struct pfi_cli_merge *m, int64_t n)
{
    const int64_t most = m->e.shape[0] + SHOWN;

    return n < most ? n : most;
}

/* `from` holds 1 + the rank that has a sample, or 0. */
static int count_samples(const struct pfi_cli_merge *m, int32_t *from,
                         int64_t n)
{
    const int64_t seen = most_seen(m, n);
    char why[256];
    int64_t missing = 0;

    for (int32_t r = 0; r < m->world; r++) {
        for (int64_t i = 0; i < m->shards[r].count; i++) {
            const int64_t index = m->e.indices[pfi_cli_merge_at(m, r, i)];
            const char *const name = m->shards[r].manifest;

            if (index < n && (index >= seen || !from[index])) {
                if (index < seen)
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
    for (int64_t i = 0; i < seen; i++)
        if (!from[i] && missing++ < SHOWN)
            (void)fprintf(stderr,
                          "pinfold: %s: sample %lld is missing in all shards\n",
                          m->place.path, (long long)i);
    return missing ? PFI_CLI_FAILED : PFI_CLI_OK;
}

/* Every sample of the order at its place. */
int pfi_cli_merge_check_order(const struct pfi_cli_merge *m)
{
    const uint64_t hash =
        pfi_cli_hash(PFI_CLI_HASH, m->e.indices,
                     (size_t)m->e.shape[0] * sizeof(*m->e.indices));
    struct pfi_cli_json order, dataset, value;
    char wanted[24] = "", got[24];
    uint64_t n;
    int code = PFI_CLI_OK;

    if (!pfi_cli_json_member(pfi_cli_merge_text(&m->shards[0]), "order",
                             &order) ||
        !pfi_cli_json_member(pfi_cli_merge_text(&m->shards[0]), "dataset",
                             &dataset) ||
        !pfi_cli_merge_number(dataset, "samples", &n) || n > INT64_MAX ||
        !pfi_cli_json_member(order, "fingerprint", &value) ||
        !pfi_cli_json_string(&value, wanted, sizeof(wanted)))
        return pfi_cli_merge_damaged(m, 0);
    if (each_once(&m->o)) {
        int32_t *const from = calloc((size_t)most_seen(m, (int64_t)n) + 1,
                                     sizeof(*from));

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
