// SPDX-License-Identifier: Apache-2.0
// Follows an energy counter that does not wrap, such as a GPU's. Its first reading may load a library, and every reading may take
// a millisecond, so a thread of its own takes them: one at the start, then one per second. A caller that needs an exact figure
// at the end of a run reads it itself. Cost: a thread, which sleeps.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct machine_counter;
// Energy since some fixed moment; false: not known. Only one thread at a time calls it.
typedef bool machine_counter_read(void *context, int64_t *uj);

// NULL if no thread can be started. `context` must live until machine_counter_stop.
struct machine_counter *machine_counter_start(machine_counter_read *, void *context);
// Energy since the first reading. `now`: waits for the first reading if necessary, and reads again; otherwise it is the energy of
// the last reading. False if it is not known. NULL is fine.
bool machine_counter_uj(struct machine_counter *, bool now, int64_t *since_start);
void machine_counter_stop(struct machine_counter *);  // NULL is fine
