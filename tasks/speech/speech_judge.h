// SPDX-License-Identifier: Apache-2.0
// The letters of an evaluation as words, against the transcripts: word and character error rates (WER and CER; characters without
// blanks, as Deep Speech counts them).
#pragma once

#include "tasks/common/step/task.h"

enum { SPEECH_LOGITS, SPEECH_STEPS };  // outputs: f32[B,T',29], and the steps of each utterance, i32[B]
extern const struct judge speech_judge;
