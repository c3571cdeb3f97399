// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/step/task.h"

extern const struct task task_bccd, task_pennfudan;
