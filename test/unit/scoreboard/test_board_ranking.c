// SPDX-License-Identifier: Apache-2.0
// From statements to rows: exact crossings, exact products, groups by hand-made figures, latencies that count, what a
// reproduction must repeat, and hardware as boards show it.

#include "scoreboard/rank/ranking.h"
#include "test/unit/test.h"
#include "test/unit/fixture_statement.h"

enum { RUNS = 5 };
static struct arena arena;

SETUP(tear_down)
{
    arena_free(&arena);
    return 0;
}

static struct statement made(json_t *run)
{
    struct statement s;
    fixture_chain(run);
    if (statement_make(run, &s) < 0) print_error("%s\n", error_text()), _fail(__FILE__, __LINE__);
    return s;
}

static int rows_of(json_t *run, struct ranked rows[BOARDS])
{
    struct statement s = made(run);
    int count = ranking_of_run(&s, canonical_int(s.json, "target_micro"), &arena, rows);
    statement_free(&s);  // rows must not need it
    return count;
}

static const struct entry *row_of(const struct ranked *rows, int count, enum board board)
{
    for (int i = 0; i < count; i++)
        if (rows[i].board == board) return &rows[i].entry;
    return NULL;
}

static void assert_double(double a, double b)
{
    if (islessgreater(a, b)) print_error("%.17g is not %.17g\n", a, b), _fail(__FILE__, __LINE__);
}

TEST(test_run)
{
    struct ranked rows[BOARDS];
    json_t *run = fixture_run();
    int64_t classic = canonical_int(run, "reached.classic_ns");
    int count = rows_of(run, rows);
    assert_int_equal(count, 4);
    const struct entry *time = row_of(rows, count, BOARD_TRAINING_TIME), *cost = row_of(rows, count, BOARD_TRAINING_COST);
    assert_double(time->value, (double)classic / 1e9);
    assert_double(cost->value, (double)classic * FIXTURE_PRICE / 3.6e18);
    assert_double(time->cost, cost->value);
    assert_double(time->accuracy, 0.941);
    assert_double(time->low, time->value);
    assert_true(time->p < 0 && time->runs == 1);
    assert_string_equal(time->contest, "cifar10");
    assert_double(row_of(rows, count, BOARD_INFERENCE_LATENCY)->value, 1.1);
    assert_double(row_of(rows, count, BOARD_INFERENCE_LATENCY)->accuracy, 0.945);
    assert_double(row_of(rows, count, BOARD_INFERENCE_COST)->value, 1100000.0 * FIXTURE_PRICE / 3.6e18);
    assert_int_equal(row_of(rows, count, BOARD_INFERENCE_COST)->views, 1);
    assert_int_equal(time->views, 6);
}

// 9,400 of 10,000 is 94%; 9,399 is not. The first counts, though the run falls below again.
TEST(test_exact_crossing)
{
    static const struct {
        int64_t scores[4];
        int epoch;
    } cases[] = {
        {{9399, 9400, 9500, 9600}, 2}, {{9400, 9300, 9300, 9300}, 1}, {{-1, -1, 9400, -1}, 3}, {{9399, 9399, 9399, -1}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ranked rows[BOARDS];
        json_t *run = fixture_run();
        fixture_curve(run, cases[i].scores, 4);
        json_object_set_new(run, "latencies", json_array());
        int epoch = cases[i].epoch;
        int64_t classic = epoch > 0 ? canonical_int(fixture_item(run, "points", (size_t)epoch - 1), "classic_ns") : 0;
        assert_int_equal(canonical_int(run, "reached.step"), 50 * epoch);
        int count = rows_of(run, rows);
        assert_int_equal(count, epoch > 0 ? 2 : 0);
        if (count > 0) assert_double(rows[0].entry.value, (double)classic / 1e9);
    }
}

TEST(test_no_price_no_cost)
{
    struct ranked rows[BOARDS];
    json_t *run = fixture_run();
    json_object_del(run, "price");
    json_object_del(fixture_item(run, "latencies", 0), "price");
    int count = rows_of(run, rows);
    assert_int_equal(count, 2);
    assert_true(rows[0].entry.cost < 0 && rows[1].entry.cost < 0);
}

TEST(test_latencies)
{
    struct ranked rows[BOARDS];
    json_t *run = fixture_run(), *list = json_object_get(run, "latencies");
    json_t *quick = fixture_latency(), *barred = fixture_latency(), *drawn = fixture_latency();
    json_object_set_new(quick, "whole_mean_ns", json_integer(900000));  // on a dearer machine
    fixture_set(quick, "price.micro_usd_per_hour", json_integer(FIXTURE_PRICE * 100));
    fixture_edit(quick, "'hardware.gpu': '2 x Test GPU', 'hardware.devices': 2");
    json_object_set_new(quick, "device", json_string("cuda"));
    json_object_set_new(barred, "whole_mean_ns", json_integer(100));
    json_object_set_new(barred, "eligible", json_integer(0));
    json_object_set_new(drawn, "whole_mean_ns", json_integer(100));
    json_object_set_new(drawn, "synthetic", json_integer(1));
    json_array_append_new(list, quick);
    json_array_append_new(list, barred);
    json_array_append_new(list, drawn);
    int count = rows_of(json_incref(run), rows);
    assert_double(row_of(rows, count, BOARD_INFERENCE_LATENCY)->value, 0.9);
    assert_string_equal(row_of(rows, count, BOARD_INFERENCE_LATENCY)->hardware, "2 x Test GPU");
    assert_double(row_of(rows, count, BOARD_INFERENCE_COST)->value, 1100000.0 * FIXTURE_PRICE / 3.6e18);
    for (int listed = 1; listed >= 0; listed--) {  // a price of one's own is taken if no listed one is there
        json_t *latency = fixture_latency();
        fixture_edit(latency, "'price.instance': '', 'price.micro_usd_per_hour': 1");
        json_array_insert_new(list, 0, latency);
        for (size_t i = 1; listed == 0 && i < json_array_size(list); i++) json_object_del(json_array_get(list, i), "price");
        count = rows_of(json_incref(run), rows);
        assert_true(rows[count - 1].stated == (listed == 0));
        assert_double(rows[count - 1].entry.value, 1100000.0 * (listed ? FIXTURE_PRICE : 1) / 3.6e18);
    }
    json_decref(run);
}

// F1 is no count: k is in millionths for any number of questions.
TEST(test_latency_of_f1)
{
    struct ranked rows[BOARDS];
    json_t *run = fixture_run(), *latency = fixture_item(run, "latencies", 0);
    fixture_set(run, "task", json_string("squad"));
    json_object_set_new(latency, "items", json_integer(10570));
    json_object_set_new(latency, "k", json_integer(760000));
    int count = rows_of(run, rows);
    assert_double(row_of(rows, count, BOARD_INFERENCE_LATENCY)->accuracy, 0.76);
    assert_double(row_of(rows, count, BOARD_INFERENCE_COST)->accuracy, 0.76);
}

TEST(test_what_did_not_end)
{
    static const char *const words[] = {"done", "failed", "interrupted"};
    struct ranked rows[BOARDS];
    for (int i = 0; i < 3; i++) {
        json_t *run = fixture_run();
        fixture_set(run, "status", json_string(words[i]));
        assert_int_equal(rows_of(run, rows) > 0, i == 0);
    }
}

TEST(test_demo)
{
    struct ranked rows[BOARDS];
    json_t *run = fixture_run();
    json_object_set_new(run, "synthetic", json_integer(1));
    json_object_set_new(run, "latencies", json_array());
    assert_int_equal(rows_of(run, rows), 2);
    assert_string_equal(rows[0].entry.contest, "demo");
}

// A run of the demonstration that aimed lower, and met that, did not meet the target of the board.
TEST(test_demo_target)
{
    struct ranked rows[BOARDS];
    json_t *run = fixture_run();
    json_object_set_new(run, "synthetic", json_integer(1));
    json_object_set_new(run, "latencies", json_array());
    fixture_set(run, "target_micro", json_integer(100000));
    assert_int_equal(rows_of(run, rows), 0);
}

static void set_energy(json_t *run, int64_t until_j, int64_t whole_j)
{
    fixture_set(run, "reached.energy_uj", json_integer(until_j * 1000000));
    fixture_set(run, "energy_uj", json_integer(whole_j * 1000000));
}

// A row has an energy only if the statement binds it up to the very point that the row counts.
TEST(test_energy)
{
    struct ranked rows[BOARDS];
    json_t *run = fixture_run();
    fixture_set(run, "energy_uj", json_integer(5000000000));
    int count = rows_of(run, rows);
    for (int i = 0; i < count; i++) assert_true(rows[i].entry.energy < 0);
    set_energy(run = fixture_run(), 4000, 5000);
    struct statement s = made(run);
    count = ranking_of_run(&s, 940000, &arena, rows);
    assert_double(row_of(rows, count, BOARD_TRAINING_TIME)->energy, 4000);
    assert_double(row_of(rows, count, BOARD_TRAINING_COST)->energy, 4000);
    assert_true(row_of(rows, count, BOARD_INFERENCE_LATENCY)->energy < 0);
    count = ranking_of_run(&s, 930000, &arena, rows);  // met earlier
    assert_true(row_of(rows, count, BOARD_TRAINING_TIME)->energy < 0);
    statement_free(&s);
    set_energy(run = fixture_run(), 4000, 5000);
    fixture_set(run, "evaluated_by", json_string("self"));
    count = rows_of(run, rows);
    assert_true(row_of(rows, count, BOARD_TRAINING_TIME)->energy < 0);
}

// ---- groups
static json_t *run_of_group(int number, int64_t final)
{
    json_t *run = fixture_run();
    int64_t scores[3] = {9000, 9300, final};
    char nonce[33];
    snprintf(nonce, sizeof nonce, "%032x", number);
    fixture_set(run, "nonce", json_string(nonce));
    fixture_set(run, "seed", json_integer(number));
    fixture_set(run, "group.index", json_integer(number));
    fixture_curve(run, scores, 3);
    return run;
}

// The kept part of a run gives the same group as the whole run, and is small for every run.
TEST(test_brief)
{
    enum { EPOCHS = 1000, SLIM_MAX = 8192 };
    int64_t scores[EPOCHS];
    struct statement whole[RUNS], slim[RUNS];
    const struct statement *wholes[RUNS], *slims[RUNS];
    struct ranked rows[BOARDS], slim_rows[BOARDS];
    struct group_facts facts, slim_facts;
    for (int i = 0; i < EPOCHS; i++) scores[i] = i == EPOCHS - 1 ? -1 : 9400 + i % 5;
    for (int i = 0; i < RUNS; i++) {
        json_t *run = run_of_group(i + 1, 9400);
        json_t *latencies = json_object_get(run, "latencies"), *first = json_array_get(latencies, 0);
        fixture_curve(run, scores, EPOCHS);
        for (int n = 1; n < 20; n++) {  // the quickest is not the cheapest
            json_t *other = json_deep_copy(first);
            json_object_set_new(other, "whole_mean_ns", json_integer(canonical_int(first, "whole_mean_ns") - n));
            fixture_set(other, "price.micro_usd_per_hour", json_integer(FIXTURE_PRICE * (1 + n)));
            json_array_append_new(latencies, other);
        }
        whole[i] = made(run);
        slim[i] = (struct statement){.type = STATEMENT_RUN, .json = ranking_brief(whole[i].json)};
        wholes[i] = &whole[i], slims[i] = &slim[i];
        char *text = json_dumps(slim[i].json, JSON_COMPACT);
        assert_true(strlen(text) < SLIM_MAX && whole[i].count > 20 * SLIM_MAX);
        free(text);
    }
    int found = ranking_of_group(wholes, RUNS, RUNS, &arena, &facts, rows);
    assert_int_equal(found, 4);
    assert_int_equal(ranking_of_group(slims, RUNS, RUNS, &arena, &slim_facts, slim_rows), found);
    assert_int_equal(facts.verdict, slim_facts.verdict);
    assert_double(facts.seconds.mean, slim_facts.seconds.mean);
    assert_double(facts.accuracy.mean, slim_facts.accuracy.mean);
    for (int i = 0; i < found; i++) {
        assert_double(rows[i].entry.value, slim_rows[i].entry.value);
        assert_double(rows[i].entry.cost, slim_rows[i].entry.cost);
        assert_string_equal(rows[i].entry.hardware, slim_rows[i].entry.hardware);
    }
    for (int i = 0; i < RUNS; i++) statement_free(&whole[i]), statement_free(&slim[i]);
}

// Five runs of known ends; takes the payloads.
static int rank_group(json_t *const payloads[RUNS], int count, struct group_facts *facts, struct ranked rows[BOARDS])
{
    struct statement statements[RUNS];
    const struct statement *list[RUNS] = {NULL};
    for (int i = 0; i < count; i++) {
        statements[i] = made(payloads[i]);
        list[i] = &statements[i];
    }
    int found = ranking_of_group(list, count, RUNS, &arena, facts, rows);
    for (int i = 0; i < count; i++) statement_free(&statements[i]);
    return found;
}

TEST(test_group)
{
    static const int64_t ends[RUNS] = {9400, 9390, 9410, 9395, 9405};  // their mean is the target, to the item
    json_t *runs[RUNS];
    struct group_facts facts;
    struct ranked rows[BOARDS];
    double seconds[RUNS];
    for (int i = 0; i < RUNS; i++) {
        runs[i] = run_of_group(i + 1, ends[i]);
        json_t *latency = fixture_item(runs[i], "latencies", 0);
        json_object_set_new(latency, "whole_mean_ns", json_integer(1000000 + 100000 * i));
        json_t *last = fixture_item(runs[i], "points", 2);
        int64_t t =
            canonical_int(last, "t_ns") + (int64_t)i * 1000000000;  // ranking takes the statement's word: checks come before
        json_object_set_new(last, "t_ns", json_integer(t));
        seconds[i] = (double)t / 1e9;
    }
    int found = rank_group(runs, RUNS, &facts, rows);
    assert_int_equal(facts.verdict, GROUP_MET);
    assert_int_equal(found, 4);
    struct group_mean mean;
    group_mean(seconds, RUNS, &mean);
    const struct entry *time = row_of(rows, found, BOARD_TRAINING_TIME), *cost = row_of(rows, found, BOARD_TRAINING_COST);
    assert_double(time->value, mean.mean);
    assert_double(time->low, mean.low);
    assert_double(time->high, mean.high);
    assert_true(time->low < time->value && time->value < time->high);
    assert_true(fabs(cost->value / (mean.mean * FIXTURE_PRICE / 3.6e9) - 1) < 1e-12);
    assert_int_equal(time->runs, RUNS);
    assert_true(time->p > 0.4 && time->p < 0.6);
    assert_true(fabs(time->accuracy - 0.94) < 1e-12);
    const struct entry *latency = row_of(rows, found, BOARD_INFERENCE_LATENCY);
    assert_true(fabs(latency->value - 1.2) < 1e-12);
    assert_true(latency->low < 1.2 && latency->high > 1.2);
}

// A whole group on synthetic data is listed by the board demo alone, below its target by no board; half of it makes no group.
TEST(test_demo_group)
{
    for (int drawn = 3; drawn <= RUNS; drawn += RUNS - 3)
        for (int k = 9400; k >= 9300; k -= 100) {
            json_t *runs[RUNS];
            struct group_facts facts;
            struct ranked rows[BOARDS];
            for (int i = 0; i < RUNS; i++) {
                runs[i] = run_of_group(i + 1, k);
                json_object_set_new(runs[i], "synthetic", json_integer(i >= RUNS - drawn));
                json_object_set_new(runs[i], "latencies", json_array());
            }
            int found = rank_group(runs, RUNS, &facts, rows);
            assert_int_equal(found > 0, drawn == RUNS && k == 9400);
            assert_false(facts.official);
            if (found > 0) assert_string_equal(rows[0].entry.contest, "demo");
        }
}

// Of a group the mean of whole runs, if every run has it.
TEST(test_energy_of_a_group)
{
    for (int without = -1; without < 2; without++) {
        json_t *runs[RUNS];
        struct group_facts facts;
        struct ranked rows[BOARDS];
        for (int i = 0; i < RUNS; i++) set_energy(runs[i] = run_of_group(i + 1, 9400 + i), 900, 1000 * (i + 1));
        if (without == 0) json_object_del(runs[3], "energy_uj");
        if (without == 1) json_object_del(json_object_get(runs[3], "reached"), "energy_uj");
        int found = rank_group(runs, RUNS, &facts, rows);
        assert_int_equal(found, 4);
        if (without < 0) assert_double(row_of(rows, found, BOARD_TRAINING_TIME)->energy, 3000);
        else assert_true(row_of(rows, found, BOARD_TRAINING_TIME)->energy < 0);
        assert_true(row_of(rows, found, BOARD_INFERENCE_COST)->energy < 0);
    }
}

// A program that scored itself says nothing of its data, and stands as long as it does not name others.
TEST(test_self_evaluated_group)
{
    for (int named = 0; named < 2; named++) {
        json_t *runs[RUNS];
        struct group_facts facts;
        struct ranked rows[BOARDS];
        for (int i = 0; i < RUNS; i++) {
            runs[i] = run_of_group(i + 1, 9500 + i);
            fixture_set(runs[i], "evaluated_by", json_string("self"));
            fixture_set(runs[i], "division", json_string("open"));
            fixture_set(runs[i], "official", json_integer(0));
            if (named && i == 3) json_object_set_new(fixture_item(runs[i], "data", 0), "official", json_integer(0));
            else json_array_clear(json_object_get(runs[i], "data"));
        }
        int found = rank_group(runs, RUNS, &facts, rows);
        assert_int_equal(facts.verdict, named ? GROUP_CUSTOM : GROUP_MET_SURELY);
        assert_int_equal(found, named ? 0 : 4);
        if (found == 0) continue;
        assert_string_equal(rows[0].entry.division, "open");
        assert_int_equal(rows[0].entry.self, 1);
        assert_int_equal(rows[0].entry.trust, TRUST_SIGNED);  // and the store never lifts it: check self-evaluated is a flag
    }
}

// All withdrawn: the announced run has no result; nothing else counts.
TEST(test_nothing_left)
{
    struct group_facts facts;
    struct ranked rows[BOARDS];
    assert_int_equal(rank_group(NULL, 0, &facts, rows), 0);
    assert_int_equal(facts.verdict, GROUP_UNFINISHED);
    assert_int_equal(facts.planned, RUNS);
}

enum spoil { BELOW, MISSING, STOPPED, SEED_TWICE, UNOFFICIAL, NO_LATENCY, TWO_PRICES, TWO_MACHINES, SPOILS };

TEST(test_spoiled_groups)
{
    static const int expected[SPOILS] = {0, 0, 0, 0, 0, 2, 3, 4};  // rows that are left
    for (int spoil = 0; spoil < SPOILS; spoil++) {
        json_t *runs[RUNS];
        struct group_facts facts;
        struct ranked rows[BOARDS];
        for (int i = 0; i < RUNS; i++) runs[i] = run_of_group(i + 1, spoil == BELOW && i == 0 ? 9399 : 9400);
        if (spoil == STOPPED) json_object_set_new(runs[3], "stop_at_target", json_integer(1));
        if (spoil == SEED_TWICE) json_object_set_new(runs[3], "seed", json_integer(1));
        if (spoil == UNOFFICIAL) json_object_set_new(runs[3], "official", json_integer(0));
        if (spoil == NO_LATENCY) json_object_set_new(runs[3], "latencies", json_array());
        if (spoil == TWO_PRICES) fixture_set(runs[3], "price.micro_usd_per_hour", json_integer(7));
        if (spoil == TWO_MACHINES) fixture_set(runs[3], "hardware.cpu", json_string("Another CPU"));
        if (spoil == MISSING) json_decref(runs[4]);
        int found = rank_group(runs, spoil == MISSING ? RUNS - 1 : RUNS, &facts, rows);
        if (found != expected[spoil]) print_error("spoil %d leaves %d rows\n", spoil, found), _fail(__FILE__, __LINE__);
        assert_int_equal(facts.official, expected[spoil] > 0);
        if (spoil == TWO_MACHINES) assert_string_equal(rows[0].entry.hardware, "several machines");
    }
}

// ---- reproductions
static void curve_of(json_t *run, char hex[DIGEST_HEX])
{
    struct statement s = made(run);
    assert_int_equal(ranking_curve(&s, hex), 0);
    statement_free(&s);
}

TEST(test_curve)
{
    char first[DIGEST_HEX], other[DIGEST_HEX];
    static const char *const free_members[] = {"nonce", "handle", "device"}, *const bound[] = {"software.binary_digest",
                                                "recipe.digest", "task_digest"};
    curve_of(fixture_run(), first);
    json_t *run = fixture_run();
    for (int i = 0; i < 10; i++) {  // other times, the same figures
        json_t *p = fixture_item(run, "points", (size_t)i);
        json_object_set_new(p, "t_ns", json_integer(canonical_int(p, "t_ns") * 2));
        json_object_set_new(p, "classic_ns", json_integer(canonical_int(p, "classic_ns") * 2));
    }
    curve_of(run, other);
    assert_string_equal(first, other);
    for (int i = 0; i < 3; i++) {
        run = fixture_run();
        fixture_set(run, free_members[i], json_string(i == 0 ? "ffffffffffffffffffffffffffffffff" : "someone"));
        curve_of(run, other);
        assert_string_equal(first, other);
        run = fixture_run();
        fixture_set(run, bound[i], json_string("dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"));
        curve_of(run, other);
        assert_string_not_equal(first, other);
    }
    for (int i = 0; i < 5; i++) {
        static const char *const members[] = {"step", "epoch_micro", "samples", "loss"};
        run = fixture_run();
        if (i < 4) json_object_set_new(fixture_item(run, "points", 9), members[i], json_integer(1234));
        else fixture_set(run, "seed", json_integer(1234));
        curve_of(run, other);
        assert_string_not_equal(first, other);
    }
}

TEST(test_hardware)
{
    static const struct {
        const char *gpu, *cpu, *device;
        int devices, threads;
        const char *text;
    } cases[] = {
        {"", "AMD EPYC 9R14", "cpu", 1, 2, "AMD EPYC 9R14, 2 threads"}, {"", "CPU", "cpu", 1, 1, "CPU, 1 thread"},
        {"", "CPU", "outside", 4, 0, "4 x CPU"}, {"NVIDIA H200", "CPU", "cuda", 1, 16, "NVIDIA H200"},
        {"8 x NVIDIA H200", "CPU", "cuda", 2, 16, "2 x NVIDIA H200"}, {"8 x NVIDIA H200", "CPU", "cuda", 1, 16, "NVIDIA H200"},
        {"", "", "cpu", 1, 0, "unknown processor"}, {"4090", "", "outside", 1, 0, "4090"},
        {"NVIDIA H200", "CPU", "cpu", 1, 4, "CPU, 4 threads"}, {"NVIDIA H200", "CPU", "ref", 1, 1, "CPU, 1 thread"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *run = json_pack("{s:{s:s, s:s, s:i}, s:s, s:i}", "hardware", "gpu", cases[i].gpu, "cpu", cases[i].cpu, "devices",
                                cases[i].devices, "device", cases[i].device, "threads", cases[i].threads);
        assert_string_equal(ranking_hardware(run, &arena), cases[i].text);
        json_decref(run);
    }
}

TEST_GROUP(NULL, tear_down)
