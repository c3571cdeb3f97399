// SPDX-License-Identifier: Apache-2.0
#include "data/text/words.h"

#include <stdlib.h>

#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"

enum { CURLY_APOSTROPHE = 0x2019 };

void words_free(struct words *words)
{
    free(words->begin);
    free(words->end);
    *words = (struct words){0};
}

static void append_word(struct words *words, size_t begin, size_t end)
{
    if (words->count == words->capacity) {
        words->capacity = 2 * words->capacity + 256;
        words->begin = grow(words->begin, (size_t)words->capacity * sizeof *words->begin);
        words->end = grow(words->end, (size_t)words->capacity * sizeof *words->end);
    }
    words->begin[words->count] = (int32_t)begin;
    words->end[words->count++] = (int32_t)end;
}

// The class of a character, from a table for ASCII.
enum class { OTHER, SPACE, WORD };
static enum class class_of(int32_t c)
{
    if (c < 0x80) {
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return WORD;
        return unicode_is_space(c) ? SPACE : OTHER;
    }
    return unicode_is_word(c) ? WORD : unicode_is_space(c) ? SPACE : OTHER;
}

static bool word_at(const char *text, size_t n, size_t at)
{
    return at < n && class_of(unicode_next(text, n, &at)) == WORD;
}

static bool digit_at(const char *text, size_t n, size_t at)
{
    return at < n && unicode_is_digit(unicode_next(text, n, &at));
}

static bool digit_before(const char *text, size_t at)
{
    size_t from = at - 1;
    while (from > 0 && at - from < UNICODE_BYTES && ((unsigned char)text[from] & 0xC0) == 0x80) from--;
    return digit_at(text, at, from);
}

// The number of bytes of s, d, m, t, re, ve or ll that follow an apostrophe and end the word; 0: not a contraction.
static size_t contraction(const char *text, size_t n, size_t at)
{
    char a = at < n ? text[at] | 0x20 : 0, b = at + 1 < n ? text[at + 1] | 0x20 : 0;
    size_t took = a == 's' || a == 'd' || a == 'm' || a == 't' ? 1 : 0;
    if (((a == 'r' || a == 'v') && b == 'e') || (a == 'l' && b == 'l')) took = 2;
    return took > 0 && !word_at(text, n, at + took) ? took : 0;
}

// If an apostrophe follows the word that begins at `begin`, the text continues at `after`. Appends the word and its
// contraction, and returns the end of the contraction; 0 if there is none.
static size_t cut_contraction(const char *text, size_t n, size_t begin, size_t end, size_t after, struct words *words)
{
    size_t took = contraction(text, n, after), cut = end;
    if (took == 0) return 0;
    if ((text[after] | 0x20) == 't') {
        if ((text[end - 1] | 0x20) != 'n') return 0;
        cut--;
    }
    if (cut > begin) append_word(words, begin, cut);
    append_word(words, cut, after + took);
    return after + took;
}

// The end of the run of word characters that begins at `at`, including characters that stay between digits.
static size_t end_of_word(const char *text, size_t n, size_t at)
{
    while (at < n) {
        size_t next = at;
        int32_t c = unicode_next(text, n, &next);
        bool inner = (c == '.' || c == ',' || c == ':') && digit_before(text, at) && digit_at(text, n, next);
        if (!inner && class_of(c) != WORD) break;
        at = next;
    }
    return at;
}

void words_split(const char *text, size_t n, struct words *words)
{
    BUG_IF(n > INT32_MAX);
    for (size_t at = 0; at < n;) {
        size_t begin = at;
        enum class class = class_of(unicode_next(text, n, &at));
        if (class == SPACE) continue;
        if (class == OTHER) {
            append_word(words, begin, at);
            continue;
        }
        size_t end = end_of_word(text, n, at), after = end;
        int32_t c = end < n ? unicode_next(text, n, &after) : 0;
        at = c == '\'' || c == CURLY_APOSTROPHE ? cut_contraction(text, n, begin, end, after, words) : 0;
        if (at > 0) continue;
        append_word(words, begin, end);
        at = end;
    }
}
