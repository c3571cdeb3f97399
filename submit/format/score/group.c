// SPDX-License-Identifier: Apache-2.0
// Group statistics. Student's t comes from the regularised incomplete beta function by its continued fraction
// (Lentz's method; Press et al., Numerical Recipes, section 6.4, describes both), good to about 1e-12 here. Cost:
// microseconds.
#include "submit/format/score/group.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/error.h"
#include "submit/format/run_metric.h"

static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    if (fabs(d) < tiny) d = tiny;
    d = 1 / d;
    double value = d;
    for (int m = 1; m <= 1000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        for (int half = 0; half < 2; half++) {
            double term = half == 0 ? even : odd;
            d = 1 + term * d;
            c = 1 + term / c;
            if (fabs(d) < tiny) d = tiny;
            if (fabs(c) < tiny) c = tiny;
            d = 1 / d;
            value *= d * c;
        }
        if (fabs(d * c - 1) < 1e-15) break;
    }
    return value;
}

// I_x(a, b). The fraction converges fast on one side of the mean; symmetry gives the other. The caller passes both x and 1 - x,
// because t near 0 makes one of them lose its digits.
static double beta_share(double a, double b, double x, double rest)
{
    if (x <= 0) return 0;
    if (rest <= 0) return 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest));
    if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
    return 1 - front * beta_fraction(b, a, rest) / b;
}

double group_t_cdf(double t, double freedom)
{
    BUG_IF(!(freedom > 0));
    if (isinf(t)) return t > 0 ? 1 : 0;
    double square = t * t, sum = freedom + square;
    double tail = 0.5 * beta_share(freedom / 2, 0.5, freedom / sum, square / sum);  // beyond |t|, one side
    return t > 0 ? 1 - tail : tail;
}

double group_t_quantile(double p, double freedom)
{
    BUG_IF(!(p > 0 && p < 1));
    if (p < 0.5) return -group_t_quantile(1 - p, freedom);
    double low = 0, high = 1;
    while (group_t_cdf(high, freedom) < p && high < 1e15) high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
        double middle = low + (high - low) / 2;
        if (group_t_cdf(middle, freedom) < p) low = middle;
        else high = middle;
    }
    return low + (high - low) / 2;
}

void group_mean(const double *values, int n, struct group_mean *out)
{
    *out = (struct group_mean){0};
    if (n < 1) return;
    for (int i = 0; i < n; i++) out->mean += values[i];
    out->mean /= n;
    out->low = out->high = out->mean;
    if (n < 2) return;
    double squares = 0;
    for (int i = 0; i < n; i++) squares += (values[i] - out->mean) * (values[i] - out->mean);
    out->sigma = sqrt(squares / (n - 1));
    double half = group_t_quantile(0.975, n - 1) * out->sigma / sqrt(n);
    out->low -= half;
    out->high += half;
}

double group_low(const struct group_mean *seconds)
{
    return fmax(seconds->low, 0);
}

double group_p(double mean, double sigma, int n, double target)
{
    if (n < 2 || !(sigma > 0)) return 1;
    return group_t_cdf(-(mean - target) / (sigma / sqrt(n)), n - 1);
}

double group_welch_p(const struct group_mean *a, int n, const struct group_mean *b, int m)
{
    if (n < 2 || m < 2) return NAN;
    double va = a->sigma * a->sigma / n, vb = b->sigma * b->sigma / m, sum = va + vb;
    if (!(sum > 0)) return NAN;
    double freedom = sum * sum / (va * va / (n - 1) + vb * vb / (m - 1));
    return 2 * group_t_cdf(-fabs(a->mean - b->mean) / sqrt(sum), freedom);
}

static bool seed_twice(const struct group_run *runs, int count)
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++)
            if (runs[i].seed == runs[j].seed) return true;
    return false;
}

static struct run_metric metric_of(const struct group_run *run)
{
    return (struct run_metric){.unit = "", .lower_is_better = run->lower, .items = run->items};
}

// True if the mean of the scores reaches the target. With one N for all, as in every real group, the comparison uses integers,
// so a mean exactly at the target meets it.
static bool mean_meets(const struct group_run *runs, int count, int finished, int64_t target_micro, double mean)
{
    struct run_metric all = {.unit = ""};
    __int128 sum = 0;
    bool first = true;
    for (int i = 0; i < count; i++) {
        struct run_metric own = metric_of(&runs[i]);
        if (!runs[i].finished) continue;
        double target = (double)target_micro / 1e6;
        if (!first && own.items != all.items) return own.lower_is_better ? mean <= target : mean >= target;
        all = own;
        first = false;
        sum += runs[i].k;
    }
    __int128 reached = sum * 1000000, wanted = (__int128)target_micro * run_metric_scale(&all) * finished;
    return all.lower_is_better ? reached <= wanted : reached >= wanted;
}

// True if every score is a share: a count of N, or a value up to 1 that has a share as its target.
static bool scores_are_shares(const struct group_run *runs, int count, int64_t target_micro)
{
    for (int i = 0; i < count; i++) {
        if (!runs[i].finished || runs[i].items > 0) continue;
        if (runs[i].lower || target_micro > 1000000 || runs[i].k < 0 || runs[i].k > 1000000) return false;
    }
    return true;
}

// Compared in integers: fractions of equal scores may differ in their last digit, which would count as certainty.
static bool scores_are_equal(const struct group_run *runs, int count)
{
    const struct group_run *first = NULL;
    for (int i = 0; i < count; i++) {
        if (!runs[i].finished) continue;
        if (first == NULL) first = &runs[i];
        if (runs[i].k != first->k || runs[i].items != first->items) return false;
    }
    return true;
}

void group_judge(const struct group_run *runs, int count, int planned, int64_t target_micro, struct group_facts *out)
{
    BUG_IF(count < 0);
    double *seconds = zalloc((size_t)(count + 1) * sizeof *seconds);
    double *accuracy = zalloc((size_t)(count + 1) * sizeof *accuracy);
    bool synthetic = false, custom = false, stopped = false, lower = false;
    int n = 0;
    for (int i = 0; i < count; i++) {
        synthetic = synthetic || runs[i].synthetic;
        custom = custom || (runs[i].custom && !runs[i].synthetic);
        stopped = stopped || runs[i].stopped_at_target;
        if (!runs[i].finished) continue;
        seconds[n] = (double)runs[i].ns / 1e9;
        const struct run_metric metric = metric_of(&runs[i]);
        lower = lower || runs[i].lower;
        accuracy[n++] = run_metric_value(&metric, runs[i].k);
    }
    *out = (struct group_facts){.planned = planned, .finished = n};
    group_mean(seconds, n, &out->seconds);
    group_mean(accuracy, n, &out->accuracy);
    if (n > 0 && scores_are_equal(runs, count)) out->accuracy = (struct group_mean){accuracy[0], 0, accuracy[0], accuracy[0]};
    if (scores_are_shares(runs, count, target_micro)) {
        out->accuracy.low = fmax(out->accuracy.low, 0);
        out->accuracy.high = fmin(out->accuracy.high, 1);
    }
    free(seconds);
    free(accuracy);
    double side = lower ? -1 : 1;  // the test is one-sided: better than the target
    out->p = group_p(side * out->accuracy.mean, out->accuracy.sigma, n, side * (double)target_micro / 1e6);
    out->meets = n > 0 && mean_meets(runs, count, n, target_micro, out->accuracy.mean);
    if (n < planned || n < count) out->verdict = GROUP_UNFINISHED;
    else if (custom) out->verdict = GROUP_CUSTOM;
    else if (stopped) out->verdict = GROUP_STOPPED;
    else if (seed_twice(runs, count)) out->verdict = GROUP_SEED_TWICE;
    else if (n < GROUP_MINIMUM) out->verdict = GROUP_TOO_FEW;
    else if (!out->meets) out->verdict = GROUP_BELOW;
    else if (synthetic) out->verdict = GROUP_SYNTHETIC;
    else out->verdict = out->p < 0.01 ? GROUP_MET_SURELY : GROUP_MET;
    out->official = out->verdict == GROUP_MET || out->verdict == GROUP_MET_SURELY;
}

static const char *const verdicts[][2] = {
#define VERDICT(name, text, sentence) {text, sentence},
    GROUP_VERDICT_LIST
#undef VERDICT
};

const char *group_verdict_name(enum group_verdict verdict)
{
    return verdicts[verdict][0];
}

const char *group_verdict_sentence(enum group_verdict verdict)
{
    return verdicts[verdict][1];
}
