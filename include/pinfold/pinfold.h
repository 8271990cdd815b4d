/* SPDX-License-Identifier: Apache-2.0
 *
 * pinfold.h - ImageFolder data sets as batches in pinned memory, uploaded
 * while the next batch is being made.
 *
 * Rules that hold for every function below
 * ----------------------------------------
 * Status.    A function that can fail returns pinfold_status: 0 is success,
 *            above 0 is a normal outcome other than success, below 0 an error.
 *            A function that returns void or a plain value cannot fail.
 * Errors.    `err` may be NULL and is never kept.  Every call sets its status;
 *            the rest is meaningful only when the result is below 0 or
 *            PINFOLD_TIMEOUT.  Where the result is not 0 an out handle is NULL
 *            and, but for buffers of which it is said, nothing else is written.
 * Ownership. What an _open function returns is the caller's, and its _close
 *            function (which accepts NULL) ends it.  Any other pointer returned
 *            belongs to the object that it came from and dies with it.
 *            Strings and structs passed in are copied.
 * Threads.   A function without a handle may be called by any thread.  A
 *            dataset never changes after it is opened: any threads may use it
 *            at once.  A loader takes calls from one thread at a time, save
 *            pinfold_loader_cancel() and pinfold_loader_stats().  Different
 *            batches may be used and released by different threads at once.
 * Process.   The library never prints, exits, aborts, installs a signal
 *            handler, reads an environment variable, or frees anything at exit.
 *            A loader does not survive fork(): in the child every call on it
 *            but pinfold_loader_close() returns PINFOLD_E_FORK.
 * Units.     Sizes are bytes, image sides pixels, times milliseconds (_ms) or
 *            nanoseconds (_ns).
 * Growth.    Structs start with struct_size and grow at the end only.  Zero in
 *            any field means the default named beside it.  What has no meaning
 *            here (another number than 0 and 1 in a switch, anything in a
 *            reserved field) is PINFOLD_E_ARGUMENT.  pinfold_error never grows.
 */
#ifndef PINFOLD_PINFOLD_H
#define PINFOLD_PINFOLD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PINFOLD_VERSION_MAJOR 0
#define PINFOLD_VERSION_MINOR 1
#define PINFOLD_VERSION_PATCH 0
#define PINFOLD_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#define PINFOLD_API __attribute__((visibility("default")))
#define PINFOLD_MUST_CHECK __attribute__((warn_unused_result))
#else
#define PINFOLD_API
#define PINFOLD_MUST_CHECK
#endif

/* An enumeration is 32 bits wide.  In C++ it holds any number, so that one which
 * only a newer library knows is a value there, too. */
#if defined(__cplusplus) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define PINFOLD_ENUM(name) enum name : int32_t
#else
#define PINFOLD_ENUM(name) enum name
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pinfold_dataset pinfold_dataset;
typedef struct pinfold_loader pinfold_loader;

/* In an int32_t option whose 0 means a default: switches the step off. */
#define PINFOLD_OFF (-1)

/* ------------------------------------------------------------- status --- */

/* Values are frozen: one is never reused or renumbered.  A newer library may
 * return one that is not here: take it by its sign. */
typedef PINFOLD_ENUM(pinfold_status) {
    PINFOLD_OK = 0,

    PINFOLD_END = 1,     /* the epoch has no more batches */
    PINFOLD_TIMEOUT = 2, /* not ready in time; err's message says what takes so
                          * long */

    PINFOLD_E_ARGUMENT = -1,    /* the caller broke a documented rule */
    PINFOLD_E_STATE = -2,       /* not allowed now */
    PINFOLD_E_MEMORY = -3,      /* host memory, pinned or not */
    PINFOLD_E_IO = -4,          /* sys_code is an errno value */
    PINFOLD_E_FORMAT = -5,      /* not a picture of any known format */
    PINFOLD_E_CORRUPT = -6,     /* a known format, but damaged or cut short */
    PINFOLD_E_LIMIT = -7,       /* more bytes, pixels or memory than
                                 * allowed */
    PINFOLD_E_UNSUPPORTED = -8, /* valid, but this build cannot do it */
    PINFOLD_E_THREAD = -9,      /* a thread could not be started */
    PINFOLD_E_CUDA = -10,       /* sys_code is a cudaError_t value */
    PINFOLD_E_FORK = -11,       /* the handle was opened before a fork */
    PINFOLD_E_CANCELLED = -12   /* by pinfold_loader_cancel() */
} pinfold_status;

/* What went wrong.  Put it on the stack; the layout is frozen at 512 bytes. */
typedef struct pinfold_error {
    pinfold_status status; /* the function's result */
    int32_t sys_code;      /* see PINFOLD_E_IO and PINFOLD_E_CUDA, else 0 */
    int64_t sample;        /* dataset index of the culprit, or -1 */
    char message[496];     /* one line, NUL-terminated; names the file */
} pinfold_error;

/* Returns the enumerator's name, such as "PINFOLD_E_IO"; a literal, and
 * "PINFOLD_E_?" for a value this library does not know. */
PINFOLD_API const char *pinfold_status_name(pinfold_status status);

/* Returns the version of the library in use, such as "0.1.0"; a literal. */
PINFOLD_API const char *pinfold_version(void);

/* What the library was built with and what it finds.  Strings are literals, for
 * people: whether CUDA is usable, cuda_devices tells a program. */
typedef struct pinfold_info {
    size_t struct_size;        /* sizeof(pinfold_info) */
    const char *version;       /* of pinfold */
    const char *libjpeg_turbo; /* "2.1.5"; that of the headers */
    const char *zlib;          /* "1.2.13"; that of the library in use */
    const char *pillow;        /* the newest Pillow that is matched */
    const char *torchvision;   /* the torchvision that was compared with */
    const char *simd;          /* level of the kernels in use, "none" for C */
    const char *cuda_status;   /* "usable", or why CUDA is not, in words */
    int32_t cuda_runtime;      /* 13000 is 13.0; 0 = built without CUDA */
    int32_t cuda_driver;       /* newest CUDA that the driver takes; 0 = none */
    int32_t cuda_devices;      /* usable devices */
    int32_t reserved;          /* 0 */
    const char *libtiff;       /* "4.5.0"; NULL = built without it: no TIFF */
    const char *libwebp;       /* "1.2.4"; NULL = built without it: no WebP */
} pinfold_info;

/* Fills `out`, whose struct_size must be set; no more than that is written.
 * Asks the CUDA runtime, so the first call may take some 100 ms. */
PINFOLD_API void pinfold_info_get(pinfold_info *out);

/* ------------------------------------------------------------- recipe --- */

typedef PINFOLD_ENUM(pinfold_dtype) {
    PINFOLD_F32 = 0, /* (x / 255 - mean) / stddev, each step rounded */
    PINFOLD_F16 = 1, /* the same, rounded to nearest even */
    PINFOLD_U8 = 2,  /* 0..255; mean and stddev are not applied */
    PINFOLD_BF16 = 3 /* as F16, to bfloat16 */
} pinfold_dtype;

typedef PINFOLD_ENUM(pinfold_layout) {
    PINFOLD_NCHW = 0,
    PINFOLD_NHWC = 1
} pinfold_layout;

/* Pillow's filters, antialiased as Pillow's are. */
typedef PINFOLD_ENUM(pinfold_filter) {
    PINFOLD_BILINEAR = 0,
    PINFOLD_NEAREST = 1,
    PINFOLD_BOX = 2,
    PINFOLD_HAMMING = 3,
    PINFOLD_BICUBIC = 4,
    PINFOLD_LANCZOS = 5
} pinfold_filter;

/* Which Pillow's bits are given.  From 13.0.0 on, a picture that shrinks more
 * than twice as many rows as columns has its rows resampled first (Pillow
 * src/libImaging/Resample.c); before, only one that is more than a hundred
 * times as high as wide and loses rows (src/PIL/Image.py). */
typedef PINFOLD_ENUM(pinfold_pillow) {
    PINFOLD_PILLOW_13 = 0, /* 13.0.0 */
    PINFOLD_PILLOW_12 = 1  /* 12.3.0 and before */
} pinfold_pillow;

/* How 0..255 becomes 0..1; 126 of the 256 codes differ in the last bit. */
typedef PINFOLD_ENUM(pinfold_scale) {
    PINFOLD_DIVIDE = 0,  /* by 255: ToTensor, convert_image_dtype, the weights'
                          * transforms() */
    PINFOLD_MULTIPLY = 1 /* by the float nearest to 1 / 255: torchvision's v2
                          * ToDtype(float32, scale=True) */
} pinfold_scale;

/* Who decodes JPEGs; the pixels are the same. */
typedef PINFOLD_ENUM(pinfold_jpeg) {
    PINFOLD_JPEG_AUTO = 0,   /* pinfold's own decoder the common ones, and
                              * libjpeg-turbo whatever that one leaves */
    PINFOLD_JPEG_LIBJPEG = 1 /* libjpeg-turbo all */
} pinfold_jpeg;

/* The most of the CPU's instructions that may be used; the results are the
 * same.  One that the CPU lacks is PINFOLD_E_UNSUPPORTED. */
typedef PINFOLD_ENUM(pinfold_cpu_level) {
    PINFOLD_CPU_BEST = 0, /* all that it has */
    PINFOLD_CPU_C = 1,    /* none beyond what the compiler was told */
    PINFOLD_CPU_SSE41 = 2,
    PINFOLD_CPU_AVX2 = 3,
    PINFOLD_CPU_AVX512 = 4,
    PINFOLD_CPU_NEON = 5
} pinfold_cpu_level;

/* What is done to each image.  All zero is torchvision's ImageNet validation
 * recipe: Resize(256), CenterCrop(224), ToTensor, Normalize.
 *
 * Every image must come out at one size: without a crop, resize_height and
 * resize_width must be set. */
typedef struct pinfold_recipe {
    size_t struct_size;     /* sizeof(pinfold_recipe) */
    int32_t resize_short;   /* shorter side in pixels; 0 = 256, or nothing where
                             * resize_height is set; PINFOLD_OFF = no resize */
    int32_t resize_height;  /* with resize_width: to exactly this size */
    int32_t resize_width;
    int32_t max_size;       /* of the longer side, above resize_short; 0 = any */
    int32_t crop_height;    /* centre crop; 0 = 224; PINFOLD_OFF = none */
    int32_t crop_width;     /* 0 = crop_height */
    pinfold_filter filter;  /* 0 = PINFOLD_BILINEAR */
    pinfold_pillow pillow;  /* 0 = PINFOLD_PILLOW_13 */
    pinfold_dtype dtype;    /* 0 = PINFOLD_F32 */
    pinfold_layout layout;  /* 0 = PINFOLD_NCHW */
    float mean[3];          /* per channel, on 0..1; all six 0 = ImageNet's */
    float stddev[3];
    uint64_t max_file;      /* bytes of a picture's file, or at `encoded`, before
                             * anything is read; 0 = 2 GiB */
    uint64_t max_pixels;    /* width * height before decoding; 0 = 178956970 */
    uint64_t max_scratch;   /* bytes that one picture's decoding may take beside
                             * the file and the sample; 0 = 2 GiB */
    uint64_t max_ancillary; /* bytes inflated in one PNG chunk that holds no
                             * pixels, as Pillow's PngImagePlugin; 0 = 1 MiB */
    int32_t max_scans;      /* of a JPEG of a megapixel or more, and more in
                             * proportion of a smaller one; 0 = 256 */
    int32_t max_side;       /* of the resized and of the output picture, in
                             * pixels; 0 = 16777216 */
    int32_t exif;           /* 1 = turn pictures as their EXIF orientation says
                             * (PIL.ImageOps.exif_transpose); 0 = do not, as
                             * torchvision; TIFF is turned always, as there */
    pinfold_cpu_level cpu_level; /* 0 = PINFOLD_CPU_BEST */
    pinfold_scale scale;    /* 0 = PINFOLD_DIVIDE */
    int32_t plane_alignment; /* NCHW: each channel's plane starts at a multiple
                             * of so many bytes, a power of two up to 256; what
                             * lies between is 0; 0 = no gaps */

    /* For training: torchvision's RandomResizedCrop(crop_height x crop_width)
     * in place of the resize and the centre crop, then RandomHorizontalFlip,
     * drawn in this order from torch's generator after manual_seed(seed).
     * In a loader a sample's seed is pinfold_sample_seed(). */
    int32_t random_crop;    /* 1 = on; needs the resize_ fields at 0 */
    float flip;             /* probability of the flip, 0 to 1 */
    double random_area[2];  /* least and most of the picture's area; both 0 =
                             * 0.08 and 1 */
    double random_aspect[2]; /* width / height; both 0 = 3 / 4 and 4 / 3 */
    uint64_t random_seed;   /* for pinfold_preprocess(), pinfold_plan_picture() */
    int32_t full_decode;    /* 1 = decode all of each JPEG, not the window that
                             * the crop needs: slower, the same result */
    pinfold_jpeg jpeg;      /* 0 = PINFOLD_JPEG_AUTO; full_decode means
                             * PINFOLD_JPEG_LIBJPEG too */
} pinfold_recipe;

/* Returns a recipe with every field at its default. */
static inline pinfold_recipe pinfold_recipe_default(void)
{
    pinfold_recipe r;
    memset(&r, 0, sizeof(r));
    r.struct_size = sizeof(r);
    return r;
}

/* Returns the seed with which a loader of `seed` draws the random crop and flip
 * of the data set's sample `index` in `epoch`: it depends on nothing else, so
 * the number of workers and the order do not matter. */
PINFOLD_API uint64_t pinfold_sample_seed(uint64_t seed, int64_t epoch,
                                         int64_t index);

/* The preprocessing that belongs to trained weights. */
typedef struct pinfold_preset {
    size_t struct_size;   /* sizeof(pinfold_preset) */
    const char *name;     /* "ResNet50_Weights.IMAGENET1K_V2"; a literal */
    const char *source;   /* "torchvision 0.29.2"; a literal */
    const char *why_not;  /* NULL, or why it has no recipe; a literal */
    double accuracy;      /* ImageNet top 1 in per cent as stated there; 0 =
                           * not stated */
    int32_t model_default; /* 1 = the model's name alone means this one */
    int32_t reserved;     /* 0 */
} pinfold_preset;

PINFOLD_API int64_t pinfold_preset_count(void);

/* Fills `out` (struct_size set) for 0 <= index < the count.  Any thread. */
PINFOLD_API void pinfold_preset_get(int64_t index, pinfold_preset *out);

/* Sets in *recipe (struct_size set) resize, crop, filter, mean and stddev as the
 * weights called `name` want them, and leaves the rest.  Case does not matter;
 * "resnet50" or "ResNet50_Weights.DEFAULT" means the model's default weights.
 * PINFOLD_E_ARGUMENT: no such name, the message has the nearest;
 * PINFOLD_E_UNSUPPORTED: known, but it cannot be exact, the message says why. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_recipe_preset(pinfold_recipe *recipe, const char *name,
                      pinfold_error *err);

/* Stores in *bytes the tensor size of `n` samples under `recipe` (NULL =
 * defaults) and, where `shape` is not NULL, its shape in the recipe's layout.
 * PINFOLD_E_ARGUMENT if the recipe is invalid or the size does not fit. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_recipe_size(const pinfold_recipe *recipe, int64_t n, size_t *bytes,
                    int64_t shape[4], pinfold_error *err);

/* Decodes one picture of `size` bytes at `encoded` into `dst`, which must
 * hold pinfold_recipe_size(recipe, 1) bytes.  Starts no thread and keeps
 * nothing.  On error the contents of dst are undefined.  Any thread. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_preprocess(const pinfold_recipe *recipe, const void *encoded,
                   size_t size, void *dst, size_t dst_size, pinfold_error *err);

/* What a recipe does to one picture, in numbers.  Rows and columns count from
 * the top left; an interval is [first, end). */
typedef struct pinfold_plan {
    size_t struct_size;       /* sizeof(pinfold_plan) */
    const char *format;       /* Pillow's, such as "JPEG"; a literal */
    const char *mode;         /* Pillow's mode, such as "CMYK"; a literal */
    int32_t width, height;    /* of the picture, turned where it is */
    double exact_width, exact_height; /* after the resize, before truncation */
    int32_t resized_width, resized_height; /* what the picture is resized to */
    int32_t vertical_first;   /* 1 = rows are resampled before columns */
    int32_t crop_left, crop_top;   /* of the crop in the (padded) picture */
    int32_t pad_left, pad_top, pad_right, pad_bottom; /* black pixels */
    int32_t output_width, output_height;
    int32_t window_left, window_top, window_right, window_bottom;
                              /* source pixels that the crop needs */
    int32_t taps_x, taps_y;   /* most source pixels that one output uses */
    int32_t mirrored;         /* 1 = left to right, by a random flip */
    uint64_t scratch_bytes;   /* pinfold's own memory while it is decoded */
    int32_t region_left, region_top, region_width, region_height;
                              /* what of the picture is resized: all, or a
                               * random crop */
    const char *decoder;      /* such as "pinfold", "libjpeg-turbo" (which also
                               * takes JPEGs that turn out to be damaged),
                               * "libtiff" and "libwebp"; a literal */
    const char *decoder_why;  /* NULL, or why not pinfold's own; a literal */
    uint64_t decoder_bytes;   /* memory of pinfold's own decoder; 0 = unknown */
    int32_t orientation;      /* EXIF's, 1 to 8; 0 = none, or not looked for: the
                               * recipe's exif is 0, and the format not TIFF */
    int32_t reserved;         /* 0 */
} pinfold_plan;

/* Fills `out` (struct_size set) from the header of the picture of `size` bytes
 * at `encoded`; decodes no pixel.  Any thread. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_plan_picture(const pinfold_recipe *recipe, const void *encoded,
                     size_t size, pinfold_plan *out, pinfold_error *err);

/* ------------------------------------------------------------ dataset --- */

typedef struct pinfold_dataset_options {
    size_t struct_size;  /* sizeof(pinfold_dataset_options) */
    int32_t allow_empty; /* 1 = a class without a picture keeps its label */
    int32_t trust_index; /* 1 = look at no folder to see whether the index is
                          * still right */
    const char *list;    /* NULL = walk, or a file of samples: a line has a path
                          * below the root (or an absolute one), then a tab, a
                          * comma or spaces, then the label from 0 on.  Each
                          * file must be there */
    const char *class_list; /* NULL, or a file of the classes' names in the
                          * order of their labels, one a line: of the folders
                          * that are walked, or the names for a list's labels */
    const char *index;   /* NULL, or a file that keeps what the walk found: it is
                          * mapped where it is still right (each folder's time of
                          * change is compared), otherwise written anew.
                          * Processes share it.  Not with a list */
    int32_t no_follow_outside; /* 1 = refuse a tree where a link leads out of
                          * root or nowhere, before it is followed; a link that
                          * is made after the open is not looked at.  Not with a
                          * list or an index */
    int32_t walk_threads; /* that read class folders side by side, and end before
                          * the open does; the result is the same; 0 = 16, at
                          * most PINFOLD_WORKERS_MAX */
} pinfold_dataset_options;

/* Walks `root` (root/class/.../image) in torchvision's order: classes sorted by
 * name, and in each the files sorted by directory path, then by name; links are
 * followed; names ending in .jpg .jpeg .png .ppm .bmp .pgm .tif .tiff .webp, of
 * any case (torchvision 0.29.2 datasets/folder.py).  Opens no image.  Folders that
 * fail for a moment are read again, as a loader's files are by default.
 * `options` may be NULL.
 * PINFOLD_E_IO if root or a folder in it cannot be read, PINFOLD_E_ARGUMENT if
 * it has no class, a class has no image, or a link leads back to a folder that
 * holds it. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_dataset_open(pinfold_dataset **out, const char *root,
                     const pinfold_dataset_options *options,
                     pinfold_error *err);

/* Ends the dataset.  Loaders opened on it stay valid. */
PINFOLD_API void pinfold_dataset_close(pinfold_dataset *dataset);

PINFOLD_API int64_t pinfold_dataset_size(const pinfold_dataset *dataset);
PINFOLD_API int64_t pinfold_dataset_class_count(const pinfold_dataset *dataset);

/* NULL, or why the index was not used, and whether it was written anew:
 * "photos.index: stale: a/b: changed since; written anew". */
PINFOLD_API const char *
pinfold_dataset_remark(const pinfold_dataset *dataset);

/* Writes an index of the data set's tree to `file`, by way of another name.
 * PINFOLD_E_ARGUMENT if the data set is of a list. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_dataset_save(const pinfold_dataset *dataset, const char *file,
                     pinfold_error *err);

/* The root as it was given to the open. */
PINFOLD_API const char *pinfold_dataset_root(const pinfold_dataset *dataset);

/* The three below need 0 <= index < the matching count; the name and path are
 * NUL-terminated bytes as the file system gave them, not always UTF-8.  The
 * path is the one below the root, such as "n01440764/1.JPEG". */
PINFOLD_API const char *
pinfold_dataset_class_name(const pinfold_dataset *dataset, int64_t index);
PINFOLD_API const char *
pinfold_dataset_path(const pinfold_dataset *dataset, int64_t index);
PINFOLD_API int64_t
pinfold_dataset_label(const pinfold_dataset *dataset, int64_t index);

/* ------------------------------------------------------------- order --- */

/* Which samples an epoch visits, and in what order: torch 2.15.0's samplers,
 * each epoch run to its end, epochs following each other on one generator. */
typedef PINFOLD_ENUM(pinfold_sampler) {
    PINFOLD_SAMPLER_DEFAULT = 0,  /* each sample once; with the loader's
                                   * shuffle as DataLoader(shuffle=True) */
    PINFOLD_SAMPLER_RANDOM = 1,   /* RandomSampler(replacement, num_samples) */
    PINFOLD_SAMPLER_SUBSET = 2,   /* SubsetRandomSampler(indices) */
    PINFOLD_SAMPLER_WEIGHTED = 3, /* WeightedRandomSampler(weights,
                                   * num_samples, replacement=True) */
    PINFOLD_SAMPLER_LIST = 4,     /* the indices as they are, in each epoch */
    PINFOLD_SAMPLER_BATCHES = 5   /* the indices, cut into batch_sizes */
} pinfold_sampler;

/* Which part of it one of `world` ranks gets. */
typedef PINFOLD_ENUM(pinfold_shard) {
    PINFOLD_SHARD_EXACT = 0,      /* order[rank::world]: nothing is added, left
                                   * out or given twice; whole batches, not
                                   * samples, of PINFOLD_SAMPLER_BATCHES */
    PINFOLD_SHARD_CONTIGUOUS = 1, /* as exact, in one piece */
    PINFOLD_SHARD_TORCH = 2       /* DistributedSampler: padded by samples that
                                   * come twice, shuffled by seed + epoch */
} pinfold_shard;

/* Lists are copied.  Every index is one of the data set's. */
typedef struct pinfold_order {
    size_t struct_size;       /* sizeof(pinfold_order) */
    pinfold_sampler sampler;  /* 0 = PINFOLD_SAMPLER_DEFAULT */
    pinfold_shard shard;      /* 0 = PINFOLD_SHARD_EXACT */
    const int64_t *indices;   /* [n_indices] of subset, list and batches */
    int64_t n_indices;
    const double *weights;    /* [n_weights] one for each sample, none below 0 */
    int64_t n_weights;
    int64_t num_samples;      /* of random and weighted; 0 = the data set's */
    const int32_t *batch_sizes; /* [n_batches] 1 to the loader's batch_size */
    int64_t n_batches;
    const void *generator;    /* NULL = manual_seed() of the loader's seed, or
                               * torch.Generator.get_state() before epoch 0 */
    size_t generator_size;    /* PINFOLD_GENERATOR_SIZE, or 0 */
    int32_t replacement;      /* 1 = random draws each index anew */
    int32_t persistent_workers; /* 1 = as DataLoader's: shuffle draws a base
                               * seed before the first epoch only */
    int32_t rank, world;      /* 0 <= rank < world; both 0 = all of it */
    int32_t shard_drop_last;  /* 1 = DistributedSampler(drop_last=True) */
    int32_t reserved;         /* 0 */
} pinfold_order;

/* Bytes of torch's Generator.get_state() of the CPU. */
#define PINFOLD_GENERATOR_SIZE 5056

/* ------------------------------------------------------------- loader --- */

typedef PINFOLD_ENUM(pinfold_bad_sample) {
    PINFOLD_BAD_KEEP = 0, /* zero its pixels, set its status, go on */
    PINFOLD_BAD_FAIL = 1  /* pinfold_loader_next() returns its error */
} pinfold_bad_sample;

typedef PINFOLD_ENUM(pinfold_memory) {
    PINFOLD_MEMORY_AUTO = 0,    /* pinned if a CUDA device is usable */
    PINFOLD_MEMORY_PINNED = 1,  /* or fail to open */
    PINFOLD_MEMORY_PAGEABLE = 2
} pinfold_memory;

typedef PINFOLD_ENUM(pinfold_upload) {
    PINFOLD_UPLOAD_OFF = 0,
    PINFOLD_UPLOAD_AUTO = 1,   /* if a device is usable; else host batches */
    PINFOLD_UPLOAD_REQUIRE = 2 /* or fail to open */
} pinfold_upload;

/* Gives the loader the memory of its host slots.  Both functions are called
 * only by the thread that is inside pinfold_loader_open() or
 * pinfold_loader_close().  alloc returns `size` bytes aligned to `alignment`,
 * or NULL; memory that is not pinned makes uploads slower, not wrong. */
typedef struct pinfold_allocator {
    size_t struct_size; /* sizeof(pinfold_allocator) */
    void *cookie; /* passed to both */
    void *(*alloc)(void *cookie, size_t size, size_t alignment);
    void (*dealloc)(void *cookie, void *ptr, size_t size);
} pinfold_allocator;

/* Whose time an event is about. */
typedef PINFOLD_ENUM(pinfold_lane) {
    PINFOLD_LANE_CALLER = 0, /* the thread that calls pinfold_loader_next() */
    PINFOLD_LANE_WORKER = 1, /* lane_index says which */
    PINFOLD_LANE_DEVICE = 2, /* the thread that queues copies and waits */
    PINFOLD_LANE_STREAM = 3  /* the stream of the copies */
} pinfold_lane;

/* One span of time.  Names, each a literal: "read" a file, "make" a sample
 * (decode and transform it, strip by strip), "wait" for a free slot or an epoch,
 * "next" of the caller, "queue" a copy, "copy" from its queueing until it was
 * seen to be done (with device_normalize, the kernel behind it too), "wait for
 * the copy", "wait for the consumer". */
typedef struct pinfold_trace_event {
    size_t struct_size;        /* sizeof(pinfold_trace_event) */
    const char *name;
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
    uint64_t decode_ns, transform_ns; /* what a "make" took for each, else 0 */
    int64_t epoch, batch;      /* batch is -1 where the event is of none */
    int64_t sample;            /* dataset index, or -1 */
    pinfold_lane lane;
    int32_t lane_index;        /* of a worker, from 0; else 0 */
    pinfold_status status;     /* of the sample, the copy or the next */
    int32_t reserved;          /* 0 */
} pinfold_trace_event;

/* Gets every event when it is over, in the thread that it happened in: several
 * threads call event() at once, and it may not call the loader. */
typedef struct pinfold_trace {
    size_t struct_size; /* sizeof(pinfold_trace) */
    void *cookie; /* passed to event() */
    void (*event)(void *cookie, const pinfold_trace_event *event);
} pinfold_trace;

typedef struct pinfold_loader_options {
    size_t struct_size;            /* sizeof(pinfold_loader_options) */
    const pinfold_recipe *recipe;  /* NULL = defaults */
    const pinfold_allocator *allocator; /* NULL = the library's own */
    void *stream;        /* cudaStream_t to upload on; NULL = one of its own */
    uint64_t seed;       /* of the order, the random crop and the flip */
    int32_t batch_size;  /* samples; 0 = 256 */
    int32_t workers;     /* 0 = the CPUs that affinity and cgroup quota allow;
                          * PINFOLD_OFF = decode in the calling thread; at most
                          * PINFOLD_WORKERS_MAX */
    int32_t slots;       /* batches that are being made, ready or lent; 0 = 3;
                          * with upload, as many again on the device */
    int32_t shuffle;     /* 1 = the order of torch's DataLoader(shuffle=True)
                          * with a generator of this seed */
    int32_t drop_last;   /* 1 = leave out a short last batch; of fewer samples
                          * than a batch none is left, as with torch, and
                          * next gives PINFOLD_END at once */
    int32_t device;      /* CUDA device ordinal; 0 = the first */
    pinfold_upload upload;         /* 0 = PINFOLD_UPLOAD_OFF */
    pinfold_memory memory;         /* 0 = PINFOLD_MEMORY_AUTO */
    pinfold_bad_sample bad_sample; /* 0 = PINFOLD_BAD_KEEP */
    int32_t io_threads;  /* threads that read files ahead of the workers, for
                          * slow stores; 0 = the workers read, at most
                          * PINFOLD_WORKERS_MAX */
    const pinfold_trace *trace;    /* NULL = none */
    int32_t device_normalize; /* 1 = upload 8-bit pixels, a quarter of the bytes
                          * of f32, and have the device make the recipe's f32,
                          * f16 or bf16 elements of them: the same bits; needs
                          * an upload, and CUDA 12.8 */
    int32_t reserved;    /* 0 */
    const pinfold_order *order;    /* NULL = all of the data set */
    const void *state;   /* NULL, or pinfold_loader_state()'s, to go on with */
    size_t state_size;   /* bytes of it */
    uint64_t max_memory; /* bytes of host memory, pinned and ordinary together,
                          * above which the open is refused; 0 = any */
    int32_t numa;        /* 0 = slots and workers near the device, where the
                          * machine has several nodes and says which is near;
                          * PINFOLD_OFF = where the system puts them */
    int32_t io_retries;  /* times that a file is read again after an EIO, ESTALE
                          * or ETIMEDOUT, with waits of 0.1 s, 0.4 s and so on
                          * up to 5 s, and half a minute in all; a cancel or
                          * close ends them; 0 = 3; PINFOLD_OFF = none; at most
                          * PINFOLD_RETRIES_MAX */
} pinfold_loader_options;

#define PINFOLD_WORKERS_MAX 1024
#define PINFOLD_SLOTS_MAX 1024
#define PINFOLD_RETRIES_MAX 100

/* Returns options with every field at its default. */
static inline pinfold_loader_options pinfold_loader_options_default(void)
{
    pinfold_loader_options o;
    memset(&o, 0, sizeof(o));
    o.struct_size = sizeof(o);
    return o;
}

/* A batch, lent to the caller until pinfold_batch_release().  Only the library
 * makes one; new members are added at the end.  Tensors start 256-byte aligned
 * and 128 bytes after the last sample may be read. */
typedef struct pinfold_batch {
    void *data;        /* host tensor of `shape`; NULL when it was uploaded */
    void *device_data; /* tensor on the device, or NULL without upload */
    void *ready_event; /* cudaEvent_t behind the copy, or NULL */
    const int64_t *labels;          /* [count] */
    const int64_t *indices;         /* [count] dataset index of each sample */
    const pinfold_status *statuses; /* [count] PINFOLD_OK or why it is zeroed */
    size_t size;       /* bytes of the tensor */
    int64_t shape[4];  /* [count][3][h][w] or [count][h][w][3] */
    int64_t epoch;
    int64_t number;    /* of the batch in its epoch, from 0 */
    int32_t count;     /* samples, at most batch_size */
    int32_t bad_count; /* samples whose status is not PINFOLD_OK */
} pinfold_batch;

/* What a loader takes.  The bytes are exact: those that the open allocates and
 * the close frees; threads' stacks and what CUDA keeps for itself are not in
 * them.  Pinned bytes become ordinary ones where the system refuses to pin and
 * memory is PINFOLD_MEMORY_AUTO. */
typedef struct pinfold_memory_plan {
    size_t struct_size;  /* sizeof(pinfold_memory_plan) */
    size_t pinned_bytes; /* as in pinfold_stats: the sums of the parts below */
    size_t host_bytes;   /* ordinary memory, and an allocator's */
    size_t device_bytes;
    size_t host_slot_bytes;   /* the slots' tensors */
    size_t device_slot_bytes; /* the same on the device */
    size_t device_staging_bytes; /* where device_normalize's bytes arrive */
    size_t order_bytes;       /* the lists of the order, and an epoch's indices */
    size_t label_bytes;       /* labels, indices, statuses, errors of all slots */
    size_t worker_bytes;      /* scratch and tables that the workers keep */
    size_t ahead_bytes;       /* buffers of files that are read ahead */
    size_t loader_bytes;      /* the loader and its tables */
    uint64_t scratch_limit; /* on top, for each worker while it is at a picture
                             * that does not fit into its scratch: at most so
                             * much for decoding, the scratch_bytes of its
                             * pinfold_plan, and the file */
    uint64_t file_limit; /* at most so much for that, and for each file that is
                          * read ahead */
    int64_t samples, batches; /* of a whole epoch of this rank */
    int64_t workers;     /* threads; 0 = the calling thread */
    int64_t io_threads;
    int64_t device_threads;
    int64_t numa_node;   /* where slots and workers go, or -1 */
    const char *memory;  /* "pinned", "pageable" or "caller's"; a literal */
    const char *upload;  /* "on", or why not, for people: device_bytes are above
                          * 0 with an upload; a literal */
} pinfold_memory_plan;

/* Fills `out` (struct_size set) with what pinfold_loader_open() would take, and
 * fails where that would before it allocates, save above max_memory.  Allocates
 * nothing itself.  `options` may be NULL.  Asks the CUDA runtime for its devices
 * where a device may be used. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_loader_plan(pinfold_dataset *dataset,
                    const pinfold_loader_options *options,
                    pinfold_memory_plan *out, pinfold_error *err);

/* Starts the workers and allocates every buffer that the loader keeps: what
 * pinfold_loader_plan() says, or nothing where that is above max_memory, which
 * is PINFOLD_E_LIMIT.
 * `options` may be NULL.  Nothing is decoded before pinfold_loader_start(). */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_loader_open(pinfold_loader **out, pinfold_dataset *dataset,
                    const pinfold_loader_options *options, pinfold_error *err);

/* Starts an epoch, dropping what is left of the one before; lent batches stay
 * lent.  The same seed and epoch give the same order whatever the number of
 * workers.  Waits for the pictures that are being decoded, not for reads. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_loader_start(pinfold_loader *loader, int64_t epoch, pinfold_error *err);

/* Most bytes of a loader's state. */
#define PINFOLD_STATE_MAX 4096

/* Stores in `dst` of dst_size bytes, at most PINFOLD_STATE_MAX, where the loader
 * stands: behind the batch that pinfold_loader_next() lent last.  Stores the
 * bytes in *size.  PINFOLD_E_STATE before the first start.
 *
 * A loader that is opened with a state (on the same data set, with the same
 * recipe, seed, order and batch_size; the message says what differs) is started
 * by the open: pinfold_loader_next() goes on with the next batch, byte for byte,
 * whatever the number of workers.  With PINFOLD_SHARD_EXACT rank and world may
 * differ: where every rank of the new world opens with a state that was taken
 * when each of the old ones had taken as many batches, what is left of the
 * epoch is dealt anew, each sample once over all. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_loader_state(pinfold_loader *loader, void *dst, size_t dst_size,
                     size_t *size, pinfold_error *err);

/* The epoch that was started last, or -1. */
PINFOLD_API int64_t pinfold_loader_epoch(const pinfold_loader *loader);

/* Batches, and samples in them, of an epoch of this rank: the one that was
 * started last, from where it was started. */
PINFOLD_API int64_t pinfold_loader_batch_count(const pinfold_loader *loader);
PINFOLD_API int64_t pinfold_loader_sample_count(const pinfold_loader *loader);

/* Writes to `dst` of PINFOLD_GENERATOR_SIZE bytes what torch's
 * Generator.get_state() gives behind the epoch that was started last (before
 * the first start: before epoch 0). */
PINFOLD_API void pinfold_loader_generator(const pinfold_loader *loader,
                                          void *dst);

/* The indices that a loader with these options (of which only seed, shuffle,
 * batch_size, drop_last and order count; NULL = defaults) gives in `epoch` of a
 * data set of n samples.  Stores how many there are in *count, and the first
 * `room` of them in dst.  Any thread. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_order_indices(const pinfold_loader_options *options, int64_t n,
                      int64_t epoch, int64_t *dst, int64_t room, int64_t *count,
                      pinfold_error *err);

/* Lends the next batch, in order.  Waits at most timeout_ms (below 0 = for
 * ever); without workers, as long as a sample takes beyond that.  Nothing is
 * lost by a PINFOLD_TIMEOUT: call again.  With upload the copy may still be
 * running: make your stream wait on ready_event before it reads device_data.
 *
 * Returns PINFOLD_OK, PINFOLD_END, PINFOLD_TIMEOUT, or an error.  At most
 * `slots` batches can be out at once: asking for more is PINFOLD_E_STATE. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_loader_next(pinfold_loader *loader, int32_t timeout_ms,
                    const pinfold_batch **out, pinfold_error *err);

/* As pinfold_loader_next(), with the tensor copied to `dst` of `dst_size`
 * bytes, where the batch's data then points.  Host batches only.  To have the
 * workers write into your memory without this copy, bring an allocator. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_loader_next_into(pinfold_loader *loader, int32_t timeout_ms, void *dst,
                         size_t dst_size, const pinfold_batch **out,
                         pinfold_error *err);

/* Counters since the open, and where things stand.  caller_wait_ns is time blocked in
 * pinfold_loader_next(), worker_wait_ns time in which no slot was being filled
 * because none was free: where the first exceeds the second, the loader is the
 * bottleneck. */
typedef struct pinfold_stats {
    size_t struct_size; /* sizeof(pinfold_stats) */
    size_t pinned_bytes, host_bytes, device_bytes; /* held until the close */
    uint64_t batches, samples, bad_samples, bytes_read;
    uint64_t read_ns, decode_ns, transform_ns; /* summed over workers */
    uint64_t copy_ns; /* from queueing a copy until it was seen to be done */
    uint64_t caller_wait_ns, worker_wait_ns;
    int64_t workers;    /* threads; 0 = the calling thread */
    int64_t slots;
    const char *memory; /* "pinned", "partly pinned", "pageable" or "caller's";
                         * a literal */
    const char *upload; /* "on", or why not, for people: device_bytes are above 0
                         * with an upload; a literal */
    /* Some of the samples, by their indices, are timed stage by stage: */
    uint64_t detailed_samples; /* so many */
    uint64_t detailed_read_ns, detailed_header_ns;
    uint64_t detailed_decode_ns;  /* pixels, without the header */
    uint64_t detailed_plan_ns;    /* plan and filter tables */
    uint64_t detailed_horizontal_ns, detailed_vertical_ns;
    uint64_t detailed_normalize_ns; /* flip, scale, layout */
    /* JPEGs that pinfold's own decoder left to libjpeg-turbo, and what it took
     * until it did; part of decode_ns. */
    uint64_t jpeg_fallbacks, jpeg_fallback_ns;
    uint64_t read_retries; /* files that were read again: see io_retries */
    /* At the moment of the call: */
    int32_t slots_filling; /* slots whose samples are being made */
    int32_t slots_ready;   /* those that can be lent; on the device with upload */
    int32_t slots_lent;    /* as these */
    int32_t workers_busy;  /* samples that are being made */
} pinfold_stats;

/* `out->struct_size` must be set; no more than that is written.  Any thread. */
PINFOLD_API void
pinfold_loader_stats(const pinfold_loader *loader, pinfold_stats *out);

/* Makes a blocked and every later pinfold_loader_next() return
 * PINFOLD_E_CANCELLED until the next start.  Any thread, any time before the
 * close. */
PINFOLD_API void pinfold_loader_cancel(pinfold_loader *loader);

/* Joins the threads, waits for running copies, frees the buffers.  Batches that
 * are still out become invalid.  Waits for the pictures and copies in work, but
 * at most timeout_ms (below 0 = for ever) for reads: a thread that is in one then
 * (on a mount that is gone, it may never return) is left behind with its scratch
 * memory and the data set, and frees them if the read ends, so that the library
 * must stay loaded.  It starts no sample and touches no batch, allocator, trace
 * or device.  PINFOLD_TIMEOUT says that this happened, and at which file;
 * the loader is gone whatever the result is. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_loader_close_within(pinfold_loader *loader, int32_t timeout_ms,
                            pinfold_error *err);

/* The same within 5 seconds, without a word. */
PINFOLD_API void pinfold_loader_close(pinfold_loader *loader);

/* Fills `err` with why sample i of the batch is bad; 0 <= i < count. */
PINFOLD_API void
pinfold_batch_error(const pinfold_batch *batch, int32_t i, pinfold_error *err);

/* Gives the batch back.  Its memory may be overwritten at once, so the caller's
 * work on it must be over.  NULL is allowed. */
PINFOLD_API void pinfold_batch_release(const pinfold_batch *batch);

/* Gives the batch back as soon as the work now queued on `stream` (a
 * cudaStream_t; NULL = the legacy default stream) is done, without waiting for
 * it here.  For host batches that your stream copies from, too.  Where the
 * loader uses no device (none is usable, or upload is off and memory pageable)
 * NULL is pinfold_batch_release(), and a stream an error.  On error the batch
 * is still out. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_batch_release_after(const pinfold_batch *batch, void *stream,
                            pinfold_error *err);

/* ------------------------------------------------------------- access --- */

/* Threads that pinfold_read() shares its samples out to.  Any threads may use
 * one at once; none may when it is closed.  It does not survive fork(). */
typedef struct pinfold_pool pinfold_pool;

/* `workers` threads; 0 = the CPUs that affinity and cgroup quota allow; at most
 * PINFOLD_WORKERS_MAX. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_pool_open(pinfold_pool **out, int32_t workers, pinfold_error *err);
PINFOLD_API void pinfold_pool_close(pinfold_pool *pool);

typedef struct pinfold_read_options {
    size_t struct_size;  /* sizeof(pinfold_read_options) */
    pinfold_pool *pool;  /* NULL = in the calling thread */
    int64_t *labels;     /* [n] to be filled in, or NULL */
    pinfold_status *statuses; /* [n] to be filled in: PINFOLD_OK or why the
                          * sample is zeroed; NULL = the first bad one, by its
                          * place, is the call's error */
    uint64_t seed;       /* with epoch, of the random crop and flip: as a */
    int64_t epoch;       /* loader's */
} pinfold_read_options;

/* Makes the data set's samples `indices` of n, in this order, any number of
 * times each, one behind the other in `dst`, which must hold
 * pinfold_recipe_size(recipe, n) bytes.  `options` may be NULL.  Keeps nothing.
 * On error the contents of dst, labels and statuses are undefined.  Any thread. */
PINFOLD_API PINFOLD_MUST_CHECK pinfold_status
pinfold_read(const pinfold_dataset *dataset, const pinfold_recipe *recipe,
             const int64_t *indices, int64_t n, void *dst, size_t dst_size,
             const pinfold_read_options *options, pinfold_error *err);

#ifdef __cplusplus
}
#endif

#endif /* PINFOLD_PINFOLD_H */
