// SPDX-License-Identifier: Apache-2.0
// Fails with a sentence unless the files are a recorded run's. `record` is the run's row (record_read).
#pragma once

#include <jansson.h>

#include "tasks/common/step/task_files.h"

int infer_run_files(const struct task_files *, const json_t *record, int64_t run) MUST_CHECK;  // that it was trained with
int infer_run_weights(const char *path, const json_t *record, int64_t run) MUST_CHECK;         // that it ended with
