// SPDX-License-Identifier: Apache-2.0
// The stopwatch: segments sum to the end-to-end time, clocks are the sums that the rules define, no time is left out.

#include "runtime/common/base/clock.h"
#include "submit/results/machine/stopwatch.h"
#include "test/unit/test.h"

TEST(clocks_follow_the_rules)
{
    struct stopwatch sw;
    stopwatch_start_at(&sw, 1000, SEGMENT_PROCESS);
    stopwatch_enter_at(&sw, SEGMENT_INIT, 1010);         // process 10
    stopwatch_enter_at(&sw, SEGMENT_DATA, 1030);         // init 20
    stopwatch_enter_at(&sw, SEGMENT_COMPILE, 1060);      // data 30
    stopwatch_enter_at(&sw, SEGMENT_WARMUP, 1100);       // compile 40
    stopwatch_enter_at(&sw, SEGMENT_TRAIN, 1150);        // warmup 50
    stopwatch_enter_at(&sw, SEGMENT_EVALUATE, 2150);     // train 1000
    stopwatch_enter_at(&sw, SEGMENT_CHECKPOINT, 2250);   // evaluate 100
    stopwatch_enter_at(&sw, SEGMENT_IDLE, 2257);         // checkpoint 7
    struct stopwatch_clocks c = stopwatch_enter_at(&sw, SEGMENT_TRAIN, 2260);  // idle 3
    assert_int_equal(c.end_to_end_ns, 1260);
    assert_int_equal(c.classic_ns, 1260 - 100 - 7);
    assert_int_equal(c.warm_ns, 1000);
    assert_int_equal(c.warm_with_evaluation_ns, 1100);
    c = stopwatch_read_at(&sw, 2300);  // the open segment counts
    assert_int_equal(c.end_to_end_ns, 1300);
    assert_int_equal(c.warm_ns, 1040);
    stopwatch_free(&sw);
}

TEST(spans_have_no_gaps_and_are_merged)
{
    struct stopwatch sw;
    stopwatch_start_at(&sw, 0, SEGMENT_TRAIN);
    stopwatch_enter_at(&sw, SEGMENT_TRAIN, 5);     // the same again changes nothing
    stopwatch_enter_at(&sw, SEGMENT_EVALUATE, 10);
    stopwatch_enter_at(&sw, SEGMENT_TRAIN, 10);    // no time passed: no span
    for (int i = 1; i <= 200; i++) {
        stopwatch_enter_at(&sw, SEGMENT_EVALUATE, 10 + 20 * i);
        stopwatch_enter_at(&sw, SEGMENT_TRAIN, 15 + 20 * i);
    }
    stopwatch_enter_at(&sw, SEGMENT_IDLE, 9000);
    int64_t at = 0, sum = 0;
    for (int i = 0; i < sw.count; i++) {
        assert_int_equal(sw.spans[i].start_ns, at);
        assert_true(sw.spans[i].end_ns > at);
        if (i > 0) assert_int_not_equal(sw.spans[i].segment, sw.spans[i - 1].segment);
        sum += sw.spans[i].end_ns - sw.spans[i].start_ns;
        at = sw.spans[i].end_ns;
    }
    assert_int_equal(sw.count, 401);
    assert_int_equal(sum, 9000);
    assert_int_equal(sw.closed_ns[SEGMENT_EVALUATE], 200 * 5);
    stopwatch_free(&sw);
}

TEST(the_real_clock_runs_on)
{
    struct stopwatch sw;
    stopwatch_from_process(&sw);
    int64_t a = stopwatch_end_to_end_ns(&sw);
    assert_true(a >= 0);
    assert_int_equal(sw.open, SEGMENT_PROCESS);
    struct stopwatch_clocks c = stopwatch_enter(&sw, SEGMENT_EVALUATE);
    assert_true(c.end_to_end_ns >= a);
    while (stopwatch_end_to_end_ns(&sw) < c.end_to_end_ns + 1000) continue;
    assert_int_equal(stopwatch_read(&sw).classic_ns, c.classic_ns);  // evaluation does not count there
    assert_true(stopwatch_end_to_end_ns(&sw) > c.end_to_end_ns);
    assert_int_equal(stopwatch_warm_ns(&sw), 0);
    stopwatch_free(&sw);
    stopwatch_from_now(&sw);
    assert_int_equal(sw.open, SEGMENT_INIT);
    assert_true(sw.start_ns <= clock_ns());
    stopwatch_free(&sw);
}

TEST(names_are_found_again)
{
    for (int i = 0; i < SEGMENT_END; i++) {
        enum segment found;
        assert_true(stopwatch_find(stopwatch_name((enum segment)i), &found));
        assert_int_equal(found, i);
    }
    enum segment none;
    assert_false(stopwatch_find("coffee", &none));
}
