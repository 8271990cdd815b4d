/* SPDX-License-Identifier: Apache-2.0
 * The tiles of a contact sheet, from the library. */
#include <stdlib.h>
#include <string.h>

#include "src/cli/describe.h"
#include "src/cli/progress.h"
#include "src/cli/run.h"
#include "src/cli/sample_file.h"
#include "src/cli/sheet.h"
#include "src/cli/text.h"
#include "src/cli/written.h"

/* Samples that are read at once, between looks for signals. */
enum { AT_ONCE = 32 };

struct maker {
    struct pfi_cli_sheet *sheet;
    const pinfold_dataset *dataset;
    const struct pfi_cli_options *o;
    pinfold_recipe recipe;
    pinfold_pool *pool; /* NULL = the calling thread */
    size_t bytes;       /* of a sample */
};

static uint64_t seed_of(const struct maker *m, const struct pfi_cli_tile *tile)
{
    return pinfold_sample_seed(m->o->loader.seed, m->o->epoch, tile->index);
}

static int no_memory(void)
{
    (void)fputs("pinfold: out of memory for the sheet\n", stderr);
    return PFI_CLI_FAILED;
}

/* ------------------------------------------------------- the whole picture ---
 */

static int32_t fitted(double side)
{
    return side < 1 ? 1 : (int32_t)(side + 0.5);
}

/* The recipe that makes the whole picture fit a pane. */
static pinfold_recipe whole_recipe(const struct maker *m,
                                   const pinfold_plan *plan)
{
    const double across = (double)m->sheet->width / plan->width;
    const double down = (double)m->sheet->height / plan->height;
    const double scale = across < down ? across : down;
    pinfold_recipe whole = m->recipe;

    whole.resize_short = whole.max_size = whole.random_crop = 0;
    whole.flip = 0;
    whole.resize_width = fitted(plan->width * scale);
    whole.resize_height = fitted(plan->height * scale);
    whole.crop_height = PINFOLD_OFF;
    whole.crop_width = 0;
    return whole;
}

/* Where the crop's sides lie in the whole picture; beside it where it is
 * padded.
 */
static void place_crop(struct pfi_cli_tile *tile, const pinfold_plan *p)
{
    const double across = (double)p->region_width / p->resized_width;
    const double down = (double)p->region_height / p->resized_height;
    const double left = p->region_left + across * (p->crop_left - p->pad_left);
    const double top = p->region_top + down * (p->crop_top - p->pad_top);

    tile->crop[0] = left / p->width;
    tile->crop[1] = top / p->height;
    tile->crop[2] = (left + across * p->output_width) / p->width;
    tile->crop[3] = (top + down * p->output_height) / p->height;
}

static pinfold_status make_before(const struct maker *m,
                                  struct pfi_cli_tile *tile, const void *file,
                                  size_t size, pinfold_error *err)
{
    pinfold_plan plan = {.struct_size = sizeof(plan)};
    pinfold_recipe recipe = m->recipe;
    pinfold_status status;

    recipe.random_seed = seed_of(m, tile);
    status = pinfold_plan_picture(&recipe, file, size, &plan, err);
    if (status)
        return status;
    place_crop(tile, &plan);
    recipe = whole_recipe(m, &plan);
    if (!pfi_cli_image_make(&tile->before, recipe.resize_width,
                            recipe.resize_height)) {
        (void)strcpy(err->message, "no memory for the whole picture");
        return PINFOLD_E_MEMORY;
    }
    return pinfold_preprocess(
        &recipe, file, size, tile->before.rgb,
        (size_t)recipe.resize_width * (size_t)recipe.resize_height * 3, err);
}

/* What the model sees is made by now, so the picture is a good one; where the
 * rest of it is not, the pane stays empty. */
static pinfold_status open_before(const struct maker *m,
                                  struct pfi_cli_tile *tile, pinfold_error *err)
{
    size_t size;
    void *const file = pfi_cli_sample_read(
        m->dataset, tile->index, m->recipe.max_file, &size, err);
    pinfold_status status;

    if (!file)
        return err->status;
    status = make_before(m, tile, file, size, err);
    if (status)
        pfi_cli_image_free(&tile->before);
    free(file);
    return status == PINFOLD_E_MEMORY ? status : PINFOLD_OK;
}

/* ----------------------------------------------------------- what is seen ---
 */

/* Once more, for the reason: the batch call tells only a status, or a message
 * that names the file, as the label does already.  What failed by chance is a
 * good sample then. */
static pinfold_status make_again(const struct maker *m,
                                 struct pfi_cli_tile *tile,
                                 unsigned char *sample, pinfold_error *err)
{
    pinfold_recipe recipe = m->recipe;
    pinfold_status status;
    size_t size;
    void *const file = pfi_cli_sample_read(
        m->dataset, tile->index, m->recipe.max_file, &size, err);

    recipe.random_seed = seed_of(m, tile);
    status =
        file ? pinfold_preprocess(&recipe, file, size, sample, m->bytes, err)
             : err->status;
    free(file);
    return status;
}

static int take_sample(const struct maker *m, struct pfi_cli_tile *tile,
                       unsigned char *sample, pinfold_status status)
{
    const int64_t label = pinfold_dataset_label(m->dataset, tile->index);
    const char *const path = pinfold_dataset_path(m->dataset, tile->index);
    pinfold_error err;

    pfi_cli_label(tile->name, pfi_cli_base_name(path));
    pfi_cli_label(tile->what, pinfold_dataset_class_name(m->dataset, label));
    if (status)
        status = make_again(m, tile, sample, &err);
    if (!status && m->sheet->before)
        status = open_before(m, tile, &err);
    if (status) {
        pfi_cli_label(tile->wrong, err.message);
        return PFI_CLI_OK;
    }
    if (!pfi_cli_image_make(&tile->after, m->sheet->width, m->sheet->height))
        return no_memory();
    memcpy(tile->after.rgb, sample, m->bytes);
    return PFI_CLI_OK;
}

void pfi_cli_tile_tell(const struct pfi_cli_tile *tile,
                       const pinfold_dataset *dataset)
{
    pfi_cli_tell_bad(dataset, tile->index, tile->wrong);
}

/* Samples [from, from + n) of the sheet. */
static int read_some(const struct maker *m, const int64_t *indices,
                     int64_t from, int64_t n, unsigned char *samples)
{
    pinfold_status statuses[AT_ONCE];
    const pinfold_read_options options = {.struct_size = sizeof(options),
                                          .pool = m->pool,
                                          .statuses = statuses,
                                          .seed = m->o->loader.seed,
                                          .epoch = m->o->epoch};
    pinfold_error err;
    int code = PFI_CLI_OK;

    if (pinfold_read(m->dataset, &m->recipe, indices + from, n, samples,
                     m->bytes * (size_t)n, &options, &err))
        return pfi_cli_fail(&err);
    for (int64_t i = 0; !code && i < n; i++) {
        m->sheet->tiles[from + i].index = indices[from + i];
        code = take_sample(m, &m->sheet->tiles[from + i],
                           samples + (size_t)i * m->bytes, statuses[i]);
    }
    return code;
}

static int read_all(const struct maker *m, const int64_t *indices, int64_t n)
{
    unsigned char *const samples = malloc(m->bytes * AT_ONCE);
    struct pfi_cli_bar bar;
    int code = samples ? PFI_CLI_OK : no_memory();

    pfi_cli_bar_start(&bar, m->o, n);
    for (int64_t i = 0; !code && i < n; i += AT_ONCE) {
        const int64_t some = n - i < AT_ONCE ? n - i : AT_ONCE;

        code = pfi_cli_signal() ? PFI_CLI_FAILED
                                : read_some(m, indices, i, some, samples);
        pfi_cli_bar_add(&bar, some);
    }
    pfi_cli_bar_end(&bar);
    free(samples);
    return code || !pfi_cli_signal() ? code : PFI_CLI_FAILED;
}

/* "photos: Resize(256, bilinear), CenterCrop(224), PILToTensor". */
static bool describe(const struct maker *m)
{
    struct pfi_cli_written written;
    FILE *const out = pfi_cli_written_open(&written);
    pinfold_recipe recipe = m->recipe;
    char root[PFI_CLI_LABEL], *text;

    if (!out)
        return false;
    recipe.layout = PINFOLD_NCHW;
    pfi_cli_label(root, pinfold_dataset_root(m->dataset));
    pfi_cli_shorten_name(root, 60);
    (void)fprintf(out, "%s: ", root);
    pfi_cli_describe_words(out, &recipe);
    text = pfi_cli_written_close(&written, out);
    (void)snprintf(m->sheet->caption, PFI_CLI_LABEL, "%s", text ? text : "");
    free(text);
    return text != NULL;
}

/* Before the samples are read in vain. */
static int check_size(const struct maker *m)
{
    struct pfi_cli_layout layout;

    pfi_cli_sheet_lay(&layout, m->sheet, 0);
    if (m->o->sheet.term || pfi_cli_image_fits(layout.width, layout.height))
        return PFI_CLI_OK;
    pfi_cli_say("pinfold: a sheet of %d x %d pixels is too large; --count and "
                "--crop make it smaller",
                layout.width, layout.height);
    return PFI_CLI_FAILED;
}

int pfi_cli_sheet_make(struct pfi_cli_sheet *sheet,
                       const pinfold_dataset *dataset,
                       const struct pfi_cli_options *o, const int64_t *indices,
                       int64_t n)
{
    struct maker m = {sheet, dataset, o, o->recipe, NULL, 0};
    const int32_t workers = o->loader.workers;
    pinfold_error err;
    int64_t shape[4];
    int code;

    m.recipe.dtype = PINFOLD_U8;
    m.recipe.layout = PINFOLD_NHWC;
    *sheet = (struct pfi_cli_sheet){
        .before = o->sheet.before, .columns = sheet->columns, .n = n};
    if (pinfold_recipe_size(&m.recipe, 1, &m.bytes, shape, &err))
        return pfi_cli_fail(&err);
    sheet->height = (int32_t)shape[1];
    sheet->width = (int32_t)shape[2];
    if (check_size(&m))
        return PFI_CLI_FAILED;
    if (workers != PINFOLD_OFF && pinfold_pool_open(&m.pool, workers, &err))
        return pfi_cli_fail(&err);
    sheet->tiles = calloc((size_t)n, sizeof(*sheet->tiles));
    code =
        sheet->tiles && describe(&m) ? read_all(&m, indices, n) : no_memory();
    pinfold_pool_close(m.pool);
    return code;
}

void pfi_cli_sheet_free(struct pfi_cli_sheet *sheet)
{
    for (int64_t i = 0; sheet->tiles && i < sheet->n; i++) {
        pfi_cli_image_free(&sheet->tiles[i].after);
        pfi_cli_image_free(&sheet->tiles[i].before);
    }
    free(sheet->tiles);
    *sheet = (struct pfi_cli_sheet){0};
}
