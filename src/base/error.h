/* SPDX-License-Identifier: Apache-2.0
 * How functions say why they failed. */
#ifndef PFI_BASE_ERROR_H
#define PFI_BASE_ERROR_H

#include <pinfold/pinfold.h>

/* Clears `err` (which may be NULL) at the entry of a public function. */
void pfi_error_clear(pinfold_error *err);

/* Records why an operation failed and returns `status`, so that a caller can
 * write `return pfi_fail(err, ...)`.  Keeps the first error it is given. */
__attribute__((format(printf, 4, 5))) pinfold_status
pfi_fail(pinfold_error *err, pinfold_status status, int sys_code,
         const char *format, ...);

/* As pfi_fail() with "path: " in front of the message.  Control characters and
 * what is not UTF-8 are escaped, and a long path loses its front, not the
 * reason. */
__attribute__((format(printf, 5, 6))) pinfold_status
pfi_fail_path(pinfold_error *err, pinfold_status status, int sys_code,
              const char *path, const char *format, ...);

/* Puts "path: " in front of the message that `err` holds, in the same way. */
void pfi_error_add_path(pinfold_error *err, const char *path);

/* Bytes of `type` up to its member `last`, and with it: where `last` is the last
 * one of 0.1, what pfi_struct_in() may demand however the struct grows. */
#define PFI_SIZE_WITH(type, last) \
    (offsetof(type, last) + sizeof(((type *)0)->last))

/* Copies a caller's growable struct into this library's version of it.
 * A shorter one (older header) gets zeros, which mean defaults; a longer one
 * (newer header) is accepted only if what we do not know is zero. */
pinfold_status pfi_struct_in(void *dst, size_t dst_size, size_t oldest_size,
                             const void *src, pinfold_error *err);

/* Copies `src` (struct_size bytes long) to the caller's `dst`, whose own
 * struct_size says how much it takes; that field is kept. */
void pfi_struct_out(void *dst, const void *src, size_t src_size);

#endif
