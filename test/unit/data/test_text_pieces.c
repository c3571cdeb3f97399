// SPDX-License-Identifier: Apache-2.0
// WordPiece: hand cases whose ids and positions the library `tokenizers` gives with the same vocabulary, and vocabularies
// that are wrong.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/text/wordpiece.h"
#include "runtime/common/base/text.h"

// Piece i is line i.
static const char vocab[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nthe\ncafe\nun\n##aff\n##able\n##s\n,\n.\n!\n'\n你\n好\nCafé\n"
                            "##é\na\n##a\n;\n\xe1\x84\x92\n##\xe1\x85\xa1\n##\xe1\x86\xab\nstrasse\nß\n##ß\nσ\nς\n##σ\n"
                            "##ς\ni\n[\n]\nunk\n-\n##😀\n😀\nThe\n";
enum { THE = 4, CAFE, UN, AFF, ABLE, S, COMMA, POINT, BANG, QUOTE, NI, HAO, CASED_CAFE, REST_E, A, REST_A, SEMICOLON, H, REST_H_A,
       REST_H_N, STRASSE, SHARP, REST_SHARP, SIGMA, FINAL, REST_SIGMA, REST_FINAL, I, OPEN, CLOSE, UNK_WORD, HYPHEN, REST_SMILE,
       SMILE, CASED_THE, ALL };

static struct wordpiece *lower, *cased;

SETUP(open_both)
{
    return wordpiece_parse("vocab", vocab, strlen(vocab), true, &lower) |
           wordpiece_parse("vocab", vocab, strlen(vocab), false, &cased);
}

SETUP(close_both)
{
    wordpiece_free(lower);
    wordpiece_free(cased);
    return 0;
}

// `expected`: ID BEGIN END, ...
static void assert_pieces(const struct wordpiece *w, const char *text, size_t n, const int *expected, size_t numbers)
{
    struct pieces pieces = {0};
    wordpiece_encode(w, text, n, &pieces);
    if (pieces.count * 3 != (int64_t)numbers) fail_msg("\"%s\" has %lld pieces", text, (long long)pieces.count);
    for (int64_t i = 0; i < pieces.count; i++) {
        const int found[] = {pieces.id[i], pieces.begin[i], pieces.end[i]};
        if (memcmp(found, expected + 3 * i, sizeof found) == 0) continue;
        fail_msg("\"%s\": piece %lld is %d [%d, %d)", text, (long long)i, pieces.id[i], pieces.begin[i], pieces.end[i]);
    }
    pieces_free(&pieces);
}
#define PIECES(w, text, ...)                                                                                           \
    do {                                                                                                               \
        static const int expected_[] = {__VA_ARGS__};                                                                  \
        assert_pieces(w, text, sizeof text - 1, expected_, sizeof expected_ / sizeof expected_[0]);                    \
    } while (0)

TEST(words_and_pieces)
{
    PIECES(lower, "The unaffable, cafes!", THE, 0, 3, UN, 4, 6, AFF, 6, 9, ABLE, 9, 13, COMMA, 13, 14, CAFE, 15, 19, S, 19, 20,
           BANG, 20, 21);
    PIECES(lower, "the cats", THE, 0, 3, 1, 4, 8);           // one [UNK] for the whole word
    PIECES(lower, "\t the\r\nthe\xc2\xa0the", THE, 2, 5, THE, 7, 10, THE, 12, 15);
    // The names of special pieces are nothing but text.
    PIECES(lower, "[UNK] [SEP]", OPEN, 0, 1, UNK_WORD, 1, 4, CLOSE, 4, 5, OPEN, 6, 7, 1, 7, 10, CLOSE, 10, 11);
    PIECES(cased, "The the", CASED_THE, 0, 3, THE, 4, 7);
    PIECES(cased, "Café cafe caf\xc3\xa9", CASED_CAFE, 0, 5, CAFE, 6, 10, 1, 11, 16);
}

TEST(accents_and_marks)
{
    PIECES(lower, "Caf\xc3\xa9", CAFE, 0, 5);
    PIECES(lower, "cafe\xcc\x81s", CAFE, 0, 4, S, 6, 7);  // the mark is dropped, and its position belongs to no piece
    PIECES(lower, "\xcc\x81", );
    PIECES(lower, "\xcd\xbe", SEMICOLON, 0, 2);           // a Greek question mark decomposes into a semicolon
    PIECES(lower, "\xed\x95\x9c", H, 0, 3, REST_H_A, 0, 3, REST_H_N, 0, 3);  // three Jamo of one syllable
    PIECES(lower, "\xce\xa3\xce\xa3 \xcf\x82", SIGMA, 0, 2, REST_SIGMA, 2, 4, FINAL, 5, 7);  // no final sigma
    PIECES(lower, "\xc4\xb0", I, 0, 2);                   // I with a dot above
    PIECES(lower, "STRASSE \xc3\x9f\xe1\xba\x9e", STRASSE, 0, 7, SHARP, 8, 10, REST_SHARP, 10, 13);
}

TEST(other_scripts)
{
    PIECES(lower, "你好the好", NI, 0, 3, HAO, 3, 6, THE, 6, 9, HAO, 9, 12);
    PIECES(lower, "😀 the😀", SMILE, 0, 4, THE, 5, 8, REST_SMILE, 8, 12);
    PIECES(lower, "a😀 a—a", A, 0, 1, REST_SMILE, 1, 5, A, 6, 7, 1, 7, 10, A, 10, 11);  // a dash is punctuation, unknown here
}

TEST(what_is_dropped)
{
    PIECES(lower, "t\x01he", THE, 0, 4);
    PIECES(lower, "t\xe2\x80\x8bhe \x7f", THE, 0, 6);  // U+200B
    PIECES(lower, "t\xef\xbf\xbdhe", THE, 0, 6);        // U+FFFD
    PIECES(lower, "t\xffhe \xc3", THE, 0, 4);           // no UTF-8
    PIECES(lower, "\0the", THE, 1, 4);
    PIECES(lower, "", );
}

TEST(long_words)
{
    char word[4096];
    struct pieces pieces = {0};
    memset(word, 'a', sizeof word);
    wordpiece_encode(lower, word, 100, &pieces);
    assert_int_equal(pieces.count, 100);
    assert_int_equal(pieces.id[99], REST_A);
    pieces_clear(&pieces);
    wordpiece_encode(lower, word, 101, &pieces);
    assert_int_equal(pieces.count, 1);
    assert_int_equal(pieces.id[0], 1);
    assert_int_equal(pieces.end[0], 101);
    wordpiece_encode(lower, word, sizeof word, &pieces);  // appended
    assert_int_equal(pieces.count, 2);
    assert_int_equal(pieces.end[1], 4096);
    pieces_free(&pieces);
}

TEST(vocabularies_that_are_wrong)
{
    struct wordpiece *w;
    static const struct {
        const char *lines, *words;
    } wrong[] = {
        {"", "v is empty: it has no words"},
        {"[PAD]\n[UNK]\n[CLS]\nx\n", "v has no line [SEP]: it is not a vocabulary of BERT"},
        {"[PAD]\n[UNK]\n[CLS]\n[SEP]\nx\n\ny\n", "v: line 6 is empty"},
        {"[PAD]\r\n[UNK]\n[CLS]\n[SEP]\nx\ny\nx\n", "v: line 7 repeats line 5 (\"x\")"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_fails(wordpiece_parse("v", wrong[i].lines, strlen(wrong[i].lines), true, &w), ERR_INPUT, wrong[i].words);
    assert_fails(wordpiece_parse("v", "[PAD]\n\0\n", 8, true, &w), ERR_INPUT, "line 2 has a zero byte");
    assert_null(w);
    assert_int_equal(wordpiece_count(lower), ALL);
    assert_string_equal(wordpiece_name(lower, AFF), "##aff");
    struct wordpiece_special special = wordpiece_special(lower);
    assert_int_equal(special.pad, 0);
    assert_int_equal(special.unknown, 1);
    assert_int_equal(special.first, 2);
    assert_int_equal(special.separator, 3);
}

TEST(vocabularies_are_ranked)
{
    struct vocabulary *v = vocabulary_new();
    static const char *const order[] = {"first", "c", "b", "a", "c", "b", "c", "d"};
    char word[16];
    size_t n;
    for (int i = 0; i < 8; i++) vocabulary_add(v, order[i], strlen(order[i]));
    vocabulary_rank(v, 1);
    static const char *const ranked[] = {"first", "c", "b", "a", "d"};
    for (int i = 0; i < 5; i++) {
        assert_string_equal(vocabulary_word(v, i, &n), ranked[i]);
        assert_int_equal(vocabulary_find(v, ranked[i], strlen(ranked[i])), i);
    }
    assert_int_equal(vocabulary_times(v, 1), 3);
    for (int i = 0; i < 5000; i++) {  // it grows
        snprintf(word, sizeof word, "w%d", i);
        assert_int_equal(vocabulary_add(v, word, strlen(word)), 5 + i);
    }
    assert_int_equal(vocabulary_find(v, "w4999", 5), 5004);
    assert_int_equal(vocabulary_find(v, "w5000", 5), VOCABULARY_NONE);
    assert_int_equal(vocabulary_longest(v), 5);
    vocabulary_free(v);
}

TEST_GROUP(open_both, close_both)

// ---- learning

static void assert_learned(const char *text, int32_t pieces, const char *expected)
{
    struct vocabulary *words = vocabulary_new();
    struct text list = {0};
    assert_int_equal(wordpiece_count_words(text, strlen(text), true, words), 0);
    assert_int_equal(wordpiece_learn(words, pieces, &list), 0);
    static const char special[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    assert_memory_equal(list.at, special, sizeof special - 1);
    assert_string_equal(list.at + sizeof special - 1, expected);
    text_free(&list);
    vocabulary_free(words);
}

// low x 5, lower x 2, newest x 6, widest x 3, as in test_text_bpe.c; of the pairs "##e ##s" and "##s ##t", 9 each, the larger one
// first. A union of a first and a further symbol has no "##".
TEST(learned_by_hand)
{
    static const char text[] = "Low low low low LOW lower lower newest newest newest newest newest newest widest widest widest\n";
    static const char characters[] = "##d\n##e\n##i\n##o\n##r\n##s\n##t\n##w\nl\nn\nw\n";
    struct text expected = {0};
    text_add(&expected, "%s", characters);
    assert_learned(text, 5, characters);  // characters come first at any limit
    assert_learned(text, 16, characters);
    text_add(&expected, "##st\n##est\nlo\nlow\n");
    assert_learned(text, 20, expected.at);
    text_free(&expected);
}

TEST(what_occurs_once_is_no_piece)
{
    assert_learned("", 99, "");
    assert_learned("xy xy pq", 99, "##y\nx\nxy\n");
    assert_learned("a a, caf\xc3\xa9 CAFE", 99, "##a\n##e\n##f\na\nc\nca\ncaf\ncafe\n");
    // Two pairs with one union: "##aa" of "##a ##aa" and of "##aa ##a" is numbered once.
    assert_learned("zaaaa zaaaa yaaa yaaa", 99, "##a\ny\nz\n##aa\nzaa\nzaaaa\nyaa\nyaaa\n");
}

TEST(long_words_are_not_counted)
{
    char text[WORDPIECE_CHARACTERS + 3];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (int longer = 0; longer < 2; longer++) {
        struct vocabulary *words = vocabulary_new();
        assert_int_equal(wordpiece_count_words(text, (size_t)(WORDPIECE_CHARACTERS + longer), true, words), 0);
        assert_int_equal(vocabulary_count(words), !longer);
        vocabulary_free(words);
    }
}
