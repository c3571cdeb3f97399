// SPDX-License-Identifier: Apache-2.0
// The order of samples: the published permutation with one bucket, fixed numbers of batches, buckets that never mix.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/feed/order.h"
#include "runtime/common/base/rng.h"

static struct order *order_of(const struct order_choice *choice)
{
    struct order *o = NULL;
    if (order_new(choice, &o) < 0) fail_msg("%s", error_text());
    return o;
}

// The permutation of older programs: runs of old records must be repeatable.
static void draw_as_ever(uint64_t seed, int32_t epoch, int64_t n, int32_t *order)
{
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        struct rng4 r = rng_draw(seed, RNG_ORDER, (uint32_t)epoch, (uint32_t)i, 0);
        int64_t j = rng_below(r.v[0], (uint32_t)(i + 1));
        int32_t swap = order[i];
        order[i] = order[j], order[j] = swap;
    }
}

TEST_WITH(one_bucket_is_the_permutation_of_old_runs, set_up, leave)
{
    enum { N = 5003, BATCH = 100 };
    int32_t want[N], lengths[N];
    for (int i = 0; i < N; i++) lengths[i] = i % 7;
    for (int with_lengths = 0; with_lengths < 2; with_lengths++) {
        struct order *o = order_of(&(struct order_choice){
            .count = N, .buckets = 1, .batch = {BATCH}, .limit = {10}, .lengths = with_lengths ? lengths : NULL});
        assert_int_equal(order_batches(o), N / BATCH);
        for (int32_t epoch = 0; epoch < 3; epoch++) {
            uint64_t seed = 0x123456789abcdefu + (uint64_t)epoch % 2;
            order_draw(o, seed, (uint32_t)epoch, 0);
            draw_as_ever(seed, epoch, N, want);
            assert_memory_equal(order_samples(o), want, sizeof want);
            for (int64_t b = 0; b < order_batches(o); b++) {
                struct order_batch batch = order_batch(o, b);
                assert_true(batch.first == b * BATCH && batch.count == BATCH && batch.bucket == 0);
            }
        }
        order_free(o);
    }
    // Two draws by hand, so that the loop above cannot drift together with the code: seed 1, epoch 2, three samples.
    struct order *o = order_of(&(struct order_choice){.count = 3, .buckets = 1, .batch = {1}});
    order_draw(o, 1, 2, 0);
    int32_t by_hand[3] = {0, 1, 2};
    int j = (int)rng_below(rng_philox(1, 2, 2, 2, 0).v[0], 3), swap = by_hand[2];
    by_hand[2] = by_hand[j], by_hand[j] = swap;
    j = (int)rng_below(rng_philox(1, 1, 2, 2, 0).v[0], 2), swap = by_hand[1];
    by_hand[1] = by_hand[j], by_hand[j] = swap;
    assert_memory_equal(order_samples(o), by_hand, sizeof by_hand);
    order_free(o);
}

TEST_WITH(the_last_batch_is_left_out_or_short, set_up, leave)
{
    struct order_choice choice = {.count = 25, .buckets = 1, .batch = {10}, .kind = ORDER_FILE};
    struct order *o = order_of(&choice);
    assert_int_equal(order_batches(o), 2);
    order_free(o);
    choice.short_batches = true;
    o = order_of(&choice);
    assert_int_equal(order_batches(o), 3);
    order_draw(o, 7, 3, 0);
    assert_true(order_batch(o, 2).first == 20 && order_batch(o, 2).count == 5);
    for (int i = 0; i < 25; i++) assert_int_equal(order_samples(o)[i], i);
    order_free(o);
    choice.count = 0;
    o = order_of(&choice);
    order_draw(o, 7, 3, 0);
    assert_int_equal(order_batches(o), 0);
    order_free(o);
}

enum { N = 1000, BUCKETS = 3 };
static const struct order_choice by_length = {
    .count = N, .buckets = BUCKETS, .limit = {10, 20, 64}, .batch = {32, 16, 8}};

static int bucket_of(int32_t length) { return length <= 10 ? 0 : length <= 20 ? 1 : 2; }

static void draw_lengths(int32_t lengths[N])
{
    for (int i = 0; i < N; i++) lengths[i] = (int32_t)rng_below(rng_draw(5, RNG_TEST, 0, (uint32_t)i, 0).v[0], 65);
}

static void check_epoch(const struct order *o, const int32_t lengths[N], bool all)
{
    int seen[N] = {0};
    int64_t visited = 0;
    for (int64_t b = 0; b < order_batches(o); b++) {
        struct order_batch batch = order_batch(o, b);
        if (!all) assert_int_equal(batch.count, by_length.batch[batch.bucket]);
        for (int64_t i = 0; i < batch.count; i++) {
            int32_t sample = order_samples(o)[batch.first + i];
            assert_int_equal(bucket_of(lengths[sample]), batch.bucket);
            assert_int_equal(seen[sample]++, 0);
            visited++;
        }
    }
    if (all) assert_int_equal(visited, N);
    else assert_true(visited > N - 32 - 16 - 8);
}

TEST_WITH(buckets_do_not_mix, set_up, leave)
{
    int32_t lengths[N], before[N];
    draw_lengths(lengths);
    struct order_choice choice = by_length;
    choice.lengths = lengths;
    struct order *o = order_of(&choice);
    int64_t batches = order_batches(o), inside[BUCKETS] = {0}, changes = 0;
    for (int i = 0; i < N; i++) inside[bucket_of(lengths[i])]++;
    assert_int_equal(batches, inside[0] / 32 + inside[1] / 16 + inside[2] / 8);
    for (uint32_t epoch = 0; epoch < 4; epoch++) {
        order_draw(o, 11, epoch, 0);
        assert_int_equal(order_batches(o), batches);
        check_epoch(o, lengths, false);
        if (epoch) assert_memory_not_equal(before, order_samples(o), sizeof before);
        memcpy(before, order_samples(o), sizeof before);
    }
    for (int64_t b = 1; b < batches; b++) changes += order_batch(o, b).bucket != order_batch(o, b - 1).bucket;
    assert_true(changes > 10);  // interleaved: about 24 of at most 28; bucket after bucket there would be 2

    // A function of seed and epoch alone: the same after other draws, and in an order of its own.
    struct order *other = order_of(&choice);
    order_draw(other, 11, 3, 0);
    assert_memory_equal(order_samples(other), order_samples(o), N * sizeof(int32_t));
    for (int64_t b = 0; b < batches; b++) {
        struct order_batch x = order_batch(o, b), y = order_batch(other, b);
        assert_memory_equal(&x, &y, offsetof(struct order_batch, bucket) + sizeof x.bucket);
    }
    order_draw(other, 12, 3, 0);
    order_draw_batches(o, 12, 3);  // the same batches without the samples
    for (int64_t b = 0; b < batches; b++) {
        struct order_batch x = order_batch(o, b), y = order_batch(other, b);
        assert_memory_equal(&x, &y, offsetof(struct order_batch, bucket) + sizeof x.bucket);
    }
    assert_memory_not_equal(order_samples(other), order_samples(o), N * sizeof(int32_t));
    order_free(other);
    order_free(o);

    choice.short_batches = true, choice.kind = ORDER_FILE;
    o = order_of(&choice);
    order_draw(o, 0, 0, 0);
    check_epoch(o, lengths, true);
    for (int64_t b = 1; b < order_batches(o); b++) assert_true(order_batch(o, b).bucket >= order_batch(o, b - 1).bucket);
    for (int i = 1; i < inside[0]; i++) assert_true(order_samples(o)[i] > order_samples(o)[i - 1]);
    order_free(o);
}

TEST_WITH(sizes_may_follow_the_epoch, set_up, leave)
{
    struct order_choice choice = {.count = 100, .buckets = 3, .batch = {10, 10, 10}};
    struct order *o = order_of(&choice);
    for (int bucket = 0; bucket < 3; bucket++) {
        order_draw(o, 1, (uint32_t)bucket, bucket);
        assert_int_equal(order_batches(o), 10);
        for (int64_t b = 0; b < 10; b++) assert_int_equal(order_batch(o, b).bucket, bucket);
    }
    order_free(o);
    choice.batch[1] = 20;
    assert_fails(order_new(&choice, &o), ERR_USAGE, "the number of batches would depend on the epoch");
}

TEST_WITH(wrong_choices_are_refused, set_up, leave)
{
    struct order *o;
    int32_t lengths[3] = {1, 2, 9};
    struct order_choice choice = {.count = 3, .lengths = lengths, .buckets = 2, .limit = {4, 8}, .batch = {1, 1}};
    assert_fails(order_new(&choice, &o), ERR_INPUT, "sample 2 is 9 long, and the last bucket ends at 8");
    assert_null(o);
    choice.limit[1] = 4;
    assert_fails(order_new(&choice, &o), ERR_USAGE, "must ascend");
    choice.batch[0] = 0;
    assert_fails(order_new(&choice, &o), ERR_USAGE, "a batch of 0 samples");
    choice.count = (int64_t)1 << 31;
    assert_fails(order_new(&choice, &o), ERR_USAGE, "at most");
}

static int64_t page_of(const int64_t *page, int64_t sample)
{
    int64_t p = 0;
    while (page[p + 1] <= sample) p++;
    return p;
}

// Each window holds the samples of its pages, all of them and mixed, and every page has its turn once.
TEST_WITH(pages_are_shuffled_in_windows, set_up, leave)
{
    enum { PAGES = 37, WINDOW = 8 };
    int64_t page[PAGES + 1];
    for (int p = 0; p <= PAGES; p++) page[p] = p * N / PAGES + (p > 0 && p < PAGES) * (p % 5);
    struct order_choice choice = {.count = N, .buckets = 1, .batch = {32}, .page = page, .pages = PAGES, .window = WINDOW};
    struct order *o = order_of(&choice);
    int32_t before[N] = {0};
    for (uint32_t epoch = 0; epoch < 4; epoch++) {
        order_draw(o, 5, epoch / 2 * 2, 0);  // 0, 0, 2, 2
        const int32_t *sample = order_samples(o);
        assert_int_equal(memcmp(sample, before, sizeof before) == 0, epoch % 2);
        memcpy(before, sample, sizeof before);
        bool seen[N] = {false}, turned[PAGES] = {false};
        int64_t at = 0, until = 0;
        for (int64_t i = 0; i < PAGES; i += WINDOW) {
            int64_t first = at, last = i + WINDOW < PAGES ? i + WINDOW : PAGES;
            bool inside[PAGES] = {false};
            for (int64_t k = i; k < last; k++) {
                struct order_batch samples = order_page(o, k);
                int64_t p = page_of(page, samples.first);
                assert_true(samples.first == page[p] && samples.count == page[p + 1] - page[p] && !turned[p]);
                turned[p] = inside[p] = true;
                at += samples.count;
            }
            assert_int_equal(order_window_begin(o, first), i);
            assert_int_equal(order_window_begin(o, at - 1), i);
            assert_int_equal(order_pages_until(o, first), last);
            int64_t moves = 0;
            for (int64_t k = first; k < at; k++) {
                assert_true(inside[page_of(page, sample[k])] && !seen[sample[k]]);
                seen[sample[k]] = true;
                moves += k > first && page_of(page, sample[k]) != page_of(page, sample[k - 1]);
                assert_true(order_pages_until(o, k) >= until);
                until = order_pages_until(o, k);
            }
            if (last - i == WINDOW) assert_true(moves > (at - first) / 2);
        }
        assert_true(at == N && order_pages_until(o, N) == PAGES);
    }
    order_free(o);
}

// All processes together take each batch of one process, in its order: as slices in training, whole in an evaluation.
TEST_WITH(processes_share_the_order_of_one, set_up, leave)
{
    enum { RANKS = 2, SLICES = 4, TAKEN = SLICES / RANKS };
    int32_t lengths[N];
    draw_lengths(lengths);
    struct order_choice whole = by_length, cut = by_length, shared = by_length;
    whole.lengths = cut.lengths = shared.lengths = lengths;
    shared.kind = ORDER_FILE, shared.short_batches = true;
    for (int b = 0; b < BUCKETS; b++) cut.batch[b] /= SLICES;
    struct order *one = order_of(&whole);
    order_draw(one, 3, 1, 0);
    for (int rank = 0; rank < RANKS; rank++) {
        cut.share = (struct order_share){.slices = SLICES, .first = rank * TAKEN, .taken = TAKEN};
        struct order *o = order_of(&cut);
        order_draw(o, 3, 1, 0);
        assert_memory_equal(order_samples(o), order_samples(one), N * sizeof(int32_t));
        assert_int_equal(order_batches(o), order_batches(one) * TAKEN);
        for (int64_t b = 0; b < order_batches(o); b++) {
            struct order_batch slice = order_batch(o, b), all = order_batch(one, b / TAKEN), of = order_whole_batch(o, b);
            assert_true(of.first == all.first && of.count == all.count && slice.bucket == all.bucket);
            assert_int_equal(slice.count, all.count / SLICES);
            assert_int_equal(slice.first, all.first + (rank * TAKEN + b % TAKEN) * slice.count);
        }
        order_free(o);
    }
    order_free(one);
    int64_t seen = 0, batches = 0;
    for (int rank = 0; rank < RANKS; rank++) {
        shared.share = (struct order_share){.every = RANKS, .at = rank};
        struct order *o = order_of(&shared);
        order_draw(o, 0, 0, 0);
        batches = order_all_batches(o);
        for (int64_t b = 0; b < order_batches(o); b++, seen++) {
            struct order_batch mine = order_batch(o, b), all = order_all_batch(o, b * RANKS + rank);
            assert_true(mine.first == all.first && mine.count == all.count && mine.bucket == all.bucket);
        }
        order_free(o);
    }
    assert_true(seen == batches && batches > 0);
    shared.count = 25, shared.buckets = 1, shared.lengths = NULL;  // one batch for four processes
    for (int rank = 0; rank < 4; rank++) {
        shared.share = (struct order_share){.every = 4, .at = rank};
        struct order *o = order_of(&shared);
        assert_int_equal(order_batches(o), rank == 0);
        order_free(o);
    }
}

// Row i of a batch goes on where it ended; processes and slices see the rows of the whole batch.
TEST_WITH(streams_go_on, set_up, leave)
{
    struct order_choice choice = {.count = 43, .buckets = 1, .batch = {4}, .kind = ORDER_STREAMS};
    struct order *o = order_of(&choice);
    assert_int_equal(order_batches(o), 10);
    for (uint32_t epoch = 0; epoch < 2; epoch++) {
        order_draw(o, 5, epoch, 0);
        for (int b = 0; b < 10; b++)
            for (int i = 0; i < 4; i++) assert_int_equal(order_samples(o)[order_batch(o, b).first + i], i * 10 + b);
    }
    choice.batch[0] = 2, choice.share = (struct order_share){.slices = 2, .first = 1, .taken = 1};
    struct order *half = order_of(&choice);
    order_draw(half, 5, 0, 0);
    for (int b = 0; b < 10; b++)
        for (int i = 0; i < 2; i++) assert_int_equal(order_samples(half)[order_batch(half, b).first + i], (2 + i) * 10 + b);
    order_free(o);
    order_free(half);
    choice.short_batches = true, choice.share = (struct order_share){0};
    assert_int_equal(order_new(&choice, &o), ERR_USAGE);
}

// The first epoch goes by length, the next ones are the shuffled ones of any other order.
TEST_WITH(the_first_epoch_may_be_sorted, set_up, leave)
{
    enum { SAMPLES = 200 };
    int32_t lengths[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) lengths[i] = (i * 37) % 50;
    for (int buckets = 1; buckets < 4; buckets++) {
        struct order_choice choice = {.count = SAMPLES, .lengths = lengths, .buckets = buckets, .batch = {10, 10, 10}};
        for (int b = 0; b < buckets; b++) choice.limit[b] = 50 * (b + 1) / buckets;
        struct order *shuffled = order_of(&choice);
        choice.kind = ORDER_SORTED_FIRST;
        struct order *o = order_of(&choice);
        order_draw(o, 3, 1, 0);
        order_draw(o, 3, 0, 0);  // independent of earlier draws
        for (int64_t b = 0, longest = 0; b < order_batches(o); b++)
            for (int64_t i = 0; i < order_batch(o, b).count; i++) {
                int32_t length = lengths[order_samples(o)[order_batch(o, b).first + i]];
                assert_true(length >= longest);
                longest = length;
            }
        order_draw(o, 3, 1, 0);
        order_draw(shuffled, 3, 1, 0);
        assert_memory_equal(order_samples(o), order_samples(shuffled), SAMPLES * sizeof(int32_t));
        for (int64_t b = 0; b < order_batches(o); b++)
            assert_int_equal(order_batch(o, b).first, order_batch(shuffled, b).first);
        order_free(o);
        order_free(shuffled);
    }
    struct order *none;
    const struct order_choice choice = {.count = SAMPLES, .buckets = 1, .batch = {10}, .kind = ORDER_SORTED_FIRST};
    assert_int_equal(order_new(&choice, &none), ERR_USAGE);
}

// A batch of a growing set is drawn from the samples so far; slices are pieces of the whole batch.
TEST_WITH(a_growing_set_is_drawn_from, set_up, leave)
{
    enum { ROWS = 64 };
    struct order_choice choice = {.count = 1000, .buckets = 1, .batch = {ROWS}, .kind = ORDER_GROWING};
    struct order *o = order_of(&choice);
    int32_t a[ROWS], b[ROWS], other[ROWS];
    bool seen[10] = {0};
    struct order_grown draw = {.seed = 1, .epoch = 2, .batch = 3, .count = 10};
    order_draw_grown(o, &draw, a);
    for (int i = 0; i < ROWS; i++) assert_in_range(a[i], 0, 9), seen[a[i]] = true;
    for (int i = 0; i < 10; i++) assert_true(seen[i]);
    order_draw_grown(o, &draw, b);
    assert_memory_equal(a, b, sizeof a);
    draw.batch = 4;
    order_draw_grown(o, &draw, other);
    assert_memory_not_equal(a, other, sizeof a);
    choice.batch[0] = ROWS / 4;
    for (int slice = 0; slice < 4; slice++) {
        choice.share = (struct order_share){.slices = 4, .first = slice, .taken = 1};
        struct order *part = order_of(&choice);
        draw.batch = 3;
        order_draw_grown(part, &draw, b);
        assert_memory_equal(a + slice * ROWS / 4, b, sizeof a / 4);
        order_free(part);
    }
    order_free(o);
}
