// SPDX-License-Identifier: Apache-2.0
// Checks text for people. It decodes UTF-8 itself, because other readers accept overlong forms and surrogates, which attackers
// use. Invariant: accepted text has no character that is invisible, that reorders its neighbours, or that every font draws
// differently. Names in any living script pass; emoji that are joined from several ones do not. Cost: one pass.
#include "submit/format/canonical.h"

#include <string.h>
#include <utf8proc.h>

// One refused range of code points, and its name.
static const struct {
    uint32_t first, last;
    const char *what;
} refused[] = {
    {0x0000, 0x001f, "a control character"},
    {0x007f, 0x009f, "a control character"},
    {0x00ad, 0x00ad, "an invisible hyphen"},
    {0x034f, 0x034f, "an invisible joiner"},
    {0x061c, 0x061c, "a mark that changes the direction of writing"},
    {0x115f, 0x1160, "an invisible filler"},
    {0x17b4, 0x17b5, "an invisible vowel"},
    {0x180b, 0x180f, "an invisible variation mark"},
    {0x200b, 0x200d, "a character without width"},
    {0x200e, 0x200f, "a mark that changes the direction of writing"},
    {0x2028, 0x2029, "a line separator"},
    {0x202a, 0x202e, "a mark that changes the direction of writing"},
    {0x2060, 0x2065, "a character without width"},
    {0x2066, 0x2069, "a mark that changes the direction of writing"},
    {0x206a, 0x206f, "an invisible format character"},
    {0x3164, 0x3164, "an invisible filler"},
    {0xe000, 0xf8ff, "a character for private use"},
    {0xfdd0, 0xfdef, "no character"},
    {0xfe00, 0xfe0f, "an invisible variation mark"},
    {0xfeff, 0xfeff, "a byte order mark"},
    {0xffa0, 0xffa0, "an invisible filler"},
    {0xfff0, 0xfffb, "an invisible format character"},
    {0x40000, 0xeffff, "unassigned, or an invisible tag"},
    {0xf0000, 0x10ffff, "a character for private use"},
};

static const uint32_t blanks[] = {0x20, 0xa0, 0x1680, 0x202f, 0x205f, 0x2800, 0x3000};

static bool is_blank(uint32_t c)
{
    if (c >= 0x2000 && c <= 0x200a) return true;
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        if (c == blanks[i]) return true;
    return false;
}

// Decodes one character; 0: the bytes are not UTF-8. The smallest value for each length refuses overlong forms.
static size_t decode(const unsigned char *at, size_t left, uint32_t *c)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = *at < 0x80 ? 1 : (*at & 0xe0) == 0xc0 ? 2 : (*at & 0xf0) == 0xe0 ? 3 : (*at & 0xf8) == 0xf0 ? 4 : 0;
    if (length == 0 || length > left) return 0;
    *c = length == 1 ? *at : *at & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        *c = *c << 6 | (at[i] & 0x3f);
    }
    if (*c < smallest[length] || *c > 0x10ffff || (*c >= 0xd800 && *c <= 0xdfff)) return 0;
    return length;
}

static int check_character(uint32_t c, size_t byte)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (c >= refused[i].first && c <= refused[i].last)
            return fail(ERR_INPUT, "the text holds U+%04X at byte %zu, which is %s", (unsigned)c, byte, refused[i].what);
    if ((c & 0xfffe) == 0xfffe)  // the last two of every plane
        return fail(ERR_INPUT, "the text holds U+%04X at byte %zu, which is no character", (unsigned)c, byte);
    return 0;
}

static int check(const char *text, size_t count, bool ends)
{
    const unsigned char *at = (const unsigned char *)text;
    uint32_t c = 'x';  // not a blank
    size_t last = 0;
    for (size_t i = 0; i < count;) {
        size_t length = decode(at + i, count - i, &c);
        if (length == 0) return fail(ERR_INPUT, "the text is not UTF-8 at byte %zu, which is 0x%02x", i, at[i]);
        TRY(check_character(c, i));
        if (ends && i == 0 && is_blank(c)) return fail(ERR_INPUT, "the text begins with the blank U+%04X", (unsigned)c);
        last = i;
        i += length;
    }
    if (ends && is_blank(c)) return fail(ERR_INPUT, "the text ends with the blank U+%04X at byte %zu", (unsigned)c, last);
    return 0;
}

int canonical_check_words(const char *text, size_t count)
{
    return check(text, count, true);
}

int canonical_check_text(const char *text, size_t count)
{
    return check(text, count, false);
}

int canonical_check_marks(const char *text, size_t count)
{
    const int most = 4;  // on one letter: Hebrew and Vietnamese need three
    const unsigned char *at = (const unsigned char *)text;
    int marks = 0;
    bool letter = false;
    uint32_t c;
    for (size_t i = 0, length; i < count; i += length) {
        length = decode(at + i, count - i, &c);
        if (length == 0) return fail(ERR_INPUT, "the text is not UTF-8 at byte %zu, which is 0x%02x", i, at[i]);
        const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)c);
        bool mark = property->category == UTF8PROC_CATEGORY_MN || property->category == UTF8PROC_CATEGORY_ME;
        if (property->ignorable) return fail(ERR_INPUT, "the text holds U+%04X at byte %zu, which is invisible", (unsigned)c, i);
        if (mark && !letter) return fail(ERR_INPUT, "the text begins with the combining mark U+%04X", (unsigned)c);
        marks = mark ? marks + 1 : 0;
        letter = true;
        if (marks > most) return fail(ERR_INPUT, "more than %d combining marks are on one letter, before byte %zu", most, i);
    }
    return 0;
}

static bool has_blank(const char *text, size_t count)
{
    uint32_t c;
    for (size_t i = 0; i < count; i += decode((const unsigned char *)text + i, count - i, &c)) {
        decode((const unsigned char *)text + i, count - i, &c);
        if (is_blank(c)) return true;
    }
    return false;
}

int canonical_check_url(const char *text, size_t count)
{
    static const char scheme[] = "https://";
    const size_t start = sizeof scheme - 1;
    TRY(canonical_check_text(text, count));
    if (count < start || memcmp(text, scheme, start) != 0)
        return fail(ERR_INPUT, "an address must begin with %s, not \"%.60s\"", scheme, text);
    if (has_blank(text, count)) return fail(ERR_INPUT, "the address \"%.200s\" holds a blank", text);
    const char *host = text + start;
    size_t length = strcspn(host, "/?#");
    if (length == 0 || strchr(".:-", *host) != NULL) return fail(ERR_INPUT, "the address \"%.200s\" names no host", text);
    if (memchr(host, '@', length) != NULL)
        return fail(ERR_INPUT, "the address \"%.200s\" has a user in it, which would hide its host", text);
    return 0;
}
