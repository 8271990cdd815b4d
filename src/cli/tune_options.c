/* SPDX-License-Identifier: Apache-2.0
 * Parses the options that tune alone takes. */
#include "src/cli/tune_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char *take_number(const char *text, long long low, long long high,
                               long long *out, const char *wrong)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return end == text || *end || errno || *out < low || *out > high ? wrong
                                                                     : NULL;
}

static const char *take_file(const char *text, const char **out)
{
    *out = text;
    return *text ? NULL : "no file name";
}

const char *pfi_cli_take_exhaustive(struct pfi_cli_options *o, const char *text)
{
    (void)text;
    o->tune.exhaustive = true;
    return NULL;
}

const char *pfi_cli_take_max_workers(struct pfi_cli_options *o,
                                     const char *text)
{
    return take_number(text, 0, PINFOLD_WORKERS_MAX, &o->tune.max_workers,
                       "not a number from 0 to 1024");
}

const char *pfi_cli_take_max_seconds(struct pfi_cli_options *o,
                                     const char *text)
{
    return take_number(text, 0, INT_MAX, &o->tune.max_seconds,
                       "not a whole number");
}

const char *pfi_cli_take_rounds(struct pfi_cli_options *o, const char *text)
{
    return take_number(text, 1, 1000, &o->tune.rounds,
                       "not a number from 1 to 1000");
}

const char *pfi_cli_take_csv(struct pfi_cli_options *o, const char *text)
{
    return take_file(text, &o->tune.csv);
}

const char *pfi_cli_take_svg(struct pfi_cli_options *o, const char *text)
{
    return take_file(text, &o->tune.svg);
}

const char *pfi_cli_take_command(struct pfi_cli_options *o, const char *text)
{
    o->tune.program = text;
    return strstr(text, "{workers}") ? NULL : "no {workers} in it";
}

const char *pfi_cli_take_images(struct pfi_cli_options *o, const char *text)
{
    return take_number(text, 1, LLONG_MAX, &o->tune.images,
                       "not a whole number from 1 on");
}

void pfi_cli_tune_defaults(struct pfi_cli_options *o)
{
    o->tune.max_seconds = 600;
    o->tune.rounds = 100;
    o->tune.max_workers = -1;
    if (o->command != PFI_CLI_TUNE)
        return;
    o->loader.batch_size = 64;
    o->loader.shuffle = 1;
    o->batches = 16;
    o->epochs = 4;
}

void pfi_cli_tune_help(FILE *out)
{
    (void)fputs(
        "\nA measurement loads the first batches of each epoch, shuffled, the "
        "same\npictures each time; one that is not counted brings them into "
        "the "
        "page cache.\nRounds measure every number that is left once, memory "
        "off and on in turn, so\nthat what disturbs the machine disturbs all "
        "alike: first each fourth number,\nthen those beside the best.  Two "
        "numbers are compared by the median of their\nratios in the rounds "
        "that measured both.  That median is taken to be true to\nwithin 2 * "
        "1.2533 * sqrt(2 / rounds) times the noise, which is 0.7413 times "
        "the\nmedian change of a ratio between rounds.  Chosen is the smallest "
        "number that is\nwithin 2 % of the best, noise included, but 0 "
        "workers, which make nothing while\na batch is used, only where all "
        "others are slower by more; rounds go on until\nthat is clear, and "
        "where they or the seconds end before, there is no choice and\nthe "
        "exit status is 1.  Spreads are 1.4826 times the median distance from "
        "the\nmedian.\n\nMemory: pageable against pinned "
        "where a CUDA device is usable; else pageable\nalone.  --memory "
        "locked: pageable against ordinary memory that mlock() keeps in\n"
        "RAM, which shows what page-locking costs, and nothing of a copy to a "
        "device.\n",
        out);
}
