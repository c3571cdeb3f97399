// SPDX-License-Identifier: Apache-2.0
// A line as words. Each rule below is a substitution that scans from left to right and goes on behind what it matched, as the
// regular expressions of the published scripts do: of "a,," the second comma is matched only by a later rule.
#include <stdlib.h>
#include <string.h>

#include "data/text/python.h"
#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"
#include "tasks/common/words/bleu.h"

struct codes {
    int32_t *at;
    size_t count;
};

// ---- replacements

static void replace_text(struct codes *c, const char *old, const char *by)
{
    size_t length = strlen(old), left = 0;
    for (size_t i = 0; i < c->count;) {
        size_t same = 0;
        while (same < length && i + same < c->count && c->at[i + same] == old[same]) same++;
        if (same < length) {
            c->at[left++] = c->at[i++];
            continue;
        }
        for (const char *b = by; *b; b++) c->at[left++] = *b;  // never longer than `old`
        i += length;
    }
    c->count = left;
}

typedef bool is_kind(int32_t);
enum blanks { BLANK_BEFORE = 1, BLANK_BEHIND = 2 };

// Sets blanks at each pair of characters of these kinds, between them and where else; second NULL: at each single one.
static void set_apart(struct codes *c, is_kind *first, is_kind *second, unsigned where)
{
    struct codes to = {grow(NULL, (3 * c->count + 1) * sizeof *to.at), 0};
    for (size_t i = 0; i < c->count;) {
        bool same = first(c->at[i]) && (!second || (i + 1 < c->count && second(c->at[i + 1])));
        if (same && where & BLANK_BEFORE) to.at[to.count++] = ' ';
        to.at[to.count++] = c->at[i++];
        if (same && second) to.at[to.count++] = ' ', to.at[to.count++] = c->at[i++];
        if (same && where & BLANK_BEHIND) to.at[to.count++] = ' ';
    }
    free(c->at);
    *c = to;
}

// ---- mteval-v13a

static bool is_ascii_mark(int32_t c)  // punctuation of ASCII without ' , - .
{
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
           (c >= ':' && c <= '@') || c == '/';
}

static bool is_ascii_digit(int32_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_no_ascii_digit(int32_t c)
{
    return !is_ascii_digit(c);
}

static bool is_point(int32_t c)
{
    return c == '.' || c == ',';
}

static bool is_hyphen(int32_t c)
{
    return c == '-';
}

static void split_13a(struct codes *c)
{
    replace_text(c, "<skipped>", "");
    replace_text(c, "&quot;", "\"");
    replace_text(c, "&amp;", "&");
    replace_text(c, "&lt;", "<");
    replace_text(c, "&gt;", ">");
    // The line stands between blanks, which are characters that the rules may match.
    c->at = grow(c->at, (c->count + 2) * sizeof *c->at);
    memmove(c->at + 1, c->at, c->count * sizeof *c->at);
    c->at[0] = c->at[c->count + 1] = ' ';
    c->count += 2;
    set_apart(c, is_ascii_mark, NULL, BLANK_BEFORE | BLANK_BEHIND);
    set_apart(c, is_no_ascii_digit, is_point, BLANK_BEHIND);
    set_apart(c, is_point, is_no_ascii_digit, BLANK_BEFORE);
    set_apart(c, is_ascii_digit, is_hyphen, BLANK_BEHIND);
}

// ---- mteval-v14, international

static bool is_no_number(int32_t c)
{
    return !unicode_is_number(c);
}

static bool is_no_digit(int32_t c)
{
    return !unicode_is_digit(c);
}

static void split_intl(struct codes *c, is_kind *plain)
{
    set_apart(c, plain, unicode_is_punctuation, BLANK_BEHIND);
    set_apart(c, unicode_is_punctuation, plain, BLANK_BEFORE);
    set_apart(c, unicode_is_symbol, NULL, BLANK_BEFORE | BLANK_BEHIND);
}

int32_t *bleu_split(const struct bleu_rules *rules, struct bleu_line line, size_t *count)
{
    struct codes c;
    c.at = python_codes(line.at, line.bytes, rules->lowercase, &c.count);
    while (rules->words != BLEU_T2T && c.count > 0 && python_is_space(c.at[c.count - 1])) c.count--;
    if (rules->words == BLEU_13A) split_13a(&c);
    if (rules->words == BLEU_INTL) split_intl(&c, is_no_number);
    if (rules->words == BLEU_T2T) split_intl(&c, is_no_digit);
    size_t left = 0;
    c.at = grow(c.at, (c.count + 1) * sizeof *c.at);
    for (size_t i = 0; i <= c.count; i++) {  // one blank behind each word, and no other white space
        bool space = i == c.count || python_is_space(c.at[i]);
        if (!space) c.at[left++] = c.at[i];
        else if (left > 0 && c.at[left - 1] != ' ') c.at[left++] = ' ';
    }
    *count = left;
    return c.at;
}
