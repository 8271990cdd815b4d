/* SPDX-License-Identifier: Apache-2.0
 * Classifies a folder by OpenVINO, which reads each batch where the loader made
 * it.  Prints a line a picture: its path, the best class and its logit; with
 * LOGITS, writes all logits to that file, as floats.
 * usage: openvino MODEL ROOT [PRESET [LOGITS]] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openvino/c/openvino.h>
#include <pinfold/pinfold.h>

struct model {
    const char *path;
    ov_core_t *core;
    ov_compiled_model_t *compiled;
    ov_infer_request_t *request;
    int64_t shape[4]; /* of the input; -1 is any */
};

static void check(pinfold_status status, const pinfold_error *err)
{
    if (status >= 0)
        return;
    (void)fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void check_ov(const char *what, ov_status_e status)
{
    const char *last, *end;

    if (status == OK)
        return;
    /* Of several lines, the last says what is wrong. */
    last = ov_get_last_err_msg();
    end = last + strlen(last);
    while (end > last && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    for (const char *p = last; p < end; p++)
        if (*p == '\n')
            last = p + 1;
    (void)fprintf(stderr, "%s: openvino: %s: %.*s\n", what,
                  ov_get_error_info(status), (int)(end - last), last);
    exit(1);
}

static void refuse(const struct model *m, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", m->path, why);
    exit(1);
}

/* What no batch could be fed to is refused here, in words. */
static void take_input(struct model *m, const ov_model_t *model)
{
    ov_output_const_port_t *port;
    ov_partial_shape_t shape;
    ov_element_type_e type;
    size_t inputs;

    check_ov(m->path, ov_model_inputs_size(model, &inputs));
    if (inputs != 1)
        refuse(m, "takes more or less than one input");
    check_ov(m->path, ov_model_const_input(model, &port));
    check_ov(m->path, ov_port_get_element_type(port, &type));
    check_ov(m->path, ov_port_get_partial_shape(port, &shape));
    if (type != F32 || shape.rank.min != 4 || shape.rank.max != 4)
        refuse(m, "takes no tensor of float with 4 dimensions");
    for (int i = 0; i < 4; i++)
        m->shape[i] =
            ov_dimension_is_dynamic(shape.dims[i]) ? -1 : shape.dims[i].min;
    ov_partial_shape_free(&shape);
    ov_output_const_port_free(port);
}

static struct model open_model(const char *path)
{
    struct model m = {.path = path};
    ov_model_t *model;

    check_ov(path, ov_core_create(&m.core));
    check_ov(path, ov_core_read_model(m.core, path, NULL, &model));
    take_input(&m, model);
    /* The loader's workers have the other CPUs; some CPUs' default is bf16. */
    check_ov(path, ov_core_compile_model(
                       m.core, model, "CPU", 4, &m.compiled,
                       ov_property_key_inference_num_threads, "1",
                       ov_property_key_hint_inference_precision, "f32"));
    ov_model_free(model);
    check_ov(path,
             ov_compiled_model_create_infer_request(m.compiled, &m.request));
    return m;
}

static void close_model(struct model *m)
{
    ov_infer_request_free(m->request);
    ov_compiled_model_free(m->compiled);
    ov_core_free(m->core);
}

/* The recipe's samples must be what the model takes. */
static void check_shape(const struct model *m, const pinfold_recipe *recipe)
{
    int64_t shape[4];
    pinfold_error err;
    size_t size;

    check(pinfold_recipe_size(recipe, 1, &size, shape, &err), &err);
    for (int i = 1; i < 4; i++) {
        if (m->shape[i] < 0 || m->shape[i] == shape[i])
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

/* The batch's logits, [count][*classes], in the returned tensor. */
static ov_tensor_t *classify(const struct model *m, const pinfold_batch *batch,
                             float **logits, size_t *classes)
{
    ov_tensor_t *input, *output;
    ov_shape_t shape;
    int64_t dims[4];
    void *data;

    memcpy(dims, batch->shape, sizeof(dims));
    check_ov(m->path, ov_shape_create(4, dims, &shape));
    /* A view: the batch is neither copied nor owned. */
    check_ov(m->path,
             ov_tensor_create_from_host_ptr(F32, shape, batch->data, &input));
    check_ov(m->path, ov_infer_request_set_input_tensor(m->request, input));
    check_ov(m->path, ov_infer_request_infer(m->request));
    check_ov(m->path, ov_infer_request_get_output_tensor(m->request, &output));
    check_ov(m->path, ov_tensor_data(output, &data));
    check_ov(m->path, ov_tensor_get_size(output, classes));
    *classes /= (size_t)batch->count;
    *logits = data;
    ov_tensor_free(input);
    check_ov(m->path, ov_shape_free(&shape));
    return output;
}

static void print_batch(const pinfold_dataset *dataset,
                        const pinfold_batch *batch, const float *logits,
                        size_t classes)
{
    pinfold_error err;

    for (int32_t i = 0; i < batch->count; i++, logits += classes) {
        size_t best = 0;

        if (batch->statuses[i]) {
            pinfold_batch_error(batch, i, &err);
            (void)fprintf(stderr, "%s\n", err.message);
            continue;
        }
        for (size_t c = 1; c < classes; c++)
            if (logits[c] > logits[best])
                best = c;
        (void)printf("%s\t%zu %.9g\n",
                     pinfold_dataset_path(dataset, batch->indices[i]), best,
                     (double)logits[best]);
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
        ov_tensor_t *const output = classify(m, batch, &logits, &classes);
        const size_t n = classes * (size_t)batch->count;

        print_batch(dataset, batch, logits, classes);
        if (file && fwrite(logits, sizeof(*logits), n, file) != n) {
            perror("the file of logits");
            exit(1);
        }
        bad += batch->bad_count;
        ov_tensor_free(output);
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
        (void)fprintf(stderr, "usage: openvino MODEL ROOT [PRESET [LOGITS]]\n");
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
