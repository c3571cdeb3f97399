// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/text/lexicon.h"

#include "data/text/wordpiece.h"

#include <ctype.h>

static const char SPECIAL[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n";
enum { SPECIALS = 4, LONGEST = 64, FIRST = '!', LAST = '~' };

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static void count_words(struct vocabulary *words, const char *text)
{
    char word[LONGEST];
    for (size_t n = 0;; text++) {
        char c = (char)tolower((unsigned char)*text);
        if (is_word(c)) {
            if (n < LONGEST) word[n] = c;
            n++;
            continue;
        }
        if (n > 1 && n <= LONGEST) (void)vocabulary_add(words, word, n);
        n = 0;
        if (!*text) return;
    }
}

// Adds each printable character as a word, and letters and digits also as parts of words. Capitals are for vocabularies that
// have them.
static int64_t add_characters(struct text *list)
{
    int64_t count = SPECIALS;
    text_add(list, "%s", SPECIAL);
    for (char c = FIRST; c <= LAST; c++, count++) text_add(list, "%c\n", c);
    for (char c = FIRST; c <= LAST; c++)
        if (isalnum((unsigned char)c)) text_add(list, "##%c\n", c), count++;
    return count;
}

void lexicon_make(const struct squad *squad, int64_t most, struct text *list)
{
    int64_t count = add_characters(list);
    for (; !squad && count < most; count++) text_add(list, "word%lld\n", (long long)count);
    if (!squad) return;
    struct vocabulary *words = vocabulary_new();
    for (int64_t i = 0; i < squad->paragraphs; i++) count_words(words, squad->context[i]);
    for (int64_t i = 0; i < squad->questions; i++) count_words(words, squad->question[i].text);
    vocabulary_rank(words, 0);
    for (int32_t i = 0; i < vocabulary_count(words) && count < most; i++, count++) {
        size_t n;
        const char *word = vocabulary_word(words, i, &n);
        text_add(list, "%.*s\n", (int)n, word);
    }
    vocabulary_free(words);
}
