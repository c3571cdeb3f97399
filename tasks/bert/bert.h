// SPDX-License-Identifier: Apache-2.0
// The door of this room: the tasks of BERT's pre-training (bert.c) for the table that the Makefile makes, and their model.
#pragma once

#include "tasks/common/step/task.h"

extern const struct task task_wiki_mlm, task_bert_pretraining;
extern const struct task *const tasks_bert[];
extern const struct model bert_models[];  // ends with name NULL
