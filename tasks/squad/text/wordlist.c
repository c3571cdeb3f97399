// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/text/wordlist.h"

#include "data/text/vectors.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

#include <stdlib.h>
#include <string.h>

// No text contains these words, because a bracket is a word of its own.
static const char *const special[WORDLIST_FIRST] = {"[padding]", "[unknown]"};

static void count_words(struct vocabulary *words, const char *text, const struct pieces *p)
{
    for (int64_t i = 0; i < p->count; i++) (void)vocabulary_add(words, text + p->begin[i], (size_t)(p->end[i] - p->begin[i]));
}

static void count_texts(struct vocabulary *words, const struct texts *t)
{
    for (int64_t i = 0; i < t->contexts; i++) count_words(words, t->squad->context[i], &t->context[i]);
    for (int64_t i = 0; i < t->questions; i++) count_words(words, t->squad->question[i].text, &t->question[i]);
}

static struct wordlist *list_words(const struct texts *train)
{
    struct wordlist *l = zalloc(sizeof *l);
    l->words = vocabulary_new();
    for (int i = 0; i < WORDLIST_FIRST; i++) (void)vocabulary_add(l->words, special[i], strlen(special[i]));
    if (train && train->squad) count_texts(l->words, train);
    vocabulary_rank(l->words, WORDLIST_FIRST);
    int32_t count = vocabulary_count(l->words);
    l->row = zalloc((size_t)count * sizeof *l->row);
    for (int32_t i = 0; i < count; i++) l->row[i] = i < WORDLIST_FIRST ? i : WORDLIST_UNKNOWN;
    return l;
}

static void digest_rows(struct wordlist *l)
{
    struct text list = {0};
    for (int32_t i = WORDLIST_FIRST; i < vocabulary_count(l->words); i++) {
        size_t n;
        const char *word = vocabulary_word(l->words, i, &n);
        if (l->row[i] == WORDLIST_UNKNOWN) continue;
        text_bytes(&list, word, n);
        text_bytes(&list, "\n", 1);
    }
    digest_bytes(list.at ? list.at : "", list.length, l->digest);
    text_free(&list);
}

static void number_words(struct wordlist *l, int64_t rows)
{
    int32_t next = WORDLIST_FIRST;
    for (int32_t i = WORDLIST_FIRST; i < vocabulary_count(l->words); i++)
        if (next < rows && vocabulary_times(l->words, i) > 1) l->row[i] = next++;
    l->rows = (int32_t)rows;
}

static int open_vectors(struct wordlist *l, const char *path, int64_t dimension)
{
    l->vectors = zalloc(sizeof *l->vectors);
    TRY(vectors_open(path, l->words, dimension, l->vectors));
    l->rows = WORDLIST_FIRST;
    for (int32_t i = WORDLIST_FIRST; i < vocabulary_count(l->words); i++)
        if (l->vectors->found[i] != VECTORS_NONE) l->row[i] = l->rows++;
    if (l->rows == WORDLIST_FIRST) return fail(ERR_INPUT, "%s has no vector of any word of the training texts", path);
    return 0;
}

int wordlist_open(const struct texts *train, int64_t rows, const char *vectors, int64_t dimension, struct wordlist **into)
{
    *into = list_words(train);
    int rc = 0;
    if (vectors) rc = open_vectors(*into, vectors, dimension);
    else number_words(*into, rows);
    if (rc == 0) {
        digest_rows(*into);
        return 0;
    }
    wordlist_free(*into);
    *into = NULL;
    return rc;
}

void wordlist_free(struct wordlist *l)
{
    if (!l) return;
    if (l->vectors) vectors_free(l->vectors);
    vocabulary_free(l->words);
    free(l->vectors);
    free(l->row);
    free(l);
}

int32_t wordlist_row(const struct wordlist *l, const char *word, size_t n)
{
    int32_t i = vocabulary_find(l->words, word, n);
    return i == VOCABULARY_NONE ? WORDLIST_UNKNOWN : l->row[i];
}

void wordlist_vectors(const struct wordlist *l, int64_t width, float *into)
{
    int64_t n = l->vectors->dimension;
    BUG_IF(width < n);
    memset(into, 0, (size_t)(l->rows * width) * sizeof *into);
    for (int32_t i = WORDLIST_FIRST; i < vocabulary_count(l->words); i++)
        if (l->row[i] != WORDLIST_UNKNOWN)
            memcpy(into + l->row[i] * width, l->vectors->row + i * n, (size_t)n * sizeof *into);
}
