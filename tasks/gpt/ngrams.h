// SPDX-License-Identifier: Apache-2.0
// What a table of counts predicts, without a network: characters after those before them, with Witten-Bell's interpolation of all
// shorter strings (Witten and Bell 1991). A model that scores less has learned nothing.
#pragma once

#include <stdint.h>

enum { NGRAMS_MOST = 6 };
// Tokens below 127. loss[k]: nats per token of `test`, all but the first, by strings of up to k tokens of `train`; loss[0]: all
// `symbols` are alike. Cost: 24 bytes for each different string, a second for a million tokens.
void ngrams_losses(const int32_t *train, int64_t trains, const int32_t *test, int64_t tests, int symbols,
                   double loss[NGRAMS_MOST + 1]);
