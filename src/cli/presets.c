/* SPDX-License-Identifier: Apache-2.0
 * pinfold presets: the weights that --preset knows, and what each means. */
#include "src/cli/describe.h"
#include "src/cli/run.h"
#include "src/cli/text.h"

static void print_channels(const char *before, const float values[3],
                           const char *after)
{
    (void)printf("%s%.9g,%.9g,%.9g%s", before, (double)values[0],
                 (double)values[1], (double)values[2], after);
}

static void in_words(const pinfold_preset *preset, const pinfold_recipe *r)
{
    if (preset->why_not) {
        (void)printf("%-48s   %s\n", preset->name, preset->why_not);
        return;
    }
    (void)printf("%-48s %c %4d %4d  %-8s  ", preset->name,
                 preset->model_default ? '*' : ' ', r->resize_short,
                 r->crop_height, pfi_cli_filter_name(r->filter));
    (void)printf("%g,%g,%g  %g,%g,%g", (double)r->mean[0], (double)r->mean[1],
                 (double)r->mean[2], (double)r->stddev[0], (double)r->stddev[1],
                 (double)r->stddev[2]);
    if (preset->accuracy > 0)
        (void)printf("  %.3f", preset->accuracy);
    (void)puts("");
}

static void in_json(const pinfold_preset *preset, const pinfold_recipe *r)
{
    (void)printf("{\"name\":\"%s\",\"source\":\"%s\",", preset->name,
                 preset->source);
    if (preset->why_not) {
        (void)fputs("\"why_not\":", stdout);
        pfi_cli_print_json(stdout, preset->why_not);
        (void)puts("}");
        return;
    }
    (void)printf("\"resize\":%d,\"crop\":%d,\"filter\":\"%s\",",
                 r->resize_short, r->crop_height,
                 pfi_cli_filter_name(r->filter));
    print_channels("\"mean\":[", r->mean, "],");
    print_channels("\"std\":[", r->stddev, "],");
    if (preset->accuracy > 0)
        (void)printf("\"accuracy\":%.3f,", preset->accuracy);
    (void)printf("\"model_default\":%s}\n",
                 preset->model_default ? "true" : "false");
}

int pfi_cli_presets(const struct pfi_cli_options *o)
{
    if (!o->json)
        (void)printf("%-48s   %4s %4s  %-8s  mean  std  ImageNet top 1\n",
                     "name (* = the model's name alone means it)", "size",
                     "crop", "filter");
    for (int64_t i = 0; i < pinfold_preset_count(); i++) {
        pinfold_preset preset = {.struct_size = sizeof(preset)};
        pinfold_recipe recipe = pinfold_recipe_default();

        pinfold_preset_get(i, &preset);
        if (!preset.why_not &&
            pinfold_recipe_preset(&recipe, preset.name, NULL))
            return PFI_CLI_FAILED;
        (o->json ? in_json : in_words)(&preset, &recipe);
    }
    return PFI_CLI_OK;
}
