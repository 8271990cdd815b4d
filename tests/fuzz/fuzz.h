/* SPDX-License-Identifier: Apache-2.0
 * What the fuzz targets share: taking an input apart, recipes, files that lie
 * in memory. */
#ifndef PFI_TESTS_FUZZ_H
#define PFI_TESTS_FUZZ_H

#include <stdbool.h>

#include "src/codec/codec.h"

/* libFuzzer's entry point, which each target defines; replay.c calls it, too.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a target allows one picture, so that an input costs milliseconds. */
#define FUZZ_PIXELS (1 << 18)
#define FUZZ_SCRATCH (64 << 20)

/* An input from front to back; behind its end come zeros. */
struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* The next number below n, which is at most 2^32; takes 1, 2 or 4 bytes. */
uint32_t fuzz_below(struct fuzz_input *input, uint64_t n);
uint64_t fuzz_u64(struct fuzz_input *input);

/* Ends the program, which a fuzzer takes for a finding. */
void fuzz_require(bool holds, const char *what);

/* A recipe from FUZZ_RECIPE bytes; most are valid. */
#define FUZZ_RECIPE 24
void fuzz_recipe(pinfold_recipe *out, struct fuzz_input *input);

/* A window of a picture, from 4 bytes. */
struct pfi_window fuzz_window(const uint8_t *bytes, int32_t width,
                              int32_t height);

/* The sample of a picture as pinfold_preprocess() makes it, but each piece of
 * scratch has its own end.  Fills dst with `fill` before. */
pinfold_status fuzz_make(const pinfold_recipe *recipe, const uint8_t *data,
                         size_t size, unsigned char *dst, size_t dst_size,
                         int fill, pinfold_error *err);

/* Names that stand for two files in memory, 0 and 1. */
const char *fuzz_file(int which, const uint8_t *data, size_t size);

/* A copy with a NUL behind it, of its own size; to be freed. */
char *fuzz_text(const uint8_t *data, size_t size);

/* stdout and stderr lead nowhere from here on; sanitizers' reports stay. */
void fuzz_mute(void);

#endif
