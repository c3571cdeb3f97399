// SPDX-License-Identifier: Apache-2.0
// Update rules that follow from a recipe: the optimiser, its settings and its schedules. A task changes the members that are
// its own.
#pragma once

#include "tasks/common/step/task.h"

// Parameters of these roles in all groups, updated like filters: by the recipe's optimiser.
struct rule rule_of_filters(const struct setting *, const char *name, uint32_t roles);
// Updated like the head and the biases (recipe_other_rule) with the learning rate `rate`.
struct rule rule_of_others(const struct setting *, const char *name, uint32_t roles, double rate);
// The decay that optimiser.weight_decay means for a learning rate. An update multiplies the decay by that rate, so it is divided
// by the rate here, and all parameters have the same decay in a step.
double rule_decay(const struct recipe *, double rate);
