// SPDX-License-Identifier: Apache-2.0
// Lines as people type them, in the form of each task's training text.
#include "data/dataset.h"
#include "tasks/translation/pairs.h"
#include "test/unit/test.h"

static void assert_source(struct dataset *ds, int64_t index, const char *expected)
{
    char line[128];
    int64_t length;
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "source", index, line, sizeof line - 1, &length), 0);
    line[length] = 0;
    assert_string_equal(line, expected);
}

TEST(marks_are_apart_and_escaped)
{
    static const char sentence[] = "A [dog|cat]'s \"<B>\" & C.";
    struct dataset *ds;
    assert_int_equal(pairs_ask(NULL, NULL, 0, sentence, &ds), 0);
    assert_source(ds, 0, "a &#91; dog &#124; cat &#93; &apos;s &quot; &lt; b &gt; &quot; &amp; c .");
    dataset_close(ds);
    assert_int_equal(pairs_ask_cased(NULL, NULL, 0, sentence, &ds), 0);
    assert_source(ds, 0, "A &#91; dog &#124; cat &#93; &apos;s &quot; &lt; B &gt; &quot; &amp; C .");
    dataset_close(ds);
    assert_int_equal(pairs_ask_plain(NULL, NULL, 0, sentence, &ds), 0);
    assert_source(ds, 0, sentence);
    dataset_close(ds);
}

TEST(blank_lines_stay)
{
    static const char text[] = "A\r\n\n \t\r\nb";
    struct dataset *ds;
    assert_int_equal(pairs_ask(NULL, text, sizeof text - 1, NULL, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 4);
    assert_source(ds, 0, "a");
    assert_source(ds, 1, "");
    assert_source(ds, 3, "b");
    dataset_close(ds);
    assert_int_equal(pairs_ask(NULL, NULL, 0, " \t", &ds), ERR_USAGE);
    assert_int_equal(pairs_ask(NULL, "", 0, NULL, &ds), ERR_INPUT);
    assert_fails(pairs_ask_plain(NULL, "a\nb\xff", 4, NULL, &ds), ERR_INPUT, "the text:2: byte 2 of the line is not UTF-8");
}
