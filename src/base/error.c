/* SPDX-License-Identifier: Apache-2.0
 * Recording errors, and copying growable structs in and out. */
#include "src/base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* No public struct comes near this; a larger struct_size was never set. */
#define PFI_STRUCT_MAX 4096

/* What a path may take of a message, so that the reason always fits. */
#define PFI_PATH_ROOM 320

void pfi_error_clear(pinfold_error *err)
{
    if (!err)
        return;
    err->status = PINFOLD_OK;
    err->sys_code = 0;
    err->sample = -1;
    err->message[0] = '\0';
}

__attribute__((format(printf, 4, 0))) static pinfold_status
fail_v(pinfold_error *err, pinfold_status status, int sys_code,
       const char *format, va_list args)
{
    if (err && err->status >= 0) {
        err->status = status;
        err->sys_code = sys_code;
        (void)vsnprintf(err->message, sizeof(err->message), format, args);
    }
    return status;
}

pinfold_status pfi_fail(pinfold_error *err, pinfold_status status, int sys_code,
                        const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail_v(err, status, sys_code, format, args);
    va_end(args);
    return status;
}

/* Length of the UTF-8 sequence at `s`, 0 where it is not well-formed. */
static size_t utf8_length(const unsigned char *s)
{
    const size_t n = s[0] < 0x80   ? 1
                     : s[0] < 0xC2 ? 0
                     : s[0] < 0xE0 ? 2
                     : s[0] < 0xF0 ? 3
                     : s[0] < 0xF5 ? 4
                                   : 0;

    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80)
            return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return n;
}

/* Writes one character of a path to `out` (5 bytes), escaped where it could
 * confuse a terminal or is not UTF-8; returns the bytes of `s` that it took. */
static size_t escape_one(const unsigned char *s, char *out)
{
    const size_t n = utf8_length(s);
    /* C0, DEL, and the C1 controls, which are C2 80 .. C2 9F in UTF-8 */
    const bool control = s[0] < 0x20 || s[0] == 0x7F ||
                         (n == 2 && s[0] == 0xC2 && s[1] < 0xA0);

    if (n == 0 || control) {
        (void)snprintf(out, 5, "\\x%02x", s[0]);
        /* The second byte of a C1 control stands alone then: not UTF-8. */
        return 1;
    }
    memcpy(out, s, n);
    out[n] = '\0';
    return n;
}

static void escape_path(char out[PFI_PATH_ROOM], const char *path)
{
    const unsigned char *s = (const unsigned char *)path;
    size_t total = 0, used = 0;
    char one[5];

    for (const unsigned char *p = s; *p;) {
        p += escape_one(p, one);
        total += strlen(one);
    }
    if (total >= PFI_PATH_ROOM) {
        memcpy(out, "...", 3);
        used = 3;
    }
    while (*s) {
        s += escape_one(s, one);
        const size_t n = strlen(one);

        if (used + total < PFI_PATH_ROOM) {
            memcpy(out + used, one, n);
            used += n;
        }
        total -= n;
    }
    out[used] = '\0';
}

pinfold_status pfi_fail_path(pinfold_error *err, pinfold_status status,
                             int sys_code, const char *path, const char *format,
                             ...)
{
    va_list args;

    if (err && err->status >= 0) {
        va_start(args, format);
        fail_v(err, status, sys_code, format, args);
        va_end(args);
        pfi_error_add_path(err, path);
    }
    return status;
}

void pfi_error_add_path(pinfold_error *err, const char *path)
{
    char shown[PFI_PATH_ROOM];
    char reason[sizeof(err->message)];

    if (!err)
        return;
    escape_path(shown, path);
    memcpy(reason, err->message, sizeof(reason));
    (void)snprintf(err->message, sizeof(err->message), "%s: %.*s", shown,
                   (int)(sizeof(err->message) - strlen(shown) - 3), reason);
}

pinfold_status pfi_struct_in(void *dst, size_t dst_size, size_t oldest_size,
                             const void *src, pinfold_error *err)
{
    const unsigned char *const bytes = src;
    size_t src_size;

    memcpy(&src_size, src, sizeof(src_size));
    if (src_size < oldest_size || src_size > PFI_STRUCT_MAX)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "struct_size is %zu, not %zu to %d", src_size,
                        oldest_size, PFI_STRUCT_MAX);
    for (size_t i = dst_size; i < src_size; i++)
        if (bytes[i])
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "the option at offset %zu is newer than this "
                            "library",
                            i);
    memset(dst, 0, dst_size);
    memcpy(dst, src, src_size < dst_size ? src_size : dst_size);
    memcpy(dst, &dst_size, sizeof(dst_size));
    return PINFOLD_OK;
}

void pfi_struct_out(void *dst, const void *src, size_t src_size)
{
    size_t dst_size;

    memcpy(&dst_size, dst, sizeof(dst_size));
    if (dst_size > src_size)
        dst_size = src_size;
    if (dst_size > sizeof(dst_size))
        memcpy((char *)dst + sizeof(dst_size),
               (const char *)src + sizeof(dst_size),
               dst_size - sizeof(dst_size));
}
