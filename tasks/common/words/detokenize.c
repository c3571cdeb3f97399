// SPDX-License-Identifier: Apache-2.0
// Each word is set behind a blank or not, by what it is and by what the word before it was. Quotes open and close in turn: those
// of each kind are counted.
#include "tasks/common/words/detokenize.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/python.h"
#include "data/text/unicode.h"
#include "data/text/vocabulary.h"
#include "runtime/common/base/text.h"
#include "tasks/common/words/bleu.h"

struct words {
    const char *text;
    size_t n;
    const char *word;  // the one at hand
    size_t length;
    const char *last;  // the byte before its blank; NULL: it is the first
};

// ---- escapes

// The first rows are those that the tokenizer of Moses writes.
enum { ESCAPED = 8 };
static const char *const escapes[][2] = {
    {"&#124;", "|"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&#91;", "["}, {"&#93;", "]"},
    {"&amp;", "&"}, {" @-@ ", "-"}, {"&bar;", "|"}, {"&bra;", "["}, {"&ket;", "]"},
};

static const char *escape_of(int32_t c)
{
    for (int i = 0; i < ESCAPED; i++)
        if (c == escapes[i][1][0]) return escapes[i][0];
    return NULL;
}

static size_t unescape(const char *text, size_t n, struct text *into)
{
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        size_t length = strlen(escapes[i][0]);
        if (length > n || memcmp(text, escapes[i][0], length) != 0) continue;
        text_bytes(into, escapes[i][1], 1);
        return length;
    }
    text_bytes(into, text, 1);
    return 1;
}

// The line with one blank around each word, and without escapes.
static void normalise(const char *line, size_t n, struct text *into)
{
    struct text blanks = {0};
    text_bytes(&blanks, " ", 1);
    for (size_t at = 0, from = 0; at < n; from = at) {
        bool space = python_is_space(unicode_next(line, n, &at));
        if (!space) text_bytes(&blanks, line + from, at - from);
        else if (blanks.at[blanks.length - 1] != ' ') text_bytes(&blanks, " ", 1);
    }
    if (blanks.at[blanks.length - 1] != ' ') text_bytes(&blanks, " ", 1);
    for (size_t i = 0; i < blanks.length;) i += unescape(blanks.at + i, blanks.length - i, into);
    text_free(&blanks);
}

// ---- kinds of words

typedef bool is_kind(int32_t);

static bool all_are(const struct words *w, is_kind *kind)
{
    for (size_t at = 0; at < w->length;)
        if (!kind(unicode_next(w->word, w->length, &at))) return false;
    return true;
}

static bool is_opening(int32_t c)  // and currencies
{
    return c == '(' || c == '[' || c == '{' || c == 0xBF || c == 0xA1 || unicode_is_currency(c);
}

static bool is_closing(int32_t c)
{
    return c > 0 && c < 0x80 && strchr(",.?!:;\\%}])", (int)c) != NULL;
}

static bool is_quote(int32_t c)
{
    return c == '\'' || c == '"' || c == '`' || c == 0x201E || c == 0x201C;
}

static bool is_german_quote(int32_t c)
{
    return c == 0x201E || c == 0x201C;
}

// ---- words

static bool next_word(struct words *w)
{
    size_t at = w->word == NULL ? 0 : (size_t)(w->word - w->text) + w->length;
    w->last = w->word == NULL ? NULL : w->text + at - 1;
    while (at < w->n && w->text[at] == ' ') at++;
    const char *end = at < w->n ? memchr(w->text + at, ' ', w->n - at) : NULL;
    w->word = w->text + at;
    w->length = (end != NULL ? (size_t)(end - w->text) : w->n) - at;
    return w->length > 0;
}

static bool is_contraction(const struct words *w)
{
    if (w->last == NULL || w->length < 2 || w->word[0] != '\'') return false;
    size_t at = 1;
    int32_t c = unicode_next(w->word, w->length, &at);
    return unicode_is_letter_or_number(c) && !unicode_is_number(c);
}

// What joins the word: to the word before it, or the word behind it.
enum { JOINS_BEFORE = 1, JOINS_BEHIND = 2 };
static int joins_quote(const struct words *w, struct vocabulary *quotes)
{
    const char *kind = all_are(w, is_german_quote) ? "\"" : w->word;
    size_t n = *kind == '"' && kind != w->word ? 1 : w->length;
    int32_t known = vocabulary_find(quotes, kind, n);
    bool open = known < 0 || vocabulary_times(quotes, known) % 2 == 0;
    if (open && w->length == 1 && *w->word == '\'' && w->last != NULL && *w->last == 's') return JOINS_BEFORE;
    vocabulary_add(quotes, kind, n);
    return open ? JOINS_BEHIND : JOINS_BEFORE;
}

static int joins(const struct words *w, struct vocabulary *quotes)
{
    if (all_are(w, is_opening)) return JOINS_BEHIND;
    if (all_are(w, is_closing)) return JOINS_BEFORE;
    if (is_contraction(w)) return JOINS_BEFORE;
    return all_are(w, is_quote) ? joins_quote(w, quotes) : 0;
}

void detokenize(const char *line, size_t n, struct text *into)
{
    struct text text = {0};
    struct vocabulary *quotes = vocabulary_new();
    bool joined = true;  // by the word before; the first one needs no blank
    normalise(line, n, &text);
    for (struct words w = {.text = text.at, .n = text.length}; next_word(&w);) {
        int how = joins(&w, quotes);
        if (!joined && how != JOINS_BEFORE) text_bytes(into, " ", 1);
        text_bytes(into, w.word, w.length);
        joined = how == JOINS_BEHIND;
    }
    vocabulary_free(quotes);
    text_free(&text);
}

void detokenize_reverse(const char *line, size_t n, bool lowercase, struct text *into)
{
    const struct bleu_rules rules = {BLEU_13A, lowercase};
    size_t count;
    int32_t *code = bleu_split(&rules, (struct bleu_line){line, n}, &count);
    for (size_t i = 0; i < count; i++) {
        char bytes[UNICODE_BYTES];
        const char *escape = escape_of(code[i]);
        if (code[i] == '\'' && i > 0 && code[i - 1] != ' ') text_add(into, " ");  // "dog's" is two words
        if (escape) text_add(into, "%s", escape);
        else if (i + 1 < count || code[i] != ' ') text_bytes(into, bytes, (size_t)unicode_put(code[i], bytes));
    }
    free(code);
}
