/* SPDX-License-Identifier: Apache-2.0
 * Maps a file and finds its tensor by the file's content. */
#include "src/cli/tensor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/cli/npy.h"
#include "src/cli/safetensors.h"
#include "src/cli/text.h"

bool pfi_cli_tensor_bytes(const int64_t *shape, int rank, size_t item,
                          size_t *out)
{
    size_t bytes = item;
    bool empty = false;

    for (int i = 0; i < rank; i++)
        empty = empty || shape[i] == 0;
    for (int i = 0; !empty && i < rank; i++) {
        if (shape[i] < 0 || (uint64_t)shape[i] > SIZE_MAX / bytes)
            return false;
        bytes *= (size_t)shape[i];
    }
    *out = empty ? 0 : bytes;
    return true;
}

/* What errno tells of. */
static const char unread[] = "cannot read";

static const char *map_file(struct pfi_cli_tensor *out, const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *wrong = NULL;
    struct stat st;

    if (fd < 0 || fstat(fd, &st)) {
        wrong = unread;
    } else if (!S_ISREG(st.st_mode)) {
        wrong = "not a regular file";
    } else if (st.st_size < 10) {
        wrong = "neither .npy nor safetensors";
    } else {
        out->map_size = (size_t)st.st_size;
        out->map = mmap(NULL, out->map_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (out->map == MAP_FAILED) {
            wrong = unread;
            out->map = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    return wrong;
}

/* A safetensors file that export made holds its samples' paths. */
static void find_paths(struct pfi_cli_tensor *out)
{
    struct pfi_cli_tensor paths = {.rank = 0};

    if (!pfi_cli_safetensors_read(out->map, out->map_size, "paths", &paths) &&
        paths.dtype == PINFOLD_U8 && paths.rank == 1) {
        out->paths = (const char *)paths.data;
        out->paths_size = paths.bytes;
    }
}

bool pfi_cli_tensor_open(struct pfi_cli_tensor *out, const char *path,
                         const char *name)
{
    const char *wrong;

    *out = (struct pfi_cli_tensor){.rank = 0};
    wrong = map_file(out, path);
    if (!wrong && pfi_cli_npy_is(out->map, out->map_size)) {
        wrong = pfi_cli_npy_read(out->map, out->map_size, out);
    } else if (!wrong && pfi_cli_safetensors_is(out->map, out->map_size)) {
        wrong = pfi_cli_safetensors_read(out->map, out->map_size, name, out);
        find_paths(out);
    } else if (!wrong) {
        wrong = "neither .npy nor safetensors";
    }
    if (!wrong)
        return true;
    if (wrong == unread)
        pfi_cli_cannot(path, "read");
    else
        pfi_cli_say("pinfold: %s: %s", path, wrong);
    pfi_cli_tensor_close(out);
    return false;
}

void pfi_cli_tensor_close(struct pfi_cli_tensor *tensor)
{
    if (tensor->map)
        (void)munmap(tensor->map, tensor->map_size);
    *tensor = (struct pfi_cli_tensor){.rank = 0};
}
