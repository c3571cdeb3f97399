// SPDX-License-Identifier: Apache-2.0
// The header of this folder: the tasks for the Makefile's table.
#pragma once

#include "tasks/common/step/task.h"

extern const struct task task_imagenet, task_imagenette;
extern const struct task *const tasks_imagenet[];
