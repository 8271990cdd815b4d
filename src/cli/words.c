/* SPDX-License-Identifier: Apache-2.0
 * What --help and the shells' completions say of the options. */
#include "src/cli/words.h"

#include <ctype.h>
#include <string.h>

#include "src/cli/options.h"

/* Of an option's name and value. */
#define COLUMN 26

void pfi_cli_options_help(FILE *out, int mask)
{
    struct pfi_cli_option_words option;

    for (size_t i = 0; pfi_cli_option_words(i, &option); i++) {
        char left[80];

        if (!(option.commands & mask))
            continue;
        const int n =
            snprintf(left, sizeof(left), "--%s%s%s", option.name,
                     option.value && *option.value == '[' ? "" : " ",
                     option.value ? option.value : "");
        /* What is wider has its help below, so that two spaces always stand
         * before the help: man/make-pages reads this. */
        (void)fprintf(out, "  %-*s", COLUMN + 1, left);
        if (n >= COLUMN)
            (void)fprintf(out, "\n  %*s", COLUMN + 1, "");
        (void)fprintf(out, "%s\n", option.help);
    }
}

/* Weights, and the models whose name alone means them. */
static void complete_presets(FILE *out, const char *head)
{
    for (int64_t i = 0; i < pinfold_preset_count(); i++) {
        pinfold_preset preset = {.struct_size = sizeof(preset)};
        const char *end;

        pinfold_preset_get(i, &preset);
        if (preset.why_not)
            continue;
        (void)fprintf(out, "%s%s\n", head, preset.name);
        end = preset.model_default ? strstr(preset.name, "_Weights.") : NULL;
        if (!end)
            continue;
        (void)fputs(head, out);
        for (const char *c = preset.name; c < end; c++)
            (void)fputc(tolower((unsigned char)*c), out);
        (void)fputc('\n', out);
    }
}

/* The words of `value`, "a|b" or "[=a|b]", that are taken as they are. */
static void complete_value(FILE *out, const char *value, const char *head)
{
    for (const char *word = value + strspn(value, "[="); *word && *word != ']';) {
        const size_t size = strcspn(word, "|]");
        size_t small = 0;

        while (small < size && !isupper((unsigned char)word[small]))
            small++;
        if (small == size)
            (void)fprintf(out, "%s%.*s\n", head, (int)size, word);
        word += size + (word[size] == '|');
    }
}

void pfi_cli_options_complete(FILE *out, int mask, const char *before,
                              const char *word)
{
    struct pfi_cli_option_words option;
    const char *const equals = word[0] == '-' ? strchr(word, '=') : NULL;
    char head[64] = "";
    size_t size = strlen(before);

    if (equals) {
        before = word;
        size = (size_t)(equals - word);
        (void)snprintf(head, sizeof(head), "%.*s=", (int)size, word);
    }
    for (size_t i = 0; pfi_cli_option_words(i, &option); i++) {
        if (!(option.commands & mask) || !option.value || size < 2 ||
            (*option.value == '[' && !equals) ||
            strlen(option.name) != size - 2 || memcmp(before, "--", 2) ||
            memcmp(option.name, before + 2, size - 2))
            continue;
        if (!strcmp(option.name, "preset"))
            complete_presets(out, head);
        else
            complete_value(out, option.value, head);
        return;
    }
    if (word[0] != '-' || equals)
        return;
    for (size_t i = 0; pfi_cli_option_words(i, &option); i++)
        if (option.commands & mask)
            (void)fprintf(out, "--%s\t%s\n", option.name, option.help);
    (void)fputs("--help\tprint the command's options\n", out);
}
