/* SPDX-License-Identifier: Apache-2.0
 * Call k of a loader's life fails, for every k: the error names the call and
 * its code, nothing hangs or leaks, lent batches hold their samples, and where
 * the device lives on, the next epoch is whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scene.h"

#define SAMPLES 14
#define EPOCHS 3

/* What may fail without a word: there is another way, or nobody to tell. */
static const char *const quiet[] = {
    "cudaFree",         "cudaFreeHost",      "cudaHostUnregister",
    "cudaEventDestroy", "cudaStreamDestroy", "cudaLibraryUnload",
};

struct scenario {
    const char *name;
    int32_t workers, slots;
    pinfold_upload upload;
    pinfold_memory memory;
    bool own_stream, cancels, gives_up; /* closes at the first error */
    const char *refused;                /* this call always fails */
    bool normalizes;                    /* on the device */
};

static const struct scenario scenarios[] = {
    {"upload", 2, 2, PINFOLD_UPLOAD_REQUIRE, PINFOLD_MEMORY_AUTO, false, false,
     false, NULL, false},
    {"one slot, no worker", PINFOLD_OFF, 1, PINFOLD_UPLOAD_REQUIRE,
     PINFOLD_MEMORY_PINNED, false, false, false, NULL, false},
    {"the caller's stream", 1, 3, PINFOLD_UPLOAD_REQUIRE, PINFOLD_MEMORY_AUTO,
     true, false, false, NULL, false},
    {"cancel", 2, 3, PINFOLD_UPLOAD_AUTO, PINFOLD_MEMORY_AUTO, false, true,
     false, NULL, false},
    {"ordinary memory", 1, 2, PINFOLD_UPLOAD_REQUIRE, PINFOLD_MEMORY_PAGEABLE,
     false, false, false, NULL, false},
    {"registered memory", 1, 2, PINFOLD_UPLOAD_REQUIRE, PINFOLD_MEMORY_PINNED,
     false, false, false, "cudaHostAlloc", false},
    {"closes at once", 2, 3, PINFOLD_UPLOAD_REQUIRE, PINFOLD_MEMORY_PINNED,
     false, false, true, NULL, false},
    {"host batches", 1, 2, PINFOLD_UPLOAD_OFF, PINFOLD_MEMORY_PINNED, false,
     false, false, NULL, false},
    {"normalise on the device", 2, 2, PINFOLD_UPLOAD_REQUIRE,
     PINFOLD_MEMORY_AUTO, false, false, false, NULL, true},
    {"normalise on the caller's stream", 1, 3, PINFOLD_UPLOAD_REQUIRE,
     PINFOLD_MEMORY_PAGEABLE, true, false, false, NULL, true},
    {"normalise and cancel", PINFOLD_OFF, 1, PINFOLD_UPLOAD_AUTO,
     PINFOLD_MEMORY_AUTO, false, true, false, NULL, true},
};

#define N_SCENARIOS ((int)(sizeof(scenarios) / sizeof(scenarios[0])))

struct life {
    struct scene scene;
    const struct scenario *scenario;
    pinfold_error error; /* the first */
    bool closing;
    int whole_epochs;
};

static bool is_quiet(const char *call)
{
    for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++)
        if (!strcmp(quiet[i], call))
            return true;
    return false;
}

/* Whether the loader may do without this call: what a cancelled epoch fails at
 * is of no consequence. */
static bool has_way_round(const struct scenario *scenario, const char *call)
{
    if (scenario->cancels &&
        (!strcmp(call, "cudaEventSynchronize") ||
         !strcmp(call, "cudaMemcpyAsync") || !strcmp(call, "cudaEventRecord") ||
         !strcmp(call, "cudaStreamWaitEvent") ||
         !strcmp(call, "cudaLaunchKernel")))
        return true;
    if (!strcmp(call, "cudaGetDeviceCount"))
        return scenario->upload == PINFOLD_UPLOAD_AUTO;
    if (!strcmp(call, "cudaHostRegister"))
        return scenario->memory == PINFOLD_MEMORY_AUTO;
    return !strcmp(call, "cudaHostAlloc");
}

static void note(struct life *life, const pinfold_error *err)
{
    if (!life->error.status)
        life->error = *err;
}

/* Gives the batch back one way or another, whatever fails. */
static void give_back(struct life *life, const pinfold_batch *batch)
{
    struct scene *const s = &life->scene;
    const int stream = (int)(batch->number % SCENE_STREAMS);
    pinfold_error err;

    if (batch->number % 4 == 3) {
        scene_look(s, batch);
        pinfold_batch_release(batch);
        return;
    }
    scene_work(s, batch, stream, batch->number % 2 ? 700 : 20000);
    if (!pinfold_batch_release_after(batch, s->streams[stream], &err))
        return;
    /* Where the loader went on without the device, it takes no stream. */
    if (err.status != PINFOLD_E_ARGUMENT)
        note(life, &err);
    fake_gpu_run(s->fake, s->streams[stream]);
    pinfold_batch_release(batch);
}

static void run_epoch(struct life *life, int64_t epoch)
{
    struct scene *const s = &life->scene;
    const pinfold_batch *batch;
    pinfold_error err;
    pinfold_status status = pinfold_loader_start(s->loader, epoch, &err);
    int64_t seen = 0;

    while (!status) {
        status = pinfold_loader_next(s->loader, -1, &batch, &err);
        if (status)
            break;
        seen += batch->count;
        give_back(life, batch);
        if (life->scenario->cancels && epoch == 1 && batch->number == 1)
            pinfold_loader_cancel(s->loader);
    }
    if (status == PINFOLD_E_CANCELLED && life->scenario->cancels && epoch == 1)
        return;
    if (status < 0)
        note(life, &err);
    life->whole_epochs += status == PINFOLD_END && seen == SAMPLES;
}

static void begin(struct life *life, struct fake_set *set,
                  const struct scenario *scenario)
{
    struct scene *const s = &life->scene;

    memset(life, 0, sizeof(*life));
    life->scenario = scenario;
    scene_begin(s, set, 1);
    s->options.workers = scenario->workers;
    s->options.slots = scenario->slots;
    s->options.upload = scenario->upload;
    s->options.memory = scenario->memory;
    s->options.stream = scenario->own_stream ? s->streams[2] : NULL;
    if (scenario->normalizes)
        scene_normalize(s);
    fake_gpu_speed(s->fake, 300, 0.2);
    fake_gpu_refuse(s->fake, scenario->refused, 2);
}

static void live(struct life *life)
{
    pinfold_error err;

    if (scene_open(&life->scene, &err)) {
        note(life, &err);
        return;
    }
    for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
        run_epoch(life, epoch);
        if (life->scenario->gives_up && life->error.status)
            return;
    }
    life->closing = true;
}

/* What is wrong with how the failure was told, or NULL. */
static const char *judge(const struct life *life, const char *failed, int code,
                         bool for_ever)
{
    const pinfold_error *const e = &life->error;
    const int whole = EPOCHS - (life->scenario->cancels ? 1 : 0);

    if (!failed)
        return life->whole_epochs == whole ? NULL
                                           : "nothing failed, but an epoch";
    if (e->status) {
        if (e->status != PINFOLD_E_CUDA || e->sys_code != code)
            return "another status or code";
        /* Where all fail, another thread's call may be told of first. */
        if (!strstr(e->message, for_ever ? "cuda" : failed))
            return "the message does not name the call";
        if (!for_ever && life->closing && life->whole_epochs < whole - 1)
            return "the next epoch was not whole";
        return NULL;
    }
    if (life->whole_epochs < whole)
        return "an epoch lacks samples, and no error says so";
    return NULL;
}

/* Returns the number of calls, or -1 on failure; k = -1 fails none. */
static long one_life(struct fake_set *set, const struct scenario *scenario,
                     long k, int code, bool for_ever, long *errors)
{
    struct life life;
    char what[128];
    const char *failed, *wrong;
    long calls, before;
    bool told;

    begin(&life, set, scenario);
    before = fake_gpu_calls(life.scene.fake);
    if (k >= 0)
        fake_gpu_fail(life.scene.fake, k, code, for_ever);
    live(&life);
    failed =
        scenario->refused && k < 0 ? NULL : fake_gpu_failed(life.scene.fake);
    told = life.error.status != PINFOLD_OK;
    wrong = judge(&life, failed, code, for_ever);
    if (!wrong && failed && !told && !is_quiet(failed) &&
        !has_way_round(scenario, failed))
        wrong = "an error that nobody hears of";
    *errors += told;
    pinfold_loader_close(life.scene.loader);
    life.scene.loader = NULL;
    calls = fake_gpu_calls(life.scene.fake) - before;
    (void)snprintf(what, sizeof(what), "%s: call %ld, %s, code %d%s",
                   scenario->name, k, failed ? failed : "none", code,
                   for_ever ? " for ever" : "");
    if (wrong)
        (void)fprintf(stderr, "%s: %s (%s)\n", what, wrong, life.error.message);
    failed = fake_gpu_failed(life.scene.fake);
    life.scene.may_lose_device =
        for_ever || (failed && (!strcmp(failed, "cudaSetDevice") ||
                                !strcmp(failed, "cudaGetDevice")));
    return scene_end(&life.scene, what) || wrong ? -1 : calls;
}

static int sweep(struct fake_set *set, const struct scenario *scenario)
{
    static const int codes[] = {2, 700};
    long errors = 0, runs = 0, bad = 0, calls;

    calls = one_life(set, scenario, -1, 0, false, &errors);
    if (calls <= 0 || errors)
        return 1;
    for (long k = 0; k < calls; k++)
        for (int for_ever = 0; for_ever < 2; for_ever++, runs++)
            bad += one_life(set, scenario, k, codes[for_ever], for_ever,
                            &errors) < 0;
    (void)printf("%s: %ld calls, %ld lives, %ld with an error, %ld wrong\n",
                 scenario->name, calls, runs, errors, bad);
    return bad != 0 || errors < calls / 2;
}

int main(void)
{
    struct fake_set set;
    int failed = 0;

    fake_set_open(&set, SAMPLES);
    for (int i = 0; i < N_SCENARIOS; i++)
        failed |= sweep(&set, &scenarios[i]);
    fake_set_close(&set);
    return failed;
}
