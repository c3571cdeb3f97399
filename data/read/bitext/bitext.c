// SPDX-License-Identifier: Apache-2.0
#include "data/read/bitext/bitext.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"

bool bitext_is_blank(const struct bitext_line *l)
{
    for (int32_t i = 0; i < l->length; i++)
        if (l->at[i] != ' ' && l->at[i] != '\t' && l->at[i] != '\r') return false;
    return true;
}

int bitext_check(const char *name, int64_t number, const struct bitext_line *l)
{
    size_t n = (size_t)l->length;
    const char *zero = memchr(l->at, '\0', n);
    if (l->length > BITEXT_LINE)
        return fail(ERR_INPUT, "%s:%lld: the line has %zu bytes; at most %d are read", name, (long long)number, n, BITEXT_LINE);
    size_t valid = unicode_valid(l->at, n);
    if (valid < n)
        return fail(ERR_INPUT, "%s:%lld: byte %zu of the line is not UTF-8", name, (long long)number, valid + 1);
    if (zero != NULL)
        return fail(ERR_INPUT, "%s:%lld: byte %zu of the line is zero", name, (long long)number, (size_t)(zero - l->at) + 1);
    return 0;
}

static int check_sentence(const char *name, int64_t number, const struct bitext_line *l)
{
    TRY(bitext_check(name, number, l));
    if (!bitext_is_blank(l)) return 0;
    return fail(ERR_INPUT, "%s:%lld: the line is empty; each line must have a sentence", name, (long long)number);
}

int bitext_cut(const char *name, const char *text, size_t n, struct bitext_lines *into)
{
    *into = (struct bitext_lines){0};
    for (size_t at = 0, capacity = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : n - at, next = at + length + 1;
        if (length > 0 && text[at + length - 1] == '\r') length--;
        if ((size_t)into->lines == capacity) {
            capacity = 2 * capacity + 1024;
            into->line = grow(into->line, capacity * sizeof *into->line);
        }
        into->line[into->lines++] = (struct bitext_line){text + at, (int32_t)length};
        if ((int32_t)length > into->longest) into->longest = (int32_t)length;
        at = next;
    }
    return into->lines > 0 ? 0 : fail(ERR_INPUT, "%s has no line", name);
}

int bitext_parse(const char *name, const char *text, size_t n, struct bitext_lines *into)
{
    int rc = bitext_cut(name, text, n, into);
    for (int64_t i = 0; i < into->lines && rc == 0; i++) rc = check_sentence(name, i + 1, &into->line[i]);
    if (rc == 0) return 0;
    free(into->line);
    *into = (struct bitext_lines){0};
    return rc;
}
