// SPDX-License-Identifier: Apache-2.0
// Buckets of two lengths: every sample fits its own, more buckets pad less, batches go by the places of their targets.

#include "runtime/common/base/rng.h"
#include "tasks/translation/pair_buckets.h"
#include "test/unit/test.h"

enum { SAMPLES = 5000, TOKENS = 1024 };
static int32_t source[SAMPLES], target[SAMPLES];
static const struct pair_lengths lengths = {{source, target}, SAMPLES};

// Targets are about as long as their sources.
static void draw_lengths(int32_t longest)
{
    for (int64_t i = 0; i < SAMPLES; i++) {
        struct rng4 r = rng_draw(1, RNG_SYNTHETIC, 0, (uint32_t)i, 0);
        source[i] = 1 + (int32_t)rng_below(r.v[0], (uint32_t)longest - 8);
        target[i] = source[i] + (int32_t)rng_below(r.v[1], 8);
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
        const int32_t *limit = b->limit[pair_buckets_of(b, source[i], target[i])];
        assert_true(source[i] <= limit[0] && target[i] <= limit[1]);
        sum += limit[0] + 2 * limit[1];
    }
    return sum;
}

TEST(more_buckets_pad_less)
{
    struct pair_buckets b = {0};
    int64_t used = 0;
    draw_lengths(60);
    for (int64_t i = 0; i < SAMPLES; i++) used += source[i] + 2 * target[i];
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
    int32_t of[2][3] = {{3, 9, 30}, {4, 20, 10}};
    const struct pair_lengths three = {{of[0], of[1]}, 3};
    struct pair_buckets b = {.tokens = TOKENS, .most = ORDER_BUCKETS};
    pair_buckets_choose(&three, &b);
    assert_int_equal(b.count, 1);
    assert_int_equal(b.limit[0][0], 30);
    assert_int_equal(b.limit[0][1], 20);
}
