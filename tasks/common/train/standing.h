// SPDX-License-Identifier: Apache-2.0
// Says before a run begins which boards can list it, so that a run of hours does not end in a result that no board accepts.
#pragma once

#include "runtime/common/base/text.h"
#include "tasks/common/step/task.h"

struct standing {
    const struct task *task;
    const struct recipe *recipe;
    const struct dataset_facts *data;  // checked
    double target;
    int64_t runs, views;               // runs of the group; forward passes of a sample in an evaluation
    bool files, emulated;              // the run takes files besides its data; its GPU is emulated
};
// Adds a sentence about the result and its latency. True if both can be listed on the task's own boards.
bool standing_text(const struct standing *, struct text *);
