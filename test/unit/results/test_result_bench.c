// SPDX-License-Identifier: Apache-2.0
// Measurements in the record: rows that belong together, sums, the list, and refusals.
#include "tasks/tools/measure/throughput.h"
#include "tasks/tools/show/show_bench.h"
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"
#include "test/unit/fixture_record.h"

static void open_trial(struct trial *t, struct bench *b)
{
    static const char *const settings[] = {"widths=8,8,8", "batch=50", "precision=f32", NULL};
    const struct device_facts facts = {.peak_flops = {[F32] = 1e12}, .peak_bytes = 1e11, .threads = 1, .name = "a test"};
    bench_open(b, "null", 0, 600, 100, "cifar10", settings);
    const struct trial_choice choice = {.task = b->choice.task, .recipe = &b->choice.recipe, .data = b->data, .device = b->device,
                                        .fuse = FUSE_ALL};
    if (trial_open(t, &choice, &facts) < 0 || trial_ready(t) < 0) fail_msg("%s", error_text());
}

TEST_WITH(test_measurements_are_recorded, setup, leave)
{
    struct bench b;
    struct trial t;
    struct text text = {0};
    int64_t first = 0, second = 0;
    open_trial(&t, &b);
    assert_int_equal(trial_time(&t, 0.05, 3, NULL, NULL), 0);
    assert_int_equal(trial_profile(&t), 0);
    struct results *r = open_db(RESULTS_WRITE);
    assert_int_equal(show_bench_list(r, &text), 0);
    assert_non_null(strstr(text.at, "holds no measurement yet"));
    text_free(&text);
    if (throughput_record(&t, true, 0, r, &first) < 0) fail_msg("%s", error_text());
    assert_int_equal(throughput_record(&t, false, first, r, &second), 0);
    assert_int_equal(number(r, "SELECT count(*) FROM benches WHERE sweep = 1"), 2);
    assert_int_equal(number(r, "SELECT sum(noise) FROM benches"), 1);
    assert_int_equal(number(r, "SELECT count(*) FROM bench_repeats WHERE bench = 2"), t.timing.repeats);
    assert_int_equal(number(r, "SELECT sum(bytes) - (SELECT memory_bytes FROM benches WHERE id = 1) FROM bench_memory"
                               " WHERE bench = 1"), 0);
    assert_int_equal(number(r, "SELECT sum(nodes) FROM bench_operators WHERE bench = 1"), trial_plan(&t)->count);
    assert_int_equal(number(r, "SELECT sum(flops) - (SELECT flops FROM benches WHERE id = 1) FROM bench_operators"
                               " WHERE bench = 1"), 0);
    assert_int_equal(number(r, "SELECT count(*) FROM machines"), 1);
    assert_int_equal(show_bench_list(r, &text), 0);
    assert_non_null(strstr(text.at, "cifar10"));
    assert_non_null(strstr(text.at, " *\n"));  // noise
    for (char *line = text.at; line; line = strchr(line, '\n'), line += line != NULL)
        if (strcspn(line, "\n") > TEXT_WIDTH) fail_msg("too wide: %s", line);
    text_free(&text);
    const struct bench_facts nothing = {.task = "cifar10"};
    assert_int_equal(result_bench_add(r, &nothing, &first), ERR_INPUT);
    results_close(r);
    trial_close(&t);
    bench_close(&b);
}
