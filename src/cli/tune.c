/* SPDX-License-Identifier: Apache-2.0
 * pinfold tune: the best number of workers and slots, memory off and on. */
#include "src/cli/tune.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/part.h"
#include "src/cli/progress.h"
#include "src/cli/text.h"

enum { MIN_ROUNDS = 5, SLOTS_ROUNDS = 25 };

static const double TOLERANCE = 0.02;

/* ---------------------------------------------------------------- measure --- */

static bool keep_row(struct pfi_tune *t, const struct pfi_tune_row *row)
{
    if (t->n_rows == t->room) {
        const size_t room = t->room ? 2 * t->room : 256;
        struct pfi_tune_row *const grown =
            realloc(t->rows, room * sizeof(*grown));

        if (!grown) {
            (void)fprintf(stderr, "pinfold: no memory for the measurements\n");
            t->end = PFI_TUNE_FAILED;
            return false;
        }
        t->rows = grown;
        t->room = room;
    }
    t->rows[t->n_rows++] = *row;
    return true;
}

static bool measure(struct pfi_tune *t, int workers, int setting, int slots,
                    double *rate)
{
    struct pfi_tune_row row;

    if (pfi_cli_signal())
        return false;
    if (t->deadline > 0 && pfi_cli_seconds() > t->deadline) {
        t->end = PFI_TUNE_SECONDS;
        return false;
    }
    pfi_tune_live(t, workers, setting, slots);
    if (!pfi_tune_once(t, workers, setting, slots, &row))
        return false;
    row.of_slots = t->running == &t->by_slots;
    *rate = row.rate;
    return keep_row(t, &row);
}

static bool measure_workers(void *cookie, int number, int setting, double *rate)
{
    struct pfi_tune *const t = cookie;

    return measure(t, number, setting, t->slots, rate);
}

static bool measure_slots(void *cookie, int number, int setting, double *rate)
{
    struct pfi_tune *const t = cookie;

    (void)setting;
    return measure(t, t->workers, t->setting, number, rate);
}

/* ----------------------------------------------------------------- search --- */

/* Without workers no batch is made while another is used, which does not show
 * here, where a batch is given back at once: so none must be faster than all. */
static bool search_workers(struct pfi_tune *t)
{
    int numbers[PINFOLD_WORKERS_MAX + 1];
    const struct pfi_search_options options = {
        .measure = measure_workers,
        .cookie = t,
        .numbers = numbers,
        .n_numbers = t->highest + 1,
        .n_settings = t->n_settings,
        .min_rounds = MIN_ROUNDS,
        .max_rounds = (int)t->o->tune.rounds,
        .tolerance = TOLERANCE,
        .least = t->dataset && t->highest > 0,
        .exhaustive = t->o->tune.exhaustive};

    for (int i = 0; i <= t->highest; i++)
        numbers[i] = i;
    t->running = &t->by_workers;
    if (t->o->tune.max_seconds)
        t->deadline = t->started + (double)t->o->tune.max_seconds;
    if (!pfi_search_run(&t->by_workers, &options))
        return false;
    if (pfi_tune_marked(&t->by_workers)) {
        t->workers = pfi_tune_marked(&t->by_workers)->number;
        t->setting = pfi_tune_marked(&t->by_workers)->setting;
    }
    return true;
}

/* From two on: one is for slots what none is for workers. */
static bool search_slots(struct pfi_tune *t)
{
    static const int numbers[] = {2, 3, 4, 6, 8};
    const long long rounds = t->o->tune.rounds;
    const struct pfi_search_options options = {
        .measure = measure_slots,
        .cookie = t,
        .numbers = numbers,
        .n_numbers = sizeof(numbers) / sizeof(numbers[0]),
        .n_settings = 1,
        .min_rounds = MIN_ROUNDS,
        .max_rounds = rounds < SLOTS_ROUNDS ? (int)rounds : SLOTS_ROUNDS,
        .tolerance = TOLERANCE,
        .exhaustive = t->o->tune.exhaustive,
        .all = true};
    const enum pfi_tune_end end = t->end;

    t->running = &t->by_slots;
    if (!pfi_search_run(&t->by_slots, &options))
        return false;
    if (t->by_slots.clear)
        t->slots = pfi_tune_marked(&t->by_slots)->number;
    if (t->end == PFI_TUNE_SECONDS)
        t->end = end; /* the default number of slots is kept, and said */
    return true;
}

/* The first measurement of each setting is not counted: it shows whether the
 * setting works, and brings the pictures into the page cache. */
static bool warm_up(struct pfi_tune *t)
{
    struct pfi_tune_row row;

    for (int s = 0; s < t->n_settings; s++) {
        pfi_tune_live(t, t->cpus, s, t->slots);
        if (!pfi_tune_once(t, t->cpus < t->highest ? t->cpus : t->highest, s,
                           t->slots, &row))
            return false;
    }
    return true;
}

static bool run(struct pfi_tune *t)
{
    bool good = true;

    t->started = pfi_cli_seconds();
    t->end = PFI_TUNE_ROUNDS;
    if (warm_up(t)) {
        good = search_workers(t);
        /* Without workers a batch is made when it is asked for. */
        t->slots_searched = t->slots_searched && t->workers > 0;
        if (good && t->by_workers.clear && t->slots_searched &&
            !pfi_cli_signal() && t->end == PFI_TUNE_ROUNDS)
            good = search_slots(t);
        if (good && t->by_workers.clear && t->end == PFI_TUNE_ROUNDS)
            t->end = PFI_TUNE_CLEAR;
    }
    if (pfi_cli_signal())
        t->end = PFI_TUNE_SIGNAL;
    pfi_tune_live_end(t);
    t->running = NULL;
    return good;
}

/* ------------------------------------------------------------------- open --- */

/* A loader's own default is the number of CPUs that it may use. */
static int count_cpus(const struct pfi_tune *t)
{
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_memory_plan plan = {.struct_size = sizeof(plan)};
    const long online = sysconf(_SC_NPROCESSORS_ONLN);

    options.memory = PINFOLD_MEMORY_PAGEABLE;
    if (!t->dataset || pinfold_loader_plan(t->dataset, &options, &plan, NULL))
        return online < 1 ? 1 : online > 512 ? 512 : (int)online;
    return (int)plan.workers;
}

static void choose_settings(struct pfi_tune *t)
{
    static const struct pfi_tune_setting
        pageable = {"pageable", PINFOLD_MEMORY_PAGEABLE, false},
        pinned = {"pinned", PINFOLD_MEMORY_PINNED, false},
        locked = {"locked", PINFOLD_MEMORY_PAGEABLE, true};
    pinfold_info info = {.struct_size = sizeof(info)};

    t->settings[0] = pageable;
    t->n_settings = 2;
    if (t->o->tune.program) {
        t->settings[0].name = "pinned 0";
        t->settings[1].name = "pinned 1";
        if (!strstr(t->o->tune.program, "{pinned}")) {
            t->settings[0].name = "-";
            t->n_settings = 1;
        }
        t->remark = "";
        return;
    }
    pinfold_info_get(&info);
    t->settings[1] = t->o->locked ? locked : pinned;
    if (t->o->locked) {
        t->remark = "'locked' is ordinary memory that mlock() keeps in RAM: it "
                    "is page-locked, but no CUDA device can use it as pinned";
    } else if (t->o->loader.memory == PINFOLD_MEMORY_PAGEABLE) {
        t->n_settings = 1;
        t->remark = "pageable alone, as asked";
    } else if (info.cuda_devices > 0 ||
               t->o->loader.memory == PINFOLD_MEMORY_PINNED) {
        t->remark = t->o->loader.upload == PINFOLD_UPLOAD_OFF
                        ? "pinned matters to copies: --upload auto has them"
                        : "pinned is CUDA's";
    } else {
        t->n_settings = 1;
        t->remark = "pageable alone, since no CUDA device is usable; --memory "
                    "locked compares it with page-locked memory";
    }
}

static int open_tune(struct pfi_tune *t, const struct pfi_cli_options *o)
{
    pinfold_error err;
    long long highest;

    *t = (struct pfi_tune){.o = o};
    if (!o->tune.program &&
        pinfold_dataset_open(&t->dataset, o->arguments[0], &o->dataset, &err))
        return pfi_cli_fail(&err);
    t->cpus = count_cpus(t);
    highest = o->tune.max_workers < 0 ? 2 * t->cpus : o->tune.max_workers;
    t->highest =
        highest < PINFOLD_WORKERS_MAX ? (int)highest : PINFOLD_WORKERS_MAX;
    t->slots = o->loader.slots ? o->loader.slots : 3;
    t->slots_searched = t->dataset && !o->loader.slots;
    t->unit = t->dataset || o->tune.images ? "images/s" : "runs/s";
    choose_settings(t);
    return PFI_CLI_OK;
}

/* ------------------------------------------------------------------ files --- */

/* Opened before anything is measured: a wrong name must not cost the result. */
static int open_file(const char *path, struct pfi_cli_part *out)
{
    if (!path || !pfi_cli_part_user(out, path))
        return PFI_CLI_OK;
    pfi_cli_cannot(path, "write");
    return PFI_CLI_FAILED;
}

static int close_file(const char *path, struct pfi_cli_part *file)
{
    const bool bad = file->file && (pfi_cli_part_sync(file) ||
                                    pfi_cli_part_rename(file));

    if (bad)
        pfi_cli_cannot(path, "write");
    return bad ? PFI_CLI_FAILED : PFI_CLI_OK;
}

static int report(const struct pfi_tune *t, struct pfi_cli_part *csv,
                  struct pfi_cli_part *svg)
{
    if (t->o->json)
        pfi_tune_print_json(t);
    else
        pfi_tune_print_words(t);
    if (csv->file)
        pfi_tune_print_csv(t, csv->file);
    if (svg->file)
        pfi_tune_print_svg(t, svg->file);
    return close_file(t->o->tune.csv, csv) | close_file(t->o->tune.svg, svg);
}

int pfi_cli_tune(const struct pfi_cli_options *o)
{
    struct pfi_cli_part csv = {0}, svg = {0};
    struct pfi_tune t;
    int code = open_tune(&t, o);

    if (!code)
        code = open_file(o->tune.csv, &csv);
    if (!code)
        code = open_file(o->tune.svg, &svg);
    if (!code && !run(&t)) {
        (void)fprintf(stderr, "pinfold: no memory for the search\n");
        code = PFI_CLI_FAILED;
    } else if (!code) {
        if (t.end != PFI_TUNE_FAILED || t.n_rows)
            code = report(&t, &csv, &svg);
        if (!t.by_workers.clear || t.end == PFI_TUNE_FAILED || t.bad)
            code = PFI_CLI_FAILED;
    }
    pfi_cli_part_drop(&csv);
    pfi_cli_part_drop(&svg);
    pfi_search_close(&t.by_workers);
    pfi_search_close(&t.by_slots);
    free(t.rows);
    pinfold_dataset_close(t.dataset);
    return code;
}
