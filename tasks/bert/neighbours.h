// SPDX-License-Identifier: Apache-2.0
// What a table of counts fills in, without a network: P(piece | the two before it) x P(piece | the two behind it) / P(piece), both
// with Witten-Bell's interpolation of shorter contexts (Witten and Bell 1991). A model that scores less has not learned neighbours.
#pragma once

#include "data/dataset.h"
#include "data/text/wordpiece.h"
#include "tasks/bert/sentence_pairs.h"

enum { NEIGHBOURS_MOST = 1 << 24 };  // pieces of a training text that are counted
struct neighbours_score {
    double masked, loss;  // the share of masked pieces whose best guess is right; the mean loss of one in nats
};
// Counts the training text and fills in the scored set of a view of cloze.h. A context ends at a special piece and at the end of
// the sample. Cost: 32 bytes for each piece of the training text; a second for 10,000 masked pieces.
struct neighbours_score neighbours_fill_in(const struct dataset *view, const struct sentence_text *train,
                                           const struct wordpiece_special *);
