// SPDX-License-Identifier: Apache-2.0
// Byte pair encoding: merges worked out by hand, ties, other people's files, and a round trip.
#include "test/unit/test.h"
#include "test/unit/test_data.h"

#include "data/dataset.h"
#include "data/text/bpe.h"

// Learns from a text; the code file without its first line.
static char *learn(const char *text, int64_t merges)
{
    struct vocabulary *words = vocabulary_new();
    struct text code = {0};
    assert_int_equal(bpe_count_words(text, strlen(text), words), 0);
    assert_int_equal(bpe_learn(words, merges, &code), 0);
    vocabulary_free(words);
    static const char header[] = "#version: 0.2\n";
    assert_memory_equal(code.at, header, sizeof header - 1);
    char *rest = strdup(code.at + sizeof header - 1);
    text_free(&code);
    return rest;
}

static void assert_learned(const char *text, int64_t merges, const char *expected)
{
    char *code = learn(text, merges);
    assert_string_equal(code, expected);
    free(code);
}

static struct bpe *bpe_of(const char *code)
{
    struct bpe *bpe = NULL;
    struct text whole = {0};
    text_add(&whole, "#version: 0.2\n%s", code);
    assert_int_equal(bpe_parse("code", whole.at, whole.length, &bpe), 0);
    text_free(&whole);
    return bpe;
}

static void assert_segments(const struct bpe *bpe, const char *line, const char *expected)
{
    struct text into = {0};
    text_bytes(&into, "", 0);
    bpe_segment(bpe, line, strlen(line), &into);
    assert_string_equal(into.at, expected);
    text_free(&into);
}

// low x 5, lower x 2, newest x 6, widest x 3: the example of Sennrich et al. 2016. Of the pairs "e s" and "s t</w>", 9 each, the
// larger one comes first.
TEST(learned_by_hand)
{
    static const char text[] = "low low low low low lower lower newest newest newest newest newest newest widest widest widest\n";
    assert_learned(text, 0, "");
    assert_learned(text, 3, "s t</w>\ne st</w>\nl o\n");
    assert_learned("a b c\n", 10, "");
    assert_learned("", 10, "");
    assert_learned("ab\nab\tab  cd\r\ncd", 10, "a b</w>\nc d</w>\n");
    // All pairs occur once or twice: nothing is merged that occurs once.
    assert_learned("xy xy pq", 10, "x y</w>\n");
}

// Equal counts: the larger pair by code point. "n</w>" < "na" because '<' < 'a', and U+00E4 > 'z'.
TEST(ties_by_code_point)
{
    assert_learned("ab ab cd cd", 9, "c d</w>\na b</w>\n");
    assert_learned("az az a\xc3\xa4 a\xc3\xa4", 9, "a \xc3\xa4</w>\na z</w>\n");
    assert_learned("xa xa xay xay", 1, "x a</w>\n");
    assert_learned("xa xa xay xay xay", 1, "x a\n");
    assert_learned("\xef\xbf\xa0q \xef\xbf\xa0q \xf0\x9f\x98\x80q \xf0\x9f\x98\x80q", 1, "\xf0\x9f\x98\x80 q</w>\n");
}

TEST(runs_of_one_character)
{
    // aaaaa x 2: a a occurs 3 x 2 times (with overlap), then "aa aa" and "aa a</w>" twice each, and "aa a</w>" is no larger.
    assert_learned("aaaaa aaaaa", 9, "a a\naa aa\naaaa a</w>\n");
    struct bpe *bpe = bpe_of("a a\n");
    assert_segments(bpe, "aaaaaa aaa a", "aa@@ aa@@ a@@ a aa@@ a a");
    bpe_free(bpe);
}

// The earliest merge first, and it joins all its pairs from the left.
TEST(segments)
{
    struct bpe *bpe = bpe_of("b c\na b\nbc d</w>\n\xc3\xa4 u\n");
    assert_segments(bpe, "", "");
    assert_segments(bpe, "  ", "");
    assert_segments(bpe, "abcd abc bcd", "a@@ bcd ab@@ c bcd");
    assert_segments(bpe, " ab\tabx\r", "a@@ b ab@@ x");
    assert_segments(bpe, "h\xc3\xa4user \xff\xc3\xa4u", "h@@ \xc3\xa4u@@ s@@ e@@ r \xff@@ \xc3\xa4@@ u");
    assert_segments(bpe, "\xc2\xa0""bc\xe2\x80\xa8x", "\xc2\xa0@@ bc@@ \xe2\x80\xa8@@ x");  // NBSP and U+2028 are no blanks
    bpe_free(bpe);
}

static void assert_ids(const struct bpe *bpe, const char *line, const char *expected)
{
    int32_t id[64];
    struct text names = {0};
    text_bytes(&names, "", 0);
    int64_t count = bpe_encode(bpe, line, strlen(line), id);
    assert_int_equal(bpe_encode(bpe, line, strlen(line), NULL), count);
    assert_true(count <= (int64_t)strlen(line));
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) text_bytes(&names, " ", 1);
        bpe_name(bpe, id[i], &names);
    }
    assert_string_equal(names.at, expected);
    text_free(&names);
}

TEST(numbers)
{
    static const char text[] = "ab ab ab abc cb cb";
    struct vocabulary *words = vocabulary_new();
    assert_int_equal(bpe_count_words(text, strlen(text), words), 0);
    struct bpe *bpe = bpe_of("a b</w>\na b\nc a\n");
    bpe_number(bpe, words);
    vocabulary_free(words);
    // ab 3; b and c@@ 2 each; ab@@ and c 1 each. Equal counts by their bytes: "ab" before "c</w>", "b</w>" before "c".
    static const char *const names[] = {"<pad>", "<s>", "</s>", "<unk>", "ab", "b", "c@@", "ab@@", "c"};
    assert_int_equal(bpe_count(bpe), 9);
    for (int32_t id = 0; id < 9; id++) {
        struct text name = {0};
        bpe_name(bpe, id, &name);
        assert_string_equal(name.at, names[id]);
        text_free(&name);
    }
    assert_ids(bpe, "ab abc  cb", "ab ab@@ c c@@ b");
    assert_ids(bpe, "cab", "c@@ ab");          // not seen as a word
    assert_ids(bpe, "cac", "c@@ <unk> c");     // "ca" was not seen: its characters; "a" was not seen either
    assert_ids(bpe, "x", "<unk>");
    assert_ids(bpe, "x\xc3\xa4 \xff", "<unk> <unk> <unk>");
    assert_ids(bpe, "", "");
    static const int32_t ids[] = {BPE_BOS, 6, 5, 4, BPE_PAD, 7, BPE_UNKNOWN, 6, BPE_EOS, 4};
    struct text line = {0};
    bpe_decode(bpe, ids, 10, &line);
    assert_string_equal(line.at, "cb ab ab<unk> c");
    text_free(&line);
    bpe_free(bpe);
}

// ---- against the definition

enum { MOST_WORDS = 300, MOST_SYMBOLS = 24, SYMBOL = 64, MOST_PAIRS = MOST_WORDS * MOST_SYMBOLS };
struct spelling {
    char symbol[MOST_SYMBOLS][SYMBOL];
    int count;
};
struct plain_pair {
    char symbol[2][SYMBOL];
    int times;
};

static int compare_pairs(const struct plain_pair *a, const struct plain_pair *b)
{
    int order = strcmp(a->symbol[0], b->symbol[0]);
    if (a->times != b->times) return a->times - b->times;
    return order != 0 ? order : strcmp(a->symbol[1], b->symbol[1]);
}

// Counts again, and returns the most frequent pair.
static struct plain_pair best_pair(const struct spelling *word, int words)
{
    static struct plain_pair pair[MOST_PAIRS];
    struct plain_pair best = {.times = 0};
    int pairs = 0, p;
    for (int w = 0; w < words; w++)
        for (int i = 0; i + 1 < word[w].count; i++) {
            for (p = 0; p < pairs; p++)
                if (strcmp(pair[p].symbol[0], word[w].symbol[i]) == 0 && strcmp(pair[p].symbol[1], word[w].symbol[i + 1]) == 0)
                    break;
            if (p == pairs) {
                strcpy(pair[pairs].symbol[0], word[w].symbol[i]);
                strcpy(pair[pairs].symbol[1], word[w].symbol[i + 1]);
                pair[pairs++].times = 0;
            }
            pair[p].times++;
        }
    for (p = 0; p < pairs; p++)
        if (compare_pairs(&pair[p], &best) > 0) best = pair[p];
    return best;
}

static void merge_plainly(const struct plain_pair *pair, struct spelling *word)
{
    int to = 0;
    for (int i = 0; i < word->count; i++, to++) {
        bool found = i + 1 < word->count && strcmp(word->symbol[i], pair->symbol[0]) == 0 &&
                     strcmp(word->symbol[i + 1], pair->symbol[1]) == 0;
        memmove(word->symbol[to], word->symbol[i], SYMBOL);
        if (!found) continue;
        size_t length = strlen(word->symbol[to]);
        snprintf(word->symbol[to] + length, SYMBOL - length, "%s", pair->symbol[1]);
        i++;
    }
    word->count = to;
}

// A text of words of a few different characters, which have long runs and many ties, and each word as its symbols.
static int draw_words(uint32_t draw, struct spelling *word, struct text *text)
{
    static const char *const letters[] = {"a", "b", "\xc3\xa4", "a", "\xf0\x9f\x98\x80", "c"};
    int words = 20 + (int)(draw % 200);
    for (int w = 0; w < words; w++) {
        word[w].count = 0;
        do {
            draw = draw * 1664525u + 1013904223u;
            const char *letter = letters[(draw >> 20) % (2 + draw % 5)];
            strcpy(word[w].symbol[word[w].count++], letter);
            text_add(text, "%s", letter);
        } while (draw >> 30 != 0 && word[w].count < MOST_SYMBOLS);
        strcat(word[w].symbol[word[w].count - 1], "</w>");
        text_add(text, " ");
    }
    return words;
}

TEST(as_defined)
{
    static struct spelling word[MOST_WORDS];
    for (uint32_t round = 1; round <= 30; round++) {
        struct text text = {0}, expected = {0}, segmented = {0};
        int words = draw_words(round * 7919, word, &text), merges = 0;
        text_bytes(&expected, "", 0);
        for (struct plain_pair best; merges < 60 && (best = best_pair(word, words)).times >= 2;) {
            char line[2 * SYMBOL + 3];
            snprintf(line, sizeof line, "%s %s\n", best.symbol[0], best.symbol[1]);
            const char *known = strstr(expected.at, line);
            if (known == NULL || (known != expected.at && known[-1] != '\n')) text_add(&expected, "%s", line), merges++;
            for (int w = 0; w < words; w++) merge_plainly(&best, &word[w]);
        }
        assert_learned(text.at, 60, expected.at);
        struct bpe *bpe = bpe_of(expected.at);
        bpe_segment(bpe, text.at, text.length, &segmented);
        bpe_free(bpe);
        text_free(&text);
        text_free(&expected);
        text_free(&segmented);
    }
}

// Encoding and decoding gives the text that was learned.
TEST(round_trip)
{
    static struct spelling word[MOST_WORDS];
    for (uint32_t round = 1; round <= 10; round++) {
        struct text text = {0}, code = {0}, back = {0};
        struct vocabulary *words = vocabulary_new();
        struct bpe *bpe;
        draw_words(round * 104729, word, &text);
        assert_int_equal(bpe_count_words(text.at, text.length, words), 0);
        assert_int_equal(bpe_learn(words, 40, &code), 0);
        assert_int_equal(bpe_parse("code", code.at, code.length, &bpe), 0);
        bpe_number(bpe, words);
        int32_t *id = malloc(text.length * sizeof *id);
        int64_t count = bpe_encode(bpe, text.at, text.length, id);
        for (int64_t i = 0; i < count; i++) assert_in_range(id[i], BPE_FIRST, bpe_count(bpe) - 1);
        bpe_decode(bpe, id, count, &back);
        text.at[--text.length] = '\0';  // the blank at its end
        assert_string_equal(back.at, text.at);
        free(id);
        text_free(&text);
        text_free(&code);
        text_free(&back);
        vocabulary_free(words);
        bpe_free(bpe);
    }
}

TEST(files_that_are_wrong)
{
    static const struct {
        const char *bytes, *sentence;
    } wrong[] = {
        {"", "v is empty: it has no merges"},
        {"a b\n", "v: line 1 is not \"#version: 0.2\", as in the files of subword-nmt 0.2"},
        {"#version: 0.1\na b\n", "v: line 1 is not \"#version: 0.2\", as in the files of subword-nmt 0.2"},
        {"#version: 0.2 \na b\n", "v: line 1 is not \"#version: 0.2\", as in the files of subword-nmt 0.2"},
        {"#version: 0.2\na b\n\nc d\n", "v: line 3 is empty; every line has to hold one merge"},
        {"#version: 0.2\na\n", "v: line 2 is not two symbols with a blank between them"},
        {"#version: 0.2\na b c\n", "v: line 2 is not two symbols with a blank between them"},
        {"#version: 0.2\n b\n", "v: line 2 is not two symbols with a blank between them"},
        {"#version: 0.2\na \n", "v: line 2 is not two symbols with a blank between them"},
        {"#version: 0.2\na  b\n", "v: line 2 is not two symbols with a blank between them"},
        {"#version: 0.2\na b\nb c\na b\n", "v: line 4 repeats the merge of line 2"},
        {"#version: 0.2\na \xff\n", "v: line 2 is not text in UTF-8"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct bpe *bpe = (struct bpe *)&wrong;
        assert_int_equal(bpe_parse("v", wrong[i].bytes, strlen(wrong[i].bytes), &bpe), ERR_INPUT);
        assert_string_equal(error_text(), wrong[i].sentence);
        assert_null(bpe);
    }
    struct bpe *bpe;
    assert_int_equal(bpe_parse("code", "#version: 0.2\r\na b</w>\r\n", 24, &bpe), 0);
    assert_segments(bpe, "ab", "ab");
    bpe_free(bpe);
}

// The published `code` file of Multi30k (LividWo/Revisit-MMT) and the number of tokens, if the data set is there.
TEST(published)
{
    char *home = dataset_default_folder(), *text[2] = {0};
    size_t n[2];
    struct vocabulary *words = vocabulary_new();
    bool there = true;
    for (int i = 0; i < 2; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/multi30k/train.lc.norm.tok.%s", home, i == 0 ? "en" : "de");
        there = there && file_read(path, 1 << 24, &text[i], &n[i]) == 0;
        if (there) assert_int_equal(bpe_count_words(text[i], n[i], words), 0);
    }
    static const int64_t expected[3][4] = {
        {10000, 397793, 400507, 9708}, {4000, 436781, 451680, 4046}, {2000, 487528, 514114, 2090}};
    for (int k = 0; there && k < 3; k++) {
        struct text code = {0};
        struct bpe *bpe;
        char hex[DIGEST_HEX];
        assert_int_equal(bpe_learn(words, expected[k][0], &code), 0);
        digest_bytes(code.at, code.length, hex);
        if (k == 0) assert_string_equal(hex, "5b545f318e49f24367c7399019c9aeb5e3720b6379a08f887c2792af71c37f2a");
        assert_int_equal(bpe_parse("code", code.at, code.length, &bpe), 0);
        bpe_number(bpe, words);
        for (int i = 0; i < 2; i++) assert_int_equal(bpe_encode(bpe, text[i], n[i], NULL), expected[k][1 + i]);
        assert_int_equal(bpe_count(bpe), expected[k][3] + BPE_FIRST);
        text_free(&code);
        bpe_free(bpe);
    }
    for (int i = 0; i < 2; i++) free(text[i]);
    vocabulary_free(words);
    free(home);
    if (!there) skip();
}
