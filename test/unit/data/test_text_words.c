// SPDX-License-Identifier: Apache-2.0
// Code points, words by Unicode's classes, and published vectors for them.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/text/unicode.h"
#include "data/text/vectors.h"
#include "data/text/vectors_cache.h"
#include "data/text/words.h"
#include "runtime/common/base/text.h"

TEST(code_points)
{
    static const char text[] = "a\xc3\xa9\xf0\x9f\x98\x80\xff\xc3(\xed\xa0\x80\xc3";
    static const int32_t codes[] = {'a', 0xE9, 0x1F600, UNICODE_REPLACEMENT, UNICODE_REPLACEMENT, '(',
                                    UNICODE_REPLACEMENT, UNICODE_REPLACEMENT, UNICODE_REPLACEMENT, UNICODE_REPLACEMENT};
    static const size_t ends[] = {1, 3, 7, 8, 9, 10, 11, 12, 13, 14};
    size_t at = 0;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(unicode_next(text, sizeof text - 1, &at), codes[i]);
        assert_int_equal(at, ends[i]);
    }
    char bytes[UNICODE_BYTES];
    assert_int_equal(unicode_put(0x1F600, bytes), 4);
    assert_memory_equal(bytes, "\xf0\x9f\x98\x80", 4);
}

// `expected`: the words with | between them.
static void assert_words(const char *text, const char *expected)
{
    struct words words = {0};
    struct text all = {0};
    text_bytes(&all, "", 0);
    words_split(text, strlen(text), &words);
    for (int64_t i = 0; i < words.count; i++) {
        if (i > 0) text_bytes(&all, "|", 1);
        text_bytes(&all, text + words.begin[i], (size_t)(words.end[i] - words.begin[i]));
    }
    assert_string_equal(all.at, expected);
    text_free(&all);
    words_free(&words);
}

TEST(words_by_classes)
{
    assert_words("", "");
    assert_words(" \t\n\xc2\xa0\xe3\x80\x80", "");
    assert_words("Hello, world!", "Hello|,|world|!");
    assert_words("(well-known)", "(|well|-|known|)");
    assert_words("caf\xc3\xa9 cafe\xcc\x81s", "caf\xc3\xa9|cafe\xcc\x81s");
    assert_words("你好。 x²", "你好|。|x²");
    assert_words("😀😀a", "😀|😀|a");
    assert_words("a\xff""b", "a|\xff|b");
    assert_words("1,000.5 at 10:30. 5, .5 3.x v1.2.3 2.", "1,000.5|at|10:30|.|5|,|.|5|3|.|x|v1.2.3|2|.");
    assert_words("\xd9\xa1.\xd9\xa2", "\xd9\xa1.\xd9\xa2");  // Arabic digits
}

TEST(contractions)
{
    assert_words("Bob's they're I'd I'm we'll I've", "Bob|'s|they|'re|I|'d|I|'m|we|'ll|I|'ve");
    assert_words("don't CAN'T n't won\xe2\x80\x99t", "do|n't|CA|N'T|n't|wo|n\xe2\x80\x99t");
    assert_words("the boys' 's O'Neil rock'n'roll it't x'sx", "the|boys|'|'|s|O|'|Neil|rock|'|n|'|roll|it|'|t|x|'|sx");
    assert_words("1990's '90s", "1990|'s|'|90s");
    assert_words("it'", "it|'");
}

// ---- vectors

static struct vocabulary *words_of(const char *line)
{
    struct vocabulary *v = vocabulary_new();
    struct words words = {0};
    words_split(line, strlen(line), &words);
    for (int64_t i = 0; i < words.count; i++) vocabulary_add(v, line + words.begin[i], (size_t)(words.end[i] - words.begin[i]));
    words_free(&words);
    return v;
}

static const char glove[] = "the 1 2\nThe 3 4\n. . . 5 6\nat x@y.com 7 8\nat -9 1e1\n"
                            "wellknown 11 12\n\xc3\xa9 13 .5\r\nthe 0 0\n";

TEST_WITH(vectors_are_found, set_up, leave)
{
    struct vocabulary *words = words_of("the The THE at \xc3\x89 missing");
    struct vectors v;
    vocabulary_add(words, "Well-Known", 10);
    if (vectors_parse("g", glove, sizeof glove - 1, words, 2, &v) < 0) fail_msg("%s", error_text());
    const float first[] = {1, 3, 1, -9, 13, 0, 11}, second[] = {2, 4, 2, 10, .5f, 0, 12};
    const int found[] = {VECTORS_CASED, VECTORS_CASED, VECTORS_LOWER,   VECTORS_CASED,
                         VECTORS_LOWER, VECTORS_NONE,  VECTORS_STRIPPED};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(v.found[i], found[i]);
        assert_true(v.row[2 * i] == first[i] && v.row[2 * i + 1] == second[i]);
    }
    assert_int_equal(v.lines, 8);
    vectors_free(&v);
    assert_int_equal(vectors_parse("g", "3 2\nthe 1 2 \nat 3 4", 19, words, 2, &v), 0);  // word2vec's first line, blanks at ends
    assert_true(v.row[0] == 1 && v.row[7] == 4);
    vectors_free(&v);
    vocabulary_free(words);
}

TEST_WITH(vectors_that_are_wrong, set_up, leave)
{
    static const struct {
        const char *lines;
        int64_t dimension;
        const char *words;
    } wrong[] = {
        {"", 2, "g holds no vectors"},
        {"\n\n", 2, "g holds no vectors"},
        {"the 1 2\n", 3, "g holds vectors of dimension 2, and the recipe needs 3"},
        {"a b 1 2 3\nthe 1 2 3\n", 2, "g holds vectors of dimension 3, and the recipe needs 2"},
        {"the 1 x\n", 2, "g: line 1: number 2 of 2 is not a number: \"x\""},
        {"the 1 2z\n", 2, "g: line 1: number 2 of 2 is not a number: \"2z\""},
        {"the nan 2\n", 2, "number 1 of 2 is not a number"},
        {"the 1 1e99\n", 2, "number 2 of 2 is not a number"},
        {"the  2\n", 2, "number 1 of 2 is not a number"},
    };
    struct vocabulary *words = words_of("the at");
    struct vectors v;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_fails(vectors_parse("g", wrong[i].lines, strlen(wrong[i].lines), words, wrong[i].dimension, &v), ERR_INPUT,
                     wrong[i].words);
    assert_fails(vectors_parse("g", "", 0, words, 0, &v), ERR_USAGE, "vectors have 1 to 4096 numbers, not 0");
    assert_fails(vectors_open(in("none"), words, 2, &v), ERR_IO, "none");
    struct text many = {0};  // a line that is cut off, behind those that state the dimension
    for (int i = 0; i < 200; i++) text_add(&many, "w%d 1 2\n", i);
    text_add(&many, "at 1\n");
    assert_fails(vectors_parse("g", many.at, many.length, words, 2, &v), ERR_INPUT, "line 201 is not a word with 2 numbers");
    text_free(&many);
    vocabulary_free(words);
}

// A long file in pieces; then out of the cache, but not for other words and not once the file changed.
TEST_WITH(vectors_are_packed, set_up, leave)
{
    struct text file = {0};
    struct vocabulary *words = words_of("w0 w1234 w59999 missing"), *others = words_of("w0 w1234 w59998 missing");
    struct vectors v, again;
    for (int i = 0; i < 60000; i++) text_add(&file, "w%d %d.5 %d 0.12345678901234567890\n", i, i, -i);
    put("vectors.txt", file.at, file.length);
    const char *path = in("vectors.txt");
    assert_int_equal(vectors_open(path, words, 3, &v), 0);
    assert_false(v.remembered);
    assert_int_equal(v.lines, 60000);
    assert_true(v.row[3] == 1234.5f && v.row[4] == -1234 && v.row[6] == 59999.5f);
    assert_int_equal(v.found[3], VECTORS_NONE);
    assert_int_equal(vectors_open(path, words, 3, &again), 0);
    assert_true(again.remembered);
    assert_int_equal(again.lines, 60000);
    assert_memory_equal(again.row, v.row, 12 * sizeof *v.row);
    assert_memory_equal(again.found, v.found, 4);
    vectors_free(&again);
    assert_int_equal(vectors_open(path, others, 3, &again), 0);
    assert_false(again.remembered);
    vectors_free(&again);

    char *pack = vectors_cache_path(path, words, 3), *bytes;
    size_t count;
    assert_int_equal(file_read(pack, 1 << 20, &bytes, &count), 0);
    again = v;
    assert_true(vectors_cache_parse(bytes, count, &again));
    assert_false(vectors_cache_parse(bytes, count - 1, &again));
    bytes[8]++;  // other words
    assert_false(vectors_cache_parse(bytes, count, &again));
    bytes[8]--, bytes[0] = 'x';
    assert_false(vectors_cache_parse(bytes, count, &again));
    assert_int_equal(file_write(pack, bytes, count), 0);
    assert_int_equal(vectors_open(path, words, 3, &again), 0);  // a file that is not a pack: the vectors are read again
    assert_false(again.remembered);
    vectors_free(&again);
    free(bytes);
    free(pack);
    file.at[4] = '7';
    put("vectors.txt", file.at, file.length);
    assert_int_equal(vectors_open(path, words, 3, &again), 0);
    assert_false(again.remembered);
    assert_true(again.row[0] == v.row[0] + 7 || again.row[0] != v.row[0]);
    vectors_free(&again);
    vectors_free(&v);
    vocabulary_free(words);
    vocabulary_free(others);
    text_free(&file);
}

TEST_WITH(lines_without_end, set_up, leave)
{
    size_t n = (size_t)VECTORS_LINE + 4000000;
    char *bytes = malloc(n);
    struct vocabulary *words = words_of("the");
    struct vectors v;
    memset(bytes, 'x', n);
    put("long.txt", bytes, n);
    assert_fails(vectors_open(in("long.txt"), words, 2, &v), ERR_INPUT, "line 1 is longer than 1048576 bytes");
    vocabulary_free(words);
    free(bytes);
}
