// SPDX-License-Identifier: Apache-2.0
// The interface of this folder: the tasks of translation (translation.c) for the Makefile's table, their models, networks and
// judges. docs/decisions/translation-networks.md says which networks were chosen and why.
#pragma once

#include "tasks/common/decode/decoding.h"
#include "tasks/common/step/task.h"

extern const struct task task_multi30k, task_wmt17_transformer, task_wmt16_gnmt;
extern const struct task *const tasks_translation[];
extern const struct model translation_models[];  // ends with name NULL

struct recurrent;  // begins with its decoder
extern const struct recurrent recurrent_gnmt, recurrent_seq2seq;
extern const struct decoding transformer_decoder;
int transformer_begin(const struct setting *, struct session *, struct dataset *view);

extern const struct judge bleu_judge;        // words between blanks, in lower case: of tokenised text
extern const struct judge bleu_judge_wmt16;  // answers are detokenised; as sacrebleu -lc -tok intl, which MLPerf's GNMT runs
extern const struct judge bleu_judge_wmt17;  // as MLPerf's Transformer: Tensor2Tensor's words, uncased
