// SPDX-License-Identifier: Apache-2.0
// The list of tasks.
#ifndef DAWN_TASKS_TASKS_H
#define DAWN_TASKS_TASKS_H

#include "tasks/common/step/task.h"

extern const struct task *const task_table[];  // ends with NULL
int task_find(const char *name, const struct task **) MUST_CHECK;
// Refuses a command line without exactly one task. The sentence names the tasks of the table, then `more` (", or ops").
int task_wanted(const char *more) MUST_CHECK;

#endif
