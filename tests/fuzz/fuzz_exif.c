/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes EXIF blocks, XMP and TIFF directories. */
#include <string.h>

#include "src/codec/exif.h"
#include "src/codec/ifd.h"
#include "tests/fuzz/fuzz.h"

static void read_values(const struct pfi_ifd *ifd,
                        const struct pfi_ifd_field *field)
{
    int64_t value;

    if (!field->type)
        return;
    fuzz_require(field->count > 0, "a field without a value");
    for (uint64_t i = 0; i < field->count && i < 64; i++) {
        (void)pfi_ifd_int(ifd, field, i, &value);
        (void)pfi_ifd_whole(ifd, field, i, &value);
    }
    (void)pfi_ifd_int(ifd, field, field->count - 1, &value);
    (void)pfi_ifd_whole(ifd, field, field->count - 1, &value);
}

/* Every directory of the chain, as far as it is no circle. */
static void read_directories(const uint8_t *data, size_t size)
{
    static const uint16_t tags[] = {256, 257, 258, 259, 262, 273, 274, 277,
                                    278, 279, 284, 317, 320, 338, 339, 34665};
    enum { N = sizeof(tags) / sizeof(tags[0]) };
    struct pfi_ifd_field fields[N];
    struct pfi_ifd ifd;

    if (!pfi_ifd_header(&ifd, data, size, false))
        return;
    for (int n = 0; n < 8 && ifd.next; n++) {
        memset(fields, 0, sizeof(fields));
        for (int i = 0; i < N; i++)
            fields[i].tag = tags[i];
        pfi_ifd_read(&ifd, fields, N);
        for (int i = 0; i < N; i++)
            read_values(&ifd, &fields[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    const uint32_t bits = fuzz_below(&input, 256);
    const size_t cut = fuzz_below(&input, 1 << 16) % (input.left + 1);
    /* XMP is what lies behind the cut. */
    const struct pfi_exif info = {
        .exif = bits & 1 ? input.at : NULL,
        .exif_size = bits & 1 ? cut : 0,
        .bare = bits >> 1 & 1,
        .xmp = bits >> 2 & 1 ? input.at + cut : NULL,
        .xmp_size = bits >> 2 & 1 ? input.left - cut : 0,
        .xmp_is_text = bits >> 3 & 1,
        .lenient = bits >> 4 & 1,
    };
    int32_t orientation = 0;
    pinfold_error err;

    pfi_error_clear(&err);
    if (!pfi_exif_orientation(&info, "JPEG", &orientation, &err))
        fuzz_require(orientation >= 0 && orientation <= 8, "an orientation");
    read_directories(input.at, input.left);
    return 0;
}
