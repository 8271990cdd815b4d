/* SPDX-License-Identifier: Apache-2.0
 * Classifies a folder by OpenCV's dnn module, from a 4-D cv::Mat that is a view
 * of the batch.  Prints a line a picture: its path, the best class and its
 * logit; with LOGITS, writes all logits to that file, as floats.
 * usage: opencv_dnn MODEL ROOT [PRESET [LOGITS]] */
#include <cstdio>
#include <cstdlib>

#include <opencv2/core.hpp>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/dnn.hpp>
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

/* The network has no word for what it takes, and its own errors are about the
 * layer that came upon them: one sample tells. */
void check_shape(cv::dnn::Net &net, const char *path,
                 const pinfold_recipe &recipe)
{
    int64_t shape[4];
    pinfold_error err;
    size_t size;

    check(pinfold_recipe_size(&recipe, 1, &size, shape, &err), err);
    const int sizes[4] = {1, static_cast<int>(shape[1]),
                          static_cast<int>(shape[2]),
                          static_cast<int>(shape[3])};
    try {
        net.setInput(cv::Mat(4, sizes, CV_32F, cv::Scalar(0)));
        if (net.forward().total() >= 2)
            return;
    } catch (const cv::Exception &) {
    }
    std::fprintf(stderr,
                 "%s: does not take float N x %d x %d x %d, which the preset "
                 "gives\n",
                 path, sizes[1], sizes[2], sizes[3]);
    std::exit(1);
}

/* The batch's logits, [count][classes]. */
cv::Mat classify(cv::dnn::Net &net, const pinfold_batch &batch)
{
    const int sizes[4] = {
        static_cast<int>(batch.shape[0]), static_cast<int>(batch.shape[1]),
        static_cast<int>(batch.shape[2]), static_cast<int>(batch.shape[3])};

    /* Neither copied nor owned. */
    net.setInput(cv::Mat(4, sizes, CV_32F, batch.data));
    return net.forward().reshape(1, batch.count);
}

/* Returns how many pictures were bad. */
int64_t run(cv::dnn::Net &net, const pinfold_dataset *dataset,
            pinfold_loader *loader, std::FILE *file)
{
    const pinfold_batch *batch;
    pinfold_error err;
    int64_t bad = 0;

    while (pinfold_loader_next(loader, -1, &batch, &err) == PINFOLD_OK) {
        const cv::Mat logits = classify(net, *batch);

        for (int32_t i = 0; i < batch->count; i++) {
            cv::Point best;
            double logit;

            if (batch->statuses[i]) {
                pinfold_batch_error(batch, i, &err);
                std::fprintf(stderr, "%s\n", err.message);
                continue;
            }
            cv::minMaxLoc(logits.row(i), nullptr, &logit, nullptr, &best);
            std::printf("%s\t%d %.9g\n",
                        pinfold_dataset_path(dataset, batch->indices[i]),
                        best.x, logit);
        }
        if (file && std::fwrite(logits.data, sizeof(float), logits.total(),
                                file) != logits.total()) {
            std::perror("the file of logits");
            std::exit(1);
        }
        bad += batch->bad_count;
        pinfold_batch_release(batch);
    }
    check(err.status, err);
    return bad;
}

int64_t classify_folder(int argc, char **argv)
{
    pinfold_recipe recipe = pinfold_recipe_default();
    pinfold_loader_options options = pinfold_loader_options_default();
    pinfold_dataset *dataset;
    pinfold_loader *loader;
    pinfold_error err;
    std::FILE *file = nullptr;
    int64_t bad;

    check(pinfold_recipe_preset(
              &recipe, argc > 3 ? argv[3] : "tf_efficientnet_lite0", &err),
          err);
    cv::dnn::Net net = cv::dnn::readNetFromONNX(argv[1]);
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    check_shape(net, argv[1], recipe);
    options.recipe = &recipe;
    options.batch_size = 16;
    check(pinfold_dataset_open(&dataset, argv[2], nullptr, &err), err);
    check(pinfold_loader_open(&loader, dataset, &options, &err), err);
    check(pinfold_loader_start(loader, 0, &err), err);
    if (argc > 4 && !(file = std::fopen(argv[4], "wb"))) {
        std::perror(argv[4]);
        std::exit(1);
    }
    bad = run(net, dataset, loader, file);
    if (file && std::fclose(file)) {
        std::perror(argv[4]);
        std::exit(1);
    }
    pinfold_loader_close(loader);
    pinfold_dataset_close(dataset);
    return bad;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 5) {
        std::fprintf(stderr,
                     "usage: opencv_dnn MODEL ROOT [PRESET [LOGITS]]\n");
        return 2;
    }
    /* The loader's workers have the other CPUs. */
    cv::setNumThreads(1);
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    cv::redirectError([](int, const char *, const char *, const char *, int,
                         void *) { return 0; });
    try {
        return classify_folder(argc, argv) ? 1 : 0;
    } catch (const cv::Exception &e) {
        /* Of several lines, the first says where. */
        std::fprintf(stderr, "%s: opencv: %s\n", argv[1],
                     e.err.substr(0, e.err.find('\n')).c_str());
        return 1;
    }
}
