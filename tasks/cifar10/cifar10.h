// SPDX-License-Identifier: Apache-2.0
// The header of this folder: the task for the Makefile's table.
#pragma once

#include "tasks/common/step/task.h"

extern const struct task task_cifar10;
extern const struct task *const tasks_cifar10[];
