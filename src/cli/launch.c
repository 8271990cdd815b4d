/* SPDX-License-Identifier: Apache-2.0
 * Finds rank and world: a table of launchers, and which of them wins. */
#include "src/cli/launch.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/values.h"

/* Steps that are none of srun's: slurm.h counts down from 0xfffffffd for the
 * pending, the external, the batch script's and the interactive one. */
#define SLURM_STEP_RESERVED 0xfffffff0

enum { INDEXED_JOB = 8 }; /* its size is told by a source that decides */

typedef bool (*look_function)(const struct pfi_launch *,
                              struct pfi_launch_source *);

static bool is_step(const struct pfi_launch *, struct pfi_launch_source *);
static bool renumber(const struct pfi_launch *, struct pfi_launch_source *);

/* In the order in which they win.  Every other source is ignored where one that
 * decides is there: it is set for pinfold alone. */
static const struct launcher {
    const char *name, *rank;
    const char *worlds[2], *locals[2]; /* the first one that is set counts */
    const char *others[3];             /* that are looked at */
    bool decides;
    /* Whether the variables count, and how the rank follows from them; false
     * with the state and why. */
    look_function counts, renumber;
} table[] = {
    {.name = "the command line", .rank = "--rank", .worlds = {"--world"},
     .decides = true},
    {.name = "pinfold's own variables", .rank = "PINFOLD_RANK",
     .worlds = {"PINFOLD_WORLD_SIZE"}, .locals = {"PINFOLD_LOCAL_RANK"},
     .decides = true},
    {.name = "torchrun", .rank = "RANK", .worlds = {"WORLD_SIZE"},
     .locals = {"LOCAL_RANK"}},
    {.name = "Open MPI", .rank = "OMPI_COMM_WORLD_RANK",
     .worlds = {"OMPI_COMM_WORLD_SIZE"},
     .locals = {"OMPI_COMM_WORLD_LOCAL_RANK"}},
    {.name = "MPICH (PMI)", .rank = "PMI_RANK", .worlds = {"PMI_SIZE"},
     .locals = {"MPI_LOCALRANKID", "PMI_LOCAL_RANK"}},
    {.name = "MVAPICH", .rank = "MV2_COMM_WORLD_RANK",
     .worlds = {"MV2_COMM_WORLD_SIZE"},
     .locals = {"MV2_COMM_WORLD_LOCAL_RANK"}},
    {.name = "Slurm step", .rank = "SLURM_PROCID",
     .worlds = {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
     .locals = {"SLURM_LOCALID"},
     .others = {"SLURM_STEP_ID", "SLURM_JOB_NAME", "SLURM_STEP_NUM_NODES"},
     .counts = is_step},
    {.name = "Slurm array", .rank = "SLURM_ARRAY_TASK_ID",
     .worlds = {"SLURM_ARRAY_TASK_COUNT"},
     .others = {"SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX",
                "SLURM_ARRAY_TASK_STEP"},
     .renumber = renumber},
    [INDEXED_JOB] =
        {.name = "Kubernetes indexed job", .rank = "JOB_COMPLETION_INDEX",
         .worlds = {"--world", "PINFOLD_WORLD_SIZE"}},
    {.name = "AWS Batch array", .rank = "AWS_BATCH_JOB_ARRAY_INDEX",
     .worlds = {"AWS_BATCH_JOB_ARRAY_SIZE"}},
    {.name = "Cloud Run job", .rank = "CLOUD_RUN_TASK_INDEX",
     .worlds = {"CLOUD_RUN_TASK_COUNT"}},
};

_Static_assert(sizeof(table) / sizeof(table[0]) == PFI_LAUNCH_SOURCES,
               "a place for each source");

const char *pfi_launch_value(const struct pfi_launch *launch, const char *name)
{
    const char *const value = !strcmp(name, "--rank")    ? launch->o->rank_text
                              : !strcmp(name, "--world") ? launch->o->world_text
                                                         : getenv(name);

    return value && *value ? value : NULL;
}

/* ---------------------------------------------------------- what one says --- */

__attribute__((format(printf, 3, 4)))
static bool set_state(struct pfi_launch_source *s, enum pfi_launch_state state,
                      const char *format, ...)
{
    va_list words;

    s->state = state;
    va_start(words, format);
    (void)vsnprintf(s->why, sizeof(s->why), format, words);
    va_end(words);
    return false;
}

static bool take_number(const struct pfi_launch *launch,
                        struct pfi_launch_source *s, const char *name,
                        int32_t low, int32_t *out)
{
    const char *const text = pfi_launch_value(launch, name);
    long long value;

    if (text[strspn(text, "0123456789")] ||
        !pfi_cli_to_number(text, low, INT32_MAX, &value))
        return set_state(s, PFI_LAUNCH_WRONG,
                         "%s is '%.40s', not a whole number from %d to %d",
                         name, text, low, INT32_MAX);
    *out = (int32_t)value;
    return true;
}

/* The first of the names that is set, or NULL. */
static const char *first_set(const struct pfi_launch *launch,
                             const char *const names[2])
{
    for (int i = 0; i < 2 && names[i]; i++)
        if (pfi_launch_value(launch, names[i]))
            return names[i];
    return NULL;
}

/* In a batch script itself SLURM_PROCID is 0 and SLURM_NTASKS that of the whole
 * job, although there is one process; the same goes for a shell. */
static bool is_step(const struct pfi_launch *launch,
                    struct pfi_launch_source *s)
{
    const char *const step = pfi_launch_value(launch, "SLURM_STEP_ID");
    const char *const job = pfi_launch_value(launch, "SLURM_JOB_NAME");
    long long number;

    if (!step)
        return set_state(s, PFI_LAUNCH_IGNORED,
                         "SLURM_STEP_ID is not set: no step of srun's");
    if (!pfi_cli_to_number(step, 0, SLURM_STEP_RESERVED, &number))
        return set_state(s, PFI_LAUNCH_IGNORED,
                         "SLURM_STEP_ID is '%.40s': no step of srun's", step);
    if (job && (!strcmp(job, "bash") || !strcmp(job, "interactive")))
        return set_state(s, PFI_LAUNCH_IGNORED,
                         "SLURM_JOB_NAME is %s: an interactive job", job);
    return true;
}

/* An array's identifiers may start at any number and leave out some. */
static bool renumber(const struct pfi_launch *launch,
                     struct pfi_launch_source *s)
{
    const char *const step_name = "SLURM_ARRAY_TASK_STEP";
    int32_t first, last, step = 1;

    if (!pfi_launch_value(launch, "SLURM_ARRAY_TASK_MIN") ||
        !pfi_launch_value(launch, "SLURM_ARRAY_TASK_MAX"))
        return set_state(s, PFI_LAUNCH_HALF,
                         "SLURM_ARRAY_TASK_ID without SLURM_ARRAY_TASK_MIN and "
                         "SLURM_ARRAY_TASK_MAX");
    if (!take_number(launch, s, "SLURM_ARRAY_TASK_MIN", 0, &first) ||
        !take_number(launch, s, "SLURM_ARRAY_TASK_MAX", first, &last) ||
        (pfi_launch_value(launch, step_name) &&
         !take_number(launch, s, step_name, 1, &step)))
        return false;
    if ((last - first) / step != s->world - 1 || s->rank < first ||
        (s->rank - first) % step)
        return set_state(s, PFI_LAUNCH_WRONG,
                         "SLURM_ARRAY_TASK_ID is %d and SLURM_ARRAY_TASK_COUNT "
                         "%d, but %d to %d by %d are not so many: an array with "
                         "gaps has no ranks",
                         s->rank, s->world, first, last, step);
    s->rank = (s->rank - first) / step;
    return true;
}

static bool take_pair(const struct pfi_launch *launch,
                      const struct launcher *row, struct pfi_launch_source *s)
{
    const char *const local = first_set(launch, row->locals);

    if (!s->rank_name)
        return set_state(s, PFI_LAUNCH_HALF, "%s without %s", s->world_name,
                         row->rank);
    if (!s->world_name)
        return set_state(s, PFI_LAUNCH_HALF, "%s without %s%s%s", row->rank,
                         row->worlds[0], row->worlds[1] ? " or " : "",
                         row->worlds[1] ? row->worlds[1] : "");
    if (!take_number(launch, s, s->rank_name, 0, &s->rank) ||
        !take_number(launch, s, s->world_name, 1, &s->world) ||
        (local && !take_number(launch, s, local, 0, &s->local_rank)))
        return false;
    s->local_name = local;
    return true;
}

static void look_at(const struct pfi_launch *launch, const struct launcher *row,
                    struct pfi_launch_source *s)
{
    s->rank_name = pfi_launch_value(launch, row->rank) ? row->rank : NULL;
    s->world_name = first_set(launch, row->worlds);
    /* Another source's size is no sign of an indexed job. */
    if (!s->rank_name && (!s->world_name || row == &table[INDEXED_JOB]))
        return;
    if ((row->counts && !row->counts(launch, s)) ||
        !take_pair(launch, row, s) ||
        (row->renumber && !row->renumber(launch, s)))
        return;
    if (s->rank >= s->world)
        (void)set_state(s, PFI_LAUNCH_WRONG,
                        "%s is not below %s: rank %d of %d", s->rank_name,
                        s->world_name, s->rank, s->world);
    else
        s->state = PFI_LAUNCH_FOUND;
}

/* ------------------------------------------------------------ which one wins --- */

static bool differs(const struct pfi_launch_source *a,
                    const struct pfi_launch_source *b)
{
    return a->rank != b->rank || a->world != b->world;
}

/* mpirun and torchrun on several nodes of a Slurm job have a step start one
 * daemon a node, whose children inherit that step's variables. */
static bool starts_daemons(const struct pfi_launch *launch,
                           const struct pfi_launch_source *s,
                           const struct pfi_launch_source *used)
{
    const char *const nodes = pfi_launch_value(launch, "SLURM_STEP_NUM_NODES");
    long long n;

    return table[s - launch->sources].counts == is_step && used->local_name &&
           nodes && pfi_cli_to_number(nodes, 1, INT32_MAX, &n) && n == s->world;
}

static void compare(struct pfi_launch *launch, struct pfi_launch_source *s)
{
    const struct pfi_launch_source *const used = launch->used;

    if (!differs(s, used))
        s->state = PFI_LAUNCH_AGREES;
    else if (s->world == 1)
        (void)set_state(s, PFI_LAUNCH_IGNORED,
                        "rank 0 of 1 contradicts nothing");
    else if (starts_daemons(launch, s, used))
        (void)set_state(s, PFI_LAUNCH_IGNORED,
                        "one task a node: it started the daemons of %s",
                        used->launcher);
    else if (!*launch->error)
        (void)snprintf(launch->error, sizeof(launch->error),
                       "%s says rank %d of %d (%s, %s), but %s rank %d of %d "
                       "(%s, %s)",
                       used->launcher, used->rank, used->world, used->rank_name,
                       used->world_name, s->launcher, s->rank, s->world,
                       s->rank_name, s->world_name);
}

/* The first one in `state`, with more than one rank where there is such. */
static struct pfi_launch_source *first_in(struct pfi_launch *launch,
                                          enum pfi_launch_state state)
{
    struct pfi_launch_source *first = NULL;

    for (int i = 0; i < PFI_LAUNCH_SOURCES; i++) {
        struct pfi_launch_source *const s = &launch->sources[i];

        if (s->state != state)
            continue;
        if (!first || (first->world <= 1 && s->world > 1))
            first = s;
    }
    return first;
}

/* Among those that launchers set. */
static void choose(struct pfi_launch *launch)
{
    struct pfi_launch_source *const wrong = first_in(launch, PFI_LAUNCH_WRONG);
    struct pfi_launch_source *const found = first_in(launch, PFI_LAUNCH_FOUND);
    struct pfi_launch_source *const half = first_in(launch, PFI_LAUNCH_HALF);

    launch->used = found;
    for (int i = 0; found && i < PFI_LAUNCH_SOURCES; i++) {
        struct pfi_launch_source *const s = &launch->sources[i];

        if (s != found && s->state == PFI_LAUNCH_FOUND)
            compare(launch, s);
        else if (s->state == PFI_LAUNCH_HALF)
            s->state = PFI_LAUNCH_IGNORED;
    }
    if (wrong || (!found && half))
        (void)snprintf(launch->error, sizeof(launch->error), "%s",
                       wrong ? wrong->why : half->why);
    if (found && !*launch->error)
        found->state = PFI_LAUNCH_USED;
}

/* Half a pair of a source that decides is a mistake, but for a world whose rank
 * an indexed job tells. */
static bool decides(struct pfi_launch *launch, int i)
{
    struct pfi_launch_source *const s = &launch->sources[i];

    if (!table[i].decides || s->state == PFI_LAUNCH_ABSENT)
        return false;
    if (s->state == PFI_LAUNCH_HALF && !s->rank_name &&
        !launch->o->no_launcher &&
        !pfi_launch_value(launch, "PINFOLD_RANK") &&
        pfi_launch_value(launch, table[INDEXED_JOB].rank)) {
        s->state = PFI_LAUNCH_ABSENT;
        return false;
    }
    if (s->state == PFI_LAUNCH_FOUND)
        s->state = PFI_LAUNCH_USED;
    launch->used = s->state == PFI_LAUNCH_USED ? s : NULL;
    (void)snprintf(launch->error, sizeof(launch->error), "%s", s->why);
    return true;
}

static void ignore_from(struct pfi_launch *launch, int i, const char *why)
{
    for (; i < PFI_LAUNCH_SOURCES; i++)
        if (launch->sources[i].state != PFI_LAUNCH_ABSENT)
            (void)set_state(&launch->sources[i], PFI_LAUNCH_IGNORED, "%s", why);
}

static void name_all(const struct launcher *row, struct pfi_launch_source *s)
{
    int n = 0;

    s->launcher = row->name;
    s->local_rank = -1;
    s->names[n++] = row->rank;
    for (int i = 0; i < 2 && row->worlds[i]; i++)
        s->names[n++] = row->worlds[i];
    for (int i = 0; i < 2 && row->locals[i]; i++)
        s->names[n++] = row->locals[i];
    for (int i = 0; i < 3 && row->others[i]; i++)
        s->names[n++] = row->others[i];
}

void pfi_launch_find(struct pfi_launch *launch, const struct pfi_cli_options *o)
{
    char why[80];

    *launch = (struct pfi_launch){.o = o};
    for (int i = 0; i < PFI_LAUNCH_SOURCES; i++) {
        name_all(&table[i], &launch->sources[i]);
        look_at(launch, &table[i], &launch->sources[i]);
    }
    for (int i = 0; table[i].decides; i++) {
        if (decides(launch, i)) {
            (void)snprintf(why, sizeof(why), "%s and %s win", table[i].rank,
                           table[i].worlds[0]);
            ignore_from(launch, i + 1, why);
            return;
        }
        if (o->no_launcher) {
            ignore_from(launch, i + 1, "--launcher none");
            return;
        }
    }
    choose(launch);
}
