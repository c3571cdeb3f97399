// SPDX-License-Identifier: Apache-2.0
// The arithmetic of cost. Invariant: every cost is the smallest integer of micro-USD not below the true value, so that
// "recompute it" has one answer.
#include "submit/format/score/cost.h"

#include <stdio.h>

#include "runtime/common/base/error.h"

static int64_t ceiling(__int128 product, int64_t divisor)
{
    return (int64_t)((product + divisor - 1) / divisor);
}

static const int64_t ns_per_hour = (int64_t)3600 * 1000000000;

int64_t cost_training_micro(int64_t ns, int64_t micro_per_hour)
{
    BUG_IF(ns < 0 || micro_per_hour < 0);
    return ceiling((__int128)ns * micro_per_hour, ns_per_hour);
}

int64_t cost_inference_micro(int64_t ns_per_item, int64_t items, int64_t micro_per_hour)
{
    BUG_IF(ns_per_item < 0 || items < 0 || micro_per_hour < 0);
    return ceiling((__int128)ns_per_item * items * micro_per_hour, ns_per_hour);
}

char *cost_text(char into[COST_TEXT], int64_t micro)
{
    // Cents, and three digits below a dollar, as on boards. A record has no digits below a millionth.
    int cut = 4;  // of the six decimals of a whole number of micro-USD
    int64_t unit = 10000;
    for (int64_t least = COST_USD; micro > 0 && micro < least && cut > 0; least /= 10) cut--, unit /= 10;
    int64_t rounded = (micro + unit - 1) / unit * unit;
    int length = snprintf(into, COST_TEXT, "$%lld.%06d", (long long)(rounded / COST_USD), (int)(rounded % COST_USD));
    into[length - cut] = 0;
    return into;
}
