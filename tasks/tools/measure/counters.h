// SPDX-License-Identifier: Apache-2.0
// The processor's own counters of this program's threads (perf_event_open): cycles and instructions in user space. Many virtual
// machines and containers have none, or forbid them; then nothing is known. Cost: two descriptors per thread, and no time while
// they count.
#pragma once

#include "runtime/common/base/error.h"

struct counters;
struct counted {
    int64_t cycles, instructions;  // of all threads that existed at the beginning
};
struct counters *counters_begin(void);  // NULL: not readable here
// Ends it, also NULL. False if nothing was counted.
bool counters_end(struct counters *, struct counted *);
