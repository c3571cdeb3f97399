// SPDX-License-Identifier: Apache-2.0
// Cleans foreign text: removes e-mail addresses before it is kept, and invisible characters before it is shown.
// Invariant: every function is idempotent, so an export that is imported again changes nothing. One pass each.
#include <ctype.h>
#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "scoreboard/dawnbench/dawnbench_inside.h"
#include "submit/format/canonical.h"

// Length in bytes of the character at `at`, and its code point. The text is valid UTF-8.
static size_t character(const char *at, const char *end, uint32_t *c)
{
    unsigned char first = (unsigned char)*at;
    size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (length > (size_t)(end - at)) length = (size_t)(end - at);
    *c = length == 1 ? first : first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) *c = *c << 6 | ((unsigned char)at[i] & 0x3f);
    return length;
}

enum { WIDE_SPACE = 0x3000, WIDE_COMMA = 0xff0c, WIDE_AT = 0xff20 };

// Letters of any script are part of an address, their blanks and punctuation are not.
static bool is_foreign_letter(uint32_t c)
{
    return c > 0xa0 && !(c >= 0x2000 && c <= 0x206f) && !(c >= 0x3000 && c <= 0x303f) && !(c >= 0xff00 && c <= 0xff0f) &&
           !(c >= 0xff1a && c <= WIDE_AT);
}

static bool is_domain(uint32_t c)
{
    return (c < 0x80 && (isalnum((int)c) || c == '.' || c == '-')) || is_foreign_letter(c);
}

static bool is_local(uint32_t c)
{
    return is_domain(c) || c == '_' || c == '%' || c == '+';
}

// Length of the domain at `at`: labels joined by dots, the last one beginning with a letter ("1.2.3" is a version). 0: none.
static size_t domain_length(const char *at, const char *end)
{
    const char *stop = at;
    uint32_t c;
    while (stop < end) {
        size_t length = character(stop, end, &c);
        if (!is_domain(c)) break;
        stop += length;
    }
    while (stop > at && (stop[-1] == '.' || stop[-1] == '-')) stop--;
    const char *dot = memrchr(at, '.', (size_t)(stop - at));
    if (dot == NULL || dot == at || stop - dot < 3) return 0;
    return (unsigned char)dot[1] >= 0x80 || isalpha((unsigned char)dot[1]) ? (size_t)(stop - at) : 0;
}

static size_t local_length(const struct text *before)
{
    size_t start = before->length;
    while (start > 0) {
        size_t at = start - 1;
        while (at > 0 && ((unsigned char)before->at[at] & 0xc0) == 0x80) at--;
        uint32_t c;
        character(before->at + at, before->at + start, &c);
        if (!is_local(c)) break;
        start = at;
    }
    return before->length - start;
}

// One pass is enough: "@" is part of neither half, so the text after an address can never complete an earlier one.
bool dawnbench_drop_mail(const char *at, size_t count, struct text *into)
{
    struct text kept = {0};
    const char *end = at + count;
    bool found = false;
    text_bytes(&kept, "", 0);
    while (at < end) {
        uint32_t c;
        size_t length = character(at, end, &c);
        size_t domain = c == '@' || c == WIDE_AT ? domain_length(at + length, end) : 0;
        size_t local = domain > 0 ? local_length(&kept) : 0;
        if (local > 0) {
            found = true;
            kept.length -= local;
            kept.at[kept.length] = 0;
            at += length + domain;
        } else {
            text_bytes(&kept, at, length);
            at += length;
        }
    }
    text_bytes(into, kept.at, kept.length);
    text_free(&kept);
    return found;
}

// True if only separators of addresses are left.
static bool only_separators(const char *text)
{
    const char *end = text + strlen(text);
    while (text < end) {
        uint32_t c;
        text += character(text, end, &c);
        if (c > 0x7f ? c != WIDE_COMMA && c != WIDE_SPACE && c != 0x3001 : strchr(" \t,;|/&<>()", (int)c) == NULL) return false;
    }
    return true;
}

static bool may_hold_mail(const char *at, size_t count)
{
    return memchr(at, '@', count) != NULL || memmem(at, count, "\\u", 2) != NULL || memmem(at, count, "\xef\xbc\xa0", 3) != NULL;
}

// One JSON string with its quotes. It is decoded first: an address can hide behind \u0040, and "\n" is no letter n.
static bool drop_from_literal(const char *at, size_t count, struct text *into)
{
    json_t *value = may_hold_mail(at, count) ? json_loadb(at, count, JSON_DECODE_ANY, NULL) : NULL;
    struct text kept = {0};
    bool found = value != NULL && dawnbench_drop_mail(json_string_value(value), json_string_length(value), &kept);
    if (found) {
        json_t *clean = json_string(only_separators(kept.at) ? "" : kept.at);
        char *literal = json_dumps(clean, JSON_ENCODE_ANY);
        BUG_IF(literal == NULL);
        text_add(into, "%s", literal);
        free(literal);
        json_decref(clean);
    } else {
        text_bytes(into, at, count);
    }
    text_free(&kept);
    json_decref(value);
    return found;
}

bool dawnbench_drop_mail_json(const char *at, size_t count, struct text *into)
{
    const char *end = at + count;
    bool found = false;
    while (at < end) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        text_bytes(into, at, (size_t)((quote != NULL ? quote : end) - at));
        if (quote == NULL) break;
        const char *stop = quote + 1;
        while (stop < end && *stop != '"') stop += *stop == '\\' ? 2 : 1;
        if (stop >= end) BUG("the text is not JSON");
        found |= drop_from_literal(quote, (size_t)(stop + 1 - quote), into);
        at = stop + 1;
    }
    return found;
}

// ---- shown text

static void add_blank(struct text *into)
{
    if (into->length > 0 && into->at[into->length - 1] != ' ') text_bytes(into, " ", 1);
}

static void add_shown(struct text *into, const char *at, size_t length, uint32_t c, int *flags)
{
    if (c == WIDE_COMMA || c == WIDE_SPACE) *flags |= DAWNBENCH_WIDE;
    if (c == ' ' || c == WIDE_SPACE || c == 0xa0) {
        add_blank(into);
    } else if (c == WIDE_COMMA) {
        while (into->length > 0 && into->at[into->length - 1] == ' ') into->length--;
        text_add(into, ", ");
    } else if (length == 1 ? !isprint((int)c) : canonical_check_words(at, length) < 0) {
        *flags |= DAWNBENCH_UNSHOWN;
        if (length == 1) add_blank(into);
    } else {
        text_bytes(into, at, length);
    }
}

char *dawnbench_words(struct arena *arena, const char *text, int *flags)
{
    struct text shown = {0};
    const char *end = text + strlen(text);
    uint32_t first = 'x', c = 'x';
    for (const char *at = text; at < end;) {
        size_t length = character(at, end, &c);
        if (at == text) first = c;
        size_t empty = strncmp(at, "<>", 2) == 0 || strncmp(at, "()", 2) == 0 ? 2 : 0;  // the place of a removed address
        if (empty > 0) add_blank(&shown);
        else add_shown(&shown, at, length, c, flags);
        at += empty > 0 ? empty : length;
    }
    if (first == ' ' || first == WIDE_SPACE || c == ' ' || c == WIDE_SPACE) *flags |= DAWNBENCH_PADDED;
    while (shown.length > 0 && shown.at[shown.length - 1] == ' ') shown.length--;
    char *words = arena_text(arena, "%.*s", (int)shown.length, shown.at != NULL ? shown.at : "");
    text_free(&shown);
    return words;
}

void dawnbench_line(const char *bytes, struct text *into)
{
    json_t *valid = json_string(bytes);
    const char *end = bytes + strlen(bytes);
    while (bytes < end) {
        uint32_t c = (unsigned char)*bytes;
        size_t length = valid != NULL ? character(bytes, end, &c) : 1;
        bool shown = length == 1 ? c < 0x80 && isprint((int)c) : canonical_check_words(bytes, length) == 0;
        text_bytes(into, shown ? bytes : "?", shown ? length : 1);
        bytes += length;
    }
    json_decref(valid);
}

bool dawnbench_stem(const char *stem)
{
    size_t length = strlen(stem);
    if (length < 1 || length > DAWNBENCH_STEM || stem[0] == '.' || stem[0] == '-') return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)stem[i]) && strchr("._+-", stem[i]) == NULL) return false;
    return true;
}

// ---- how many accelerators

// "8 * V100", "16 * 8 * Tesla-V100", "4x GTX 1080 Ti", "1 GPU (...)", "1 NVidia 2080 RTX"
#define TIMES " ?[*xX] ?"
#define NUMBER "([0-9]{1,3})"
#define MAKER "(([Nn][Vv][Ii][Dd][Ii][Aa]|[Tt]esla|[Gg]e[Ff]orce)[ -]?)*([0-9]{4} )?"
#define MODEL "([Gg][Pp][Uu]s?|TPU[a-z0-9]*|[VPKMTAHL][0-9]{1,3}|GTX|RTX)"
#define BREAK "[^0-9A-Za-z.]"
static const char count_first[] = "(^|[^0-9A-Za-z./*-])(" NUMBER TIMES ")?" NUMBER "( ?[*xX] ?| )" MAKER MODEL "(" BREAK "|$)";
// "V100*1-16GB"
static const char count_last[] = "(^|" BREAK ")" MODEL TIMES NUMBER "(" BREAK "|$)";
static regex_t first_form, last_form;

static void compile_forms(void)
{
    BUG_IF(regcomp(&first_form, count_first, REG_EXTENDED) != 0 || regcomp(&last_form, count_last, REG_EXTENDED) != 0);
}

int dawnbench_devices(const char *hardware)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, compile_forms);
    regmatch_t part[6];
    if (strstr(hardware, "node") != NULL) return 0;  // the number is a node's share, or the number of nodes
    if (regexec(&first_form, hardware, 6, part, 0) == 0)
        return atoi(hardware + part[4].rm_so) * (part[3].rm_so >= 0 ? atoi(hardware + part[3].rm_so) : 1);
    if (regexec(&last_form, hardware, 6, part, 0) == 0) return atoi(hardware + part[3].rm_so);
    return 0;
}
