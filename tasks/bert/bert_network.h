// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tasks/common/step/step.h"

// Reads the fields of cloze.h: tokens i32[B,T], segments i32[B,T], tokens.length i32[B], places i32[B,P].
enum { BERT_BODY, BERT_HEAD };  // groups of parameters; bert-mlm has the first alone
struct bert_answers {
    int words;  // logits of the masked pieces, [B,P,V] of the activations' type
    int next;   // f32[B,2]: the second text follows; it is from another article
};
void bert_network(struct step *, struct bert_answers *);
