/* SPDX-License-Identifier: Apache-2.0
 * Files are read once each, in any number ahead, and errors stay with theirs. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/load/ahead.h"

#define FILES 200
#define BAD 13

static char names[FILES][8];
static atomic_int reads[FILES];
static atomic_int reading, most;

/* The file's content is its name; number BAD has none. */
static pinfold_status read_name(void *cookie, int root_fd, const char *path,
                                struct pfi_arena *arena, const void **data,
                                size_t *size, pinfold_error *err)
{
    const int now = ++reading;
    char *const copy = pfi_arena_alloc(arena, 8);
    const int i = atoi(path);

    (void)cookie;
    (void)root_fd;
    if (now > most)
        most = now;
    reads[i]++;
    reading--;
    if (i == BAD)
        return pfi_fail(err, PINFOLD_E_IO, 5, "bad file");
    if (!copy)
        return pfi_fail(err, PINFOLD_E_MEMORY, 0, "no memory");
    memcpy(copy, path, 8);
    *data = copy;
    *size = strlen(path);
    return PINFOLD_OK;
}

static const char *path_of(void *cookie, int64_t position)
{
    const int step = *(const int *)cookie;

    return names[position * step % FILES];
}

static int step = 1;
static int64_t round_now;

static struct pfi_ahead *open_ahead(int threads, int depth)
{
    const struct pfi_ahead_source source = {
        .reader = {NULL, read_name}, .root_fd = -1, .cookie = &step,
        .path = path_of};
    struct pfi_ahead *ahead;

    for (int i = 0; i < FILES; i++)
        (void)snprintf(names[i], sizeof(names[i]), "%d", i);
    cr_assert_eq(pfi_ahead_open(&ahead, threads, depth, &source, NULL),
                 PINFOLD_OK);
    return ahead;
}

static void take_one(struct pfi_ahead *ahead, int64_t position)
{
    const char *const wanted = path_of(&step, position);
    const void *data = NULL;
    size_t size = 0;
    pinfold_error err;

    pfi_error_clear(&err);
    if (pfi_ahead_take(ahead, round_now, position, &data, &size, &err)) {
        cr_assert_eq(atoi(wanted), BAD);
        cr_assert_str_eq(err.message, "bad file");
        cr_assert_eq(err.sys_code, 5);
    } else {
        cr_assert_eq(size, strlen(wanted));
        cr_assert_arr_eq(data, wanted, size);
    }
    pfi_ahead_give_back(ahead, round_now, position);
}

Test(ahead, one_caller_gets_every_file_once)
{
    struct pfi_ahead *const ahead = open_ahead(3, 8);

    pfi_ahead_start(ahead, ++round_now, FILES);
    for (int64_t i = 0; i < FILES; i++)
        take_one(ahead, i);
    pfi_ahead_close(ahead);
    for (int i = 0; i < FILES; i++)
        cr_assert_eq(reads[i], 1);
    cr_assert_leq(most, 4);
}

struct shared {
    struct pfi_ahead *ahead;
    pthread_mutex_t lock;
    int64_t next;
    bool taken[FILES];
};

static void *take_some(void *argument)
{
    struct shared *const s = argument;

    for (;;) {
        int64_t position;

        pthread_mutex_lock(&s->lock);
        position = s->next++;
        pthread_mutex_unlock(&s->lock);
        if (position >= FILES)
            return NULL;
        take_one(s->ahead, position);
    }
}

Test(ahead, many_workers_share_few_readers)
{
    struct shared s = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t workers[6];

    step = 7;
    s.ahead = open_ahead(1, 7);
    for (int epoch = 1; epoch <= 20; epoch++) {
        s.next = 0;
        pfi_ahead_stop(s.ahead);
        pfi_ahead_start(s.ahead, ++round_now, FILES);
        for (int i = 0; i < 6; i++)
            cr_assert_eq(pthread_create(&workers[i], NULL, take_some, &s), 0);
        for (int i = 0; i < 6; i++)
            pthread_join(workers[i], NULL);
        for (int i = 0; i < FILES; i++)
            cr_assert_eq(reads[i], epoch);
    }
    pfi_ahead_close(s.ahead);
}

Test(ahead, an_epoch_may_be_left_and_another_begun)
{
    struct pfi_ahead *const ahead = open_ahead(4, 16);

    for (int64_t left = 0; left < 60; left++) {
        step = left % 2 ? 7 : 1;
        pfi_ahead_start(ahead, ++round_now, FILES);
        for (int64_t i = 0; i < left; i++)
            take_one(ahead, i);
        pfi_ahead_stop(ahead);
    }
    pfi_ahead_close(ahead);
}

Test(ahead, nothing_is_read_before_the_start)
{
    struct pfi_ahead *const ahead = open_ahead(4, 16);

    pfi_ahead_close(ahead);
    for (int i = 0; i < FILES; i++)
        cr_assert_eq(reads[i], 0);
    pfi_ahead_close(NULL);
}
