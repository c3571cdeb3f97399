// SPDX-License-Identifier: Apache-2.0
// A pair may have several shortest edit paths, with other numbers of substitutions, insertions and deletions. This code follows
// the same path as rapidfuzz, which jiwer uses: equal ends are cut off first; then, backward from the end, a deletion is
// preferred if it lies on a shortest path, then an insertion, then a pair. Cost: four bytes per pair of words or characters.
#include "tasks/common/words/wer.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/python.h"
#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"

struct units {  // words as numbers, or characters
    int32_t *at;
    size_t count;
};

// ---- distances

static void count_path(struct wer *wer, const int32_t *cell, const struct units *a, const struct units *b)
{
    const size_t row = a->count + 1;  // cell[j * row + i]: from i units of the reference to j of the hypothesis
    size_t i = a->count, j = b->count;
    while (i > 0 && j > 0) {
        if (cell[j * row + i] == cell[j * row + i - 1] + 1) {
            wer->deletions++, i--;
        } else if (j > 1 && cell[(j - 1) * row + i] == cell[(j - 1) * row + i - 1] - 1) {
            wer->insertions++, j--;
        } else {
            i--, j--;
            if (a->at[i] == b->at[j]) wer->hits++;
            else wer->substitutions++;
        }
    }
    wer->deletions += (int64_t)i;
    wer->insertions += (int64_t)j;
}

static void count_between(struct wer *wer, const struct units *a, const struct units *b)
{
    const size_t row = a->count + 1;
    int32_t *cell = zalloc(row * (b->count + 1) * sizeof *cell);
    for (size_t i = 0; i <= a->count; i++) cell[i] = (int32_t)i;
    for (size_t j = 1; j <= b->count; j++) {
        cell[j * row] = (int32_t)j;
        for (size_t i = 1; i <= a->count; i++) {
            const int32_t *above = &cell[(j - 1) * row + i], left = cell[j * row + i - 1];
            int32_t least = above[-1] + (a->at[i - 1] != b->at[j - 1]);
            if (*above + 1 < least) least = *above + 1;
            cell[j * row + i] = left + 1 < least ? left + 1 : least;
        }
    }
    count_path(wer, cell, a, b);
    free(cell);
}

static void count_units(struct wer *wer, struct units a, struct units b)
{
    const int32_t *begin_a = a.at, *begin_b = b.at;
    while (a.count > 0 && b.count > 0 && a.at[0] == b.at[0]) a.at++, a.count--, b.at++, b.count--, wer->hits++;
    while (a.count > 0 && b.count > 0 && a.at[a.count - 1] == b.at[b.count - 1]) a.count--, b.count--, wer->hits++;
    count_between(wer, &a, &b);
    free((void *)begin_a);
    free((void *)begin_b);
}

// ---- words and characters

// As jiwer: two or more blanks in a row become one space, blanks at both ends go, and spaces part words. A single tab between two
// words is therefore part of one word.
static struct units code_points(struct wer_line line)
{
    struct units all = {zalloc((line.bytes + 1) * sizeof *all.at), 0};
    size_t begin = 0;
    for (size_t at = 0; at < line.bytes;) all.at[all.count++] = unicode_next(line.at, line.bytes, &at);
    while (all.count > 0 && python_is_space(all.at[all.count - 1])) all.count--;
    while (begin < all.count && python_is_space(all.at[begin])) begin++;
    memmove(all.at, all.at + begin, (all.count - begin) * sizeof *all.at);
    all.count -= begin;
    return all;
}

static void join_blanks(struct units *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->count;) {
        size_t end = i;
        while (end < all->count && python_is_space(all->at[end])) end++;
        if (end - i > 1) all->at[kept++] = ' ', i = end;
        else all->at[kept++] = all->at[i++];
    }
    all->count = kept;
}

struct word {
    const int32_t *at;
    size_t count;
    int32_t number;  // equal words have equal numbers
};

static size_t cut_words(const struct units *line, struct word *word)
{
    size_t words = 0;
    for (size_t i = 0; i < line->count;) {
        size_t end = i;
        while (end < line->count && line->at[end] != ' ') end++;
        if (end > i) word[words++] = (struct word){line->at + i, end - i, 0};
        i = end + 1;
    }
    return words;
}

static int compare_words(const void *a, const void *b)
{
    const struct word *x = *(const struct word *const *)a, *y = *(const struct word *const *)b;
    const size_t least = x->count < y->count ? x->count : y->count;
    const int order = memcmp(x->at, y->at, least * sizeof *x->at);
    return order != 0 ? order : (x->count > y->count) - (x->count < y->count);
}

static void number_words(struct word *word, size_t count)
{
    const struct word **sorted = zalloc((count + 1) * sizeof *sorted);
    for (size_t i = 0; i < count; i++) sorted[i] = &word[i];
    qsort(sorted, count, sizeof *sorted, compare_words);
    for (size_t i = 0, number = 0; i < count; i++) {
        if (i > 0 && compare_words(&sorted[i - 1], &sorted[i]) != 0) number++;
        word[sorted[i] - word].number = (int32_t)number;
    }
    free(sorted);
}

void wer_words(struct wer *wer, struct wer_line reference, struct wer_line hypothesis)
{
    struct units line[2] = {code_points(reference), code_points(hypothesis)}, numbers[2];
    struct word *word = zalloc((line[0].count + line[1].count + 2) * sizeof *word), *next = word;
    for (int i = 0; i < 2; i++) {
        join_blanks(&line[i]);
        numbers[i].count = cut_words(&line[i], next);
        next += numbers[i].count;
    }
    number_words(word, (size_t)(next - word));
    next = word;
    for (int i = 0; i < 2; i++) {
        numbers[i].at = zalloc((numbers[i].count + 1) * sizeof *numbers[i].at);
        for (size_t k = 0; k < numbers[i].count; k++) numbers[i].at[k] = (next++)->number;
        free(line[i].at);
    }
    free(word);
    count_units(wer, numbers[0], numbers[1]);
}

void wer_characters(struct wer *wer, struct wer_line reference, struct wer_line hypothesis, bool spaces)
{
    struct units line[2] = {code_points(reference), code_points(hypothesis)};
    for (int i = 0; i < 2 && !spaces; i++) {
        size_t kept = 0;
        for (size_t k = 0; k < line[i].count; k++)
            if (!python_is_space(line[i].at[k])) line[i].at[kept++] = line[i].at[k];
        line[i].count = kept;
    }
    count_units(wer, line[0], line[1]);
}

int64_t wer_errors(const struct wer *wer)
{
    return wer->substitutions + wer->insertions + wer->deletions;
}

int64_t wer_reference(const struct wer *wer)
{
    return wer->hits + wer->substitutions + wer->deletions;
}

double wer_rate(const struct wer *wer)
{
    const int64_t all = wer_reference(wer);
    return (double)wer_errors(wer) / (double)(all > 0 ? all : 1);
}
