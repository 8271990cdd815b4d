/* SPDX-License-Identifier: Apache-2.0
 * Checks a recipe and fills in its defaults. */
#include "transforms/recipe.h"

#include <math.h>

#include "src/base/cpu.h"
#include "src/base/memory.h"

/* pixels: PIL.Image's 2 * MAX_IMAGE_PIXELS; file: more than so many pixels of
 * four 16-bit samples, uncompressed (1.4 GB); ancillary: PngImagePlugin's
 * MAX_TEXT_CHUNK. */
static const struct pfi_limits default_limits = {.file = (uint64_t)2 << 30,
                                                 .pixels = 178956970,
                                                 .scratch = (uint64_t)2 << 30,
                                                 .ancillary = 1 << 20,
                                                 .scans = 256,
                                                 .side = 1 << 24};

static const float imagenet_mean[3] = {0.485f, 0.456f, 0.406f};
static const float imagenet_stddev[3] = {0.229f, 0.224f, 0.225f};

size_t pfi_dtype_size(pinfold_dtype dtype)
{
    switch (dtype) {
    case PINFOLD_F32: return 4;
    case PINFOLD_F16:
    case PINFOLD_BF16: return 2;
    case PINFOLD_U8: break;
    }
    return 1;
}

static pinfold_status check_enum(const char *name, long value, long last,
                                 pinfold_error *err)
{
    if (value < 0 || value > last)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0, "%s is %ld, not 0 to %ld",
                        name, value, last);
    return PINFOLD_OK;
}

static pinfold_status check_enums(const pinfold_recipe *r, pinfold_error *err)
{
    pinfold_status status =
        check_enum("filter", (long)r->filter, PINFOLD_LANCZOS, err);

    if (!status)
        status = check_enum("pillow", (long)r->pillow, PINFOLD_PILLOW_12, err);
    if (!status)
        status = check_enum("dtype", (long)r->dtype, PINFOLD_BF16, err);
    if (!status)
        status = check_enum("layout", (long)r->layout, PINFOLD_NHWC, err);
    if (!status)
        status = check_enum("scale", (long)r->scale, PINFOLD_MULTIPLY, err);
    if (!status)
        status = check_enum("cpu_level", (int32_t)r->cpu_level, PINFOLD_CPU_NEON,
                            err);
    if (!status)
        status = check_enum("jpeg", (long)r->jpeg, PINFOLD_JPEG_LIBJPEG, err);
    if (!status)
        status = check_enum("exif", r->exif, 1, err);
    if (!status)
        status = check_enum("random_crop", r->random_crop, 1, err);
    if (!status)
        status = check_enum("full_decode", r->full_decode, 1, err);
    return status;
}

static pinfold_status take_short(struct pfi_recipe *out,
                                 const pinfold_recipe *r, pinfold_error *err)
{
    if (r->resize_short < PINFOLD_OFF || r->max_size < 0)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "resize_short is %d and max_size %d", r->resize_short,
                        r->max_size);
    if (r->resize_short == PINFOLD_OFF) {
        out->resize = PFI_RESIZE_NONE;
        if (r->max_size)
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "max_size needs a resize to the shorter side");
        return PINFOLD_OK;
    }
    out->resize = PFI_RESIZE_SHORT;
    out->resize_short = r->resize_short ? r->resize_short : 256;
    out->max_size = r->max_size;
    if (out->max_size && out->max_size <= out->resize_short)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "max_size %d must be above the shorter side %d",
                        out->max_size, out->resize_short);
    return PINFOLD_OK;
}

/* A random crop is resized to the crop's size. */
static pinfold_status take_random_crop(struct pfi_recipe *out,
                                       const pinfold_recipe *r,
                                       pinfold_error *err)
{
    if (r->resize_short || r->resize_height || r->resize_width || r->max_size)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "a random crop takes the place of the resize");
    if (r->crop_height < 0)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "a random crop needs a size, crop_height is %d",
                        r->crop_height);
    out->resize = PFI_RESIZE_EXACT;
    out->resize_height = r->crop_height ? r->crop_height : 224;
    out->resize_width = r->crop_width ? r->crop_width : out->resize_height;
    return PINFOLD_OK;
}

static pinfold_status take_range(double out[2], const double given[2],
                                 double least, double most, double limit,
                                 const char *name, pinfold_error *err)
{
    const bool none = given[0] == 0.0 && given[1] == 0.0;

    out[0] = none ? least : given[0];
    out[1] = none ? most : given[1];
    /* Written so that NaN is refused. */
    if (!(out[0] > 0.0) || !(out[0] <= out[1]) || !(out[1] <= limit))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "%s is %g to %g, not above 0, rising, up to %g", name,
                        given[0], given[1], limit);
    return PINFOLD_OK;
}

static pinfold_status take_random(struct pfi_recipe *out,
                                  const pinfold_recipe *r, pinfold_error *err)
{
    pinfold_status status = PINFOLD_OK;

    out->random_crop = r->random_crop != 0;
    out->random_seed = r->random_seed;
    out->flip = r->flip;
    if (!(r->flip >= 0.0f && r->flip <= 1.0f))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "flip is %g, not a probability", (double)r->flip);
    if (out->random_crop)
        status = take_range(out->area, r->random_area, 0.08, 1.0, 1.0,
                            "random_area", err);
    if (!status && out->random_crop)
        status = take_range(out->aspect, r->random_aspect, 3.0 / 4.0, 4.0 / 3.0,
                            1e6, "random_aspect", err);
    return status;
}

static pinfold_status take_resize(struct pfi_recipe *out,
                                  const pinfold_recipe *r, pinfold_error *err)
{
    if (r->random_crop)
        return take_random_crop(out, r, err);
    if (!r->resize_height && !r->resize_width)
        return take_short(out, r, err);
    if (r->resize_height < 1 || r->resize_width < 1)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "resize_height is %d and resize_width %d: both or none",
                        r->resize_height, r->resize_width);
    if (r->resize_short > 0 || r->max_size)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "a resize to %dx%d goes with neither a shorter side "
                        "nor max_size",
                        r->resize_height, r->resize_width);
    out->resize = PFI_RESIZE_EXACT;
    out->resize_height = r->resize_height;
    out->resize_width = r->resize_width;
    return PINFOLD_OK;
}

static pinfold_status take_crop(struct pfi_recipe *out, const pinfold_recipe *r,
                                pinfold_error *err)
{
    const bool off = r->random_crop ||
                     (r->crop_height == PINFOLD_OFF &&
                      (!r->crop_width || r->crop_width == PINFOLD_OFF));

    out->crop = !off;
    if (off && out->resize != PFI_RESIZE_EXACT)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "without a crop the pictures differ in size and cannot "
                        "make a batch: give a crop, or a height and width to "
                        "resize to");
    if (off) {
        out->height = out->resize_height;
        out->width = out->resize_width;
        return PINFOLD_OK;
    }
    if (r->crop_height < 0 || r->crop_width < 0 ||
        (r->crop_width && !r->crop_height))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "crop_height is %d and crop_width %d", r->crop_height,
                        r->crop_width);
    out->height = r->crop_height ? r->crop_height : 224;
    out->width = r->crop_width ? r->crop_width : out->height;
    return PINFOLD_OK;
}

static pinfold_status take_norm(struct pfi_recipe *out, const pinfold_recipe *r,
                                pinfold_error *err)
{
    bool given = false;

    for (int c = 0; c < 3; c++)
        given = given || r->mean[c] != 0.0f || r->stddev[c] != 0.0f;
    for (int c = 0; c < 3; c++) {
        out->mean[c] = given ? r->mean[c] : imagenet_mean[c];
        out->stddev[c] = given ? r->stddev[c] : imagenet_stddev[c];
        if (out->stddev[c] == 0.0f)
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "stddev of channel %d is 0", c);
        if (!isfinite(out->mean[c]) || !isfinite(out->stddev[c]))
            return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                            "mean or stddev of channel %d is not finite", c);
    }
    return PINFOLD_OK;
}

static pinfold_status take_size(struct pfi_recipe *out,
                                const pinfold_recipe *r, pinfold_error *err)
{
    const int32_t alignment = r->plane_alignment ? r->plane_alignment : 1;
    const size_t gap = (size_t)alignment - 1, size = pfi_dtype_size(out->dtype);
    size_t bytes;

    if (alignment < 0 || alignment > 256 || (alignment & (alignment - 1)))
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "plane_alignment is %d, not a power of two up to 256",
                        r->plane_alignment);
    if (!pfi_mul((size_t)out->height, (size_t)out->width, &out->plane) ||
        !pfi_mul(out->plane, size, &bytes) || !pfi_add(bytes, gap, &bytes) ||
        bytes > SIZE_MAX / 16)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "a sample of %d x %d does not fit in memory",
                        out->height, out->width);
    if (out->layout == PINFOLD_NCHW)
        out->plane = (bytes & ~gap) / size;
    out->sample_bytes = 3 * out->plane * size;
    return PINFOLD_OK;
}

static pinfold_status take_limits(struct pfi_limits *out,
                                  const pinfold_recipe *r, pinfold_error *err)
{
    if (r->max_scans < 0 || r->max_side < 0)
        return pfi_fail(err, PINFOLD_E_ARGUMENT, 0,
                        "max_scans is %d and max_side %d", r->max_scans,
                        r->max_side);
    *out = default_limits;
    out->whole = r->full_decode != 0;
    out->libjpeg = r->jpeg == PINFOLD_JPEG_LIBJPEG;
    out->cpu_level = (int32_t)r->cpu_level;
    if (r->max_file)
        out->file = r->max_file;
    if (r->max_pixels)
        out->pixels = r->max_pixels;
    if (r->max_scratch)
        out->scratch = r->max_scratch;
    if (r->max_ancillary)
        out->ancillary = r->max_ancillary;
    if (r->max_scans)
        out->scans = r->max_scans;
    if (r->max_side)
        out->side = r->max_side;
    return PINFOLD_OK;
}

static pinfold_status check_side(const struct pfi_recipe *r, pinfold_error *err)
{
    const int32_t side = r->height > r->width ? r->height : r->width;

    if (side > r->limits.side)
        return pfi_fail(err, PINFOLD_E_LIMIT, 0,
                        "an output of %d x %d pixels, limit of a side %d",
                        r->width, r->height, r->limits.side);
    return PINFOLD_OK;
}

pinfold_status pfi_recipe_resolve(struct pfi_recipe *out,
                                  const pinfold_recipe *recipe,
                                  pinfold_error *err)
{
    pinfold_recipe r = pinfold_recipe_default();
    pinfold_status status = PINFOLD_OK;

    if (recipe)
        status = pfi_struct_in(&r, sizeof(r), PFI_SIZE_WITH(pinfold_recipe, jpeg),
                               recipe, err);
    if (!status)
        status = check_enums(&r, err);
    if (status)
        return status;
    *out = (struct pfi_recipe){
        .filter = r.filter,
        .pillow = r.pillow,
        .dtype = r.dtype,
        .layout = r.layout,
        .scale = r.scale,
        .exif = r.exif != 0,
        .cpu_level = (int32_t)r.cpu_level,
    };
    status = take_limits(&out->limits, &r, err);
    if (!status)
        status = take_random(out, &r, err);
    if (!status)
        status = take_resize(out, &r, err);
    if (!status)
        status = take_crop(out, &r, err);
    if (!status)
        status = take_norm(out, &r, err);
    if (!status)
        status = take_size(out, &r, err);
    return status ? status : check_side(out, err);
}
