// SPDX-License-Identifier: Apache-2.0
// The interface of this folder: the tasks of speech (speech.c) for the Makefile's table.
#pragma once

#include "tasks/common/step/task.h"

extern const struct task task_an4, task_librispeech_100, task_librispeech;
extern const struct task *const tasks_speech[];
