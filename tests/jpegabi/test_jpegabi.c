/* SPDX-License-Identifier: Apache-2.0
 * Loads another libjpeg first and for all, then pinfold, and decodes a JPEG.
 * usage: test_jpegabi OTHER.so PINFOLD.so PICTURE.jpg */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <pinfold/pinfold.h>

typedef pinfold_status (*preprocess)(const pinfold_recipe *, const void *,
                                     size_t, void *, size_t, pinfold_error *);

static unsigned char picture[1 << 16];
static float tensor[3 * 224 * 224];

int main(int argc, char **argv)
{
    preprocess function;
    pinfold_error err;
    FILE *file;
    size_t size;

    if (argc != 4 || !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL))
        return 2;
    void *const pinfold = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    void *const symbol =
        pinfold ? dlsym(pinfold, "pinfold_preprocess") : NULL;

    file = fopen(argv[3], "rb");
    if (!symbol || !file)
        return 2;
    size = fread(picture, 1, sizeof(picture), file);
    (void)fclose(file);
    memcpy(&function, &symbol, sizeof(function));
    if (function(NULL, picture, size, tensor, sizeof(tensor), &err)) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    (void)puts("decoded beside another libjpeg");
    return 0;
}
