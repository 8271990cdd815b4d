/* SPDX-License-Identifier: Apache-2.0
 * What examples/onnxruntime.c needs of ONNX Runtime's header of this name, for
 * the wheel on PyPI, which has the library without it.  The table only grows at
 * its end, so that a function's place in it never changes. */
#ifndef PINFOLD_EXAMPLE_ONNXRUNTIME_H
#define PINFOLD_EXAMPLE_ONNXRUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ORT_API_VERSION 1 /* has all that is named below */

typedef struct OrtStatus OrtStatus;
typedef struct OrtEnv OrtEnv;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtValue OrtValue;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtAllocator OrtAllocator;

typedef enum { ORT_LOGGING_LEVEL_ERROR = 3 } OrtLoggingLevel;
typedef enum { OrtDeviceAllocator = 0 } OrtAllocatorType;
typedef enum { OrtMemTypeDefault = 0 } OrtMemType;
typedef enum {
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED = 0,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1
} ONNXTensorElementDataType;

typedef struct OrtApi {
    void *from_0[2];
    const char *(*GetErrorMessage)(const OrtStatus *status);
    OrtStatus *(*CreateEnv)(OrtLoggingLevel level, const char *id,
                            OrtEnv **out);
    void *from_4[3];
    OrtStatus *(*CreateSession)(const OrtEnv *env, const char *path,
                                const OrtSessionOptions *options,
                                OrtSession **out);
    void *from_8[1];
    OrtStatus *(*Run)(OrtSession *session, const OrtRunOptions *options,
                      const char *const *input_names,
                      const OrtValue *const *inputs, size_t n_inputs,
                      const char *const *output_names, size_t n_outputs,
                      OrtValue **outputs);
    OrtStatus *(*CreateSessionOptions)(OrtSessionOptions **out);
    void *from_11[13];
    OrtStatus *(*SetIntraOpNumThreads)(OrtSessionOptions *options, int n);
    void *from_25[5];
    OrtStatus *(*SessionGetInputCount)(const OrtSession *session, size_t *out);
    void *from_31[2];
    OrtStatus *(*SessionGetInputTypeInfo)(const OrtSession *session, size_t i,
                                          OrtTypeInfo **out);
    void *from_34[2];
    OrtStatus *(*SessionGetInputName)(const OrtSession *session, size_t i,
                                      OrtAllocator *allocator, char **out);
    OrtStatus *(*SessionGetOutputName)(const OrtSession *session, size_t i,
                                       OrtAllocator *allocator, char **out);
    void *from_38[11];
    OrtStatus *(*CreateTensorWithDataAsOrtValue)(const OrtMemoryInfo *info,
                                                 void *data, size_t size,
                                                 const int64_t *shape,
                                                 size_t n_shape,
                                                 ONNXTensorElementDataType type,
                                                 OrtValue **out);
    void *from_50[1];
    OrtStatus *(*GetTensorMutableData)(OrtValue *value, void **out);
    void *from_52[3];
    OrtStatus *(*CastTypeInfoToTensorInfo)(
        const OrtTypeInfo *info, const OrtTensorTypeAndShapeInfo **out);
    void *from_56[4];
    OrtStatus *(*GetTensorElementType)(const OrtTensorTypeAndShapeInfo *info,
                                       ONNXTensorElementDataType *out);
    OrtStatus *(*GetDimensionsCount)(const OrtTensorTypeAndShapeInfo *info,
                                     size_t *out);
    OrtStatus *(*GetDimensions)(const OrtTensorTypeAndShapeInfo *info,
                                int64_t *out, size_t n_out);
    void *from_63[1];
    OrtStatus *(*GetTensorShapeElementCount)(
        const OrtTensorTypeAndShapeInfo *info, size_t *out);
    OrtStatus *(*GetTensorTypeAndShape)(const OrtValue *value,
                                        OrtTensorTypeAndShapeInfo **out);
    void *from_66[3];
    OrtStatus *(*CreateCpuMemoryInfo)(OrtAllocatorType allocator,
                                      OrtMemType type, OrtMemoryInfo **out);
    void *from_70[6];
    OrtStatus *(*AllocatorFree)(OrtAllocator *allocator, void *ptr);
    void *from_77[1];
    OrtStatus *(*GetAllocatorWithDefaultOptions)(OrtAllocator **out);
    void *from_79[13];
    void (*ReleaseEnv)(OrtEnv *env);
    void (*ReleaseStatus)(OrtStatus *status);
    void (*ReleaseMemoryInfo)(OrtMemoryInfo *info);
    void (*ReleaseSession)(OrtSession *session);
    void (*ReleaseValue)(OrtValue *value);
    void *from_97[1];
    void (*ReleaseTypeInfo)(OrtTypeInfo *info);
    void (*ReleaseTensorTypeAndShapeInfo)(OrtTensorTypeAndShapeInfo *info);
    void (*ReleaseSessionOptions)(OrtSessionOptions *options);
} OrtApi;

#ifndef __cplusplus
_Static_assert(offsetof(OrtApi, ReleaseSessionOptions) == 100 * sizeof(void *),
               "each function is at its place");
#endif

typedef struct OrtApiBase {
    const OrtApi *(*GetApi)(uint32_t version);
    const char *(*GetVersionString)(void);
} OrtApiBase;

const OrtApiBase *OrtGetApiBase(void);

#ifdef __cplusplus
}
#endif

#endif
