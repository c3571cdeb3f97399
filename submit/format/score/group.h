// SPDX-License-Identifier: Apache-2.0
// Statistics of a group of runs: the conditions of an official result. Pure arithmetic.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { GROUP_MINIMUM = 5 };  // runs of an official group

// The outcome of one announced run. `finished` is false for a run without a result.
struct group_run {
    int64_t seed;
    int64_t ns;        // end-to-end time of the whole schedule
    int64_t k, items;  // final evaluation; items 0: k is a value in millionths
    bool lower;        // a lower score is better
    bool finished;
    bool synthetic;
    bool custom;             // not the published data set
    bool stopped_at_target;  // stopped on test accuracy: never official
};

struct group_mean {
    double mean, sigma;  // sigma: of the sample (n - 1); 0 when n < 2
    double low, high;    // 95% interval of the mean (Student t); both the mean when n < 2
};

// VERDICT(NAME, text in the record, sentence), in the order of evaluation.
#define GROUP_VERDICT_LIST                                                                                             \
    VERDICT(UNFINISHED, "unfinished", "not every announced run has a result; a missing run counts as failed")          \
    VERDICT(CUSTOM, "custom", "the data is not the published data set, which alone counts")                            \
    VERDICT(STOPPED, "stopped", "runs that stop at the target make no official group")                                 \
    VERDICT(SEED_TWICE, "seed-twice", "a seed was used twice")                                                         \
    VERDICT(TOO_FEW, "too-few", "an official group has at least 5 runs")                                               \
    VERDICT(BELOW, "below", "the mean score is below the target")                                                      \
    VERDICT(SYNTHETIC, "synthetic", "a group on synthetic data is never official; the board demo lists it")            \
    VERDICT(MET, "met", "the mean score meets the target")                                                             \
    VERDICT(MET_SURELY, "met-surely", "the mean score meets the target, p < 0.01")
enum group_verdict {
#define VERDICT(name, text, sentence) GROUP_##name,
    GROUP_VERDICT_LIST
#undef VERDICT
};

struct group_facts {
    int planned, finished;
    struct group_mean seconds;   // over finished runs
    struct group_mean accuracy;  // the board's metric: k / N, or the value; the interval of a share lies within 0 and 1
    double p;                    // one-sided: chance of such a mean if the true mean were the target; 1 when n < 2
    bool meets;                  // the mean score reaches the target, decided in integers
    enum group_verdict verdict;
    bool official;               // MET or MET_SURELY
};

// `runs` holds the begun runs. If they are fewer than `planned`, the group is unfinished.
void group_judge(const struct group_run *runs, int count, int planned, int64_t target_micro, struct group_facts *);
const char *group_verdict_name(enum group_verdict);
const char *group_verdict_sentence(enum group_verdict);

void group_mean(const double *values, int n, struct group_mean *);
// The lower end of an interval of times, which are never below 0. (Rows of boards hold the end as it was computed.)
double group_low(const struct group_mean *seconds);
// H1: true mean > target. 1 without spread, because equal runs are no sample.
double group_p(double mean, double sigma, int n, double target);
// Welch's test of two means, two-sided: the chance of such a difference if the true means were equal. NaN if a group has fewer
// than two runs, or neither has spread.
double group_welch_p(const struct group_mean *, int n, const struct group_mean *, int m);
double group_t_cdf(double t, double freedom);
double group_t_quantile(double p, double freedom);  // 0 < p < 1
