/* SPDX-License-Identifier: Apache-2.0
 * Parses options, and says what is wrong with one. */
#include "src/cli/options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/launch.h"
#include "src/cli/lists.h"
#include "src/cli/load_options.h"
#include "src/cli/monitor_options.h"
#include "src/cli/order.h"
#include "src/cli/recipe_options.h"
#include "src/cli/sandbox.h"
#include "src/cli/sheet_options.h"
#include "src/cli/text.h"
#include "src/cli/tune_options.h"
#include "src/cli/values.h"

typedef const char *(*take_function)(struct pfi_cli_options *, const char *);

struct option {
    const char *name;
    const char *value; /* what it takes, or NULL; "[=...]" only behind = */
    int commands;
    take_function take; /* returns what is wrong, or NULL */
    const char *help;
};

/* ---------------------------------------------------------------- options --- */

static const char *take_epoch(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_number(text, 0, LLONG_MAX, &o->epoch) ? NULL
                                                    : "not a whole number";
}

static const char *take_epochs(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_number(text, 1, INT_MAX, &o->epochs)
               ? NULL
               : "not a whole number from 1 on";
}

static const char *take_batches(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_number(text, 1, INT_MAX, &o->batches)
               ? NULL
               : "not a whole number from 1 on";
}

static const char *take_warmup(struct pfi_cli_options *o, const char *text)
{
    return pfi_cli_to_number(text, 0, INT_MAX, &o->warmup) ? NULL
                                                   : "not a whole number";
}

static const char *take_trace(struct pfi_cli_options *o, const char *text)
{
    o->trace = text;
    return *text ? NULL : "no file";
}

static const char *take_progress(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"auto", "always", "never", NULL};
    int i = 0;
    const char *const wrong =
        pfi_cli_to_choice(text, names, "not auto, always or never", &i);

    o->progress = (enum pfi_cli_progress)i;
    return wrong;
}

static const char *take_json(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->json = true;
    return NULL;
}

static const char *take_stages(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->stages = true;
    return NULL;
}

static const char *take_quiet(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->quiet = true;
    return NULL;
}

static const char *take_classes(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->classes = true;
    return NULL;
}

static const char *take_allow_empty(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->dataset.allow_empty = 1;
    return NULL;
}

static const char *take_force(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->force = true;
    return NULL;
}

static const char *take_checksums(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->checksums = true;
    return NULL;
}

static const char *take_delete_shards(struct pfi_cli_options *o,
                                      const char *text)
{
    (void)text;
    o->delete_shards = true;
    return NULL;
}

static const char *take_format(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"npy", "safetensors", "raw", "npy-each",
                                        NULL};
    int i = 0;
    const char *const wrong =
        pfi_cli_to_choice(text, names, "not npy, safetensors, raw or npy-each", &i);

    o->format = (enum pfi_cli_format)i;
    o->format_given = true;
    return wrong;
}

static const char *take_labels(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"int64", "int32", NULL};
    int i = 0;
    const char *const wrong = pfi_cli_to_choice(text, names, "not int32 or int64", &i);

    o->labels32 = i == 1;
    return wrong;
}

static const char *take_tensor(struct pfi_cli_options *o, const char *text)
{
    o->tensor = text;
    return NULL;
}

#define LOADS                                                               \
    (PFI_CLI_VERIFY | PFI_CLI_BENCH | PFI_CLI_EXPORT | PFI_CLI_DIFF |       \
     PFI_CLI_TUNE | PFI_CLI_PLAN)
#define SHOWS (PFI_CLI_SCAN | PFI_CLI_SHEET)
#define LOOKS (SHOWS | PFI_CLI_STATS)
#define NORMALIZES (LOADS | PFI_CLI_EXPLAIN)
#define MAKES (NORMALIZES | LOOKS)
#define WALKS (LOADS | PFI_CLI_LS | LOOKS)
#define TENSORS (PFI_CLI_BENCH | PFI_CLI_EXPORT | PFI_CLI_TUNE | PFI_CLI_PLAN)
#define RUNS (TENSORS | PFI_CLI_SHEET)
#define UPLOADS (PFI_CLI_BENCH | PFI_CLI_PLAN)

static const struct option table[] = {
    {"preset", "NAME", MAKES, pfi_cli_take_preset,
     "a model's or its weights' ('pinfold presets'); later options win"},
    {"resize", "N|HxW|none", MAKES, pfi_cli_take_resize,
     "shorter side, or height and width (256)"},
    {"max-size", "N", MAKES, pfi_cli_take_max_size, "limit of the longer side"},
    {"filter", "nearest|box|bilinear|hamming|bicubic|lanczos", MAKES,
     pfi_cli_take_filter, "Pillow's (bilinear)"},
    {"crop", "N|HxW|none", MAKES, pfi_cli_take_crop, "centre crop (224)"},
    {"exif", NULL, MAKES, pfi_cli_take_exif, "turn as the EXIF orientation says"},
    {"mean", "R,G,B", NORMALIZES, pfi_cli_take_mean, "on 0..1 (0.485,0.456,0.406)"},
    {"std", "R,G,B", NORMALIZES, pfi_cli_take_std, "(0.229,0.224,0.225)"},
    {"scale", "divide|multiply", NORMALIZES, pfi_cli_take_scale,
     "by 255 as ToTensor, or as v2 ToDtype (divide)"},
    {"pillow", "12|13", MAKES, pfi_cli_take_pillow, "whose bits (13)"},
    {"random-crop", NULL, RUNS | PFI_CLI_EXPLAIN, pfi_cli_take_random_crop,
     "RandomResizedCrop to --crop's size in place of --resize"},
    {"random-area", "A,B", RUNS | PFI_CLI_EXPLAIN, pfi_cli_take_random_area,
     "share of the picture (0.08,1)"},
    {"random-aspect", "A,B", RUNS | PFI_CLI_EXPLAIN, pfi_cli_take_random_aspect,
     "width / height (0.75,1.3333333333333333)"},
    {"flip", "P", RUNS | PFI_CLI_EXPLAIN, pfi_cli_take_flip,
     "RandomHorizontalFlip with this probability (0)"},
    {"max-file", "BYTES", MAKES, pfi_cli_take_max_file,
     "of a picture's file before it is read (2G)"},
    {"max-pixels", "N", MAKES, pfi_cli_take_max_pixels,
     "of a picture before it is decoded (178956970); 100M: millions"},
    {"max-scratch", "BYTES", MAKES, pfi_cli_take_max_scratch,
     "memory to decode one picture (2G); K, M, G and KiB: 1024"},
    {"jpeg", "auto|libjpeg", MAKES, pfi_cli_take_jpeg,
     "libjpeg: libjpeg-turbo for every JPEG (auto)"},
    {"full-decode", NULL, MAKES, pfi_cli_take_full_decode,
     "decode all of each JPEG, not its window: to compare"},
    {"max-scans", "N", MAKES, pfi_cli_take_max_scans, "of a JPEG (256)"},
    {"max-ancillary", "BYTES", MAKES, pfi_cli_take_max_ancillary,
     "inflated in a chunk of a PNG without pixels (1M)"},
    {"max-side", "N", MAKES, pfi_cli_take_max_side,
     "of the resized and of the output picture (16777216)"},
    {"dtype", "f32|f16|bf16|u8", TENSORS | PFI_CLI_EXPLAIN, pfi_cli_take_dtype,
     "of the tensor (f32); torch's float32 and so on, too"},
    {"layout", "nchw|nhwc", TENSORS | PFI_CLI_EXPLAIN, pfi_cli_take_layout,
     "of the tensor (nchw)"},
    {"cpu-level", "auto|c|sse4.1|avx2|avx512|neon", MAKES,
     pfi_cli_take_cpu_level, "the most that may be used (auto)"},
    {"workers", "auto|N", WALKS & ~(PFI_CLI_TUNE | PFI_CLI_LS),
     pfi_cli_take_workers,
     "threads; 0 decodes in the calling thread (auto; -w)"},
    {"io-threads", "N", WALKS, pfi_cli_take_io_threads,
     "threads that read folders (16), and files ahead, for slow stores (0)"},
    {"io-retries", "N", LOADS, pfi_cli_take_io_retries,
     "times that a file is read again after an I/O error (3)"},
    {"batch", "N", LOADS, pfi_cli_take_batch, "samples a batch (256; tune 64; -b)"},
    {"slots", "N", LOADS, pfi_cli_take_slots, "batches being made, ready or lent (3)"},
    {"shuffle", NULL, RUNS, pfi_cli_take_shuffle, "PyTorch's order for the seed"},
    {"seed", "N", RUNS | PFI_CLI_EXPLAIN, pfi_cli_take_seed,
     "of --shuffle, --random-crop and --flip (0)"},
    {"epoch", "N", RUNS & ~PFI_CLI_PLAN, take_epoch, "the first one (0)"},
    {"epochs", "N", PFI_CLI_BENCH | PFI_CLI_TUNE, take_epochs,
     "to measure (1; tune 4)"},
    {"batches", "N", PFI_CLI_BENCH | PFI_CLI_TUNE, take_batches,
     "to measure at most (tune 16 an epoch)"},
    {"warmup", "N", PFI_CLI_BENCH, take_warmup, "batches loaded before, and left out (2)"},
    {"stages", NULL, PFI_CLI_BENCH, take_stages,
     "say what each stage of a picture costs"},
    {"replacement", NULL, RUNS, pfi_cli_take_replacement,
     "PyTorch's random draws, each of all samples"},
    {"num-samples", "N", RUNS, pfi_cli_take_num_samples,
     "random draws an epoch (as many as samples)"},
    {"subset", "FILE", RUNS, pfi_cli_take_subset,
     "only these indices, in PyTorch's random order"},
    {"weights", "FILE", RUNS, pfi_cli_take_weights,
     "PyTorch's draws by weight, one for each sample"},
    {"order", "FILE", RUNS, pfi_cli_take_order,
     "these indices; several on a line make each line a batch"},
    {"shard", "exact|contiguous|torch", TENSORS, pfi_cli_take_shard,
     "torch's are padded (exact)"},
    {"shard-drop-last", NULL, TENSORS, pfi_cli_take_shard_drop_last,
     "torch's shards leave out what others pad"},
    {"rank", "R", TENSORS | PFI_CLI_ENV, pfi_cli_take_rank,
     "which shard, from 0"},
    {"world", "W", TENSORS | PFI_CLI_ENV, pfi_cli_take_world,
     "shards that there are"},
    {"launcher", "auto|none", TENSORS | PFI_CLI_ENV, pfi_cli_take_launcher,
     "rank and world from the environment ('pinfold env'), or not (auto)"},
    {"orders", "FILE", PFI_CLI_VERIFY, pfi_cli_take_orders,
     "compare PyTorch's orders; takes no ROOT"},
    {"drop-last", NULL, TENSORS, pfi_cli_take_drop_last, "leave out a short last batch"},
    {"on-error", "keep|fail", TENSORS, pfi_cli_take_on_error,
     "a bad picture is zeroed and counted, or ends the run (keep)"},
    {"upload", "off|auto|require", UPLOADS, pfi_cli_take_upload,
     "copy batches to a CUDA device (off)"},
    {"device-normalize", NULL, UPLOADS, pfi_cli_take_device_normalize,
     "upload bytes, a quarter of f32's, and normalise there: the same bits"},
    {"device", "N|all", UPLOADS, pfi_cli_take_device,
     "CUDA device (0), or cuda:N; all: bench uploads a share to each"},
    {"memory", "auto|pinned|pageable|locked", LOADS, pfi_cli_take_memory,
     "locked: by mlock() (auto)"},
    {"max-memory", "BYTES", LOADS, pfi_cli_take_max_memory,
     "of the host that the loader may take, as 500M ('pinfold plan')"},
    {"numa", "auto|off", LOADS, pfi_cli_take_numa,
     "stay near the device, where the system tells (auto)"},
    {"trace", "FILE", TENSORS & ~PFI_CLI_PLAN, take_trace,
     "write every stage, copy and wait for ui.perfetto.dev"},
    {"allow-empty", NULL, WALKS, take_allow_empty,
     "a class without a picture keeps its label"},
    {"list", "FILE", WALKS, pfi_cli_take_list,
     "samples in place of a walk: path, then label, a line"},
    {"class-list", "FILE", WALKS, pfi_cli_take_class_list,
     "the classes in the order of their labels, a name a line"},
    {"index", "FILE", WALKS, pfi_cli_take_index,
     "keep the walk in a file, and use it while it is right"},
    {"trust-index", NULL, WALKS, pfi_cli_take_trust_index,
     "use it without a look at the folders"},
    {"no-follow-outside", NULL, WALKS, pfi_cli_take_no_follow,
     "refuse a tree with a link that leads out of ROOT"},
    {"save", "FILE", PFI_CLI_LS, pfi_cli_take_save,
     "write an index in place of the list"},
    {"sandbox", NULL,
     PFI_CLI_LS | PFI_CLI_VERIFY | PFI_CLI_EXPORT | PFI_CLI_EXPLAIN | LOOKS,
     pfi_cli_take_sandbox,
     "give up every right but to read ROOT and write the output"},
    {"classes", NULL, PFI_CLI_LS, take_classes, "list the classes"},
    {"format", "npy|safetensors|raw|npy-each", PFI_CLI_EXPORT, take_format,
     "of what is written (npy; safetensors for OUT.safetensors)"},
    {"checksums", NULL, PFI_CLI_EXPORT | PFI_CLI_MERGE, take_checksums,
     "SHA-256 of a shard's files: to the manifest, or compared with it"},
    {"delete-shards", NULL, PFI_CLI_MERGE, take_delete_shards,
     "remove them once what they make is on the disk"},
    {"labels", "int64|int32", PFI_CLI_EXPORT, take_labels,
     "type of the labels (int64)"},
    {"force", NULL, PFI_CLI_EXPORT | PFI_CLI_MERGE, take_force, "replace an earlier export (-f)"},
    {"tensor", "NAME", PFI_CLI_DIFF, take_tensor,
     "which one of a safetensors file (images)"},
    {"json", NULL,
     PFI_CLI_LS | PFI_CLI_BENCH | PFI_CLI_EXPLAIN | PFI_CLI_DIFF |
         PFI_CLI_PRESETS | PFI_CLI_TUNE | PFI_CLI_PLAN | PFI_CLI_ENV | LOOKS,
     take_json,
     "print JSON"},
    {"exhaustive", NULL, PFI_CLI_TUNE, pfi_cli_take_exhaustive,
     "measure every number in every round"},
    {"max-workers", "N", PFI_CLI_TUNE, pfi_cli_take_max_workers,
     "the highest number (twice the CPUs)"},
    {"max-seconds", "N", PFI_CLI_TUNE, pfi_cli_take_max_seconds,
     "then end with what is known; 0 = never (600)"},
    {"rounds", "N", PFI_CLI_TUNE, pfi_cli_take_rounds,
     "most measurements of one number (100)"},
    {"csv", "FILE", PFI_CLI_TUNE, pfi_cli_take_csv, "every measurement"},
    {"svg", "FILE", PFI_CLI_TUNE | PFI_CLI_STATS, pfi_cli_take_svg, "a plot"},
    {"command", "COMMAND", PFI_CLI_TUNE, pfi_cli_take_command,
     "time this instead, {workers} (and {pinned}, 0 and 1) replaced"},
    {"images", "N", PFI_CLI_TUNE, pfi_cli_take_images,
     "that the command loads, for images/s"},
    {"count", "N", SHOWS, pfi_cli_take_count,
     "samples of a sheet (40; what fits a terminal; scan's 200)"},
    {"columns", "N", SHOWS, pfi_cli_take_columns, "tiles side by side"},
    {"before", NULL, SHOWS, pfi_cli_take_before,
     "the whole picture with the crop's frame beside each"},
    {"term", "[=auto|blocks|sixel|kitty]", PFI_CLI_SHEET, pfi_cli_take_term,
     "draw here, as the terminal can (auto)"},
    {"sheet", "OUT.png", PFI_CLI_SCAN, pfi_cli_take_sheet,
     "draw the bad and the suspicious samples"},
    {"quarantine-list", "FILE", PFI_CLI_SCAN, pfi_cli_take_quarantine,
     "the bad samples' paths, one a line, escaped as by ls"},
    {"null", NULL, PFI_CLI_SCAN, pfi_cli_take_null,
     "paths there as they are, each with a NUL, for xargs -0"},
    {"no-pixels", NULL, PFI_CLI_STATS, pfi_cli_take_no_pixels,
     "read the headers only: no mean and no std"},
    {"watch", NULL, PFI_CLI_BENCH | PFI_CLI_EXPORT, pfi_cli_take_watch,
     "a live view of slots, workers and stages on stderr"},
    {"metrics", "FILE|PORT", PFI_CLI_BENCH | PFI_CLI_EXPORT,
     pfi_cli_take_metrics,
     "for Prometheus: a file, or http at [HOST:]PORT"},
    {"progress", "auto|always|never", LOADS | LOOKS, take_progress,
     "auto: at a terminal (auto)"},
    {"quiet", NULL, LOADS | LOOKS | PFI_CLI_MERGE, take_quiet,
     "no progress and no remarks (-q)"},
};

#define N_TABLE (sizeof(table) / sizeof(table[0]))

/* ---------------------------------------------------------------- parsing --- */

int pfi_cli_distance(const char *a, const char *b)
{
    const size_t m = strlen(a), n = strlen(b);
    int rows[3][64];

    if (n >= 63)
        return 99;
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = (int)j;
    for (size_t i = 1; i <= m; i++) {
        int *const row = rows[i % 3];
        const int *const last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

        row[0] = (int)i;
        for (size_t j = 1; j <= n; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);

            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[m % 3][n];
}

int pfi_cli_too_far(const char *word)
{
    const size_t n = strlen(word) / 3;

    return n < 2 ? (int)n + 1 : 3;
}

/* What torch and others call options of the table. */
static const char *alias_of(const char *name)
{
    static const char *const aliases[][2] = {
        {"num-workers", "workers"},     {"threads", "workers"},
        {"batch-size", "batch"},        {"world-size", "world"},
        {"prefetch-factor", "slots"},   {"pin-memory", "memory"},
        {"interpolation", "filter"},    {"sampler", "order"},
        {"output-format", "format"},    {"overwrite", "force"},
        {"stats", "stages"},
    };

    for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
        if (!strcmp(name, aliases[i][0]))
            return aliases[i][1];
    return NULL;
}

static bool unknown(const char *word, size_t size)
{
    char name[64] = "";
    const char *nearest;
    int least;

    if (size < sizeof(name))
        memcpy(name, word + 2, size);
    for (char *c = strchr(name, '_'); c; c = strchr(c, '_'))
        *c = '-';
    nearest = alias_of(name);
    least = nearest ? 0 : pfi_cli_too_far(name);
    for (size_t i = 0; i <= N_TABLE; i++) {
        const char *const other = i < N_TABLE ? table[i].name : "help";
        const int d = pfi_cli_distance(name, other);

        if (d < least) {
            least = d;
            nearest = other;
        }
    }
    if (nearest)
        pfi_cli_say("pinfold: no option %s; did you mean --%s?", word, nearest);
    else
        pfi_cli_say("pinfold: no option %s", word);
    return false;
}

static const struct option *find(const char *name, size_t size)
{
    for (size_t i = 0; i < N_TABLE; i++)
        if (strlen(table[i].name) == size && !memcmp(table[i].name, name, size))
            return &table[i];
    return NULL;
}

/* The options that have a letter, too; any other word stays. */
static const char *long_form(const char *word)
{
    return !strcmp(word, "-q")   ? "--quiet"
           : !strcmp(word, "-f") ? "--force"
           : !strcmp(word, "-w") ? "--workers"
           : !strcmp(word, "-b") ? "--batch"
                                 : word;
}

/* Takes the option at words[*i], which moves on past its value. */
static bool take_option(struct pfi_cli_options *o, int n, char *const *words,
                        int *i)
{
    const char *const word = long_form(words[*i]);
    const char *const equals = strchr(word, '=');
    const size_t size = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    const struct option *const option = find(word + 2, size);
    const char *value = equals ? equals + 1 : NULL, *wrong;

    if (!option)
        return unknown(word, size);
    if (!(option->commands & (int)o->command)) {
        (void)fprintf(stderr, "pinfold: %s takes no --%s\n",
                      o->name ? o->name : "this command", option->name);
        return false;
    }
    const bool needed = option->value && *option->value != '[';

    if (needed && !value && *i + 1 < n)
        value = words[++*i];
    if (needed ? !value : value && !option->value) {
        (void)fprintf(stderr, "pinfold: --%s takes %s\n", option->name,
                      option->value ? option->value : "no value");
        return false;
    }
    wrong = option->take(o, value);
    if (wrong)
        pfi_cli_say("pinfold: --%s %s: %s", option->name, value ? value : "",
                    wrong);
    return !wrong;
}

void pfi_cli_options_init(struct pfi_cli_options *options,
                          enum pfi_cli_command command)
{
    static const float mean[3] = {0.485f, 0.456f, 0.406f};
    static const float stddev[3] = {0.229f, 0.224f, 0.225f};

    *options = (struct pfi_cli_options){
        .command = command,
        .recipe = pinfold_recipe_default(),
        .loader = pinfold_loader_options_default(),
        .dataset = {.struct_size = sizeof(options->dataset)},
        .epochs = 1,
        .warmup = 2,
    };
    /* The library's defaults, written out: one of --mean and --std alone must
     * leave the other as it is, a manifest must say what was done, and the
     * program reads files itself. */
    options->recipe.resize_short = 256;
    options->recipe.crop_height = 224;
    options->recipe.max_file = (uint64_t)2 << 30;
    memcpy(options->recipe.mean, mean, sizeof(mean));
    memcpy(options->recipe.stddev, stddev, sizeof(stddev));
    pfi_cli_tune_defaults(options);
}

bool pfi_cli_options_parse(struct pfi_cli_options *o, int n, char *const *words)
{
    bool plain = false;

    o->words = words;
    o->n_words = n;
    for (int i = 0; i < n; i++) {
        if (!plain && !strcmp(words[i], "--")) {
            plain = true;
        } else if (!plain && long_form(words[i])[0] == '-' &&
                   long_form(words[i])[1] == '-') {
            if (!take_option(o, n, words, &i))
                return false;
        } else if (!plain && words[i][0] == '-' && words[i][1]) {
            pfi_cli_say("pinfold: no option %s", words[i]);
            return false;
        } else if (o->n_arguments == 2) {
            pfi_cli_say("pinfold: one argument too many: %s", words[i]);
            return false;
        } else {
            o->arguments[o->n_arguments++] = words[i];
        }
    }
    return true;
}

bool pfi_cli_option_words(size_t i, struct pfi_cli_option_words *out)
{
    if (i >= N_TABLE)
        return false;
    *out = (struct pfi_cli_option_words){table[i].name, table[i].value,
                                         table[i].help, table[i].commands};
    return true;
}
