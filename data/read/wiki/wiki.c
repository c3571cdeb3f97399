// SPDX-License-Identifier: Apache-2.0
#include "data/read/wiki/wiki.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"

static const char BEGIN[] = "<doc ", END[] = "</doc>";

struct reading {
    const char *name;
    struct wiki_articles *into;
    int64_t line, begun;  // begun: the line on which the open article begins; 0: none is open
};

// ---- lines

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static int check_line(const struct reading *r, const char *text, size_t n)
{
    size_t valid = unicode_valid(text, n);
    const char *zero = memchr(text, '\0', n);
    if (n > WIKI_LINE)
        return fail(ERR_INPUT, "%s:%lld: the line has %zu bytes; at most %d are read", r->name, (long long)r->line, n, WIKI_LINE);
    if (valid < n)
        return fail(ERR_INPUT, "%s:%lld: byte %zu of the line is not UTF-8", r->name, (long long)r->line, valid + 1);
    if (zero != NULL)
        return fail(ERR_INPUT, "%s:%lld: byte %zu of the line is zero", r->name, (long long)r->line, (size_t)(zero - text) + 1);
    return 0;
}

// Calls `take` for each line, without blanks on its sides.
static int read_lines(struct reading *r, const char *text, size_t n, int (*take)(struct reading *, const char *, size_t))
{
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at), *line = text + at;
        size_t length = end != NULL ? (size_t)(end - line) : n - at;
        at += length + 1, r->line++;
        TRY(check_line(r, line, length));
        while (length > 0 && is_blank(line[length - 1])) length--;
        while (length > 0 && is_blank(*line)) line++, length--;
        TRY(take(r, line, length));
    }
    return 0;
}

// ---- articles

static void add_sentence(struct wiki_articles *a, const char *text, size_t n)
{
    if (a->bytes + n + 1 > a->capacity) {
        a->capacity = 2 * (a->bytes + n + 1);
        a->text = grow(a->text, a->capacity);
    }
    memcpy(a->text + a->bytes, text, n);
    a->text[a->bytes + n] = '\n';
    a->bytes += n + 1;
}

static int64_t article_begin(const struct wiki_articles *a)
{
    return a->articles > 0 ? a->at[a->articles] : 0;
}

// Ends the article to which sentences were added since the last one; false if there were none.
static bool end_article(struct wiki_articles *a)
{
    int64_t length = (int64_t)a->bytes - article_begin(a);
    if (length == 0) return false;
    if (a->articles + 1 >= a->at_capacity) {
        a->at_capacity = 2 * a->at_capacity + 256;
        a->at = grow(a->at, (size_t)a->at_capacity * sizeof *a->at);
    }
    a->at[0] = 0;
    a->at[++a->articles] = (int64_t)a->bytes;
    if (length > a->longest) a->longest = length;
    return true;
}

static bool ends_sentence(char c)
{
    return c == '.' || c == '!' || c == '?';
}

static void add_paragraph(struct wiki_articles *a, const char *text, size_t n)
{
    size_t begin = 0;
    for (size_t i = 0; i < n; i++) {
        if (!ends_sentence(text[i])) continue;
        size_t next = i + 1;
        while (next < n && text[next] == ' ') next++;
        if (next == i + 1 || next == n || text[next] < 'A' || text[next] > 'Z') continue;
        add_sentence(a, text + begin, i + 1 - begin);
        begin = next;
    }
    add_sentence(a, text + begin, n - begin);
}

static bool begins_with(const char *line, size_t n, const char *word)
{
    return n >= strlen(word) && memcmp(line, word, strlen(word)) == 0;
}

static int take_line(struct reading *r, const char *line, size_t n)
{
    if (begins_with(line, n, BEGIN)) {
        if (r->begun > 0)
            return fail(ERR_INPUT, "%s:%lld: an article begins, but the article of line %lld has no %s yet", r->name,
                        (long long)r->line, (long long)r->begun, END);
        r->begun = r->line;
    } else if (begins_with(line, n, END)) {
        if (r->begun == 0) return fail(ERR_INPUT, "%s:%lld: %s ends no article", r->name, (long long)r->line, END);
        if (!end_article(r->into)) r->into->empty++;
        r->begun = 0;
    } else if (n > 0 && r->begun == 0) {
        return fail(ERR_INPUT, "%s:%lld: a text outside of an article: %s...> must come first", r->name, (long long)r->line,
                    BEGIN);
    } else if (n > 0 && r->line > r->begun + 1) {
        add_paragraph(r->into, line, n);
    }
    return 0;
}

static int take_sentence(struct reading *r, const char *line, size_t n)
{
    if (n > 0) add_sentence(r->into, line, n);
    else (void)end_article(r->into);
    return 0;
}

// ---- files

static int finish(struct reading *r, const struct wiki_articles *before, int rc)
{
    if (rc == 0 && r->into->articles == before->articles) rc = fail(ERR_INPUT, "%s has no article with a text", r->name);
    if (rc == 0) return 0;
    r->into->bytes = before->bytes, r->into->articles = before->articles;
    r->into->longest = before->longest, r->into->empty = before->empty;
    return rc;
}

int wiki_parse(const char *name, const char *text, size_t n, struct wiki_articles *into)
{
    struct reading r = {.name = name, .into = into};
    const struct wiki_articles before = *into;
    int rc = read_lines(&r, text, n, take_line);
    if (rc == 0 && r.begun > 0)
        rc = fail(ERR_INPUT, "%s:%lld: the article that begins here has no %s", name, (long long)r.begun, END);
    return finish(&r, &before, rc);
}

int wiki_parse_lines(const char *name, const char *text, size_t n, struct wiki_articles *into)
{
    struct reading r = {.name = name, .into = into};
    const struct wiki_articles before = *into;
    int rc = read_lines(&r, text, n, take_sentence);
    if (rc == 0) (void)end_article(into);
    return finish(&r, &before, rc);
}

void wiki_free(struct wiki_articles *a)
{
    free(a->text);
    free(a->at);
    *a = (struct wiki_articles){0};
}
