// SPDX-License-Identifier: Apache-2.0
// Update rules that follow from a recipe: the optimiser, its settings and its schedules. A task then sets the members that
// differ.
#pragma once

#include "tasks/common/step/task.h"

// Parameters of these roles in all groups, updated like filters: by the recipe's optimiser.
struct rule rule_of_filters(const struct setting *, const char *name, uint32_t roles);
// Updated like the head and the biases (recipe_other_rule) with the learning rate `rate`.
struct rule rule_of_others(const struct setting *, const char *name, uint32_t roles, double rate);
// The same, but AdamW next to Muon (Jordan et al. 2024), where other tasks have SGD. The decays of its moments are
// optimiser.momentum and beta2.
struct rule rule_beside_muon(const struct setting *, const char *name, uint32_t roles, double rate, double beta2);
// For matrices of few shapes: all of one shape are one batch, and where the training is in bf16, so are Muon's products, as in
// the published one (docs/language.md). f16 would lose small numbers.
void rule_in_batches(const struct setting *, struct rule *);
// The decay that optimiser.weight_decay means for a learning rate. An update multiplies the decay by the rate, so this function
// divides by it, and all parameters decay equally in a step.
double rule_decay(const struct recipe *, double rate);
