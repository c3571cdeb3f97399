// SPDX-License-Identifier: Apache-2.0
// Articles: sentences of paragraphs, both forms of files, wrong files and their sentences, and the drawn articles.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/dataset.h"
#include "data/fetch/source.h"
#include "data/read/wiki/wiki.h"
#include "runtime/common/base/text.h"

static int parse(const char *text, struct wiki_articles *a)
{
    return wiki_parse("w_00", text, strlen(text), a);
}

static int parse_lines(const char *text, struct wiki_articles *a)
{
    return wiki_parse_lines("part", text, strlen(text), a);
}

static void assert_article(const struct wiki_articles *a, int64_t i, const char *expected)
{
    assert_int_equal(a->at[i + 1] - a->at[i], strlen(expected));
    assert_memory_equal(a->text + a->at[i], expected, strlen(expected));
}

// ---- sentences

TEST(paragraphs_are_cut_into_sentences)
{
    static const char text[] = "<doc id=\"1\" url=\"u\" title=\"T\">\nT\n\nOne is here. Two! Three? four. \"Five\". "
                               "Six (e.g. S\xc3\xa3o) b.C \n"
                               "\t Next paragraph...   Ends so.\r\n\n</doc>\n"
                               "<doc id=\"2\">\nTitle. Not Read\nA. \xc3\x84. B\n</doc>\n";
    struct wiki_articles a = {0};
    assert_int_equal(parse(text, &a), 0);
    assert_int_equal(a.articles, 2);
    assert_article(&a, 0,
                   "One is here.\nTwo!\nThree? four. \"Five\".\nSix (e.g.\nS\xc3\xa3o) b.C\nNext paragraph...\nEnds so.\n");
    assert_article(&a, 1, "A. \xc3\x84.\nB\n");  // A to Z alone begin a sentence
    assert_int_equal(a.longest, a.at[1]);
    // Another file goes on.
    assert_int_equal(parse("<doc>\nx", &a), ERR_INPUT);
    assert_int_equal(parse("<doc >\nT\nc\n</doc>", &a), 0);
    assert_int_equal(a.articles, 3);
    assert_article(&a, 2, "c\n");
    wiki_free(&a);
}

TEST(lines_are_sentences)
{
    struct wiki_articles a = {0};
    assert_int_equal(parse_lines("\n\nOne. Two.\n b \r\n\n \n\nc", &a), 0);
    assert_int_equal(a.articles, 2);
    assert_article(&a, 0, "One. Two.\nb\n");
    assert_article(&a, 1, "c\n");
    wiki_free(&a);
}

TEST(an_article_may_have_a_title_alone)
{
    struct wiki_articles a = {0};
    assert_int_equal(parse("<doc a>\nT\n\n</doc>\n<doc b>\nU\nx\n</doc>\n<doc c>\n</doc>\n", &a), 0);
    assert_int_equal(a.articles, 1);
    assert_int_equal(a.empty, 2);
    wiki_free(&a);
}

// ---- faults

TEST(wrong_files_are_named)
{
    struct wiki_articles a = {0};
    assert_fails(parse("", &a), ERR_INPUT, "w_00 has no article with a text");
    assert_fails(parse("<doc a>\nT\n</doc>\n", &a), ERR_INPUT, "w_00 has no article with a text");
    assert_fails(parse("<doc a>\nT\nx\n", &a), ERR_INPUT, "w_00:1: the article that begins here has no </doc>");
    assert_fails(parse("\n<doc a>\nT\nx\n<doc b>\n", &a), ERR_INPUT,
                 "w_00:5: an article begins, but the article of line 2 has no </doc> yet");
    assert_fails(parse("<doc a>\nT\nx\n</doc>\n\nmore\n", &a), ERR_INPUT,
                 "w_00:6: a text outside of an article: <doc ...> must come");
    assert_fails(parse("text\n<doc a>\n", &a), ERR_INPUT, "w_00:1: a text outside of an article");
    assert_fails(parse("</doc>\n", &a), ERR_INPUT, "w_00:1: </doc> ends no article");
    assert_fails(parse("<doc a>\nT\nx\n</doc>\n</doc>\n", &a), ERR_INPUT, "w_00:5: </doc> ends no article");
    assert_fails(parse("<doc a>\nT\nx\xffy\n</doc>\n", &a), ERR_INPUT, "w_00:3: byte 2 of the line is not UTF-8");
    assert_fails(wiki_parse("w", "<doc a>\nT\na\0b\n</doc>\n", 20, &a), ERR_INPUT, "w:3: byte 2 of the line is zero");
    assert_fails(parse_lines("\n\n \n", &a), ERR_INPUT, "part has no article");
    assert_fails(parse_lines("a\n\xc3\n", &a), ERR_INPUT, "part:2: byte 1 of the line is not UTF-8");
    assert_int_equal(a.articles, 0);
    assert_int_equal(a.bytes, 0);
    assert_int_equal(a.empty, 0);
    wiki_free(&a);
}

TEST(a_line_of_a_megabyte_is_refused)
{
    struct wiki_articles a = {0};
    struct text text = {0};
    text_add(&text, "<doc a>\nT\n");
    for (int i = 0; i < 1 << 20; i += 16) text_add(&text, "0123456789abcde ");
    text_add(&text, "\n</doc>\n");
    assert_fails(parse(text.at, &a), ERR_INPUT, "w_00:3: the line has 1048576 bytes; at most 524288 are read");
    text_free(&text);
    wiki_free(&a);
}

// ---- the data sets

static void assert_item(struct dataset *ds, enum split split, int64_t index, const char *expected)
{
    char row[256];
    int64_t length;
    assert_int_equal(dataset_item(ds, split, "text", index, row, sizeof row, &length), 0);
    assert_int_equal(length, strlen(expected));
    assert_memory_equal(row, expected, strlen(expected));
}

TEST_WITH(the_sample_is_four_files, set_up, leave)
{
    static const char one[] = "<doc a>\nT\nx\n</doc>\n",
        two[] = "<doc a>\nT\nx\n</doc>\n<doc b>\nT\ny. Z\n</doc>\n<doc c>\nT\n</doc>\n";
    struct dataset *ds;
    enum dataset_verdict verdict;
    assert_fails(dataset_open("wiki-sample", folder, &ds), ERR_MISSING, "wiki_00 is missing");
    for (const struct source_file *f = source_find("wiki-sample")->file; f->name; f++) put_text(f->name, one);
    assert_fails(dataset_open("wiki-sample", folder, &ds), ERR_INPUT, "the test text is one article; a sentence of another one");
    put_text("wiki_03", two);
    assert_int_equal(dataset_open("wiki-sample", folder, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 3);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 2);
    assert_int_equal(dataset_facts(ds)->left_out, 1);
    assert_item(ds, SPLIT_TEST, 1, "y.\nZ\n");
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    dataset_close(ds);
    put_text("wiki_02", "<doc a>\nT\nx\n");
    assert_fails(dataset_open("wiki-sample", folder, &ds), ERR_INPUT, "wiki_02:1: the article that begins here has no </doc>");
}

TEST_WITH(the_whole_is_parts_and_an_evaluation, set_up, leave)
{
    struct dataset *ds;
    char hex[DIGEST_HEX], expected[DIGEST_HEX];
    enum dataset_verdict verdict;
    assert_fails(dataset_open("wiki", folder, &ds), ERR_MISSING, "eval.txt is missing");
    put_text("eval.txt", "a b.\nc\n\nd\n");
    assert_fails(dataset_open("wiki", folder, &ds), ERR_MISSING, "has no part-00000-of-00500 and the like");
    put_text("part-00001-of-00500", "second\n");
    put_text("part-00000-of-00500", "first\nof two\n");
    assert_int_equal(dataset_open("wiki", folder, &ds), 0);
    assert_item(ds, SPLIT_TRAIN, 0, "first\nof two\n");
    assert_item(ds, SPLIT_TRAIN, 1, "second\n");
    assert_item(ds, SPLIT_TEST, 0, "a b.\nc\n");
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    static const char files[] = "wiki test 9b48370ef7800591fab2e66f14fcf78d";
    digest_bytes(files, sizeof files - 1, expected);
    assert_int_equal(dataset_content_digest(ds, SPLIT_TEST, hex), 0);
    assert_string_equal(hex, expected);
    dataset_close(ds);
}

TEST(articles_are_drawn_alike)
{
    struct dataset *ds;
    enum dataset_verdict verdict;
    struct text text = {0};
    assert_int_equal(dataset_open("articles", NULL, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 240);
    char row[4096];
    int64_t length;
    assert_int_equal(dataset_item(ds, SPLIT_TRAIN, "text", 0, row, sizeof row, &length), 0);
    static const char first[] = "In spring the otters come to the banks of the Bela.\n"
                                "For many years printing was forbidden, and the";
    assert_memory_equal(row, first, sizeof first - 1);
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_SYNTHETIC);
    text_free(&text);
    dataset_close(ds);
}

// A person's lines with the training text of another set.
TEST(lines_are_asked)
{
    struct dataset *like, *ds;
    assert_int_equal(dataset_open("articles", NULL, &like), 0);
    assert_int_equal(wiki_ask(like, "one [MASK]\r\ntwo", 15, &ds), 0);
    assert_true(wiki_is_asked(ds) && !wiki_is_asked(like));
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 240);
    assert_item(ds, SPLIT_TEST, 0, "one [MASK]\n");
    assert_item(ds, SPLIT_TEST, 1, "two\n");
    dataset_close(ds);
    assert_fails(wiki_ask(like, "a\n\nb", 4, &ds), ERR_INPUT, "line 2 of the text has no article");
    assert_fails(wiki_ask(NULL, "", 0, &ds), ERR_INPUT, "the text has no line");
    assert_fails(wiki_ask(NULL, "a\n\xff", 3, &ds), ERR_INPUT, "line 2 of the text:1: byte 1 of the line is not UTF-8");
    dataset_close(like);
}
