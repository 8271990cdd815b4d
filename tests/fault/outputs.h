/* SPDX-License-Identifier: Apache-2.0
 * The files that a row leaves in its folder, to be compared with those of a run
 * without a fault. */
#ifndef PFI_TESTS_OUTPUTS_H
#define PFI_TESTS_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUTS 64

struct outputs {
    int n;
    struct output {
        char name[128]; /* below the folder */
        uint64_t hash;
        long size;
        char tail[4]; /* the last bytes */
    } files[OUTPUTS];
};

/* Makes the folder, or empties it. */
void outputs_clear(const char *folder);
void outputs_take(struct outputs *out, const char *folder);
/* NULL, or what is wrong with `now`: each file must be one of `want` (with the
 * same end only, where the bytes vary) or `before`; where `whole`, none of
 * `want` may lack. */
enum outputs_compare { OUTPUTS_BYTES, OUTPUTS_END, OUTPUTS_NAME };
const char *outputs_wrong(const struct outputs *now, const struct outputs *want,
                          const struct outputs *before, bool whole,
                          enum outputs_compare how);
/* Forgets the files whose names hold `word`. */
void outputs_forget(struct outputs *files, const char *word);
/* A file's bytes with a NUL behind; to be freed.  Ends the program on failure. */
char *outputs_read(const char *path, size_t *size);
void outputs_copy(const char *from, const char *to);

#endif
