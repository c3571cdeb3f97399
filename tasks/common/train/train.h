// SPDX-License-Identifier: Apache-2.0
// The training loop of all tasks: a run from the first byte read to the last row written, and groups of runs.
#pragma once

#include <jansson.h>

#include "submit/announce.h"
#include "submit/format/score/price.h"
#include "tasks/common/step/task.h"
#include "tasks/common/train/progress.h"
#include "tasks/common/train/resume.h"

// The run that a replay repeats. What is borrowed lives until train() returns.
struct train_replay {
    const char *head;    // last hash of its points
    const char *recipe;  // its recipe, word for word: train_options.recipe was read from it
    const json_t *run;   // as its statement has it: data and files must be the same
    int64_t epochs;      // ends after so many, as an interrupted run, and sets *cut; 0: trains the whole schedule
    bool *cut;
};

struct train_options {
    const struct task *task;
    struct recipe recipe;
    const char *data_name, *data_folder;  // "cifar10"; NULL: the usual folder
    struct task_files files; // files for the task; NULL: none
    const char *device;
    int threads;
    double target;
    double warm_up;          // seconds of steps before the reset
    bool stop;               // stop at the first evaluation that meets the target; never within a group
    int64_t runs, seed;      // run i of a group has seed + i, unless tickets give the seeds
    const char *database;    // NULL: the usual file
    struct run_labels labels;
    const char *save;        // path of the checkpoint; NULL: next to the database; "": none
    const struct price *price;  // NULL: none
    const struct resume *resume;  // the run to resume, with its own options; NULL: a new run
    const struct train_replay *replay;  // NULL: none
    const struct announce_type *announce;  // each run gets a ticket, which gives it its seed; NULL: none does
    struct announcer *announcer;           // open; borrowed
    struct resume_pace pace; // interval between states, for a run that can be resumed; never within a group
    enum progress_mode progress;
};

// Returns 0, ERR_TARGET below the target, ERR_INTERRUPTED after SIGINT or SIGTERM, or another failure. Recorded rows stay.
int train(const struct train_options *) MUST_CHECK;
