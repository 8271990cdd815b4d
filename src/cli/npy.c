/* SPDX-License-Identifier: Apache-2.0
 * The header that numpy's format.py (2.4.6) describes: a multiple of 64 bytes,
 * filled with spaces, a line feed last. */
#include "src/cli/npy.h"

#include <string.h>

#define HEADER 192

void pfi_cli_npy_header(FILE *out, const char *description, long long count,
                        const int64_t *shape, int n)
{
    char header[HEADER + 1];
    size_t used;

    memset(header, ' ', HEADER);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(HEADER - 10);
    header[9] = 0;
    used = 10;
    used += (size_t)snprintf(header + used, sizeof(header) - used,
                             "{'descr': '%s', 'fortran_order': False, "
                             "'shape': (%lld,",
                             description, count);
    for (int i = 0; i < n; i++)
        used += (size_t)snprintf(header + used, sizeof(header) - used, " %lld%s",
                                 (long long)shape[i], i + 1 < n ? "," : "");
    used += (size_t)snprintf(header + used, sizeof(header) - used, "), }");
    header[used] = ' ';
    header[HEADER - 1] = '\n';
    (void)fwrite(header, 1, HEADER, out);
}
