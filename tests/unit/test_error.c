/* SPDX-License-Identifier: Apache-2.0
 * Messages name the file and keep the reason; structs grow safely. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "src/base/error.h"

Test(error, the_first_error_wins)
{
    pinfold_error err;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_fail(&err, PINFOLD_E_IO, 5, "first %d", 1), PINFOLD_E_IO);
    cr_assert_eq(pfi_fail(&err, PINFOLD_E_FORK, 0, "second"), PINFOLD_E_FORK);
    cr_assert_eq(err.status, PINFOLD_E_IO);
    cr_assert_eq(err.sys_code, 5);
    cr_assert_eq(err.sample, -1);
    cr_assert_str_eq(err.message, "first 1");
}

Test(error, null_is_allowed)
{
    pfi_error_clear(NULL);
    pfi_error_add_path(NULL, "x");
    cr_assert_eq(pfi_fail(NULL, PINFOLD_E_IO, 0, "x"), PINFOLD_E_IO);
    cr_assert_eq(pfi_fail_path(NULL, PINFOLD_E_IO, 0, "p", "x"), PINFOLD_E_IO);
}

Test(error, what_could_move_a_terminal_is_escaped)
{
    pinfold_error err;

    pfi_error_clear(&err);
    (void)pfi_fail_path(&err, PINFOLD_E_IO, 0,
                        "a\x1b[2J\n\xff\xc3\xa9\xc2\x9b.png", "gone");
    cr_assert_str_eq(err.message,
                     "a\\x1b[2J\\x0a\\xff\xc3\xa9\\xc2\\x9b.png: gone");
}

Test(error, a_long_path_keeps_its_end_and_the_reason)
{
    char path[4000];
    pinfold_error err;

    memset(path, 'd', sizeof(path));
    strcpy(path + sizeof(path) - 7, "/1.png");
    pfi_error_clear(&err);
    (void)pfi_fail_path(&err, PINFOLD_E_CORRUPT, 0, path, "the reason");
    cr_assert_eq(strncmp(err.message, "...d", 4), 0, "%s", err.message);
    cr_assert_not_null(strstr(err.message, "d/1.png: the reason"));
}

Test(error, a_short_struct_gets_zeros_and_a_long_one_must_have_them)
{
    struct {
        size_t size;
        int64_t a, b;
    } in = {16, 7, 9}, out;
    struct {
        size_t size;
        int64_t a, b, c;
    } newer = {32, 1, 2, 0};
    pinfold_error err;

    pfi_error_clear(&err);
    cr_assert_eq(pfi_struct_in(&out, sizeof(out), 16, &in, &err), PINFOLD_OK);
    cr_assert_eq(out.size, sizeof(out));
    cr_assert_eq(out.a, 7);
    cr_assert_eq(out.b, 0);
    cr_assert_eq(pfi_struct_in(&out, sizeof(out), 16, &newer, &err), PINFOLD_OK);
    cr_assert_eq(out.b, 2);
    newer.c = 1;
    cr_assert_eq(pfi_struct_in(&out, sizeof(out), 16, &newer, &err),
                 PINFOLD_E_ARGUMENT);
    in.size = 0;
    pfi_error_clear(&err);
    cr_assert_eq(pfi_struct_in(&out, sizeof(out), 16, &in, &err),
                 PINFOLD_E_ARGUMENT);
    cr_assert_str_eq(err.message, "struct_size is 0, not 16 to 4096");
}

Test(error, no_more_is_written_than_the_caller_has_room_for)
{
    struct {
        size_t size;
        int64_t a, b;
    } out = {16, 0, -1};
    const struct {
        size_t size;
        int64_t a, b;
    } in = {24, 5, 6};

    pfi_struct_out(&out, &in, sizeof(in));
    cr_assert_eq(out.size, 16);
    cr_assert_eq(out.a, 5);
    cr_assert_eq(out.b, -1);
}

Test(error, overlong_forms_and_surrogates_are_no_utf8)
{
    pinfold_error err;

    pfi_error_clear(&err);
    (void)pfi_fail_path(&err, PINFOLD_E_IO, 0, "\xe0\x82\x9b\xed\xa0\x80.png",
                        "gone");
    cr_assert_str_eq(err.message,
                     "\\xe0\\x82\\x9b\\xed\\xa0\\x80.png: gone");
}

Test(error, each_status_has_its_name)
{
    static const struct {
        pinfold_status status;
        const char *name;
    } rows[] = {{PINFOLD_OK, "PINFOLD_OK"},
                {PINFOLD_END, "PINFOLD_END"},
                {PINFOLD_TIMEOUT, "PINFOLD_TIMEOUT"},
                {PINFOLD_E_ARGUMENT, "PINFOLD_E_ARGUMENT"},
                {PINFOLD_E_STATE, "PINFOLD_E_STATE"},
                {PINFOLD_E_MEMORY, "PINFOLD_E_MEMORY"},
                {PINFOLD_E_IO, "PINFOLD_E_IO"},
                {PINFOLD_E_FORMAT, "PINFOLD_E_FORMAT"},
                {PINFOLD_E_CORRUPT, "PINFOLD_E_CORRUPT"},
                {PINFOLD_E_LIMIT, "PINFOLD_E_LIMIT"},
                {PINFOLD_E_UNSUPPORTED, "PINFOLD_E_UNSUPPORTED"},
                {PINFOLD_E_THREAD, "PINFOLD_E_THREAD"},
                {PINFOLD_E_CUDA, "PINFOLD_E_CUDA"},
                {PINFOLD_E_FORK, "PINFOLD_E_FORK"},
                {(pinfold_status)-1000, "PINFOLD_E_?"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_assert_str_eq(pinfold_status_name(rows[i].status), rows[i].name);
}

Test(error, the_version_is_the_headers)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%d.%d.%d", PINFOLD_VERSION_MAJOR,
                   PINFOLD_VERSION_MINOR, PINFOLD_VERSION_PATCH);
    cr_assert_str_eq(pinfold_version(), text);
}
