/* SPDX-License-Identifier: Apache-2.0
 * A row for each way through a command. */
#include "tests/fault/rows.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fault/outputs.h"
#include "tests/support/tree.h"

#define SMALL " --resize 9 --crop 8 --batch 2 --workers 1 --memory pageable"
#define EXPORT "export tree out/x --on-error fail" SMALL
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
    {"env", "env --rank 1 --world 3", 0, NULL},
    {"env json", "env --json", 0, NULL},
    {"scan", "scan tree --workers 1 --quiet", ROW_LISTS, NULL},
    {"scan json",
     "scan tree tree --workers 1 --quiet --json --sheet out/s.png "
     "--quarantine-list out/q --crop 8 --resize 9",
     ROW_LISTS | ROW_KEEPS, NULL},
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
    {"tune", TUNE " --csv out/t.csv --svg out/t.svg", ROW_VARIES | ROW_UNCLEAR, NULL},
    {"tune json", TUNE " --json --memory locked", ROW_VARIES | ROW_UNCLEAR, NULL},
    {"tune command",
     "tune --command test${IFS}{workers}${IFS}-lt${IFS}4 --max-workers 0 --rounds 5 --quiet --csv out/t.csv",
     ROW_VARIES | ROW_UNCLEAR, NULL},
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

void run_quietly(const char *command)
{
    const pid_t child = fork();
    int status = 1;

    if (child == 0) {
        const int nothing = open("/dev/null", O_WRONLY);

        if (nothing < 0 || dup2(nothing, 1) < 0)
            exit(2);
        exit(run_program(command));
    }
    if (waitpid(child, &status, 0) != child || status) {
        (void)fprintf(stderr, "%s: status %d\n", command, status);
        exit(2);
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
    run_quietly("ls tree --save tree.index");
    run_quietly("export tree in/a --quiet" SMALL);
    run_quietly("export tree in/a.safetensors --quiet --format safetensors"
                SMALL);
    run_quietly("export tree in/b.safetensors --quiet --format safetensors "
                "--filter nearest" SMALL);
}
