// SPDX-License-Identifier: Apache-2.0
// config.json next to the weights of an encoder: the encoder's shape as another program wrote it. It must agree with the
// recipe, which decides the network.
#pragma once

#include "tasks/common/recipe/recipe.h"

enum { CONFIG_FILE = 1 << 20 };
struct config {
    int64_t layers, width, heads, feed_forward, positions, pieces;  // 0: not stated
};
// Pure; `where` names the text in errors. Refuses an encoder that is computed differently from BERT.
int config_parse(const char *where, const char *bytes, size_t count, struct config *) MUST_CHECK;
// Compares the recipe with config.json next to `weights`. Without config.json there is nothing to compare. `pieces`: size of
// the vocabulary.
int config_check(const char *weights, const struct recipe *, int64_t pieces) MUST_CHECK;
