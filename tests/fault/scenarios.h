/* SPDX-License-Identifier: Apache-2.0
 * Lives of the library's objects, for the sweep of its functions. */
#ifndef PFI_TESTS_SCENARIOS_H
#define PFI_TESTS_SCENARIOS_H

#include "src/gpu/gpu.h"

#include <pinfold/pinfold.h>

/* What a life gave. */
struct life {
    pinfold_error error; /* the first */
    uint64_t digest;     /* of all that was given without an error */
    uint64_t healed;     /* of what was given when no call failed any more, by
                          * objects that lived on; 0 = nothing */
    char remark[256];    /* of a data set */
    const char *wrong;   /* or NULL */
};

struct scenario {
    const char *name;
    void (*live)(const struct scenario *scenario, struct life *life);
    const char *file; /* what the function makes of it */
    int number;
};

/* Up to one without a name.  They live in a folder of furnish_scenarios(). */
extern const struct scenario scenarios[];
void furnish_scenarios(void);

#define SCENARIO_OUT "out" /* where they write */

#endif
