// SPDX-License-Identifier: Apache-2.0
// The protocol for timing training steps, as in DLPerf (github.com/Oneflow-Inc/DLPerf): 20 steps are ignored, the next 100
// timed, and the median of 7 repeats counts. For slow steps the protocol is shortened to a budget, and the output says so.
#pragma once

#include "runtime/common/base/error.h"

enum { PROTOCOL_IGNORED = 20, PROTOCOL_TIMED = 100, PROTOCOL_REPEATS = 7, PROTOCOL_REPEATS_MAX = 100 };
struct protocol {
    int64_t ignored, timed, repeats;  // steps before the timing, steps of a repeat, repeats
    bool whole;                       // the protocol was not shortened
};
// The protocol that fits into `budget` seconds if a step takes `step` seconds. It has at least one step of each kind. The
// repeats are reduced last, because the median of few repeats is worth little.
struct protocol protocol_fit(double step, double budget, int64_t repeats);

struct spread {
    double median, low, high;
};
struct spread protocol_spread(double *values, int count);  // sorts them
