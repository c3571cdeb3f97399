// SPDX-License-Identifier: Apache-2.0
// Group statistics against closed forms and printed tables of Student's t, and the verdicts of the rules.

#include "submit/format/score/group.h"
#include "test/unit/test.h"

static void near(double a, double b, double within)
{
    if (!(fabs(a - b) <= within)) fail_msg("%.12g is not %.12g", a, b);
}

TEST(t_has_its_closed_forms)
{
    const double pi = acos(-1);
    for (double t = -8; t <= 8; t += 0.37) {
        near(group_t_cdf(t, 1), 0.5 + atan(t) / pi, 1e-12);
        near(group_t_cdf(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-12);
        double q = 1 + t * t / 4;
        near(group_t_cdf(t, 4), 0.5 + 3.0 / 8 * t / sqrt(q) * (1 - t * t / (12 * q)), 1e-12);
    }
    near(group_t_cdf(0, 7), 0.5, 1e-15);
    near(group_t_cdf(1e9, 7), 1, 1e-15);
    near(group_t_cdf(1.96, 1e7), 0.9750021, 1e-6);  // the normal distribution
}

TEST(t_has_its_printed_quantiles)
{
    static const double table[][3] = {{0.975, 1, 12.70620474}, {0.95, 5, 2.015048373},  {0.975, 4, 2.776445105},
                                      {0.99, 9, 2.821437925},  {0.995, 30, 2.749995654}, {0.975, 99, 1.984216952}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        near(group_t_quantile(table[i][0], table[i][1]), table[i][2], 1e-8 * table[i][2]);
        near(group_t_quantile(1 - table[i][0], table[i][1]), -table[i][2], 1e-8 * table[i][2]);
    }
}

TEST(means_and_intervals)
{
    const double values[] = {2, 4, 4, 5, 10};
    struct group_mean m;
    group_mean(values, 5, &m);
    near(m.mean, 5, 1e-15);
    near(m.sigma, 3, 1e-15);
    near(m.high - m.mean, 2.776445105 * 3 / sqrt(5), 1e-7);
    near(m.mean - m.low, m.high - m.mean, 1e-12);
    group_mean(values, 1, &m);
    near(m.low, 2, 0);
    near(m.high, 2, 0);
    near(group_p(5, 3, 5, 5), 0.5, 1e-12);
    near(group_p(5, 3, 5, 2), 1 - group_t_cdf(sqrt(5), 4), 1e-12);
    near(group_p(5, 3, 5, 8), group_t_cdf(sqrt(5), 4), 1e-12);
    near(group_p(5, 3, 1, 2), 1, 0);  // one run proves nothing
    near(group_p(5, 0, 5, 2), 1, 0);  // nor do equal ones
    near(group_p(5, 0, 5, 5), 1, 0);
}

// Here t is the root of 60 with 8.1967 degrees of freedom; the reference is a numeric integral of the density.
TEST(two_groups_are_compared)
{
    const double a[] = {27, 28, 29, 26, 27.5}, b[] = {22, 24, 21, 23, 22.5, 22.5};
    struct group_mean x, y, flat = {5, 0, 5, 5};
    group_mean(a, 5, &x);
    group_mean(b, 6, &y);
    near(group_welch_p(&x, 5, &y, 6), 4.8199934e-5, 1e-11);
    near(group_welch_p(&y, 6, &x, 5), group_welch_p(&x, 5, &y, 6), 1e-15);
    near(group_welch_p(&x, 5, &x, 5), 1, 1e-12);
    assert_true(isnan(group_welch_p(&x, 1, &y, 6)) && isnan(group_welch_p(&flat, 5, &flat, 5)));
}

static struct group_facts judge(struct group_run *runs, int count, int planned)
{
    struct group_facts facts;
    group_judge(runs, count, planned, 940000, &facts);
    return facts;
}

static void fill(struct group_run *runs, int count, int64_t k)
{
    for (int i = 0; i < count; i++)
        runs[i] = (struct group_run){.seed = i, .ns = 1000000000LL * (100 + i), .k = k + i % 2, .items = 10000, .finished = true};
}

TEST(verdicts_follow_the_rules)
{
    struct group_run runs[5];
    fill(runs, 5, 9420);
    struct group_facts f = judge(runs, 5, 5);
    assert_int_equal(f.verdict, GROUP_MET_SURELY);
    assert_true(f.official && f.p < 0.01);
    near(f.seconds.mean, 102, 1e-12);

    fill(runs, 5, 9400);  // exactly at the target counts; with no certainty
    for (int i = 0; i < 5; i++) runs[i].k = 9398 + i;
    f = judge(runs, 5, 5);
    assert_int_equal(f.verdict, GROUP_MET);
    near(f.p, 0.5, 1e-9);

    for (int i = 0; i < 5; i++) runs[i].k = 9417;  // copies prove nothing; a sum of fractions might say otherwise
    f = judge(runs, 5, 5);
    assert_int_equal(f.verdict, GROUP_MET);
    near(f.p, 1, 0);
    near(f.accuracy.sigma, 0, 0);
    near(f.accuracy.low, f.accuracy.high, 0);

    for (int i = 0; i < 5; i++) runs[i].k = 9398 + i;
    runs[0].k--;  // one item less, and the mean is below
    assert_int_equal(judge(runs, 5, 5).verdict, GROUP_BELOW);
    assert_false(judge(runs, 5, 5).official);

    fill(runs, 2, 9900);  // an interval of shares, or of times, goes no further than these do
    runs[1].k = 9700, runs[1].ns *= 9;
    f = judge(runs, 2, 2);
    assert_true(f.accuracy.low > 0 && f.accuracy.high == 1 && f.seconds.low < 0 && group_low(&f.seconds) == 0);
    runs[0].k = 400, runs[1].k = 100;
    f = judge(runs, 2, 2);
    assert_true(f.accuracy.low == 0 && f.accuracy.high < 1);
    for (int i = 0; i < 2; i++) runs[i].items = 0, runs[i].lower = true, runs[i].k = 100000 + i * 200000;  // losses
    f = judge(runs, 2, 2);
    assert_true(f.accuracy.low < 0 && f.accuracy.high > 1);

    fill(runs, 5, 9500);
    runs[3].finished = false;  // started and not reported: failed
    assert_int_equal(judge(runs, 5, 5).verdict, GROUP_UNFINISHED);
    assert_int_equal(judge(runs, 5, 5).finished, 4);
    fill(runs, 5, 9500);
    assert_int_equal(judge(runs, 5, 6).verdict, GROUP_UNFINISHED);  // announced and never started
    assert_int_equal(judge(runs, 4, 4).verdict, GROUP_TOO_FEW);
    assert_int_equal(judge(runs, 0, 5).verdict, GROUP_UNFINISHED);
    runs[4].seed = runs[1].seed;
    assert_int_equal(judge(runs, 5, 5).verdict, GROUP_SEED_TWICE);
    runs[2].stopped_at_target = true;
    assert_int_equal(judge(runs, 5, 5).verdict, GROUP_STOPPED);
    runs[2].custom = true;
    assert_int_equal(judge(runs, 5, 5).verdict, GROUP_CUSTOM);
    runs[2].synthetic = true;  // published data they are not, but this says more
    assert_int_equal(judge(runs, 5, 5).verdict, GROUP_STOPPED);
    fill(runs, 5, 9500);
    runs[2].synthetic = runs[2].custom = true;  // all else is as it has to be
    assert_int_equal(judge(runs, 5, 5).verdict, GROUP_SYNTHETIC);
    assert_false(judge(runs, 5, 5).official);
}
