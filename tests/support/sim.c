/* SPDX-License-Identifier: Apache-2.0
 * One thread at a time, and a clock that jumps. */
#include "tests/support/sim.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST_THREADS 64
#define MOST_LOCKS 64

int __real_pthread_create(pthread_t *id, const pthread_attr_t *attr,
                          void *(*run)(void *), void *argument);
int __real_pthread_join(pthread_t id, void **result);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __real_pthread_cond_signal(pthread_cond_t *cond);
int __real_pthread_cond_broadcast(pthread_cond_t *cond);
uint64_t __real_pfi_now_ns(void);

struct thread {
    pthread_t id;
    pthread_cond_t turn;
    bool used, ended;
    bool (*ready)(void *); /* NULL = can run */
    void *argument;
    uint64_t deadline;
    const char *what;
    int held;
    const pthread_cond_t *cond; /* waited for */
    bool signalled;
    void *(*run)(void *);
    void *run_argument;
};

struct lock {
    const pthread_mutex_t *mutex;
    const struct thread *owner;
};

/* Only the thread that runs looks at any of this; `door` hands the turn over.
 */
static struct {
    bool active;
    pthread_mutex_t door;
    struct thread threads[MOST_THREADS];
    struct lock locks[MOST_LOCKS];
    struct thread *running;
    uint64_t now, random;
    struct fake_machine machine;
    int alive, most;
} sim = {.door = PTHREAD_MUTEX_INITIALIZER};

static void die(const char *what)
{
    (void)fprintf(stderr, "simulation: %s at %llu ns\n", what,
                  (unsigned long long)sim.now);
    for (int i = 0; i < MOST_THREADS; i++)
        if (sim.threads[i].used && !sim.threads[i].ended)
            (void)fprintf(stderr, "  thread %d: %s\n", i,
                          sim.threads[i].ready ? sim.threads[i].what : "runs");
    abort();
}

uint32_t sim_random(void)
{
    sim.random = sim.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(sim.random >> 33);
}

/* --------------------------------------------------------------- turns --- */

static bool can_run(const struct thread *t)
{
    return t->used && !t->ended &&
           (!t->ready || t->deadline <= sim.now || t->ready(t->argument));
}

static struct thread *draw(void)
{
    struct thread *able[MOST_THREADS];
    uint32_t n = 0;

    for (int i = 0; i < MOST_THREADS; i++)
        if (can_run(&sim.threads[i]))
            able[n++] = &sim.threads[i];
    return n ? able[sim_random() % n] : NULL;
}

/* Moves the clock to what is due next. */
static void jump(void)
{
    uint64_t next = FAKE_NEVER;

    if (sim.machine.next)
        next = sim.machine.next(sim.machine.cookie);
    for (int i = 0; i < MOST_THREADS; i++) {
        const struct thread *const t = &sim.threads[i];

        if (t->used && !t->ended && t->ready && t->deadline < next)
            next = t->deadline;
    }
    if (next == FAKE_NEVER)
        die("a hang: every thread waits, and nothing is due");
    if (next > sim.now)
        sim.now = next;
    if (sim.machine.run)
        sim.machine.run(sim.machine.cookie, sim.now);
}

/* Gives the turn to a thread that can run, which may be this one. */
static void give_turn(const struct thread *self)
{
    struct thread *next = draw();

    while (!next) {
        jump();
        next = draw();
    }
    if (next == self)
        return;
    __real_pthread_mutex_lock(&sim.door);
    sim.running = next;
    __real_pthread_cond_signal(&next->turn);
    __real_pthread_mutex_unlock(&sim.door);
}

static void await_turn(struct thread *self)
{
    __real_pthread_mutex_lock(&sim.door);
    while (sim.running != self)
        __real_pthread_cond_wait(&self->turn, &sim.door);
    __real_pthread_mutex_unlock(&sim.door);
}

static void may_yield(void)
{
    struct thread *const self = sim.running;

    if (sim_random() % 3)
        return;
    give_turn(self);
    await_turn(self);
}

/* Whether `ready` rather than the deadline ended the wait. */
static bool block(bool (*ready)(void *), void *argument, uint64_t deadline,
                  const char *what)
{
    struct thread *const self = sim.running;

    self->argument = argument;
    self->deadline = deadline;
    self->what = what;
    self->ready = ready;
    give_turn(self);
    await_turn(self);
    self->ready = NULL;
    return ready(argument);
}

static bool is_never(void *argument)
{
    (void)argument;
    return false;
}

/* ------------------------------------------------------------- threads --- */

static struct thread *new_thread(void)
{
    for (int i = 0; i < MOST_THREADS; i++) {
        struct thread *const t = &sim.threads[i];

        if (t->used)
            continue;
        *t = (struct thread){.used = true, .deadline = FAKE_NEVER};
        pthread_cond_init(&t->turn, NULL);
        if (++sim.alive > sim.most)
            sim.most = sim.alive;
        return t;
    }
    die("too many threads");
    return NULL;
}

static void end_thread(struct thread *t)
{
    pthread_cond_destroy(&t->turn);
    t->used = false;
    sim.alive--;
}

static void *begin_thread(void *argument)
{
    struct thread *const self = argument;
    void *result;

    await_turn(self);
    result = self->run(self->run_argument);
    if (self->held)
        die("a thread ended with a lock");
    self->ended = true;
    give_turn(self);
    return result;
}

int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr,
                          void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr,
                          void *(*run)(void *), void *argument)
{
    struct thread *t;
    int code;

    if (!sim.active)
        return __real_pthread_create(id, attr, run, argument);
    t = new_thread();
    t->run = run;
    t->run_argument = argument;
    code = __real_pthread_create(&t->id, attr, begin_thread, t);
    if (code) {
        end_thread(t);
        return code;
    }
    *id = t->id;
    may_yield();
    return 0;
}

static bool has_ended(void *thread)
{
    return ((const struct thread *)thread)->ended;
}

int __wrap_pthread_join(pthread_t id, void **result);
int __wrap_pthread_join(pthread_t id, void **result)
{
    if (!sim.active)
        return __real_pthread_join(id, result);
    for (int i = 0; i < MOST_THREADS; i++) {
        struct thread *const t = &sim.threads[i];

        if (!t->used || t == sim.running || !pthread_equal(t->id, id))
            continue;
        if (sim.running->held)
            die("a join with a lock held");
        if (!t->ended)
            (void)block(has_ended, t, FAKE_NEVER, "waits for a thread's end");
        const int code = __real_pthread_join(id, result);

        end_thread(t);
        return code;
    }
    die("a join of no thread");
    return ESRCH;
}

/* --------------------------------------------------------------- locks --- */

static struct lock *lock_of(const pthread_mutex_t *mutex)
{
    struct lock *empty = NULL;

    for (int i = 0; i < MOST_LOCKS; i++) {
        if (sim.locks[i].owner && sim.locks[i].mutex == mutex)
            return &sim.locks[i];
        if (!sim.locks[i].owner)
            empty = &sim.locks[i];
    }
    if (!empty)
        die("too many locks");
    empty->mutex = mutex;
    return empty;
}

static bool is_free(void *mutex)
{
    return !lock_of(mutex)->owner;
}

static void take(pthread_mutex_t *mutex)
{
    if (lock_of(mutex)->owner == sim.running)
        die("a lock taken twice");
    if (!is_free(mutex))
        (void)block(is_free, mutex, FAKE_NEVER, "waits for a lock");
    lock_of(mutex)->owner = sim.running;
    sim.running->held++;
}

static void give(pthread_mutex_t *mutex)
{
    struct lock *const lock = lock_of(mutex);

    if (lock->owner != sim.running)
        die("another thread's lock given back");
    lock->owner = NULL;
    sim.running->held--;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (!sim.active)
        return __real_pthread_mutex_lock(mutex);
    may_yield();
    take(mutex);
    return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!sim.active)
        return __real_pthread_mutex_unlock(mutex);
    give(mutex);
    may_yield();
    return 0;
}

static bool is_signalled(void *thread)
{
    return ((const struct thread *)thread)->signalled;
}

/* One wait in 32 ends for no reason, as POSIX allows. */
static int wait_cond(const pthread_cond_t *cond, pthread_mutex_t *mutex,
                     uint64_t deadline)
{
    struct thread *const self = sim.running;
    bool signalled;

    if (self->held != 1)
        die("a wait with another lock held");
    self->cond = cond;
    self->signalled = sim_random() % 32 == 0;
    give(mutex);
    signalled = block(is_signalled, self, deadline, "waits for a condition");
    self->cond = NULL;
    take(mutex);
    return signalled ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    return sim.active ? wait_cond(cond, mutex, FAKE_NEVER)
                      : __real_pthread_cond_wait(cond, mutex);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    if (!sim.active)
        return __real_pthread_cond_timedwait(cond, mutex, until);
    return wait_cond(cond, mutex,
                     (uint64_t)until->tv_sec * 1000000000u +
                         (uint64_t)until->tv_nsec);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *cond);
int __wrap_pthread_cond_broadcast(pthread_cond_t *cond)
{
    if (!sim.active)
        return __real_pthread_cond_broadcast(cond);
    for (int i = 0; i < MOST_THREADS; i++)
        if (sim.threads[i].used && sim.threads[i].cond == cond)
            sim.threads[i].signalled = true;
    return 0;
}

int __wrap_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
    const uint32_t first = sim.active ? sim_random() % MOST_THREADS : 0;

    if (!sim.active)
        return __real_pthread_cond_signal(cond);
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        struct thread *const t = &sim.threads[(first + i) % MOST_THREADS];

        if (t->used && t->cond == cond && !t->signalled) {
            t->signalled = true;
            break;
        }
    }
    return 0;
}

/* ---------------------------------------------------------------- time --- */

uint64_t __wrap_pfi_now_ns(void);
uint64_t __wrap_pfi_now_ns(void)
{
    return sim.active ? sim.now : __real_pfi_now_ns();
}

uint64_t sim_now(void)
{
    return sim.now;
}

void sim_sleep(uint64_t ns)
{
    if (!sim.active)
        return;
    if (ns)
        (void)block(is_never, NULL, sim.now + ns, "sleeps");
    else
        may_yield();
}

static void wait_ready(bool (*ready)(void *), void *argument, const char *what)
{
    if (!ready(argument))
        (void)block(ready, argument, FAKE_NEVER, what);
}

static int locks_held(void)
{
    return sim.running->held;
}

static void attach(const struct fake_machine *machine)
{
    sim.machine = *machine;
}

const struct fake_world sim_world = {sim_now, sim_sleep, wait_ready, locks_held,
                                     attach};

void sim_begin(uint64_t seed)
{
    sim.now = 0;
    sim.random = seed * 0x9E3779B97F4A7C15u + 1;
    sim.machine = (struct fake_machine){0};
    sim.alive = sim.most = 0;
    sim.running = new_thread();
    sim.active = true;
}

void sim_end(void)
{
    if (sim.alive != 1 || sim.running->held)
        die("the end with a thread or lock left");
    sim.active = false;
    end_thread(sim.running);
}

int sim_most_threads(void)
{
    return sim.most;
}
