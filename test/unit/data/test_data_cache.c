// SPDX-License-Identifier: Apache-2.0
// Decoded pictures in memory, damaged ones among them, and a feed that decodes: the same bytes on any number of threads.
#include "data/feed/feed.h"
#include "data/image/cache.h"
#include "data/image/decoder.h"
#include "runtime/common/base/threads.h"
#include "test/unit/test.h"
#include "test/unit/data/fixture_pictures.h"

enum { SIDE = 24 };
static struct dataset *data;

static struct pictures *own(void)
{
    return data->own;
}

static void expect_words(const char *words)
{
    if (strstr(error_text(), words) == NULL) fail_msg("\"%s\" does not say \"%s\"", error_text(), words);
}

static struct cache *cache_of(const struct cache_choice *choice)
{
    struct cache *cache;
    if (cache_new(choice, &cache) < 0) fail_msg("%s", error_text());
    return cache;
}

static void draw_all(const struct cache *cache, char hex[DIGEST_HEX])
{
    static uint8_t into[PICTURES_COUNT][SIDE * SIDE * 3];
    struct scaler *scaler = scaler_new();
    for (int i = 0; i < PICTURES_COUNT; i++) {
        int width, height;
        cache_size(cache, i, &width, &height);
        struct area a = crop_random(7, 0, i, width, height, 0.3, 1);
        cache_draw(cache, scaler, i, &(struct scale_into){&a, i % 2, SIDE, SIDE, into[i]});
    }
    scaler_free(scaler);
    digest_bytes(into, sizeof into, hex);
}

SETUP(open_data)
{
    data = pictures_open();
    return 0;
}

SETUP(close_data)
{
    dataset_close(data);
    return 0;
}

TEST_WITH(bytes_are_those_that_were_foretold, open_data, close_data)
{
    int sides[] = {0, 45, 1000};
    for (int s = 0; s < 3; s++) {
        struct cache_choice choice = {.data = data, .split = SPLIT_TRAIN, .side = sides[s]};
        int64_t bytes, pixels = 0;
        assert_int_equal(cache_bytes(&choice, &bytes), 0);
        struct cache *cache = cache_of(&choice);
        for (int i = 0; i < PICTURES_COUNT; i++) {
            int width, height, w = own()->size[i][0], h = own()->size[i][1], shorter = w < h ? w : h;
            cache_size(cache, i, &width, &height);
            pixels += 3 * width * height;
            if (sides[s] != 45 || shorter <= 45) assert_true(width == w && height == h);
            else assert_true((width < height ? width : height) == 45 && abs(width * h - height * w) <= (w > h ? w : h));
        }
        assert_int_equal(bytes, pixels + SCALE_SLACK);
        cache_free(cache);
    }
}

TEST_WITH(threads_do_not_show, open_data, close_data)
{
    int before = threads_count();
    for (int side = 0; side < 60; side += 50) {
        struct cache_choice choice = {.data = data, .split = SPLIT_TRAIN, .side = side};
        char want[DIGEST_HEX], is[DIGEST_HEX];
        for (int threads = 1; threads <= 5; threads += 2) {
            threads_set(threads);
            struct cache *cache = cache_of(&choice);
            draw_all(cache, threads == 1 ? want : is);
            if (threads > 1) assert_string_equal(is, want);
            cache_free(cache);
        }
    }
    threads_set(before);
}

// Where libjpeg does not shrink, a sample out of the cache is the sample out of the file.
TEST_WITH(samples_are_those_of_the_files, open_data, close_data)
{
    struct cache_choice choice = {.data = data, .split = SPLIT_TRAIN};
    struct cache *cache = cache_of(&choice);
    struct decoder *decoder = decoder_new();
    struct scaler *scaler = scaler_new();
    for (int i = 0; i < PICTURES_COUNT; i++) {
        uint8_t file[64 * 64 * 3], kept[64 * 64 * 3];
        struct area a = crop_centre(own()->size[i][0], own()->size[i][1], 64, 64, 1.1);
        const struct jpeg_bytes *b = &own()->file[i];
        assert_int_equal(decoder_draw(decoder, "it", b->at, b->count, &(struct scale_into){&a, i % 2, 64, 64, file}), 0);
        cache_draw(cache, scaler, i, &(struct scale_into){&a, i % 2, 64, 64, kept});
        assert_memory_equal(file, kept, sizeof file);
    }
    scaler_free(scaler);
    decoder_free(decoder);
    cache_free(cache);
}

TEST_WITH(limits_hold, open_data, close_data)
{
    struct cache_choice choice = {.data = data, .split = SPLIT_TRAIN};
    struct cache *cache;
    int64_t bytes;
    assert_int_equal(cache_bytes(&choice, &bytes), 0);
    choice.limit = bytes - 1;
    assert_int_equal(cache_new(&choice, &cache), ERR_MEMORY);
    expect_words("is allowed");
    assert_null(cache);
    choice.limit = bytes;
    cache_free(cache_of(&choice));

    own()->size[5][0]++;
    choice.limit = 0;
    assert_int_equal(cache_new(&choice, &cache), ERR_INPUT);
    expect_words("sample 5 has");
    own()->size[5][0] = -1;
    assert_int_equal(cache_bytes(&choice, &bytes), ERR_INPUT);
    expect_words("sample 5");
}

// ---- damage

static void cut(int sample)
{
    own()->file[sample].count = own()->file[sample].count * 2 / 3;
}

static struct damage_report report_of(struct damage *damage)
{
    struct damage_report report;
    damage_report(damage, &report);
    return report;
}

TEST_WITH(damaged_pictures_are_counted, open_data, close_data)
{
    cut(31), cut(8), cut(62);
    for (int64_t limit = -1; limit < 4; limit++) {
        struct damage *damage = damage_new(PICTURES_COUNT, limit);
        struct cache_choice choice = {.data = data, .split = SPLIT_TRAIN, .damage = damage};
        struct cache *cache = NULL;
        assert_int_equal(cache_new(&choice, &cache), limit < 0 || limit >= 3 ? 0 : ERR_INPUT);
        if (cache == NULL) {
            expect_words("allowed: ");
            assert_true(report_of(damage).count > limit);
        } else {
            assert_int_equal(damage_note(damage, data, SPLIT_TRAIN, 31, "again"), 0);
            struct damage_report report = report_of(damage);
            assert_true(report.count == 3 && report.first == 8);
            assert_true(strncmp(report.words, "sample 8: ", 10) == 0 && strstr(report.words, "remature") != NULL);
            assert_true(damage_next(damage, 0) == 8 && damage_next(damage, 9) == 31 && damage_next(damage, 32) == 62);
            assert_int_equal(damage_next(damage, 63), -1);
        }
        cache_free(cache);
        damage_free(damage);
    }
}

TEST_WITH(uncounted_damage_fails, open_data, close_data)
{
    struct cache_choice choice = {.data = data, .split = SPLIT_TRAIN};
    struct cache *cache;
    cut(31);
    assert_int_equal(cache_new(&choice, &cache), ERR_INPUT);
    expect_words("pictures, train sample 31 is damaged: Premature");
}

// A process that goes on knows what the one before it found; the limit counts from there.
TEST_WITH(damage_is_restored, open_data, close_data)
{
    struct damage *damage = damage_new(20, 2);
    assert_true(report_of(damage).count == 0 && report_of(damage).first == -1);
    assert_int_equal(damage_next(damage, 0), -1);
    damage_restore(damage, 17);
    damage_restore(damage, 17);
    damage_restore(damage, 20);  // no sample
    damage_restore(damage, -1);
    assert_true(report_of(damage).count == 1 && report_of(damage).first == 17);
    assert_string_equal(report_of(damage).words, "");
    assert_int_equal(damage_note(damage, data, SPLIT_TRAIN, 17, "cut off"), 0);  // it is met again
    assert_string_equal(report_of(damage).words, "sample 17: cut off");
    assert_int_equal(damage_note(damage, data, SPLIT_TRAIN, 19, "gray"), 0);
    assert_string_equal(report_of(damage).words, "sample 17: cut off");
    assert_int_equal(damage_check(damage), 0);
    assert_int_equal(damage_note(damage, data, SPLIT_TRAIN, 0, "bad\033[2J"), ERR_INPUT);
    expect_words("sample 0: bad?[2J; damaged pictures so far: 3, allowed: 2 (data.damaged)");
    assert_true(report_of(damage).first == 0 && damage_next(damage, 1) == 17);
    assert_int_equal(damage_check(damage), ERR_INPUT);
    expect_words("damaged pictures of all processes: 3, allowed: 2 (data.damaged)");
    damage_free(damage);
}

TEST_WITH(undecodable_ones_are_named, open_data, close_data)
{
    own()->file[40].at[0] = 0;
    own()->file[64].at[0] = 0;
    struct cache_choice choice = {.data = data, .split = SPLIT_TEST};
    struct cache *cache;
    assert_int_equal(cache_new(&choice, &cache), ERR_INPUT);
    expect_words("pictures, test sample 40 is neither a PNG nor a JPEG");
}

// ---- a feed that decodes

static int fill(void *context, const struct feed_item *item, void *const field[])
{
    int64_t n;
    int width, height;
    uint8_t *bytes = decoder_buffer(item->worker, PICTURES_ROOM);
    TRY(dataset_item(context, item->split, "jpeg", item->index, bytes, PICTURES_ROOM, &n));
    TRY(decoder_size(item->worker, "it", bytes, (size_t)n, &width, &height));
    struct area a = crop_random(item->seed, item->epoch, item->index, width, height, 0.08, 1);
    return decoder_draw(item->worker, "it", bytes, (size_t)n,
                        &(struct scale_into){&a, crop_mirror(item->seed, item->epoch, item->index), SIDE, SIDE, field[0]});
}

static void *worker_new(void *context)
{
    (void)context;
    return decoder_new();
}

static void worker_free(void *worker)
{
    decoder_free(worker);
}

static struct feed_choice feed_choice_of(int threads)
{
    return (struct feed_choice){.data = data, .split = SPLIT_TRAIN, .order = {.buckets = 1, .batch = {16}, .short_batches = true},
                                .fields = 1, .field = {{"images", U8, {SHAPE(SIDE, SIDE, 3)}, 0}}, .fill = fill,
                                .context = data, .worker_new = worker_new, .worker_free = worker_free, .threads = threads};
}

static struct feed *feed_of(const struct feed_choice *choice)
{
    struct feed *feed;
    if (feed_new(choice, &feed) < 0) fail_msg("%s", error_text());
    return feed;
}

static void drain(struct feed *feed, char chain[2][DIGEST_HEX])
{
    for (struct feed_batch batch;;) {
        if (feed_take(feed, &batch) < 0) fail_msg("%s", error_text());
        if (batch.count == 0) break;
        digest_bytes(batch.field[0], batch.bytes[0], chain[1]);
        feed_give_back(feed, &batch);
        digest_bytes(chain, 2 * DIGEST_HEX, chain[0]);
    }
}

// From the middle of an epoch on, the batches equal the whole epoch's.
static void expect_seeks(struct feed *feed)
{
    char whole[8][DIGEST_HEX];
    for (int64_t from = 0; from < feed_batches(feed); from += 2) {
        struct feed_batch batch;
        assert_int_equal(feed_seek(feed, 3, 1, from), 0);
        for (int64_t b = from; feed_take(feed, &batch) == 0 && batch.count > 0; b++) {
            char hex[DIGEST_HEX];
            digest_bytes(batch.field[0], batch.bytes[0], hex);
            if (from == 0) memcpy(whole[b], hex, sizeof hex);
            assert_string_equal(hex, whole[b]);
            feed_give_back(feed, &batch);
        }
    }
}

TEST_WITH(a_feed_decodes_the_same_on_any_threads, open_data, close_data)
{
    for (int64_t window = 0; window < 10; window += 4) {
        char want[DIGEST_HEX] = "";
        own()->larger = 2000;
        for (int threads = 1; threads <= 4; threads++) {
            struct feed_choice choice = feed_choice_of(threads);
            choice.stored = "jpeg", choice.window = window;
            struct feed *feed = feed_of(&choice);
            char chain[2][DIGEST_HEX] = {"", ""};
            for (uint32_t epoch = 0; epoch < 2; epoch++) {
                assert_int_equal(feed_begin(feed, 3, epoch), 0);
                drain(feed, chain);
            }
            if (threads == 1) memcpy(want, chain[0], sizeof want);
            assert_string_equal(chain[0], want);
            expect_seeks(feed);
            feed_free(feed);
        }
    }
}

// Each sample is requested once per epoch, in pages or one by one; from the middle of an epoch on, no page of a window that is
// begun is left out.
TEST_WITH(what_will_be_read_is_wanted, open_data, close_data)
{
    own()->larger = 2000;
    for (int64_t window = 0; window < 5; window += 2) {
        struct feed_choice choice = feed_choice_of(3);
        choice.stored = "jpeg", choice.window = window;
        struct feed *feed = feed_of(&choice);
        for (int epoch = 0; epoch < 3; epoch++) {
            char chain[2][DIGEST_HEX] = {"", ""};
            assert_int_equal(feed_begin(feed, 1, (uint32_t)epoch), 0);
            drain(feed, chain);
            for (int i = 0; i < PICTURES_COUNT; i++) assert_int_equal(own()->wanted[i], epoch + 1);
        }
        feed_free(feed);
        for (int i = 0; i < PICTURES_COUNT; i++) own()->wanted[i] = 0;

        feed = feed_of(&choice);
        struct feed_batch batch;
        assert_int_equal(feed_seek(feed, 1, 0, 2), 0);
        while (feed_take(feed, &batch) == 0 && batch.count > 0) feed_give_back(feed, &batch);
        int64_t wanted = 0;
        for (int i = 0; i < PICTURES_COUNT; i++) {
            assert_true(own()->wanted[i] <= 1);
            wanted += own()->wanted[i];
            own()->wanted[i] = 0;
        }
        assert_true(wanted >= PICTURES_COUNT - 2 * 16);
        feed_free(feed);
    }
}
