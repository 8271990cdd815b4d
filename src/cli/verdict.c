/* SPDX-License-Identifier: Apache-2.0
 * Who held up whom, in words. */
#include "src/cli/verdict.h"

const char *pfi_cli_verdict(double caller_ms, double full_ms)
{
    if (caller_ms < 0.5 && full_ms < 0.5)
        return "";
    return caller_ms > full_ms ? ": loading is the bottleneck"
                               : ": the caller is the bottleneck";
}
