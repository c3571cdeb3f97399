// SPDX-License-Identifier: Apache-2.0
// The list of tasks, in the order of their folders.
#pragma once

#include "tasks/common/step/task.h"

// The tasks of each folder, a list that ends with NULL; the Makefile finds them (tasks_FOLDER) and makes the table, which ends
// with NULL, too.
extern const struct task *const *const task_folders[];
#define TASK_USUAL "cifar10"      // of "dawn record" and "dawn recipe" without a task
const struct task *task_at(int i);  // all tasks in turn; NULL after the last
int task_find(const char *name, const struct task **) MUST_CHECK;
// Refuses a command line without exactly one task. The sentence names the tasks, then `more` (", or ops").
int task_wanted(const char *more) MUST_CHECK;
