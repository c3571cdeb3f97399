// SPDX-License-Identifier: Apache-2.0
// Times steps by the protocol (protocol.h). Each repeat is a window of blocks of steps. A window that is not accepted
// (fit.h) is extended block by block, dropping the oldest. It ends when it is accepted, after as many blocks again, or when
// the time is up. A window that was never accepted still counts, and the result says so.
//
// A callback runs the steps, so the tests need no clock.
#pragma once

#include "tasks/tools/measure/fit.h"
#include "submit/results/machine/others.h"
#include "tasks/tools/measure/protocol.h"

enum { TIMING_BLOCKS = 10 };  // of a window; blocks have 10 steps in the whole protocol
struct timing;
struct timing_choice {
    double seconds;   // limit for all steps
    int64_t repeats;  // at most PROTOCOL_REPEATS_MAX
    // Runs this many steps, waits for them, and returns the time they took together.
    int (*run)(void *context, int64_t steps, double *seconds);
    void *context;
    void (*each_repeat)(void *listener, const struct timing *);  // called after each repeat; may be NULL
    void *listener;
};

struct timing_repeat {
    double step;               // mean seconds of a step in the window
    struct fit_window window;
    int64_t extended;          // steps beyond the protocol
};
struct timing {
    struct protocol protocol;
    struct timing_repeat repeat[PROTOCOL_REPEATS_MAX];
    int64_t repeats;           // done
    struct spread step;        // over the repeats
    double variation, slope;   // largest value of all repeats
    int judged, accepted;      // number of repeats
    int64_t extended;          // steps of all repeats
    int64_t steps;             // all steps run, including the ignored ones
    double spent;              // seconds of all steps
    struct others_share machine;
};
int timing_run(const struct timing_choice *, struct timing *) MUST_CHECK;
