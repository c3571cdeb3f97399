// SPDX-License-Identifier: Apache-2.0
// The facts in which runs differ: settings, data, keys of the recipe, machine, program.
#pragma once

#include "tasks/tools/show/plain.h"

enum { DIFFER_MOST = 8 };  // runs that are compared at once
// Two runs: "bf16 -> f32". More: each value with the numbers that have it, "bf16 (1, 3), f32 (2)".
void differ_text(struct text *, const json_t *const run[], const int64_t *number, int count, const struct plain_style *);
// For programs: [{"of", "name", "first", "second"}], and "values" in place of the last two for more runs.
json_t *differ_json(const json_t *const run[], int count);
