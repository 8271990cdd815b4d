/* SPDX-License-Identifier: Apache-2.0
 * Every call that the program makes fails in turn, in every command: it ends
 * with status 1 and a line that says why, nothing leaks, and what it leaves
 * under a file's name is whole. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/crew.h"
#include "src/gpu/gpu.h"
#include "tests/fault/outputs.h"
#include "tests/fault/rows.h"
#include "tests/fault/sweep.h"
#include "tests/support/fakegpu.h"

/* The linker sends the library's question for its device here. */
const struct pfi_gpu *__wrap_pfi_gpu_default(void);

static struct fake_gpu *fake;

const struct pfi_gpu *__wrap_pfi_gpu_default(void)
{
    return fake_gpu_table(fake);
}

/* Each look at the clock is a millisecond later than the one before, so that a
 * search for the fastest has one result. */
double __wrap_pfi_cli_seconds(void);
double __wrap_pfi_cli_seconds(void)
{
    static atomic_long looks;

    return (double)atomic_fetch_add(&looks, 1) / 1000;
}

/* Threads that a crew can do without. */
bool __real_pfi_cli_crew_run(pinfold_dataset *dataset,
                             const struct pfi_cli_options *o,
                             void (*job)(void *cookie, int64_t i),
                             void *cookie);
bool __wrap_pfi_cli_crew_run(pinfold_dataset *dataset,
                             const struct pfi_cli_options *o,
                             void (*job)(void *cookie, int64_t i),
                             void *cookie);
bool __wrap_pfi_cli_crew_run(pinfold_dataset *dataset,
                             const struct pfi_cli_options *o,
                             void (*job)(void *cookie, int64_t i), void *cookie)
{
    const char *const before = gate_at("crew");
    const bool good = __real_pfi_cli_crew_run(dataset, o, job, cookie);

    (void)gate_at(before);
    return good;
}

static struct {
    int code;
    char *out; /* stdout */
    struct outputs files, before;
    struct gate_live left;
} want;

/* A result that is right is what the rest of the judgement demands: the exit
 * status, stdout and every byte of the files are those of a run without a fault.
 * A failed read that goes on is told of, so only a single one may pass unheard:
 * the loader's next attempt gave the bytes.  Of threads and locks those of a
 * walk and of a crew alone, which need none of them. */
static const struct sweep_excuse excuses[] = {
    {"allocation", "", "", EVER,
     "a stream goes without a buffer, a list is not trimmed, libjpeg decodes"},
    {"open: EINTR", "", "", ONCE, "it is tried again"},
    {"read: EINTR", "", "", ONCE, "it is tried again"},
    {"read: E", "", "", ONCE, "it is read again"},
    {"stat: EIO", "", "", ONCE, "it is read again"},
    {"folder entry: EIO", "", "", ONCE, "it is read again"},
    {"thread", "", "walk", EVER, "the walk goes on with fewer"},
    {"thread", "", "crew", EVER, "a crew goes on with fewer"},
    {"mutex", "", "walk", EVER, "the walk goes on alone"},
    {"read: one byte", "", "", EVER, "it reads on"},
    {"write: one byte", "", "", EVER, "it writes on"},
    {"write: EINTR", "ls", ".part", ONCE, "it is tried again"},
    {"write", "merge", "(copy)", EVER, "it is copied piece by piece"},
    {"unlink", "export each", "", EVER, "the old one is kept, which is said"},
    {"stat", "export each", "", EVER, "the old one is kept, which is said"},
    {"folder", "export each", "", EVER, "the old one is kept, which is said"},
    {"open", "export each", "", EVER, "the old one is kept, which is said"},
    {"open", "diff tree, other", "tree/", EVER, "a cause less is found"},
    {"stat", "diff tree, other", "tree/", EVER, "a cause less is found"},
    {"read", "diff tree, other", "tree/", EVER, "a cause less is found"},
    {"open", "export npy again", "", EVER, "refused while the pictures are read"},
    {"stat", "export npy again", "", EVER, "refused while the pictures are read"},
    {"read", "export npy again", "", EVER, "refused while the pictures are read"},
    {"unlink", "export shard", ".lock", EVER, "a lock is its process's, not its file's"},
    {"close", "export shard", ".lock", EVER, "a lock is its process's, not its file's"},
    {"unlink", "export shard again", ".journal", EVER, "a manifest goes before it"},
    {"open: E", "sheet", "/", ONCE, "a sample is made again"},
    {"open: E", "scan json", "/", ONCE, "a sample is made again"},
    {"read: early end", "sheet", "/", ONCE, "a sample is made again"},
    {"stat", "plan", "", EVER, "the largest file of those that can be seen"},
    {"close", "tune command", "/tmp", EVER,
     "what a command printed that did well is not looked at"},
    {"open", "", "/proc/", EVER, "what is not known is left out"},
    {"open", "", "/sys/", EVER, "what is not known is left out"},
    {"read", "", "/proc/", EVER, "what is not known is left out"},
    {"read", "", "/sys/", EVER, "what is not known is left out"},
    {0},
};

static struct sweep sweep;

static void furnish(void)
{
    fake = fake_gpu_start(0);
    if (!fake)
        abort();
    furnish_rows();
}

static const char *row_name(int row)
{
    return rows[row].name;
}

/* ----------------------------------------------------------------- one life --- */

static void redirect(int to, const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);

    if (fd < 0 || dup2(fd, to) < 0 || close(fd))
        abort();
}

static struct gate_live more(struct gate_live now, struct gate_live before)
{
    return (struct gate_live){.blocks = now.blocks - before.blocks,
                              .threads = now.threads - before.threads,
                              .descriptors =
                                  now.descriptors - before.descriptors};
}

static void live(int row, const struct gate_fault *fault,
                 struct sweep_report *report)
{
    const struct row *const r = &rows[row];
    struct gate_live before;

    outputs_clear("out");
    redirect(1, "stdout");
    redirect(2, "stderr");
    if (r->before)
        run_before(r->before);
    fake_gpu_end(fake);
    fake = fake_gpu_start(r->ways & ROW_DEVICE ? 2 : 0);
    if (!fake)
        abort();
    gate_take_stdout();
    before = gate_live();
    gate_open(fault);
    report->code = run_program(r->command);
    gate_close();
    report->hit = gate_hit();
    report->left = more(gate_live(), before);
    (void)snprintf(report->path, sizeof(report->path), "%s", gate_path());
    for (int i = 0; i < GATE_KINDS; i++)
        report->calls[i] = gate_calls((enum gate_kind)i);
    if (fake_gpu_live(fake).pins || fake_gpu_live(fake).allocs ||
        fake_gpu_misuse(fake))
        sweep_wrong(report, "misuse of the device, or something is left there");
    fake_gpu_end(fake);
    exit(report->code);
}

static bool has_line(const char *words)
{
    size_t size;
    char *const err = outputs_read("stderr", &size);
    const bool has = strstr(err, words) != NULL;

    free(err);
    return has;
}

static void prepare(int row, struct sweep_report *report)
{
    static const struct gate_fault none = {.first = -1};
    const struct row *const r = &rows[row];
    size_t size;

    want.before.n = 0;
    if (r->before) {
        outputs_clear("out");
        run_before(r->before);
        outputs_take(&want.before, "out");
    }
    sweep_run(&sweep, row, &none, report);
    free(want.out);
    want.out = outputs_read("stdout", &size);
    want.code = report->code;
    if (!want.code == !!(r->ways & ROW_FAILS) && !(r->ways & ROW_TWO)) {
        (void)fprintf(stderr, "%s: status %d without a fault\n", r->name,
                      want.code);
        exit(2);
    }
    if (r->ways & ROW_RESUMES && r->before && !has_line("goes on behind 32 of 36 images")) {
        (void)fprintf(stderr, "%s: does not go on\n", r->name);
        exit(2);
    }
    want.left = report->left;
    outputs_take(&want.files, "out");
}

/* -------------------------------------------------------------------- judge --- */

/* Finds the line that tells of the fault, in what was printed.  Where calls fail
 * for ever, another file may be told of first. */
static bool find_line(char *text, const struct sweep_fault *fault,
                      struct sweep_report *report, bool any, bool for_ever)
{
    bool found = false;

    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (!any && strncmp(line, "pinfold: ", 9) != 0)
            continue;
        if (!report->message[0])
            (void)snprintf(report->message, sizeof(report->message), "%s",
                           line);
        found |= (sweep_says(line, fault) || strstr(line, "to stdout")) &&
                 (for_ever || sweep_names(line, report->path) ||
                  strstr(line, "out/")) &&
                 (any || sweep_is_line(line));
    }
    return found;
}

static bool is_told(const struct row *row, const struct sweep_fault *fault,
                    bool for_ever, struct sweep_report *report)
{
    size_t size;
    char *const err = outputs_read("stderr", &size);
    bool told = find_line(err, fault, report, false, for_ever);

    free(err);
    if (!told && row->ways & ROW_LISTS) {
        char *const out = outputs_read("stdout", &size);

        told = find_line(out, fault, report, true, for_ever);
        free(out);
    }
    return told;
}

/* The next run goes on with what was left, to the same files. */
static void check_next(const struct row *row, struct sweep_report *report)
{
    static const struct outputs none;
    struct outputs files;
    const int code = run_apart(row->command);
    const char *wrong;

    outputs_take(&files, "out");
    wrong = outputs_wrong(&files, &want.files, &none, true, OUTPUTS_BYTES);
    if (code || wrong)
        sweep_wrong(report, "the next run: status %d, %s", code,
                    wrong ? wrong : "the files are right");
}

/* What removing a tree needs. */
static bool removes(enum gate_kind kind)
{
    return kind == GATE_HEAP || kind == GATE_OPEN || kind == GATE_STAT ||
           kind == GATE_FOLDER || kind == GATE_ENTRY;
}

static void check_files(const struct row *row, const struct sweep_fault *fault,
                        bool for_ever, bool told, struct sweep_report *report)
{
    struct outputs files;

    outputs_take(&files, "out");
    /* What cannot be removed stays. */
    if (fault->kind == GATE_UNLINK || (for_ever && removes(fault->kind)))
        outputs_forget(&files, ".part");
    if (fault->kind == GATE_UNLINK)
        outputs_forget(&files, ".lock");
    /* Neither does what cannot be seen, or renamed: that is said. */
    if (fault->kind == GATE_UNLINK || fault->kind == GATE_RENAME ||
        removes(fault->kind))
        outputs_forget(&files, ".x.old");
    if (row->ways & ROW_RESUMES && report->code) {
        outputs_forget(&files, ".part");
        outputs_forget(&files, ".journal");
    }
    const char *const wrong =
        outputs_wrong(&files, &want.files, &want.before,
                      report->code == 0 && want.code == 0 && !told &&
                          !(row->ways & ROW_LACKS),
                      row->ways & ROW_KEEPS && report->code ? OUTPUTS_NAME
                      : row->ways & ROW_VARIES              ? OUTPUTS_END
                                                            : OUTPUTS_BYTES);

    if (wrong)
        sweep_wrong(report, "%s", wrong);
}

static void judge(int row, const struct sweep_fault *fault, bool for_ever,
                  struct sweep_report *report)
{
    const struct row *const r = &rows[row];
    const bool told = is_told(r, fault, for_ever, report);
    size_t size;
    char *const out = outputs_read("stdout", &size);

    check_files(r, fault, for_ever, told, report);
    if (r->ways & ROW_RESUMES)
        check_next(r, report);
    if (report->left.blocks > want.left.blocks)
        sweep_wrong(report, "%ld blocks leak",
                    report->left.blocks - want.left.blocks);
    if (report->left.threads || report->left.descriptors > 0)
        sweep_wrong(report, "%ld threads, %ld descriptors leak",
                    report->left.threads, report->left.descriptors);
    if (report->code == want.code) {
        if (!(r->ways & ROW_VARIES) && strcmp(out, want.out) != 0 &&
            !(told && want.code))
            sweep_wrong(report, "prints something else");
        report->silent = !told;
    } else if (report->code != 1 && !(r->ways & ROW_TWO && report->code == 2)) {
        sweep_wrong(report, "exit status %d", report->code);
    } else if (!told) {
        sweep_wrong(report, "no line says why, or of which file (%s)",
                    report->path);
    }
    free(out);
}

int main(int argc, char **argv)
{
    sweep = (struct sweep){.title = "sweep of the commands",
                           .row_name = row_name,
                           .furnish = furnish,
                           .prepare = prepare,
                           .live = live,
                           .judge = judge,
                           .excuses = excuses};
    while (rows[sweep.n_rows].name)
        sweep.n_rows++;
    return sweep_main(&sweep, argc, argv);
}
