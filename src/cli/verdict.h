/* SPDX-License-Identifier: Apache-2.0
 * Who held up whom. */
#ifndef PFI_CLI_VERDICT_H
#define PFI_CLI_VERDICT_H

/* Of the milliseconds that the caller waited for a batch, and those that all slots
 * were full.  "": neither waited for as long as half a millisecond. */
const char *pfi_cli_verdict(double caller_ms, double full_ms);

#endif
