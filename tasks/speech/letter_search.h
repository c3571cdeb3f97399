// SPDX-License-Identifier: Apache-2.0
// The text of an utterance from the logits of its steps, by the rule of CTC: repeats count once, and blanks part them.
//
// The search keeps the `beam` most likely texts (Hannun et al. 2014, without a language model): the ways to place one text in
// the steps add up. With a beam of 1 it is the best letter of each step instead, which is no search. Cost: 29 x beam sums
// per step.
#pragma once

#include <stdint.h>

enum { LETTER_BEAM = 100 };

// Reads logits[steps,29]. Writes at most steps + 1 characters, with a NUL, and returns their number.
int64_t letter_search(const float *logits, int64_t steps, int beam, char *into);
