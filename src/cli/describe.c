/* SPDX-License-Identifier: Apache-2.0
 * Recipes and exports for people and for programs. */
#include "src/cli/describe.h"

#include "src/cli/text.h"

const char *pfi_cli_dtype_name(pinfold_dtype dtype)
{
    static const char *const names[] = {"f32", "f16", "u8", "bf16"};

    return names[dtype];
}

const char *pfi_cli_filter_name(pinfold_filter filter)
{
    static const char *const names[] = {"bilinear", "nearest", "box",
                                        "hamming",  "bicubic", "lanczos"};

    return names[filter];
}

size_t pfi_cli_dtype_size(pinfold_dtype dtype)
{
    static const size_t sizes[] = {4, 2, 1, 2};

    return sizes[dtype];
}

static void write_resize(FILE *out, const pinfold_recipe *r)
{
    const char *const filter = pfi_cli_filter_name(r->filter);

    if (r->resize_height)
        (void)fprintf(out, "Resize((%d, %d), %s), ", r->resize_height,
                      r->resize_width, filter);
    else if (r->resize_short != PINFOLD_OFF && r->max_size)
        (void)fprintf(out, "Resize(%d, %s, max_size=%d), ", r->resize_short,
                      filter, r->max_size);
    else if (r->resize_short != PINFOLD_OFF)
        (void)fprintf(out, "Resize(%d, %s), ", r->resize_short, filter);
}

/* What a recipe's 0 stands for. */
static void random_ranges(const pinfold_recipe *r, double area[2],
                          double aspect[2])
{
    const bool plain_area = r->random_area[0] == 0 && r->random_area[1] == 0;
    const bool plain_aspect =
        r->random_aspect[0] == 0 && r->random_aspect[1] == 0;

    area[0] = plain_area ? 0.08 : r->random_area[0];
    area[1] = plain_area ? 1.0 : r->random_area[1];
    aspect[0] = plain_aspect ? 3.0 / 4.0 : r->random_aspect[0];
    aspect[1] = plain_aspect ? 4.0 / 3.0 : r->random_aspect[1];
}

static void write_random_crop(FILE *out, const pinfold_recipe *r)
{
    double area[2], aspect[2];

    random_ranges(r, area, aspect);
    (void)fprintf(
        out,
        "RandomResizedCrop((%d, %d), scale=(%.6g, %.6g), "
        "ratio=(%.6g, %.6g), %s), ",
        r->crop_height, r->crop_width ? r->crop_width : r->crop_height, area[0],
        area[1], aspect[0], aspect[1], pfi_cli_filter_name(r->filter));
}

static void write_geometry(FILE *out, const pinfold_recipe *r)
{
    if (r->exif)
        (void)fputs("exif_transpose, ", out);
    if (r->random_crop) {
        write_random_crop(out, r);
        return;
    }
    write_resize(out, r);
    if (r->crop_height != PINFOLD_OFF && r->crop_width)
        (void)fprintf(out, "CenterCrop((%d, %d)), ", r->crop_height,
                      r->crop_width);
    else if (r->crop_height != PINFOLD_OFF)
        (void)fprintf(out, "CenterCrop(%d), ", r->crop_height);
}

void pfi_cli_describe_words(FILE *out, const pinfold_recipe *r)
{
    write_geometry(out, r);
    if (r->flip > 0)
        (void)fprintf(out, "RandomHorizontalFlip(%.9g), ", (double)r->flip);
    if (r->dtype == PINFOLD_U8)
        (void)fputs("PILToTensor", out);
    else
        (void)fprintf(
            out, "%s, Normalize((%.9g, %.9g, %.9g), (%.9g, %.9g, %.9g))",
            r->scale == PINFOLD_MULTIPLY
                ? "ToImage, ToDtype(float32, scale=True)"
                : "ToTensor",
            (double)r->mean[0], (double)r->mean[1], (double)r->mean[2],
            (double)r->stddev[0], (double)r->stddev[1], (double)r->stddev[2]);
    if (r->dtype == PINFOLD_F16 || r->dtype == PINFOLD_BF16)
        (void)fputs(r->dtype == PINFOLD_F16 ? ", to float16" : ", to bfloat16",
                    out);
    if (r->layout == PINFOLD_NHWC)
        (void)fputs(", permute to NHWC", out);
}

void pfi_cli_describe_recipe(FILE *out, const pinfold_recipe *r)
{
    double area[2], aspect[2];

    (void)fprintf(
        out,
        "{\"resize_short\":%d,\"resize_height\":%d,"
        "\"resize_width\":%d,\"max_size\":%d,\"crop_height\":%d,"
        "\"crop_width\":%d,\"filter\":\"%s\",\"exif\":%s,"
        "\"mean\":[%.9g,%.9g,%.9g],\"std\":[%.9g,%.9g,%.9g],"
        "\"scale\":\"%s\",\"flip\":%.9g,\"random_crop\":",
        r->resize_short, r->resize_height, r->resize_width, r->max_size,
        r->crop_height, r->crop_width, pfi_cli_filter_name(r->filter),
        r->exif ? "true" : "false", (double)r->mean[0], (double)r->mean[1],
        (double)r->mean[2], (double)r->stddev[0], (double)r->stddev[1],
        (double)r->stddev[2],
        r->scale == PINFOLD_MULTIPLY ? "multiply" : "divide", (double)r->flip);
    random_ranges(r, area, aspect);
    if (r->random_crop)
        (void)fprintf(out, "{\"area\":[%.17g,%.17g],\"aspect\":[%.17g,%.17g]}}",
                      area[0], area[1], aspect[0], aspect[1]);
    else
        (void)fputs("null}", out);
}

void pfi_cli_describe_export(FILE *out, const struct pfi_cli_options *o,
                             const int64_t shape[4], long long bad)
{
    const pinfold_recipe *const r = &o->recipe;
    pinfold_info info = {.struct_size = sizeof(info)};

    pinfold_info_get(&info);
    (void)fprintf(out,
                  "\"schema\":1,\"pinfold\":\"%s\",\"libjpeg_turbo\":\"%s\","
                  "\"zlib\":\"%s\",\"pillow\":\"%s\",\"images\":%lld,"
                  "\"bad_samples\":%lld,\"dtype\":\"%s\",\"layout\":\"%s\","
                  "\"shape\":[%lld,%lld,%lld,%lld],\"recipe\":",
                  info.version, info.libjpeg_turbo, info.zlib,
                  r->pillow == PINFOLD_PILLOW_12 ? "12" : "13",
                  (long long)shape[0], bad, pfi_cli_dtype_name(r->dtype),
                  r->layout == PINFOLD_NHWC ? "nhwc" : "nchw",
                  (long long)shape[0], (long long)shape[1], (long long)shape[2],
                  (long long)shape[3]);
    pfi_cli_describe_recipe(out, r);
    (void)fputs(",\"steps\":\"", out); /* no character of these needs escapes */
    pfi_cli_describe_words(out, r);
    (void)fprintf(out, "\",\"shuffle\":%s,\"seed\":%llu,\"epoch\":%lld",
                  o->loader.shuffle ? "true" : "false",
                  (unsigned long long)o->loader.seed, o->epoch);
}

void pfi_cli_describe_classes(FILE *out, const char **names, int64_t n)
{
    (void)fputc('[', out);
    for (int64_t i = 0; i < n; i++) {
        if (i)
            (void)fputc(',', out);
        pfi_cli_print_json(out, names[i]);
    }
    (void)fputc(']', out);
}
