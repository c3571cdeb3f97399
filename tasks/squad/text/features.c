// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/text/features.h"

#include "data/text/unicode.h"
#include "runtime/common/base/text.h"

#include <string.h>

struct word {
    const char *at;
    size_t length;
};

static struct word word_of(const struct features_words *w, int64_t i)
{
    const int32_t begin = w->all->begin[w->first + i];
    return (struct word){w->text + begin, (size_t)(w->all->end[w->first + i] - begin)};
}

// `text` holds the result until it is used again.
static struct word lower_word(struct word w, struct text *text)
{
    char bytes[UNICODE_BYTES];
    text->length = 0;
    for (size_t at = 0; at < w.length;) {
        int32_t code = unicode_lower(unicode_next(w.at, w.length, &at));
        text_bytes(text, bytes, (size_t)unicode_put(code, bytes));
    }
    return (struct word){text->at, text->length};
}

// ---- the form of a word

static void describe_word(struct word w, float into[FEATURES])
{
    int letters = 0, capitals = 0, characters = 0, digits = 0;
    bool capital_first = false;
    for (size_t at = 0; at < w.length; characters++) {
        int32_t code = unicode_next(w.at, w.length, &at);
        bool capital = unicode_lower(code) != code;
        if (characters == 0) capital_first = capital;
        letters += unicode_is_letter_or_number(code);
        capitals += capital;
        digits += unicode_is_digit(code);
    }
    into[FEATURE_CAPITAL] = capital_first;
    into[FEATURE_CAPITALS] = capitals > 1 && capitals == characters;
    into[FEATURE_DIGIT] = digits > 0;
    into[FEATURE_PUNCTUATION] = letters == 0;
}

// ---- matches with the question

static bool same_stem(struct word a, struct word b)
{
    size_t longer = a.length > b.length ? a.length : b.length, shorter = a.length < b.length ? a.length : b.length, same = 0;
    while (same < shorter && a.at[same] == b.at[same]) same++;
    return same >= FEATURES_STEM && same + FEATURES_ENDING >= longer;
}

static bool has_stem(const struct vocabulary *lower, struct word w)
{
    for (int32_t i = 0; i < vocabulary_count(lower); i++) {
        struct word other;
        other.at = vocabulary_word(lower, i, &other.length);
        if (same_stem(w, other)) return true;
    }
    return false;
}

void features_make(const struct features_words *context, const struct features_words *question, float *into)
{
    struct vocabulary *same = vocabulary_new(), *lower = vocabulary_new(), *times = vocabulary_new();
    struct text text = {0};
    for (int64_t i = 0; i < question->count; i++) {
        struct word w = word_of(question, i), l = lower_word(w, &text);
        (void)vocabulary_add(same, w.at, w.length);
        (void)vocabulary_add(lower, l.at, l.length);
    }
    for (int64_t i = 0; i < context->count; i++) {
        struct word l = lower_word(word_of(context, i), &text);
        (void)vocabulary_add(times, l.at, l.length);
    }
    for (int64_t i = 0; i < context->count; i++, into += FEATURES) {
        struct word w = word_of(context, i), l = lower_word(w, &text);
        into[FEATURE_SAME] = vocabulary_find(same, w.at, w.length) != VOCABULARY_NONE;
        into[FEATURE_LOWER] = vocabulary_find(lower, l.at, l.length) != VOCABULARY_NONE;
        into[FEATURE_STEM] = into[FEATURE_LOWER] > 0 || has_stem(lower, l);
        into[FEATURE_FREQUENCY] = (float)vocabulary_times(times, vocabulary_find(times, l.at, l.length)) / (float)context->count;
        describe_word(w, into);
    }
    text_free(&text);
    vocabulary_free(same);
    vocabulary_free(lower);
    vocabulary_free(times);
}
