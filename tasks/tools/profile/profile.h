// SPDX-License-Identifier: Apache-2.0
// Time and memory of a training step: operators and passes against the roofline, utilisation of the arithmetic, steps that
// go through the feed with the time they wait for it, memory by class and layer.
//
// There are two utilisations (A. Chowdhery et al., "PaLM", 2022, appendix B). That of the model counts the arithmetic of the
// forward and backward pass. That of the hardware counts all arithmetic, including updates (Muon's products are a good part
// of it).
#pragma once

#include "tasks/tools/forecast/forecast.h"
#include "tasks/tools/measure/counters.h"
#include "tasks/tools/measure/trial.h"
#include "tasks/tools/profile/profile_layers.h"

// A step whose batch came from the feed. Nanoseconds since the first of these steps began.
struct profile_step {
    int64_t begin_ns, fed_ns, end_ns;  // batch requested; batch received; step given to the device
    int64_t samples;
};
enum { PROFILE_STEPS = 100 };
struct profile {
    struct roofline passes, nodes;
    double nodes_s, step_s;        // sum of the nodes, timed one by one; the step, timed as a whole
    double model_flops, flops;     // of a step: forward and backward; all nodes
    double peak;                   // operations a second of a matrix product in the step's type; 0: not measured
    struct profile_step step[PROFILE_STEPS];
    int steps;
    int64_t samples;               // of these steps
    double fed_s, stalled_s;       // all of them; the time waiting for the feed
    struct others_share machine;   // load of other programs meanwhile
    struct counted counted;        // by the processor's counters, in these steps; 0: not readable here
    int64_t feed_bytes;            // host memory for batches made ahead and caches of samples
    struct profile_layers layers;          // of the step's program
    struct forecast_variant own[PROGRAMS_MAX];  // what host code runs between steps, which no figure above has
    int owns;
};
// The trial must be ready. Takes at most `seconds` for the timing, and as many for the steps through the feed.
// `tell`, which may be NULL, receives the current activity.
int profile_run(struct trial *, double seconds, void (*tell)(const char *), struct profile *) MUST_CHECK;
void profile_free(struct profile *);

void profile_text(const struct trial *, const struct profile *, int operators, int layers, struct text *into);
struct json_t *profile_json(const struct trial *, const struct profile *);
