// SPDX-License-Identifier: Apache-2.0
// BLEU of an evaluation: the answers, ids i32[B,T] that end with BPE_EOS, as lines against the stored targets, whose words are
// separated by blanks and compared in lower case.
#ifndef DAWN_TRANSLATION_BLEU_JUDGE_H
#define DAWN_TRANSLATION_BLEU_JUDGE_H

#include "tasks/common/step/task.h"

extern const struct judge bleu_judge;

#endif
