/* SPDX-License-Identifier: Apache-2.0
 * pinfold merge: an export whose images come from shards.  The format's own
 * code writes it, so that it is what one process would have written. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* copy_file_range() */
#endif
#include "src/cli/merge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/run.h"
#include "src/cli/sha256.h"
#include "src/cli/text.h"

#define PAGE 4096 /* what file systems that clone ask to be met */

static int fail(const struct pfi_cli_merge *m, const char *name,
                const char *why)
{
    return pfi_cli_place_fail(&m->place, name, why);
}

static int cannot(const struct pfi_cli_merge *m, const char *name,
                  const char *what)
{
    return pfi_cli_place_cannot(&m->place, name, what);
}

/* ----------------------------------------------------------------- copy --- */

static ssize_t copy_plain(int from, off_t at, int to, size_t size)
{
    char buffer[1 << 15];
    const ssize_t n =
        pread(from, buffer, size < sizeof(buffer) ? size : sizeof(buffer), at);
    ssize_t done = 0;

    if (n == 0)
        errno = EIO; /* it was cut short since it was looked at */
    while (n > 0 && done < n) {
        const ssize_t more = write(to, buffer + done, (size_t)(n - done));

        if (more < 0)
            return -1;
        done += more;
    }
    return n > 0 ? n : -1;
}

/* Behind what is in `to`.  The kernel clones what it can, which is whole pages
 * where both places are at the same distance from one: up to it first. */
static int copy_range(int from, off_t at, int to, size_t size)
{
    const off_t behind = lseek(to, 0, SEEK_CUR);
    size_t step = size;
    bool plain = false;

    if ((behind - at) % PAGE == 0 && at % PAGE)
        step = (size_t)(PAGE - at % PAGE);
    while (size) {
        const size_t wanted = step < size ? step : size;
        ssize_t n = plain ? 0 : copy_file_range(from, &at, to, NULL, wanted, 0);

        if (n <= 0) {
            plain = true; /* not on this file system, or not between two */
            n = copy_plain(from, at, to, size);
            at += n > 0 ? n : 0;
        }
        if (n < 0)
            return -1;
        size -= (size_t)n;
        step = size;
    }
    return 0;
}

/* ---------------------------------------------------------------- images ---
 */

/* Samples i to i + n of a rank, by the format's own write. */
static int stream(struct pfi_cli_merge *m, const struct pfi_cli_merged *shard,
                  int64_t i, int64_t n, void *buffer)
{
    const size_t size = m->e.sample_bytes;
    int code = PFI_CLI_OK;

    for (int64_t k = i; !code && k < i + n; k++) {
        const pinfold_batch batch = {.data = buffer, .size = size};
        size_t got = 0;
        ssize_t more = 1;

        while (got < size && more > 0) {
            more = pread(shard->fd, (char *)buffer + got, size - got,
                         (off_t)(shard->offset + (size_t)k * size + got));
            got += more > 0 ? (size_t)more : 0;
        }
        if (got < size)
            return more < 0 ? cannot(m, shard->images, "read")
                            : fail(m, shard->images, "cut short");
        code = pfi_cli_export_format(&m->o)->write(&m->e, &batch);
    }
    return code;
}

static int copy(struct pfi_cli_merge *m, const struct pfi_cli_merged *shard,
                int64_t i, int64_t n, FILE *out)
{
    const size_t size = m->e.sample_bytes;

    if (copy_range(shard->fd, (off_t)(shard->offset + (size_t)i * size),
                   fileno(out), (size_t)n * size))
        return cannot(m, shard->images, "copy");
    return PFI_CLI_OK;
}

/* Contiguous shards one by one; of exact ones a sample of each in turn. */
static int write_images(struct pfi_cli_merge *m)
{
    const struct pfi_cli_exporter *const format = pfi_cli_export_format(&m->o);
    const bool whole = m->o.order.shard == PINFOLD_SHARD_CONTIGUOUS;
    FILE *const out = format->images(&m->e);
    void *const buffer = malloc(m->e.sample_bytes);
    int code = PFI_CLI_OK;

    if (!buffer || fflush(out))
        code = pfi_cli_export_errno(&m->e, "");
    for (int64_t at = 0, turn = 0; !code && at < m->e.shape[0]; turn++) {
        const struct pfi_cli_merged *const shard = &m->shards[turn % m->world];
        const int64_t i = whole ? 0 : turn / m->world;
        const int64_t n = whole ? shard->count : 1;

        if (pfi_cli_signal())
            code = PFI_CLI_FAILED;
        else if (format->hashes)
            code = stream(m, shard, i, n, buffer);
        else
            code = copy(m, shard, i, n, out);
        at += n;
    }
    if (!code && fseeko(out, 0, SEEK_END))
        code = pfi_cli_export_errno(&m->e, "");
    free(buffer);
    m->e.written = code ? 0 : m->e.shape[0];
    return code;
}

/* ---------------------------------------------------------------- command ---
 */

/* A thousand shards are more files than a process may open by default. */
static void allow_files(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int open_images(struct pfi_cli_merge *m)
{
    allow_files();
    for (int32_t r = 0; r < m->world; r++) {
        struct pfi_cli_merged *const shard = &m->shards[r];
        struct stat st;

        shard->fd = openat(m->place.folder, shard->images,
                           O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (shard->fd < 0 || fstat(shard->fd, &st))
            return cannot(m, shard->images, "open");
        if ((uint64_t)st.st_size <
            shard->offset + (uint64_t)shard->count * m->e.sample_bytes)
            return fail(m, shard->images, "cut short");
    }
    return PFI_CLI_OK;
}

static int remove_file(const struct pfi_cli_merge *m, struct pfi_cli_json entry,
                       const char *name)
{
    (void)entry;
    if (unlinkat(m->place.folder, name, 0))
        return cannot(m, name, "remove");
    return PFI_CLI_OK;
}

/* The manifest first: without it the rest is no shard. */
static int remove_shards(const struct pfi_cli_merge *m)
{
    int code = PFI_CLI_OK;

    for (int32_t r = 0; !code && r < m->world; r++) {
        if (unlinkat(m->place.folder, m->shards[r].manifest, 0))
            return cannot(m, m->shards[r].manifest, "remove");
        code = pfi_cli_merge_files(m, r, remove_file);
    }
    return code;
}

static int merge(struct pfi_cli_merge *m)
{
    const struct pfi_cli_exporter *format;
    int code = pfi_cli_merge_read(m);

    if (!code)
        code = open_images(m);
    if (code)
        return code;
    format = pfi_cli_export_format(&m->o);
    code = format->open(&m->e);
    if (!code)
        code = write_images(m);
    if (!code)
        code = format->finish(&m->e);
    if (m->e.state)
        format->close(&m->e);
    free(m->e.state);
    return code || !m->given->delete_shards ? code : remove_shards(m);
}

/* -1 with errno set.  A target that is not there yet is a file. */
static int open_place(struct pfi_cli_merge *m)
{
    const char *const target = m->given->arguments[0];
    struct stat st;
    const bool there = !stat(target, &st);

    if (!there && errno != ENOENT)
        return -1;
    return pfi_cli_place_open(&m->place, target,
                              !there || !S_ISDIR(st.st_mode));
}

int pfi_cli_merge(const struct pfi_cli_options *o)
{
    struct pfi_cli_merge m = {.given = o, .place.folder = -1};
    int code;

    if (o->checksums && !pfi_cli_have_sha256()) {
        (void)fputs("pinfold: this one was built without libmd: it has no "
                    "--checksums\n",
                    stderr);
        return PFI_CLI_USAGE;
    }
    if (open_place(&m)) {
        pfi_cli_cannot(o->arguments[0], "open the folder");
        code = PFI_CLI_FAILED;
    } else {
        code = merge(&m);
    }
    if (!code && !o->quiet)
        pfi_cli_say("%lld image%s, %lld bad, of %d shard%s, in %s",
                    (long long)m.e.written, pfi_cli_plural(m.e.written, "s"),
                    m.e.bad, m.world, pfi_cli_plural(m.world, "s"),
                    o->arguments[0]);
    if (!code && m.e.bad)
        code = PFI_CLI_FAILED;
    pfi_cli_merge_close(&m);
    return code;
}
