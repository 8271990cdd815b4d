/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the manifests of shards that pinfold merge reads, and the journal that
 * a killed export leaves.  An input is the texts of the shards 0, 1 ... with a
 * NUL between, behind a byte that asks for checksums where it is odd; the first
 * text is taken for a journal, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/merge.h"
#include "src/cli/shard.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/tree.h"

#define WORLD 3 /* shards of an input at most */
#define SAMPLES 64 /* of a journal's shard */

/* ---------------------------------------------------------------- folder --- */

/* Holds what manifests of the corpus list: files of 64 zeros. */
static char folder[64];

static void remove_folder(void)
{
    tree_close(folder);
}

static void make_folder(void)
{
    static const char *const names[][2] = {
        {"images", ".npy"},   {"labels", ".npy"},  {"indices", ".npy"},
        {"statuses", ".npy"}, {"classes", ".txt"}, {"files", ".txt"},
        {"data", ".bin"},     {"x", ".safetensors"}};
    char name[64];

    if (folder[0])
        return;
    tree_open(folder);
    (void)atexit(remove_folder);
    for (int32_t world = 1; world <= WORLD; world++)
        for (int32_t rank = 0; rank < world; rank++)
            for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                (void)snprintf(name, sizeof(name), "%s%s%s", names[i][0],
                               pfi_cli_suffix(rank, world).text, names[i][1]);
                tree_file(folder, name, "");
                fuzz_require(!truncate(tree_path(folder, name), 64),
                             "a file of the folder");
            }
}

static const char *manifest(int32_t rank, int32_t world)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "manifest%s.json",
                   pfi_cli_suffix(rank, world).text);
    return tree_path(folder, name);
}

static void put(const char *path, const char *text)
{
    FILE *const out = fopen(path, "w");

    fuzz_require(out && fputs(text, out) >= 0 && !fclose(out), "no file");
}

/* ----------------------------------------------------------------- merge --- */

static bool is_inside(const char *text, char *const *texts, int32_t world)
{
    for (int32_t i = 0; i < world; i++)
        if (strlen(text) <= strlen(texts[i]))
            return true;
    return false;
}

/* What the command goes on with. */
static void check_merge(const struct pfi_cli_merge *m, char *const *texts,
                        int32_t world)
{
    const struct pfi_cli_export *const e = &m->e;
    int64_t samples = 0, bad = 0;

    fuzz_require(m->world == world, "the world");
    for (int32_t r = 0; r < world; r++) {
        const struct pfi_cli_merged *const shard = &m->shards[r];

        fuzz_require(shard->count >= 0 && shard->start == samples, "a count");
        fuzz_require(!strchr(shard->images, '/'), "a file of another folder");
        fuzz_require(
            (uint64_t)shard->count <= (UINT64_MAX - shard->offset) /
                                          e->sample_bytes,
            "an end that no file has");
        samples += shard->count;
    }
    fuzz_require(samples == e->shape[0], "the samples");
    for (int64_t i = 0; i < samples; i++) {
        fuzz_require(is_inside(e->paths[i], texts, world), "a path");
        fuzz_require(e->labels[i] >= 0 && e->indices[i] >= 0, "a number");
        bad += e->statuses[i] != PINFOLD_OK;
    }
    fuzz_require(bad == e->bad, "the bad ones");
    for (int64_t i = 0; i < e->n_classes; i++)
        fuzz_require(is_inside(e->classes[i], texts, world), "a class");
}

static void merge(char *const *texts, int32_t world, bool checksums)
{
    struct pfi_cli_merge m = {.place.folder = -1};
    struct pfi_cli_options o;

    pfi_cli_options_init(&o, PFI_CLI_MERGE);
    o.arguments[o.n_arguments++] = folder;
    o.checksums = checksums;
    m.given = &o;
    make_folder();
    for (int32_t r = 0; r < world; r++)
        put(manifest(r, world), texts[r]);
    fuzz_require(!pfi_cli_place_open(&m.place, folder, false), "the folder");
    if (!pfi_cli_merge_read(&m))
        check_merge(&m, texts, world);
    pfi_cli_merge_close(&m);
    for (int32_t r = 0; r < world; r++)
        (void)unlink(manifest(r, world));
}

/* --------------------------------------------------------------- journal --- */

static void journal(char *text)
{
    static int32_t statuses[SAMPLES];
    struct pfi_cli_shard s = {.stopped = text, .shape = {SAMPLES}};
    struct pfi_cli_export e = {.statuses = statuses};

    if (!pfi_cli_shard_read_journal(&s))
        return;
    fuzz_require(s.written >= 0 && s.written <= SAMPLES &&
                     s.state_size <= sizeof(s.state),
                 "where it goes on");
    e.written = s.written;
    if (pfi_cli_shard_read_statuses(&s, &e))
        fuzz_require(e.bad >= 0, "the bad ones");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    const bool checksums = fuzz_below(&input, 2);
    char *texts[WORLD] = {NULL};
    int32_t world = 0;

    fuzz_mute();
    do {
        const uint8_t *const end =
            input.left ? memchr(input.at, '\0', input.left) : NULL;
        const size_t length = end ? (size_t)(end - input.at) : input.left;

        texts[world++] = fuzz_text(input.at, length);
        input.at += length + (end != NULL);
        input.left -= length + (end != NULL);
    } while (input.left && world < WORLD);
    merge(texts, world, checksums);
    journal(texts[0]);
    for (int32_t i = 0; i < world; i++)
        free(texts[i]);
    return 0;
}
