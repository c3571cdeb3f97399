// SPDX-License-Identifier: Apache-2.0
#ifndef DAWN_DETECTION_DETECTION_H
#define DAWN_DETECTION_DETECTION_H

#include "tasks/common/step/task.h"

extern const struct task task_bccd;

#endif
