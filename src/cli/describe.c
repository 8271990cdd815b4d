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

void pfi_cli_describe_words(FILE *out, const pinfold_recipe *r)
{
    if (r->exif)
        (void)fputs("exif_transpose, ", out);
    write_resize(out, r);
    if (r->crop_height != PINFOLD_OFF && r->crop_width)
        (void)fprintf(out, "CenterCrop((%d, %d)), ", r->crop_height,
                      r->crop_width);
    else if (r->crop_height != PINFOLD_OFF)
        (void)fprintf(out, "CenterCrop(%d), ", r->crop_height);
    if (r->dtype == PINFOLD_U8)
        (void)fputs("PILToTensor", out);
    else
        (void)fprintf(out,
                      "ToTensor, Normalize((%.9g, %.9g, %.9g), (%.9g, %.9g, "
                      "%.9g))",
                      (double)r->mean[0], (double)r->mean[1],
                      (double)r->mean[2], (double)r->stddev[0],
                      (double)r->stddev[1], (double)r->stddev[2]);
    if (r->dtype == PINFOLD_F16 || r->dtype == PINFOLD_BF16)
        (void)fputs(r->dtype == PINFOLD_F16 ? ", to float16" : ", to bfloat16",
                    out);
    if (r->layout == PINFOLD_NHWC)
        (void)fputs(", permute to NHWC", out);
}

void pfi_cli_describe_recipe(FILE *out, const pinfold_recipe *r)
{
    (void)fprintf(out,
                  "{\"resize_short\":%d,\"resize_height\":%d,"
                  "\"resize_width\":%d,\"max_size\":%d,\"crop_height\":%d,"
                  "\"crop_width\":%d,\"filter\":\"%s\",\"exif\":%s,"
                  "\"mean\":[%.9g,%.9g,%.9g],\"std\":[%.9g,%.9g,%.9g]}",
                  r->resize_short, r->resize_height, r->resize_width,
                  r->max_size, r->crop_height, r->crop_width,
                  pfi_cli_filter_name(r->filter), r->exif ? "true" : "false",
                  (double)r->mean[0], (double)r->mean[1], (double)r->mean[2],
                  (double)r->stddev[0], (double)r->stddev[1],
                  (double)r->stddev[2]);
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

void pfi_cli_describe_classes(FILE *out, const pinfold_dataset *dataset)
{
    (void)fputc('[', out);
    for (int64_t i = 0; i < pinfold_dataset_class_count(dataset); i++) {
        if (i)
            (void)fputc(',', out);
        pfi_cli_print_json(out, pinfold_dataset_class_name(dataset, i));
    }
    (void)fputc(']', out);
}
