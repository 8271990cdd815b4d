/* SPDX-License-Identifier: Apache-2.0
 * What a fake needs to know of the clock and the threads that it lives among,
 * and what whoever moves the clock must know of the fake. */
#ifndef PFI_TESTS_WORLD_H
#define PFI_TESTS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_NEVER UINT64_MAX

/* Something with a clock hand of its own. */
struct fake_machine {
    void *cookie;
    uint64_t (*next)(void *cookie); /* when something is due, or FAKE_NEVER */
    void (*run)(void *cookie, uint64_t until); /* does what is due */
};

struct fake_world {
    uint64_t (*now)(void);
    void (*sleep)(uint64_t ns);
    /* Returns when ready(argument); `what` is for the report of a hang. */
    void (*wait)(bool (*ready)(void *argument), void *argument,
                 const char *what);
    int (*locks_held)(void); /* by the calling thread */
    void (*attach)(const struct fake_machine *machine);
};

#endif
