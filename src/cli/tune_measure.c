/* SPDX-License-Identifier: Apache-2.0
 * One measurement of tune: the loader's, or another program's wall clock. */
#include "src/cli/tune.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/cli/locked.h"
#include "src/cli/progress.h"
#include "src/cli/text.h"

/* ----------------------------------------------------------------- loader --- */

/* Bad samples are named in the first run, and where a later one, which loads the
 * same, has more of them. */
static void count_bad(struct pfi_tune *t, const pinfold_batch *batch,
                      long long *bad)
{
    *bad += batch->bad_count;
    if (*bad > t->bad) {
        (void)pfi_cli_report_bad(batch, t->bad);
        t->bad = *bad;
    }
}

/* The first batches of an epoch; *bad: the run's bad samples. */
static pinfold_status load_epoch(struct pfi_tune *t, pinfold_loader *loader,
                                 long long *images, long long *bad,
                                 pinfold_error *err)
{
    const pinfold_batch *batch;
    pinfold_status status;

    for (long long i = 0; i < t->o->batches; i++) {
        status = pfi_cli_next(loader, &batch, err);
        if (status)
            return status;
        *images += batch->count;
        count_bad(t, batch, bad);
        status = pinfold_batch_release_after(batch, NULL, err);
        if (status)
            return status;
    }
    return PINFOLD_END;
}

/* The clock runs from each epoch's start to its last batch. */
static pinfold_status load(struct pfi_tune *t, pinfold_loader *loader,
                           struct pfi_tune_row *row, pinfold_error *err)
{
    const double start = pfi_cli_seconds();
    pinfold_status status = PINFOLD_END;
    long long images = 0, bad = 0;

    for (long long e = 0; status == PINFOLD_END && e < t->o->epochs; e++) {
        if (pinfold_loader_start(loader, t->o->epoch + e, err))
            return err->status;
        status = load_epoch(t, loader, &images, &bad, err);
    }
    row->seconds = pfi_cli_seconds() - start;
    row->rate = (double)images / row->seconds;
    return status;
}

static bool load_once(struct pfi_tune *t, struct pfi_tune_row *row)
{
    const struct pfi_tune_setting *const setting = &t->settings[row->setting];
    pinfold_loader_options options = t->o->loader;
    pinfold_loader *loader;
    pinfold_status status;
    pinfold_error err;

    options.recipe = &t->o->recipe;
    options.workers = row->workers ? row->workers : PINFOLD_OFF;
    options.slots = row->slots;
    options.memory = setting->memory;
    options.allocator = setting->locked ? pfi_cli_locked() : NULL;
    status = pinfold_loader_open(&loader, t->dataset, &options, &err);
    if (!status)
        status = load(t, loader, row, &err);
    if (status == PINFOLD_END && !(row->rate > 0)) {
        pfi_tune_live_end(t);
        pfi_cli_say_empty(loader, t->o);
        t->end = PFI_TUNE_FAILED;
    }
    pfi_cli_loader_close(loader);
    if (status < 0) {
        pfi_tune_live_end(t);
        (void)fprintf(stderr, "pinfold: %d workers, %s memory: %s%s\n",
                      row->workers, setting->name, err.message,
                      setting->locked && status == PINFOLD_E_MEMORY
                          ? "; is 'ulimit -l' high enough?"
                          : "");
        t->end = PFI_TUNE_FAILED;
    }
    return status == PINFOLD_END && row->rate > 0;
}

/* ---------------------------------------------------------------- command --- */

/* Puts `value` for each `name` in text that it frees. */
static char *replace(char *text, const char *name, const char *value)
{
    const size_t n = strlen(name), size = strlen(value);
    char *at = text;

    while (at && (at = strstr(at, name))) {
        const size_t before = (size_t)(at - text);
        char *const out = malloc(strlen(text) + size + 1);

        if (out) {
            memcpy(out, text, before);
            memcpy(out + before, value, size);
            memcpy(out + before + size, at + n, strlen(at + n) + 1);
        }
        free(text);
        text = out;
        at = text ? text + before + size : NULL;
    }
    return text;
}

char *pfi_tune_command_line(const struct pfi_tune *t, int workers, int setting)
{
    char *text = malloc(strlen(t->o->tune.program) + 1);
    char number[16];

    if (!text)
        return NULL;
    memcpy(text, t->o->tune.program, strlen(t->o->tune.program) + 1);
    (void)snprintf(number, sizeof(number), "%d", workers);
    text = replace(text, "{workers}", number);
    return text ? replace(text, "{pinned}", setting ? "1" : "0") : NULL;
}

/* In the child: its own group, so that a signal can end all of it. */
static void run_shell(const char *line, int output)
{
    const int nothing = open("/dev/null", O_RDONLY);

    (void)setpgid(0, 0);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(output, 1) < 0 ||
        dup2(output, 2) < 0)
        _exit(127);
    (void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

/* Returns the wait status, or -1 where a signal ended the wait. */
static int wait_for(pid_t child)
{
    int status = 0;

    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return -1;
        if (!pfi_cli_signal())
            continue;
        (void)kill(-child, SIGTERM);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
        return -1;
    }
    return pfi_cli_signal() ? -1 : status;
}

/* What the program wrote last, since it failed. */
static void show_output(FILE *output)
{
    char text[2048];
    size_t n;

    (void)fseek(output, 0, SEEK_END);
    if (ftell(output) > (long)sizeof(text))
        (void)fseek(output, -(long)sizeof(text), SEEK_END);
    else
        rewind(output);
    n = fread(text, 1, sizeof(text), output);
    (void)fwrite(text, 1, n, stderr);
}

static void fail_command(struct pfi_tune *t, const char *what, const char *why)
{
    pfi_tune_live_end(t);
    (void)fprintf(stderr, "pinfold: %s: %s\n", what, why);
    t->end = PFI_TUNE_FAILED;
}

static bool time_line(struct pfi_tune *t, const char *line, FILE *output,
                      struct pfi_tune_row *row)
{
    const double start = pfi_cli_seconds();
    const pid_t child = fork();
    int status;

    if (child == 0)
        run_shell(line, fileno(output));
    if (child < 0) {
        fail_command(t, "/bin/sh", strerror(errno));
        return false;
    }
    status = wait_for(child);
    row->seconds = pfi_cli_seconds() - start;
    row->rate =
        (t->o->tune.images ? (double)t->o->tune.images : 1) / row->seconds;
    if (status == 0)
        return true;
    if (pfi_cli_signal())
        return false;
    pfi_tune_live_end(t);
    show_output(output);
    pfi_cli_say("pinfold: %s %d: %s",
                WIFSIGNALED(status) ? "signal" : "exit status",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                line);
    t->end = PFI_TUNE_FAILED;
    return false;
}

static bool command_once(struct pfi_tune *t, struct pfi_tune_row *row)
{
    char *const line = pfi_tune_command_line(t, row->workers, row->setting);
    FILE *const output = line ? tmpfile() : NULL;
    bool good = false;

    if (output)
        good = time_line(t, line, output, row);
    else
        fail_command(t, line ? "a temporary file in /tmp" : t->o->tune.program,
                     line ? strerror(errno) : "no memory");
    if (output)
        (void)fclose(output);
    free(line);
    return good;
}

bool pfi_tune_once(struct pfi_tune *t, int workers, int setting, int slots,
                   struct pfi_tune_row *row)
{
    *row = (struct pfi_tune_row){
        .workers = workers, .setting = setting, .slots = slots};
    return t->dataset ? load_once(t, row) : command_once(t, row);
}
