/* SPDX-License-Identifier: Apache-2.0
 * Classifies a folder by ONNX Runtime, which reads each batch where the loader
 * made it.  Prints a line a picture: its path, and the five best classes with
 * their logits; with LOGITS, writes all logits to that file, as floats.
 * usage: onnxruntime MODEL ROOT [PRESET [LOGITS]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <onnxruntime_c_api.h>
#include <pinfold/pinfold.h>

#define TOP 5

struct model {
    const char *path;
    const OrtApi *ort;
    OrtEnv *env;
    OrtSession *session;
    OrtMemoryInfo *host;
    OrtAllocator *allocator;
    char *input, *output;
    int64_t shape[4]; /* of the input; below 1 is any */
};

static void check(pinfold_status status, const pinfold_error *err)
{
    if (status >= 0)
        return;
    (void)fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void check_ort(const OrtApi *ort, OrtStatus *status)
{
    if (!status)
        return;
    (void)fprintf(stderr, "onnxruntime: %s\n", ort->GetErrorMessage(status));
    ort->ReleaseStatus(status);
    exit(1);
}

/* What no batch could be fed to is refused here, in words. */
static void take_input(struct model *m)
{
    const OrtApi *const ort = m->ort;
    const OrtTensorTypeAndShapeInfo *tensor = NULL;
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    size_t inputs = 0, dimensions = 0;
    OrtTypeInfo *info;

    check_ort(ort, ort->SessionGetInputCount(m->session, &inputs));
    if (inputs == 1) {
        check_ort(ort, ort->SessionGetInputTypeInfo(m->session, 0, &info));
        check_ort(ort, ort->CastTypeInfoToTensorInfo(info, &tensor));
        if (tensor) {
            check_ort(ort, ort->GetTensorElementType(tensor, &type));
            check_ort(ort, ort->GetDimensionsCount(tensor, &dimensions));
        }
        if (dimensions == 4)
            check_ort(ort, ort->GetDimensions(tensor, m->shape, 4));
        ort->ReleaseTypeInfo(info);
    }
    if (dimensions != 4 || type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT) {
        (void)fprintf(stderr,
                      "%s: takes %zu inputs, the first of type %d with "
                      "%zu dimensions; needed is one of float with 4\n",
                      m->path, inputs, (int)type, dimensions);
        exit(1);
    }
}

static struct model open_model(const char *path)
{
    struct model m = {.path = path};
    const OrtApi *const ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
    OrtSessionOptions *options;

    m.ort = ort;
    check_ort(ort, ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "pinfold", &m.env));
    check_ort(ort, ort->CreateSessionOptions(&options));
    /* The loader's workers have the other CPUs. */
    check_ort(ort, ort->SetIntraOpNumThreads(options, 1));
    check_ort(ort, ort->CreateSession(m.env, path, options, &m.session));
    ort->ReleaseSessionOptions(options);
    check_ort(ort, ort->CreateCpuMemoryInfo(OrtDeviceAllocator,
                                            OrtMemTypeDefault, &m.host));
    check_ort(ort, ort->GetAllocatorWithDefaultOptions(&m.allocator));
    take_input(&m);
    check_ort(ort,
              ort->SessionGetInputName(m.session, 0, m.allocator, &m.input));
    check_ort(ort,
              ort->SessionGetOutputName(m.session, 0, m.allocator, &m.output));
    return m;
}

static void close_model(struct model *m)
{
    check_ort(m->ort, m->ort->AllocatorFree(m->allocator, m->input));
    check_ort(m->ort, m->ort->AllocatorFree(m->allocator, m->output));
    m->ort->ReleaseMemoryInfo(m->host);
    m->ort->ReleaseSession(m->session);
    m->ort->ReleaseEnv(m->env);
}

/* The recipe's samples must be what the model takes. */
static void check_shape(const struct model *m, const pinfold_recipe *recipe)
{
    int64_t shape[4];
    pinfold_error err;
    size_t size;

    check(pinfold_recipe_size(recipe, 1, &size, shape, &err), &err);
    for (int i = 1; i < 4; i++) {
        if (m->shape[i] < 1 || m->shape[i] == shape[i])
            continue;
        (void)fprintf(stderr,
                      "%s: takes N x %" PRId64 " x %" PRId64 " x %" PRId64
                      "%s, but the preset gives N x %" PRId64 " x %" PRId64
                      " x %" PRId64 "\n",
                      m->path, m->shape[1], m->shape[2], m->shape[3],
                      m->shape[3] == 3 ? " (NHWC: recipe.layout = PINFOLD_NHWC)"
                                       : "",
                      shape[1], shape[2], shape[3]);
        exit(1);
    }
}

/* The batch's logits, [count][*classes], to be released. */
static OrtValue *classify(const struct model *m, const pinfold_batch *batch,
                          float **logits, size_t *classes)
{
    const OrtApi *const ort = m->ort;
    OrtTensorTypeAndShapeInfo *info;
    OrtValue *input, *output = NULL;
    void *data;

    /* A view: the batch is neither copied nor owned. */
    check_ort(ort, ort->CreateTensorWithDataAsOrtValue(
                       m->host, batch->data, batch->size, batch->shape, 4,
                       ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
    check_ort(ort, ort->Run(m->session, NULL, (const char *const *)&m->input,
                            (const OrtValue *const *)&input, 1,
                            (const char *const *)&m->output, 1, &output));
    ort->ReleaseValue(input);
    check_ort(ort, ort->GetTensorMutableData(output, &data));
    check_ort(ort, ort->GetTensorTypeAndShape(output, &info));
    check_ort(ort, ort->GetTensorShapeElementCount(info, classes));
    ort->ReleaseTensorTypeAndShapeInfo(info);
    *classes /= (size_t)batch->count;
    *logits = data;
    return output;
}

static void print_best(const char *path, const float *logits, size_t classes)
{
    size_t best[TOP], n = 0;

    (void)printf("%s", path);
    for (; n < TOP && n < classes; n++) {
        best[n] = classes;
        for (size_t i = 0; i < classes; i++) {
            size_t taken = 0;

            while (taken < n && best[taken] != i)
                taken++;
            if (taken == n &&
                (best[n] == classes || logits[i] > logits[best[n]]))
                best[n] = i;
        }
        (void)printf("\t%zu %.9g", best[n], (double)logits[best[n]]);
    }
    (void)printf("\n");
}

static void print_batch(const pinfold_dataset *dataset,
                        const pinfold_batch *batch, const float *logits,
                        size_t classes)
{
    pinfold_error err;

    for (int32_t i = 0; i < batch->count; i++) {
        if (batch->statuses[i]) {
            pinfold_batch_error(batch, i, &err);
            (void)fprintf(stderr, "%s\n", err.message);
        } else {
            print_best(pinfold_dataset_path(dataset, batch->indices[i]),
                       logits + (size_t)i * classes, classes);
        }
    }
}

/* Returns how many pictures were bad. */
static int64_t run(const struct model *m, const pinfold_dataset *dataset,
                   pinfold_loader *loader, FILE *file)
{
    const pinfold_batch *batch;
    pinfold_error err;
    int64_t bad = 0;
    size_t classes;
    float *logits;

    while (pinfold_loader_next(loader, -1, &batch, &err) == PINFOLD_OK) {
        OrtValue *const output = classify(m, batch, &logits, &classes);
        const size_t n = classes * (size_t)batch->count;

        print_batch(dataset, batch, logits, classes);
        if (file && fwrite(logits, sizeof(*logits), n, file) != n) {
            perror("the file of logits");
            exit(1);
        }
        bad += batch->bad_count;
        m->ort->ReleaseValue(output);
        pinfold_batch_release(batch);
    }
    check(err.status, &err);
    return bad;
}

int main(int argc, char **argv)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    pinfold_error err;
    FILE *file = NULL;
    int64_t bad;

    if (argc < 3 || argc > 5) {
        (void)fprintf(stderr,
                      "usage: onnxruntime MODEL ROOT [PRESET [LOGITS]]\n");
        return 2;
    }
    check(pinfold_recipe_preset(
              &recipe, argc > 3 ? argv[3] : "tf_efficientnet_lite0", &err),
          &err);
    struct model m = open_model(argv[1]);

    check_shape(&m, &recipe);
    options.recipe = &recipe;
    options.batch_size = m.shape[0] > 0 ? (int32_t)m.shape[0] : 16;
    check(pinfold_dataset_open(&dataset, argv[2], NULL, &err), &err);
    check(pinfold_loader_open(&loader, dataset, &options, &err), &err);
    check(pinfold_loader_start(loader, 0, &err), &err);
    if (argc > 4 && !(file = fopen(argv[4], "wb"))) {
        perror(argv[4]);
        return 1;
    }
    bad = run(&m, dataset, loader, file);
    if (file && fclose(file)) {
        perror(argv[4]);
        return 1;
    }
    pinfold_loader_close(loader);
    pinfold_dataset_close(dataset);
    close_model(&m);
    return bad ? 1 : 0;
}
