/* SPDX-License-Identifier: Apache-2.0
 * A row for each way through a command. */
#include "tests/fault/rows.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fault/outputs.h"
#include "tests/support/tree.h"

#define SMALL " --resize 9 --crop 8 --batch 2 --workers 1 --memory pageable"
#define EXPORT "export tree out/x --on-error fail" SMALL
#define STOPPED " --on-error fail --order stopped.txt --rank 0 --world 1" SMALL
#define TWO_SHARDS(options) \
    EXPORT " --quiet --rank 0 --world 2" options " ; " EXPORT \
           " --quiet --rank 1 --world 2" options
#define TUNE "tune tree --resize 9 --crop 8 --batch 2 --batches 1 --epochs 1 " \
             "--slots 2 --max-workers 0 --rounds 5 --quiet"

const struct row rows[] = {
    {"help", "--help", 0, NULL},
    {"version", "--version", 0, NULL},
    {"bench help", "bench --help", 0, NULL},
    {"presets", "presets", 0, NULL},
    {"presets json", "presets --json", 0, NULL},
    {"ls", "ls tree", 0, NULL},
    {"ls json", "ls tree --json", 0, NULL},
    {"ls classes", "ls tree --classes --class-list classes.txt", 0, NULL},
    {"ls list", "ls tree --list list.txt", 0, NULL},
    {"ls index", "ls tree --index out/i", ROW_LACKS, NULL},
    {"ls index used", "ls tree --index tree.index --io-threads 1", 0, NULL},
    {"ls save", "ls tree --save out/i", 0, NULL},
    {"explain", "explain tree/a/1.jpg", ROW_VARIES, NULL},
    {"explain json", "explain tree/b/1.jpg --json --preset resnet50",
     ROW_VARIES, NULL},
    {"plan", "plan tree", ROW_VARIES, NULL},
    {"plan json", "plan tree --json --workers 2 --io-threads 1",
     ROW_VARIES, NULL},
    {"verify", "verify gtree golden.tsv --workers 1", ROW_LISTS, NULL},
    {"verify orders", "verify --orders orders.tsv", ROW_LISTS, NULL},
    {"bench", "bench tree --warmup 0" SMALL, ROW_VARIES, NULL},
    {"bench json", "bench tree --json --stages --io-threads 1 --warmup 0" SMALL,
     ROW_VARIES, NULL},
    {"bench trace", "bench tree --trace out/t.json --warmup 0" SMALL,
     ROW_VARIES, NULL},
    {"bench locked",
     "bench tree --memory locked --resize 9 --crop 8 --batch 2 --workers 0 "
     "--warmup 0",
     ROW_VARIES, NULL},
    {"bench upload",
     "bench tree --upload require --device-normalize --resize 9 --crop 8 "
     "--batch 2 --workers 1 --warmup 0",
     ROW_VARIES | ROW_DEVICE, NULL},
    {"bench devices",
     "bench tree --upload require --device all --resize 9 --crop 8 --batch 2 "
     "--workers 1 --warmup 0",
     ROW_VARIES | ROW_DEVICE, NULL},
    {"export npy", EXPORT, 0, NULL},
    {"export npy, bad ones kept", "export tree out/x" SMALL, ROW_KEEPS, NULL},
    {"export npy again", EXPORT, ROW_FAILS,
     EXPORT " --quiet"},
    {"export npy over", EXPORT " --force --shuffle", 0,
     EXPORT " --quiet"},
    {"export order", EXPORT " --order order.txt", 0, NULL},
    {"export subset", EXPORT " --subset subset.txt", 0, NULL},
    {"export weights", EXPORT " --weights weights.txt", 0,
     NULL},
    {"export trace", EXPORT " --trace out/t.json", ROW_VARIES,
     NULL},
    {"export safetensors", EXPORT " --format safetensors", 0,
     NULL},
    {"export safetensors over",
     EXPORT " --format safetensors --force --dtype bf16 --labels "
     "int32",
     0, EXPORT " --format safetensors --quiet"},
    {"export raw", EXPORT " --format raw", 0, NULL},
    {"export raw over",
     EXPORT " --format raw --force --labels int32", 0,
     EXPORT " --format raw --quiet"},
    {"export each", EXPORT " --format npy-each", 0, NULL},
    {"export each over",
     EXPORT " --format npy-each --force --dtype u8", 0,
     EXPORT " --format npy-each --quiet"},
    {"export shard", EXPORT " --rank 1 --world 2", 0, NULL},
    {"export shard again", EXPORT " --rank 0 --world 2", 0,
     EXPORT " --rank 0 --world 2 --quiet"},
    {"export shard raw",
     EXPORT " --rank 0 --world 2 --format raw --checksums", 0, NULL},
    {"export shard safetensors",
     EXPORT " --rank 0 --world 2 --format safetensors", 0, NULL},
    {"merge", "merge out/x --quiet", 0,
     EXPORT " --rank 0 --world 1 --quiet"},
    {"merge raw", "merge out/x --quiet --delete-shards --checksums", 0,
     EXPORT " --rank 0 --world 1 --format raw --quiet --checksums"},
    {"merge safetensors", "merge out/x --quiet", 0,
     EXPORT " --rank 0 --world 1 --format safetensors --quiet"},
    {"export shard blocks", "export tree out/x" STOPPED, ROW_RESUMES, NULL},
    {"export shard on", "export tree out/x" STOPPED, ROW_RESUMES,
     "copy in/npy out/x"},
    {"export shard raw on", "export tree out/x --format raw" STOPPED,
     ROW_RESUMES, "copy in/raw out/x"},
    {"merge two", "merge out/x --quiet", 0, TWO_SHARDS("")},
    {"merge two raw", "merge out/x --quiet --delete-shards --checksums", 0,
     TWO_SHARDS(" --format raw --checksums --shard contiguous")},
    {"env", "env --rank 1 --world 3", 0, NULL},
    {"env json", "env --json", 0, NULL},
    {"scan", "scan tree --workers 1 --quiet", ROW_LISTS, NULL},
    {"scan json",
     "scan tree tree --workers 1 --quiet --json --sheet out/s.png "
     "--quarantine-list out/q --crop 8 --resize 9",
     ROW_LISTS | ROW_KEEPS, NULL},
    {"stats", "stats tree --workers 1 --quiet --resize 9 --crop 8", 0, NULL},
    {"stats json",
     "stats tree --json --no-pixels --workers 1 --quiet --svg out/s.svg",
     ROW_KEEPS, NULL},
    {"sheet", "sheet tree out/s.png --quiet --workers 1 --resize 9 --crop 8",
     ROW_KEEPS, NULL},
    {"sheet json, before",
     "sheet tree out/s.png --json --before --quiet --workers 1 --resize 9 "
     "--crop 8",
     ROW_KEEPS, NULL},
    {"sheet terminal",
     "sheet tree --term=blocks --quiet --workers 1 --resize 9 --crop 8", 0, NULL},
    {"sheet sixels",
     "sheet tree --term=sixel --quiet --workers 1 --resize 9 --crop 8", 0, NULL},
    {"sheet kitty",
     "sheet tree --term=kitty --quiet --workers 1 --resize 9 --crop 8 --before",
     0, NULL},
    {"diff equal", "diff in/a/images.npy in/a.safetensors", ROW_TWO, NULL},
    {"diff", "diff in/a/images.npy in/b.safetensors --json",
     ROW_LISTS | ROW_TWO, NULL},
    {"diff tree", "diff in/a/images.npy tree" SMALL, ROW_LISTS | ROW_TWO, NULL},
    {"diff tree, other", "diff in/b.safetensors tree" SMALL,
     ROW_LISTS | ROW_TWO | ROW_VARIES, NULL},
    {"tune", TUNE " --csv out/t.csv --svg out/t.svg", ROW_VARIES, NULL},
    {"tune json", TUNE " --json --memory locked", ROW_VARIES, NULL},
    {"tune command",
     "tune --command test${IFS}{workers}${IFS}-lt${IFS}4 --max-workers 0 --rounds 5 --quiet --csv out/t.csv",
     ROW_VARIES, NULL},
    {0},
};

int run_program(const char *command)
{
    static char words[1024];
    static char *argv[64];
    int argc = 1;

    (void)snprintf(words, sizeof(words), "%s", command);
    argv[0] = words + sizeof(words) - 1;
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return pinfold_main(argc, argv);
}

/* ---------------------------------------------------------------- furniture --- */

int run_apart(const char *command)
{
    const pid_t child = fork();
    int status = 1;

    if (child == 0) {
        const int nothing = open("/dev/null", O_WRONLY);

        if (nothing < 0 || dup2(nothing, 1) < 0 || dup2(nothing, 2) < 0)
            exit(99);
        exit(run_program(command));
    }
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return 99;
    return WEXITSTATUS(status);
}

static void run_quietly(const char *command, int wanted)
{
    const int status = run_apart(command);

    if (status == wanted)
        return;
    (void)fprintf(stderr, "%s: status %d\n", command, status);
    exit(2);
}

/* The files of a folder that holds nothing else. */
static void copy_folder(const char *from, const char *to)
{
    DIR *const folder = opendir(from);
    const struct dirent *entry;
    char source[512], target[512];

    if (!folder || (mkdir(to, 0777) && errno != EEXIST))
        abort();
    while ((entry = readdir(folder)) != NULL) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        (void)snprintf(source, sizeof(source), "%s/%s", from, entry->d_name);
        (void)snprintf(target, sizeof(target), "%s/%s", to, entry->d_name);
        outputs_copy(source, target);
    }
    (void)closedir(folder);
}

void run_before(const char *before)
{
    char text[1024], from[256], to[256];
    char *end;

    (void)snprintf(text, sizeof(text), "%s", before);
    for (char *at = text; at; at = end ? end + 3 : NULL) {
        end = strstr(at, " ; ");
        if (end)
            *end = '\0';
        if (sscanf(at, "copy %255s %255s", from, to) == 2)
            copy_folder(from, to);
        else
            run_quietly(at, 0);
    }
}

/* The rows of one picture, which has another name and class here. */
static void write_golden(void)
{
    static const char of[] = "\nk08_channels/gray_odd.jpg\t2\timagenet\t";
    size_t size;
    char *const text = outputs_read(PFI_GOLDEN_DIR "/tree.tsv", &size);
    const char *const row = strstr(text, of), *const pipe = strchr(text, '\n');
    FILE *const out = fopen("golden.tsv", "w");

    if (!row || !pipe || !out)
        abort();
    (void)fprintf(out, "%.*s\ng/1.jpg\t0\timagenet\t%.*s\n",
                  (int)strcspn(pipe + 1, "\n"), pipe + 1,
                  (int)strcspn(row + sizeof(of) - 1, "\n"),
                  row + sizeof(of) - 1);
    (void)fclose(out);
    free(text);
}

static void write_orders(void)
{
    size_t size;
    char *const text = outputs_read(PFI_GOLDEN_DIR "/orders.tsv", &size);
    char *end = text;

    for (int lines = 0; lines < 5; lines++)
        end = strchr(end, '\n') + 1;
    *end = '\0';
    tree_file(".", "orders.tsv", text);
    free(text);
}

/* Shards whose export found a damaged picture behind the first 32 samples. */
static void furnish_stopped(void)
{
    FILE *const order = fopen("stopped.txt", "w");

    if (!order)
        abort();
    for (int i = 0; i < 32; i++)
        (void)fprintf(order, "%d\n", i % 2);
    (void)fputs("2\n0\n1\n2\n", order);
    (void)fclose(order);
    outputs_copy("tree/a/1.jpg", tree_path(".", "broken/a/1.jpg"));
    outputs_copy("tree/a/2.png", tree_path(".", "broken/a/2.png"));
    tree_file(".", "broken/b/1.jpg", "no picture");
    run_quietly("export broken in/npy" STOPPED, 1);
    run_quietly("export broken in/raw --format raw" STOPPED, 1);
}

void furnish_rows(void)
{
    static const char *const copies[][2] = {
        {"codec/jpeg_plain_420.jpg", "tree/a/1.jpg"},
        {"codec/png_plain_8_2_0.png", "tree/a/2.png"},
        {"codec/jpeg_plain_progressive.jpg", "tree/b/1.jpg"},
        {"tree/k08_channels/gray_odd.jpg", "gtree/g/1.jpg"}};
    char from[256];

    for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
        (void)snprintf(from, sizeof(from), "%s/%s", PFI_GOLDEN_DIR,
                       copies[i][0]);
        outputs_copy(from, tree_path(".", copies[i][1]));
    }
    tree_settle("tree");
    tree_file(".", "list.txt", "a/1.jpg 0\nb/1.jpg 1\na/2.png 0\n");
    tree_file(".", "classes.txt", "b\na\n");
    tree_file(".", "order.txt", "2 0\n1\n");
    tree_file(".", "subset.txt", "2\n0\n");
    tree_file(".", "weights.txt", "1\n2.5\n3\n");
    write_golden();
    write_orders();
    outputs_clear("in");
    run_quietly("ls tree --save tree.index", 0);
    run_quietly("export tree in/a --quiet" SMALL, 0);
    run_quietly("export tree in/a.safetensors --quiet --format safetensors"
                SMALL, 0);
    run_quietly("export tree in/b.safetensors --quiet --format safetensors "
                "--filter nearest" SMALL, 0);
    furnish_stopped();
}
