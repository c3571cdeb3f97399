// SPDX-License-Identifier: Apache-2.0
// Error rates of pairs of lines. Expected counts are jiwer 4.0.0's: process_words, and process_characters, of the lines as they
// are and without spaces.
#include "tasks/common/words/wer.h"
#include "test/unit/test.h"

static const struct {
    const char *reference, *hypothesis;
    struct wer words, with_spaces, without;
} golden[] = {
    {"one two", "one  two", {2, 0, 0, 0}, {7, 0, 1, 0}, {6, 0, 0, 0}},
    {"one two", " one two ", {2, 0, 0, 0}, {7, 0, 0, 0}, {6, 0, 0, 0}},
    {"one\011two", "one two", {0, 1, 1, 0}, {6, 1, 0, 0}, {6, 0, 0, 0}},
    {"one\011 two", "one two", {2, 0, 0, 0}, {7, 0, 0, 1}, {6, 0, 0, 0}},
    {"one\302\240two", "one two", {0, 1, 1, 0}, {6, 1, 0, 0}, {6, 0, 0, 0}},
    {"a b c d", "b c d a", {3, 0, 1, 1}, {3, 4, 0, 0}, {3, 0, 1, 1}},
    {"a", "b", {0, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}},
    {"a b", "b a", {1, 0, 1, 1}, {1, 2, 0, 0}, {1, 0, 1, 1}},
    {"ab cd", "abcd", {0, 1, 0, 1}, {4, 0, 0, 1}, {4, 0, 0, 0}},
    {"", "a b", {0, 0, 2, 0}, {0, 0, 3, 0}, {0, 0, 2, 0}},
    {"a b", "", {0, 0, 0, 2}, {0, 0, 0, 3}, {0, 0, 0, 2}},
    {"", "", {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}},
    {"   ", "a", {0, 0, 1, 0}, {0, 0, 1, 0}, {0, 0, 1, 0}},
    {"a a a b b", "b b a a a", {3, 0, 2, 2}, {5, 4, 0, 0}, {3, 0, 2, 2}},
    {"x", "x x x x x", {1, 0, 4, 0}, {1, 0, 8, 0}, {1, 0, 4, 0}},
    {"A", "a", {0, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 0, 0}},
    {"don't", "dont", {0, 1, 0, 0}, {4, 0, 0, 1}, {4, 0, 0, 1}},
    {"the cat sat", "cat sat on", {2, 0, 1, 1}, {4, 6, 0, 1}, {6, 0, 2, 3}},
    {"a b c", "x y z w", {0, 3, 1, 0}, {2, 3, 2, 0}, {0, 3, 1, 0}},
    {"\034 a", "a", {1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}},
    {"e\314\201", "\303\251", {0, 1, 0, 0}, {0, 1, 0, 1}, {0, 1, 0, 1}},
    {"a\342\200\203\342\200\203b", "a b", {2, 0, 0, 0}, {2, 1, 0, 1}, {2, 0, 0, 0}},
    {"a\013\014b", "a b", {2, 0, 0, 0}, {2, 1, 0, 1}, {2, 0, 0, 0}},
    {"\347\214\253\343\201\214\345\245\275\343\201\215", "\347\212\254\343\201\214\345\245\275\343\201\215",
     {0, 1, 0, 0}, {3, 1, 0, 0}, {3, 1, 0, 0}},
    {"A", "na\303\257ve", {0, 1, 0, 0}, {0, 1, 4, 0}, {0, 1, 4, 0}},
    {"A", "A", {1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}},
    {"A x x x x A A x x", "A x x x A x x x", {7, 1, 0, 1}, {14, 1, 0, 2}, {7, 1, 0, 1}},
    {"one one one one B B one B", "B one one B B", {4, 1, 0, 3}, {12, 1, 0, 12}, {8, 1, 0, 9}},
    {"one two two \347\214\253 one two two \347\214\253 DD", "\347\214\253 one \347\214\253 two one \347\214\253 x",
     {4, 2, 1, 3}, {15, 2, 2, 13}, {10, 2, 1, 10}},
    {"one A", "DD DD A A DD DD", {1, 1, 4, 0}, {2, 3, 10, 0}, {1, 3, 6, 0}},
    {"\347\214\253 \347\214\253 \347\214\253 na\303\257ve", "\347\214\253 \347\214\253 na\303\257ve",
     {3, 0, 0, 1}, {9, 0, 0, 2}, {7, 0, 0, 1}},
    {"B \347\214\253 B B \347\214\253 one", "B one B \347\214\253 B B \347\214\253 one \347\214\253",
     {6, 0, 3, 0}, {13, 0, 8, 0}, {8, 0, 5, 0}},
    {"\347\214\253 \347\214\253 \347\214\253 B \347\214\253",
     "\347\214\253 \347\214\253 \347\214\253 \347\214\253 \347\214\253 B",
     {4, 1, 1, 0}, {8, 1, 2, 0}, {4, 1, 1, 0}},
    {"A \347\214\253 C", "A \347\214\253 A", {2, 1, 0, 0}, {4, 1, 0, 0}, {2, 1, 0, 0}},
    {"one two two", "one DD \347\214\253 \347\214\253 DD one DD two", {2, 1, 5, 0}, {9, 2, 13, 0}, {7, 2, 8, 0}},
    {"\303\234nder", "", {0, 0, 0, 1}, {0, 0, 0, 5}, {0, 0, 0, 5}},
    {"DD B DD", "two DD DD DD two", {2, 1, 2, 0}, {6, 1, 9, 0}, {4, 1, 7, 0}},
    {"A C", "A A C C C C C C A", {2, 0, 7, 0}, {3, 0, 14, 0}, {2, 0, 7, 0}},
    {"DD A DD A", "A DD DD A", {3, 0, 1, 1}, {7, 0, 2, 2}, {5, 0, 1, 1}},
    {"one \347\214\253", "one \347\214\253", {2, 0, 0, 0}, {5, 0, 0, 0}, {4, 0, 0, 0}},
    {"A two two \303\234nder A A x na\303\257ve", "A two two \303\234nder A A", {6, 0, 0, 2}, {19, 0, 0, 8}, {14, 0, 0, 6}},
    {"\347\214\253 one \347\214\253 one \347\214\253 one one one", "\347\214\253 one \347\214\253 one \347\214\253 one one one",
     {8, 0, 0, 0}, {25, 0, 0, 0}, {18, 0, 0, 0}},
    {"two B B", "C C", {0, 2, 0, 1}, {1, 2, 0, 4}, {0, 2, 0, 3}},
    {"na\303\257ve x na\303\257ve x C", "B na\303\257ve B x C C x", {3, 1, 3, 1}, {9, 6, 2, 2}, {7, 2, 2, 4}},
    {"B", "DD B B DD", {1, 0, 3, 0}, {1, 0, 8, 0}, {1, 0, 5, 0}},
    {"C C na\303\257ve C na\303\257ve one na\303\257ve one", "C C na\303\257ve C na\303\257ve one na\303\257ve one",
     {8, 0, 0, 0}, {31, 0, 0, 0}, {24, 0, 0, 0}},
    {"x", "", {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"one A", "one A", {2, 0, 0, 0}, {5, 0, 0, 0}, {4, 0, 0, 0}},
    {"\347\214\253 A \347\214\253 x A x A \347\214\253", "\347\214\253 x \347\214\253 x \347\214\253 x",
     {4, 2, 0, 2}, {9, 2, 0, 4}, {4, 2, 0, 2}},
    {"DD DD", "", {0, 0, 0, 2}, {0, 0, 0, 5}, {0, 0, 0, 4}},
    {"B B B one one B", "B B B one one B", {6, 0, 0, 0}, {15, 0, 0, 0}, {10, 0, 0, 0}},
    {"two x two", "two two", {2, 0, 0, 1}, {7, 0, 0, 2}, {6, 0, 0, 1}},
    {"B", "one", {0, 1, 0, 0}, {0, 1, 2, 0}, {0, 1, 2, 0}},
    {"", "C one one one one one one one", {0, 0, 8, 0}, {0, 0, 29, 0}, {0, 0, 22, 0}},
    {"na\303\257ve na\303\257ve na\303\257ve \303\234nder \303\234nder na\303\257ve \303\234nder na\303\257ve",
     "na\303\257ve na\303\257ve \303\234nder \303\234nder na\303\257ve \303\234nder \303\234nder",
     {6, 1, 0, 1}, {37, 3, 1, 7}, {31, 3, 1, 6}},
    {"na\303\257ve na\303\257ve B DD", "DD \303\234nder C DD B \303\234nder C", {1, 3, 3, 0}, {5, 10, 8, 1}, {2, 10, 5, 1}},
    {"\347\214\253", "\303\234nder", {0, 1, 0, 0}, {0, 1, 4, 0}, {0, 1, 4, 0}},
    {"\347\214\253 one \347\214\253 one \347\214\253", "\347\214\253 one \347\214\253 one one \347\214\253",
     {5, 0, 1, 0}, {13, 0, 4, 0}, {9, 0, 3, 0}},
    {"A A two two two", "A A two two two", {5, 0, 0, 0}, {15, 0, 0, 0}, {11, 0, 0, 0}},
    {"na\303\257ve na\303\257ve A one", "A one A one", {2, 2, 0, 0}, {8, 3, 0, 6}, {6, 2, 0, 6}},
    {"\347\214\253", "", {0, 0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 1}},
    {"x \347\214\253 one x", "x \347\214\253 one x one", {4, 0, 1, 0}, {9, 0, 4, 0}, {6, 0, 3, 0}},
    {"\347\214\253", "\347\214\253 \347\214\253 two", {1, 0, 2, 0}, {1, 0, 6, 0}, {1, 0, 4, 0}},
    {"two \347\214\253 \347\214\253", "two", {1, 0, 0, 2}, {3, 0, 0, 4}, {3, 0, 0, 2}},
};

static struct wer_line line_of(const char *text)
{
    return (struct wer_line){text, strlen(text)};
}

static void assert_counts(const char *what, size_t i, const struct wer *got, const struct wer *expected)
{
    if (memcmp(got, expected, sizeof *got) != 0)
        fail_msg("%s of \"%s\", \"%s\": %d hits, %d substitutions, %d insertions, %d deletions, not %d, %d, %d, %d", what,
                 golden[i].reference, golden[i].hypothesis, (int)got->hits, (int)got->substitutions, (int)got->insertions,
                 (int)got->deletions, (int)expected->hits, (int)expected->substitutions, (int)expected->insertions,
                 (int)expected->deletions);
}

TEST(counts_are_jiwers)
{
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        struct wer words = {0}, with_spaces = {0}, without = {0};
        wer_words(&words, line_of(golden[i].reference), line_of(golden[i].hypothesis));
        wer_characters(&with_spaces, line_of(golden[i].reference), line_of(golden[i].hypothesis), true);
        wer_characters(&without, line_of(golden[i].reference), line_of(golden[i].hypothesis), false);
        assert_counts("words", i, &words, &golden[i].words);
        assert_counts("characters", i, &with_spaces, &golden[i].with_spaces);
        assert_counts("characters without spaces", i, &without, &golden[i].without);
    }
}

TEST(rates_are_sums_over_lines)
{
    struct wer w = {0};
    wer_words(&w, line_of("one two three"), line_of("one too three four"));
    wer_words(&w, line_of("five"), line_of(""));
    assert_int_equal(wer_reference(&w), 4);
    assert_int_equal(wer_errors(&w), 3);
    assert_true(wer_rate(&w) == 0.75);
    assert_int_equal(w.deletions, 1);
    const struct wer inserted = {.insertions = 3};
    assert_true(wer_rate(&inserted) == 3);
    assert_true(wer_rate(&(struct wer){0}) == 0);
}
