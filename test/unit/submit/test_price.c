// SPDX-License-Identifier: Apache-2.0
// Prices: the embedded table, broken tables, and cost to the last micro-dollar.

#include "submit/format/score/price.h"
#include "test/unit/test.h"

static int count_row(void *context, const struct price *price)
{
    assert_true(price->micro_per_hour > 0);
    assert_int_equal(strlen(price->date), 10);
    assert_true(strlen(price->source) > 10);
    (*(int *)context)++;
    return 0;
}

TEST(the_table_is_whole)
{
    int rows = 0;
    assert_int_equal(price_table(count_row, &rows), 0);
    assert_true(rows >= 10);
    struct price price;
    assert_int_equal(price_find("c7i.xlarge", &price), 0);
    assert_int_equal(price.micro_per_hour, 178500);
    assert_fails(price_find("c7i.xlarg", &price), ERR_USAGE, "c7i.xlarge");
    assert_fails(price_find("mainframe-of-my-dreams", &price), ERR_USAGE, "--cost-per-hour");
}

TEST(broken_tables_are_refused)
{
#define ROW(price, date)                                                                                               \
    "{\"prices\": [{\"instance\": \"x\", \"what\": \"w\", \"source\": \"somewhere sure\", \"date\": " date                       \
    ", \"micro_usd_per_hour\": " price "}]}"
    static const char *const broken[] = {
        "", "[]", "{\"prices\": 1}", "{\"prices\": [1]}", "{\"prices\": [{}]}", ROW("1.5", "\"2026-01-01\""),
        ROW("-1", "\"2026-01-01\""), ROW("0", "\"2026-01-01\""), ROW("\"1\"", "\"2026-01-01\""), ROW("1", "\"1 May\""),
        ROW("1", "5"), ROW("99999999999999999", "\"2026-01-01\""),
    };
    int rows = 0;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        assert_int_equal(price_parse(broken[i], strlen(broken[i]), count_row, &rows), ERR_INPUT);
    assert_int_equal(rows, 0);
    const char *good = ROW("1", "\"2026-01-01\"");
    assert_int_equal(price_parse(good, strlen(good), count_row, &rows), 0);
    assert_int_equal(rows, 1);
}

TEST(a_user_may_give_a_price)
{
    struct price price;
    assert_int_equal(price_from_user(0.0892, &price), 0);
    assert_int_equal(price.micro_per_hour, 89200);
    assert_string_equal(price.source, "user");
    static const double wrong[] = {0, -1, 1e9, 1e-9, 0.0 / 0.0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_int_equal(price_from_user(wrong[i], &price), ERR_USAGE);
}

TEST(costs_are_rounded_up_once)
{
    const int64_t hour = 3600 * (int64_t)1000000000;
    assert_int_equal(cost_training_micro(hour, 178500), 178500);
    assert_int_equal(cost_training_micro(hour / 2, 178500), 89250);
    assert_int_equal(cost_training_micro(1, 178500), 1);  // not free
    assert_int_equal(cost_training_micro(0, 178500), 0);
    assert_int_equal(cost_training_micro(hour + 1, 178500), 178501);
    // DAWNBench's cheapest CPU row: 286,014 s; here at 0.533 USD per hour.
    assert_int_equal(cost_training_micro(286014 * (int64_t)1000000000, 533000), 42345962);
    // 0.1345 ms an item at 3.06 USD per hour, 10,000 items: 0.00114325 USD.
    assert_int_equal(cost_inference_micro(134500, 10000, 3060000), 1144);
    // A month on a thousand machines does not overflow.
    assert_int_equal(cost_training_micro(720 * hour, PRICE_MAX_MICRO), 720 * PRICE_MAX_MICRO);
}

TEST(money_as_text)
{
    char text[COST_TEXT];
    assert_string_equal(cost_text(text, 42345962), "$42.35");
    assert_string_equal(cost_text(text, 21200), "$0.0212");
    assert_string_equal(cost_text(text, 1144), "$0.00115");
    assert_string_equal(cost_text(text, 0), "$0.00");
    assert_string_equal(cost_text(text, 9999999), "$10.00");
    assert_string_equal(cost_text(text, 1500000), "$1.50");
    assert_string_equal(cost_text(text, 999501), "$1.000");
    assert_string_equal(cost_text(text, 12), "$0.000012");
}
