/* SPDX-License-Identifier: Apache-2.0
 * The program: finds the command, checks its options, runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/launch.h"
#include "src/cli/order.h"
#include "src/cli/run.h"
#include "src/cli/text.h"
#include "src/cli/tune_options.h"
#include "src/cli/words.h"

static const struct command {
    const char *name;
    enum pfi_cli_command bit;
    int n_arguments;
    const char *arguments;
    int (*run)(const struct pfi_cli_options *);
    const char *help;
} commands[] = {
    {"ls", PFI_CLI_LS, 1, "ROOT", pfi_cli_ls,
     "list the samples: index, label, path"},
    {"verify", PFI_CLI_VERIFY, 2, "ROOT GOLDEN.tsv", pfi_cli_verify,
     "compare with checksums that torchvision gave"},
    {"bench", PFI_CLI_BENCH, 1, "ROOT", pfi_cli_bench,
     "load as a training loop would, and measure"},
    {"export", PFI_CLI_EXPORT, 2, "ROOT OUT", pfi_cli_export,
     "write the tensors: .npy, safetensors, raw"},
    {"merge", PFI_CLI_MERGE, 1, "OUT", pfi_cli_merge,
     "make one export of the shards that ranks wrote"},
    {"explain", PFI_CLI_EXPLAIN, 1, "IMAGE", pfi_cli_explain,
     "say what is done to one picture, in numbers"},
    {"plan", PFI_CLI_PLAN, 1, "ROOT", pfi_cli_plan,
     "say what memory and threads a loader takes"},
    {"presets", PFI_CLI_PRESETS, 0, "", pfi_cli_presets,
     "list the weights whose preprocessing --preset knows"},
    {"diff", PFI_CLI_DIFF, 2, "A B|ROOT", pfi_cli_diff,
     "compare two tensors, or one and a tree, and say why"},
    {"tune", PFI_CLI_TUNE, 1, "ROOT", pfi_cli_tune,
     "find the best number of workers, slots and kind of memory"},
    {"env", PFI_CLI_ENV, 0, "", pfi_cli_env,
     "say which rank a launcher gave this process"},
    {"scan", PFI_CLI_SCAN, 1, "ROOT [ROOT2]", pfi_cli_scan,
     "decode every file; list the bad and the suspicious"},
    {"sheet", PFI_CLI_SHEET, 2, "ROOT OUT.png|--term", pfi_cli_sheet,
     "draw what the model sees of some samples"},
    {"stats", PFI_CLI_STATS, 1, "ROOT", pfi_cli_stats,
     "count classes, sizes, formats; find mean and std"},
};

/* Commands that take a shard of the data set. */
#define SHARDS (PFI_CLI_BENCH | PFI_CLI_EXPORT | PFI_CLI_TUNE | PFI_CLI_PLAN)
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
    (void)puts("usage: pinfold COMMAND [OPTION...] ARGUMENT...\n\n"
               "Examples:\n"
               "  pinfold bench photos --workers 2\n"
               "  pinfold export photos out --dtype f16 --batch 64\n"
               "  pinfold explain photos/cat/1.jpg --resize 232 --filter "
               "bicubic\n\n"
               "Commands ('pinfold COMMAND --help' lists the options of one):");
    for (size_t i = 0; i < N_COMMANDS; i++)
        (void)printf("  %-8s %-20s %s\n", commands[i].name,
                     commands[i].arguments, commands[i].help);
    (void)puts("\n  --help, -h                    print this\n"
               "  --version, -V                 print versions\n\n"
               "Exit status: 0 done; 1 failed, a picture was bad, or a diff; 2 "
               "wrong usage;\n130 and 143 interrupted; 141 whoever read the "
               "output is gone.");
}

static void print_version(void)
{
    pinfold_info info = {.struct_size = sizeof(info)};

    pinfold_info_get(&info);
    (void)printf("pinfold %s\nlibjpeg-turbo %s\nzlib %s\n",
                 info.version, info.libjpeg_turbo, info.zlib);
    (void)printf("libtiff %s\nlibwebp %s\n",
                 info.libtiff ? info.libtiff : "none (no TIFF)",
                 info.libwebp ? info.libwebp : "none (no WebP)");
    if (info.cuda_runtime)
        (void)printf("CUDA runtime %d.%d\n", info.cuda_runtime / 1000,
                     info.cuda_runtime % 1000 / 10);
    else
        (void)puts("CUDA runtime none");
    if (info.cuda_driver)
        (void)printf("CUDA driver %d.%d\n", info.cuda_driver / 1000,
                     info.cuda_driver % 1000 / 10);
    else
        (void)puts("CUDA driver none");
    (void)printf("CUDA devices %d (%s)\nPillow rule %s (--pillow 12: 12.3.0 "
                 "and before)\ntorchvision %s\nSIMD level %s\n",
                 info.cuda_devices, info.cuda_status, info.pillow,
                 info.torchvision, info.simd);
}

/* The command, or NULL where none is known. */
static int usage_error(const struct command *command)
{
    (void)fprintf(stderr, "Try 'pinfold %s%s--help'.\n",
                  command ? command->name : "", command ? " " : "");
    return PFI_CLI_USAGE;
}

static const struct command *find_command(const char *name)
{
    const struct command *nearest = NULL;
    int least = pfi_cli_too_far(name);

    for (size_t i = 0; i < N_COMMANDS; i++) {
        const int d = pfi_cli_distance(name, commands[i].name);

        if (d == 0)
            return &commands[i];
        if (d < least) {
            least = d;
            nearest = &commands[i];
        }
    }
    if (nearest)
        pfi_cli_say("pinfold: no command %s; did you mean %s?", name,
                    nearest->name);
    else
        pfi_cli_say("pinfold: no command %s", name);
    return NULL;
}

/* A full disk or a closed pipe behind stdout must not pass for success. */
static int finish(int status, int failed)
{
    errno = 0;
    if ((fflush(stdout) || ferror(stdout)) && pfi_cli_signal() != SIGPIPE) {
        (void)fprintf(stderr, "pinfold: cannot write to stdout%s%s\n",
                      errno ? ": " : "", errno ? strerror(errno) : "");
        return failed;
    }
    return pfi_cli_signal() ? 128 + pfi_cli_signal() : status;
}

/* Where a standard stream is closed, the next file opened would take its place,
 * and messages would land in it.  Opened so that its use still fails. */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static int help_command(const struct command *command)
{
    (void)printf("usage: pinfold %s [OPTION...] %s\n%s\n", command->name,
                 command->arguments, command->help);
    pfi_cli_options_help(stdout, (int)command->bit);
    if (command->bit == PFI_CLI_TUNE)
        pfi_cli_tune_help(stdout);
    return finish(PFI_CLI_OK, PFI_CLI_FAILED);
}

/* On what is taken, and yet is hardly meant. */
static void say_remarks(const struct pfi_cli_options *o)
{
    bool large = false;

    for (int c = 0; c < 3; c++)
        large |= o->recipe.mean[c] > 1 || o->recipe.stddev[c] > 1;
    if (pfi_cli_seed_is_idle(o))
        pfi_cli_say("pinfold: --seed has no effect: nothing is random without "
                    "--shuffle, another random order, --random-crop or --flip");
    if (large && o->recipe.dtype != PINFOLD_U8)
        pfi_cli_say("pinfold: --mean and --std are on 0..1, and one above 1 is "
                    "taken as it is: for 0..255 divide by 255");
}

static int run_command(const struct command *command, int n, char **words)
{
    struct pfi_cli_options options;
    pinfold_error err;
    size_t bytes;

    for (int i = 0; i < n && strcmp(words[i], "--") != 0; i++)
        if (!strcmp(words[i], "--help") || !strcmp(words[i], "-h"))
            return help_command(command);
    pfi_cli_options_init(&options, command->bit);
    options.name = command->name;
    if (!pfi_cli_options_parse(&options, n, words))
        return usage_error(command);
    /* --command stands for the data set, --orders for it and the checksums. */
    const int wanted = options.tune.program || options.orders
                           ? 0
                           : command->n_arguments - !!options.sheet.term;

    const int most = wanted + (command->bit == PFI_CLI_SCAN);

    if (options.n_arguments < wanted || options.n_arguments > most) {
        const bool more = options.n_arguments > most && !options.tune.program;

        pfi_cli_say("pinfold: %s takes %s%s%s", command->name,
                    options.tune.program ? "--command or ROOT, not both"
                    : wanted             ? command->arguments
                                         : "no argument",
                    more ? "; one argument too many: " : "",
                    more ? options.arguments[most] : "");
        return usage_error(command);
    }
    if ((command->bit & SHARDS) && !pfi_cli_launch(&options))
        return usage_error(command);
    if (pfi_cli_order_wrong(&options)) {
        pfi_cli_say("pinfold: %s", pfi_cli_order_wrong(&options));
        return usage_error(command);
    }
    if (!(command->bit & (PFI_CLI_LS | PFI_CLI_VERIFY | PFI_CLI_PRESETS | PFI_CLI_ENV)) &&
        pinfold_recipe_size(&options.recipe, 1, &bytes, NULL, &err)) {
        pfi_cli_say("pinfold: %s", err.message);
        return usage_error(command);
    }
    if (!options.quiet)
        say_remarks(&options);
    pfi_cli_catch_signals();
    /* As diff(1), whose 1 says that something differs. */
    return finish(command->run(&options), command->bit == PFI_CLI_DIFF
                                              ? PFI_CLI_USAGE
                                              : PFI_CLI_FAILED);
}

/* For the shells' completions: what can stand at the last word. */
static int complete(int n, char **words)
{
    for (size_t i = 0; n == 1 && i < N_COMMANDS; i++)
        (void)printf("%s\t%s\n", commands[i].name, commands[i].help);
    if (n == 1)
        (void)puts("--help\tlist the commands\n--version\tprint versions");
    for (size_t i = 0; n > 1 && i < N_COMMANDS; i++)
        if (!strcmp(words[0], commands[i].name))
            pfi_cli_options_complete(stdout, (int)commands[i].bit, words[n - 2],
                                     words[n - 1]);
    return finish(PFI_CLI_OK, PFI_CLI_FAILED);
}

static bool is_one_of(const char *word, const char *a, const char *b,
                      const char *c)
{
    return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

int main(int argc, char **argv)
{
    const struct command *command;

    hold_standard_streams();
    if (argc < 2) {
        (void)fputs("pinfold: no command\n", stderr);
        return usage_error(NULL);
    }
    if (is_one_of(argv[1], "--help", "-h", "help")) {
        if (argc > 2 && !strcmp(argv[1], "help")) {
            command = find_command(argv[2]);
            return command ? help_command(command) : usage_error(NULL);
        }
        print_help();
        return finish(PFI_CLI_OK, PFI_CLI_FAILED);
    }
    if (is_one_of(argv[1], "--version", "-V", "version")) {
        print_version();
        return finish(PFI_CLI_OK, PFI_CLI_FAILED);
    }
    if (!strcmp(argv[1], "complete"))
        return complete(argc - 2, argv + 2);
    command = find_command(argv[1]);
    if (!command)
        return usage_error(NULL);
    return run_command(command, argc - 2, argv + 2);
}
