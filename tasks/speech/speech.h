// SPDX-License-Identifier: Apache-2.0
// The door of this room: the tasks of speech (speech.c) for the table that the Makefile makes.
#pragma once

#include "tasks/common/step/task.h"

extern const struct task task_an4, task_librispeech_100, task_librispeech;
extern const struct task *const tasks_speech[];
