/* SPDX-License-Identifier: Apache-2.0
 * Trains a linear classifier of small pictures by SGD, with random crops and
 * flips, and tells after each epoch how many of the pictures that it was not
 * trained on, one in five, it gets right.  What it has learnt goes to the file
 * MODEL at the end, or after STEPS steps, where it stops; the next run goes on
 * from there and ends at the same weights, bit for bit.
 * usage: train ROOT MODEL EPOCHS [STEPS] */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pinfold/pinfold.h>

#define SIDE 16
#define FEATURES (3 * SIDE * SIDE + 1) /* the last is 1, for the bias */
#define BATCH 16
#define SEED 1
#define RATE 0.0005f
#define MOMENTUM 0.9f
#define HELD_OUT 5

/* All that the next step depends on; a file holds it, then the weights. */
struct progress {
    uint64_t magic;
    int64_t classes, samples; /* of the data set */
    int64_t epoch, steps;     /* the epoch that goes on, and all steps so far */
    int64_t state_size;       /* 0 = nothing was learnt yet */
    double loss;              /* of the epoch so far */
    unsigned char state[PINFOLD_STATE_MAX]; /* of the loader */
};

struct trainer {
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    struct progress progress;
    float *weights;  /* [classes][FEATURES], and as many of momentum behind */
    size_t n_values; /* of both */
    int64_t *train, *test; /* indices */
    int64_t n_train, n_test;
};

static const uint64_t magic = 0x314e494152544650; /* "PFTRAIN1" */

static void fail(const char *file, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", file, why);
    exit(1);
}

static void check(pinfold_status status, const pinfold_error *err)
{
    if (status >= 0)
        return;
    (void)fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void *room(size_t count, size_t size)
{
    void *const p = calloc(count, size);

    if (!p)
        fail("train", "not enough memory");
    return p;
}

static void save(const struct trainer *t, const char *path)
{
    char name[4096];
    FILE *file;

    /* A file that is there is a whole one. */
    if (snprintf(name, sizeof(name), "%s.part", path) >= (int)sizeof(name))
        fail(path, "the name is too long");
    if (!(file = fopen(name, "wb")) ||
        fwrite(&t->progress, sizeof(t->progress), 1, file) != 1 ||
        fwrite(t->weights, sizeof(float), t->n_values, file) != t->n_values ||
        fclose(file) || rename(name, path)) {
        perror(name);
        exit(1);
    }
}

/* Where there is no such file, all is at its beginning. */
static void restore(struct trainer *t, const char *path)
{
    const struct progress fresh = t->progress;
    FILE *const file = fopen(path, "rb");

    if (!file)
        return;
    if (fread(&t->progress, sizeof(t->progress), 1, file) != 1 ||
        t->progress.magic != magic || t->progress.state_size < 0 ||
        t->progress.state_size > PINFOLD_STATE_MAX)
        fail(path, "not a file of this program");
    if (t->progress.classes != fresh.classes ||
        t->progress.samples != fresh.samples)
        fail(path, "learnt from another data set");
    if (fread(t->weights, sizeof(float), t->n_values, file) != t->n_values ||
        fgetc(file) != EOF)
        fail(path, "cut short, or too long");
    (void)fclose(file);
}

static pinfold_recipe training_recipe(void)
{
    pinfold_recipe recipe = pinfold_recipe_default();

    recipe.crop_height = SIDE;
    recipe.random_crop = 1;
    recipe.random_area[0] = 0.5;
    recipe.random_area[1] = 1;
    recipe.flip = 0.5f;
    return recipe;
}

/* One sample in five of each class is kept for the test. */
static void split(struct trainer *t)
{
    int64_t in_class = 0, label = -1;

    t->train = room((size_t)t->progress.samples, sizeof(*t->train));
    t->test = room((size_t)t->progress.samples, sizeof(*t->test));
    for (int64_t i = 0; i < t->progress.samples; i++) {
        if (label != pinfold_dataset_label(t->dataset, i))
            in_class = 0;
        label = pinfold_dataset_label(t->dataset, i);
        if (in_class++ % HELD_OUT == HELD_OUT - 1)
            t->test[t->n_test++] = i;
        else
            t->train[t->n_train++] = i;
    }
}

static void open_trainer(struct trainer *t, const char *root, const char *path)
{
    const pinfold_recipe recipe = training_recipe();
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_order order = {.struct_size = sizeof(order)};
    pinfold_error err;

    check(pinfold_dataset_open(&t->dataset, root, NULL, &err), &err);
    t->progress =
        (struct progress){.magic = magic,
                          .classes = pinfold_dataset_class_count(t->dataset),
                          .samples = pinfold_dataset_size(t->dataset)};
    if (t->progress.classes < 2)
        fail(root, "one class: there is nothing to tell apart");
    t->n_values = 2 * (size_t)t->progress.classes * FEATURES;
    t->weights = room(t->n_values, sizeof(float));
    split(t);
    restore(t, path);

    order.sampler = PINFOLD_SAMPLER_SUBSET;
    order.indices = t->train;
    order.n_indices = t->n_train;
    options.recipe = &recipe;
    options.batch_size = BATCH;
    options.seed = SEED;
    options.order = &order;
    options.state = t->progress.state_size ? t->progress.state : NULL;
    options.state_size = (size_t)t->progress.state_size;
    check(pinfold_loader_open(&t->loader, t->dataset, &options, &err), &err);
}

static void close_trainer(struct trainer *t)
{
    pinfold_loader_close(t->loader);
    pinfold_dataset_close(t->dataset);
    free(t->weights);
    free(t->train);
    free(t->test);
}

/* Fills p with each class's probability, and returns the likeliest. */
static int64_t predict(const struct trainer *t, const float *x, float *p)
{
    const int64_t classes = t->progress.classes;
    int64_t best = 0;
    float sum = 0, most;

    for (int64_t c = 0; c < classes; c++) {
        const float *const w = t->weights + c * FEATURES;

        p[c] = w[FEATURES - 1];
        for (int i = 0; i < FEATURES - 1; i++)
            p[c] += w[i] * x[i];
        if (p[c] > p[best])
            best = c;
    }
    most = p[best];
    for (int64_t c = 0; c < classes; c++)
        sum += p[c] = expf(p[c] - most);
    for (int64_t c = 0; c < classes; c++)
        p[c] /= sum;
    return best;
}

/* One step of SGD with momentum on the mean cross entropy. */
static void step(struct trainer *t, const pinfold_batch *batch, float *p)
{
    const int64_t classes = t->progress.classes;
    float *const gradient = room(t->n_values / 2, sizeof(*gradient));
    float *const momentum = t->weights + t->n_values / 2;
    const int32_t good = batch->count - batch->bad_count;

    for (int32_t n = 0; n < batch->count; n++) {
        const float *const x = (float *)batch->data + n * (FEATURES - 1);

        if (batch->statuses[n])
            continue;
        (void)predict(t, x, p);
        t->progress.loss -= log((double)p[batch->labels[n]] + 1e-30);
        p[batch->labels[n]] -= 1;
        for (int64_t c = 0; c < classes; c++) {
            float *const g = gradient + c * FEATURES;

            for (int i = 0; i < FEATURES - 1; i++)
                g[i] += p[c] * x[i];
            g[FEATURES - 1] += p[c];
        }
    }
    for (size_t i = 0; good && i < t->n_values / 2; i++) {
        momentum[i] = MOMENTUM * momentum[i] + gradient[i] / (float)good;
        t->weights[i] -= RATE * momentum[i];
    }
    t->progress.steps++;
    free(gradient);
}

/* Prints how many of the pictures held out are told right. */
static void evaluate(const struct trainer *t, float *p)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    float x[FEATURES - 1];
    int64_t right = 0;

    recipe.resize_height = recipe.resize_width = SIDE;
    recipe.crop_height = PINFOLD_OFF;
    for (int64_t i = 0; i < t->n_test; i++) {
        if (pinfold_read(t->dataset, &recipe, &t->test[i], 1, x, sizeof(x),
                         NULL, NULL) != PINFOLD_OK)
            continue; /* a damaged picture is not told right */
        right +=
            predict(t, x, p) == pinfold_dataset_label(t->dataset, t->test[i]);
    }
    (void)printf("epoch %" PRId64 ": %" PRId64 " steps, loss %.4f, %" PRId64
                 " of %" PRId64 " right\n",
                 t->progress.epoch, t->progress.steps,
                 t->progress.loss / (double)t->n_train, right, t->n_test);
}

/* Goes on to the epoch's end, or to the step `last`; returns whether it is at
 * the epoch's end. */
static bool train_epoch(struct trainer *t, int64_t last, float *p)
{
    const pinfold_batch *batch;
    pinfold_error err;
    size_t size;

    while (t->progress.steps < last) {
        if (pinfold_loader_next(t->loader, -1, &batch, &err) != PINFOLD_OK)
            break;
        for (int32_t i = 0; i < batch->count; i++) {
            pinfold_error why;

            if (batch->statuses[i]) {
                pinfold_batch_error(batch, i, &why);
                (void)fprintf(stderr, "%s\n", why.message);
            }
        }
        step(t, batch, p);
        pinfold_batch_release(batch);
        check(pinfold_loader_state(t->loader, t->progress.state,
                                   sizeof(t->progress.state), &size, &err),
              &err);
        t->progress.state_size = (int64_t)size;
    }
    if (t->progress.steps >= last)
        return false;
    check(err.status, &err);
    return true;
}

static void train(struct trainer *t, const char *path, int64_t epochs,
                  int64_t last)
{
    float *const p = room((size_t)t->progress.classes, sizeof(*p));
    struct progress *const progress = &t->progress;
    pinfold_error err;

    for (; progress->epoch < epochs; progress->epoch++, progress->loss = 0) {
        /* A state puts the loader into its epoch, and no state at -1. */
        if (pinfold_loader_epoch(t->loader) != progress->epoch)
            check(pinfold_loader_start(t->loader, progress->epoch, &err), &err);
        if (!train_epoch(t, last, p))
            break;
        evaluate(t, p);
    }
    save(t, path);
    (void)printf("%s: %" PRId64 " epochs, %" PRId64 " steps\n", path,
                 progress->epoch, progress->steps);
    free(p);
}

int main(int argc, char **argv)
{
    struct trainer t = {0};
    int64_t epochs, steps;

    if (argc < 4 || argc > 5 || (epochs = strtoll(argv[3], NULL, 10)) < 1 ||
        (steps = argc > 4 ? strtoll(argv[4], NULL, 10) : INT64_MAX) < 1) {
        (void)fprintf(stderr, "usage: train ROOT MODEL EPOCHS [STEPS]\n");
        return 2;
    }
    open_trainer(&t, argv[1], argv[2]);
    train(&t, argv[2], epochs,
          steps == INT64_MAX ? steps : t.progress.steps + steps);
    close_trainer(&t);
    return 0;
}
