/* SPDX-License-Identifier: Apache-2.0
 * A stream whose writes go to a growing block, and fail where that does. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* fopencookie(), of glibc and musl */
#endif
#include "src/cli/written.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static ssize_t write_more(void *cookie, const char *from, size_t size)
{
    struct pfi_cli_written *const w = cookie;

    if (size >= SIZE_MAX / 2 - w->size)
        return 0;
    if (w->size + size >= w->room) {
        const size_t room = 2 * (w->size + size) + 1;
        char *const grown = realloc(w->text, room);

        if (!grown)
            return 0;
        w->text = grown;
        w->room = room;
    }
    memcpy(w->text + w->size, from, size);
    w->size += size;
    w->text[w->size] = '\0';
    return (ssize_t)size;
}

FILE *pfi_cli_written_open(struct pfi_cli_written *written)
{
    static const cookie_io_functions_t functions = {.write = write_more};

    *written = (struct pfi_cli_written){.room = 0};
    return fopencookie(written, "w", functions);
}

char *pfi_cli_written_close(struct pfi_cli_written *written, FILE *stream)
{
    const bool failed = ferror(stream);

    if (fclose(stream) == 0 && !failed)
        return written->text ? written->text : calloc(1, 1);
    free(written->text);
    return NULL;
}
