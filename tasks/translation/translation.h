// SPDX-License-Identifier: Apache-2.0
// The door of this room: the tasks of translation (translation.c) for the table that the Makefile makes, and their models.
#pragma once

#include "tasks/common/step/task.h"

extern const struct task task_multi30k, task_wmt17_transformer, task_wmt16_gnmt;
extern const struct task *const tasks_translation[];
extern const struct model translation_models[];  // ends with name NULL
