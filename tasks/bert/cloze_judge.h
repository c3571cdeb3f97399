// SPDX-License-Identifier: Apache-2.0
// Scores of masked pieces: the share whose best guess is the piece that was there, the share of right answers to "next", and the
// mean loss of a masked piece in nats.
#pragma once

#include "tasks/common/step/task.h"

// Outputs: i32[B,P*CLOZE_BEST] and f32[B,P*CLOZE_BEST], the best pieces of each position and their probabilities; f32[B,P];
// f32[B,2].
enum { CLOZE_WORDS, CLOZE_SHARES, CLOZE_LOSSES, CLOZE_NEXT };
extern const struct judge cloze_judge;
