// SPDX-License-Identifier: Apache-2.0
// How training steps are timed: as DLPerf does (github.com/Oneflow-Inc/DLPerf: 20 steps ignored, the next 100 timed, the
// median of 7 repeats). If steps are slow, the protocol is shortened to fit a budget, and the output says so.
#ifndef DAWN_TASKS_PROTOCOL_H
#define DAWN_TASKS_PROTOCOL_H

#include "runtime/base/error.h"

enum { PROTOCOL_IGNORED = 20, PROTOCOL_TIMED = 100, PROTOCOL_REPEATS = 7, PROTOCOL_REPEATS_MAX = 100 };
struct protocol {
    int64_t ignored, timed, repeats;  // steps before the timing, steps of a repeat, repeats
    bool whole;                       // nothing was cut
};
// The protocol that fits into `budget` seconds if a step takes `step` seconds. At least one step of each kind. Repeats are
// cut last, because a median of few is worth little.
struct protocol protocol_fit(double step, double budget, int64_t repeats);

struct spread {
    double median, low, high;
};
struct spread protocol_spread(double *values, int count);  // sorts them

#endif
