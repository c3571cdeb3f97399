// SPDX-License-Identifier: Apache-2.0
// The arithmetic of cost. Invariant: every cost is the smallest integer of micro-USD not below the true value, so that
// "recompute it" has one answer.
#include "submit/format/score/cost.h"

#include <stdio.h>

#include "runtime/base/error.h"

static int64_t ceiling(__int128 product, int64_t divisor)
{
    return (int64_t)((product + divisor - 1) / divisor);
}

static const int64_t ns_an_hour = (int64_t)3600 * 1000000000;

int64_t cost_training_micro(int64_t ns, int64_t micro_per_hour)
{
    BUG_IF(ns < 0 || micro_per_hour < 0);
    return ceiling((__int128)ns * micro_per_hour, ns_an_hour);
}

int64_t cost_inference_micro(int64_t ns_an_item, int64_t items, int64_t micro_per_hour)
{
    BUG_IF(ns_an_item < 0 || items < 0 || micro_per_hour < 0);
    return ceiling((__int128)ns_an_item * items * micro_per_hour, ns_an_hour);
}

char *cost_text(char into[COST_TEXT], int64_t micro)
{
    // Two decimals from ten dollars on, four from a cent on, else six: at least three digits.
    int places = micro >= 10 * (int64_t)COST_USD ? 2 : micro >= COST_USD / 100 ? 4 : 6;
    int64_t unit = places == 2 ? 10000 : places == 4 ? 100 : 1;
    int64_t rounded = (micro + unit - 1) / unit;
    int64_t whole = places == 2 ? 100 : places == 4 ? 10000 : 1000000;
    snprintf(into, COST_TEXT, "$%lld.%0*lld", (long long)(rounded / whole), places, (long long)(rounded % whole));
    return into;
}
