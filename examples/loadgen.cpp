/* SPDX-License-Identifier: Apache-2.0
 * MLPerf LoadGen measures ONNX Runtime on a folder: LoadGen draws the samples
 * that it wants in memory, and pinfold_read() makes just those, by their index.
 * Writes LoadGen's logs to FOLDER; in accuracy mode they hold all logits.
 * usage: loadgen MODEL ROOT single-stream|offline performance|accuracy FOLDER
 *        [SECONDS] */
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <loadgen.h>
#include <query_sample_library.h>
#include <system_under_test.h>
#include <test_settings.h>

#include <onnxruntime_c_api.h>
#include <pinfold/pinfold.h>

namespace
{

constexpr size_t batch_size = 8;

/* LoadGen's threads may be at work, on what exit() would destroy. */
[[noreturn]] void fail()
{
    std::quick_exit(1);
}

void check(pinfold_status status, const pinfold_error &err)
{
    if (status >= 0)
        return;
    std::fprintf(stderr, "%s\n", err.message);
    fail();
}

/* The samples that LoadGen asked for, one behind the other. */
class Library : public mlperf::QuerySampleLibrary
{
  public:
    explicit Library(const char *root)
    {
        pinfold_error err;

        recipe = pinfold_recipe_default();
        check(pinfold_recipe_preset(&recipe, "tf_efficientnet_lite0", &err),
              err);
        check(pinfold_recipe_size(&recipe, 1, &sample_size, shape, &err), err);
        check(pinfold_dataset_open(&dataset, root, nullptr, &err), err);
        check(pinfold_pool_open(&pool, 0, &err), err);
        places.resize(TotalSampleCount());
    }
    ~Library() override
    {
        pinfold_pool_close(pool);
        pinfold_dataset_close(dataset);
    }
    Library(const Library &) = delete;
    Library &operator=(const Library &) = delete;

    const std::string &Name() override
    {
        return name;
    }
    size_t TotalSampleCount() override
    {
        return static_cast<size_t>(pinfold_dataset_size(dataset));
    }
    /* MLPerf's rules for ResNet-50: mlperf.conf, performance_sample_count. */
    size_t PerformanceSampleCount() override
    {
        return std::min<size_t>(1024, TotalSampleCount());
    }

    void LoadSamplesToRam(
        const std::vector<mlperf::QuerySampleIndex> &samples) override
    {
        const std::vector<int64_t> indices(samples.begin(), samples.end());
        pinfold_read_options options = {};
        pinfold_error err;

        options.struct_size = sizeof(options);
        options.pool = pool;
        tensor.resize(samples.size() * sample_size / sizeof(float));
        /* A picture that cannot be read ends the measurement. */
        check(pinfold_read(dataset, &recipe, indices.data(),
                           static_cast<int64_t>(indices.size()), tensor.data(),
                           samples.size() * sample_size, &options, &err),
              err);
        for (size_t i = 0; i < samples.size(); i++)
            places[samples[i]] =
                tensor.data() + i * sample_size / sizeof(float);
    }
    void UnloadSamplesFromRam(
        const std::vector<mlperf::QuerySampleIndex> &samples) override
    {
        for (const auto index : samples)
            places[index] = nullptr;
        tensor.clear();
        tensor.shrink_to_fit();
    }

    float *sample(mlperf::QuerySampleIndex index)
    {
        return places[index];
    }

    pinfold_recipe recipe;
    size_t sample_size;
    int64_t shape[4];

  private:
    const std::string name = "pinfold";
    pinfold_dataset *dataset;
    pinfold_pool *pool;
    std::vector<float> tensor;
    std::vector<float *> places; /* by the sample's index */
};

/* A classifier in ONNX Runtime. */
class Model : public mlperf::SystemUnderTest
{
  public:
    Model(const char *path, Library &library) : library(library)
    {
        OrtSessionOptions *options;

        check_ort(ort->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "loadgen", &env));
        check_ort(ort->CreateSessionOptions(&options));
        check_ort(ort->SetIntraOpNumThreads(options, 1));
        check_ort(ort->CreateSession(env, path, options, &session));
        ort->ReleaseSessionOptions(options);
        check_ort(ort->CreateCpuMemoryInfo(OrtDeviceAllocator,
                                           OrtMemTypeDefault, &host));
        check_ort(ort->GetAllocatorWithDefaultOptions(&allocator));
        check_ort(ort->SessionGetInputName(session, 0, allocator, &input));
        check_ort(ort->SessionGetOutputName(session, 0, allocator, &output));
        check_shape(path);
    }
    ~Model() override
    {
        check_ort(ort->AllocatorFree(allocator, input));
        check_ort(ort->AllocatorFree(allocator, output));
        ort->ReleaseMemoryInfo(host);
        ort->ReleaseSession(session);
        ort->ReleaseEnv(env);
    }
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    const std::string &Name() override
    {
        return name;
    }

    /* One query is one sample (single stream) or all of them (offline). */
    void IssueQuery(const std::vector<mlperf::QuerySample> &samples) override
    {
        for (size_t i = 0; i < samples.size(); i += batch_size)
            classify(&samples[i], std::min(batch_size, samples.size() - i));
    }
    void FlushQueries() override
    {
    }

  private:
    void check_ort(OrtStatus *status) const
    {
        if (!status)
            return;
        std::fprintf(stderr, "onnxruntime: %s\n", ort->GetErrorMessage(status));
        fail();
    }

    /* The recipe's samples must be what the model takes. */
    void check_shape(const char *path) const
    {
        const OrtTensorTypeAndShapeInfo *tensor = nullptr;
        int64_t takes[4] = {0};
        OrtTypeInfo *info;
        size_t dimensions = 0;

        check_ort(ort->SessionGetInputTypeInfo(session, 0, &info));
        check_ort(ort->CastTypeInfoToTensorInfo(info, &tensor));
        if (tensor)
            check_ort(ort->GetDimensionsCount(tensor, &dimensions));
        if (dimensions == 4)
            check_ort(ort->GetDimensions(tensor, takes, 4));
        ort->ReleaseTypeInfo(info);
        for (int i = 1; i < 4; i++) {
            if (dimensions == 4 &&
                (takes[i] < 1 || takes[i] == library.shape[i]))
                continue;
            std::fprintf(stderr,
                         "%s: takes N x %" PRId64 " x %" PRId64 " x %" PRId64
                         "%s, but the preset gives N x %" PRId64 " x %" PRId64
                         " x %" PRId64 "\n",
                         path, takes[1], takes[2], takes[3],
                         takes[3] == 3 ? " (NHWC: recipe.layout = PINFOLD_NHWC)"
                                       : "",
                         library.shape[1], library.shape[2], library.shape[3]);
            fail();
        }
    }

    /* One sample is read where it lies; several are laid side by side. */
    float *gather(const mlperf::QuerySample *samples, size_t count)
    {
        const size_t values = library.sample_size / sizeof(float);

        if (count == 1)
            return library.sample(samples[0].index);
        gathered.resize(count * values);
        for (size_t i = 0; i < count; i++)
            std::memcpy(&gathered[i * values], library.sample(samples[i].index),
                        library.sample_size);
        return gathered.data();
    }

    void classify(const mlperf::QuerySample *samples, size_t count)
    {
        const int64_t shape[4] = {static_cast<int64_t>(count), library.shape[1],
                                  library.shape[2], library.shape[3]};
        std::vector<mlperf::QuerySampleResponse> responses;
        OrtTensorTypeAndShapeInfo *info;
        OrtValue *in, *out = nullptr;
        size_t size;
        void *logits;

        check_ort(ort->CreateTensorWithDataAsOrtValue(
            host, gather(samples, count), count * library.sample_size, shape, 4,
            ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &in));
        check_ort(ort->Run(session, nullptr, &input, &in, 1, &output, 1, &out));
        check_ort(ort->GetTensorMutableData(out, &logits));
        check_ort(ort->GetTensorTypeAndShape(out, &info));
        check_ort(ort->GetTensorShapeElementCount(info, &size));
        ort->ReleaseTensorTypeAndShapeInfo(info);
        size = size / count * sizeof(float);
        for (size_t i = 0; i < count; i++)
            responses.emplace_back(
                samples[i].id, reinterpret_cast<uintptr_t>(logits) + i * size,
                size);
        mlperf::QuerySamplesComplete(responses.data(), count);
        ort->ReleaseValue(out);
        ort->ReleaseValue(in);
    }

    const std::string name = "ONNX Runtime";
    const OrtApi *const ort = OrtGetApiBase()->GetApi(ORT_API_VERSION);
    Library &library;
    OrtEnv *env;
    OrtSession *session;
    OrtMemoryInfo *host;
    OrtAllocator *allocator;
    char *input, *output;
    std::vector<float> gathered;
};

} // namespace

int main(int argc, char **argv)
{
    const std::vector<std::string> words(argv, argv + argc);
    mlperf::TestSettings settings;
    mlperf::LogSettings log;
    int seconds = 1;

    if (argc < 6 || argc > 7 ||
        (words[3] != "single-stream" && words[3] != "offline") ||
        (words[4] != "performance" && words[4] != "accuracy") ||
        (argc > 6 && (seconds = std::atoi(argv[6])) < 1)) {
        std::fprintf(stderr, "usage: loadgen MODEL ROOT single-stream|offline "
                             "performance|accuracy FOLDER [SECONDS]\n");
        return 2;
    }
    settings.scenario = words[3] == "offline"
                            ? mlperf::TestScenario::Offline
                            : mlperf::TestScenario::SingleStream;
    settings.mode = words[4] == "accuracy" ? mlperf::TestMode::AccuracyOnly
                                           : mlperf::TestMode::PerformanceOnly;
    settings.min_duration_ms = 1000 * static_cast<uint64_t>(seconds);
    /* Of fewer, LoadGen says that a percentile of their latency is not known.
     */
    settings.min_query_count = 100;
    settings.offline_expected_qps = 20;
    log.log_output.outdir = words[5];
    log.enable_trace = false;

    Library library(argv[2]);
    Model model(argv[1], library);

    mlperf::StartTest(&model, &library, settings, log);
    return 0;
}
