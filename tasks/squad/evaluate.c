// SPDX-License-Identifier: Apache-2.0
// The published evaluation works on Python's strings, so this file follows Python's definition of a word boundary, too.
#include "tasks/squad/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/python.h"
#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"

// ---- normalisation

static bool is_ascii_punctuation(int32_t c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// The text in lower case without punctuation; free() ends it.
static int32_t *lower_text(const char *text, size_t *count)
{
    size_t n, left = 0;
    int32_t *code = python_codes(text, strlen(text), true, &n);
    for (size_t i = 0; i < n; i++)
        if (!is_ascii_punctuation(code[i])) code[left++] = code[i];
    *count = left;
    return code;
}

static bool is_article(const int32_t *c, size_t n)
{
    return (n == 1 && c[0] == 'a') || (n == 2 && c[0] == 'a' && c[1] == 'n') ||
           (n == 3 && c[0] == 't' && c[1] == 'h' && c[2] == 'e');
}

void evaluate_normalise(const char *text, struct text *into)
{
    size_t n;
    int32_t *code = lower_text(text, &n);
    size_t first = into->length;
    bool apart = false;
    for (size_t i = 0, end; i < n; i = end) {
        // A token is a run of letters and numbers, which \b bounds, or one other character.
        for (end = i; end < n && unicode_is_letter_or_number(code[end]);) end++;
        bool word = end > i;
        if (!word) end++;
        if (word ? is_article(code + i, end - i) : python_is_space(code[i])) {
            apart = true;
            continue;
        }
        if (apart && into->length > first) text_bytes(into, " ", 1);
        apart = false;
        for (size_t k = i; k < end; k++) {
            char bytes[UNICODE_BYTES];
            text_bytes(into, bytes, (size_t)unicode_put(code[k], bytes));
        }
    }
    if (into->at == NULL) text_bytes(into, "", 0);
    free(code);
}

// ---- scores

struct bag {
    struct text text;  // normalised text, then cut into words
    const char **word;
    size_t words;
};

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Sorts the words of a normalised text. Its blanks become zero bytes.
static void fill_bag(struct bag *bag)
{
    size_t length = bag->text.length;
    bag->word = grow(NULL, (length / 2 + 1) * sizeof *bag->word);
    for (size_t i = 0; i < length; i++) {
        if (i == 0 || bag->text.at[i - 1] == '\0') bag->word[bag->words++] = bag->text.at + i;
        if (bag->text.at[i] == ' ') bag->text.at[i] = '\0';
    }
    qsort(bag->word, bag->words, sizeof *bag->word, by_bytes);
}

static void free_bag(struct bag *bag)
{
    text_free(&bag->text);
    free(bag->word);
}

static size_t count_shared(const struct bag *a, const struct bag *b)
{
    size_t shared = 0;
    for (size_t i = 0, k = 0; i < a->words && k < b->words;) {
        int order = strcmp(a->word[i], b->word[k]);
        shared += order == 0;
        i += order <= 0, k += order >= 0;
    }
    return shared;
}

static double score_f1(const struct bag *prediction, const struct bag *truth)
{
    size_t same = count_shared(prediction, truth);
    if (same == 0) return 0;
    double precision = 1.0 * (double)same / (double)prediction->words, recall = 1.0 * (double)same / (double)truth->words;
    return (2 * precision * recall) / (precision + recall);
}

// `given` is the normalised text of the prediction, `prediction` its words.
static struct evaluate_score score_truth(const char *given, const struct bag *prediction, const char *truth)
{
    struct bag bag = {0};
    evaluate_normalise(truth, &bag.text);
    struct evaluate_score score = {.exact = strcmp(given, bag.text.at) == 0};
    fill_bag(&bag);
    score.f1 = score_f1(prediction, &bag);
    free_bag(&bag);
    return score;
}

struct evaluate_score evaluate_answers(const char *prediction, const struct squad_answer *answer, int answers)
{
    struct bag bag = {0};
    struct evaluate_score best = {0};
    evaluate_normalise(prediction, &bag.text);
    char *given = copy_text(bag.text.at);
    fill_bag(&bag);
    for (int i = 0; i < answers; i++) {
        struct evaluate_score score = score_truth(given, &bag, answer[i].text);
        if (score.f1 > best.f1) best.f1 = score.f1;
        best.exact = best.exact || score.exact;
    }
    free(given);
    free_bag(&bag);
    return best;
}

struct evaluate_score evaluate_pair(const char *prediction, const char *truth)
{
    const struct squad_answer answer = {truth, SQUAD_NOWHERE};
    return evaluate_answers(prediction, &answer, 1);
}

void evaluate_add(struct evaluate_total *total, const char *prediction, const struct squad_question *question)
{
    total->questions++;
    if (prediction == NULL) {
        total->missing++;
        return;
    }
    struct evaluate_score score = evaluate_answers(prediction, question->answer, question->answers);
    total->f1 += score.f1;
    total->exact += score.exact;
}

double evaluate_f1(const struct evaluate_total *total)
{
    return total->questions > 0 ? 100.0 * total->f1 / (double)total->questions : 0;
}

double evaluate_exact(const struct evaluate_total *total)
{
    return total->questions > 0 ? 100.0 * (double)total->exact / (double)total->questions : 0;
}
