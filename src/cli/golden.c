/* SPDX-License-Identifier: Apache-2.0
 * Reads golden files. */
#include "src/cli/golden.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/run.h"
#include "src/cli/sample_file.h"
#include "src/cli/text.h"

#define MAX_PIPELINES 64
#define MAX_WORDS 256 /* of one pipeline's options */

int pfi_cli_golden_wrong(const struct pfi_cli_golden *golden, size_t line,
                         const char *what)
{
    pfi_cli_say("pinfold: %s, line %zu: %s", golden->o->arguments[1], line,
                what);
    return PFI_CLI_FAILED;
}

static int take_pipeline(struct pfi_cli_golden *golden, char *line,
                         size_t number)
{
    char *const tab = strchr(line, '\t');
    char *words[MAX_WORDS], *rest = NULL;
    int n = 0;
    struct pfi_cli_golden_pipeline *p;

    if (!tab || golden->n_pipelines == MAX_PIPELINES)
        return pfi_cli_golden_wrong(golden, number,
                                    "not a pipeline's name and options");
    *tab = '\0';
    for (char *word = strtok_r(tab + 1, " ", &rest); word;
         word = strtok_r(NULL, " ", &rest)) {
        if (n == MAX_WORDS)
            return pfi_cli_golden_wrong(golden, number, "more than 256 words");
        words[n++] = word;
    }
    p = &golden->pipelines[golden->n_pipelines++];
    p->name = line;
    p->options = *golden->o;
    p->options.n_arguments = 0;
    if (!pfi_cli_options_parse(&p->options, n, words) || p->options.n_arguments)
        return pfi_cli_golden_wrong(golden, number, "not options of pinfold");
    p->options.n_arguments = golden->o->n_arguments;
    memcpy(p->options.arguments, golden->o->arguments,
           sizeof(golden->o->arguments));
    return PFI_CLI_OK;
}

static bool to_count(const char *text, long long *out)
{
    char *end;

    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static int take_row(struct pfi_cli_golden *golden, char *line, size_t number)
{
    char *fields[7];
    struct pfi_cli_golden_row *const row = &golden->rows[golden->n_rows];

    for (int i = 0; i < 7; i++) {
        fields[i] = line;
        line = line ? strchr(line, '\t') : NULL;
        if (line)
            *line++ = '\0';
        if ((line == NULL) != (i == 6))
            return pfi_cli_golden_wrong(golden, number, "not seven fields");
    }
    *row = (struct pfi_cli_golden_row){
        .path = fields[0],
        .pipeline = fields[2],
        .u8 = fields[5],
        .f32 = fields[6],
        .line = number,
        .sample = -1,
    };
    if (!to_count(fields[1], &row->label) ||
        !to_count(fields[3], &row->width) || !to_count(fields[4], &row->height))
        return pfi_cli_golden_wrong(golden, number,
                                    "class, width or height is not a number");
    golden->n_rows++;
    return PFI_CLI_OK;
}

static int take_line(struct pfi_cli_golden *golden, char *line, size_t number)
{
    static const char pipeline[] = "# pipeline ";

    if (!strncmp(line, pipeline, strlen(pipeline)))
        return take_pipeline(golden, line + strlen(pipeline), number);
    return *line == '#' || !*line ? PFI_CLI_OK : take_row(golden, line, number);
}

int pfi_cli_golden_read(struct pfi_cli_golden *golden,
                        const struct pfi_cli_options *o)
{
    const char *const path = o->arguments[1];
    size_t size = 0, lines = 1, number = 1;
    pinfold_error err;

    *golden = (struct pfi_cli_golden){.o = o};
    golden->text = pfi_cli_read_file(path, PFI_CLI_MOST_TEXT, &size, &err);
    if (!golden->text) {
        pfi_cli_say("pinfold: %s: %s", path, err.message);
        return PFI_CLI_FAILED;
    }
    for (size_t i = 0; i < size; i++)
        lines += golden->text[i] == '\n';
    golden->rows = calloc(lines, sizeof(*golden->rows));
    golden->pipelines = calloc(MAX_PIPELINES, sizeof(*golden->pipelines));
    if (!golden->rows || !golden->pipelines)
        return pfi_cli_golden_wrong(golden, 0, "no memory");
    for (char *line = golden->text; line; number++) {
        char *const end = strchr(line, '\n');

        if (end)
            *end = '\0';
        if (take_line(golden, line, number))
            return PFI_CLI_FAILED;
        line = end ? end + 1 : NULL;
    }
    return golden->n_rows && golden->n_pipelines
               ? PFI_CLI_OK
               : pfi_cli_golden_wrong(golden, number, "no pipeline or no row");
}

void pfi_cli_golden_end(struct pfi_cli_golden *golden)
{
    free(golden->pipelines);
    free(golden->rows);
    free(golden->text);
}
