// SPDX-License-Identifier: Apache-2.0
// Windows against run_squad.py's loop written out, and the decoding of scores against every pair.
#include "runtime/common/base/rng.h"
#include "tasks/squad/sample/decode.h"
#include "test/unit/test.h"

// cmocka.h requires the three before it

enum { MOST = 400 };

static const struct windows_rule rules[] = {{64, 24, 20, false}, {64, 1000, 20, false}, {24, 1, 20, false}, {256, 96, 64, false}};

// The loop of run_squad.py: begin, length of each window.
static int naive_windows(const struct windows_rule *rule, int64_t question, int64_t context, int64_t (*window)[2])
{
    int64_t capacity = rule->length - 3 - (question < rule->question ? question : rule->question), begin = 0;
    int count = 0;
    do {
        int64_t length = context - begin < capacity ? context - begin : capacity;
        window[count][0] = begin, window[count++][1] = length;
        if (begin + length == context) break;
        begin += length < rule->stride ? length : rule->stride;
    } while (begin < context);
    return count;
}

static int naive_owner(int64_t (*window)[2], int count, int64_t piece)
{
    double best = -1;
    int owner = -1;
    for (int i = 0; i < count; i++) {
        int64_t left = piece - window[i][0], right = window[i][0] + window[i][1] - 1 - piece;
        if (left < 0 || right < 0) continue;
        double score = (double)(left < right ? left : right) + 0.01 * (double)window[i][1];
        if (score > best + 1e-9) best = score, owner = i;
    }
    return owner;
}

TEST(windows_are_those_of_the_published_loop)
{
    static int64_t window[MOST][2];
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int64_t question = 0; question < 70; question += 7)
            for (int64_t context = 0; context < MOST; context += context < 70 ? 1 : 13) {
                struct windows w = windows_of(&rules[r], question, context);
                assert_int_equal(w.count, naive_windows(&rules[r], question, context, window));
                for (int64_t i = 0; i < w.count; i++) {
                    assert_int_equal(windows_at(&w, i).first, window[i][0]);
                    assert_int_equal(windows_at(&w, i).count, window[i][1]);
                    assert_in_range(windows_length(&w, i), 3, rules[r].length);
                }
                for (int64_t p = 0; p < context; p++)
                    assert_int_equal(windows_owner(&w, p), naive_owner(window, (int)w.count, p));
            }
}

TEST(an_answer_has_a_place_in_windows_that_hold_it_whole)
{
    int32_t first = -1, last = -1;
    struct windows w = windows_of(&(struct windows_rule){32, 10, 8, false}, 5, 50);  // windows of 24 pieces
    assert_int_equal(w.count, 4);
    assert_true(windows_span(&w, 0, 0, 24, &first, &last));
    assert_int_equal(first, 7), assert_int_equal(last, 30);
    assert_false(windows_span(&w, 0, 20, 25, &first, &last));
    assert_true(windows_span(&w, 1, 20, 25, &first, &last));
    assert_int_equal(first, 17), assert_int_equal(last, 21);
    assert_false(windows_span(&w, 1, 9, 12, &first, &last));
    assert_false(windows_span(&w, 0, 3, 3, &first, &last));
    assert_true(windows_span(&w, 3, 49, 50, &first, &last));
    assert_int_equal(first, 26), assert_int_equal(last, 26);
}

// ---- decoding

static float start[64], end[64];

static void draw_scores(uint32_t seed)
{
    for (uint32_t i = 0; i < 64; i++) {
        struct rng4 r = rng_draw(seed, RNG_TEST, 0, i, 0);
        start[i] = rng_unit(r.v[0]), end[i] = rng_unit(r.v[1]);
    }
}

static float score_of(const struct windows *w, int64_t number, int64_t a, int64_t b)
{
    int64_t base = windows_begin(w) - windows_at(w, number).first;
    return start[base + a] + end[base + b];
}

// With fewer than 20 pieces the best of 20 x 20 is the best of all.
TEST(the_best_pair_is_the_best_of_all)
{
    struct windows w = windows_of(&(struct windows_rule){24, 8, 4, false}, 4, 40);
    assert_true(w.count > 2);
    for (uint32_t seed = 0; seed < 200; seed++) {
        draw_scores(seed);
        int64_t number = seed % w.count;
        struct window at = windows_at(&w, number);
        struct decoded d;
        float best = -1;
        assert_true(decode_window(&w, number, start, end, &d));
        assert_int_equal(windows_owner(&w, d.first), number);
        assert_true(d.first <= d.last && d.first >= at.first && d.last < at.first + at.count);
        assert_float_equal(d.score, score_of(&w, number, d.first, d.last), 0);
        for (int64_t a = at.first; a < at.first + at.count; a++)
            for (int64_t b = a; b < at.first + at.count; b++)
                if (windows_owner(&w, a) == number) best = fmaxf(best, score_of(&w, number, a, b));
        assert_float_equal(d.score, best, 0);
    }
}

TEST(answers_are_at_most_thirty_pieces)
{
    struct windows w = windows_of(&(struct windows_rule){64, 8, 4, false}, 1, 60);
    struct decoded d;
    draw_scores(1);
    int64_t base = windows_begin(&w);
    start[base + 2] = 10, end[base + 2 + DECODE_LONGEST - 1] = 10, end[base + 2 + DECODE_LONGEST] = 11;
    assert_true(decode_window(&w, 0, start, end, &d));
    assert_int_equal(d.first, 2), assert_int_equal(d.last, 2 + DECODE_LONGEST - 1);
}

// Models of words read the context apart from the question, and all pairs of at most 15 words count.
TEST(words_are_decoded_among_all_pairs)
{
    struct windows w = windows_of(&(struct windows_rule){32, 12, 8, true}, 5, 60);
    assert_int_equal(windows_begin(&w), 0), assert_int_equal(w.question, 5), assert_int_equal(windows_length(&w, 0), 32);
    for (uint32_t seed = 0; seed < 200; seed++) {
        draw_scores(seed);
        int64_t number = seed % w.count;
        struct window at = windows_at(&w, number);
        struct decoded d;
        float best = -1;
        assert_true(decode_words(&w, number, start, end, &d));
        for (int64_t a = at.first; a < at.first + at.count; a++)
            for (int64_t b = a; b < at.first + at.count && b < a + DECODE_WORDS; b++)
                if (windows_owner(&w, a) == number) best = fmaxf(best, score_of(&w, number, a, b));
        assert_float_equal(d.score, best, 0);
        assert_float_equal(score_of(&w, number, d.first, d.last), best, 0);
        assert_true(windows_owner(&w, d.first) == number && d.last - d.first < DECODE_WORDS && d.last >= d.first);
    }
    w = windows_of(&(struct windows_rule){32, 12, 8, true}, 5, 0);
    assert_int_equal(windows_length(&w, 0), 0);
    struct decoded none;
    assert_false(decode_words(&w, 0, start, end, &none));
}

// The best beginnings all come after the best ends.
TEST(a_window_without_a_pair_answers_with_one_piece)
{
    struct windows w = windows_of(&(struct windows_rule){64, 8, 4, false}, 1, 50);
    struct decoded d;
    int64_t base = windows_begin(&w);
    for (int64_t p = 0; p < 50; p++) start[base + p] = p < 25 ? -10 : (float)p, end[base + p] = p < 25 ? (float)p : -10;
    assert_true(decode_window(&w, 0, start, end, &d));
    assert_int_equal(d.first, 49), assert_int_equal(d.last, 49);
}

TEST(scores_that_are_no_numbers_are_no_answers)
{
    const struct windows_rule rule = {64, 8, 4, false};
    struct windows w = windows_of(&rule, 1, 5), empty = windows_of(&rule, 1, 0);
    struct decoded d;
    for (int i = 0; i < 64; i++) start[i] = end[i] = NAN;
    assert_false(decode_window(&w, 0, start, end, &d));
    start[windows_begin(&w) + 3] = 1;
    assert_false(decode_window(&w, 0, start, end, &d));
    end[windows_begin(&w) + 4] = -INFINITY;
    assert_true(decode_window(&w, 0, start, end, &d));
    assert_false(decode_window(&empty, 0, start, end, &d));
}
