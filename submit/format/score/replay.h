// SPDX-License-Identifier: Apache-2.0
// Decides if one run repeats another, by the rule of docs/rules.md, for `dawn replay` and for a scoreboard. A run is the JSON
// of a statement. Pure functions.
#pragma once

#include <jansson.h>

#include "runtime/common/base/text.h"
#include "submit/format/score/group.h"
#include "submit/format/run_metric.h"

// VERDICT(NAME, word, what it says of the replay)
#define REPLAY_VERDICT_LIST                                                                                            \
    VERDICT(EXACT, "exact", "every loss and score equals the original's, bit for bit")                                 \
    VERDICT(WITHIN, "within", "the last score lies in the interval of the original")                                   \
    VERDICT(DIFFERS, "differs", "it came to other figures")                                                            \
    VERDICT(NONE, "none", "it does not repeat that run")
enum replay_verdict {
#define VERDICT(name, word, what) REPLAY_##name,
    REPLAY_VERDICT_LIST
#undef VERDICT
};
const char *replay_word(enum replay_verdict);
const char *replay_what(enum replay_verdict);

struct replay_judged {
    enum replay_verdict verdict;
    int settings;            // settings that differ; 0: the same figures are due, bit for bit
    size_t points, equal;    // of the original; how many of them the replay has exactly
    struct run_metric board;  // the first metric; its texts are the original's
    int64_t score[2];        // the original's and the replay's at the last evaluation that both made; or RUN_SCORE_NONE
    double low, high;        // the interval; NaN: none was requested, or there is none for this metric
    int runs;                // of the group that it is of; 0: of a single evaluation
    struct text differs;     // a line for each thing that differs
};
// `group`: the original's group; it counts from GROUP_MINIMUM finished runs on. NULL: none. End the result with replay_free.
void replay_judge(const json_t *original, const json_t *replay, const struct group_facts *group, struct replay_judged *);
// The same of the points up to an epoch, which need no end: REPLAY_EXACT or REPLAY_DIFFERS. The latter is a contradiction only if
// no setting differs. `points` is the larger of both runs' counts up to there: a missing point is not equal. 0 points: NONE.
void replay_judge_first(const json_t *original, const json_t *replay, int64_t epoch_micro, struct replay_judged *);
void replay_free(struct replay_judged *);
// The interval of the original's group. False if the group has fewer than GROUP_MINIMUM finished runs, or is NULL. Cost: a
// quantile, some microseconds.
bool replay_interval(const struct group_facts *, double *low, double *high);
bool replay_lies_between(double score, double low, double high);

// The settings that decide whether the same figures are due: adds a line for each that differs, and counts them. What the replay
// does not state yet is not compared.
int replay_settings(const json_t *original, const json_t *replay, struct text *);
// True if a list of data sets or files has one of that split or kind with that digest. `member`: "split" or "kind".
bool replay_has(const json_t *list, const char *member, const char *value, const char *digest);
// Half the 95% prediction interval for one more run after `n` (at least 2): t(0.975, n - 1) sigma sqrt(1 + 1/n).
double replay_spread(double sigma, int n);
// The same for the difference of two shares of `items` items each, whose mean is `share`: of two independent samples.
double replay_sampling(double share, int64_t items);
