// SPDX-License-Identifier: Apache-2.0
// Open addressing over 32-bit hashes. The bytes of all words are stored one after the other.
#include "data/text/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"

struct word {
    size_t at;       // position of its bytes
    uint32_t bytes, hash;
    int64_t times;
};

struct vocabulary {
    char *bytes;
    size_t used, capacity;
    struct word *word;
    int32_t words, words_capacity;
    int32_t *slot;  // 1 + number; 0: free
    uint32_t slots; // a power of two, at least twice the words
    size_t longest;
};

enum { FIRST_SLOTS = 1024 };

struct vocabulary *vocabulary_new(void)
{
    struct vocabulary *v = zalloc(sizeof *v);
    v->slots = FIRST_SLOTS;
    v->slot = zalloc(v->slots * sizeof *v->slot);
    return v;
}

void vocabulary_free(struct vocabulary *v)
{
    if (v == NULL) return;
    free(v->bytes);
    free(v->word);
    free(v->slot);
    free(v);
}

// FNV's low bits are weak if words differ in the last byte only.
static uint32_t first_slot(const struct vocabulary *v, uint32_t hash)
{
    return (hash ^ hash >> 15) * 0x9E3779B1u >> 7 & (v->slots - 1);
}

static uint32_t find_slot(const struct vocabulary *v, const char *word, size_t n, uint32_t hash)
{
    uint32_t i = first_slot(v, hash);
    for (; v->slot[i] != 0; i = (i + 1) & (v->slots - 1)) {
        const struct word *w = &v->word[v->slot[i] - 1];
        if (w->hash == hash && w->bytes == n && memcmp(v->bytes + w->at, word, n) == 0) break;
    }
    return i;
}

static void fill_slots(struct vocabulary *v)
{
    memset(v->slot, 0, v->slots * sizeof *v->slot);
    for (int32_t k = 0; k < v->words; k++) {
        uint32_t i = first_slot(v, v->word[k].hash);
        while (v->slot[i] != 0) i = (i + 1) & (v->slots - 1);
        v->slot[i] = k + 1;
    }
}

static void append_word(struct vocabulary *v, const char *word, size_t n, uint32_t hash)
{
    if (v->used + n + 1 > v->capacity) {
        v->capacity = 2 * (v->capacity + n) + 4096;
        v->bytes = grow(v->bytes, v->capacity);
    }
    if (v->words == v->words_capacity) {
        v->words_capacity = 2 * v->words_capacity + FIRST_SLOTS / 2;
        v->word = grow(v->word, (size_t)v->words_capacity * sizeof *v->word);
    }
    memcpy(v->bytes + v->used, word, n);
    v->bytes[v->used + n] = '\0';
    v->word[v->words++] = (struct word){v->used, (uint32_t)n, hash, 0};
    v->used += n + 1;
    if (n > v->longest) v->longest = n;
}

int32_t vocabulary_add_times(struct vocabulary *v, const char *word, size_t n, int64_t times)
{
    BUG_IF(n == 0 || n > UINT32_MAX || v->words == VOCABULARY_WORDS);
    uint32_t hash = vocabulary_hash(VOCABULARY_HASH, word, n), i = find_slot(v, word, n, hash);
    if (v->slot[i] == 0) {
        append_word(v, word, n, hash);
        v->slot[i] = v->words;
        v->word[v->words - 1].times = times;
        if (2 * (uint32_t)v->words > v->slots) {
            v->slots *= 2;
            v->slot = grow(v->slot, v->slots * sizeof *v->slot);
            fill_slots(v);
        }
        return v->words - 1;
    }
    v->word[v->slot[i] - 1].times += times;
    return v->slot[i] - 1;
}

int32_t vocabulary_add(struct vocabulary *v, const char *word, size_t n)
{
    return vocabulary_add_times(v, word, n, 1);
}

int32_t vocabulary_find_hashed(const struct vocabulary *v, const char *word, size_t n, uint32_t hash)
{
    return v->slot[find_slot(v, word, n, hash)] - 1;
}

int32_t vocabulary_find(const struct vocabulary *v, const char *word, size_t n)
{
    return vocabulary_find_hashed(v, word, n, vocabulary_hash(VOCABULARY_HASH, word, n));
}

static int more_frequent(const void *a, const void *b, void *context)
{
    const struct word *x = a, *y = b;
    const char *bytes = context;
    if (x->times != y->times) return x->times < y->times ? 1 : -1;
    return strcmp(bytes + x->at, bytes + y->at);
}

void vocabulary_rank(struct vocabulary *v, int32_t fixed)
{
    BUG_IF(fixed < 0 || fixed > v->words);
    qsort_r(v->word + fixed, (size_t)(v->words - fixed), sizeof *v->word, more_frequent, v->bytes);
    fill_slots(v);
}

int32_t vocabulary_count(const struct vocabulary *v)
{
    return v->words;
}

const char *vocabulary_word(const struct vocabulary *v, int32_t i, size_t *n)
{
    BUG_IF(i < 0 || i >= v->words);
    *n = v->word[i].bytes;
    return v->bytes + v->word[i].at;
}

int64_t vocabulary_times(const struct vocabulary *v, int32_t i)
{
    BUG_IF(i < 0 || i >= v->words);
    return v->word[i].times;
}

size_t vocabulary_longest(const struct vocabulary *v)
{
    return v->longest;
}

// ---- as a file

static int parse_line(const char *name, struct vocabulary *v, const char *line, size_t n)
{
    int32_t number = v->words;
    if (n > 0 && line[n - 1] == '\r') n--;
    if (n == 0) return fail(ERR_INPUT, "%s: line %d is empty; every line has to hold one word", name, number + 1);
    if (memchr(line, '\0', n) != NULL)
        return fail(ERR_INPUT, "%s: line %d has a zero byte: this is not a list of words", name, number + 1);
    if (number == VOCABULARY_WORDS) return fail(ERR_INPUT, "%s has more than %d lines", name, VOCABULARY_WORDS);
    int32_t at = vocabulary_add(v, line, n);
    if (at == number) return 0;
    return fail(ERR_INPUT, "%s: line %d repeats line %d (\"%.*s\")", name, number + 1, at + 1, n < 60 ? (int)n : 60, line);
}

int vocabulary_parse(const char *name, const char *bytes, size_t count, struct vocabulary **parsed)
{
    struct vocabulary *v = vocabulary_new();
    int rc = 0;
    *parsed = NULL;
    for (size_t at = 0; at < count && rc == 0;) {
        const char *end = memchr(bytes + at, '\n', count - at);
        size_t n = end != NULL ? (size_t)(end - bytes) - at : count - at;
        rc = parse_line(name, v, bytes + at, n);
        at += n + 1;
    }
    if (rc == 0 && v->words == 0) rc = fail(ERR_INPUT, "%s is empty: it has no words", name);
    if (rc < 0) vocabulary_free(v);
    else *parsed = v;
    return rc;
}

int vocabulary_open(const char *path, struct vocabulary **opened)
{
    char *bytes = NULL;
    size_t count = 0;
    *opened = NULL;
    TRY(file_read(path, VOCABULARY_FILE, &bytes, &count));
    int rc = vocabulary_parse(path, bytes, count, opened);
    free(bytes);
    return rc;
}
