/* SPDX-License-Identifier: Apache-2.0
 * The parts of the server: a model, and threads that feed it by batches. */
#ifndef SERVER_H
#define SERVER_H

#include <stdbool.h>

#include <pinfold/pinfold.h>

#define TOP 5

/* ------------------------------------------------------------- model.c --- */

struct best {
    size_t class[TOP];
    float logit[TOP];
    size_t count; /* TOP, or as many classes as there are */
};

/* An ONNX model in the ONNX Runtime that the dynamic linker finds.  Where the
 * model cannot take what the recipe gives, says why and ends the program. */
struct model *model_open(const char *path, const pinfold_recipe *recipe);
void model_close(struct model *model); /* NULL is allowed */

/* Samples in each run, where the model does not leave it open; else 0. */
int32_t model_batch(const struct model *model);

/* Classifies `count` samples at `tensor`, which has room for model_batch(). Any
 * thread.  Returns NULL, or why it failed, to be freed. */
char *model_run(struct model *model, void *tensor, int32_t count,
                struct best *best);

/* -------------------------------------------------------------- work.c --- */

/* One picture, from its request to its answer. */
struct job {
    struct job *next;
    void *owner;
    unsigned char *picture;
    size_t size, room;
    unsigned status; /* HTTP's; 0 = not answered yet */
    char answer[512];
};

struct work_options {
    pinfold_recipe recipe;
    struct model *model; /* NULL = answer with the tensor's checksum */
    int32_t queue;       /* jobs that may wait */
    int32_t batch;       /* most samples in a run of the model */
    int32_t workers;
    void (*done)(struct job *job); /* the worker's last touch of it */
};

/* NULL: it could not be started. */
struct work *work_open(const struct work_options *options);

/* Returns false where the queue is full or closed: the job stays the caller's,
 * which otherwise gets it back by done(). */
bool work_add(struct work *work, struct job *job);

/* Takes no more jobs; those that wait are done before it returns. */
void work_finish(struct work *work);

/* Nothing else uses it any more. */
void work_close(struct work *work);

void job_answer(struct job *job, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
