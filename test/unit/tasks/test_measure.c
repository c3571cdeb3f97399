// SPDX-License-Identifier: Apache-2.0
// How steps are timed, from made-up times: windows that are accepted, extended or given up, lines through a sweep, and the
// share of other programs. No test reads a clock for a figure.
#include "tasks/tools/measure/counters.h"
#include "submit/results/machine/others.h"
#include "tasks/tools/measure/sweep.h"
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"

static void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want)))) fail_msg("%.12g is not %.12g", got, want);
}

TEST(test_lines)
{
    const double x[] = {1, 2, 4, 8}, y[] = {5, 7, 11, 19}, same[] = {3, 3, 3, 3}, bent[] = {5, 7, 11, 20};
    struct fit_line line;
    assert_true(fit_line(x, y, 4, &line));
    near(line.slope, 2), near(line.offset, 3), near(line.r2, 1);
    assert_true(fit_line(x, bent, 4, &line));
    assert_true(line.r2 < 1 && line.r2 > 0.99);
    assert_true(fit_line(x, same, 4, &line));  // a level line passes through all of them
    near(line.slope, 0), near(line.r2, 1);
    assert_false(fit_line(x, y, 1, &line));
    assert_false(fit_line(same, y, 4, &line));
}

TEST(test_windows)
{
    const double steady[] = {1, 1.01, 0.99, 1, 1.01, 0.99}, drifting[] = {1, 1.004, 1.008, 1.012, 1.016, 1.02};
    const double shaky[] = {1, 1.05, 0.95, 0.95, 1.05, 1};
    struct fit_window w = fit_window(steady, 6);
    assert_true(w.judged && w.accepted);
    near(w.mean, 1);
    w = fit_window(drifting, 6);
    assert_true(w.judged && !w.accepted && w.variation < FIT_VARIATION);
    near(w.slope, 0.02 / 1.01);
    w = fit_window(shaky, 6);
    assert_true(w.judged && !w.accepted && fabs(w.slope) < FIT_SLOPE);
    w = fit_window(steady, FIT_BLOCKS_LEAST - 1);
    assert_true(!w.judged && !w.accepted);
}

// ---- the machine

TEST(test_others)
{
    int64_t ticks;
    int processors;
    assert_int_equal(others_parse("cpu  10 1 5 1000 50 2 3 4 7 0\ncpu0 5 1 2 500 25 1 1 2 0 0\ncpu1 5 0 3 500 25 1 2 2 0 0\n"
                                  "intr 12 3\n", &ticks, &processors), 0);
    assert_int_equal(ticks, 25);  // idle and waiting for a disk are not busy; guests are in user already
    assert_int_equal(processors, 2);
    static const char *const broken[] = {"", "cpu", "cpu  1 2 3\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 x 4 5 6 7 8\n", "intr"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_int_equal(others_parse(broken[i], &ticks, &processors), ERR_INPUT);

    const int64_t second = 1000000000, tick = 10000000;
    struct others_share s = others_judge(10 * second, 18 * second, 19 * second, tick, 2);
    near(s.own, 1.8), near(s.others, 0.1);
    assert_false(s.disturbed);  // 5% of two processors
    s = others_judge(10 * second, 10 * second, 18 * second, tick, 2);
    near(s.others, 0.8);
    assert_true(s.disturbed);
    char why[OTHERS_TEXT];
    assert_string_equal(others_doubt(&s, 9, why), "other programs used 0.80 of 2 processors: these peaks are too low");
    s = others_judge(second / 50, second / 50, second / 25, tick, 2);  // 20 ms: below the resolution
    assert_false(s.disturbed);
    s = others_judge(second, second, second - 1, tick, 2);
    near(s.others, 0);
    s = others_judge(second, second, -1, tick, 2);
    assert_true(s.others < 0 && !s.disturbed);
    assert_null(others_doubt(&s, 1.4, why));
    assert_string_equal(others_doubt(&s, 5.25, why),
                        "two tries of the same peak differ by a factor of 5.2: these peaks may be too low");
    struct others now;
    others_begin(&now);
    s = others_end(&now);
    assert_true(s.own >= 0);
}

// ---- timing

// Steps that take what a function of their number says.
struct clockwork {
    double (*step)(int64_t number);
    int64_t done, reported;
};

static int run_clockwork(void *context, int64_t steps, double *seconds)
{
    struct clockwork *c = context;
    *seconds = 0;
    for (int64_t i = 0; i < steps; i++) *seconds += c->step(c->done++);
    return 0;
}

static void count_told(void *context, const struct timing *t)
{
    struct clockwork *c = context;
    assert_int_equal(t->repeats, ++c->reported);
}

static struct timing time_clockwork(double (*step)(int64_t), double seconds, int64_t repeats, struct clockwork *c)
{
    struct timing t;
    *c = (struct clockwork){.step = step};
    const struct timing_choice choice = {seconds, repeats, run_clockwork, c, count_told, c};
    assert_int_equal(timing_run(&choice, &t), 0);
    assert_int_equal(c->reported, t.repeats);
    assert_int_equal(c->done, t.steps);
    return t;
}

static double even(int64_t number) { return number ? 0.001 : 0.5; }
static double cold(int64_t number) { return number < 120 ? 0.002 - (double)number * 1e-6 : 0.001; }
static double uneasy(int64_t number) { return number / 10 % 2 ? 0.001 : 0.0012; }

TEST(test_timing)
{
    struct clockwork c;
    struct timing t = time_clockwork(even, 60, 7, &c);
    assert_true(t.protocol.whole && t.repeats == 7 && t.accepted == 7 && t.judged == 7 && t.extended == 0);
    assert_int_equal(c.done, 20 + 7 * 100);
    near(t.step.median, 0.001), near(t.step.high, 0.001), near(t.variation, 0);

    // The machine is slow at first: the first window goes on until its ten blocks are steady.
    t = time_clockwork(cold, 60, 3, &c);
    assert_int_equal(t.accepted, 3);
    assert_true(t.repeat[0].extended > 0 && t.repeat[0].extended <= 100 && t.repeat[1].extended == 0);
    assert_true(t.repeat[0].step < 0.0011);
    assert_int_equal(t.extended, t.repeat[0].extended);

    // It never gets steady: as many blocks again, and no more.
    t = time_clockwork(uneasy, 60, 2, &c);
    assert_int_equal(t.accepted, 0);
    assert_int_equal(t.extended, 2 * 100);
    assert_true(t.variation > 0.05);

    // No time for it, and none for the whole protocol.
    t = time_clockwork(uneasy, 0.13, 2, &c);
    assert_false(t.protocol.whole);
    assert_true(t.extended <= 20 && t.spent < 0.16);
    t = time_clockwork(uneasy, 0.002, 2, &c);
    assert_true(t.judged == 0 && t.step.median > 0 && t.extended == 0);
}

// ---- sweeps

static void shows(const struct sweep_fit *f, const char *there, const char *absent)
{
    struct text text = {0};
    const struct sweep_largest none = {0};
    const struct device_facts facts = {0};
    sweep_text(f, &none, "images", &facts, &text);
    assert_null(strstr(text.at, "inf"));
    if (!strstr(text.at, there)) fail_msg("no \"%s\" in: %s", there, text.at);
    if (absent) assert_null(strstr(text.at, absent));
    text_free(&text);
}

TEST(test_sweep_lines)
{
    struct sweep s = {0};
    struct sweep_fit f;
    assert_false(sweep_fit(&s, &f));
    sweep_add(&s, 10, 0.03, 300);
    assert_false(sweep_fit(&s, &f));
    sweep_add(&s, 20, 0.05, 500);
    sweep_add(&s, 40, 0.09, 900);
    assert_true(sweep_fit(&s, &f));
    near(f.step.slope, 0.002), near(f.step.offset, 0.01), near(f.memory.slope, 20), near(f.memory.offset, 100);
    near(f.limit, 500);
    near(f.near, 45);  // 45 / (0.09 + 0.01) = 450
    s.step[1] = 0.005;  // disturbed: the slope says nothing
    assert_true(sweep_fit(&s, &f));
    assert_true(f.step.slope > 0 && f.step.r2 < FIT_LINE && f.limit == 0 && f.near == 0);
    assert_false(f.lies);
    shows(&f, "not on a line (r2 ", "limit");
    s.step[0] = 0.01, s.step[1] = 0.03;  // 1000 per second at batch 10, more than the 375 of the line through all three
    assert_true(sweep_fit(&s, &f));
    assert_true(f.lies && f.limit == 0 && f.near == 0);
    shows(&f, "unknown: a batch was faster than the line allows", NULL);
    s.step[2] = s.step[1] = 0.01;  // it falls with the batch: there is no limit to print
    assert_true(sweep_fit(&s, &f));
    assert_true(f.limit == 0 && f.near == 0);
    shows(&f, "does not grow with the batch", "limit");
}

TEST(test_sweep_batches)
{
    int64_t batch[SWEEP_BATCHES];
    int count;
    assert_int_equal(sweep_batches("--batch", "8,1,2,8,4", batch, &count), 0);
    assert_int_equal(count, 4);
    for (int i = 0; i < 4; i++) assert_int_equal(batch[i], 1 << i);
    static const char *const wrong[] = {"", "0", "1,", ",1", "1,,2", "a", "1 2", "1048577", "-1", "99999999999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(sweep_batches("--batch", wrong[i], batch, &count), ERR_USAGE);
    struct text many = {0};
    for (int i = 0; i <= SWEEP_BATCHES; i++) text_add(&many, "%s%d", i ? "," : "", i + 1);
    assert_int_equal(sweep_batches("--batch", many.at, batch, &count), ERR_USAGE);
    text_free(&many);
}

// The largest batch that fits is planned, not only foretold.
TEST(test_largest_batch)
{
    static const char *const settings[] = {"widths=8,8,8", "batch=50", "precision=f32", NULL};
    struct bench b;
    struct sweep s = {0};
    struct sweep_fit f;
    struct sweep_largest largest;
    bench_open(&b, "null", 0, 2000, 100, "cifar10", settings);
    struct trial_choice choice = {.task = b.choice.task, .recipe = &b.choice.recipe, .data = b.data, .device = b.device};
    struct device_facts facts = {0};
    for (int64_t batch = 50; batch <= 200; batch *= 2) {
        struct trial trial;
        struct recipe recipe = b.choice.recipe;
        struct trial_choice one = choice;
        recipe.batch = batch;
        one.recipe = &recipe;
        assert_int_equal(trial_open(&trial, &one, &facts), 0);
        sweep_add(&s, (double)batch, (double)batch * 1e-3, (double)trial_plan(&trial)->total);
        trial_close(&trial);
    }
    assert_true(sweep_fit(&s, &f));
    facts.memory = (size_t)(f.memory.slope * 1000 + f.memory.offset);
    assert_int_equal(sweep_find_largest(&choice, &facts, &s, &f, &largest), 0);
    assert_true(largest.batch > 500 && largest.batch <= 1010 && largest.bytes <= facts.memory && !largest.all_data);
    struct sweep_fit small = f;  // through batches that are too small: the prediction is 50 times the largest batch
    small.memory.slope = f.memory.slope / 50;
    assert_int_equal(sweep_find_largest(&choice, &facts, &s, &small, &largest), 0);
    assert_true(largest.batch > 500 && largest.batch <= 1010 && largest.bytes <= facts.memory && !largest.all_data);
    facts.memory = (size_t)1 << 40;
    assert_int_equal(sweep_find_largest(&choice, &facts, &s, &f, &largest), 0);
    assert_true(largest.batch == 2000 && largest.all_data);
    facts.memory = 0;  // the device does not say
    assert_int_equal(sweep_find_largest(&choice, &facts, &s, &f, &largest), 0);
    assert_int_equal(largest.batch, 0);
    bench_close(&b);
}

// Where the processor has counters, work adds to them; elsewhere nothing is known.
TEST(test_counters)
{
    struct counted counted;
    assert_false(counters_end(NULL, &counted));
    assert_true(counted.cycles == 0 && counted.instructions == 0);
    struct counters *c = counters_begin();
    volatile double sum = 0;
    for (int i = 0; i < 100000; i++) sum = sum + i;
    if (!counters_end(c, &counted)) skip();
    assert_true(c != NULL && counted.instructions > 100000);
}

TEST(a_disturbance_is_said)
{
    struct others_share quiet = {.others = 0.02, .processors = 2}, busy = {.others = 0.9, .processors = 2, .disturbed = true},
                        unknown = {.others = -1, .disturbed = true};
    char into[OTHERS_TEXT];
    assert_null(others_text(&quiet, "it was slowed", into));
    assert_null(others_text(&unknown, "it was slowed", into));
    assert_string_equal(others_text(&busy, "it was slowed", into), "other programs used 0.90 of 2 processors: it was slowed");
}
