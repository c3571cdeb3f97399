// SPDX-License-Identifier: Apache-2.0
// Subtokens: ids and lines equal MLPerf's tokenizer.py with the same vocabulary; wrong files; any line comes back.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/text/subtokens.h"

static const char vocabulary[] = "'<pad>'\n'<EOS>'\n'the_'\n'_'\n'Hund'\n'e_'\n'läuft_'\n', _'\n'._'\n'a'\n'b'\n'c'\n'd'\n'\\'\n"
                                 "'u'\n'3'\n"
                                 "';'\n'0'\n'1'\n'2'\n'6'\n'4'\n'8'\n'l'\n'.'\n'ä'\n' '\n'äu'\n";

static struct subtokens *subtokens_of(const char *text)
{
    struct subtokens *s;
    if (subtokens_parse("vocab", text, strlen(text), &s) < 0) fail_msg("%s", error_text());
    return s;
}

// Ids as text, and the line that they decode to.
static void assert_cut(const char *line, const char *ids, const char *back)
{
    struct subtokens *s = subtokens_of(vocabulary);
    int32_t id[256];
    struct text got = {0}, decoded = {0};
    text_bytes(&got, "", 0), text_bytes(&decoded, "", 0);
    int64_t count = subtokens_encode(s, line, strlen(line), id);
    for (int64_t i = 0; i < count; i++) text_add(&got, "%s%d", i ? " " : "", id[i]);
    assert_string_equal(got.at, ids);
    id[count] = BPE_EOS, id[count + 1] = BPE_FIRST;  // nothing counts behind the end
    subtokens_decode(s, id, count + 2, &decoded);
    assert_string_equal(decoded.at, back);
    text_free(&got), text_free(&decoded);
    subtokens_free(s);
}

TEST(lines_are_cut_as_by_the_published_tokenizer)
{
    assert_cut("the Hunde läuft, the.", "4 6 7 8 9 4 10", "the Hunde läuft, the.");
    assert_cut("a_b\\c", "11 5 15 16 5 12 5 15 15 5 13 5", "a_b\\c");
    assert_cut("Ža 3", "15 17 24 20 18 11 5 17 5", "Ža 3");  // "Ž" is "\381;"
    assert_cut("aä..b", "11 27 5 26 10 12 5", "aä..b");
    assert_cut(" \t the\xc2\xa0 ", "4", "the");
    assert_cut("", "", "");
    assert_cut("a , b", "11 5 28 9 12 5", "a , b");
}

TEST(what_cannot_be_spelled_is_unknown)
{
    struct subtokens *s = subtokens_of("'a_'\n'b'\n");
    int32_t id[8];
    assert_int_equal(subtokens_count(s), BPE_FIRST + 2);
    assert_int_equal(subtokens_encode(s, "b", 1, id), 2);  // "b_"
    assert_int_equal(id[0], BPE_FIRST + 1);
    assert_int_equal(id[1], BPE_UNKNOWN);
    assert_int_equal(subtokens_encode(s, "\xa4", 1, id), SUBTOKENS_PER_BYTE);  // "\65533;_": no line is longer per byte
    subtokens_free(s);
}

TEST(escapes_of_no_character_are_replaced)
{
    struct subtokens *s = subtokens_of("'\\55296;_'\n'\\1114112;_'\n'\\0;_'\n'\\x_'\n'\\9_'\n");
    const int32_t id[] = {BPE_FIRST, BPE_FIRST + 1, BPE_FIRST + 2, BPE_BOS, BPE_FIRST + 3, BPE_FIRST + 4};
    struct text decoded = {0};
    subtokens_decode(s, id, 6, &decoded);
    assert_string_equal(decoded.at, "〓〓〓\\x\\9");
    text_free(&decoded);
    subtokens_free(s);
}

TEST(wrong_vocabularies_are_named)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {{"", "vocab has no subtokens"},
                 {"'<pad>'\n'<EOS>'\n", "vocab has no subtokens"},
                 {"'a'\n\n", "vocab:2: the line is not a subtoken in single quotes"},
                 {"'a'\n''\n", "vocab:2: the line is not a subtoken"},
                 {"'a'\nb\n", "vocab:2: the line is not a subtoken"},
                 {"'a'\n'b'\n'a'\n", "vocab:3: the line repeats another"},
                 {"'a'\n'\xff'\n", "vocab:2: the line is not text in UTF-8"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct subtokens *s;
        assert_fails(subtokens_parse("vocab", wrong[i].text, strlen(wrong[i].text), &s), ERR_INPUT, wrong[i].says);
        assert_null(s);
    }
}
