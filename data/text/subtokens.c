// SPDX-License-Identifier: Apache-2.0
#include "data/text/subtokens.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/python.h"
#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"

enum { LAST_CODE = 0x10FFFF, UNDEFINED = 0x3013 };  // UNDEFINED: what an escape that names no character becomes

struct subtokens {
    struct vocabulary *list;      // subtoken i has the id BPE_FIRST + i
    struct vocabulary *alphabet;  // the characters that need no escape
};

void subtokens_free(struct subtokens *s)
{
    if (s == NULL) return;
    vocabulary_free(s->list);
    vocabulary_free(s->alphabet);
    free(s);
}

int32_t subtokens_count(const struct subtokens *s)
{
    return BPE_FIRST + vocabulary_count(s->list);
}

// ---- as a file

static void add_alphabet(struct subtokens *s, const char *text, size_t n)
{
    for (size_t at = 0, from = 0; at < n; from = at) {
        (void)unicode_next(text, n, &at);
        vocabulary_add(s->alphabet, text + from, at - from);
    }
}

static bool is_reserved(const char *text, size_t n)
{
    static const char *const reserved[] = {"<pad>", "<pad>_", "<EOS>", "<EOS>_"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strlen(reserved[i]) == n && memcmp(reserved[i], text, n) == 0) return true;
    return false;
}

static int parse_line(const char *name, int64_t number, const char *line, size_t n, struct subtokens *s)
{
    if (unicode_valid(line, n) < n || memchr(line, '\0', n) != NULL)
        return fail(ERR_INPUT, "%s:%lld: the line is not text in UTF-8", name, (long long)number);
    if (n < 3 || line[0] != '\'' || line[n - 1] != '\'')
        return fail(ERR_INPUT, "%s:%lld: the line is not a subtoken in single quotes", name, (long long)number);
    int32_t known = vocabulary_count(s->list);
    if (known == 0 && number <= 2 && is_reserved(line + 1, n - 2)) return 0;
    if (known == BPE_MERGES) return fail(ERR_INPUT, "%s has more than %d subtokens", name, BPE_MERGES);
    if (vocabulary_add(s->list, line + 1, n - 2) < known)
        return fail(ERR_INPUT, "%s:%lld: the line repeats another one, so its subtoken would have two numbers", name,
                    (long long)number);
    add_alphabet(s, line + 1, n - 2);
    return 0;
}

int subtokens_parse(const char *name, const char *bytes, size_t count, struct subtokens **parsed)
{
    static const char always[] = "\\_u;0123456789<pad>EOS";
    struct subtokens *s = zalloc(sizeof *s);
    int rc = 0;
    *parsed = NULL;
    *s = (struct subtokens){vocabulary_new(), vocabulary_new()};
    add_alphabet(s, always, sizeof always - 1);
    int64_t number = 1;
    for (size_t at = 0; at < count && rc == 0; number++) {
        const char *line = bytes + at, *end = memchr(line, '\n', count - at);
        size_t n = end != NULL ? (size_t)(end - line) : count - at;
        at += n + 1;
        if (n > 0 && line[n - 1] == '\r') n--;
        rc = parse_line(name, number, line, n, s);
    }
    if (rc == 0 && vocabulary_count(s->list) == 0) rc = fail(ERR_INPUT, "%s has no subtokens", name);
    if (rc < 0) subtokens_free(s);
    else *parsed = s;
    return rc;
}

int subtokens_open(const char *path, struct subtokens **opened)
{
    char *bytes = NULL;
    size_t count = 0;
    *opened = NULL;
    TRY(file_read(path, BPE_FILE, &bytes, &count));
    int rc = subtokens_parse(path, bytes, count, opened);
    free(bytes);
    return rc;
}

// ---- encoding

static void escape_token(const struct subtokens *s, const char *token, size_t n, struct text *into)
{
    into->length = 0;
    for (size_t at = 0, from = 0; at < n; from = at) {
        int32_t code = unicode_next(token, n, &at);
        if (code == '\\') text_add(into, "\\\\");
        else if (code == '_') text_add(into, "\\u");
        else if (vocabulary_find(s->alphabet, token + from, at - from) < 0) text_add(into, "\\%d;", code);
        else text_bytes(into, token + from, at - from);
    }
    text_bytes(into, "_", 1);
}

// The longest subtoken at the beginning of a text; VOCABULARY_NONE: there is none.
static int32_t find_longest(const struct subtokens *s, const char *text, size_t n, size_t *length)
{
    int32_t best = VOCABULARY_NONE;
    size_t most = vocabulary_longest(s->list);
    uint32_t hash = VOCABULARY_HASH;
    for (size_t i = 1; i <= n && i <= most; i++) {
        hash = vocabulary_hash(hash, text + i - 1, 1);
        int32_t found = vocabulary_find_hashed(s->list, text, i, hash);
        if (found >= 0) best = found, *length = i;
    }
    return best;
}

static int64_t cut_token(const struct subtokens *s, const struct text *token, int32_t *into)
{
    int64_t count = 0;
    for (size_t at = 0; at < token->length; count++) {
        size_t length = 0;
        int32_t found = find_longest(s, token->at + at, token->length - at, &length);
        into[count] = found < 0 ? BPE_UNKNOWN : BPE_FIRST + found;
        if (found < 0) (void)unicode_next(token->at, token->length, &at);
        else at += length;
    }
    return count;
}

// The line without the white space around it.
static void strip_line(const char **line, size_t *n)
{
    const char *begin = NULL, *end = NULL;
    for (size_t at = 0, from = 0; at < *n; from = at) {
        if (python_is_space(unicode_next(*line, *n, &at))) continue;
        if (begin == NULL) begin = *line + from;
        end = *line + at;
    }
    *n = (size_t)(end - begin);
    if (begin != NULL) *line = begin;
}

int64_t subtokens_encode(const struct subtokens *s, const char *line, size_t n, int32_t *into)
{
    struct text token = {0};
    int64_t count = 0;
    strip_line(&line, &n);
    for (size_t begin = 0, at = 0; begin < n; begin = at) {
        bool word = unicode_is_letter_or_number(unicode_next(line, n, &at));
        for (size_t next = at; next < n; at = next)
            if (unicode_is_letter_or_number(unicode_next(line, n, &next)) != word) break;
        if (at - begin == 1 && line[begin] == ' ') continue;
        escape_token(s, line + begin, at - begin, &token);
        count += cut_token(s, &token, into + count);
    }
    text_free(&token);
    return count;
}

// ---- decoding

static void put_code(struct text *into, int64_t code)
{
    char bytes[UNICODE_BYTES];
    bool none = code < 1 || code > LAST_CODE || (code >= 0xD800 && code <= 0xDFFF);
    text_bytes(into, bytes, (size_t)unicode_put(none ? UNDEFINED : (int32_t)code, bytes));
}

// Adds a token without its escapes. A "\" that begins none stays.
static void unescape_token(const char *token, size_t n, struct text *into)
{
    for (size_t i = 0; i < n;) {
        size_t digits = 0;
        int64_t code = 0;
        bool escape = token[i] == '\\' && i + 1 < n;
        while (escape && i + 1 + digits < n && token[i + 1 + digits] >= '0' && token[i + 1 + digits] <= '9') {
            if (code <= LAST_CODE) code = 10 * code + token[i + 1 + digits] - '0';
            digits++;
        }
        if (digits > 0 && i + 1 + digits < n && token[i + 1 + digits] == ';') {
            put_code(into, code);
            i += digits + 2;
        } else if (escape && (token[i + 1] == 'u' || token[i + 1] == '\\')) {
            text_bytes(into, token[i + 1] == 'u' ? "_" : "\\", 1);
            i += 2;
        } else {
            text_bytes(into, token + i++, 1);
        }
    }
}

void subtokens_decode(const struct subtokens *s, const int32_t *id, int64_t count, struct text *into)
{
    struct text spelled = {0}, token = {0};
    bool word = false;
    for (int64_t i = 0; i < count && id[i] != BPE_EOS; i++) {
        size_t n;
        if (id[i] < BPE_FIRST || id[i] >= subtokens_count(s)) continue;
        const char *bytes = vocabulary_word(s->list, id[i] - BPE_FIRST, &n);
        text_bytes(&spelled, bytes, n);
    }
    for (size_t at = 0, end; at < spelled.length; at = end + 1) {
        const char *stop = memchr(spelled.at + at, '_', spelled.length - at);
        end = stop != NULL ? (size_t)(stop - spelled.at) : spelled.length;
        size_t first = 0;
        if (end == at) continue;
        token.length = 0;
        unescape_token(spelled.at + at, end - at, &token);
        bool next = unicode_is_letter_or_number(unicode_next(token.at, token.length, &first));
        if (word && next) text_bytes(into, " ", 1);
        text_bytes(into, token.at, token.length);
        word = next;
    }
    text_free(&token);
    text_free(&spelled);
}
