// SPDX-License-Identifier: Apache-2.0
// For every check a run that passes and one that fails just so: each case breaks one thing of the fixture, puts right
// what follows from it, and then that one check must find it and no other. A check without a case fails the test.

#include "test/unit/submit/fixture_findings.h"

#define OTHER_HEX "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
static int64_t now_ms = FIXTURE_NOW_MS;  // the moment of the check; a case may move it

static void metric_set(json_t *run, const char *name, json_t *value)
{
    json_object_set_new(fixture_item(run, "metrics", 0), name, value);
}

static void metric_name(json_t *run, const char *name)
{
    metric_set(run, "name", json_string(name));
    for (size_t i = 0; i < json_array_size(json_object_get(run, "points")); i++)
        json_object_set_new(json_array_get(json_object_get(fixture_item(run, "points", i), "scores"), 0), "metric",
                            json_string(name));
}

static void latency_set(json_t *run, const char *name, int64_t value)
{
    json_object_set_new(fixture_item(run, "latencies", 0), name, json_integer(value));
}

// ---- a case each: what it breaks

static void task_unknown(json_t *run) { fixture_set(run, "task", json_string("mnist")), fixture_rules(run); }
static void task_metric(json_t *run) { metric_name(run, "top5"), fixture_rules(run); }
static void task_demo(json_t *run) { fixture_set(run, "task", json_string("demo")), fixture_rules(run); }
static void task_target(json_t *run)
{
    fixture_set(run, "target_micro", json_integer(939000));
    fixture_rules(run);
    fixture_follow(run);
}
static void task_items(json_t *run)
{
    metric_set(run, "items", json_integer(9999));
    fixture_rules(run);
    fixture_follow(run);
}

// Another task, as far as its rules go.
static void make_imagenet(json_t *run)
{
    static const int64_t scores[] = {30000, 40000, 46500};
    fixture_set(run, "task", json_string("imagenet"));
    metric_name(run, "top5");
    metric_set(run, "items", json_integer(50000));
    fixture_set(run, "target_micro", json_integer(930000));
    fixture_curve(run, scores, 3);
    fixture_rules(run);
}
static void data_no_test(json_t *run)
{
    json_array_remove(json_object_get(run, "data"), 1);
    fixture_chain(run);
}

// Times are moved by a nanosecond where segments would show it: a run without points keeps its segments out of it.
static void time_equal(json_t *run)
{
    static const char *const clocks[] = {"t_ns", "classic_ns", "warm_ns", "warm_with_evaluation_ns"};
    for (int c = 0; c < 4; c++) point_set(run, 3, clocks[c], point_get(run, 2, clocks[c]));
    fixture_follow(run);
}
static void time_back(json_t *run)
{
    point_set(run, 4, "warm_ns", point_get(run, 3, "warm_ns") - 1);
    fixture_chain(run);
}
static void time_ahead(json_t *run)
{
    point_set(run, 4, "classic_ns", point_get(run, 4, "t_ns") + 1);
    fixture_chain(run);
}
static void time_warm(json_t *run)
{
    for (size_t i = 4; i < FIXTURE_EPOCHS; i++) point_set(run, i, "warm_ns", point_get(run, i, "classic_ns") + 1);
    fixture_follow(run);
}
static void step_twice(json_t *run) { point_set(run, 3, "step", 150), fixture_follow(run); }


static void make_synthetic(json_t *run)
{
    fixture_edit(run, "'synthetic': 1, 'official': 0");
    for (size_t i = 0; i < 2; i++) {
        json_object_set_new(fixture_item(run, "data", i), "synthetic", json_integer(1));
        json_object_set_new(fixture_item(run, "data", i), "official", json_integer(0));
    }
    fixture_set(run, "latencies", json_array());
}
static void scale_percent(json_t *run)
{
    static const int64_t percent[] = {60, 75, 82, 87, 90, 92, 93, 94, 94, 94};
    fixture_curve(run, percent, FIXTURE_EPOCHS);
    latency_set(run, "eligible", 0);  // its score is none of theirs
}
static void scale_items(json_t *run)
{
    static const int64_t percent[] = {60, 75, 82, 87, 90, 92, 93, 93, 94, 94};
    make_synthetic(run);
    metric_set(run, "items", json_integer(100));
    fixture_curve(run, percent, FIXTURE_EPOCHS);
    fixture_rules(run);
}
static void scale_target(json_t *run)
{
    make_synthetic(run);
    fixture_set(run, "target_micro", json_integer(940));
    fixture_follow(run);
    fixture_rules(run);
}

static void chain_left_out(json_t *run)  // an epoch nobody will miss
{
    json_array_remove(json_object_get(run, "points"), 7);
    json_array_remove(json_object_get(run, "points"), 2);
}

static void crossing_later(json_t *run)
{
    json_t *point = json_copy(fixture_item(run, "points", 9));
    json_object_del(point, "hash"), json_object_del(point, "loss"), json_object_del(point, "scores");
    json_object_del(point, "stall_ns");
    fixture_set(run, "price.total_micro_usd", json_integer(cost_training_micro(canonical_int(point, "t_ns"), FIXTURE_PRICE)));
    fixture_set(run, "reached", point);
}
static void crossing_invented(json_t *run)
{
    json_t *reached = json_incref(json_object_get(run, "reached")), *price = json_object_get(run, "price");
    json_t *total = json_incref(json_object_get(price, "total_micro_usd"));
    fixture_score(run, 8, 0, 9399), fixture_score(run, 9, 0, 9399);
    fixture_follow(run);
    fixture_set(run, "reached", reached);
    json_object_set_new(price, "total_micro_usd", total);
}

static void status_done(json_t *run)  // it was met, and lost again
{
    fixture_score(run, 9, 0, 9399);
    fixture_follow(run);
    fixture_set(run, "status", json_string("done"));
}
static void status_empty(json_t *run)
{
    fixture_curve(run, NULL, 0);
    fixture_set(run, "status", json_string("missed"));
}

static void clocks_gap(json_t *run)
{
    json_t *segment = fixture_item(run, "segments", 3);
    json_object_set_new(segment, "start_ns", json_integer(canonical_int(segment, "start_ns") + 1));
}
static void clocks_gap_at_the_end(json_t *run)  // where no point would show it
{
    json_t *segment = fixture_item(run, "segments", json_array_size(json_object_get(run, "segments")) - 1);
    json_object_set_new(segment, "start_ns", json_integer(canonical_int(segment, "start_ns") + 1));
}
static void clocks_warm(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) point_set(run, i, "warm_ns", point_get(run, i, "warm_ns") - 1);
    fixture_follow(run);
}
static void clocks_short(json_t *run)
{
    json_t *segments = json_object_get(run, "segments");
    for (int i = 0; i < 2; i++) json_array_remove(segments, json_array_size(segments) - 1);
}
static void clocks_short_of_the_killed(json_t *run)  // its points were stored with their segments
{
    clocks_short(run);
    fixture_set(run, "status", json_string("interrupted"));
}
static void clocks_without_segments(json_t *run)  // any clock could be claimed
{
    static const int64_t met[] = {9450};
    fixture_curve(run, met, 1);
    static const char *const clocks[] = {"classic_ns", "warm_ns", "warm_with_evaluation_ns"};
    for (int c = 0; c < 3; c++) point_set(run, 0, clocks[c], point_get(run, 0, clocks[c]) / 2);
    fixture_follow(run);
    fixture_set(run, "segments", json_array());
    fixture_set(run, "status", json_string("interrupted"));
}

static void no_group(json_t *run) { json_object_del(run, "group"); }
static void group_late(json_t *run)
{
    fixture_set(run, "group.announced_ms", json_integer(fixture_int(run, "started_ms") + 1));
}


// 16 threads of AVX-512 do 12.3 TFLOP/s at most in bf16: 3 x F x 50,000 samples in 10 s.
static void on_gpu(json_t *run, const char *gpu)
{
    json_object_del(run, "price");  // its instance has no GPU
    fixture_set(run, "hardware.gpu", json_string(gpu));
    fixture_set(run, "device", json_string("cuda"));
}
static void speed_no_flops(json_t *run) { make_synthetic(run), fixture_set(run, "model.flops_per_sample", json_integer(0)); }

static void client_old(json_t *run) { (void)run, now_ms = FIXTURE_NOW_MS + (int64_t)31 * 24 * 3600 * 1000; }
static void client_early(json_t *run) { (void)run, now_ms = FIXTURE_NOW_MS - 11 * 60 * 1000; }
static void client_backwards(json_t *run) { fixture_set(run, "started_ms", json_integer(FIXTURE_NOW_MS + 1)), no_group(run); }

// Segments and points with intervals that are given, 8 s of training each to begin with.
static void retime_with(json_t *run, const int64_t *train_ns, int64_t evaluation)
{
    const int64_t process = 50000000;
    int64_t at = 0, warm = 0;
    fixture_set(run, "segments", json_array());
    fixture_segment(run, "process", &at, process);
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++) {
        fixture_segment(run, "train", &at, train_ns[i]);
        fixture_segment(run, "evaluate", &at, evaluation);
        warm += train_ns[i];
        point_set(run, i, "t_ns", at);
        point_set(run, i, "classic_ns", process + warm);
        point_set(run, i, "warm_ns", warm);
        point_set(run, i, "warm_with_evaluation_ns", warm + (int64_t)(i + 1) * evaluation);
    }
    fixture_follow(run);
}
static void retime(json_t *run, const int64_t *train_ns) { retime_with(run, train_ns, 2000000000); }
static void even(json_t *run)
{
    static const int64_t ns[FIXTURE_EPOCHS] = {11000000000, 10000000000, 10000000000, 10000000000, 10000000000,
                                               10000000000, 10000000000, 10000000000, 10000000000, 10000000000};
    retime(run, ns);
}
static void constant_loss(json_t *run)
{
    for (size_t i = 0; i < FIXTURE_EPOCHS; i++)
        json_object_set_new(fixture_item(run, "points", i), "loss", json_integer(500000));
}
// The machine of the fixture does at most 12.3 TFLOP/s; an epoch is 31.7 TFLOP. Each a little longer, so that no two are equal.
static void speed_set(json_t *run, int64_t epoch_ns, int64_t evaluation)
{
    int64_t ns[FIXTURE_EPOCHS];
    for (int i = 0; i < FIXTURE_EPOCHS; i++) ns[i] = epoch_ns + i;
    retime_with(run, ns, evaluation);
}
static void speed_above(json_t *run) { speed_set(run, 2500000000, 2000000000); }
static void speed_high(json_t *run) { speed_set(run, 3500000000, 2000000000); }
static void speed_gpu(json_t *run)  // an H100 does 495 TFLOP/s in TF32, as which f32 counts; bf16 is 989
{
    on_gpu(run, "NVIDIA H100 80GB HBM3");
    speed_set(run, 25000000, 40000000);
}
static void evaluations_long(json_t *run) { speed_set(run, 5000000000, 7000000000); }  // 6 s are explained
static void cadence_slow(json_t *run)
{
    static const int64_t ns[FIXTURE_EPOCHS] = {15000000000, 10000000001, 10000000002, 10000000003, 10000000004,
                                               12600000005, 10000000006, 10000000007, 10000000008, 10000000009};
    retime(run, ns);
}
static void cadence_fast(json_t *run)
{
    static const int64_t ns[FIXTURE_EPOCHS] = {15000000000, 10000000001, 10000000002, 10000000003, 10000000004,
                                               7400000005,  10000000006, 10000000007, 10000000008, 10000000009};
    retime(run, ns);
}
static void price_old_measured(json_t *run)
{
    fixture_edit(run, "'latencies.0.price.date': '2026-10-16'");
    latency_set(run, "measured_ms", FIXTURE_NOW_MS - 120000);
}

static void self(json_t *run)
{
    fixture_edit(run, "'data': [], 'official': 0, 'evaluated_by': 'self', 'division': 'open'");
    fixture_chain(run);
}

static void set_energy(json_t *run, int64_t until, int64_t whole)
{
    fixture_set(run, "reached.energy_uj", json_integer(until));
    if (whole > 0) fixture_set(run, "energy_uj", json_integer(whole));
    fixture_chain(run);
}
static void energy_changed(json_t *run)
{
    set_energy(run, 4000000000, 5000000000);
    fixture_set(run, "reached.energy_uj", json_integer(3000000000));
}

static const struct {
    enum check check;
    void (*breaks)(json_t *run);  // NULL: `edits` break it
    const char *edits, *name;
} cases[] = {
#define CASE(check, breaks) {CHECK_##check, breaks, NULL, #breaks}
#define EDITS(check, name, edits) {CHECK_##check, NULL, edits, #name}
    CASE(TASK, task_unknown), CASE(TASK, task_metric), CASE(TASK, task_demo), CASE(TARGET, task_target), CASE(TASK, task_items),
    CASE(DATA, data_no_test), CASE(TIME_ORDER, time_equal), CASE(TIME_ORDER, time_back), CASE(TIME_ORDER, time_ahead),
    CASE(TIME_ORDER, time_warm), CASE(EPOCH_ORDER, step_twice), CASE(SCALE, scale_percent), CASE(SCALE, scale_items),
    CASE(SCALE, scale_target), CASE(CHAIN, chain_left_out), CASE(CROSSING, crossing_later), CASE(CROSSING, crossing_invented),
    CASE(STATUS, status_done), CASE(STATUS, status_empty), CASE(CLOCKS, clocks_gap), CASE(CLOCKS, clocks_gap_at_the_end),
    CASE(CLOCKS, clocks_warm), CASE(CLOCKS, clocks_short), CASE(CLOCKS, clocks_short_of_the_killed),
    CASE(CLOCKS, clocks_without_segments), CASE(SPEED, speed_above), CASE(SPEED, speed_gpu), CASE(CLIENT_TIME, client_old),
    CASE(CLIENT_TIME, client_early), CASE(SPEED_HIGH, speed_high), CASE(EVEN, even), CASE(CONSTANT, constant_loss),
    CASE(CADENCE, cadence_slow), CASE(CADENCE, cadence_fast), CASE(LEFT_OUT, evaluations_long), CASE(SELF, self),
    CASE(GROUP, group_late), CASE(CLIENT_TIME, client_backwards), CASE(SPEED_UNKNOWN, speed_no_flops),
    CASE(PRICE_OLD, price_old_measured), CASE(CHAIN, energy_changed),
    EDITS(TASK, task_digest, "'task_digest': '" FIXTURE_HEX "'"),
    EDITS(DATA, data_digest, "'data.1.digest': '" FIXTURE_HEX "'"),
    EDITS(DATA, data_items, "'data.1.items': 9999"),
    EDITS(DATA, data_official, "'official': 0"),
    EDITS(DATA, data_custom, "'official': 0, 'data.0.official': 0, 'data.1.official': 0"),
    EDITS(DATA, data_none, "'official': 0, 'data': []"),
    EDITS(DATA, data_synthetic, "'data.0.synthetic': 1"),
    EDITS(DATA, data_not_synthetic, "'synthetic': 1, 'official': 0, 'latencies': []"),
    EDITS(EPOCH_ORDER, samples_back, "'points.3.samples': 1"),
    EDITS(SCORE, score_high, "'points.9.scores.0.score': 10001"),
    EDITS(SCORE, score_latency, "'latencies.0.k': 10001, 'latencies.0.eligible': 0"),
    EDITS(CHAIN, chain_root_other, "'chain_root': '" FIXTURE_HEX "'"),
    EDITS(CHAIN, chain_point_other, "'points.4.loss': 1"),
    EDITS(CHAIN, chain_seed, "'seed': 8"),
    EDITS(CROSSING, crossing_clock, "'reached.warm_ns': 1"),
    EDITS(CROSSING, crossing_absent, "'reached': null, 'price.total_micro_usd': null"),
    EDITS(STATUS, status_missed, "'status': 'missed'"),
    EDITS(CLOCKS, clocks_paused, "'segments.5.segment': 'evaluate'"),
    EDITS(GROUP, group_index, "'group.index': 6"),
    EDITS(COST, cost_other, "'price.total_micro_usd': 1"),
    EDITS(COST, cost_absent, "'price.total_micro_usd': null"),
    EDITS(COST, cost_latency, "'latencies.0.price.total_micro_usd': 1"),
    EDITS(LATENCY, latency_order, "'latencies.0.model_p90_ns': 900000"),
    EDITS(LATENCY, latency_mean, "'latencies.0.model_mean_ns': 500000"),
    EDITS(LATENCY, latency_whole, "'latencies.0.model_p99_ns': 2100001"),
    EDITS(ELIGIBLE, eligible_items, "'latencies.0.items': 9999"),
    EDITS(ELIGIBLE, eligible_score, "'latencies.0.k': 9399"),
    EDITS(ELIGIBLE, eligible_data, "'latencies.0.data_digest': '" FIXTURE_HEX "'"),
    EDITS(ELIGIBLE, eligible_synthetic, "'latencies.0.synthetic': 1"),
    EDITS(ELIGIBLE, eligible_weights, "'model.weights_digest': '" OTHER_HEX "'"),
    EDITS(SPEED_UNKNOWN, speed_gpu_unknown, "'price': null, 'hardware.gpu': 'Contraption 9000', 'device': 'cuda'"),
    EDITS(SPEED_UNKNOWN, speed_no_flags, "'hardware.cpu_flags': ''"),
    EDITS(PRICE_OLD, price_old, "'price.date': '2026-10-16'"),
    EDITS(PRICE_OLD, price_old_latency, "'latencies.0.price.date': '2026-10-16'"),
    EDITS(DIRTY, dirty, "'software.dirty': 1"),
    EDITS(SOURCES, no_commit, "'software.commit': ''"),
    EDITS(CONTRADICTION, energy_of_the_target_alone, "'reached.energy_uj': 4000000000"),
    EDITS(CONTRADICTION, energy_above_that_of_the_run, "'reached.energy_uj': 5000000001, 'energy_uj': 5000000000"),
    EDITS(CONTRADICTION, energy_of_a_microjoule, "'reached.energy_uj': 1, 'energy_uj': 5000000000"),
};

TEST(a_good_run_passes)
{
    struct findings f = findings_at(fixture_run(), now_ms);
    for (int i = 0; i < f.count; i++) print_message("%s: %s\n", check_code(f.at[i].check), f.at[i].text);
    assert_int_equal(f.count, 0);
}

TEST(every_case_is_found_and_nothing_else)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct findings f;
        json_t *run = fixture_run();
        now_ms = FIXTURE_NOW_MS;
        if (cases[i].breaks != NULL) cases[i].breaks(run);
        else fixture_edit(run, cases[i].edits);
        if (cases[i].check != CHECK_CHAIN) fixture_chain(run);
        f = findings_at(run, now_ms);
        now_ms = FIXTURE_NOW_MS;
        if (f.count == 0) wrong++, print_message("%s: nothing was found\n", cases[i].name);
        for (int n = 0; n < f.count; n++)
            if (f.at[n].check != cases[i].check || strstr(f.at[n].text, "inf ") != NULL)
                wrong++, print_message("%s: %s: %s\n", cases[i].name, check_code(f.at[n].check), f.at[n].text);
        assert_int_equal(f.rejects + f.flags, f.count);
        if (wrong == 0) assert_int_equal(f.rejects > 0, check_level(cases[i].check) == CHECK_REJECT);
    }
    assert_int_equal(wrong, 0);
}

TEST(no_check_is_without_a_case)
{
    for (int c = 0; c < CHECKS; c++) {
        // These have tests of their own (test/fault/forge.c, test_check_metrics.c, test_check_bench.c, test_board_ticket.c,
        // test_board_draw.c, and below).
        bool found = c == CHECK_DIVISION || c == CHECK_WORK || c == CHECK_SEED || c == CHECK_TWIN || c == CHECK_PACE ||
                     c == CHECK_OVERLAP || c == CHECK_OBJECTION || c == CHECK_PRICE || c == CHECK_RECIPE || c == CHECK_DATES ||
                     c == CHECK_CONTRADICTION || c == CHECK_TEXT || c == CHECK_BETTER || c == CHECK_TICKET ||
                     c == CHECK_SUPERLINEAR || c == CHECK_REPEATED;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) found = found || (int)cases[i].check == c;
        if (!found) fail_msg("no case breaks %s", check_code((enum check)c));
        assert_true(*check_what((enum check)c) != 0);
    }
}

static bool finds(json_t *run, enum check check)
{
    struct findings f;
    bool found = false;
    f = findings_at(run, now_ms);
    for (int i = 0; i < f.count; i++) found = found || f.at[i].check == check;
    return found;
}

// The task's digest names the samples that the task makes of its test set. A program that scored others, or none, is refused.
TEST(scored_samples_are_those_of_the_contest)
{
    const char *const scored[] = {contest_find("wiki-mlm")->scored_set, FIXTURE_HEX, NULL};
    for (int i = 0; i < 3; i++) {
        json_t *run = fixture_run();
        json_t *rules = json_pack("{s:s, s:s, s:i, s:i}", "task", "wiki-mlm", "metric", "masked", "target_micro", 290000, "items",
                                  1000000);
        char hex[DIGEST_HEX];
        if (scored[i]) json_object_set_new(rules, "scored_set", json_string(scored[i]));
        assert_int_equal(canonical_digest(rules, hex), 0);
        fixture_set(run, "task", json_string("wiki-mlm"));
        fixture_set(run, "target_micro", json_integer(290000));
        metric_name(run, "masked"), metric_set(run, "items", json_integer(0)), metric_set(run, "unit", json_string(""));
        fixture_set(run, "task_digest", json_string(hex));
        assert_int_equal(finds(run, CHECK_TASK), i > 0);
    }
}

// Each of these is flagged for having scored itself too.
TEST(what_scored_itself_is_open_and_needs_a_known_test_set)
{
    json_t *run = fixture_run();
    self(run);
    assert_false(finds(run, CHECK_DIVISION));
    run = fixture_run();
    self(run);
    fixture_set(run, "division", json_string("closed"));
    assert_true(finds(run, CHECK_DIVISION));
    run = fixture_run();  // without samples nothing bounds its speed
    self(run);
    for (size_t i = 0; i < json_array_size(json_object_get(run, "points")); i++)
        fixture_set(fixture_item(run, "points", i), "samples", json_integer(0));
    assert_true(finds(run, CHECK_SPEED_UNKNOWN));
    for (int eligible = 0; eligible < 2; eligible++) {
        run = fixture_run();
        make_imagenet(run);
        self(run);
        latency_set(run, "items", 50000), latency_set(run, "k", 50000), latency_set(run, "eligible", eligible);
        assert_int_equal(finds(run, CHECK_ELIGIBLE), eligible);
    }
}

// ---- what honest runs may look like

static void expect_nothing(json_t *run)
{
    struct findings f = findings_at(run, now_ms);
    if (f.count > 0) fail_msg("%s: %s", check_code(f.at[0].check), f.at[0].text);
}

TEST(honest_runs_pass)
{
    json_t *with_energy = fixture_run();
    set_energy(with_energy, 4000000000, 5000000000);
    expect_nothing(with_energy);
    static const int64_t last_only[] = {-1, -1, -1, -1, 9400}, never[] = {-1, -1}, below[] = {100, 9399};
    json_t *run = fixture_run();
    fixture_curve(run, last_only, 5);
    expect_nothing(run);
    run = fixture_run();
    fixture_curve(run, below, 2);
    expect_nothing(run);
    run = fixture_run();
    fixture_curve(run, never, 2);
    fixture_set(run, "status", json_string("failed"));
    fixture_chain(run);
    expect_nothing(run);
    run = fixture_run();
    fixture_curve(run, NULL, 0);
    fixture_set(run, "status", json_string("interrupted"));
    fixture_chain(run);
    expect_nothing(run);
    run = fixture_run();  // killed: the segment that was open is lost, here the one after its last point
    json_t *segments = json_object_get(run, "segments");
    json_array_remove(segments, json_array_size(segments) - 1);
    fixture_set(run, "status", json_string("interrupted"));
    json_object_del(run, "chain_end");
    expect_nothing(run);
    run = fixture_run();
    make_synthetic(run);
    fixture_chain(run);
    expect_nothing(run);
    run = fixture_run();
    json_object_del(run, "price"), json_object_del(run, "group");
    fixture_chain(run);
    expect_nothing(run);
}

// Sides of 16 and 32 pixels: a quarter of the arithmetic in the first half. A device may use all of that, or none.
TEST(smaller_images_may_be_faster)
{
    static const int64_t small_ns[] = {10000000000, 2500000000, 1000000000};
    static const char text[] = "{\"data\":{\"batch\":1000,\"resolution\":[16,32]},\"schedule\":{\"epochs\":10}}";
    int64_t ns[FIXTURE_EPOCHS];
    for (int quick = 0; quick < 3; quick++) {
        json_t *run = fixture_run();
        for (int e = 0; e < FIXTURE_EPOCHS; e++) ns[e] = (e >= 5 ? 10000000000 : small_ns[quick]) + e * e;
        fixture_recipe(run, text);
        retime(run, ns);
        struct findings f = findings_at(run, now_ms);
        assert_int_equal(f.count, quick == 2);  // faster than a quarter is too fast
        if (f.count > 0) assert_int_equal(f.at[0].check, CHECK_CADENCE);
    }
}
