/* SPDX-License-Identifier: Apache-2.0
 * Pictures as sixels, by messages of kitty's protocol, and as half blocks. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/cli/term.h"

static unsigned char dots[12] = {255, 0, 0,   0,   255, 0,
                                 0,   0, 255, 255, 255, 255};
static const struct pfi_cli_image four = {2, 2, dots};

struct text {
    char *bytes;
    size_t size;
    FILE *out;
};

static void begin(struct text *text)
{
    *text = (struct text){0};
    text->out = open_memstream(&text->bytes, &text->size);
    cr_assert_not_null(text->out);
}

static void expect_end(struct text *text, const char *end)
{
    (void)fclose(text->out);
    cr_assert_geq(text->size, strlen(end));
    cr_assert_str_eq(text->bytes + text->size - strlen(end), end);
    free(text->bytes);
}

/* Registers count red in 36s, green in 6s and blue in ones. */
Test(term, sixels_are_a_colour_at_a_time)
{
    static const char head[] = "\033P0;1;0q\"1;1;2;2\n#0;2;0;0;0#1;2;0;0;20";
    struct text text;

    begin(&text);
    cr_assert(pfi_cli_sixel(text.out, &four));
    (void)fflush(text.out);
    cr_assert_eq(memcmp(text.bytes, head, sizeof(head) - 1), 0);
    expect_end(&text, "#215;2;100;100;100#5A$#30?@$#180@$#215?A$-\n\033\\\n");
}

Test(term, sixels_of_seven_equal_rows_are_two_bands_of_runs)
{
    unsigned char white[7 * 9 * 3];
    const struct pfi_cli_image image = {9, 7, white};
    struct text text;

    memset(white, 255, sizeof(white));
    begin(&text);
    cr_assert(pfi_cli_sixel(text.out, &image));
    expect_end(&text, "#215!9~$-\n#215!9@$-\n\033\\\n");
}

Test(term, spread_levels_come_out_as_often_as_they_should)
{
    bool seen[16] = {false};

    for (int i = 0; i < 16; i++)
        seen[pfi_cli_spread(40 + i % 4, 80 + i / 4)] = true;
    for (int i = 0; i < 16; i++)
        cr_assert(seen[i], "%d", i);
}

Test(term, messages_of_kitty_end_and_say_so)
{
    struct text text;

    begin(&text);
    cr_assert(pfi_cli_kitty(text.out, &four));
    (void)fflush(text.out);
    cr_assert_eq(memcmp(text.bytes, "\033_Ga=T,f=100,q=2,m=0;iVBORw0KGgo", 32),
                 0);
    expect_end(&text, "\033\\\n");
}

static void expect_blocks(enum pfi_cli_colours colours,
                          const struct pfi_cli_image *image, const char *line)
{
    const struct pfi_cli_terminal terminal = {PFI_CLI_TERM_BLOCKS, colours, 80,
                                              640};
    struct text text;

    begin(&text);
    pfi_cli_blocks_line(text.out, &terminal, image, 0);
    expect_end(&text, line);
}

Test(term, blocks_name_a_colour_once)
{
    unsigned char grey[2 * 2 * 3];
    const struct pfi_cli_image image = {2, 2, grey};

    memset(grey, 128, sizeof(grey));
    expect_blocks(PFI_CLI_24_BIT, &image,
                  "\033[38;2;128;128;128m\033[48;2;128;128;128m\u2580\u2580"
                  "\033[0m");
    expect_blocks(PFI_CLI_256, &image,
                  "\033[38;5;244m\033[48;5;244m\u2580\u2580\033[0m");
    expect_blocks(PFI_CLI_256, &four,
                  "\033[38;5;196m\033[48;5;21m\u2580\033[38;5;46m"
                  "\033[48;5;231m\u2580\033[0m");
    expect_blocks(PFI_CLI_NO_COLOURS, &four, ".%");
}
