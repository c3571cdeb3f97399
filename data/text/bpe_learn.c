// SPDX-License-Identifier: Apache-2.0
// Symbols and pairs are numbered by two vocabularies. A pair keeps its exact count and the words in which it once occurred. A
// heap holds for each pair an upper bound of its count; a bound that proves too high is corrected when it reaches the top.
#include <stdlib.h>
#include <string.h>

#include "data/text/bpe_inside.h"
#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"

struct occurrence {
    int64_t next;  // 1 + number; 0: the last
    int32_t word;
};

struct pair {
    int32_t symbol[2];
    int64_t times, bound;  // bound: of its entry of the heap that counts; 0: none
    int64_t first;         // of its occurrences, as `next`
    int32_t touched;       // 1 + the step that changed `times` last
    bool written;
};

struct learner {
    struct vocabulary *symbols, *numbers;  // numbers: the pairs, by their two symbols
    struct pair *pair;
    int64_t pairs_room;
    struct occurrence *occurrence;
    int64_t occurrences, occurrences_room;
    int32_t *symbol;  // of all words
    bool *made;       // by the merge at hand, of each symbol
    int64_t symbols_used, symbols_capacity, made_capacity;
    struct spelling {
        int64_t begin, times;  // begin: in `symbol`
        int32_t length;
    } *word;
    struct entry {
        int64_t times;
        int32_t pair;
    } *heap;
    int64_t entries, heap_room;
    int32_t *touched;
    int64_t touches, touched_capacity;
    int32_t step;  // counts merges, repeated ones, too
    bool full, ended;
    const struct bpe_learning *how;
};

#define RESERVE_MORE(array, used, capacity)                                                                                   \
    do {                                                                                                               \
        if ((used) < (capacity)) break;                                                                                    \
        (capacity) = 2 * (used) + 1024;                                                                                    \
        (array) = grow(array, (size_t)(capacity) * sizeof *(array));                                                       \
    } while (0)

// ---- which pair comes first

static int compare_symbols(const struct learner *l, int32_t a, int32_t b)
{
    if (a == b) return 0;
    size_t x, y;
    const char *first = vocabulary_word(l->symbols, a, &x), *second = vocabulary_word(l->symbols, b, &y);
    int order = memcmp(first, second, x < y ? x : y);
    return order != 0 ? order : (x > y) - (x < y);
}

static bool entry_before(const struct learner *l, struct entry a, struct entry b)
{
    if (a.times != b.times) return a.times > b.times;
    const struct pair *p = &l->pair[a.pair], *q = &l->pair[b.pair];
    int order = compare_symbols(l, p->symbol[0], q->symbol[0]);
    return (order != 0 ? order : compare_symbols(l, p->symbol[1], q->symbol[1])) > 0;
}

static void push_entry(struct learner *l, int32_t pair)
{
    RESERVE_MORE(l->heap, l->entries, l->heap_room);
    struct entry e = {l->pair[pair].times, pair};
    int64_t i = l->entries++;
    for (; i > 0 && entry_before(l, e, l->heap[(i - 1) / 2]); i = (i - 1) / 2) l->heap[i] = l->heap[(i - 1) / 2];
    l->heap[i] = e;
    l->pair[pair].bound = e.times;
}

static struct entry pop_entry(struct learner *l)
{
    struct entry top = l->heap[0], last = l->heap[--l->entries];
    int64_t i = 0;
    for (int64_t child; (child = 2 * i + 1) < l->entries; i = child) {
        if (child + 1 < l->entries && entry_before(l, l->heap[child + 1], l->heap[child])) child++;
        if (!entry_before(l, l->heap[child], last)) break;
        l->heap[i] = l->heap[child];
    }
    l->heap[i] = last;
    return top;
}

// The next pair to merge, or -1 if none occurs twice.
static int32_t pop_pair(struct learner *l)
{
    while (l->entries > 0) {
        struct entry e = pop_entry(l);
        struct pair *p = &l->pair[e.pair];
        if (e.times != p->bound) continue;
        p->bound = 0;
        if (p->times == e.times) return e.times < 2 ? -1 : e.pair;
        if (p->times > 0) push_entry(l, e.pair);
    }
    return -1;
}

// ---- counts

static void add_pair(struct learner *l, int32_t word, const int32_t *symbol, int64_t times)
{
    if ((l->full = vocabulary_count(l->numbers) == VOCABULARY_WORDS)) return;
    int32_t known = vocabulary_count(l->numbers), number = vocabulary_add(l->numbers, (const char *)symbol, 2 * sizeof *symbol);
    if (number == known) {
        RESERVE_MORE(l->pair, known, l->pairs_room);
        l->pair[number] = (struct pair){.symbol = {symbol[0], symbol[1]}};
    }
    struct pair *p = &l->pair[number];
    p->times += times;
    if (p->touched != l->step + 1) {
        p->touched = l->step + 1;
        RESERVE_MORE(l->touched, l->touches, l->touched_capacity);
        l->touched[l->touches++] = number;
    }
    if (times < 0 || (p->first > 0 && l->occurrence[p->first - 1].word == word)) return;
    RESERVE_MORE(l->occurrence, l->occurrences, l->occurrences_room);
    l->occurrence[l->occurrences++] = (struct occurrence){p->first, word};
    p->first = l->occurrences;
}

// The pairs with a symbol of the merge.
static void add_changed_pairs(struct learner *l, int32_t word, int sign)
{
    const struct spelling *w = &l->word[word];
    const int32_t *symbol = l->symbol + w->begin;
    for (int32_t i = 0; i + 1 < w->length; i++)
        if (l->made[i] || l->made[i + 1]) add_pair(l, word, symbol + i, sign * w->times);
}

static void list_touched(struct learner *l)
{
    for (int64_t i = 0; i < l->touches; i++)
        if (l->pair[l->touched[i]].times > l->pair[l->touched[i]].bound) push_entry(l, l->touched[i]);
    l->touches = 0;
}

// ---- merges

static bool mark_pair(struct learner *l, int32_t word, const int32_t pair[2])
{
    const struct spelling *w = &l->word[word];
    const int32_t *symbol = l->symbol + w->begin;
    bool any = false;
    memset(l->made, 0, (size_t)w->length);
    for (int32_t i = 0; i + 1 < w->length; i++) {
        if (symbol[i] != pair[0] || symbol[i + 1] != pair[1]) continue;
        l->made[i] = l->made[i + 1] = any = true;
        i++;
    }
    return any;
}

static void replace_marked(struct learner *l, int32_t word, int32_t merged)
{
    struct spelling *w = &l->word[word];
    int32_t *symbol = l->symbol + w->begin, to = 0;
    for (int32_t i = 0; i < w->length; i++, to++) {
        l->made[to] = l->made[i];
        symbol[to] = l->made[i] ? merged : symbol[i];
        i += l->made[i];
    }
    w->length = to;
}

// Numbers the union of a pair, and shows it.
static int32_t join_pair(struct learner *l, struct pair *p)
{
    struct text both = {0};
    struct bpe_merge m;
    m.first = vocabulary_word(l->symbols, p->symbol[0], &m.first_bytes);
    m.second = vocabulary_word(l->symbols, p->symbol[1], &m.second_bytes);
    size_t dropped = l->how->pieces ? BPE_REST_BYTES : 0;
    text_bytes(&both, m.first, m.first_bytes);
    text_bytes(&both, m.second + dropped, m.second_bytes - dropped);
    m.both = both.at, m.both_bytes = both.length;
    if (!p->written) l->ended = !l->how->take(l->how->context, &m);
    p->written = true;
    int32_t merged = vocabulary_add(l->symbols, both.at, both.length);
    text_free(&both);
    return merged;
}

static void merge_pair(struct learner *l, int32_t number)
{
    const int32_t pair[2] = {l->pair[number].symbol[0], l->pair[number].symbol[1]};
    int32_t merged = join_pair(l, &l->pair[number]);
    int64_t at = l->pair[number].first;
    l->pair[number].first = 0;
    l->step++;
    for (int64_t next; at > 0; at = next) {
        int32_t word = l->occurrence[at - 1].word;
        next = l->occurrence[at - 1].next;
        if (!mark_pair(l, word, pair)) continue;
        add_changed_pairs(l, word, -1);
        replace_marked(l, word, merged);
        add_changed_pairs(l, word, 1);
    }
    list_touched(l);
}

// ---- words

static void spell_word(struct learner *l, int32_t word, const char *bytes, size_t n)
{
    struct spelling *w = &l->word[word];
    char last[BPE_LAST];
    w->begin = l->symbols_used;
    for (size_t at = 0, from = 0; at < n; from = at) {
        (void)unicode_next(bytes, n, &at);
        size_t length = at - from;
        const char *symbol = bytes + from;
        if (l->how->pieces) symbol = bpe_rest_character(symbol, &length, from, last);
        else if (at == n) symbol = bpe_last_character(symbol, &length, last);
        RESERVE_MORE(l->symbol, l->symbols_used, l->symbols_capacity);
        l->symbol[l->symbols_used++] = vocabulary_add(l->symbols, symbol, length);
    }
    w->length = (int32_t)(l->symbols_used - w->begin);
    if (w->length <= l->made_capacity) return;
    l->made_capacity = w->length;
    l->made = grow(l->made, (size_t)l->made_capacity * sizeof *l->made);
}

static void spell_words(struct learner *l, const struct vocabulary *words)
{
    int32_t count = vocabulary_count(words);
    l->word = zalloc((size_t)count * sizeof *l->word + 1);
    for (int32_t i = 0; i < count; i++) {
        size_t n;
        const char *bytes = vocabulary_word(words, i, &n);
        l->word[i].times = vocabulary_times(words, i);
        spell_word(l, i, bytes, n);
        memset(l->made, true, (size_t)l->word[i].length);
        add_changed_pairs(l, i, 1);
    }
    list_touched(l);
}

int bpe_learn_merges(const struct vocabulary *words, const struct bpe_learning *how)
{
    struct learner l = {.symbols = vocabulary_new(), .numbers = vocabulary_new(), .how = how};
    spell_words(&l, words);
    for (int32_t pair; !l.full && !l.ended && (pair = pop_pair(&l)) >= 0;) merge_pair(&l, pair);
    vocabulary_free(l.symbols);
    vocabulary_free(l.numbers);
    free(l.pair);
    free(l.occurrence);
    free(l.symbol);
    free(l.made);
    free(l.word);
    free(l.heap);
    free(l.touched);
    if (l.full) return fail(ERR_INPUT, "the words have more than %d pairs of symbols", VOCABULARY_WORDS);
    return 0;
}

struct code {
    struct text *text;
    int64_t left;  // merges to learn
};

static bool write_merge(void *context, const struct bpe_merge *m)
{
    struct code *c = context;
    text_bytes(c->text, m->first, m->first_bytes);
    text_bytes(c->text, " ", 1);
    text_bytes(c->text, m->second, m->second_bytes);
    text_bytes(c->text, "\n", 1);
    return --c->left > 0;
}

int bpe_learn(const struct vocabulary *words, int64_t merges, struct text *code)
{
    struct code c = {code, merges};
    BUG_IF(merges < 0 || merges > BPE_MERGES);
    text_add(code, "%s\n", BPE_HEADER);
    return merges > 0 ? bpe_learn_merges(words, &(struct bpe_learning){.take = write_merge, .context = &c}) : 0;
}
