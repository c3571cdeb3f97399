// SPDX-License-Identifier: Apache-2.0
// Prices of machines by the hour and what a run costs. Money is int64 in micro-USD; rounding is upwards, so that a
// cost is never understated and anybody recomputes the same integer.
#ifndef DAWN_TASKS_PRICE_H
#define DAWN_TASKS_PRICE_H

#include "runtime/base/error.h"

struct price {
    char instance[64];        // "c7i.xlarge"; "" when the user gave the price
    int64_t micro_per_hour;   // USD x 1,000,000
    char source[160];         // a sentence, or "user"
    char date[11];            // when the source said so, YYYY-MM-DD
    char what[160];           // cores, memory, accelerators in words
};

enum { PRICE_USD = 1000000 };
#define PRICE_MAX_MICRO ((int64_t)1000000 * PRICE_USD)  // a million USD an hour

int price_find(const char *instance, struct price *) MUST_CHECK;             // from tasks/prices.json
int price_from_user(double usd_per_hour, struct price *) MUST_CHECK;         // source "user", date today
// What --instance and --cost-per-hour (NaN: not given) ask for; *known is false when neither was given.
int price_choose(const char *instance, double usd_per_hour, struct price *, bool *known) MUST_CHECK;
int price_table(int (*row)(void *, const struct price *), void *) MUST_CHECK;  // every row, in order
// The parser behind both, for a table from anywhere.
int price_parse(const char *json, size_t size, int (*row)(void *, const struct price *), void *) MUST_CHECK;

int64_t price_training_micro(int64_t ns, int64_t micro_per_hour);
// Inference as DAWNBench shows it: `items` (10,000) items one after another at `ns_an_item`.
int64_t price_inference_micro(int64_t ns_an_item, int64_t items, int64_t micro_per_hour);

enum { PRICE_TEXT = 40 };
char *price_text(char into[PRICE_TEXT], int64_t micro);  // "$0.0212", "$42.35"

#endif
