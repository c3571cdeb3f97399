// SPDX-License-Identifier: Apache-2.0
#include "data/read/bitext/bitext.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"

static bool is_blank(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' && text[i] != '\t') return false;
    return true;
}

static int check_line(const char *name, int64_t number, const char *text, size_t n)
{
    size_t valid = unicode_valid(text, n);
    const char *zero = memchr(text, '\0', n);
    if (n > BITEXT_LINE)
        return fail(ERR_INPUT, "%s:%lld: the line has %zu bytes; at most %d are read", name, (long long)number, n, BITEXT_LINE);
    if (valid < n)
        return fail(ERR_INPUT, "%s:%lld: byte %zu of the line is not UTF-8", name, (long long)number, valid + 1);
    if (zero != NULL)
        return fail(ERR_INPUT, "%s:%lld: byte %zu of the line is zero", name, (long long)number, (size_t)(zero - text) + 1);
    if (is_blank(text, n))
        return fail(ERR_INPUT, "%s:%lld: the line is empty; each line must have a sentence", name, (long long)number);
    return 0;
}

static int cut_lines(const char *name, const char *text, size_t n, struct bitext_lines *into)
{
    for (size_t at = 0, room = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : n - at, next = at + length + 1;
        if (length > 0 && text[at + length - 1] == '\r') length--;
        TRY(check_line(name, into->lines + 1, text + at, length));
        if ((size_t)into->lines == room) {
            room = 2 * room + 1024;
            into->line = grow(into->line, room * sizeof *into->line);
        }
        into->line[into->lines++] = (struct bitext_line){text + at, (int32_t)length};
        if ((int32_t)length > into->longest) into->longest = (int32_t)length;
        at = next;
    }
    return into->lines > 0 ? 0 : fail(ERR_INPUT, "%s has no line", name);
}

int bitext_parse(const char *name, const char *text, size_t n, struct bitext_lines *into)
{
    *into = (struct bitext_lines){0};
    int rc = cut_lines(name, text, n, into);
    if (rc == 0) return 0;
    free(into->line);
    *into = (struct bitext_lines){0};
    return rc;
}
