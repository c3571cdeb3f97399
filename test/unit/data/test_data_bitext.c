// SPDX-License-Identifier: Apache-2.0
// Parallel text: what ends a line, wrong files and their sentences, the validation's digest; MLPerf's files; and the drawn
// phrases.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/dataset.h"
#include "data/fetch/source.h"
#include "data/read/bitext/bitext.h"
#include "runtime/common/base/text.h"

static int parse(const char *text, struct bitext_lines *lines)
{
    return bitext_parse("x.en", text, strlen(text), lines);
}

TEST(only_line_feeds_end_lines)
{
    // NBSP, U+2028, U+0085 and a lone CR are part of a line.
    static const char text[] = "a b\r\n c\xc2\xa0" "d\ne\xe2\x80\xa8" "f\xc2\x85g\nh\ri";
    static const char *const expected[] = {"a b", " c\xc2\xa0" "d", "e\xe2\x80\xa8" "f\xc2\x85g", "h\ri"};
    struct bitext_lines lines;
    assert_int_equal(parse(text, &lines), 0);
    assert_int_equal(lines.lines, 4);
    assert_int_equal(lines.longest, 8);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(lines.line[i].length, strlen(expected[i]));
        assert_memory_equal(lines.line[i].at, expected[i], strlen(expected[i]));
    }
    free(lines.line);
}

TEST(wrong_lines_are_named)
{
    struct bitext_lines lines;
    char *longest = malloc(BITEXT_LINE + 2);
    assert_fails(parse("", &lines), ERR_INPUT, "x.en has no line");
    assert_fails(parse("a\n\nb\n", &lines), ERR_INPUT, "x.en:2: the line is empty");
    assert_fails(parse("a\n \t \r\nb\n", &lines), ERR_INPUT, "x.en:2: the line is empty");
    assert_fails(parse("a\nb\xff\n", &lines), ERR_INPUT, "x.en:2: byte 2 of the line is not UTF-8");
    assert_fails(bitext_parse("x.en", "a\0b\n", 4, &lines), ERR_INPUT, "x.en:1: byte 2 of the line is zero");
    memset(longest, 'a', BITEXT_LINE + 1);
    longest[BITEXT_LINE + 1] = 0;
    assert_fails(parse(longest, &lines), ERR_INPUT, "x.en:1: the line has 65537 bytes; at most 65536 are read");
    assert_null(lines.line);
    longest[BITEXT_LINE] = 0;
    assert_int_equal(parse(longest, &lines), 0);
    free(lines.line);
    free(longest);
}

static void put_all(const char *text)
{
    for (const struct source_file *f = source_find("multi30k")->file; f->name; f++) put(f->name, text, strlen(text));
}

TEST_WITH(files_are_pairs, set_up, leave)
{
    struct dataset *ds;
    char row[8], hex[3][DIGEST_HEX];
    int64_t length;
    assert_fails(dataset_open("multi30k", folder, &ds), ERR_MISSING, "train.lc.norm.tok.en is missing");
    put_all("a\nb c\n");
    assert_int_equal(dataset_open("multi30k", folder, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 2);
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "target", 1, row, sizeof row, &length), 0);
    assert_int_equal(length, 3);
    assert_memory_equal(row, "b c", 3);
    assert_int_equal(dataset_item(ds, SPLIT_TEST, "target", 1, row, 2, &length), ERR_USAGE);
    dataset_close(ds);
    put("test_2016_flickr.lc.norm.tok.de", "a\n", 2);
    assert_fails(dataset_open("multi30k", folder, &ds), ERR_INPUT,
                 "test_2016_flickr.lc.norm.tok.en has 2 lines and test_2016_flickr.lc.norm.tok.de has 1");
    // The validation files stand in for the test: they have a digest of their own, and no verdict makes them the contest's.
    put("val.lc.norm.tok.de", "x\ny\n", 4);
    put("test_2016_flickr.lc.norm.tok.de", "a\nb\n", 4);
    enum dataset_verdict verdict;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dataset_open(i ? "multi30k-val" : "multi30k", folder, &ds), 0);
        assert_int_equal(dataset_content_digest(ds, SPLIT_TEST, hex[i]), 0);
        if (i) assert_int_equal(dataset_content_digest(ds, SPLIT_TRAIN, hex[2]), 0);
        assert_int_equal(dataset_item(ds, SPLIT_TEST, "target", 1, row, sizeof row, &length), 0);
        assert_int_equal(row[0], i ? 'y' : 'b');
        assert_int_equal(dataset_verify(ds, &verdict), 0);
        assert_int_equal(verdict, DATASET_CUSTOM);
        dataset_close(ds);
    }
    assert_string_not_equal(hex[0], hex[1]);
    assert_string_not_equal(hex[1], hex[2]);
}

static char *line_of(struct dataset *ds, enum split split, const char *field, int64_t i)
{
    char line[128];
    int64_t length;
    assert_int_equal(dataset_item(ds, split, field, i, line, sizeof line - 1, &length), 0);
    line[length] = 0;
    return strdup(line);
}

TEST(phrases_are_drawn_alike)
{
    struct dataset *ds;
    enum dataset_verdict verdict;
    assert_int_equal(dataset_open("phrases", NULL, &ds), 0);
    char *english = line_of(ds, SPLIT_TRAIN, "source", 0), *german = line_of(ds, SPLIT_TRAIN, "target", 0);
    assert_string_equal(english, "the young horse draws a strong bicycle in the snow .");
    assert_string_equal(german, "im schnee malt das junge pferd ein starkes fahrrad .");
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_SYNTHETIC);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TEST], 500);
    free(english);
    free(german);
    dataset_close(ds);
}

// ---- WMT, as MLPerf's scripts write it

static void assert_pair(struct dataset *ds, enum split split, int64_t index, const char *source, const char *target)
{
    char row[64];
    int64_t length;
    assert_int_equal(dataset_item(ds, split, "source", index, row, sizeof row, &length), 0);
    assert_int_equal(length, strlen(source));
    assert_memory_equal(row, source, strlen(source));
    assert_int_equal(dataset_item(ds, split, "target", index, row, sizeof row, &length), 0);
    assert_int_equal(length, strlen(target));
    assert_memory_equal(row, target, strlen(target));
}

TEST_WITH(pieces_are_undone_but_not_in_references, set_up, leave)
{
    struct dataset *ds;
    char hex[DIGEST_HEX], expected[DIGEST_HEX];
    assert_fails(dataset_open("wmt16", folder, &ds), ERR_MISSING, "train.tok.clean.bpe.32000.en is missing, which");
    put_text("train.tok.clean.bpe.32000.en", "Res@@ um@@ ption of a@@ @@ b\nx\n");
    put_text("train.tok.clean.bpe.32000.de", "Wieder@@ aufnahme @\ny@@\n");
    put_text("newstest2014.tok.bpe.32000.en", "G@@ ut@@ ach : a\n");
    put_text("newstest2014.de", "Gut@@ ach: a\n");
    assert_int_equal(dataset_open("wmt16", folder, &ds), 0);
    assert_pair(ds, SPLIT_TRAIN, 0, "Resumption of ab", "Wiederaufnahme @");
    assert_pair(ds, SPLIT_TRAIN, 1, "x", "y@@");
    assert_pair(ds, SPLIT_TEST, 0, "Gutach : a", "Gut@@ ach: a");
    assert_null(bitext_subtokens(ds));
    static const char files[] = "wmt16 test 98408086a9282de8b29e6baa82cd7acf 2c0a850a78d94cca9bc5c1aa470ca834";
    digest_bytes(files, sizeof files - 1, expected);
    assert_int_equal(dataset_content_digest(ds, SPLIT_TEST, hex), 0);
    assert_string_equal(hex, expected);
    enum dataset_verdict verdict;
    assert_int_equal(dataset_verify(ds, &verdict), 0);
    assert_int_equal(verdict, DATASET_CUSTOM);
    dataset_close(ds);
}

TEST_WITH(pairs_without_words_are_left_out_of_training, set_up, leave)
{
    struct dataset *ds;
    char *longest = malloc(BITEXT_LINE + 8);
    memset(longest, 'a', BITEXT_LINE + 1);
    strcpy(longest + BITEXT_LINE + 1, "\nd");
    put_text("wmt32k-compiled-train.lang1", "a\n \t\r\nb\r\n\nc\nd");
    put_text("wmt32k-compiled-train.lang2", "A\nB\nC\nD\n");
    assert_fails(dataset_open("wmt17", folder, &ds), ERR_INPUT, "lang1 has 6 lines and ");
    put_text("wmt32k-compiled-train.lang2", "A\nB\nC\nD\n\nF\n");
    assert_fails(dataset_open("wmt17", folder, &ds), ERR_IO, "newstest2014.en");
    put_text("newstest2014.en", "x\n");
    put_text("newstest2014.de", "y\n");
    assert_int_equal(dataset_open("wmt17", folder, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 3);
    assert_int_equal(dataset_facts(ds)->left_out, 3);
    assert_pair(ds, SPLIT_TRAIN, 1, "b", "C");
    assert_pair(ds, SPLIT_TRAIN, 2, "d", "F");
    assert_string_equal(bitext_subtokens(ds), in("vocab.ende.32768"));
    dataset_close(ds);
    put_text("wmt32k-compiled-train.lang1", longest);
    put_text("wmt32k-compiled-train.lang2", "A\nB\n");
    assert_int_equal(dataset_open("wmt17", folder, &ds), 0);
    assert_pair(ds, SPLIT_TRAIN, 0, "d", "B");
    dataset_close(ds);
    longest[BITEXT_LINE] = '\n';  // as long as a line may be, before "\n" and before nothing
    strcpy(longest + BITEXT_LINE + 1, "d");
    put_text("wmt32k-compiled-train.lang1", longest);
    assert_int_equal(dataset_open("wmt17", folder, &ds), 0);
    assert_int_equal(dataset_facts(ds)->left_out, 0);
    dataset_close(ds);
    longest[BITEXT_LINE] = 0;
    put_text("wmt32k-compiled-train.lang1", longest);
    put_text("wmt32k-compiled-train.lang2", "A");
    assert_int_equal(dataset_open("wmt17", folder, &ds), 0);
    assert_int_equal(dataset_facts(ds)->count[SPLIT_TRAIN], 1);
    dataset_close(ds);
    put_text("wmt32k-compiled-train.lang1", "\nb\n\nc\xff\n");  // lines have their numbers in the file
    put_text("wmt32k-compiled-train.lang2", "A\nB\nC\nD\n");
    assert_fails(dataset_open("wmt17", folder, &ds), ERR_INPUT, "lang1:4: byte 2 of the line is not UTF-8");
    put_text("wmt32k-compiled-train.lang1", "\nb\n\n");
    put_text("wmt32k-compiled-train.lang2", "A\n \t\r\nC\n");
    assert_fails(dataset_open("wmt17", folder, &ds), ERR_INPUT, "have no pair of sentences");
    put_text("wmt32k-compiled-train.lang1", "b\n");
    put_text("wmt32k-compiled-train.lang2", "B\n");
    put_text("newstest2014.en", "x\n\n");  // a test leaves nothing out
    put_text("newstest2014.de", "y\nz\n");
    assert_fails(dataset_open("wmt17", folder, &ds), ERR_INPUT, "newstest2014.en:2: the line is empty");
    free(longest);
}
