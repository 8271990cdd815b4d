/* SPDX-License-Identifier: Apache-2.0
 * Every call that the library makes fails in turn: the error has the right
 * status, code and message, nothing leaks, no half file is left, and the next
 * life gives the right bytes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fault/outputs.h"
#include "tests/fault/scenarios.h"
#include "tests/fault/sweep.h"

static struct life want;
static struct outputs want_files;

/* A result that is right is what the rest of the judgement demands: the digest
 * has every batch, label and status.  A failed read that goes on is told of, so
 * only a single one may pass unheard: the loader's next attempt gave the bytes.
 * Of threads and locks those of a walk alone, which needs none of them. */
static const struct sweep_excuse excuses[] = {
    {"allocation", "jpeg", "", EVER,
     "libjpeg decodes what pinfold's decoder cannot"},
    {"allocation", "tiff", "", EVER,
     "libtiff has another way, or only a warning less"},
    {"allocation", "dataset", "", EVER,
     "a list is not trimmed, or without a remark"},
    {"allocation", "order", "", EVER, "a list is not trimmed"},
    {"allocation", "", "", EVER,
     "a list is not trimmed, or libjpeg decodes what pinfold's decoder cannot"},
    {"open: EINTR", "", "", ONCE, "it is tried again"},
    {"read: EINTR", "", "", ONCE, "it is tried again"},
    {"read: E", "", "", ONCE, "it is read again"},
    {"stat: EIO", "", "", ONCE, "it is read again"},
    {"folder entry: EIO", "", "", ONCE, "it is read again"},
    {"thread", "", "walk", EVER, "the walk goes on with fewer"},
    {"mutex", "", "walk", EVER, "the walk goes on alone"},
    {"read: one byte", "", "", EVER, "it reads on"},
    {"write: EINTR", "", "", ONCE, "it is tried again"},
    {"write: one byte", "", "", EVER, "it writes on"},
    {"open", "loader", "/sys/", EVER,
     "the device's node is not known: any will do"},
    {"read", "loader", "/sys/", EVER,
     "the device's node is not known: any will do"},
    {"open", "state, 1 worker", ".", EVER,
     "was made ahead, and nobody took it"},
    {"stat", "state, 1 worker", ".", EVER,
     "was made ahead, and nobody took it"},
    {"read", "state, 1 worker", ".", EVER,
     "was made ahead, and nobody took it"},
    {0},
};

static const char *row_name(int row)
{
    return scenarios[row].name;
}

static void prepare(int row, struct sweep_report *report)
{
    (void)report;
    want = (struct life){.error = {.status = PINFOLD_OK}};
    outputs_clear(SCENARIO_OUT);
    scenarios[row].live(&scenarios[row], &want);
    outputs_take(&want_files, SCENARIO_OUT);
    if (want.error.status || want.wrong || !(want.digest || want_files.n)) {
        (void)fprintf(stderr, "%s: without a fault: %s%s\n", row_name(row),
                      want.error.message, want.wrong ? want.wrong : "");
        exit(2);
    }
}

/* `theirs`: another library may have lost a block. */
static void check_left(struct sweep_report *report, struct gate_live before,
                       bool whole, bool theirs)
{
    static const struct outputs none;
    const struct gate_live now = gate_live();
    struct outputs files;

    if (now.own != before.own)
        sweep_wrong(report, "%ld blocks of our own more than before",
                    now.own - before.own);
    if (now.blocks != before.blocks && !theirs)
        sweep_wrong(report, "%ld blocks more than before",
                    now.blocks - before.blocks);
    if (now.threads != before.threads)
        sweep_wrong(report, "%ld threads more than before",
                    now.threads - before.threads);
    if (now.descriptors != before.descriptors)
        sweep_wrong(report, "%ld descriptors more than before",
                    now.descriptors - before.descriptors);
    outputs_take(&files, SCENARIO_OUT);
    const char *const wrong =
        outputs_wrong(&files, &want_files, &none, whole, OUTPUTS_BYTES);

    if (wrong)
        sweep_wrong(report, "%s", wrong);
}

static void live(int row, const struct gate_fault *fault,
                 struct sweep_report *report)
{
    const struct scenario *const s = &scenarios[row];
    struct life life = {.error = {.status = PINFOLD_OK}}, again = life;
    /* libtiff and libwebp lose some where an allocation of theirs fails. */
    const bool theirs = fault->first >= 0 && fault->kind == GATE_HEAP &&
                        s->file && (strstr(s->file, ".tif") ||
                                    strstr(s->file, ".webp"));
    struct gate_live before;

    outputs_clear(SCENARIO_OUT);
    before = gate_live();
    gate_open(fault);
    s->live(s, &life);
    gate_close();
    report->hit = gate_hit();
    (void)snprintf(report->path, sizeof(report->path), "%s", gate_path());
    (void)snprintf(report->message, sizeof(report->message), "%s",
                   life.error.status ? life.error.message : life.remark);
    report->code = (int)life.error.status;
    report->sys_code = life.error.sys_code;
    for (int i = 0; i < GATE_KINDS; i++)
        report->calls[i] = gate_calls((enum gate_kind)i);
    if (life.wrong)
        sweep_wrong(report, "%s", life.wrong);
    check_left(report, before, false, theirs);
    if (!life.error.status && life.digest != want.digest)
        sweep_wrong(report, "other bytes, and no error says so");
    if (life.healed && life.healed != want.healed)
        sweep_wrong(report, "other bytes after the fault");
    s->live(s, &again);
    if (again.error.status || again.wrong || again.digest != want.digest)
        sweep_wrong(report, "the next life is not as it should be: %s",
                    again.error.message);
    check_left(report, before, true, theirs);
    exit(0);
}

static int status_of(const struct sweep_fault *fault)
{
    switch (fault->kind) {
    case GATE_THREAD:
    case GATE_MUTEX:
    case GATE_CONDITION: return PINFOLD_E_THREAD;
    default:
        return fault->code == ENOMEM ? PINFOLD_E_MEMORY : PINFOLD_E_IO;
    }
}

static void judge(int row, const struct sweep_fault *fault, bool for_ever,
                  struct sweep_report *report)
{
    const char *const file = scenarios[row].file;
    /* With several threads another file may be told of first. */
    const bool right_words =
        sweep_says(report->message, fault) &&
        (for_ever || !strcmp(report->path, "tree") ||
         sweep_names(report->message, report->path));

    report->silent = !report->code && !right_words;
    if (!report->code)
        return;
    /* libwebp does not say why it refuses a picture, nor does libtiff what a
     * library that it calls lacked. */
    if (file && report->code == PINFOLD_E_CORRUPT && fault->kind == GATE_HEAP &&
        (strstr(file, ".webp") || strstr(report->message, " is damaged")))
        return;
    if (report->code != status_of(fault))
        sweep_wrong(report, "another status: %s",
                    pinfold_status_name((pinfold_status)report->code));
    if (fault->kind != GATE_HEAP && fault->code > 0 &&
        report->sys_code != fault->code)
        sweep_wrong(report, "sys_code is %d", report->sys_code);
    if (!sweep_is_line(report->message))
        sweep_wrong(report, "the message is no line");
    if (!right_words)
        sweep_wrong(report, "the message lacks the reason, or the file");
}

int main(int argc, char **argv)
{
    struct sweep sweep = {.title = "sweep of the library",
                          .row_name = row_name,
                          .furnish = furnish_scenarios,
                          .prepare = prepare,
                          .live = live,
                          .judge = judge,
                          .excuses = excuses};

    while (scenarios[sweep.n_rows].name)
        sweep.n_rows++;
    return sweep_main(&sweep, argc, argv);
}
