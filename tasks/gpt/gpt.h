// SPDX-License-Identifier: Apache-2.0
// The interface of this folder: the tasks of language models that write from left to right (gpt.c), and their models.
#pragma once

#include "tasks/common/step/task.h"

extern const struct task task_gpt_char, task_fineweb_gpt;
extern const struct task *const tasks_gpt[];
extern const struct model gpt_models[];  // ends with name NULL
