/* SPDX-License-Identifier: Apache-2.0
 * A simulated machine with a consumer. */
#include "tests/support/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/door.h"

static void must(int code, const char *what)
{
    if (!code)
        return;
    (void)fprintf(stderr, "scene: %s gives %d\n", what, code);
    exit(2);
}

/* The scene's own calls are made on its device, and do not fail. */
static void enter_device(struct scene *s)
{
    fake_gpu_spare(true);
    must(s->gpu->current_device(s->gpu->cookie, &s->before), "current_device");
    must(s->gpu->use_device(s->gpu->cookie, SCENE_DEVICE), "use_device");
}

static void leave_device(struct scene *s)
{
    must(s->gpu->use_device(s->gpu->cookie, s->before), "use_device");
    fake_gpu_spare(false);
}

void scene_begin(struct scene *s, struct fake_set *set, uint64_t seed)
{
    memset(s, 0, sizeof(*s));
    sim_begin(seed);
    s->set = set;
    s->fake = fake_door_open(2, &s->gpu);
    must(!s->fake, "fake_door_open");
    fake_gpu_join(s->fake, &sim_world);
    set->world = &sim_world;
    set->read_ns = 250;
    s->recipe = fake_recipe();
    s->options = pinfold_loader_options_default();
    s->options.recipe = &s->recipe;
    s->options.batch_size = SCENE_BATCH;
    s->options.workers = 2;
    s->options.device = SCENE_DEVICE;
    s->options.upload = PINFOLD_UPLOAD_REQUIRE;
    enter_device(s);
    for (int i = 0; i < SCENE_STREAMS; i++)
        must(s->gpu->stream_create(s->gpu->cookie, &s->streams[i]), "stream");
    leave_device(s);
}

static const char *what_is_wrong(struct scene *s)
{
    struct fake_live live;

    if (fake_gpu_misuse(s->fake))
        return fake_gpu_misuse(s->fake);
    if (s->wrong)
        return "a batch does not hold its own samples";
    enter_device(s);
    if (s->before != 0 && !s->may_lose_device)
        return "the caller's device was not restored";
    for (int i = 0; i < SCENE_STREAMS; i++)
        must(s->gpu->stream_destroy(s->gpu->cookie, s->streams[i]), "stream");
    leave_device(s);
    live = fake_gpu_live(s->fake);
    return live.pins + live.allocs + live.streams + live.events + live.libraries
               ? "something on the device was not freed"
               : fake_gpu_misuse(s->fake);
}

int scene_end(struct scene *s, const char *what)
{
    const char *wrong, *door;

    pinfold_loader_close(s->loader);
    wrong = what_is_wrong(s);
    sim_end();
    door = fake_door_close(s->fake);
    wrong = wrong ? wrong : door;
    if (wrong)
        (void)fprintf(stderr, "%s: %s\n", what, wrong);
    return wrong != NULL;
}

pinfold_status scene_open(struct scene *s, pinfold_error *err)
{
    return pfi_loader_open(&s->loader, s->set->dataset, &s->options, s->gpu,
                           &s->set->reader, err);
}

void scene_normalize(struct scene *s)
{
    s->recipe = fake_float_recipe();
    s->options.device_normalize = s->gpu->launch != NULL;
}

static struct scene_use *use_of(struct scene *s, const pinfold_batch *batch)
{
    struct scene_use *const use = &s->uses[s->n_uses++ % SCENE_USES];
    const size_t n = (size_t)batch->count;

    use->set = s->set;
    use->wrong = &s->wrong;
    use->floats = s->recipe.dtype == PINFOLD_F32;
    use->data = batch->device_data ? batch->device_data : batch->data;
    use->batch = *batch;
    memcpy(use->labels, batch->labels, n * sizeof(*use->labels));
    memcpy(use->indices, batch->indices, n * sizeof(*use->indices));
    memcpy(use->statuses, batch->statuses, n * sizeof(*use->statuses));
    use->batch.labels = use->labels;
    use->batch.indices = use->indices;
    use->batch.statuses = use->statuses;
    return use;
}

static void check(void *argument, bool at_end)
{
    const struct scene_use *const use = argument;

    if (use->floats ? fake_float_batch_right(use->set, &use->batch, use->data)
                    : fake_batch_right(use->set, &use->batch, use->data))
        return;
    (void)fprintf(stderr, "  at the %s of the work, at %llu ns\n",
                  at_end ? "end" : "start", (unsigned long long)sim_now());
    *use->wrong += 1;
}

void scene_work(struct scene *s, const pinfold_batch *batch, int stream,
                uint64_t ns)
{
    struct scene_use *const use = use_of(s, batch);

    enter_device(s);
    if (batch->ready_event)
        must(s->gpu->stream_wait(s->gpu->cookie, s->streams[stream],
                                 batch->ready_event),
             "stream_wait");
    leave_device(s);
    fake_gpu_work(s->fake, s->streams[stream], use->data, batch->size, ns,
                  check, use);
}

void scene_look(struct scene *s, const pinfold_batch *batch)
{
    struct scene_use *const use = use_of(s, batch);

    enter_device(s);
    if (batch->ready_event)
        must(s->gpu->event_wait(s->gpu->cookie, batch->ready_event),
             "event_wait");
    leave_device(s);
    check(use, true);
}
