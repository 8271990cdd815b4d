/* SPDX-License-Identifier: Apache-2.0
 * Classifies a folder by a TorchScript model in LibTorch.  Each batch becomes a
 * tensor over the loader's memory, and goes back to the loader when torch drops
 * the tensor.  Prints a line a picture: its path, the best class and its logit;
 * with LOGITS, writes all logits to that file, as floats.
 * usage: libtorch MODEL ROOT [PRESET [LOGITS]] */
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <ATen/Parallel.h>
#include <torch/script.h>

#include <pinfold/pinfold.h>

namespace
{

void check(pinfold_status status, const pinfold_error &err)
{
    if (status >= 0)
        return;
    std::fprintf(stderr, "%s\n", err.message);
    std::exit(1);
}

/* The batch's samples and labels may be used until the last tensor on them, or
 * view of it, is gone, in whichever thread that is. */
torch::Tensor take(const pinfold_batch *batch)
{
    return torch::from_blob(
        batch->data, at::IntArrayRef(batch->shape, 4),
        [batch](void *) { pinfold_batch_release(batch); }, torch::kFloat32);
}

/* A TorchScript model has no word for what it takes, and its own errors are
 * those of the operation that failed: one sample tells. */
void check_shape(torch::jit::Module &model, const char *path,
                 const pinfold_recipe &recipe)
{
    int64_t shape[4];
    pinfold_error err;
    size_t size;

    check(pinfold_recipe_size(&recipe, 1, &size, shape, &err), err);
    try {
        const auto out =
            model.forward({torch::zeros(at::IntArrayRef(shape, 4))});

        if (out.isTensor() && out.toTensor().dim() == 2)
            return;
    } catch (const std::exception &) {
    }
    std::fprintf(stderr,
                 "%s: does not take float N x %" PRId64 " x %" PRId64
                 " x %" PRId64 ", which the preset gives\n",
                 path, shape[1], shape[2], shape[3]);
    std::exit(1);
}

/* Returns how many pictures were bad. */
int64_t run(torch::jit::Module &model, const pinfold_dataset *dataset,
            pinfold_loader *loader, std::FILE *file)
{
    const pinfold_batch *batch;
    pinfold_error err;
    int64_t bad = 0;

    while (pinfold_loader_next(loader, -1, &batch, &err) == PINFOLD_OK) {
        const torch::Tensor images = take(batch);
        const torch::Tensor logits =
            model.forward({images}).toTensor().contiguous();
        const auto best = logits.max(1);
        const auto values = static_cast<size_t>(logits.numel());

        for (int32_t i = 0; i < batch->count; i++) {
            if (batch->statuses[i]) {
                pinfold_batch_error(batch, i, &err);
                std::fprintf(stderr, "%s\n", err.message);
                continue;
            }
            std::printf(
                "%s\t%" PRId64 " %.9g\n",
                pinfold_dataset_path(dataset, batch->indices[i]),
                std::get<1>(best)[i].item<int64_t>(),
                static_cast<double>(std::get<0>(best)[i].item<float>()));
        }
        if (file && std::fwrite(logits.data_ptr<float>(), sizeof(float), values,
                                file) != values) {
            std::perror("the file of logits");
            std::exit(1);
        }
        bad += batch->bad_count;
    }
    check(err.status, err);
    return bad;
}

torch::jit::Module open_model(const char *path)
{
    try {
        torch::jit::Module model = torch::jit::load(path);

        model.eval();
        return model;
    } catch (const c10::Error &e) {
        const std::string why = e.what_without_backtrace();

        std::fprintf(stderr, "%s: libtorch: %s\n", path,
                     why.substr(0, why.find('\n')).c_str());
        std::exit(1);
    }
}

} // namespace

int main(int argc, char **argv)
{
    const torch::NoGradGuard no_grad;
    pinfold_recipe recipe = pinfold_recipe_default();
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    pinfold_error err;
    std::FILE *file = nullptr;
    int64_t bad;

    if (argc < 3 || argc > 5) {
        std::fprintf(stderr, "usage: libtorch MODEL ROOT [PRESET [LOGITS]]\n");
        return 2;
    }
    /* The loader's workers have the other CPUs. */
    at::set_num_threads(1);
    check(pinfold_recipe_preset(
              &recipe, argc > 3 ? argv[3] : "tf_efficientnet_lite0", &err),
          err);
    torch::jit::Module model = open_model(argv[1]);

    check_shape(model, argv[1], recipe);
    options.recipe = &recipe;
    options.batch_size = 16;
    options.slots = 2;
    check(pinfold_dataset_open(&dataset, argv[2], nullptr, &err), err);
    check(pinfold_loader_open(&loader, dataset, &options, &err), err);
    check(pinfold_loader_start(loader, 0, &err), err);
    if (argc > 4 && !(file = std::fopen(argv[4], "wb"))) {
        std::perror(argv[4]);
        return 1;
    }
    bad = run(model, dataset, loader, file);
    if (file && std::fclose(file)) {
        std::perror(argv[4]);
        return 1;
    }
    pinfold_loader_close(loader);
    pinfold_dataset_close(dataset);
    return bad ? 1 : 0;
}
