// SPDX-License-Identifier: Apache-2.0
// Recipe keys and initial values for models with the layers of GPT-2's speedruns (net_transformer.h: struct net_rotary), shared
// by several tasks.
#pragma once

#include "tasks/common/layers/net_transformer.h"
#include "tasks/common/recipe/recipe_keys.h"

enum { PART_ROTARY = 1 };    // of a model that has such layers
#define NET_MODERN_EPS 1e-6f  // of the norms

struct net_modern_keys {
    double base;   // of the rotary positions
    int between;   // enum net_between - 1
    double beta2;  // of the parameters that AdamW updates next to Muon
};
extern const char *const net_modern_between[];  // ends with NULL
// Rows of a recipe_table.keys for the member `keys` of the task's struct `type`.
#define NET_MODERN_KEYS(type, keys)                                                                                    \
    {"model.activation", NULL, KEY_CHOICE, RECIPE_OWN(type, keys.between), 0, 0, net_modern_between, "relu-squared",    \
     .about = "between the two products of a layer; swiglu has a third one", .part = PART_ROTARY},                      \
    {"model.rotary", NULL, KEY_NUMBER, RECIPE_OWN(type, keys.base), 1, 1e9, NULL, "10000",                              \
     .about = "base of the wave lengths of positions, in tokens", .part = PART_ROTARY},                                 \
    {"optimiser.muon.beta2", NULL, KEY_NUMBER, RECIPE_OWN(type, keys.beta2), 0, 0.99999, NULL, "0.95",                  \
     .about = "decay of the second moment of parameters that AdamW updates next to Muon; optimiser.momentum: of the first",  \
     .rules = FOR_MUON}
// Fails if the width is not a multiple of the heads, or if a head's width does not suit rotary positions.
int net_modern_check(const char *where, const struct recipe *, int64_t width, int64_t heads) MUST_CHECK;

struct net_modern {
    struct net_begin begin;
    struct net_rotary rotary;
};
// Sets the members of a layer of `width` that these models change. The layer keeps pointers into `own`.
void net_modern_layer(const struct net_modern_keys *, int64_t width, struct net_modern *own, struct net_transformer *layer);
