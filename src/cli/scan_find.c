/* SPDX-License-Identifier: Apache-2.0
 * Findings: what a sample is by itself, beside the others, and the classes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "src/cli/label.h"
#include "src/cli/scan.h"

bool pfi_cli_kind_is_bad(enum pfi_cli_kind kind)
{
    return kind <= PFI_CLI_FAILED_OTHERWISE;
}

static bool add(struct pfi_cli_scan *s, enum pfi_cli_kind kind, int64_t sample,
                int64_t label, int64_t other)
{
    if (s->n_findings == s->room) {
        const int64_t room = s->room ? 2 * s->room : 64;
        void *const grown =
            realloc(s->findings, (size_t)room * sizeof(*s->findings));

        if (!grown)
            return false;
        s->findings = grown;
        s->room = room;
    }
    s->findings[s->n_findings++] =
        (struct pfi_cli_finding){kind, sample, label, other};
    return true;
}

/* ------------------------------------------------------ samples by themselves
 * --- */

static enum pfi_cli_kind bad_kind(const struct pfi_cli_scanned *f)
{
    const char *const message = f->message ? f->message : "";

    switch (f->status) {
    case PINFOLD_E_IO: return PFI_CLI_UNREADABLE;
    case PINFOLD_E_FORMAT:
        return !strcmp(message, "empty file") ? PFI_CLI_EMPTY
                                              : PFI_CLI_NO_PICTURE;
    case PINFOLD_E_CORRUPT:
        return strstr(message, "cut short") ? PFI_CLI_TRUNCATED
                                            : PFI_CLI_CORRUPT;
    case PINFOLD_E_LIMIT: return PFI_CLI_OVER_LIMIT;
    case PINFOLD_E_UNSUPPORTED: return PFI_CLI_UNSUPPORTED;
    default: return PFI_CLI_FAILED_OTHERWISE;
    }
}

/* Names that end in nothing known, as a list may have, promise nothing. */
static bool name_lies(const char *path, const char *format)
{
    static const char *const promises[][2] = {
        {".jpg", "JPEG"}, {".jpeg", "JPEG"}, {".png", "PNG"},
        {".ppm", "PPM"},  {".pgm", "PPM"},   {".bmp", "BMP"},
        {".tif", "TIFF"}, {".tiff", "TIFF"}, {".webp", "WebP"},
    };
    const char *const dot = strrchr(pfi_cli_base_name(path), '.');

    for (size_t i = 0; dot && i < sizeof(promises) / sizeof(promises[0]); i++)
        if (!strcasecmp(dot, promises[i][0]))
            return strcmp(format, promises[i][1]) != 0 &&
                   /* a BMP without its first 14 bytes */
                   (strcmp(format, "DIB") || strcasecmp(dot, ".bmp"));
    return false;
}

/* Modes of more than 8 bits that Pillow cuts to 0..255. */
static bool is_clipped(const char *mode)
{
    return !strncmp(mode, "I;16", 4) || !strcmp(mode, "I") ||
           !strcmp(mode, "F");
}

static bool find_alone(struct pfi_cli_scan *s, int64_t i, int64_t label)
{
    const struct pfi_cli_scanned *const f = &s->files[i];
    const char *const path = pinfold_dataset_path(s->dataset, i);

    if (f->status)
        return add(s, bad_kind(f), i, label, 0);
    if (name_lies(path, f->format) && !add(s, PFI_CLI_EXTENSION, i, label, 0))
        return false;
    if (f->open_end && !add(s, PFI_CLI_OPEN_END, i, label, 0))
        return false;
    if (!strcmp(f->mode, "CMYK") && !add(s, PFI_CLI_CMYK, i, label, 0))
        return false;
    if (is_clipped(f->mode) && !add(s, PFI_CLI_CLIPPED, i, label, 0))
        return false;
    /* TIFF is turned by all loaders, and everything where that is asked for. */
    return f->orientation < 2 || s->o->recipe.exif ||
           !strcmp(f->format, "TIFF") || add(s, PFI_CLI_TURNED, i, label, 0);
}

/* ------------------------------------------------------------- the same bytes
 * --- */

struct key {
    const char *hash;
    int64_t index;
};

static int compare_hash(const void *a, const void *b)
{
    const struct key *const x = a, *const y = b;

    return strcmp(x->hash, y->hash);
}

static int compare_key(const void *a, const void *b)
{
    const struct key *const x = a, *const y = b;
    const int order = compare_hash(a, b);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* The samples that are not bad, sorted by hash, then by index; NULL when out of
 * memory. */
static struct key *sorted_keys(const struct pfi_cli_scanned *files, int64_t n,
                               int64_t *count)
{
    struct key *const keys = malloc(((size_t)n + 1) * sizeof(*keys));

    *count = 0;
    for (int64_t i = 0; keys && i < n; i++)
        if (!files[i].status && files[i].hash[0])
            keys[(*count)++] = (struct key){files[i].hash, i};
    if (keys)
        qsort(keys, (size_t)*count, sizeof(*keys), compare_key);
    return keys;
}

/* For each sample the first one with its bytes, or -1. */
static int64_t *find_firsts(const struct pfi_cli_scanned *files, int64_t n)
{
    int64_t *const firsts = malloc(((size_t)n + 1) * sizeof(*firsts));
    int64_t count, first = 0;
    struct key *const keys = firsts ? sorted_keys(files, n, &count) : NULL;

    if (!keys) {
        free(firsts);
        return NULL;
    }
    for (int64_t i = 0; i < n; i++)
        firsts[i] = -1;
    for (int64_t i = 0; i < count; i++) {
        if (compare_hash(&keys[first], &keys[i]) != 0)
            first = i;
        firsts[keys[i].index] = keys[first].index;
    }
    free(keys);
    return firsts;
}

/* The first sample of the second data set with these bytes, or -1. */
static int64_t find_overlap(const struct key *keys, int64_t count,
                            const struct pfi_cli_scanned *f)
{
    const struct key wanted = {f->hash, 0};
    const struct key *found = f->status || !f->hash[0]
                                  ? NULL
                                  : bsearch(&wanted, keys, (size_t)count,
                                            sizeof(*keys), compare_hash);

    while (found && found > keys && !compare_hash(found - 1, found))
        found--;
    return found ? found->index : -1;
}

static bool find_samples(struct pfi_cli_scan *s, const int64_t *firsts,
                         const struct key *keys, int64_t n_keys)
{
    const int64_t n = pinfold_dataset_size(s->dataset);

    for (int64_t i = 0; i < n; i++) {
        const int64_t before = s->n_findings;
        const int64_t label = pinfold_dataset_label(s->dataset, i);
        const int64_t other =
            s->second ? find_overlap(keys, n_keys, &s->files[i]) : -1;

        if (!find_alone(s, i, label) ||
            (firsts[i] >= 0 && firsts[i] != i &&
             !add(s, PFI_CLI_DUPLICATE, i, label, firsts[i])) ||
            (other >= 0 && !add(s, PFI_CLI_OVERLAP, i, label, other)))
            return false;
        s->bad += s->files[i].status != PINFOLD_OK;
        s->suspicious += s->n_findings > before && !s->files[i].status;
    }
    return true;
}

/* ----------------------------------------------------------------- classes ---
 */

static int compare_counts(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* The upper one of two in the middle; 0 where no class has a sample. */
static int64_t median_of(const int64_t *counts, int64_t n, int64_t *room)
{
    int64_t used = 0;

    for (int64_t i = 0; i < n; i++)
        if (counts[i])
            room[used++] = counts[i];
    qsort(room, (size_t)used, sizeof(*room), compare_counts);
    return used ? room[used / 2] : 0;
}

static bool find_classes(struct pfi_cli_scan *s)
{
    const int64_t n = pinfold_dataset_class_count(s->dataset);
    int64_t *const counts = calloc(2 * (size_t)n + 1, sizeof(*counts));
    bool good = counts != NULL;

    for (int64_t i = 0; good && i < pinfold_dataset_size(s->dataset); i++)
        counts[pinfold_dataset_label(s->dataset, i)]++;
    if (good)
        s->median = median_of(counts, n, counts + n);
    for (int64_t i = 0; good && i < n; i++) {
        const int64_t c = counts[i];

        if (!c)
            good = add(s, PFI_CLI_CLASS_EMPTY, -1, i, c);
        else if (c <= s->median / PFI_CLI_LOPSIDED)
            good = add(s, PFI_CLI_CLASS_SMALL, -1, i, c);
        else if (c / PFI_CLI_LOPSIDED >= s->median)
            good = add(s, PFI_CLI_CLASS_LARGE, -1, i, c);
    }
    free(counts);
    return good;
}

bool pfi_cli_scan_find(struct pfi_cli_scan *s)
{
    int64_t *const firsts =
        find_firsts(s->files, pinfold_dataset_size(s->dataset));
    struct key *keys = NULL;
    int64_t n_keys = 0;
    bool good = firsts != NULL;

    if (good && s->second) {
        keys = sorted_keys(s->second_files, pinfold_dataset_size(s->second),
                           &n_keys);
        good = keys != NULL;
    }
    good = good && find_samples(s, firsts, keys, n_keys) && find_classes(s);
    free(firsts);
    free(keys);
    return good;
}
