/* SPDX-License-Identifier: Apache-2.0
 * Staged bytes to a batch's elements: the kernel only looks up what the CPU
 * tabulated, so that no division or rounding of the device's matters.
 * scripts/make-ptx compiles it for PFI_ELEMENT of 2 and of 4 bytes. */

/* `staged` holds the tables of three channels, 1024 bytes each; at `good` a
 * byte a sample, 0 for one that is zeroed; at `pixels` n_pixels RGB pixels a
 * sample.  Element (sample n, channel c, pixel i) of `dst` is
 * 3 * n * plane + c * channel_step + i * pixel_step.  Pixels from n_pixels to
 * `plane`, which is below 2^31, are the gaps between channels and become 0.
 *
 * Any grid of at most 2^31 threads in x does: x are pixels, y samples. */
extern "C" __global__ void
pfi_normalize(PFI_ELEMENT *dst, const unsigned char *staged,
              unsigned long long good, unsigned long long pixels,
              unsigned count, unsigned n_pixels, unsigned plane,
              unsigned channel_step, unsigned pixel_step)
{
    const PFI_ELEMENT *const table =
        reinterpret_cast<const PFI_ELEMENT *>(staged);
    const unsigned table_step = 1024 / sizeof(PFI_ELEMENT);
    const unsigned step = gridDim.x * blockDim.x;

    for (unsigned n = blockIdx.y; n < count; n += gridDim.y) {
        const unsigned char *const rgb = staged + pixels + 3ull * n * n_pixels;
        PFI_ELEMENT *const out = dst + 3ull * n * plane;
        const unsigned n_good = staged[good + n] ? n_pixels : 0;

        for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < plane;
             i += step) {
            PFI_ELEMENT *to = out + (unsigned long long)i * pixel_step;
            PFI_ELEMENT value[3] = {0, 0, 0};

            if (i < n_good)
                for (unsigned c = 0; c < 3; c++)
                    value[c] = table[c * table_step + rgb[3ull * i + c]];
            for (unsigned c = 0; c < 3; c++, to += channel_step)
                *to = value[c];
        }
    }
}
