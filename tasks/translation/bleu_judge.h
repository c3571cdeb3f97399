// SPDX-License-Identifier: Apache-2.0
// BLEU of an evaluation: the answers, ids i32[B,T] that end with BPE_EOS, as lines against the stored targets. How both become
// words is a fact of the task.
#pragma once

#include "tasks/common/step/task.h"

extern const struct judge bleu_judge;        // words between blanks, in lower case: of tokenised text
extern const struct judge bleu_judge_wmt16;  // answers are detokenised; as sacrebleu -lc -tok intl, which MLPerf's GNMT runs
extern const struct judge bleu_judge_wmt17;  // as MLPerf's Transformer: Tensor2Tensor's words, uncased
