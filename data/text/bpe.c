// SPDX-License-Identifier: Apache-2.0
// A word is cut by looking for the earliest merge among its pairs until there is none. Vocabularies serve as tables: of the
// symbols that merges join, of the merges (two symbols each), of the numbered symbols and of the known words.
#include "data/text/bpe.h"

#include <stdlib.h>
#include <string.h>

#include "data/text/bpe_inside.h"
#include "runtime/common/base/arena.h"

struct bpe {
    struct vocabulary *symbols, *merges;  // merge i has the rank i
    int32_t *merged;                      // by each merge: the symbol that it makes
    int64_t capacity;
    struct vocabulary *numbered, *known;  // numbered: symbols from BPE_FIRST on; NULL before bpe_number
    int64_t *known_begin;                 // of each known word in known_id; one more at the end
    int32_t *known_id;
};

void bpe_free(struct bpe *b)
{
    if (b == NULL) return;
    vocabulary_free(b->symbols);
    vocabulary_free(b->merges);
    vocabulary_free(b->numbered);
    vocabulary_free(b->known);
    free(b->merged);
    free(b->known_begin);
    free(b->known_id);
    free(b);
}

// ---- words

// The next word of a text from `from` on: [begin, end). False: there is none.
static bool next_word(const char *text, size_t n, size_t from, size_t *begin, size_t *end)
{
    while (from < n && strchr(" \t\r\n", text[from]) != NULL && text[from] != '\0') from++;
    *begin = from;
    while (from < n && (text[from] == '\0' || strchr(" \t\r\n", text[from]) == NULL)) from++;
    *end = from;
    return *begin < from;
}

int bpe_count_words(const char *text, size_t n, struct vocabulary *words)
{
    for (size_t begin, end = 0; next_word(text, n, end, &begin, &end);) {
        if (vocabulary_count(words) == VOCABULARY_WORDS)
            return fail(ERR_INPUT, "the text has %d different words or more", VOCABULARY_WORDS);
        vocabulary_add(words, text + begin, end - begin);
    }
    return 0;
}

// ---- cutting a word

// A word while it is cut: piece i is the symbol[i] (VOCABULARY_NONE: in no merge), which ends before the byte end[i].
enum { SHORT_WORD = 64 };
struct cut {
    const char *word;
    int32_t count, *symbol;
    size_t *end;
    int32_t short_symbol[SHORT_WORD];
    size_t short_end[SHORT_WORD];
};

static void spell_word(const struct bpe *b, const char *word, size_t n, struct cut *c)
{
    char last[BPE_LAST];
    *c = (struct cut){.word = word};
    c->symbol = n <= SHORT_WORD ? c->short_symbol : zalloc(n * sizeof *c->symbol);
    c->end = n <= SHORT_WORD ? c->short_end : zalloc(n * sizeof *c->end);
    for (size_t at = 0, from = 0; at < n; from = at) {
        (void)unicode_next(word, n, &at);
        size_t length = at - from;
        const char *symbol = word + from;
        if (at == n) symbol = bpe_last_character(symbol, &length, last);
        c->symbol[c->count] = vocabulary_find(b->symbols, symbol, length);
        c->end[c->count++] = at;
    }
}

static int32_t find_merge(const struct bpe *b, const int32_t *symbol)
{
    if (symbol[0] < 0 || symbol[1] < 0) return VOCABULARY_NONE;
    return vocabulary_find(b->merges, (const char *)symbol, 2 * sizeof *symbol);
}

static void merge_pieces(const struct bpe *b, int32_t rank, struct cut *c)
{
    size_t n;
    int32_t pair[2], to = 0;
    memcpy(pair, vocabulary_word(b->merges, rank, &n), sizeof pair);
    for (int32_t i = 0; i < c->count; i++, to++) {
        bool found = i + 1 < c->count && c->symbol[i] == pair[0] && c->symbol[i + 1] == pair[1];
        c->symbol[to] = found ? b->merged[rank] : c->symbol[i];
        i += found;
        c->end[to] = c->end[i];
    }
    c->count = to;
}

static void cut_word(const struct bpe *b, const char *word, size_t n, struct cut *c)
{
    spell_word(b, word, n, c);
    for (int32_t best = 0; best >= 0;) {
        best = VOCABULARY_NONE;
        for (int32_t i = 0; i + 1 < c->count; i++) {
            int32_t rank = find_merge(b, c->symbol + i);
            if (rank >= 0 && (best < 0 || rank < best)) best = rank;
        }
        if (best >= 0) merge_pieces(b, best, c);
    }
}

static void free_cut(struct cut *c)
{
    if (c->symbol != c->short_symbol) free(c->symbol);
    if (c->end != c->short_end) free(c->end);
}

// Piece i of a word as it is numbered: its bytes, with BPE_END if it ends the word.
static void copy_piece(const struct cut *c, int32_t i, struct text *into)
{
    size_t from = i > 0 ? c->end[i - 1] : 0;
    into->length = 0;
    text_bytes(into, c->word + from, c->end[i] - from);
    if (i + 1 == c->count) text_bytes(into, BPE_END, BPE_END_BYTES);
}

static bool ends_word(const char *symbol, size_t n)
{
    return n >= BPE_END_BYTES && memcmp(symbol + n - BPE_END_BYTES, BPE_END, BPE_END_BYTES) == 0;
}

void bpe_segment(const struct bpe *b, const char *line, size_t n, struct text *into)
{
    const char *before = "";
    for (size_t begin, end = 0; next_word(line, n, end, &begin, &end); before = " ") {
        struct cut c;
        cut_word(b, line + begin, end - begin, &c);
        for (int32_t i = 0; i < c.count; i++, before = "@@ ") {
            size_t from = i > 0 ? c.end[i - 1] : 0;
            text_bytes(into, before, strlen(before));
            text_bytes(into, c.word + from, c.end[i] - from);
        }
        free_cut(&c);
    }
}

// ---- numbers

static int64_t number_characters(const struct bpe *b, const struct text *piece, int32_t *into)
{
    int64_t count = 0;
    size_t n = piece->length - (ends_word(piece->at, piece->length) ? BPE_END_BYTES : 0);
    for (size_t at = 0, from = 0; at < n; from = at, count++) {
        (void)unicode_next(piece->at, n, &at);
        int32_t number = vocabulary_find(b->numbered, piece->at + from, (at == n ? piece->length : at) - from);
        if (into != NULL) into[count] = number < 0 ? BPE_UNKNOWN : number;
    }
    return count;
}

static int64_t number_word(const struct bpe *b, const char *word, size_t n, int32_t *into)
{
    struct cut c;
    struct text piece = {0};
    int64_t count = 0;
    cut_word(b, word, n, &c);
    for (int32_t i = 0; i < c.count; i++) {
        copy_piece(&c, i, &piece);
        int32_t number = vocabulary_find(b->numbered, piece.at, piece.length), *to = into != NULL ? into + count : NULL;
        if (number < 0) count += number_characters(b, &piece, to);
        else if (to != NULL) *to = number, count++;
        else count++;
    }
    text_free(&piece);
    free_cut(&c);
    return count;
}

static void count_symbols(struct bpe *b, const struct vocabulary *words)
{
    static const char *const special[BPE_FIRST] = {" pad", " bos", " eos", " unk"};  // no word has a blank
    b->numbered = vocabulary_new();
    for (int i = 0; i < BPE_FIRST; i++) vocabulary_add(b->numbered, special[i], strlen(special[i]));
    struct text piece = {0};
    for (int32_t k = 0; k < vocabulary_count(words); k++) {
        size_t n;
        struct cut c;
        const char *word = vocabulary_word(words, k, &n);
        cut_word(b, word, n, &c);
        for (int32_t i = 0; i < c.count; i++) {
            copy_piece(&c, i, &piece);
            vocabulary_add_times(b->numbered, piece.at, piece.length, vocabulary_times(words, k));
        }
        free_cut(&c);
    }
    text_free(&piece);
    vocabulary_rank(b->numbered, BPE_FIRST);
}

void bpe_number(struct bpe *b, const struct vocabulary *words)
{
    BUG_IF(b->numbered != NULL);
    count_symbols(b, words);
    int32_t count = vocabulary_count(words);
    int64_t used = 0, capacity = 0;
    b->known = vocabulary_new();
    b->known_begin = zalloc(((size_t)count + 1) * sizeof *b->known_begin);
    for (int32_t k = 0; k < count; k++) {
        size_t n;
        const char *word = vocabulary_word(words, k, &n);
        if (used + (int64_t)n > capacity) {
            capacity = 2 * capacity + (int64_t)n + 4096;
            b->known_id = grow(b->known_id, (size_t)capacity * sizeof *b->known_id);
        }
        vocabulary_add(b->known, word, n);
        used += number_word(b, word, n, b->known_id + used);
        b->known_begin[k + 1] = used;
    }
}

int32_t bpe_count(const struct bpe *b)
{
    return vocabulary_count(b->numbered);
}

int64_t bpe_encode(const struct bpe *b, const char *line, size_t n, int32_t *into)
{
    int64_t count = 0;
    for (size_t begin, end = 0; next_word(line, n, end, &begin, &end);) {
        int32_t known = vocabulary_find(b->known, line + begin, end - begin), *to = into != NULL ? into + count : NULL;
        if (known < 0) {
            count += number_word(b, line + begin, end - begin, to);
            continue;
        }
        int64_t ids = b->known_begin[known + 1] - b->known_begin[known];
        if (to != NULL) memcpy(to, b->known_id + b->known_begin[known], (size_t)ids * sizeof *to);
        count += ids;
    }
    return count;
}

// The bytes of a symbol without BPE_END.
static const char *symbol_bytes(const struct bpe *b, int32_t id, size_t *n, bool *last)
{
    static const char *const special[BPE_FIRST] = {"<pad>", "<s>", "</s>", "<unk>"};
    *last = true;
    if (id < BPE_FIRST) return *n = strlen(special[id]), special[id];
    const char *symbol = vocabulary_word(b->numbered, id, n);
    *last = ends_word(symbol, *n);
    if (*last) *n -= BPE_END_BYTES;
    return symbol;
}

void bpe_decode(const struct bpe *b, const int32_t *id, int64_t count, struct text *into)
{
    bool blank = false;
    for (int64_t i = 0; i < count && id[i] != BPE_EOS; i++) {
        if (id[i] == BPE_PAD || id[i] == BPE_BOS) continue;
        size_t n;
        if (blank) text_bytes(into, " ", 1);
        const char *bytes = symbol_bytes(b, id[i], &n, &blank);
        text_bytes(into, bytes, n);
    }
}

void bpe_name(const struct bpe *b, int32_t id, struct text *into)
{
    size_t n;
    bool last;
    const char *bytes = symbol_bytes(b, id, &n, &last);
    text_bytes(into, bytes, n);
    if (!last) text_bytes(into, "@@", 2);
}

// ---- as a file

static int refuse_line(const char *name, int64_t number, const char *what)
{
    return fail(ERR_INPUT, "%s: line %lld %s", name, (long long)number, what);
}

static int parse_merge(const char *name, int64_t number, const char *line, size_t n, struct bpe *b)
{
    const char *blank = memchr(line, ' ', n);
    if (n == 0) return refuse_line(name, number, "is empty; every line has to hold one merge");
    if (unicode_valid(line, n) < n || memchr(line, '\0', n) != NULL)
        return refuse_line(name, number, "is not text in UTF-8");
    size_t first = blank != NULL ? (size_t)(blank - line) : n, second = blank != NULL ? n - first - 1 : 0;
    if (first == 0 || second == 0 || memchr(blank + 1, ' ', second) != NULL)
        return refuse_line(name, number, "is not two symbols with a blank between them");
    int32_t known = vocabulary_count(b->merges);
    if (known == BPE_MERGES) return fail(ERR_INPUT, "%s has more than %d merges", name, BPE_MERGES);
    struct text both = {0};
    text_bytes(&both, line, first);
    text_bytes(&both, blank + 1, second);
    int32_t pair[2] = {vocabulary_add(b->symbols, line, first), vocabulary_add(b->symbols, blank + 1, second)};
    int32_t merged = vocabulary_add(b->symbols, both.at, both.length);
    text_free(&both);
    int32_t rank = vocabulary_add(b->merges, (const char *)pair, sizeof pair);
    if (rank < known)
        return fail(ERR_INPUT, "%s: line %lld repeats the merge of line %d", name, (long long)number, rank + 2);
    if (known == b->capacity) {
        b->capacity = 2 * b->capacity + 1024;
        b->merged = grow(b->merged, (size_t)b->capacity * sizeof *b->merged);
    }
    b->merged[rank] = merged;
    return 0;
}

int bpe_parse(const char *name, const char *bytes, size_t count, struct bpe **parsed)
{
    struct bpe *b = zalloc(sizeof *b);
    int rc = 0;
    *parsed = NULL;
    b->symbols = vocabulary_new();
    b->merges = vocabulary_new();
    if (count == 0) rc = fail(ERR_INPUT, "%s is empty: it has no merges", name);
    int64_t number = 1;
    for (size_t at = 0; at < count && rc == 0; number++) {
        const char *line = bytes + at, *end = memchr(line, '\n', count - at);
        size_t n = end != NULL ? (size_t)(end - line) : count - at;
        at += n + 1;
        if (n > 0 && line[n - 1] == '\r') n--;
        if (number > 1) rc = parse_merge(name, number, line, n, b);
        else if (n != strlen(BPE_HEADER) || memcmp(line, BPE_HEADER, n) != 0)
            rc = refuse_line(name, number, "is not \"" BPE_HEADER "\", as in the files of subword-nmt 0.2");
    }
    if (rc < 0) bpe_free(b);
    else *parsed = b;
    return rc;
}
