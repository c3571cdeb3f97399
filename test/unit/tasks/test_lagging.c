// SPDX-License-Identifier: Apache-2.0
// Shares of the product rate, and the summary of the cases far below it. Peaks and times are given, so that no figure depends on
// the machine.
#include "tasks/tools/measure/lagging.h"
#include "test/unit/test.h"

#include <jansson.h>
// cmocka.h requires the four before it

// 100 GFLOP/s in f32, 400 in bf16, 10 GB/s: f32 is compute-bound above 10 FLOP per byte, bf16 above 40.
static const struct device_facts FACTS = {.peak_flops = {[F32] = 100e9, [BF16] = 400e9}, .peak_bytes = 10e9};

static double add(struct lagging *l, const struct device_facts *f, const char *name, enum dtype type, double flops, double bytes)
{
    const struct op_case row = {.name = name};
    const struct case_speed s = {.row = &row, .type = type, .seconds = 1, .flops = flops, .bytes = bytes};
    return lagging_add(l, f, &s);
}

// The FLOPs per byte decide against the peaks of the type; the case's name does not.
TEST(test_bound)
{
    struct lagging l = {0};
    assert_float_equal(add(&l, &FACTS, "conv", F32, 50e9, 4.9e9), 0.5, 1e-9);
    assert_float_equal(add(&l, &FACTS, "conv", F32, 50e9, 5.1e9), 0, 0);
    assert_float_equal(add(&l, &FACTS, "add", BF16, 200e9, 4.9e9), 0.5, 1e-9);
    assert_float_equal(add(&l, &FACTS, "conv", BF16, 50e9, 4.9e9), 0, 0);
    assert_float_equal(add(&l, &FACTS, "conv", F16, 50e9, 4.9e9), 0.5, 1e-9);  // no rate of its own: f32's
    assert_int_equal(l.timed, 5);
    assert_int_equal(l.bound, 3);
    assert_int_equal(l.rows, 0);
    lagging_free(&l);
}

TEST(test_no_peaks)
{
    const struct device_facts none = {.threads = 1};
    struct lagging l = {0};
    struct text text = {0};
    assert_float_equal(add(&l, &none, "conv", F32, 1e9, 1), 0, 0);
    lagging_text(&l, &text);
    assert_null(text.at);
    lagging_free(&l);
}

TEST(test_slowest_first)
{
    struct lagging l = {0};
    struct text text = {0};
    add(&l, &FACTS, "at the share", F32, LAGGING_SHARE * 100e9, 1);
    add(&l, &FACTS, "slow", F32, 0.29 * 100e9, 1);
    add(&l, &FACTS, "slower", BF16, 0.1 * 400e9, 1);
    lagging_text(&l, &text);
    assert_non_null(strstr(text.at, "2 of 3 compute-bound"));
    assert_non_null(strstr(text.at, "\n  slower (bf16), slow (f32)\n"));
    text_free(&text);
    json_t *o = lagging_json(&l);
    assert_int_equal(json_array_size(json_object_get(o, "below")), 2);
    assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(o, "below"), 0), "case")), "slower");
    json_decref(o);
    lagging_free(&l);
}

// Many names end with the number of those that were left out; no line is wider than 80 columns.
TEST(test_two_lines)
{
    enum { MANY = 40 };
    struct lagging l = {0};
    struct text text = {0};
    for (int i = 0; i < MANY; i++) add(&l, &FACTS, "attention_grad of 32 x 256, 12 x 32", F32, 1e9, 1);
    lagging_text(&l, &text);
    int lines = 0, named = 0, left = 0;
    for (char *line = strtok(text.at, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        assert_true(strlen(line) <= TEXT_WIDTH);
        for (const char *at = line; (at = strstr(at, "(f32)")); at++) named++;
        const char *more = strstr(line, " more");
        if (more) left = atoi(strstr(line, "and ") + 4);
    }
    assert_int_equal(lines, 3);
    assert_true(named > 1);
    assert_int_equal(named + left, MANY);
    text_free(&text);
    lagging_free(&l);
}
