// SPDX-License-Identifier: Apache-2.0
// The streamed feed: the same bytes with any threads and any ring, in order, from anywhere, and a sentence for every
// sample that is wrong. make check-threads runs this under ThreadSanitizer.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "data/feed/feed.h"
#include "runtime/common/base/rng.h"
#include "test/unit/data/fixture_text.h"

enum { COUNT = 230, BATCH = 16, WIDTH = 24, MOST = 64 };

// Does the work of a task: a crop that depends on the seed, into one field, and the label into another.
struct task {
    struct dataset *data;
    _Atomic int64_t filled;
    bool sleeps;
    _Atomic int64_t bad_index, bad_index_2;  // fails at these samples
    int64_t bad_label;    // writes a wrong label for this one
    pthread_barrier_t *barrier;
};

static void nap(const struct feed_item *item)
{
    uint32_t draw = rng_draw(item->seed ^ (uint64_t)clock(), RNG_TEST, item->epoch, (uint32_t)item->index, 0).v[0];
    struct timespec t = {0, (long)(draw % 200) * 1000};
    if (draw & 1024) nanosleep(&t, NULL);
}

static int fill(void *context, const struct feed_item *item, void *const field[])
{
    struct task *task = context;
    atomic_fetch_add(&task->filled, 1);
    if (task->sleeps) nap(item);
    if (item->index == task->bad_index || item->index == task->bad_index_2)
        return fail(ERR_INPUT, "part.%d is no JPEG", (int)item->index);
    memset(item->worker, 0x5a, 100);
    uint8_t *pixels = field[0];
    for (int i = 0; i < WIDTH - (int)item->index % 3; i += (int)sizeof(struct rng4)) {  // the rest of a row stays zero
        struct rng4 r = rng_draw(item->seed, RNG_CROP, item->epoch, (uint32_t)item->index, (uint32_t)i);
        memcpy(pixels + i, &r, WIDTH - i < (int)sizeof r ? (size_t)(WIDTH - i) : sizeof r);
    }
    int32_t label = item->index == task->bad_label ? 10 : (int32_t)(item->index % 10);
    memcpy(field[1], &label, sizeof label);
    int64_t row = item->row;
    memcpy(field[2], &row, sizeof(int32_t));
    return 0;
}

static void *worker_new(void *context)
{
    assert_non_null(context);
    return malloc(100);
}

static struct task task_of(struct dataset *data)
{
    return (struct task){.data = data, .bad_index = -1, .bad_index_2 = -1, .bad_label = -1};
}

static struct feed_choice choice_of(struct task *task, int threads, int depth)
{
    return (struct feed_choice){
        .data = task->data, .split = SPLIT_TRAIN, .order = {.buckets = 1, .batch = {BATCH}}, .fields = 3,
        .field = {{"pixels", U8, {SHAPE(WIDTH)}, 0}, {"labels", I32, {{0}}, 10}, {"place", I32, {{0}}, 0}},
        .fill = fill, .context = task, .worker_new = worker_new, .worker_free = free, .threads = threads, .depth = depth};
}

static struct feed *feed_of(const struct feed_choice *choice)
{
    struct feed *f = NULL;
    if (feed_new(choice, &f) < 0) fail_msg("%s", error_text());
    return f;
}

static void take(struct feed *f, struct feed_batch *batch)
{
    if (feed_take(f, batch) < 0) fail_msg("%s", error_text());
}

// A digest of all batches to the end of the epoch, their numbers and their places.
static int64_t drain(struct feed *f, int fields, char hex[DIGEST_HEX])
{
    struct text { char at[DIGEST_HEX]; } chain = {""};
    struct feed_batch batch;
    int64_t batches = 0;
    for (take(f, &batch); batch.count > 0; take(f, &batch)) {
        char digests[FEED_FIELDS + 2][DIGEST_HEX] = {{0}};
        memcpy(digests[FEED_FIELDS], chain.at, DIGEST_HEX);
        snprintf(digests[FEED_FIELDS + 1], DIGEST_HEX, "%d %d %d %d", (int)batch.number, (int)batch.epoch, (int)batch.count,
                 batch.bucket);
        for (int i = 0; i < fields; i++) digest_bytes(batch.field[i], batch.bytes[i], digests[i]);
        digest_bytes(digests, sizeof digests, chain.at);
        feed_give_back(f, &batch);
        batches++;
    }
    memcpy(hex, chain.at, DIGEST_HEX);
    return batches;
}

TEST_WITH(bytes_hang_on_seed_and_epoch_alone, set_up, leave)
{
    struct dataset *data = text_set(COUNT, 7);
    struct task task = task_of(data);
    char want[3][DIGEST_HEX], got[DIGEST_HEX];
    for (int threads = 1; threads <= 8; threads++) {
        for (int depth = 1; depth <= 4; depth++) {
            task.sleeps = threads % 2 == 0;
            struct feed_choice choice = choice_of(&task, threads, depth);
            choice.order.short_batches = true;
            choice.epochs = depth % 2 ? 3 : 0;
            struct feed *f = feed_of(&choice);
            for (uint32_t epoch = 0; epoch < 3; epoch++) {
                assert_int_equal(feed_begin(f, 42, epoch), 0);
                assert_int_equal(drain(f, 3, got), (COUNT + BATCH - 1) / BATCH);
                if (threads == 1 && depth == 1) memcpy(want[epoch], got, DIGEST_HEX);
                assert_string_equal(got, want[epoch]);
            }
            feed_free(f);
        }
    }
    assert_string_not_equal(want[0], want[1]);
    struct feed_choice choice = choice_of(&task, 2, 2);
    choice.order.short_batches = true;
    struct feed *f = feed_of(&choice);
    assert_int_equal(feed_begin(f, 43, 0), 0);
    drain(f, 3, got);
    assert_string_not_equal(got, want[0]);
    feed_free(f);
    dataset_close(data);
}

TEST_WITH(batches_hold_what_the_order_says, set_up, leave)
{
    struct dataset *data = text_set(COUNT, 7);
    struct task task = task_of(data);
    struct feed_choice choice = choice_of(&task, 3, 2);
    choice.order.short_batches = true;
    struct feed *f = feed_of(&choice);
    choice.order.count = COUNT;
    struct order *order;
    assert_int_equal(order_new(&choice.order, &order), 0);
    order_draw(order, 9, 5, 0);
    assert_int_equal(feed_batches(f), 15);
    assert_int_equal(feed_begin(f, 9, 5), 0);
    struct feed_batch batch;
    for (int b = 0; b < 15; b++) {
        take(f, &batch);
        assert_true(batch.number == b && batch.epoch == 5 && batch.bucket == 0);
        assert_int_equal(batch.count, b < 14 ? BATCH : COUNT % BATCH);
        assert_int_equal(batch.bytes[0], BATCH * WIDTH);
        const int32_t *labels = batch.field[1], *places = batch.field[2];
        for (int i = 0; i < BATCH; i++) {
            int32_t index = i < batch.count ? order_samples(order)[b * BATCH + i] : 0;
            assert_int_equal(labels[i], index % 10);
            assert_int_equal(places[i], i < batch.count ? i : 0);
        }
        feed_give_back(f, &batch);
    }
    take(f, &batch);
    assert_int_equal(batch.count, 0);  // the end, as often as one asks
    take(f, &batch);
    assert_int_equal(batch.count, 0);
    assert_true(feed_stalled_ns(f) > 0);
    feed_free(f);
    order_free(order);
    dataset_close(data);
}

TEST_WITH(any_batch_can_be_the_next, set_up, leave)
{
    struct dataset *data = text_set(COUNT, 7);
    struct task task = task_of(data);
    task.sleeps = true;
    struct feed_choice choice = choice_of(&task, 4, 3);
    struct feed *f = feed_of(&choice);
    uint8_t *want = calloc(14, BATCH * WIDTH);
    struct feed_batch batch;
    assert_int_equal(feed_begin(f, 1, 2), 0);
    for (int b = 0; b < 14; b++) {
        take(f, &batch);
        memcpy(want + b * BATCH * WIDTH, batch.field[0], BATCH * WIDTH);
        feed_give_back(f, &batch);
    }
    static const int from[] = {13, 5, 0, 6, 14, 6};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        assert_int_equal(feed_seek(f, 1, 2, from[i]), 0);
        for (int b = from[i]; b < from[i] + 3 && b < 14; b++) {
            take(f, &batch);
            assert_int_equal(batch.number, b);
            assert_memory_equal(batch.field[0], want + b * BATCH * WIDTH, BATCH * WIDTH);
            if (b < from[i] + 2) feed_give_back(f, &batch);  // one is out when everything is thrown away
        }
    }
    assert_int_equal(feed_begin(f, 2, 2), 0);  // another run
    feed_give_back(f, &batch);  // of before: nothing happens
    take(f, &batch);
    assert_memory_not_equal(batch.field[0], want, BATCH * WIDTH);
    assert_fails(feed_seek(f, 1, 2, 15), ERR_USAGE, "an epoch has 14 batches");
    feed_free(f);
    free(want);
    dataset_close(data);
}

TEST_WITH(the_next_epoch_is_begun_before_it_is_asked_for, set_up, leave)
{
    struct dataset *data = text_set(COUNT, 7);
    struct task task = task_of(data);
    struct feed_choice choice = choice_of(&task, 2, 3);
    choice.epochs = 2;
    char hex[DIGEST_HEX];
    struct feed *f = feed_of(&choice);
    assert_int_equal(feed_begin(f, 1, 0), 0);
    drain(f, 3, hex);
    for (int i = 0; i < 2000 && atomic_load(&task.filled) < 14 * BATCH + 3 * BATCH; i++)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    assert_int_equal(atomic_load(&task.filled), 14 * BATCH + 3 * BATCH);  // the ring is full of epoch 1
    assert_int_equal(feed_begin(f, 1, 1), 0);
    drain(f, 3, hex);
    assert_int_equal(atomic_load(&task.filled), 2 * 14 * BATCH);  // nothing was made twice, and nothing of an epoch 2
    feed_free(f);
    dataset_close(data);
}

TEST_WITH(a_bad_sample_is_named, set_up, leave)
{
    struct dataset *data = text_set(COUNT, 7);
    struct task task = task_of(data);
    struct feed_choice choice = choice_of(&task, 4, 3);
    choice.order.kind = ORDER_FILE;
    struct feed_batch batch;
    for (int threads = 1; threads <= 8; threads++) {
        choice.threads = threads;
        task.sleeps = threads > 1;
        task.bad_index = 3 * BATCH + 9;
        task.bad_index_2 = 3 * BATCH + 2;  // the first of the two, on any thread
        struct feed *f = feed_of(&choice);
        assert_int_equal(feed_begin(f, 1, 0), 0);
        for (int b = 0; b < 3; b++) {
            take(f, &batch);
            feed_give_back(f, &batch);
        }
        assert_fails(feed_take(f, &batch), ERR_INPUT, "text, train sample 50: part.50 is no JPEG");
        assert_fails(feed_take(f, &batch), ERR_INPUT, "text, train sample 50: part.50 is no JPEG");
        assert_int_equal(batch.count, 0);
        task.bad_index = -1;
        task.bad_index_2 = -1;
        assert_int_equal(feed_seek(f, 1, 0, 3), 0);  // what failed is asked again
        take(f, &batch);
        feed_free(f);
    }
    task.bad_label = 20;  // no feed is there that reads it
    struct feed *f = feed_of(&choice);
    assert_int_equal(feed_begin(f, 1, 0), 0);
    take(f, &batch);
    assert_fails(feed_take(f, &batch), ERR_INPUT, "text, train sample 20: labels is 10, and there are only 0 to 9");
    feed_free(f);
    dataset_close(data);
}

TEST_WITH(a_feed_ends_at_any_time, set_up, leave)
{
    struct dataset *data = text_set(COUNT, 7);
    struct task task = task_of(data);
    task.sleeps = true;
    struct feed_choice choice = choice_of(&task, 4, 2);
    for (int taken = -1; taken < 3; taken++) {
        struct feed *f = feed_of(&choice);
        struct feed_batch batch;
        if (taken >= 0) assert_int_equal(feed_begin(f, 1, 0), 0);
        for (int b = 0; b < taken; b++) take(f, &batch);
        feed_free(f);
    }
    feed_free(NULL);
    choice.order.batch[0] = COUNT + 1;  // no whole batch at all
    struct feed *f = feed_of(&choice);
    struct feed_batch batch;
    assert_int_equal(feed_batches(f), 0);
    assert_int_equal(feed_begin(f, 1, 0), 0);
    take(f, &batch);
    assert_int_equal(batch.count, 0);
    feed_free(f);
    dataset_close(data);
}

// ---- fields of different lengths, without a callback

static struct feed_choice text_choice(struct dataset *data, const int32_t *lengths)
{
    return (struct feed_choice){
        .data = data, .split = SPLIT_TRAIN, .threads = 3, .fields = 4,
        .order = {.lengths = lengths, .buckets = 3, .limit = {10, 20, TEXT_LONGEST}, .batch = {16, 8, 4},
                  .short_batches = true},
        .field = {{"tokens.length", I32, {{0}, {0}, {0}}, TEXT_LONGEST + 1},
                  {"tokens", I32, {SHAPE(10), SHAPE(20), SHAPE(TEXT_LONGEST)}, TEXT_TOKENS},
                  {"start", I32, {{0}, {0}, {0}}, TEXT_LONGEST}, {"row", F32, {SHAPE(6), SHAPE(6), SHAPE(6)}, 0}}};
}

TEST_WITH(ragged_fields_are_padded, set_up, leave)
{
    struct dataset *data = text_set(COUNT, 7);
    int32_t lengths[COUNT], tokens[TEXT_LONGEST], start;
    assert_int_equal(dataset_lengths(data, SPLIT_TRAIN, "tokens", lengths), 0);
    struct feed_choice choice = text_choice(data, lengths);
    struct feed *f = feed_of(&choice);
    struct order *order;
    choice.order.count = COUNT;
    assert_int_equal(order_new(&choice.order, &order), 0);
    order_draw(order, 3, 1, 0);
    assert_int_equal(feed_begin(f, 3, 1), 0);
    struct feed_batch batch;
    int64_t samples = 0;
    for (take(f, &batch); batch.count > 0; take(f, &batch)) {
        int64_t capacity = choice.order.limit[batch.bucket];
        assert_int_equal(batch.bytes[1], choice.order.batch[batch.bucket] * capacity * 4);
        for (int64_t i = 0; i < batch.count; i++, samples++) {
            int32_t index = order_samples(order)[order_batch(order, batch.number).first + i];
            int64_t length;
            const int32_t *fed = (const int32_t *)batch.field[1] + i * capacity;
            assert_int_equal(dataset_item(data, SPLIT_TRAIN, "tokens", index, tokens, sizeof tokens, &length), 0);
            assert_int_equal(((const int32_t *)batch.field[0])[i], length);
            assert_memory_equal(fed, tokens, (size_t)length * sizeof *fed);
            for (int64_t t = length; t < capacity; t++) assert_int_equal(fed[t], 0);
            assert_int_equal(dataset_item(data, SPLIT_TRAIN, "start", index, &start, sizeof start, NULL), 0);
            assert_int_equal(((const int32_t *)batch.field[2])[i], start);
        }
        feed_give_back(f, &batch);
    }
    assert_int_equal(samples, COUNT);
    feed_free(f);
    order_free(order);
    dataset_close(data);
}

TEST_WITH(fields_must_fit, set_up, leave)
{
    struct dataset *data = text_set(COUNT, 7);
    int32_t lengths[COUNT];
    assert_int_equal(dataset_lengths(data, SPLIT_TRAIN, "tokens", lengths), 0);
    const struct feed_choice good = text_choice(data, lengths);
    struct feed_choice bad = good;
    struct feed *f;
    bad.field[3].name = "column";
    assert_fails(feed_new(&bad, &f), ERR_USAGE, "text has no field \"column\"");
    bad = good, bad.field[3].dtype = I32;
    assert_fails(feed_new(&bad, &f), ERR_USAGE, "\"row\" of text is f32, not i32");
    bad = good, bad.field[3].shape[1] = SHAPE(5);
    assert_fails(feed_new(&bad, &f), ERR_USAGE, "has 24 bytes, and a sample of the batch holds 20");
    bad = good, bad.field[1].name = "start", bad.field[1].shape[0] = bad.field[1].shape[1] = bad.field[1].shape[2] = SHAPE(1);
    assert_fails(feed_new(&bad, &f), ERR_USAGE, "\"tokens.length\" is fed without \"tokens\" itself");
    bad = good, bad.order.limit[2] = 39;
    assert_fails(feed_new(&bad, &f), ERR_INPUT, "is 40 long, and the last bucket ends at 39");
    bad = good, bad.field[1].shape[0] = SHAPE(9);
    assert_int_equal(feed_new(&bad, &f), 0);
    struct feed_batch batch;
    int rc = feed_begin(f, 1, 0);
    while (rc == 0 && (rc = feed_take(f, &batch)) == 0 && batch.count > 0) feed_give_back(f, &batch);
    assert_fails(rc, ERR_USAGE, "has 40 bytes, and the buffer holds 36");
    feed_free(f);
    dataset_close(data);
}

static int size_of_epoch(void *context, uint32_t epoch)
{
    (void)context;
    return epoch < 2 ? 0 : 1;
}

TEST_WITH(sizes_may_follow_the_epoch, set_up, leave)
{
    struct dataset *data = text_set(COUNT, 7);
    struct task task = task_of(data);
    struct feed_choice choice = choice_of(&task, 2, 2);
    choice.order.buckets = 2, choice.order.batch[1] = BATCH;
    choice.field[0].shape[1] = SHAPE(2 * WIDTH);
    choice.bucket_of_epoch = size_of_epoch;
    choice.epochs = 4;
    struct feed *f = feed_of(&choice);
    for (uint32_t epoch = 0; epoch < 4; epoch++) {
        struct feed_batch batch;
        assert_int_equal(feed_begin(f, 1, epoch), 0);
        for (take(f, &batch); batch.count > 0; take(f, &batch)) {
            assert_int_equal(batch.bucket, epoch >= 2);
            assert_int_equal(batch.bytes[0], (epoch < 2 ? 1 : 2) * BATCH * WIDTH);
            feed_give_back(f, &batch);
        }
    }
    feed_free(f);
    dataset_close(data);
}

// ---- memory and threads

struct memory {
    int blocks;
    bool fails;
};

static int counted_alloc(void *memory, size_t bytes, void **into)
{
    struct memory *m = memory;
    if (m->fails && m->blocks == 4) return fail(ERR_MEMORY, "no more pinned memory");
    m->blocks++;
    *into = calloc(1, bytes);
    return 0;
}

static void counted_free(void *memory, void *at)
{
    ((struct memory *)memory)->blocks--;
    free(at);
}

TEST_WITH(memory_is_the_devices, set_up, leave)
{
    struct dataset *data = text_set(COUNT, 7);
    struct task task = task_of(data);
    struct memory memory = {0};
    struct feed_choice choice = choice_of(&task, 2, 3);
    choice.alloc = counted_alloc, choice.free = counted_free, choice.memory = &memory;
    struct feed *f = feed_of(&choice);
    assert_int_equal(memory.blocks, 9);
    feed_free(f);
    assert_int_equal(memory.blocks, 0);
    memory.fails = true;
    assert_fails(feed_new(&choice, &f), ERR_MEMORY, "no more pinned memory");
    assert_int_equal(memory.blocks, 0);
    dataset_close(data);
}

static int meet(void *context, const struct feed_item *item, void *const field[])
{
    struct task *task = context;
    pthread_barrier_wait(task->barrier);  // returns only if as many threads fill at once
    return fill(context, item, field);
}

TEST_WITH(threads_fill_at_the_same_time, set_up, leave)
{
    enum { THREADS = 4 };
    struct dataset *data = text_set(COUNT, 7);
    struct task task = task_of(data);
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, THREADS);
    task.barrier = &barrier;
    struct feed_choice choice = choice_of(&task, THREADS, 2);
    choice.fill = meet;
    char hex[DIGEST_HEX];
    struct feed *f = feed_of(&choice);
    assert_int_equal(feed_begin(f, 1, 0), 0);
    assert_int_equal(drain(f, 3, hex), 14);
    feed_free(f);
    pthread_barrier_destroy(&barrier);
    assert_true(feed_threads(1) >= 1 && feed_threads(100000) >= 1);
    assert_true(feed_threads(100000) <= feed_threads(1));
    dataset_close(data);
}
