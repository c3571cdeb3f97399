// SPDX-License-Identifier: Apache-2.0
// The header of this folder: the tasks squad and squad-split (squad.c) for the Makefile's table.
#pragma once

#include "tasks/common/step/task.h"

extern const struct task task_squad, task_squad_split;
extern const struct task *const tasks_squad[];
