// SPDX-License-Identifier: Apache-2.0
// Prices of machines by the hour: from the dated table, or from the user. cost.h computes with them.
#pragma once

#include "runtime/common/base/error.h"
#include "submit/format/score/cost.h"

struct price {
    char instance[64];        // "c7i.xlarge"; "": a price of the user
    int64_t micro_per_hour;   // USD x 1,000,000
    char source[160];         // a sentence, or "user"
    char date[11];            // date of the source, YYYY-MM-DD
    char what[160];           // cores, memory, accelerators in words
};

#define PRICE_MAX_MICRO ((int64_t)1000000 * COST_USD)  // a million USD per hour

int price_find(const char *instance, struct price *) MUST_CHECK;             // from submit/format/score/prices.json
int price_from_user(double usd_per_hour, struct price *) MUST_CHECK;         // source "user", date today
// The price for --instance and --cost-per-hour (NaN: not given). *known is false if neither was given.
int price_choose(const char *instance, double usd_per_hour, struct price *, bool *known) MUST_CHECK;
int price_table(int (*row)(void *, const struct price *), void *) MUST_CHECK;  // every row, in order
// The parser behind both, for any table.
int price_parse(const char *json, size_t size, int (*row)(void *, const struct price *), void *) MUST_CHECK;
