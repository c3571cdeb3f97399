// SPDX-License-Identifier: Apache-2.0
// Buckets of two lengths: every sample fits its own, more buckets pad less, batches go by the places of their targets.

#include "data/feed/pair_buckets.h"
#include "runtime/common/base/rng.h"
#include "test/unit/test.h"

enum { SAMPLES = 5000, TOKENS = 1024 };
static int64_t at[2 * SAMPLES + 1];
static const struct pair_lengths lengths = {at, SAMPLES, false};

// Targets are about as long as their sources.
static void draw_lengths(int32_t longest)
{
    for (int64_t i = 0; i < SAMPLES; i++) {
        struct rng4 r = rng_draw(1, RNG_SYNTHETIC, 0, (uint32_t)i, 0);
        int64_t source = 1 + (int64_t)rng_below(r.v[0], (uint32_t)longest - 8);
        at[2 * i + 1] = at[2 * i] + source;
        at[2 * i + 2] = at[2 * i + 1] + source + (int64_t)rng_below(r.v[1], 8);
    }
}

// Places of all samples, targets counted twice.
static int64_t places_of(struct pair_buckets *b, int most)
{
    int64_t sum = 0;
    b->tokens = TOKENS, b->most = most;
    pair_buckets_choose(&lengths, b);
    assert_in_range(b->count, 1, most);
    for (int64_t i = 0; i < SAMPLES; i++) {
        int32_t source = pair_length(&lengths, i, 0), target = pair_length(&lengths, i, 1);
        const int32_t *limit = b->limit[pair_buckets_of(b, source, target)];
        assert_true(source <= limit[0] && target <= limit[1]);
        sum += limit[0] + 2 * limit[1];
    }
    return sum;
}

TEST(more_buckets_pad_less)
{
    struct pair_buckets b = {0};
    int64_t used = 0;
    draw_lengths(60);
    for (int64_t i = 0; i < SAMPLES; i++) used += pair_length(&lengths, i, 0) + 2 * pair_length(&lengths, i, 1);
    int64_t one = places_of(&b, 1), few = places_of(&b, 8), many = places_of(&b, ORDER_BUCKETS);
    assert_true(one > few && few > many && many >= used);
    assert_true(many - used < used / 5);  // in proportion to the lengths, one bucket pads more than that
    assert_true(one - used > used / 2);
}

TEST(lengths_above_the_steps_are_rounded_up)
{
    struct pair_buckets b = {0};
    draw_lengths(1000);
    places_of(&b, ORDER_BUCKETS);
    for (int i = 0; i < b.count; i++) assert_true(b.limit[i][0] % 16 == 0 && b.limit[i][1] % 16 == 0);
}

TEST(batches_go_by_the_places_of_targets)
{
    struct pair_buckets b = {.tokens = 2048, .batch = 100};
    assert_int_equal(pair_buckets_batch(&b, 10), 200);
    assert_int_equal(pair_buckets_batch(&b, 13), 152);
    assert_int_equal(pair_buckets_batch(&b, 1000), 8);
    b.tokens = 0;
    assert_int_equal(pair_buckets_batch(&b, 13), 100);
}

TEST(few_samples_have_one_bucket)
{
    static const int64_t of[] = {0, 3, 7, 16, 36, 66, 76};  // 3 and 4, 9 and 20, 30 and 10
    struct pair_lengths three = {of, 3, false};
    struct pair_buckets b = {.tokens = TOKENS, .most = ORDER_BUCKETS};
    pair_buckets_choose(&three, &b);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.limit[0][0], 30);
    assert_int_equal(b.limit[0][1], 20);
    three.source_alone = true;
    pair_buckets_choose(&three, &b);
    assert_int_equal(b.limit[0][0], 30);
    assert_int_equal(b.limit[0][1], 1);
}
