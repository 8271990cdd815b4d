/* SPDX-License-Identifier: Apache-2.0
 * What a launcher told: applied to a command, and shown by pinfold env. */
#include <string.h>

#include "src/cli/launch.h"
#include "src/cli/run.h"
#include "src/cli/text.h"
#include "src/cli/values.h"

const char *pfi_cli_take_launcher(struct pfi_cli_options *o, const char *text)
{
    static const char *const names[] = {"auto", "none", NULL};
    int i = 0;
    const char *const wrong =
        pfi_cli_to_choice(text, names, "not auto or none", &i);

    o->no_launcher = i == 1;
    return wrong;
}

/* ------------------------------------------------------------------ apply --- */

static void print_error(const struct pfi_launch *launch)
{
    (void)fputs("pinfold: ", stderr);
    pfi_cli_print_name(stderr, launch->error);
    /* A mistake on the command line itself, or in the environment. */
    (void)fputs(launch->sources[0].state != PFI_LAUNCH_ABSENT
                    ? "\n"
                    : "; --rank and --world, PINFOLD_RANK and "
                      "PINFOLD_WORLD_SIZE, or --launcher none decide\n",
                stderr);
}

/* Where a process sees several devices, each on the machine takes its own, to
 * upload to or to pin memory near; the launcher may have left it one alone.
 * Returns how many there are, or 0 where the choice is another's. */
static int choose_device(struct pfi_cli_options *o, int32_t local_rank)
{
    pinfold_info info = {.struct_size = sizeof(info)};

    if (local_rank < 0 || o->device_given ||
        (o->loader.upload == PINFOLD_UPLOAD_OFF &&
         o->loader.memory == PINFOLD_MEMORY_PAGEABLE))
        return 0;
    pinfold_info_get(&info);
    if (info.cuda_devices < 2)
        return 0;
    o->loader.device = local_rank % info.cuda_devices;
    return info.cuda_devices;
}

bool pfi_cli_launch(struct pfi_cli_options *o)
{
    const struct pfi_launch_source *used;
    struct pfi_launch launch;
    int devices;

    pfi_launch_find(&launch, o);
    if (*launch.error) {
        print_error(&launch);
        return false;
    }
    used = launch.used;
    if (!used)
        return true;
    o->order.rank = used->rank;
    o->order.world = used->world;
    devices = choose_device(o, used->local_rank);
    if (o->quiet || used == launch.sources || used->world == 1)
        return true;
    (void)fprintf(stderr, "pinfold: rank %d of %d by %s (%s)", used->rank,
                  used->world, used->launcher, used->rank_name);
    if (devices)
        (void)fprintf(stderr, ", device %d of %d by %s", o->loader.device,
                      devices, used->local_name);
    (void)fputc('\n', stderr);
    return true;
}

/* -------------------------------------------------------------------- env --- */

static const char *const states[] = {
    [PFI_LAUNCH_FOUND] = "found",     [PFI_LAUNCH_HALF] = "half",
    [PFI_LAUNCH_WRONG] = "wrong",     [PFI_LAUNCH_IGNORED] = "ignored",
    [PFI_LAUNCH_AGREES] = "agrees",   [PFI_LAUNCH_USED] = "used",
};

static void print_words(const struct pfi_launch *launch)
{
    const struct pfi_launch_source *const used = launch->used;

    for (int i = 0; i < PFI_LAUNCH_SOURCES; i++) {
        const struct pfi_launch_source *const s = &launch->sources[i];

        if (s->state == PFI_LAUNCH_ABSENT)
            continue;
        (void)printf("%-8s %s:", states[s->state], s->launcher);
        for (int n = 0; s->names[n]; n++) {
            const char *const value = pfi_launch_value(launch, s->names[n]);

            if (value) {
                (void)printf(" %s=", s->names[n]);
                pfi_cli_print_name(stdout, value);
            }
        }
        if (*s->why) {
            (void)fputs(" (", stdout);
            pfi_cli_print_name(stdout, s->why);
            (void)fputc(')', stdout);
        }
        (void)fputc('\n', stdout);
    }
    if (*launch->error)
        return;
    if (!used) {
        (void)puts("rank 0 of 1: no launcher was found");
        return;
    }
    (void)printf("rank %d of %d by %s (%s)", used->rank, used->world,
                 used->launcher, used->rank_name);
    if (used->local_name)
        (void)printf(", local rank %d (%s)", used->local_rank,
                     used->local_name);
    (void)fputc('\n', stdout);
}

static void print_json_source(const struct pfi_launch *launch,
                              const struct pfi_launch_source *s)
{
    const char *comma = "";

    (void)printf("{\"launcher\":\"%s\",\"state\":\"%s\",\"why\":", s->launcher,
                 states[s->state]);
    pfi_cli_print_json(stdout, s->why);
    (void)fputs(",\"variables\":{", stdout);
    for (int n = 0; s->names[n]; n++) {
        const char *const value = pfi_launch_value(launch, s->names[n]);

        if (!value)
            continue;
        (void)printf("%s\"%s\":", comma, s->names[n]);
        pfi_cli_print_json(stdout, value);
        comma = ",";
    }
    (void)fputs("}}", stdout);
}

/* Numbers that are not known are null. */
static void print_json_result(const struct pfi_launch *launch)
{
    const struct pfi_launch_source *const used = launch->used;

    if (*launch->error)
        (void)fputs("\"rank\":null,\"world\":null,", stdout);
    else
        (void)printf("\"rank\":%d,\"world\":%d,", used ? used->rank : 0,
                     used ? used->world : 1);
    if (!*launch->error && used && used->local_name)
        (void)printf("\"local_rank\":%d,", used->local_rank);
    else
        (void)fputs("\"local_rank\":null,", stdout);
    if (!*launch->error && used)
        (void)printf("\"launcher\":\"%s\",", used->launcher);
    else
        (void)fputs("\"launcher\":null,", stdout);
    (void)fputs("\"error\":", stdout);
    if (*launch->error)
        pfi_cli_print_json(stdout, launch->error);
    else
        (void)fputs("null", stdout);
}

static void print_json(const struct pfi_launch *launch)
{
    const char *comma = "";

    (void)fputs("{\"schema\":1,", stdout);
    print_json_result(launch);
    (void)fputs(",\"sources\":[", stdout);
    for (int i = 0; i < PFI_LAUNCH_SOURCES; i++) {
        if (launch->sources[i].state == PFI_LAUNCH_ABSENT)
            continue;
        (void)fputs(comma, stdout);
        print_json_source(launch, &launch->sources[i]);
        comma = ",";
    }
    (void)puts("]}");
}

int pfi_cli_env(const struct pfi_cli_options *o)
{
    struct pfi_launch launch;

    pfi_launch_find(&launch, o);
    (o->json ? print_json : print_words)(&launch);
    if (!*launch.error)
        return PFI_CLI_OK;
    (void)fflush(stdout);
    print_error(&launch);
    return PFI_CLI_USAGE;
}
