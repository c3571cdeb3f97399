// SPDX-License-Identifier: Apache-2.0
// Escaping. Invariant: between two pieces of literal markup there is never a byte that a browser could take for markup, for any
// bytes from outside. Workload: some thousand calls per page. Cost: one pass over the bytes.
#include "runtime/common/draw/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define REPLACEMENT "\xef\xbf\xbd"

// Length of the character at `at`, 0 if it is not valid UTF-8 (overlong forms, surrogates, beyond U+10FFFF).
static size_t character(const unsigned char *at, size_t left, uint32_t *code)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf8 ? 4 : 0;
    if (length == 0 || length > left) return 0;
    *code = length == 1 ? at[0] : at[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (at[i] & 0x3f);
    }
    bool bad = *code < lowest[length] || *code > 0x10ffff || (*code >= 0xd800 && *code <= 0xdfff);
    return bad ? 0 : length;
}

// Characters that are never shown: controls, and those that change the direction of all text after them.
static bool hidden(uint32_t code)
{
    if (code < 0x20) return code != '\n' && code != '\t';
    return (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static const char *entity(uint32_t code)
{
    switch (code) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void html_escape(struct text *into, const char *text, size_t count)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + count, *plain = at;
    while (at < end) {
        uint32_t code = 0;
        size_t length = character(at, (size_t)(end - at), &code);
        const char *instead = length == 0 || hidden(code) ? REPLACEMENT : entity(code);
        if (length == 0) length = 1;
        if (instead != NULL) {
            text_bytes(into, plain, (size_t)(at - plain));
            text_bytes(into, instead, strlen(instead));
            plain = at + length;
        }
        at += length;
    }
    text_bytes(into, plain, (size_t)(end - plain));
}

// A parsed conversion of the format. The caller reads its value, because a va_list may be read in one place only.
struct conversion {
    char spec[32];  // "%-8.3f", with stars already replaced
    int precision;  // negative: none given
    int longs;      // of "l"
    bool size;      // "z"
    char letter;
    const char *end;
};

static void spec_add(struct conversion *c, size_t *length, const char *bytes, size_t count)
{
    BUG_IF(*length + count >= sizeof c->spec);
    memcpy(c->spec + *length, bytes, count);
    c->spec[ *length += count] = 0;
}

static const char *read_conversion(const char *at, va_list *args, struct conversion *c)
{
    *c = (struct conversion){.precision = -1};
    size_t length = 0;
    bool dot = false;
    spec_add(c, &length, at++, 1);
    for (; strchr("-+ #0123456789.*lz", *at) != NULL && *at != 0; at++) {
        char number[16];
        int value = 0;
        if (*at == '*') {
            value = va_arg(*args, int);
            snprintf(number, sizeof number, "%d", value);
            spec_add(c, &length, number, strlen(number));
        } else {
            spec_add(c, &length, at, 1);
        }
        if (*at == '.')
            dot = true, c->precision = 0;
        else if (dot && *at == '*')
            c->precision = value;
        else if (dot && *at >= '0' && *at <= '9')
            c->precision = c->precision * 10 + (*at - '0');
        c->longs += *at == 'l', c->size |= *at == 'z';
    }
    c->letter = *at;
    spec_add(c, &length, at, 1);
    return at + 1;
}

static void add_integer(struct text *into, const struct conversion *c, va_list *args)
{
    // The compiler checked the letter (format attribute), so the type follows from it.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (c->size)
        text_add(into, c->spec, va_arg(*args, size_t));
    else if (c->longs == 0)
        text_add(into, c->spec, va_arg(*args, int));
    else if (c->longs == 1)
        text_add(into, c->spec, va_arg(*args, long));
    else
        text_add(into, c->spec, va_arg(*args, long long));
#pragma GCC diagnostic pop
}

static void add_value(struct text *into, const struct conversion *c, va_list *args)
{
    switch (c->letter) {
    case '%': text_bytes(into, "%", 1); return;
    case 's': {
        const char *value = va_arg(*args, const char *);
        if (value == NULL) return;
        html_escape(into, value, c->precision < 0 ? strlen(value) : strnlen(value, (size_t)c->precision));
        return;
    }
    case 'c': {
        char one = (char)va_arg(*args, int);
        html_escape(into, &one, 1);
        return;
    }
    case 'd':
    case 'i':
    case 'u':
    case 'x': add_integer(into, c, args); return;
    case 'f':
    case 'e':
    case 'g': {
        double value = va_arg(*args, double);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        text_add(into, c->spec, isfinite(value) ? value : 0.0);
#pragma GCC diagnostic pop
        return;
    }
    default: BUG("a conversion that html_add does not know");
    }
}

void html_add_literal(struct text *into, const char *markup, ...)
{
    va_list args;
    va_start(args, markup);
    while (*markup != 0) {
        size_t plain = strcspn(markup, "%");
        text_bytes(into, markup, plain);
        markup += plain;
        if (*markup == 0) break;
        struct conversion c;
        markup = read_conversion(markup, &args, &c);
        add_value(into, &c, &args);
    }
    va_end(args);
}

void html_words(struct text *into, const char *words)
{
    html_add(into, "<bdi>%s</bdi>", words);
}

bool html_url_is_safe(const char *url)
{
    size_t scheme = strncasecmp(url, "https://", 8) == 0 ? 8 : strncasecmp(url, "http://", 7) == 0 ? 7 : 0;
    if (scheme == 0 || url[scheme] == 0 || url[scheme] == '/') return false;
    for (const unsigned char *c = (const unsigned char *)url; *c != 0; c++) {
        if (*c <= 0x20 || *c >= 0x7f || strchr("\"'<>\\^`{|}", *c) != NULL) return false;
    }
    return true;
}

void html_link(struct text *into, const char *url, const char *label)
{
    if (html_url_is_safe(url))
        html_add(into, "<a href=\"%s\" rel=\"nofollow noopener ugc\"><bdi>%s</bdi></a>", url, label);
    else
        html_words(into, label);
}

const char *html_part(struct arena *arena, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    static const char digits[] = "0123456789ABCDEF";
    char *part = arena_alloc(arena, strlen(text) * 3 + 1), *at = part;
    for (const unsigned char *c = (const unsigned char *)text; *c != 0; c++) {
        if (strchr(plain, *c) != NULL) {
            *at++ = (char)*c;
        } else {
            *at++ = '%', *at++ = digits[*c >> 4], *at++ = digits[*c & 15];
        }
    }
    return part;
}
