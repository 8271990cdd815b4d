/* SPDX-License-Identifier: Apache-2.0
 * What the probe says of each answer, and that the fake runtime, on which the
 * loader's tests stand, is late, ordered and strict. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fakegpu.h"

static struct fake_gpu *fake;
static const struct pfi_gpu *gpu;
static void *cookie;

static void setup(void)
{
    fake = fake_gpu_start(2);
    cr_assert_not_null(fake);
    gpu = fake_gpu_table(fake);
    cookie = gpu->cookie;
}

static void teardown(void)
{
    fake_gpu_end(fake);
}

TestSuite(probe, .init = setup, .fini = teardown);
TestSuite(fakegpu, .init = setup, .fini = teardown);

static void expect(int code, int runtime, int driver, const char *part)
{
    const char *why = NULL;
    int devices = -1;

    fake_gpu_script(fake, code, runtime, driver);
    (void)pfi_gpu_probe(gpu, &devices, &why);
    cr_assert_eq(devices, 0, "code %d", code);
    cr_assert_not_null(why);
    cr_assert_not_null(strstr(why, part), "code %d: %s", code, why);
}

Test(probe, counts_devices)
{
    const char *why = NULL;
    int devices = -1;

    cr_assert_eq(pfi_gpu_probe(gpu, &devices, &why), 0);
    cr_assert_eq(devices, 2);
    cr_assert_str_eq(why, "usable");
}

Test(probe, says_why_there_is_none)
{
    expect(801, 0, 0, "built without CUDA");
    expect(35, 13000, 0, "no NVIDIA driver");
    expect(35, 13000, 12040, "too old");
    expect(34, 13000, 0, "stub");
    expect(100, 13000, 13000, "no CUDA device");
    expect(3, 13000, 13000, "initialised");
    expect(802, 13000, 13000, "not ready");
    expect(803, 13000, 13000, "do not match");
    expect(804, 13000, 13000, "compatibility");
    expect(999, 13000, 13000, "unknown");
    expect(12345, 13000, 13000, "unknown");
}

Test(probe, none_where_the_count_is_zero)
{
    struct fake_gpu *const empty = fake_gpu_start(0);
    const char *why = NULL;
    int devices = -1;

    cr_assert_eq(pfi_gpu_probe(fake_gpu_table(empty), &devices, &why), 0);
    cr_assert_eq(devices, 0);
    cr_assert_str_eq(why, "no CUDA device");
    fake_gpu_end(empty);
}

Test(probe, the_built_back_end_answers)
{
    const char *why = NULL;
    int devices = -1;

    (void)pfi_gpu_probe(pfi_gpu_default(), &devices, &why);
    cr_assert_geq(devices, 0);
    cr_assert_not_null(why);
    cr_assert_eq(devices > 0, strcmp(why, "usable") == 0);
}

/* Host memory holding `value`, device memory, a stream and an event. */
struct parts {
    unsigned char *host, *device;
    void *stream, *event;
};

static struct parts make_parts(unsigned char value)
{
    struct parts p = {0};
    void *host = NULL, *device = NULL;

    cr_assert_eq(gpu->use_device(cookie, 1), 0);
    cr_assert_eq(gpu->pin(cookie, &host, 64), 0);
    cr_assert_eq(gpu->alloc(cookie, &device, 64), 0);
    cr_assert_eq(gpu->stream_create(cookie, &p.stream), 0);
    cr_assert_eq(gpu->event_create(cookie, &p.event), 0);
    p.host = host;
    p.device = device;
    memset(p.host, value, 64);
    return p;
}

static void end_parts(const struct parts *p)
{
    cr_assert_eq(gpu->event_destroy(cookie, p->event), 0);
    cr_assert_eq(gpu->stream_destroy(cookie, p->stream), 0);
    cr_assert_eq(gpu->dealloc(cookie, p->device), 0);
    cr_assert_eq(gpu->unpin(cookie, p->host), 0);
}

static void copy(const struct parts *p)
{
    cr_assert_eq(gpu->copy_async(cookie, p->device, p->host, 64, p->stream), 0);
    cr_assert_eq(gpu->event_record(cookie, p->event, p->stream), 0);
}

Test(fakegpu, copies_when_an_event_behind_is_waited_for)
{
    const struct parts p = make_parts(7);

    copy(&p);
    cr_assert_neq(p.device[0], 7, "too early");
    cr_assert_eq(fake_gpu_live(fake).pending, 1);
    cr_assert_eq(gpu->copy_async(cookie, p.device, p.host, 64, p.stream), 0);
    cr_assert_eq(gpu->event_wait(cookie, p.event), 0);
    cr_assert_eq(fake_gpu_live(fake).pending, 1, "no further than the event");
    cr_assert_neq(p.device[0], 7, "the second copy has begun");
    cr_assert_eq(gpu->stream_sync(cookie, p.stream), 0);
    cr_assert_eq(p.device[63], 7);
    end_parts(&p);
    cr_assert_null(fake_gpu_misuse(fake));
}

Test(fakegpu, reports_host_memory_that_changes_under_a_copy)
{
    const struct parts p = make_parts(7);

    copy(&p);
    memset(p.host, 8, 64);
    cr_assert_eq(gpu->event_wait(cookie, p.event), 0);
    cr_assert_eq(p.device[0], 7, "read at the start");
    cr_assert_eq(p.device[63], 8, "read at the end");
    cr_assert_not_null(fake_gpu_misuse(fake));
    end_parts(&p);
}

Test(fakegpu, tells_pinned_memory_from_other)
{
    const struct parts p = make_parts(7);
    unsigned char plain[64] = {3};

    cr_assert_eq(gpu->copy_async(cookie, p.device, plain, 64, p.stream), 0);
    cr_assert_eq(fake_gpu_pageable_copies(fake), 1);
    cr_assert_eq(gpu->stream_sync(cookie, p.stream), 0);
    cr_assert_eq(gpu->host_register(cookie, plain, 64), 0);
    cr_assert_neq(gpu->host_register(cookie, plain, 64), 0, "it is already");
    cr_assert_eq(fake_gpu_live(fake).pins, 2);
    cr_assert_eq(gpu->copy_async(cookie, p.device, plain, 64, p.stream), 0);
    cr_assert_eq(fake_gpu_pinned_copies(fake), 1);
    cr_assert_eq(gpu->stream_sync(cookie, p.stream), 0);
    cr_assert_eq(gpu->host_unregister(cookie, plain), 0);
    cr_assert_eq(plain[0], 3, "what was registered stays the caller's");
    end_parts(&p);
    cr_assert_null(fake_gpu_misuse(fake));
}

Test(fakegpu, reports_a_call_on_another_device)
{
    const struct parts p = make_parts(7);

    cr_assert_eq(gpu->use_device(cookie, 0), 0);
    copy(&p);
    cr_assert_not_null(fake_gpu_misuse(fake));
    fake_gpu_run_all(fake);
    end_parts(&p);
}

Test(fakegpu, reports_a_call_from_a_forked_child)
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0) {
        (void)gpu->use_device(cookie, 0);
        _exit(fake_gpu_misuse(fake) ? 0 : 1);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    cr_assert_null(fake_gpu_misuse(fake));
}

static void count_work(void *argument, bool at_end)
{
    ((int *)argument)[at_end]++;
}

Test(fakegpu, work_is_seen_at_its_start_and_end)
{
    const struct parts a = make_parts(1), b = make_parts(2);
    int calls[2] = {0, 0};

    copy(&a);
    cr_assert_eq(gpu->stream_wait(cookie, b.stream, a.event), 0);
    fake_gpu_work(fake, b.stream, a.device, 64, 1000, count_work, calls);
    cr_assert(calls[0] == 0 && calls[1] == 0);
    cr_assert_eq(gpu->event_wait(cookie, a.event), 0);
    cr_assert(calls[0] == 1 && calls[1] == 0, "behind the copy");
    fake_gpu_run(fake, b.stream);
    cr_assert(calls[0] == 1 && calls[1] == 1);
    end_parts(&a);
    end_parts(&b);
    cr_assert_null(fake_gpu_misuse(fake));
}

Test(fakegpu, refuses_every_call_of_a_name)
{
    void *ptr = NULL;

    cr_assert_eq(gpu->use_device(cookie, 0), 0);
    fake_gpu_refuse(fake, "cudaHostAlloc", 2);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(gpu->pin(cookie, &ptr, 64), 2);
    fake_gpu_refuse(fake, NULL, 0);
    cr_assert_eq(gpu->pin(cookie, &ptr, 64), 0);
}

Test(fakegpu, a_stream_waits_for_another)
{
    const struct parts a = make_parts(1), b = make_parts(2);

    copy(&a);
    cr_assert_eq(gpu->stream_wait(cookie, b.stream, a.event), 0);
    cr_assert_eq(gpu->copy_async(cookie, b.device, a.device, 64, b.stream), 0);
    fake_gpu_run(fake, b.stream);
    cr_assert_eq(b.device[0], 1);
    cr_assert_eq(fake_gpu_live(fake).pending, 0);
    end_parts(&a);
    end_parts(&b);
    cr_assert_null(fake_gpu_misuse(fake));
}

Test(fakegpu, run_all_does_all)
{
    const struct parts a = make_parts(1), b = make_parts(2);

    copy(&a);
    copy(&b);
    fake_gpu_run_all(fake);
    cr_assert_eq(a.device[0], 1);
    cr_assert_eq(b.device[0], 2);
    end_parts(&a);
    end_parts(&b);
}

Test(fakegpu, counts_what_is_alive)
{
    const struct parts p = make_parts(0);
    struct fake_live live = fake_gpu_live(fake);

    cr_assert(live.pins == 1 && live.allocs == 1 && live.streams == 1 &&
              live.events == 1 && live.pending == 0);
    end_parts(&p);
    live = fake_gpu_live(fake);
    cr_assert(live.pins == 0 && live.allocs == 0 && live.streams == 0 &&
              live.events == 0);
}

Test(fakegpu, refuses_a_wait_for_an_event_never_recorded)
{
    const struct parts p = make_parts(0);

    cr_assert_neq(gpu->stream_wait(cookie, p.stream, p.event), 0);
    cr_assert_not_null(fake_gpu_misuse(fake));
    cr_assert_eq(gpu->event_wait(cookie, p.event), 0, "as in CUDA");
}

Test(fakegpu, refuses_a_copy_outside_device_memory)
{
    const struct parts p = make_parts(0);

    cr_assert_neq(gpu->copy_async(cookie, p.device + 1, p.host, 64, p.stream),
                  0);
    cr_assert_not_null(fake_gpu_misuse(fake));
}

Test(fakegpu, reports_memory_freed_under_a_copy)
{
    const struct parts p = make_parts(0);

    copy(&p);
    (void)gpu->unpin(cookie, p.host);
    cr_assert_not_null(fake_gpu_misuse(fake));
}

Test(fakegpu, refuses_handles_that_are_gone)
{
    const struct parts p = make_parts(0);

    end_parts(&p);
    cr_assert_neq(gpu->stream_destroy(cookie, p.stream), 0);
    cr_assert_neq(gpu->unpin(cookie, p.host), 0);
    cr_assert_neq(gpu->use_device(cookie, 2), 0);
}

static void *alloc_in_thread(void *code)
{
    void *ptr = NULL;

    *(int *)code = gpu->alloc(cookie, &ptr, 64);
    return NULL;
}

Test(fakegpu, wants_use_device_in_each_thread)
{
    pthread_t thread;
    int code = 0;

    cr_assert_eq(gpu->use_device(cookie, 0), 0);
    cr_assert_eq(pthread_create(&thread, NULL, alloc_in_thread, &code), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    cr_assert_neq(code, 0);
    cr_assert_not_null(fake_gpu_misuse(fake));
}

Test(fakegpu, fails_once_where_told)
{
    void *ptr = NULL;
    const long before = fake_gpu_calls(fake);

    fake_gpu_fail(fake, 1, 2, false);
    cr_assert_eq(gpu->use_device(cookie, 0), 0);
    cr_assert_eq(gpu->pin(cookie, &ptr, 64), 2);
    cr_assert_null(ptr);
    cr_assert_eq(gpu->pin(cookie, &ptr, 64), 0);
    cr_assert_eq(fake_gpu_calls(fake), before + 3);
}

Test(fakegpu, fails_for_ever_and_still_gives_back)
{
    const struct parts p = make_parts(0);

    fake_gpu_fail(fake, 0, 700, true);
    cr_assert_eq(gpu->copy_async(cookie, p.device, p.host, 64, p.stream), 700);
    cr_assert_eq(gpu->unpin(cookie, p.host), 700);
    cr_assert_eq(fake_gpu_live(fake).pins, 0);
    cr_assert_null(fake_gpu_misuse(fake));
}
