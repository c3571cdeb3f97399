// SPDX-License-Identifier: Apache-2.0
// Errors, memory, clock, random numbers, threads, build facts and embedded files.
#include "runtime/common/base/arena.h"
#include "runtime/common/base/build.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/embed.h"
#include "runtime/common/base/error.h"
#include "runtime/common/base/rng.h"
#include "runtime/common/base/threads.h"
#include "test/unit/test.h"

#include <errno.h>
#include <time.h>

TEST(test_error_sentence)
{
    assert_int_equal(fail(ERR_INPUT, "record %d of %s", 7, "a.bin"), ERR_INPUT);
    assert_string_equal(error_text(), "record 7 of a.bin");
    assert_int_equal(fail(ERR_INPUT, "%s", "a\033]0;b\007\nc\xc2\x9b d\xc3\xa9"), ERR_INPUT);  // it cannot steer a terminal
    assert_string_equal(error_text(), "a?]0;b? c?? d\xc3\xa9");
    // Bytes that are not UTF-8: alone, cut, too long, a surrogate; a record could not hold them.
    assert_int_equal(fail(ERR_INPUT, "%s", "\xff \xc0\xaf \xed\xa0\x80 \xf0\x9f\x98\x80 \xe2\x82"), ERR_INPUT);
    assert_string_equal(error_text(), "? ?? ??? \xf0\x9f\x98\x80 ??");
    assert_int_equal(fail(ERR_INPUT, "record %d of %s", 7, "a.bin"), ERR_INPUT);
    assert_int_equal(fail(ERR_USAGE, "--x: %s", error_text()), ERR_USAGE);  // its own text as an argument
    assert_string_equal(error_text(), "--x: record 7 of a.bin");
    assert_int_equal(fail_prefix(ERR_INPUT, "%s, again: ", "y"), ERR_INPUT);
    assert_string_equal(error_text(), "y, again: --x: record 7 of a.bin");
    assert_int_equal(fail_errno(ERR_IO, ENOENT, "cannot open %s", "b"), ERR_IO);
    assert_string_equal(error_text(), "cannot open b: No such file or directory");
}

TEST(test_error_long_sentence)
{
    char *words = zalloc(5000);
    memset(words, 'a', 4999);
    assert_int_equal(fail_errno(ERR_IO, EIO, "%s", words), ERR_IO);
    assert_int_equal(strlen(error_text()), ERROR_TEXT_MAX - 1);
    assert_int_equal(fail(ERR_IO, "%s", error_text()), ERR_IO);
    assert_int_equal(strlen(error_text()), ERROR_TEXT_MAX - 1);
    assert_int_equal(fail_prefix(ERR_IO, "%s", words), ERR_IO);
    assert_int_equal(fail_prefix(ERR_IO, "b"), ERR_IO);
    assert_int_equal(strlen(error_text()), ERROR_TEXT_MAX - 1);
    free(words);
}

TEST(test_error_exit_codes)
{
    assert_int_equal(error_exit_code(0), 0);
    assert_int_equal(error_exit_code(1), 0);  // OPTIONS_HELPED
    assert_int_equal(error_exit_code(ERR_USAGE), 2);
    assert_int_equal(error_exit_code(ERR_INPUT), 1);
    assert_int_equal(error_exit_code(ERR_TARGET), 3);
    assert_int_equal(error_exit_code(ERR_INTERRUPTED), 130);
    assert_int_equal(error_exit_code(-999), 1);
}

TEST(test_arena)
{
    struct arena arena = {0};
    unsigned char *at[300];
    for (int i = 0; i < 300; i++) {
        size_t bytes = (size_t)(i * 37 % 9000);
        at[i] = arena_alloc(&arena, bytes);
        assert_non_null(at[i]);
        assert_int_equal((uintptr_t)at[i] % _Alignof(max_align_t), 0);
        for (size_t b = 0; b < bytes; b++) assert_int_equal(at[i][b], 0);
        memset(at[i], i % 255 + 1, bytes);
    }
    for (int i = 0; i < 300; i++) {  // no two overlap
        size_t bytes = (size_t)(i * 37 % 9000);
        for (size_t b = 0; b < bytes; b++) assert_int_equal(at[i][b], i % 255 + 1);
    }
    assert_non_null(arena_alloc(&arena, 5 << 20));
    assert_string_equal(arena_text(&arena, "%s-%d", "layer", 12), "layer-12");
    arena_free(&arena);
    assert_null(arena.blocks);
    assert_string_equal(arena_text(&arena, "again"), "again");  // and it can be used again
    arena_free(&arena);
}

TEST(test_heap)
{
    char *at = zalloc(100);
    for (int i = 0; i < 100; i++) assert_int_equal(at[i], 0);
    strcpy(at, "abc");
    at = grow(at, 100000);
    assert_string_equal(at, "abc");
    char *copy = copy_text(at);
    assert_ptr_not_equal(copy, at);
    assert_string_equal(copy, "abc");
    free(copy);
    free(at);
    free(zalloc(0));
}

TEST(test_clock)
{
    int64_t start = clock_process_start_ns(), first = clock_ns();
    assert_true(start <= first);
    assert_true(first - start < (int64_t)600 * 1000000000);
    assert_int_equal(start, clock_process_start_ns());
    struct timespec wait = {0, 20000000};
    nanosleep(&wait, NULL);
    int64_t passed = clock_ns() - first;
    assert_true(passed >= 20000000 && passed < (int64_t)60 * 1000000000);
    assert_true(clock_unix_ms() / 1000 - (int64_t)time(NULL) <= 1);
    assert_true((int64_t)time(NULL) - clock_unix_ms() / 1000 <= 1);
}

// The known answers that Random123 publishes for philox4x32-10.
TEST(test_rng_known_answers)
{
    static const struct {
        uint64_t key;
        uint32_t counter[4], answer[4];
    } known[] = {
        {0, {0, 0, 0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {UINT64_MAX,
         {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {0x299f31d0a4093822,  // digits of pi
         {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uint32_t *c = known[i].counter;
        struct rng4 r = rng_philox(known[i].key, c[0], c[1], c[2], c[3]);
        assert_memory_equal(r.v, known[i].answer, sizeof r.v);
    }
}

TEST(test_rng_ranges)
{
    assert_true(rng_unit(0) == 0.0f);
    assert_true(rng_unit(UINT32_MAX) < 1.0f);
    assert_int_equal(rng_below(0, 10), 0);
    assert_int_equal(rng_below(UINT32_MAX, 10), 9);
    int64_t counts[7] = {0}, draws = 0;
    for (uint32_t sample = 0; sample < 5000; sample++) {
        struct rng4 r = rng_draw(42, RNG_TEST, 3, sample, 0);
        for (int i = 0; i < 4; i++, draws++) counts[rng_below(r.v[i], 7)]++;
    }
    for (int i = 0; i < 7; i++) assert_in_range(counts[i], draws / 7 - 300, draws / 7 + 300);  // sigma is about 50
}

TEST(test_rng_purposes_differ)
{
    struct rng4 a = rng_draw(1, RNG_FLIP, 0, 5, 0), b = rng_draw(1, RNG_CROP, 0, 5, 0);
    struct rng4 c = rng_draw(1, RNG_FLIP, 1, 5, 0), d = rng_draw(2, RNG_FLIP, 0, 5, 0), e = rng_draw(1, RNG_FLIP, 0, 5, 0);
    assert_memory_not_equal(a.v, b.v, sizeof a.v);
    assert_memory_not_equal(a.v, c.v, sizeof a.v);
    assert_memory_not_equal(a.v, d.v, sizeof a.v);
    assert_memory_equal(a.v, e.v, sizeof a.v);
}

struct cover {
    unsigned char *seen;
    int64_t n, grain;
    int64_t begin[64], end[64];
    int calls[64];
};

static void note(void *context, int64_t begin, int64_t end, int thread)
{
    struct cover *cover = context;
    BUG_IF(thread < 0 || thread >= 64 || begin < 0 || end > cover->n || begin >= end);
    for (int64_t i = begin; i < end; i++) cover->seen[i]++;
    cover->begin[thread] = begin;
    cover->end[thread] = end;
    cover->calls[thread]++;
}

TEST(test_threads_cover)
{
    static const int64_t sizes[] = {1, 2, 3, 5, 15, 16, 17, 100, 1000, 4099}, grains[] = {1, 2, 7, 16, 64, 5000};
    for (int threads = 1; threads <= 5; threads++) {
        threads_set(threads);
        assert_int_equal(threads_count(), threads);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
                struct cover cover = {.seen = zalloc((size_t)sizes[s]), .n = sizes[s], .grain = grains[g]};
                threads_for(cover.n, cover.grain, note, &cover);
                for (int64_t i = 0; i < cover.n; i++) assert_int_equal(cover.seen[i], 1);
                int64_t next = 0, smallest = INT64_MAX, largest = 0;
                for (int t = 0; t < 64; t++) {
                    assert_true(cover.calls[t] <= (t < threads));
                    if (!cover.calls[t]) continue;
                    assert_int_equal(cover.begin[t], next);  // in order, one after the other
                    assert_int_equal(cover.begin[t] % cover.grain, 0);
                    next = cover.end[t];
                    int64_t units = (cover.end[t] - cover.begin[t] + cover.grain - 1) / cover.grain;
                    if (units < smallest) smallest = units;
                    if (units > largest) largest = units;
                }
                assert_int_equal(next, cover.n);
                assert_true(largest - smallest <= 1);  // and evenly
                free(cover.seen);
            }
        }
    }
    threads_set(0);
}

static void count_calls(void *context, int64_t begin, int64_t end, int thread)
{
    (void)begin, (void)end, (void)thread;
    ++*(int *)context;
}

static void inner(void *context, int64_t begin, int64_t end, int thread)
{
    threads_for(end - begin, 1, count_calls, (int *)context + thread);
}

TEST(test_threads_edges)
{
    int calls = 0, nested[4] = {0};
    threads_for(0, 1, count_calls, &calls);
    threads_for(-3, 1, count_calls, &calls);
    assert_int_equal(calls, 0);
    threads_set(4);
    threads_for(3, 4, count_calls, &calls);  // one grain: no pool
    assert_int_equal(calls, 1);
    threads_for(400, 1, inner, nested);  // a loop inside a loop runs, once for each thread
    for (int i = 0; i < 4; i++) assert_true(nested[i] >= 1);
    threads_set(0);
    assert_true(threads_available() >= 1);
    assert_int_equal(threads_count(), threads_available());
}

TEST(test_build)
{
    assert_true(strlen(build_version()) >= 5);
    assert_true(strlen(build_commit()) == 0 || strlen(build_commit()) == 40 || strlen(build_commit()) == 64);
    assert_non_null(strchr(build_compiler(), '.'));
    assert_non_null(strstr(build_flags(), "-O"));
    assert_null(build_emulates());  // the emulated dawn says otherwise (test/cli/cuda.sh)
    if (!*build_commit()) assert_false(build_dirty());
}

TEST(test_embed)
{
    const char *last = "";
    for (const struct embedded *e = embedded_files; e->path; e++) {
        assert_true(strcmp(last, e->path) < 0);
        assert_int_equal(e->at[e->size], 0);
        assert_ptr_equal(embedded_find(e->path), e);
        last = e->path;
    }
    assert_null(embedded_find("no/such.json"));
}
