/* SPDX-License-Identifier: Apache-2.0
 * A classifier in ONNX Runtime, which is loaded only where there is a model. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <onnxruntime_c_api.h>

#include "server.h"

struct model {
    const OrtApi *ort;
    OrtEnv *env;
    OrtSession *session;
    OrtMemoryInfo *host;
    OrtAllocator *allocator;
    char *input, *output;
    int64_t shape[4]; /* of the input; below 1 is any */
};

/* Returns NULL, or why it failed, to be freed. */
static char *reason(const OrtApi *ort, OrtStatus *status)
{
    char *why;

    if (!status)
        return NULL;
    why = strdup(ort->GetErrorMessage(status));
    ort->ReleaseStatus(status);
    return why ? why : calloc(1, 1);
}

static void check(const OrtApi *ort, OrtStatus *status)
{
    char *const why = reason(ort, status);

    if (!why)
        return;
    (void)fprintf(stderr, "onnxruntime: %s\n", why);
    exit(1);
}

static const OrtApi *load(void)
{
    const OrtApiBase *(*base)(void) = NULL;
    void *const library = dlopen("libonnxruntime.so.1", RTLD_NOW);
    void *const symbol = library ? dlsym(library, "OrtGetApiBase") : NULL;

    if (!symbol) {
        (void)fprintf(stderr, "server: %s\n", dlerror());
        exit(1);
    }
    memcpy(&base, &symbol, sizeof(symbol));
    return base()->GetApi(ORT_API_VERSION);
}

static void refuse(const char *path, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", path, why);
    exit(1);
}

/* What no picture could be fed to is refused here, in words. */
static void take_input(struct model *m, const char *path)
{
    const OrtApi *const ort = m->ort;
    const OrtTensorTypeAndShapeInfo *tensor = NULL;
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    size_t inputs, dimensions = 0;
    OrtTypeInfo *info;

    check(ort, ort->SessionGetInputCount(m->session, &inputs));
    if (inputs != 1)
        refuse(path, "takes more or less than one input");
    check(ort, ort->SessionGetInputTypeInfo(m->session, 0, &info));
    check(ort, ort->CastTypeInfoToTensorInfo(info, &tensor));
    if (tensor) {
        check(ort, ort->GetTensorElementType(tensor, &type));
        check(ort, ort->GetDimensionsCount(tensor, &dimensions));
    }
    if (dimensions != 4 || type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT)
        refuse(path, "takes no tensor of float with 4 dimensions");
    check(ort, ort->GetDimensions(tensor, m->shape, 4));
    ort->ReleaseTypeInfo(info);
}

/* The recipe's samples must be what the model takes. */
static void check_shape(struct model *m, const char *path,
                        const pinfold_recipe *recipe)
{
    int64_t shape[4];
    pinfold_error err;
    char why[256];
    size_t size;

    if (pinfold_recipe_size(recipe, 1, &size, shape, &err) < 0)
        refuse(path, err.message);
    for (int i = 1; i < 4; i++) {
        if (m->shape[i] > 0 && m->shape[i] != shape[i]) {
            (void)snprintf(
                why, sizeof(why),
                "takes N x %" PRId64 " x %" PRId64 " x %" PRId64
                "%s, but the preset gives N x %" PRId64 " x %" PRId64
                " x %" PRId64,
                m->shape[1], m->shape[2], m->shape[3],
                m->shape[3] == 3 ? " (NHWC: recipe.layout = PINFOLD_NHWC)" : "",
                shape[1], shape[2], shape[3]);
            refuse(path, why);
        }
        m->shape[i] = shape[i];
    }
}

struct model *model_open(const char *path, const pinfold_recipe *recipe)
{
    struct model *const m = calloc(1, sizeof(*m));
    OrtSessionOptions *options;
    const OrtApi *ort;

    if (!m)
        return NULL;
    ort = m->ort = load();
    check(ort, ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "server", &m->env));
    check(ort, ort->CreateSessionOptions(&options));
    /* The server's workers have the other CPUs. */
    check(ort, ort->SetIntraOpNumThreads(options, 1));
    check(ort, ort->CreateSession(m->env, path, options, &m->session));
    ort->ReleaseSessionOptions(options);
    check(ort, ort->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault,
                                        &m->host));
    check(ort, ort->GetAllocatorWithDefaultOptions(&m->allocator));
    take_input(m, path);
    check_shape(m, path, recipe);
    check(ort,
          ort->SessionGetInputName(m->session, 0, m->allocator, &m->input));
    check(ort,
          ort->SessionGetOutputName(m->session, 0, m->allocator, &m->output));
    return m;
}

void model_close(struct model *m)
{
    if (!m)
        return;
    check(m->ort, m->ort->AllocatorFree(m->allocator, m->input));
    check(m->ort, m->ort->AllocatorFree(m->allocator, m->output));
    m->ort->ReleaseMemoryInfo(m->host);
    m->ort->ReleaseSession(m->session);
    m->ort->ReleaseEnv(m->env);
    free(m);
}

int32_t model_batch(const struct model *m)
{
    return m->shape[0] > 0 ? (int32_t)m->shape[0] : 0;
}

static struct best find_best(const float *logits, size_t classes)
{
    struct best best = {.count = 0};

    for (; best.count < TOP && best.count < classes; best.count++) {
        size_t most = classes;

        for (size_t i = 0; i < classes; i++) {
            size_t taken = 0;

            while (taken < best.count && best.class[taken] != i)
                taken++;
            if (taken == best.count &&
                (most == classes || logits[i] > logits[most]))
                most = i;
        }
        best.class[best.count] = most;
        best.logit[best.count] = logits[most];
    }
    return best;
}

char *model_run(struct model *m, void *tensor, int32_t count, struct best *best)
{
    const OrtApi *const ort = m->ort;
    const int64_t rows = m->shape[0] > 0 ? m->shape[0] : count;
    const int64_t shape[4] = {rows, m->shape[1], m->shape[2], m->shape[3]};
    const size_t size =
        sizeof(float) * (size_t)(rows * shape[1] * shape[2] * shape[3]);
    OrtTensorTypeAndShapeInfo *info;
    OrtValue *input, *output = NULL;
    size_t classes;
    void *logits;
    char *why;

    /* A view: the tensor is neither copied nor owned. */
    why = reason(ort, ort->CreateTensorWithDataAsOrtValue(
                          m->host, tensor, size, shape, 4,
                          ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &input));
    if (why)
        return why;
    why = reason(ort, ort->Run(m->session, NULL, (const char *const *)&m->input,
                               (const OrtValue *const *)&input, 1,
                               (const char *const *)&m->output, 1, &output));
    ort->ReleaseValue(input);
    if (why)
        return why;
    if (!(why = reason(ort, ort->GetTensorMutableData(output, &logits))) &&
        !(why = reason(ort, ort->GetTensorTypeAndShape(output, &info)))) {
        why = reason(ort, ort->GetTensorShapeElementCount(info, &classes));
        ort->ReleaseTensorTypeAndShapeInfo(info);
    }
    for (int32_t i = 0; !why && i < count; i++)
        best[i] =
            find_best((float *)logits + (size_t)i * (classes / (size_t)rows),
                      classes / (size_t)rows);
    ort->ReleaseValue(output);
    return why;
}
