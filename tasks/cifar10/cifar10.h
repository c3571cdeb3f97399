// SPDX-License-Identifier: Apache-2.0
// The door of this room: the task for the table that the Makefile makes.
#ifndef DAWN_CIFAR10_CIFAR10_H
#define DAWN_CIFAR10_CIFAR10_H

#include "tasks/common/step/task.h"

extern const struct task task_cifar10;
extern const struct task *const tasks_cifar10[];

#endif
