// SPDX-License-Identifier: Apache-2.0
// BLEU of made-up corpora. Expected scores and counts are sacrebleu 2.6.0's; for t2t, of words cut by its regular expressions.
#include "tasks/common/words/bleu.h"
#include "test/unit/test.h"

static struct bleu_line line_of(const char *text)
{
    return (struct bleu_line){text, strlen(text)};
}

static void assert_score(const struct bleu *b, double score)
{
    double got = bleu_score(b).score;
    if (!(fabs(got - score) < 1e-9)) fail_msg("%.15g, not %.15g", got, score);
}

TEST(test_rules_of_words)
{
    static const char *const reference[] = {"Der Hund läuft, über 1,5 km weit.", "»Ja«, sagt ΟΔΟΣ: 3-4 €!", "",
                                            "Zwei Kinder &amp; ein Ball liegen auf dem Gras.", "Am Ende steht 2010."};
    static const char *const hypothesis[] = {"Der Hund läuft über 1,5 km weit .", "\"Ja\", sagt οδος: 3-4 €!", "",
                                             "Zwei Kinder & ein Ball auf dem Gras.", "am Ende steht 2010. "};
    static const struct {
        enum bleu_words words;
        bool lowercase;
        double score;
        int64_t matched[BLEU_ORDERS], found[BLEU_ORDERS], hypothesis, reference;
    } expected[] = {
        {BLEU_NONE, false, 21.96357577588806, {18, 10, 3, 0}, {25, 21, 17, 13}, 25, 25},
        {BLEU_NONE, true, 40.49493947867532, {20, 13, 6, 2}, {25, 21, 17, 13}, 25, 25},
        {BLEU_13A, false, 61.98542191654896, {29, 22, 15, 9}, {34, 30, 26, 22}, 34, 34},
        {BLEU_13A, true, 75.68339646786981, {31, 25, 19, 13}, {34, 30, 26, 22}, 34, 34},
        {BLEU_INTL, false, 42.202127355153216, {27, 18, 10, 4}, {31, 27, 23, 19}, 31, 35},
        {BLEU_INTL, true, 57.75892577183406, {29, 21, 14, 8}, {31, 27, 23, 19}, 31, 35},
        {BLEU_T2T, false, 39.93270897611851, {26, 17, 9, 4}, {32, 28, 24, 20}, 32, 35},
        {BLEU_T2T, true, 53.42012936462332, {28, 20, 13, 7}, {32, 28, 24, 20}, 32, 35},
    };
    for (size_t e = 0; e < sizeof expected / sizeof *expected; e++) {
        struct bleu_rules rules = {expected[e].words, expected[e].lowercase};
        struct bleu b = {0};
        for (size_t i = 0; i < sizeof reference / sizeof *reference; i++)
            bleu_add(&b, &rules, line_of(reference[i]), line_of(hypothesis[i]));
        assert_memory_equal(b.matched, expected[e].matched, sizeof b.matched);
        assert_memory_equal(b.found, expected[e].found, sizeof b.found);
        assert_int_equal(b.hypothesis, expected[e].hypothesis);
        assert_int_equal(b.reference, expected[e].reference);
        assert_score(&b, expected[e].score);
    }
}

TEST(test_orders_without_a_match)
{
    static const struct {
        const char *reference, *hypothesis;
        double score;
    } corpora[] = {
        {"", "", 0}, {"a", "", 0}, {"", "a", 0}, {"a b c", "a b c", 0},  // no run of four words
        {"a b c d", "x y z w", 0}, {"a b c d", "a b c d", 100},
        {"a c b e d f g", "a b c d e", 10.707409276312891},  // single words match, and the translation is short
        {"der hund der", "der der der der", 18.99589214128981},  // matches are clipped
    };
    for (size_t i = 0; i < sizeof corpora / sizeof *corpora; i++) {
        struct bleu b = {0};
        bleu_add(&b, &(struct bleu_rules){BLEU_NONE, false}, line_of(corpora[i].reference), line_of(corpora[i].hypothesis));
        assert_score(&b, corpora[i].score);
    }
}

static void assert_words(enum bleu_words words, const char *line, const char *expected)
{
    size_t n;
    int32_t *code = bleu_split(&(struct bleu_rules){words, false}, line_of(line), &n);
    assert_int_equal(n, strlen(expected));
    for (size_t i = 0; i < n; i++) assert_int_equal(code[i], (unsigned char)expected[i]);
    free(code);
}

TEST(test_matches_do_not_overlap)
{
    assert_words(BLEU_13A, "a,,b 1,5 1,a 3-4 a-b", "a , , b 1,5 1 , a 3 - 4 a-b ");
    assert_words(BLEU_13A, "&amp;lt; <skipped>x", "< x ");
    assert_words(BLEU_INTL, "it's 5. (a) $5", "it ' s 5 . ( a ) $ 5 ");
    assert_words(BLEU_INTL, "in 2010. ", "in 2010. ");
    assert_words(BLEU_T2T, "in 2010. ", "in 2010 . ");
    assert_words(BLEU_NONE, " \ta\x1c  b ", "a b ");
}
