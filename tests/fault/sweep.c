/* SPDX-License-Identifier: Apache-2.0
 * Two processes take the rows; each fault point is a child of theirs. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS, dladdr() */
#endif
#include "tests/fault/sweep.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fault/outputs.h"
#include "tests/support/tree.h"

#define JOBS 2
/* Where the libraries' allocations fail, too. */
#ifdef PFI_GATE_WRAPS_HEAP
#define WATCHES 0
#else
#define WATCHES 1
#endif
#define EXCUSES 64
#define DEADLINE 60 /* seconds; a life takes some milliseconds */

static const struct sweep_fault faults[] = {
    {"allocation", GATE_HEAP, ENOMEM, false, "memory"},
    {"open: EMFILE", GATE_OPEN, EMFILE, false, NULL},
    {"open: EINTR", GATE_OPEN, EINTR, true, NULL},
    {"stat: EIO", GATE_STAT, EIO, false, NULL},
    {"read: EIO", GATE_READ, EIO, false, NULL},
    {"read: ESTALE", GATE_READ, ESTALE, false, NULL},
    {"read: EINTR", GATE_READ, EINTR, true, NULL},
    {"read: one byte", GATE_READ, GATE_SHORT, false, ""},
    {"read: early end", GATE_READ, GATE_END, false, ""},
    {"folder open: ENOMEM", GATE_FOLDER, ENOMEM, false, NULL},
    {"folder entry: EIO", GATE_ENTRY, EIO, false, NULL},
    {"map: ENOMEM", GATE_MAP, ENOMEM, false, "memory"},
    {"write: ENOSPC", GATE_WRITE, ENOSPC, false, NULL},
    {"write: EIO", GATE_WRITE, EIO, false, NULL},
    {"write: EINTR", GATE_WRITE, EINTR, true, NULL},
    {"write: one byte", GATE_WRITE, GATE_SHORT, false, ""},
    {"seek: EIO", GATE_SEEK, EIO, false, NULL},
    {"fsync: EIO", GATE_SYNC, EIO, false, NULL},
    {"rename: EACCES", GATE_RENAME, EACCES, false, NULL},
    {"unlink: EACCES", GATE_UNLINK, EACCES, false, NULL},
    {"mkdir: ENOSPC", GATE_MKDIR, ENOSPC, false, NULL},
    {"close: EIO", GATE_CLOSE, EIO, false, NULL},
    {"thread: EAGAIN", GATE_THREAD, EAGAIN, false, NULL},
    {"mutex: ENOMEM", GATE_MUTEX, ENOMEM, false, NULL},
    {"condition: ENOMEM", GATE_CONDITION, ENOMEM, false, NULL},
    {"page lock: ENOMEM", GATE_LOCK, ENOMEM, false, "memory"},
    {"process: EAGAIN", GATE_PROCESS, EAGAIN, false, NULL},
};

#define N_FAULTS ((int)(sizeof(faults) / sizeof(faults[0])))

struct tally {
    atomic_long points, told, silent, theirs, wrong;
};

/* One for all processes. */
static struct shared {
    struct sweep_report reports[JOBS];
    struct tally tallies[sizeof(faults) / sizeof(faults[0])];
    atomic_long excused[EXCUSES];
    atomic_long skipped;
    atomic_int next_row;
} *shared;

struct sweeper {
    const struct sweep *sweep;
    struct sweep_report *report;
    const char *part; /* of the rows' names */
    long most;        /* points of one row, fault and way; 0 = all */
};

/* ---------------------------------------------------------------- messages --- */

void sweep_wrong(struct sweep_report *report, const char *format, ...)
{
    va_list args;

    if (report->wrong[0])
        return;
    va_start(args, format);
    (void)vsnprintf(report->wrong, sizeof(report->wrong), format, args);
    va_end(args);
}

bool sweep_is_line(const char *message)
{
    for (const char *c = message; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            return false;
    return message[0] != '\0';
}

bool sweep_says(const char *message, const struct sweep_fault *fault)
{
    char number[32];

    /* Where libc has no memory for a thread it says EAGAIN. */
    if (fault->kind == GATE_HEAP && strstr(message, "cannot start"))
        return true;
    if (fault->word)
        return strstr(message, fault->word) != NULL;
    (void)snprintf(number, sizeof(number), "errno %d", fault->code);
    return strstr(message, strerror(fault->code)) || strstr(message, number);
}

bool sweep_names(const char *message, const char *path)
{
    const char *const slash = strrchr(path, '/');
    char name[128];
    char *end;

    (void)snprintf(name, sizeof(name), "%s", slash ? slash + 1 : path);
    end = strstr(name, ".part");
    if (end) { /* ".x.part" and "x.123-4.part" become "x" */
        *end = '\0';
        while (end > name && strchr("0123456789-", end[-1]))
            *--end = '\0';
        if (end > name && end[-1] == '.')
            *--end = '\0';
    }
    return strstr(message, name[0] == '.' ? name + 1 : name) != NULL;
}

/* ------------------------------------------------------------------- a point --- */

static void excuse(const struct sweep *sweep, int row,
                   const struct sweep_fault *fault, bool for_ever,
                   struct sweep_report *report)
{
    for (int i = 0; sweep->excuses[i].why; i++) {
        const struct sweep_excuse *const e = &sweep->excuses[i];

        if (!strncmp(fault->name, e->fault, strlen(e->fault)) &&
            strstr(sweep->row_name(row), e->row) &&
            strstr(report->path, e->path) && !(e->times == ONCE && for_ever)) {
            atomic_fetch_add(&shared->excused[i], 1);
            return;
        }
    }
    sweep_wrong(report, "nobody hears of it");
}

/* Libraries that crash where memory is short, which nobody here can mend. */
static const char *const crashing[] = {"libtiff.so", "libwebp"};

static struct sweep_report *crashed; /* in the child */

/* Whether the address is in one of them; *ours: in this program. */
static bool is_theirs(void *address, bool *ours)
{
    Dl_info info, own;
    const char *name;

    *ours = false;
    if (!dladdr(address, &info) || !dladdr(faults, &own))
        return false;
    name = strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1
                                        : info.dli_fname;
    *ours = info.dli_fbase == own.dli_fbase;
    for (size_t i = 0; i < sizeof(crashing) / sizeof(crashing[0]); i++)
        if (strstr(name, crashing[i])) {
            (void)snprintf(crashed->theirs, sizeof(crashed->theirs), "%s",
                           name);
            return true;
        }
    return false;
}

/* Ends the process in peace where the crash is in one of those, or in what they
 * called.  The first two frames are the handler's and the kernel's. */
static void on_crash(int number)
{
    void *frames[16];
    bool ours = false;

    gate_close();
    const int n = backtrace(frames, 16);

    for (int i = 2; i < n && !ours; i++)
        if (is_theirs(frames[i], &ours))
            _exit(0);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

void sweep_run(const struct sweep *sweep, int row,
               const struct gate_fault *fault, struct sweep_report *report)
{
    int status;

    memset(report, 0, sizeof(*report));
    (void)fflush(NULL);
    const pid_t child = fork();

    if (child == 0) {
        (void)alarm(DEADLINE);
        crashed = report;
        if (WATCHES)
            (void)signal(SIGSEGV, on_crash);
        sweep->live(row, fault, report);
        exit(2);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("fork");
        exit(2);
    }
    if (WIFSIGNALED(status))
        sweep_wrong(report, WTERMSIG(status) == SIGALRM ? "hangs"
                                                        : "dies of signal %d",
                    WTERMSIG(status));
    else if (WEXITSTATUS(status))
        report->code = WEXITSTATUS(status);
}

static bool sweep_point(const struct sweeper *s, int row, int number,
                        const struct gate_fault *fault)
{
    const struct sweep_fault *const f = &faults[number];
    struct tally *const tally = &shared->tallies[number];
    struct sweep_report *const report = s->report;

    sweep_run(s->sweep, row, fault, report);
    if (report->theirs[0]) {
        atomic_fetch_add(&tally->points, 1);
        atomic_fetch_add(&tally->theirs, 1);
        return true;
    }
    if (!report->hit && !report->wrong[0])
        return false;
    if (!report->wrong[0])
        s->sweep->judge(row, f, fault->for_ever, report);
    if (!report->wrong[0] && report->silent)
        excuse(s->sweep, row, f, fault->for_ever, report);
    atomic_fetch_add(&tally->points, 1);
    if (report->wrong[0]) {
        atomic_fetch_add(&tally->wrong, 1);
        (void)printf("WRONG %s: %s, call %ld %s (%s): %s [%d: %s]\n",
                     s->sweep->row_name(row), f->name, fault->first,
                     fault->for_ever ? "on" : "once", report->path,
                     report->wrong, report->code, report->message);
    } else {
        atomic_fetch_add(report->silent ? &tally->silent : &tally->told, 1);
    }
    return true;
}

/* -------------------------------------------------------------------- a row --- */

static void sweep_calls(const struct sweeper *s, int row, int number,
                        long calls)
{
    const struct sweep_fault *const f = &faults[number];
    const long stride = s->most && calls > s->most
                            ? (calls + s->most - 1) / s->most
                            : 1;

    for (int on = 0; on < (f->once ? 1 : 2); on++) {
        /* Threads make the number of calls differ a little, so that the end is
         * where the fault is not met. */
        for (long first = row % stride;; first += stride) {
            const struct gate_fault fault = {f->kind, first, on != 0, f->code};

            if (!sweep_point(s, row, number, &fault))
                break;
            atomic_fetch_add(&shared->skipped, stride - 1);
        }
    }
}

static void sweep_row(const struct sweeper *s, int row)
{
    const struct gate_fault none = {.first = -1};
    long calls[GATE_KINDS], sum = 0;
    int code;

    s->sweep->prepare(row, s->report);
    sweep_run(s->sweep, row, &none, s->report);
    memcpy(calls, s->report->calls, sizeof(calls));
    code = s->report->code;
    if (s->report->wrong[0]) {
        (void)printf("WRONG %s: no fault: %s\n", s->sweep->row_name(row),
                     s->report->wrong);
        atomic_fetch_add(&shared->tallies[0].wrong, 1);
        return;
    }
    for (int i = 0; i < GATE_KINDS; i++)
        sum += calls[i];
    for (int i = 0; i < N_FAULTS; i++)
        if (calls[faults[i].kind])
            sweep_calls(s, row, i, calls[faults[i].kind]);
    (void)printf("%-28s %6ld calls, %5ld of the heap; status %d\n",
                 s->sweep->row_name(row), sum, calls[GATE_HEAP], code);
}

static void enter_home(const struct sweep *sweep, char home[64])
{
    tree_open(home);
    if (chdir(home)) {
        perror(home);
        exit(2);
    }
    sweep->furnish();
}

static void leave_home(const char *home)
{
    if (chdir("/"))
        perror("/");
    tree_close(home);
}

static void sweep_rows(struct sweeper *s)
{
    char home[64];
    int row;

    enter_home(s->sweep, home);
    while ((row = atomic_fetch_add(&shared->next_row, 1)) < s->sweep->n_rows)
        if (strstr(s->sweep->row_name(row), s->part))
            sweep_row(s, row);
    leave_home(home);
}

/* ------------------------------------------------------------------- report --- */

static long print_table(const struct sweep *sweep)
{
    long points = 0, wrong = 0;

    (void)printf("%-22s %8s %8s %8s %8s %8s\n", "fault", "points", "told",
                 "harmless", "library", "wrong");
    for (int i = 0; i < N_FAULTS; i++) {
        struct tally *const t = &shared->tallies[i];

        points += t->points;
        wrong += t->wrong;
        if (t->points || t->wrong)
            (void)printf("%-22s %8ld %8ld %8ld %8ld %8ld\n", faults[i].name,
                         t->points, t->told, t->silent, t->theirs, t->wrong);
    }
    (void)printf("library: the allocation failed inside libtiff or libwebp, "
                 "which crashed\nharmless, since\n");
    for (int i = 0; sweep->excuses[i].why; i++)
        if (shared->excused[i])
            (void)printf("%8ld %s %s %s%s: %s\n", shared->excused[i],
                         sweep->excuses[i].fault, sweep->excuses[i].row,
                         sweep->excuses[i].path,
                         sweep->excuses[i].times == ONCE ? " once" : "",
                         sweep->excuses[i].why);
#ifdef PFI_GATE_WRAPS_HEAP
    (void)printf("allocations of our own calls alone: the sanitizer's heap "
                 "serves the libraries'\n");
#endif
    if (shared->skipped)
        (void)printf("about %ld points were left out by a stride; --most 0 takes "
                     "all\n",
                     shared->skipped);
    (void)printf("%s: %ld fault points, %ld wrong\n", sweep->title, points,
                 wrong);
    return points ? wrong : 1;
}

static int sweep_one(struct sweeper *s, char **words)
{
    char home[64];

    enter_home(s->sweep, home);
    for (int row = 0; row < s->sweep->n_rows; row++) {
        if (strcmp(s->sweep->row_name(row), words[0]) != 0)
            continue;
        s->sweep->prepare(row, s->report);
        gate_show(true);
        for (int i = 0; i < N_FAULTS; i++)
            if (!strncmp(faults[i].name, words[1], strlen(words[1]))) {
                const struct gate_fault fault = {
                    faults[i].kind, strtol(words[2], NULL, 10),
                    !strcmp(words[3], "on"), faults[i].code};

                (void)sweep_point(s, row, i, &fault);
                (void)printf("hit %d, %s, code %d (%d): %s\n", s->report->hit,
                             s->report->silent ? "silent" : "told",
                             s->report->code, s->report->sys_code,
                             s->report->message);
            }
    }
    (void)fflush(stdout);
    if (system("cat stderr 2>/dev/null"))
        (void)puts("no stderr");
    leave_home(home);
    return 0;
}

int sweep_main(const struct sweep *sweep, int argc, char **argv)
{
    struct sweeper s = {.sweep = sweep, .part = ""};
    pid_t jobs[JOBS];
    void *warm;

    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 2;
    (void)backtrace(&warm, 1); /* the first one loads a library */
    s.report = &shared->reports[0];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--most") && i + 1 < argc)
            s.most = strtol(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--row") && i + 1 < argc)
            s.part = argv[++i];
        else if (!strcmp(argv[i], "--one") && i + 4 < argc)
            return sweep_one(&s, argv + i + 1);
        else
            return 2;
    }
    for (int i = 0; i < JOBS; i++) {
        (void)fflush(NULL);
        jobs[i] = fork();
        if (jobs[i] == 0) {
            s.report = &shared->reports[i];
            sweep_rows(&s);
            exit(0);
        }
    }
    int failed = 0, status;

    for (int i = 0; i < JOBS; i++)
        failed |= waitpid(jobs[i], &status, 0) != jobs[i] || status;
    return print_table(sweep) || failed;
}
