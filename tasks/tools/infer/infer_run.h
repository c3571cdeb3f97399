// SPDX-License-Identifier: Apache-2.0
// What a recorded run brings to an inference. `record` is the run's row (record_read).
#pragma once

#include <jansson.h>

#include "submit/results/record.h"
#include "tasks/common/step/task.h"

// Each is a failure with a sentence if the files are not the run's.
int infer_run_files(const struct task_files *, const json_t *record, int64_t run) MUST_CHECK;  // that it was trained with
int infer_run_weights(const char *path, const json_t *record, int64_t run) MUST_CHECK;         // that it ended with
// The data set of its task that it was trained on; NULL: the task's first.
const char *infer_run_data(const struct task *, const json_t *record);

// The newest run of a task whose weights still exist, in the data of its training: the default ones, or a folder that still
// exists. infer_run_free also ends what a failure left.
struct infer_run {
    int64_t run;
    json_t *record;
    char *weights, *folder;  // folder NULL: the usual one
    const char *data;        // NULL: the task's first
};
int infer_run_newest(struct results *, const struct task *, struct infer_run *) MUST_CHECK;
void infer_run_free(struct infer_run *);
