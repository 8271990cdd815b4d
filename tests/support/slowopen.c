/* SPDX-License-Identifier: Apache-2.0
 * A slow mount, to be preloaded: each open of a picture takes
 * PINFOLD_TEST_OPEN_MS, each of a folder PINFOLD_TEST_FOLDER_MS, and the first
 * PINFOLD_TEST_MEET opens of pictures return only when so many are under way at
 * once.  The first PINFOLD_TEST_FAIL opens of pictures fail with EIO.  At the
 * exit PINFOLD_TEST_REPORT gets how many opens there were. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT, O_TMPFILE */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MEET_SECONDS 60

typedef int (*open_function)(const char *path, int flags, ...);
typedef int (*openat_function)(int fd, const char *path, int flags, ...);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t met = PTHREAD_COND_INITIALIZER;
static long opens, at_once, most; /* lock */

static long number(const char *name)
{
    const char *const text = getenv(name);

    return text ? atol(text) : 0;
}

static int is_picture(const char *path)
{
    static const char *const ends[] = {".jpg",  ".jpeg", ".png", ".ppm", ".bmp",
                                       ".pgm", ".tif",  ".tiff", ".webp"};
    const char *const dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < sizeof(ends) / sizeof(ends[0]); i++)
        if (!strcasecmp(dot, ends[i]))
            return 1;
    return 0;
}

static void wait_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (ms > 0 && nanosleep(&left, &left) && errno == EINTR)
        ;
}

/* Ends the program where they do not come together. */
static void meet(long wanted)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += MEET_SECONDS;
    while (most < wanted)
        if (pthread_cond_timedwait(&met, &lock, &until) == ETIMEDOUT) {
            (void)fprintf(stderr, "slowopen: %ld opens at once, not %ld\n",
                          most, wanted);
            _Exit(99);
        }
}

/* Returns what the open has to fail with, or 0. */
static int delay(const char *path, int flags)
{
    int code;

    if (flags & O_DIRECTORY) {
        wait_ms(number("PINFOLD_TEST_FOLDER_MS"));
        return 0;
    }
    if (!is_picture(path))
        return 0;
    pthread_mutex_lock(&lock);
    code = opens++ < number("PINFOLD_TEST_FAIL") ? EIO : 0;
    if (++at_once > most) {
        most = at_once;
        pthread_cond_broadcast(&met);
    }
    meet(number("PINFOLD_TEST_MEET"));
    pthread_mutex_unlock(&lock);
    wait_ms(number("PINFOLD_TEST_OPEN_MS"));
    pthread_mutex_lock(&lock);
    at_once--;
    pthread_mutex_unlock(&lock);
    return code;
}

__attribute__((destructor)) static void report(void)
{
    const char *const path = getenv("PINFOLD_TEST_REPORT");
    FILE *const file = path && opens ? fopen(path, "w") : NULL;

    if (!file)
        return;
    (void)fprintf(file, "%ld %ld\n", opens, most);
    (void)fclose(file);
}

static mode_t mode_of(int flags, va_list args)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
}

#define OPEN(name)                                                             \
    int name(const char *path, int flags, ...)                                 \
    {                                                                          \
        const open_function real = (open_function)dlsym(RTLD_NEXT, #name);     \
        va_list args;                                                          \
        mode_t mode;                                                           \
                                                                               \
        va_start(args, flags);                                                 \
        mode = mode_of(flags, args);                                           \
        va_end(args);                                                          \
        errno = delay(path, flags);                                            \
        if (errno)                                                             \
            return -1;                                                         \
        return real(path, flags, mode);                                        \
    }

#define OPENAT(name)                                                           \
    int name(int fd, const char *path, int flags, ...)                         \
    {                                                                          \
        const openat_function real =                                           \
            (openat_function)dlsym(RTLD_NEXT, #name);                          \
        va_list args;                                                          \
        mode_t mode;                                                           \
                                                                               \
        va_start(args, flags);                                                 \
        mode = mode_of(flags, args);                                           \
        va_end(args);                                                          \
        errno = delay(path, flags);                                            \
        if (errno)                                                             \
            return -1;                                                         \
        return real(fd, path, flags, mode);                                    \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
