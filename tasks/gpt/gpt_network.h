// SPDX-License-Identifier: Apache-2.0
// The networks. A token's state predicts the token that follows it. B blocks of T tokens, C numbers per token, V tokens.
#pragma once

#include "tasks/common/step/step.h"

enum { GPT_BODY, GPT_HEAD, GPT_EMBEDDING };  // groups of parameters; a table that is also the head belongs to the head's group

int gpt_states(struct step *, int tokens);       // i32[B,T] -> [B,T,C]
// Computes one more token of a text: i32[1], and its position in the block, i32[1] -> [1,C]. Slots hold the keys and values of
// earlier tokens.
int gpt_next(struct step *, int token, int at);
int gpt_logits(struct step *, int states);       // [..,C] -> [..,V], of the activations' type
// The loss of the logits of these states, which never stand whole in memory. Labels i32[B,T]. Returns the sum over all rows;
// out: that sum, the rows' own, how many rows count.
int gpt_loss(struct step *, int states, int labels, int out[3]);
static inline int64_t gpt_block(const struct setting *c)
{
    return c->data->field[0].shape.dim[0] - 1;
}
static inline int64_t gpt_tokens(const struct setting *c)
{
    return c->data->field[0].classes;
}
