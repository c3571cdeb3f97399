// SPDX-License-Identifier: Apache-2.0
// The recipe keys of a search, as rows of a task's table. The task's own keys have a member `struct search_keys search`, and its
// OWN(field) is RECIPE_OWN with their type.
#pragma once

#include "tasks/common/decode/search_graph.h"
#include "tasks/common/recipe/recipe_keys.h"

enum { SEARCH_EXTRA = 1024 };  // search.extra, at most
struct search_keys {
    int64_t batch, beam, extra;
    int norm;  // enum search_norm
    double alpha, coverage, ratio;
};
extern const char *const search_norms[];

#define SEARCH_KEYS                                                                                                             \
    {"search.batch", NULL, KEY_WHOLE, OWN(search.batch), 1, SEARCH_SAMPLES, NULL, "32",                                         \
     .about = "sentences of a batch of an evaluation", .decodes = true},                                                        \
    {"search.beam", NULL, KEY_WHOLE, OWN(search.beam), 1, 10, NULL, "5",                                                        \
     .about = "hypotheses per sentence in the schedule's last evaluation and in an inference; other evaluations have one",      \
     .decodes = true},                                                                                                          \
    {"search.norm", NULL, KEY_CHOICE, OWN(search.norm), 0, 0, search_norms, "length",                                           \
     .about = "divides a score by the number n of its symbols (length) or by (5 + n) / 6 (gnmt), to the power search.alpha",    \
     .decodes = true},                                                                                                          \
    {"search.alpha", NULL, KEY_NUMBER, OWN(search.alpha), 0, 10, NULL, "1", .about = "the power of that", .decodes = true},     \
    {"search.coverage", NULL, KEY_NUMBER, OWN(search.coverage), 0, 10, NULL, "0",                                               \
     .about = "weight of the logarithm of the attention that each symbol of the source got, if the network shows it",           \
     .decodes = true},                                                                                                          \
    {"search.ratio", NULL, KEY_NUMBER, OWN(search.ratio), 0, 10, NULL, "1.2",                                                   \
     .about = "symbols of an answer per symbol of its source", .decodes = true},                                                \
    {"search.extra", NULL, KEY_WHOLE, OWN(search.extra), 0, SEARCH_EXTRA, NULL, "10", .about = "symbols more than that",        \
     .decodes = true}

// The recipe's search, or the greedy one with its limits.
struct search search_of_keys(const struct search_keys *, bool beam);
