// SPDX-License-Identifier: Apache-2.0
// The forms of all words (unchanged, in lower case, without hyphens) are a vocabulary of their own. A line is parsed further
// only if its first field is a form. Then its numbers are counted from the right, which detects a word with blanks.
#include "data/text/vectors.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/text/unicode.h"
#include "data/text/vectors_cache.h"
#include "runtime/common/base/arena.h"

enum { BLOCK = 1 << 20, SAMPLE = 100 };  // SAMPLE: lines, the shortest of which gives the file's dimension

struct scan {
    const char *name;
    int64_t dimension, lines;
    struct vocabulary *forms;
    int64_t *row_of;  // for each form 1 + its position in `rows`; 0: not seen
    float *rows;
    int64_t count, capacity;
    int64_t fewest;   // smallest number of numbers in one of the first lines
};

// ---- lines

static int64_t count_fields(const char *line, size_t n)
{
    int64_t fields = 1;
    for (size_t i = 0; i < n; i++) fields += line[i] == ' ';
    return fields;
}

static int other_dimension(const struct scan *s)
{
    return fail(ERR_INPUT, "%s holds vectors of dimension %lld, and the recipe needs %lld", s->name, (long long)s->fewest,
                (long long)s->dimension);
}

// word2vec's first line: number of words, number of numbers.
static bool is_head(const struct scan *s, const char *line, size_t n)
{
    return s->lines == 1 && count_fields(line, n) == 2 && strspn(line, "0123456789 ") >= n;
}

// The end of the word, before the last `dimension` fields; 0 if there are too few fields.
static size_t end_of_token(const struct scan *s, const char *line, size_t n)
{
    int64_t left = s->dimension;
    for (size_t at = n; at > 0; at--)
        if (line[at - 1] == ' ' && --left == 0) return at - 1;
    return 0;
}

static int read_numbers(struct scan *s, const char *at, const char *end)
{
    if (s->count == s->capacity) {
        s->capacity = 2 * s->capacity + 1024;
        s->rows = grow(s->rows, (size_t)(s->capacity * s->dimension) * sizeof *s->rows);
    }
    float *row = s->rows + s->count * s->dimension;
    for (int64_t i = 0; i < s->dimension; i++) {
        char *behind;
        size_t shown = strcspn(at, " \n");
        row[i] = strtof(at, &behind);
        if (behind == at || (i + 1 < s->dimension ? *behind != ' ' : behind != end) || !isfinite(row[i]))
            return fail(ERR_INPUT, "%s: line %lld: number %lld of %lld is not a number: \"%.*s\"", s->name, (long long)s->lines,
                        (long long)i + 1, (long long)s->dimension, (int)(shown < 40 ? shown : 40), at);
        at = behind + 1;
    }
    s->count++;
    return 0;
}

// `line` has n bytes and is followed by a zero byte.
static int take_vector(struct scan *s, const char *line, size_t n)
{
    s->lines++;
    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\r')) n--;
    if (n == 0 || is_head(s, line, n)) return 0;
    if (s->lines <= SAMPLE) {
        int64_t numbers = count_fields(line, n) - 1;
        if (numbers < s->fewest || s->fewest == 0) s->fewest = numbers;
        if (s->fewest < s->dimension) return other_dimension(s);
    }
    const char *blank = memchr(line, ' ', n);
    size_t first = blank != NULL ? (size_t)(blank - line) : n;
    int32_t form = first > 0 ? vocabulary_find(s->forms, line, first) : VOCABULARY_NONE;
    if (form == VOCABULARY_NONE || s->row_of[form] != 0) return 0;
    size_t end = end_of_token(s, line, n);
    if (end == 0)
        return fail(ERR_INPUT, "%s: line %lld is not a word with %lld numbers", s->name, (long long)s->lines,
                    (long long)s->dimension);
    if (end != first) return 0;  // a word with blanks
    TRY(read_numbers(s, line + end + 1, line + n));
    s->row_of[form] = s->count;
    return 0;
}

// ---- forms

static size_t lower_word(const char *word, size_t n, bool strip, char *into)
{
    size_t length = 0;
    for (size_t at = 0; at < n;) {
        int32_t c = unicode_next(word, n, &at);
        if (strip && (c == '-' || c == 0xAD || c == 0x2010 || c == 0x2011)) continue;
        length += (size_t)unicode_put(unicode_lower(c), into + length);
    }
    return length;
}

// Forms 0, 1, 2 of each word, in this order; VOCABULARY_NONE: the word has no such form.
static int32_t *list_forms(struct scan *s, const struct vocabulary *words)
{
    int32_t count = vocabulary_count(words), *form = zalloc(((size_t)count * 3 + 1) * sizeof *form);
    char *low = zalloc(UNICODE_BYTES * vocabulary_longest(words) + 1);
    s->forms = vocabulary_new();
    for (int32_t i = 0; i < count; i++) {
        size_t n;
        const char *word = vocabulary_word(words, i, &n);
        form[3 * i] = vocabulary_add(s->forms, word, n);
        for (int strip = 0; strip < 2; strip++) {
            size_t length = lower_word(word, n, strip, low);
            form[3 * i + 1 + strip] = length > 0 ? vocabulary_add(s->forms, low, length) : VOCABULARY_NONE;
        }
    }
    free(low);
    s->row_of = zalloc(((size_t)vocabulary_count(s->forms) + 1) * sizeof *s->row_of);
    return form;
}

static void give_rows(const struct scan *s, const int32_t *form, struct vectors *v)
{
    for (int64_t i = 0; i < v->words; i++) {
        for (int k = 0; k < 3 && v->found[i] == VECTORS_NONE; k++) {
            int32_t f = form[3 * i + k];
            if (f == VOCABULARY_NONE || s->row_of[f] == 0) continue;
            v->found[i] = (uint8_t)(VECTORS_CASED + k);
            memcpy(v->row + i * v->dimension, s->rows + (s->row_of[f] - 1) * v->dimension,
                   (size_t)v->dimension * sizeof *v->row);
        }
    }
}

// ---- the whole file

static int take_file(struct scan *s, FILE *file)
{
    char *block = grow(NULL, BLOCK + VECTORS_LINE + 1);
    size_t have = 0;
    int rc = 0;
    for (bool more = true; rc == 0 && (more || have > 0);) {
        size_t got = more ? fread(block + have, 1, BLOCK, file) : 0, at = 0;
        if (got == 0 && ferror(file)) rc = fail_errno(ERR_IO, errno, "cannot read %s", s->name);
        more = got > 0;
        have += got;
        while (rc == 0 && at < have) {
            char *end = memchr(block + at, '\n', have - at);
            if (end == NULL && more) break;
            if (end == NULL) end = block + have;
            *end = '\0';
            rc = take_vector(s, block + at, (size_t)(end - block) - at);
            at = (size_t)(end - block) + 1;
        }
        have = at < have ? have - at : 0;
        memmove(block, block + at, have);
        if (rc == 0 && have > VECTORS_LINE)
            rc = fail(ERR_INPUT, "%s: line %lld is longer than %d bytes", s->name, (long long)s->lines + 1, VECTORS_LINE);
    }
    free(block);
    return rc;
}

// Closes the file.
static int scan_all(const char *name, FILE *file, const struct vocabulary *words, struct vectors *v)
{
    if (file == NULL) return fail_errno(ERR_IO, errno, "cannot open %s", name);
    struct scan s = {.name = name, .dimension = v->dimension};
    int32_t *form = list_forms(&s, words);
    int rc = take_file(&s, file);
    fclose(file);
    if (rc == 0 && s.fewest == 0) rc = fail(ERR_INPUT, "%s holds no vectors", name);
    if (rc == 0 && s.fewest != s.dimension) rc = other_dimension(&s);
    if (rc == 0) give_rows(&s, form, v);
    v->lines = s.lines;
    free(form);
    free(s.row_of);
    free(s.rows);
    vocabulary_free(s.forms);
    return rc;
}

static int begin_vectors(const struct vocabulary *words, int64_t dimension, struct vectors *v)
{
    *v = (struct vectors){0};
    if (dimension < 1 || dimension > VECTORS_DIMENSION)
        return fail(ERR_USAGE, "vectors have 1 to %d numbers, not %lld", VECTORS_DIMENSION, (long long)dimension);
    v->words = vocabulary_count(words), v->dimension = dimension;
    v->row = zalloc(((size_t)(v->words * dimension) + 1) * sizeof *v->row);
    v->found = zalloc((size_t)v->words + 1);
    return 0;
}

int vectors_parse(const char *name, const char *bytes, size_t count, const struct vocabulary *words, int64_t dimension,
                  struct vectors *v)
{
    TRY(begin_vectors(words, dimension, v));
    int rc = scan_all(name, fmemopen((void *)(uintptr_t)bytes, count, "r"), words, v);
    if (rc < 0) vectors_free(v);
    return rc;
}

int vectors_open(const char *path, const struct vocabulary *words, int64_t dimension, struct vectors *v)
{
    TRY(begin_vectors(words, dimension, v));
    char *pack = vectors_cache_path(path, words, dimension);
    if (pack != NULL && vectors_cache_load(pack, v)) {
        free(pack);
        v->remembered = true;
        return 0;
    }
    int rc = scan_all(path, fopen(path, "re"), words, v);
    if (rc == 0 && pack != NULL) vectors_cache_save(pack, v);
    free(pack);
    if (rc < 0) vectors_free(v);
    return rc;
}

void vectors_free(struct vectors *v)
{
    free(v->row);
    free(v->found);
    *v = (struct vectors){0};
}
