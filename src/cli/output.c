/* SPDX-License-Identifier: Apache-2.0
 * A part and the folder that holds it. */
#include "src/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/cli/label.h"
#include "src/cli/options.h"
#include "src/cli/text.h"

static int fail(const struct pfi_cli_output *output)
{
    pfi_cli_cannot(output->path, "write");
    return PFI_CLI_FAILED;
}

static int open_folder(const char *path)
{
    const char *const name = pfi_cli_base_name(path);
    char *folder;
    int fd;

    if (name == path)
        return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    folder = strndup(path, (size_t)(name - path));
    if (!folder)
        return -1;
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return fd;
}

int pfi_cli_output_open(struct pfi_cli_output *output, const char *path)
{
    const char *const name = pfi_cli_base_name(path);
    int code;

    *output = (struct pfi_cli_output){.path = path, .folder = -1};
    errno = EISDIR;
    if (*name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
        output->folder = open_folder(path);
    if (output->folder < 0)
        return fail(output);
    if (!pfi_cli_part_open(&output->part, output->folder, name))
        return PFI_CLI_OK;
    code = fail(output);
    return pfi_cli_output_close(output, code);
}

int pfi_cli_output_close(struct pfi_cli_output *output, int code)
{
    if (!code && (pfi_cli_part_sync(&output->part) ||
                  pfi_cli_part_rename(&output->part)))
        code = fail(output);
    pfi_cli_part_drop(&output->part);
    if (output->folder >= 0)
        close(output->folder);
    output->folder = -1;
    return code;
}
