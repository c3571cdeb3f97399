// SPDX-License-Identifier: Apache-2.0
// `dawn record` without its command line: runs a user's command, times it, writes it like any other run and marks it as
// self-evaluated. docs/record.md defines the lines that a program prints.
#pragma once

#include "submit/format/score/contest.h"
#include "submit/results/result.h"
#include "tasks/tools/outside/child.h"

struct recorder_end {
    int64_t run;              // its number in the record
    int64_t index, planned;   // within a group; planned 1: no group
    int64_t seed;
    const char *status;
    int64_t epochs;           // reported
    int64_t k;                // of the last evaluation; negative: none
    struct stopwatch_clocks last, reached;  // at the last epoch, and at the first one that met the target (0: none)
    int64_t reached_epoch;
};
struct recorder_options {
    const struct contest *contest;
    int64_t target_micro;
    bool stop;                  // SIGTERM at the first evaluation that meets the target; never within a group
    int64_t runs, seed;         // run i of a group has seed + i
    int64_t devices;
    const char *database;       // NULL: the default file
    const char *model, *framework;
    const char *gpu;            // NULL: what the machine reports
    const struct price *price;  // NULL: none
    struct run_labels labels;
    const char *events;         // folder of TensorBoard's event files; NULL: the program prints its epochs
    const char *score_tag, *loss_tag;  // scalars in them; each score is an epoch. loss_tag NULL: none
    char *const *command;       // ends with NULL
    int onto[CHILD_STREAMS];    // descriptors that its output is passed on to
    void (*tell)(const struct recorder_options *, const struct recorder_end *);  // called after each run; may be NULL
    // Called after each epoch with the known figures of the run (no status); may be NULL.
    void (*tell_epoch)(const struct recorder_options *, const struct recorder_end *);
};

// Returns 0, ERR_TARGET below the target, ERR_INTERRUPTED after a signal, or another error. Recorded rows stay. *group: the
// id of the group, 0 for a single run.
int recorder_run(const struct recorder_options *, int64_t *group) MUST_CHECK;
