/* SPDX-License-Identifier: Apache-2.0
 * Names as labels. */
#include <criterion/criterion.h>
#include <string.h>

#include "src/cli/label.h"

static void expect_label(const char *name, const char *wanted)
{
    char label[PFI_CLI_LABEL];

    pfi_cli_label(label, name);
    cr_assert_str_eq(label, wanted);
}

Test(label, what_is_not_printable_ascii_is_escaped)
{
    expect_label("cat 1.jpg", "cat 1.jpg");
    expect_label("a\033[31m\n\x7f", "a\\x1b[31m\\x0a\\x7f");
    expect_label("\xc3\xa9\\", "\\xc3\\xa9\\\\");
    expect_label("", "");
}

Test(label, a_long_name_keeps_its_end)
{
    char name[1000], label[PFI_CLI_LABEL];

    memset(name, 1, sizeof(name));
    (void)strcpy(name + 990, "99.JPEG");
    pfi_cli_label(label, name);
    cr_assert_eq(strlen(label), PFI_CLI_LABEL - 1);
    cr_assert_str_eq(label + PFI_CLI_LABEL - 1 - 11, "\\x0199.JPEG");
    cr_assert_eq(strncmp(label, "\\x01\\x01", 8), 0);
    cr_assert_eq(strncmp(label + 96, "\\x01..", 6), 0);
}

static void expect_short(const char *text, size_t most, const char *name,
                         const char *words)
{
    char copy[64];

    (void)strcpy(copy, text);
    pfi_cli_shorten_name(copy, most);
    cr_assert_str_eq(copy, name);
    (void)strcpy(copy, text);
    pfi_cli_shorten_words(copy, most);
    cr_assert_str_eq(copy, words);
}

Test(label, names_lose_their_middle_and_words_their_end)
{
    expect_short("0123456789", 10, "0123456789", "0123456789");
    expect_short("0123456789abcdef", 10, "01..abcdef", "01234567..");
    expect_short("0123456789", 5, "..789", "012..");
    expect_short("0123456789", 4, "0123", "0123");
    expect_short("0123456789", 0, "", "");
}

Test(label, base_name_stands_behind_the_last_slash)
{
    cr_assert_str_eq(pfi_cli_base_name("a/b/c.png"), "c.png");
    cr_assert_str_eq(pfi_cli_base_name("c.png"), "c.png");
    cr_assert_str_eq(pfi_cli_base_name("a/"), "");
}
