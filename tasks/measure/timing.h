// SPDX-License-Identifier: Apache-2.0
// Times steps by the protocol (protocol.h). Each repeat is a window of blocks of steps. A window that is not accepted (fit.h)
// goes on block by block, the oldest block drops out, and it ends when it is accepted, after as many blocks again, or when
// the time is up. What was not accepted counts all the same, and the timing says so.
//
// Who runs the steps is a callback, so that the tests need no clock.
#ifndef DAWN_TASKS_TIMING_H
#define DAWN_TASKS_TIMING_H

#include "tasks/measure/fit.h"
#include "tasks/measure/others.h"
#include "tasks/measure/protocol.h"

enum { TIMING_BLOCKS = 10 };  // of a window: blocks of 10 steps where the protocol is whole
struct timing;
struct timing_choice {
    double seconds;   // limit for all steps
    int64_t repeats;  // at most PROTOCOL_REPEATS_MAX
    // Runs so many steps, waits for them, and says how long they took together.
    int (*run)(void *context, int64_t steps, double *seconds);
    void *context;
    void (*told)(void *listener, const struct timing *);  // after each repeat; NULL: nobody asks
    void *listener;
};

struct timing_repeat {
    double step;               // mean seconds of a step of its window
    struct fit_window window;
    int64_t extended;          // steps beyond the protocol's
};
struct timing {
    struct protocol protocol;
    struct timing_repeat repeat[PROTOCOL_REPEATS_MAX];
    int64_t repeats;           // done
    struct spread step;        // of the repeats
    double variation, slope;   // the largest among the repeats
    int judged, accepted;      // repeats
    int64_t extended;          // steps of all repeats
    int64_t steps;             // all that were run, the ignored ones too
    double spent;              // seconds of all steps
    struct others_share machine;
};
int timing_run(const struct timing_choice *, struct timing *) MUST_CHECK;

#endif
