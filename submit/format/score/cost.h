// SPDX-License-Identifier: Apache-2.0
// The cost of a run from the price of an hour. Money is int64 in micro-USD. It is rounded up once, so a cost is never understated
// and anybody recomputes the same integer.
#pragma once

#include <stdint.h>

enum { COST_USD = 1000000 };

int64_t cost_training_micro(int64_t ns, int64_t micro_per_hour);
// Inference in DAWNBench's form: `items` (10,000) items one after another, `ns_per_item` each.
int64_t cost_inference_micro(int64_t ns_per_item, int64_t items, int64_t micro_per_hour);

enum { COST_TEXT = 40 };
char *cost_text(char into[COST_TEXT], int64_t micro);  // rounded up: "$42.35"; three digits below a dollar: "$0.0212"
