/* SPDX-License-Identifier: Apache-2.0
 * The format is told by the first bytes, and what is no picture is said to be
 * none. */
#include <criterion/criterion.h>
#include <string.h>

#include "src/codec/codec.h"

static const struct pfi_limits limits = {.pixels = 1000,
                                        .scratch = 1000000,
                                        .ancillary = 1000,
                                        .scans = 10,
                                        .side = 1000};

static pinfold_status open_bytes(const void *data, size_t size,
                                 pinfold_error *err)
{
    struct pfi_decoder decoder;
    struct pfi_arena arena;
    pinfold_status status;

    cr_assert(pfi_arena_init(&arena, 65536));
    memset(err, 0, sizeof(*err));
    status = pfi_decoder_open(&decoder, &arena, data, size, &limits, false, err);
    cr_assert_neq(status, PINFOLD_OK);
    cr_assert_null(decoder.codec);
    pfi_arena_end(&arena);
    return status;
}

Test(sniff, formats_without_a_codec_are_named)
{
    static const struct {
        const char *name, *data;
        size_t size;
    } cases[] = {
                 {"AVIF", "\0\0\0\x1c" "ftypavif", 12},
                 {"HEIC", "\0\0\0\x1c" "ftypheic", 12},
                 {"JPEG 2000", "\xFF\x4F\xFF\x51", 4},
                 {"JPEG 2000", "\0\0\0\x0CjP  \r\n\x87\n", 12},
                 {"JPEG XL", "\xFF\x0A", 2},
                 {"ICO", "\0\0\1\0", 4},
                 {"PSD", "8BPS", 4}};
    pinfold_error err;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_eq(open_bytes(cases[i].data, cases[i].size, &err),
                     PINFOLD_E_UNSUPPORTED, "%s", cases[i].name);
        cr_expect_eq(strncmp(err.message, cases[i].name, strlen(cases[i].name)),
                     0, "%s", err.message);
        /* The first byte alone tells nothing. */
        cr_expect_eq(open_bytes(cases[i].data, 1, &err), PINFOLD_E_FORMAT);
    }
}

Test(sniff, no_picture_at_all)
{
    static const char zeros[5000];
    pinfold_error err;

    cr_expect_eq(open_bytes(zeros, 0, &err), PINFOLD_E_FORMAT);
    cr_expect_str_eq(err.message, "empty file");
    cr_expect_eq(open_bytes(zeros, 1, &err), PINFOLD_E_FORMAT);
    cr_expect_eq(open_bytes(zeros, sizeof(zeros), &err), PINFOLD_E_FORMAT);
    cr_expect_eq(open_bytes("hello, world", 12, &err), PINFOLD_E_FORMAT);
    cr_expect_str_eq(err.message, "not a picture of a known format");
}

/* The signature alone makes it a damaged picture, a byte less no picture. */
Test(sniff, a_signature_is_whole_or_none)
{
    pinfold_error err;

    cr_expect_eq(open_bytes("\xFF\xD8\xFF", 3, &err), PINFOLD_E_CORRUPT);
    cr_expect_eq(strncmp(err.message, "JPEG", 4), 0, "%s", err.message);
    cr_expect_eq(open_bytes("\xFF\xD8", 2, &err), PINFOLD_E_FORMAT);
    cr_expect_eq(open_bytes("\xFF\xD8\x00", 3, &err), PINFOLD_E_FORMAT);
    cr_expect_eq(open_bytes("\x89PNG\r\n\x1a\n", 8, &err), PINFOLD_E_CORRUPT);
    cr_expect_eq(strncmp(err.message, "PNG", 3), 0, "%s", err.message);
    cr_expect_eq(open_bytes("\x89PNG\r\n\x1a", 7, &err), PINFOLD_E_FORMAT);
    cr_expect_eq(open_bytes("\0\xFF\xD8\xFF", 4, &err), PINFOLD_E_FORMAT);
}
