// SPDX-License-Identifier: Apache-2.0
#include "tasks/gpt/ngrams.h"

#include "runtime/common/base/arena.h"

#include <math.h>
#include <stdlib.h>

enum { TOKEN_BITS = 7, EMPTY = 1 };  // the key of a string: a 1, then its tokens; so no key is 0

struct string {
    uint64_t key;                      // 0: free
    uint32_t times, followed, kinds;   // kinds: of the tokens that followed it
};
struct strings {
    struct string *at;
    size_t count, capacity;                // a power of two
};

// The entry of a string, or the free one where it belongs.
static struct string *find_string(const struct strings *s, uint64_t key)
{
    size_t i = (size_t)(key * 0x9E3779B97F4A7C15u >> 24) & (s->capacity - 1);
    while (s->at[i].key && s->at[i].key != key) i = (i + 1) & (s->capacity - 1);
    return &s->at[i];
}

static struct string *add_string(struct strings *s, uint64_t key)
{
    if (2 * s->count >= s->capacity) {
        struct strings wide = {zalloc(2 * s->capacity * sizeof *s->at), s->count, 2 * s->capacity};
        for (size_t i = 0; i < s->capacity; i++)
            if (s->at[i].key) *find_string(&wide, s->at[i].key) = s->at[i];
        free(s->at);
        *s = wide;
    }
    struct string *found = find_string(s, key);
    if (!found->key) found->key = key, s->count++;
    return found;
}

// The `length` tokens before position `at`.
static uint64_t key_before(const int32_t *token, int64_t at, int64_t length)
{
    uint64_t key = EMPTY;
    for (int64_t i = at - length; i < at; i++) key = key << TOKEN_BITS | (uint64_t)token[i];
    return key;
}

static void count_strings(struct strings *s, const int32_t *token, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        for (int64_t before = 0; before < NGRAMS_MOST && before <= i; before++) {
            uint64_t key = key_before(token, i, before);
            bool first = add_string(s, key << TOKEN_BITS | (uint64_t)token[i])->times++ == 0;
            struct string *context = add_string(s, key);
            context->followed++, context->kinds += first;
        }
}

void ngrams_losses(const int32_t *train, int64_t trains, const int32_t *test, int64_t tests, int symbols,
                   double loss[NGRAMS_MOST + 1])
{
    struct strings s = {zalloc(1024 * sizeof *s.at), 0, 1024};
    count_strings(&s, train, trains);
    for (int k = 0; k <= NGRAMS_MOST; k++) loss[k] = 0;
    for (int64_t i = 1; i < tests; i++) {
        double p = 1.0 / symbols;
        loss[0] -= log(p);
        for (int64_t before = 0; before < NGRAMS_MOST; before++) {
            const uint64_t key = before <= i ? key_before(test, i, before) : 0;
            const struct string *context = find_string(&s, key);
            if (before <= i && context->followed)
                p = (find_string(&s, key << TOKEN_BITS | (uint64_t)test[i])->times + context->kinds * p) /
                    (context->followed + context->kinds);
            loss[before + 1] -= log(p);
        }
    }
    for (int k = 0; k <= NGRAMS_MOST; k++) loss[k] /= (double)(tests - 1);
    free(s.at);
}
