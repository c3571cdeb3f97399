// SPDX-License-Identifier: Apache-2.0
// One loop for all tasks: a run from the first byte read to the last row written, and groups of runs.
#ifndef DAWN_TRAIN_H
#define DAWN_TRAIN_H

#include "submit/format/score/price.h"
#include "tasks/step/task.h"
#include "tasks/train/progress.h"
#include "tasks/train/resume.h"

struct train_options {
    const struct task *task;
    struct recipe recipe;
    const char *data_name, *data_folder;  // "cifar10"; NULL: the usual folder
    struct task_files files; // of the task's own choice; NULL: none
    const char *device;
    int threads;
    double target;
    bool stop;               // at the first evaluation that meets the target; never within a group
    int64_t runs, seed;      // run i of a group has seed + i
    const char *database;    // NULL: the usual file
    const char *save;        // checkpoint; NULL: beside the database; "": none
    const struct price *price;  // NULL: none
    const struct resume *resume;  // the run that goes on, whose options the others are; NULL: a new one
    struct resume_pace pace; // how often the state is written, for a run that is resumed; never within a group
    enum progress_mode progress;
};

// 0, ERR_TARGET below the target, ERR_INTERRUPTED after SIGINT or SIGTERM, or what failed. What was recorded stays.
int train(const struct train_options *) MUST_CHECK;

#endif
