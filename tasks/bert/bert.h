// SPDX-License-Identifier: Apache-2.0
// The interface of this folder: the tasks of BERT's pre-training (bert.c) for the Makefile's table, and their model.
#pragma once

#include "tasks/common/step/task.h"

extern const struct task task_wiki_mlm, task_bert_pretraining;
extern const struct task *const tasks_bert[];
extern const struct model bert_models[];  // ends with name NULL
