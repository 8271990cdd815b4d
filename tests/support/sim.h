/* SPDX-License-Identifier: Apache-2.0
 * Threads and time as a simulation.  Between sim_begin() and sim_end() one
 * thread runs at a time; which one is drawn from the seed at every lock, unlock
 * and wait; and the clock stands still until all threads wait, then jumps to
 * the next thing that is due.  So a seed gives one schedule, timeouts cost no
 * time, and a hang is seen at once: all wait and nothing is due.
 *
 * The program must be linked with --wrap for pthread_create, pthread_join,
 * pthread_mutex_lock, pthread_mutex_unlock, pthread_cond_wait,
 * pthread_cond_timedwait, pthread_cond_signal, pthread_cond_broadcast and
 * pfi_now_ns. */
#ifndef PFI_TESTS_SIM_H
#define PFI_TESTS_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/world.h"

/* Begins at time 0 with the calling thread. */
void sim_begin(uint64_t seed);
/* All other threads must have been joined. */
void sim_end(void);

uint64_t sim_now(void);
void sim_sleep(uint64_t ns);
/* The next number that the seed gives. */
uint32_t sim_random(void);
/* Threads that were alive at once, at most. */
int sim_most_threads(void);

/* For fake_gpu_join() and the fake set. */
extern const struct fake_world sim_world;

#endif
