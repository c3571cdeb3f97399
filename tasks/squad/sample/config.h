// SPDX-License-Identifier: Apache-2.0
// config.json, which lies beside the weights of an encoder: what other programs wrote of its shape. The recipe says what is
// trained, so the two have to agree.
#ifndef DAWN_SQUAD_CONFIG_H
#define DAWN_SQUAD_CONFIG_H

#include "tasks/recipe/recipe.h"

enum { CONFIG_FILE = 1 << 20 };
struct config {
    int64_t layers, width, heads, feed_forward, positions, pieces;  // 0: it does not say
};
// Pure: `where` is for sentences. An encoder that is computed in another way than BERT is refused.
int config_parse(const char *where, const char *bytes, size_t count, struct config *) MUST_CHECK;
// Of the weights at `weights`; without config.json beside them there is nothing to compare. `pieces`: of the vocabulary.
int config_check(const char *weights, const struct recipe *, int64_t pieces) MUST_CHECK;

#endif
