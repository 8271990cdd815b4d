/* SPDX-License-Identifier: Apache-2.0
 * The doors of files, folders, maps, threads and processes: --wrap=NAME sends
 * NAME's callers to __wrap_NAME. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/clock.h"
#include "src/base/parallel.h"
#include "src/base/retry.h"
#include "tests/fault/gate.h"

/* ------------------------------------------------------------------- files --- */

static bool written[256]; /* descriptors */

static int named(int fd, const char *path, int flags)
{
    if (fd >= 0)
        gate_name(fd, path);
    if (fd >= 0 && fd < 256)
        written[fd] = (flags & O_ACCMODE) != O_RDONLY;
    return fd;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode = 0;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, mode_t);
    va_end(args);
    if (gate_pass(GATE_OPEN, path))
        return -1;
    return named(__real_open(path, flags, mode), path, flags);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode = 0;

    va_start(args, flags);
    if (flags & O_CREAT)
        mode = va_arg(args, mode_t);
    va_end(args);
    if (gate_pass(GATE_OPEN, path))
        return -1;
    return named(__real_openat(folder, path, flags, mode), path,
                 flags);
}

/* Of what was written: nothing can be lost of the rest.  The descriptor is gone
 * in any case, as Linux does it. */
int __real_close(int fd);
int __wrap_close(int fd)
{
    const int code = fd >= 0 && fd < 256 && written[fd]
                         ? gate_pass(GATE_CLOSE, gate_name_of(fd))
                         : 0;
    const int result = __real_close(fd);

    if (code)
        errno = code;
    return code ? -1 : result;
}

int __real_fstat(int fd, struct stat *info);
int __wrap_fstat(int fd, struct stat *info);
int __wrap_fstat(int fd, struct stat *info)
{
    return gate_pass(GATE_STAT, gate_name_of(fd)) ? -1 : __real_fstat(fd, info);
}

int __real_stat(const char *path, struct stat *info);
int __wrap_stat(const char *path, struct stat *info);
int __wrap_stat(const char *path, struct stat *info)
{
    return gate_pass(GATE_STAT, path) ? -1 : __real_stat(path, info);
}

int __real_lstat(const char *path, struct stat *info);
int __wrap_lstat(const char *path, struct stat *info);
int __wrap_lstat(const char *path, struct stat *info)
{
    return gate_pass(GATE_STAT, path) ? -1 : __real_lstat(path, info);
}

int __real_fstatat(int folder, const char *path, struct stat *info, int flags);
int __wrap_fstatat(int folder, const char *path, struct stat *info, int flags);
int __wrap_fstatat(int folder, const char *path, struct stat *info, int flags)
{
    return gate_pass(GATE_STAT, path)
               ? -1
               : __real_fstatat(folder, path, info, flags);
}

int __real_faccessat(int folder, const char *path, int mode, int flags);
int __wrap_faccessat(int folder, const char *path, int mode, int flags);
int __wrap_faccessat(int folder, const char *path, int mode, int flags)
{
    return gate_pass(GATE_STAT, path)
               ? -1
               : __real_faccessat(folder, path, mode, flags);
}

/* How much of `size` a call may move: less than all of it on a fault. */
static ssize_t allowed(int code, size_t size)
{
    if (code == GATE_SHORT)
        return size != 0;
    return code == GATE_END ? 0 : code ? -1 : (ssize_t)size;
}

ssize_t __real_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size);
ssize_t __wrap_read(int fd, void *to, size_t size)
{
    const ssize_t n =
        allowed(gate_pass(GATE_READ, gate_name_of(fd)), size);

    return n > 0 ? __real_read(fd, to, (size_t)n) : n;
}

ssize_t __real_pread(int fd, void *to, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at)
{
    const ssize_t n =
        allowed(gate_pass(GATE_READ, gate_name_of(fd)), size);

    return n > 0 ? __real_pread(fd, to, (size_t)n, at) : n;
}

/* What _FORTIFY_SOURCE makes of them. */
ssize_t __wrap___read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __wrap___read_chk(int fd, void *to, size_t size, size_t room)
{
    if (size > room)
        abort();
    return __wrap_read(fd, to, size);
}

ssize_t __wrap___pread_chk(int fd, void *to, size_t size, off_t at,
                           size_t room);
ssize_t __wrap___pread_chk(int fd, void *to, size_t size, off_t at, size_t room)
{
    if (size > room)
        abort();
    return __wrap_pread(fd, to, size, at);
}

ssize_t __real_write(int fd, const void *from, size_t size);
ssize_t __wrap_write(int fd, const void *from, size_t size);
ssize_t __wrap_write(int fd, const void *from, size_t size)
{
    const ssize_t n =
        allowed(gate_pass(GATE_WRITE, gate_name_of(fd)), size);

    return n > 0 ? __real_write(fd, from, (size_t)n) : n;
}

/* In the kernel, where it can. */
ssize_t __real_copy_file_range(int from, off_t *at, int to, off_t *behind,
                               size_t size, unsigned flags);
ssize_t __wrap_copy_file_range(int from, off_t *at, int to, off_t *behind,
                               size_t size, unsigned flags);
ssize_t __wrap_copy_file_range(int from, off_t *at, int to, off_t *behind,
                               size_t size, unsigned flags)
{
    const ssize_t n = allowed(gate_pass(GATE_WRITE, "(copy)"), size);

    return n > 0 ? __real_copy_file_range(from, at, to, behind, (size_t)n,
                                          flags)
                 : n;
}

/* ------------------------------------------------------------------ folders --- */

DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd)
{
    return gate_pass(GATE_FOLDER, gate_name_of(fd)) ? NULL
                                                    : __real_fdopendir(fd);
}

struct dirent *__real_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir)
{
    return gate_pass(GATE_ENTRY, gate_name_of(dirfd(dir)))
               ? NULL
               : __real_readdir(dir);
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
    return gate_pass(GATE_MKDIR, path) ? -1 : __real_mkdir(path, mode);
}

int __real_mkdirat(int folder, const char *path, mode_t mode);
int __wrap_mkdirat(int folder, const char *path, mode_t mode);
int __wrap_mkdirat(int folder, const char *path, mode_t mode)
{
    return gate_pass(GATE_MKDIR, path) ? -1 : __real_mkdirat(folder, path, mode);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    return gate_pass(GATE_RENAME, to) ? -1 : __real_rename(from, to);
}

int __real_renameat(int folder, const char *from, int other, const char *to);
int __wrap_renameat(int folder, const char *from, int other, const char *to);
int __wrap_renameat(int folder, const char *from, int other, const char *to)
{
    return gate_pass(GATE_RENAME, to) ? -1
                                      : __real_renameat(folder, from, other, to);
}

int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path)
{
    return gate_pass(GATE_UNLINK, path) ? -1 : __real_unlink(path);
}

int __real_unlinkat(int folder, const char *path, int flags);
int __wrap_unlinkat(int folder, const char *path, int flags);
int __wrap_unlinkat(int folder, const char *path, int flags)
{
    return gate_pass(GATE_UNLINK, path) ? -1
                                        : __real_unlinkat(folder, path, flags);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    return gate_pass(GATE_SYNC, gate_name_of(fd)) ? -1 : __real_fsync(fd);
}

/* ------------------------------------------------------------------- memory --- */

void *__real_mmap(void *at, size_t size, int protection, int flags, int fd,
                  off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd,
                  off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd,
                  off_t offset)
{
    const bool is_memory = (flags & MAP_ANONYMOUS) != 0;

    return gate_pass(is_memory ? GATE_HEAP : GATE_MAP, gate_name_of(fd))
               ? MAP_FAILED
               : __real_mmap(at, size, protection, flags, fd, offset);
}

int __real_mlock(const void *at, size_t size);
int __wrap_mlock(const void *at, size_t size);
int __wrap_mlock(const void *at, size_t size)
{
    return gate_pass(GATE_LOCK, NULL) ? -1 : __real_mlock(at, size);
}

/* ------------------------------------------------------ threads, processes --- */

static atomic_long threads;

long gate_threads(void);
long gate_threads(void)
{
    return atomic_load(&threads);
}

int __real_pthread_create(pthread_t *out, const pthread_attr_t *attr,
                          void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attr,
                          void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attr,
                          void *(*run)(void *), void *argument)
{
    int code = gate_pass(GATE_THREAD, NULL);

    if (!code)
        code = __real_pthread_create(out, attr, run, argument);
    if (!code)
        atomic_fetch_add(&threads, 1);
    return code;
}

int __real_pthread_join(pthread_t thread, void **out);
int __wrap_pthread_join(pthread_t thread, void **out);
int __wrap_pthread_join(pthread_t thread, void **out)
{
    const int code = __real_pthread_join(thread, out);

    if (!code)
        atomic_fetch_sub(&threads, 1);
    return code;
}

int __real_pthread_mutex_init(pthread_mutex_t *mutex,
                              const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex,
                              const pthread_mutexattr_t *attr);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex,
                              const pthread_mutexattr_t *attr)
{
    const int code = gate_pass(GATE_MUTEX, NULL);

    return code ? code : __real_pthread_mutex_init(mutex, attr);
}

int __real_pthread_cond_init(pthread_cond_t *cond,
                             const pthread_condattr_t *attr);
int __wrap_pthread_cond_init(pthread_cond_t *cond,
                             const pthread_condattr_t *attr);
int __wrap_pthread_cond_init(pthread_cond_t *cond,
                             const pthread_condattr_t *attr)
{
    const int code = gate_pass(GATE_CONDITION, NULL);

    return code ? code : __real_pthread_cond_init(cond, attr);
}

int __real_pthread_condattr_init(pthread_condattr_t *attr);
int __wrap_pthread_condattr_init(pthread_condattr_t *attr);
int __wrap_pthread_condattr_init(pthread_condattr_t *attr)
{
    const int code = gate_pass(GATE_CONDITION, NULL);

    return code ? code : __real_pthread_condattr_init(attr);
}

int __real_pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock);
int __wrap_pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock);
int __wrap_pthread_condattr_setclock(pthread_condattr_t *attr, clockid_t clock)
{
    const int code = gate_pass(GATE_CONDITION, NULL);

    return code ? code : __real_pthread_condattr_setclock(attr, clock);
}

pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __wrap_fork(void)
{
    return gate_pass(GATE_PROCESS, NULL) ? -1 : __real_fork();
}

/* Threads that a walk can do without. */
void __real_pfi_parallel_run(const struct pfi_parallel *work, int64_t n,
                             int32_t wanted);
void __wrap_pfi_parallel_run(const struct pfi_parallel *work, int64_t n,
                             int32_t wanted);
void __wrap_pfi_parallel_run(const struct pfi_parallel *work, int64_t n,
                             int32_t wanted)
{
    const char *const before = gate_at("walk");

    __real_pfi_parallel_run(work, n, wanted);
    (void)gate_at(before);
}

/* ------------------------------------------------------------------- retries ---
 * Each look at the clock takes longer than a wait before another attempt. */

#define LOOK_NS UINT64_C(2000000000)

static _Thread_local uint64_t skew_ns;
static _Thread_local bool waits;

uint64_t __real_pfi_now_ns(void);
uint64_t __wrap_pfi_now_ns(void);
uint64_t __wrap_pfi_now_ns(void)
{
    skew_ns += waits ? LOOK_NS : 0;
    return __real_pfi_now_ns() + skew_ns;
}

bool __real_pfi_retry_wait(struct pfi_retry *retry,
                           struct pfi_attempts *attempts, int code);
bool __wrap_pfi_retry_wait(struct pfi_retry *retry,
                           struct pfi_attempts *attempts, int code);
bool __wrap_pfi_retry_wait(struct pfi_retry *retry,
                           struct pfi_attempts *attempts, int code)
{
    bool again;

    waits = true;
    again = __real_pfi_retry_wait(retry, attempts, code);
    waits = false;
    return again;
}
