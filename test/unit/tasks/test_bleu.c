// SPDX-License-Identifier: Apache-2.0
// BLEU of made-up corpora and of captions. Expected scores and counts are sacrebleu 2.6.0's; for t2t, of words cut by its regular
// expressions.
#include "data/dataset.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
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

// ---- captions: as translations the source, the reference without every seventh word, and with words 0 and 1, 5 and 6 .. swapped
enum { COPIED, SHORTENED, SWAPPED, WAYS };
static void translate(int way, const char *line, struct text *into)
{
    char *copy = strdup(line), *word[256], *next = NULL;
    int count = 0;
    for (char *w = strtok_r(copy, " ", &next); w && count < 256; w = strtok_r(NULL, " ", &next)) word[count++] = w;
    for (int i = 0; i < count; i++) {
        int from = way != SWAPPED || i % 5 > 1 ? i : i % 5 == 1 ? i - 1 : i + 1 < count ? i + 1 : i;
        if (way != SHORTENED || i % 7 < 6) text_add(into, "%s%s", into->length ? " " : "", word[from]);
    }
    free(copy);
}

// Lines of drawn phrases, or of a file below the folder of data sets; NULL: it is not there.
static char *read_lines(const char *file, int side)
{
    struct text lines = {0}, path = {0};
    struct dataset *ds = NULL;
    char *home = dataset_default_folder(), line[128];
    size_t n;
    int64_t length;
    text_add(&path, "%s/multi30k/%s.%s", home, file ? file : "", side ? "de" : "en");
    if (file && file_read(path.at, 1 << 20, &lines.at, &n) < 0) lines.at = NULL;
    if (!file) assert_int_equal(dataset_open("phrases", NULL, &ds), 0);
    for (int64_t i = 0; !file && i < dataset_facts(ds)->count[SPLIT_TEST]; i++) {
        assert_int_equal(dataset_item(ds, SPLIT_TEST, side ? "target" : "source", i, line, sizeof line, &length), 0);
        text_add(&lines, "%.*s\n", (int)length, line);
    }
    if (!file) dataset_close(ds);
    text_free(&path);
    free(home);
    return lines.at;
}

static bool score_captions(const char *file, const struct bleu_rules *rules, const double expected[WAYS])
{
    char *side[2] = {read_lines(file, 0), read_lines(file, 1)}, *at[2] = {side[0], side[1]}, *line[2];
    struct bleu b[WAYS] = {{{0}, {0}, 0, 0}};
    bool there = side[0] && side[1];
    while (there && (line[0] = strsep(&at[0], "\n")) && (line[1] = strsep(&at[1], "\n")) && *line[1])
        for (int way = 0; way < WAYS; way++) {
            struct text given = {0};
            translate(way, line[way != COPIED], &given);
            bleu_add(&b[way], rules, line_of(line[1]), line_of(given.at));
            text_free(&given);
        }
    for (int way = 0; there && way < WAYS; way++) assert_score(&b[way], expected[way]);
    free(side[0]), free(side[1]);
    return there;
}

TEST(drawn_phrases)
{
    static const double expected[WAYS] = {0.1358771530260335, 73.80848900446433, 24.242111610842752};
    assert_true(score_captions(NULL, &(struct bleu_rules){BLEU_NONE, true}, expected));
}

// Of test_2016_flickr, whose raw files are unpacked into the folder "raw", as far as they are there.
TEST(published_captions)
{
    static const struct {
        const char *file;
        struct bleu_rules rules;
        double expected[WAYS];
    } rows[] = {
        {"test_2016_flickr.lc.norm.tok", {BLEU_NONE, true}, {0.6036085860795336, 70.33363480429567, 20.733471935392792}},
        {"raw/test_2016_flickr", {BLEU_13A, false}, {0.47828790014374517, 72.03218733975253, 30.966141437412386}},
        {"raw/test_2016_flickr", {BLEU_13A, true}, {0.7399407289688812, 72.03218733975253, 30.972152529889495}},
        {"raw/test_2016_flickr", {BLEU_INTL, true}, {0.88990238462962, 72.29075325768666, 32.108925620330226}},
    };
    int scored = 0;
    for (int i = 0; i < 4; i++) scored += score_captions(rows[i].file, &rows[i].rules, rows[i].expected);
    print_message("%d of 4 sets of rules\n", scored);
    if (scored == 0) skip();
}
