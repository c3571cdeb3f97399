// SPDX-License-Identifier: Apache-2.0
// Links of pages. Every page escapes quotes in its texts, so ` href="` is an attribute wherever it stands.
#include "scoreboard/site/site_inside.h"

#include <string.h>

bool site_next_link(const char *body, size_t count, size_t *at, struct site_link *link)
{
    static const char *const names[] = {" href=\"", " src=\""};
    const char *best = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *found = memmem(body + *at, count - *at, names[i], strlen(names[i]));
        if (found == NULL || (best != NULL && found > best)) continue;
        best = found;
        link->begin = (size_t)(found - body);
        link->value = link->begin + strlen(names[i]);
    }
    if (best == NULL) return false;
    const char *quote = memchr(body + link->value, '"', count - link->value);
    if (quote == NULL) return false;
    link->end = (size_t)(quote - body) + 1;
    *at = link->end;
    return true;
}

static void unescape(const char *text, size_t count, struct text *into)
{
    static const char *const forms[][2] = {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}};
    text_add(into, "%s", "");
    while (count > 0) {
        size_t length = 1, i = 0;
        for (; i < sizeof forms / sizeof *forms; i++) {
            length = strlen(forms[i][0]);
            if (length <= count && memcmp(text, forms[i][0], length) == 0) break;
        }
        if (i == sizeof forms / sizeof *forms) text_bytes(into, text, length = 1);
        else text_add(into, "%s", forms[i][1]);
        text += length, count -= length;
    }
}

void site_address_of(const char *value, size_t count, const char *page, const char *base, struct text *into, bool *absolute)
{
    struct text plain = {0};
    const size_t length = strlen(base);
    unescape(value, count, &plain);
    const char *at = plain.at;
    *absolute = strncmp(at, base, length) == 0 && (at[length] == '/' || at[length] == 0);
    if (*absolute) at += length;
    text_add(into, "%s", "");
    if (*absolute && *at == 0) text_add(into, "/");
    else if (*at == '/' && at[1] != '/') text_add(into, "%s", at);
    else if (*at == '?') text_add(into, "%.*s%s", (int)strcspn(page, "?"), page, at);
    text_free(&plain);
}

void site_relative(const char *from, const char *to, struct text *into)
{
    size_t common = 0;
    for (size_t i = 0; from[i] != 0 && from[i] == to[i]; i++)
        if (from[i] == '/') common = i + 1;
    for (const char *at = from + common; *at != 0; at++)
        if (*at == '/') text_add(into, "../");
    text_add(into, "%s", to + common);
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c == 0 ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c);
    return at != NULL ? (int)(at - digits) : -1;
}

bool site_file_name(const char *path, struct text *into)
{
    text_add(into, "%s", "");
    for (const char *at = path; *at != 0; at++) {
        const int high = *at == '%' ? hex_digit(at[1]) : -1, low = high >= 0 ? hex_digit(at[2]) : -1;
        const char c = low >= 0 ? (char)(16 * high + low) : *at;
        if (low >= 0) at += 2;
        if ((unsigned char)c < ' ' || c == '\\' || (low >= 0 && c == '/')) return false;
        text_add(into, "%c", c);
    }
    static const char *const bad[] = {"//", "/../", "/./"};
    bool good = *path == '/';
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) good = good && strstr(into->at, bad[i]) == NULL;
    return good;
}

static bool is_one_of(const char *at, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        if (strncmp(at, *keys, strlen(*keys)) == 0) return true;
    return false;
}

bool site_is_followed(const char *address)
{
    static const char *const next[] = {"cursor=", "after=", "before=", NULL}, *const levels[] = {"rank=", "trust=", NULL};
    const char *at = strchr(address, '?');
    bool any = false, all = true;
    while (at != NULL) {
        any = any || is_one_of(at + 1, next);
        all = all && is_one_of(at + 1, levels);
        at = strchr(at + 1, '&');
    }
    return any || all;
}
