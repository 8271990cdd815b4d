/* SPDX-License-Identifier: Apache-2.0
 * Which pixels Pillow takes from a TIFF, and what it calls them: OPEN_INFO of
 * TiffImagePlugin.py, 13.0.0, one row for both byte orders where they agree. */
#include "src/codec/tiff_header.h"

static const struct {
    char order; /* 'I' or 'M'; 0 = either */
    unsigned char photometric, format, fill, bits, samples, extras;
    int16_t extra; /* the first; the others are 0 */
    const char *mode, *raw;
} rows[] = {
    /* order, photometric, format, fill, bits, samples, extras, extra */
    {0, 0, 1, 1, 1, 1, 0, 0, "1", "1;I"},
    {0, 0, 1, 2, 1, 1, 0, 0, "1", "1;IR"},
    {0, 1, 1, 1, 1, 1, 0, 0, "1", "1"},
    {0, 1, 1, 2, 1, 1, 0, 0, "1", "1;R"},
    {0, 0, 1, 1, 2, 1, 0, 0, "L", "L;2I"},
    {0, 0, 1, 2, 2, 1, 0, 0, "L", "L;2IR"},
    {0, 1, 1, 1, 2, 1, 0, 0, "L", "L;2"},
    {0, 1, 1, 2, 2, 1, 0, 0, "L", "L;2R"},
    {0, 0, 1, 1, 4, 1, 0, 0, "L", "L;4I"},
    {0, 0, 1, 2, 4, 1, 0, 0, "L", "L;4IR"},
    {0, 1, 1, 1, 4, 1, 0, 0, "L", "L;4"},
    {0, 1, 1, 2, 4, 1, 0, 0, "L", "L;4R"},
    {0, 0, 1, 1, 8, 1, 0, 0, "L", "L;I"},
    {0, 0, 1, 2, 8, 1, 0, 0, "L", "L;IR"},
    {0, 1, 1, 1, 8, 1, 0, 0, "L", "L"},
    {0, 1, 2, 1, 8, 1, 0, 0, "L", "L"},
    {0, 1, 1, 2, 8, 1, 0, 0, "L", "L;R"},
    {'I', 1, 1, 1, 12, 1, 0, 0, "I;16", "I;12"},
    {'I', 0, 1, 1, 16, 1, 0, 0, "I;16", "I;16"},
    {'I', 1, 1, 1, 16, 1, 0, 0, "I;16", "I;16"},
    {'M', 1, 1, 1, 16, 1, 0, 0, "I;16B", "I;16B"},
    {'I', 1, 1, 2, 16, 1, 0, 0, "I;16", "I;16R"},
    {'I', 1, 2, 1, 16, 1, 0, 0, "I", "I;16S"},
    {'M', 1, 2, 1, 16, 1, 0, 0, "I", "I;16BS"},
    {'I', 0, 3, 1, 32, 1, 0, 0, "F", "F;32F"},
    {'M', 0, 3, 1, 32, 1, 0, 0, "F", "F;32BF"},
    {'I', 1, 1, 1, 32, 1, 0, 0, "I", "I;32N"},
    {'I', 1, 2, 1, 32, 1, 0, 0, "I", "I;32S"},
    {'M', 1, 2, 1, 32, 1, 0, 0, "I", "I;32BS"},
    {'I', 1, 3, 1, 32, 1, 0, 0, "F", "F;32F"},
    {'M', 1, 3, 1, 32, 1, 0, 0, "F", "F;32BF"},
    {0, 1, 1, 1, 8, 2, 1, 0, "L", "LX"},
    {0, 1, 1, 1, 8, 2, 1, 1, "La", "La"},
    {0, 1, 1, 1, 8, 2, 1, 2, "LA", "LA"},
    {0, 2, 1, 1, 8, 3, 0, 0, "RGB", "RGB"},
    {0, 2, 1, 2, 8, 3, 0, 0, "RGB", "RGB;R"},
    {0, 2, 1, 1, 8, 4, 0, 0, "RGBA", "RGBA"},
    {0, 2, 1, 1, 8, 4, 1, 0, "RGB", "RGBX"},
    {0, 2, 1, 1, 8, 5, 2, 0, "RGB", "RGBXX"},
    {0, 2, 1, 1, 8, 6, 3, 0, "RGB", "RGBXXX"},
    {0, 2, 1, 1, 8, 4, 1, 1, "RGBA", "RGBa"},
    {0, 2, 1, 1, 8, 5, 2, 1, "RGBA", "RGBaX"},
    {0, 2, 1, 1, 8, 6, 3, 1, "RGBA", "RGBaXX"},
    {0, 2, 1, 1, 8, 4, 1, 2, "RGBA", "RGBA"},
    {0, 2, 1, 1, 8, 5, 2, 2, "RGBA", "RGBAX"},
    {0, 2, 1, 1, 8, 6, 3, 2, "RGBA", "RGBAXX"},
    {0, 2, 1, 1, 8, 4, 1, 999, "RGBA", "RGBA"},
    {'I', 2, 1, 1, 16, 3, 0, 0, "RGB", "RGB;16L"},
    {'M', 2, 1, 1, 16, 3, 0, 0, "RGB", "RGB;16B"},
    {'I', 2, 1, 1, 16, 4, 0, 0, "RGBA", "RGBA;16L"},
    {'M', 2, 1, 1, 16, 4, 0, 0, "RGBA", "RGBA;16B"},
    {'I', 2, 1, 1, 16, 4, 1, 0, "RGB", "RGBX;16L"},
    {'M', 2, 1, 1, 16, 4, 1, 0, "RGB", "RGBX;16B"},
    {'I', 2, 1, 1, 16, 4, 1, 1, "RGBA", "RGBa;16L"},
    {'M', 2, 1, 1, 16, 4, 1, 1, "RGBA", "RGBa;16B"},
    {'I', 2, 1, 1, 16, 4, 1, 2, "RGBA", "RGBA;16L"},
    {'M', 2, 1, 1, 16, 4, 1, 2, "RGBA", "RGBA;16B"},
    {0, 3, 1, 1, 1, 1, 0, 0, "P", "P;1"},
    {0, 3, 1, 2, 1, 1, 0, 0, "P", "P;1R"},
    {0, 3, 1, 1, 2, 1, 0, 0, "P", "P;2"},
    {0, 3, 1, 2, 2, 1, 0, 0, "P", "P;2R"},
    {0, 3, 1, 1, 4, 1, 0, 0, "P", "P;4"},
    {0, 3, 1, 2, 4, 1, 0, 0, "P", "P;4R"},
    {0, 3, 1, 1, 8, 1, 0, 0, "P", "P"},
    {0, 3, 1, 1, 8, 2, 1, 0, "P", "PX"},
    {0, 3, 1, 1, 8, 2, 1, 2, "PA", "PA"},
    {0, 3, 1, 2, 8, 1, 0, 0, "P", "P;R"},
    {0, 5, 1, 1, 8, 4, 0, 0, "CMYK", "CMYK"},
    {0, 5, 1, 1, 8, 5, 1, 0, "CMYK", "CMYKX"},
    {0, 5, 1, 1, 8, 6, 2, 0, "CMYK", "CMYKXX"},
    {'I', 5, 1, 1, 16, 4, 0, 0, "CMYK", "CMYK;16L"},
    {'M', 5, 1, 1, 16, 4, 0, 0, "CMYK", "CMYK;16B"},
    {0, 6, 1, 1, 8, 1, 0, 0, "L", "L"},
    {0, 6, 1, 1, 8, 3, 0, 0, "YCbCr", "YCbCr"},
    {0, 8, 1, 1, 8, 3, 0, 0, "LAB", "LAB"},
};

bool pfi_tiff_mode(const struct pfi_tiff_key *key, const char **mode,
                   const char **raw)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if ((rows[i].order && rows[i].order != key->order) ||
            rows[i].photometric != key->photometric ||
            rows[i].format != key->format || rows[i].fill != key->fill ||
            rows[i].bits != key->bits || rows[i].samples != key->samples ||
            rows[i].extras != key->extras || rows[i].extra != key->extra)
            continue;
        *mode = rows[i].mode;
        *raw = rows[i].raw;
        return true;
    }
    return false;
}
