// SPDX-License-Identifier: Apache-2.0
// One pass over the text. A word is collected, normalised, in a buffer of at most 100 characters, and cut when it ends.
#include "data/text/wordpiece.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "data/text/unicode.h"
#include "runtime/common/base/arena.h"

// Classes of ASCII characters. The entry of a letter is its normalised form.
enum { DROPPED = 0, SPACE = 1, PUNCTUATION = 2, LETTER = 3 };

struct wordpiece {
    struct vocabulary *all;   // with "##"
    struct vocabulary *rest;  // pieces that continue a word, without "##"
    int32_t *rest_id;
    size_t longest;  // piece, in bytes
    bool lower;
    struct wordpiece_special special;
    uint8_t kind[128], becomes[128];
};

// ---- pieces

void pieces_clear(struct pieces *pieces)
{
    pieces->count = 0;
}

void pieces_free(struct pieces *pieces)
{
    free(pieces->id);
    free(pieces->begin);
    free(pieces->end);
    *pieces = (struct pieces){0};
}

static void append_piece(struct pieces *pieces, int32_t id, int32_t begin, int32_t end)
{
    if (pieces->count == pieces->capacity) {
        pieces->capacity = 2 * pieces->capacity + 256;
        size_t bytes = (size_t)pieces->capacity * sizeof(int32_t);
        pieces->id = grow(pieces->id, bytes);
        pieces->begin = grow(pieces->begin, bytes);
        pieces->end = grow(pieces->end, bytes);
    }
    pieces->id[pieces->count] = id;
    pieces->begin[pieces->count] = begin;
    pieces->end[pieces->count++] = end;
}

void pieces_add(struct pieces *pieces, int32_t id)
{
    append_piece(pieces, id, 0, 0);
}

// ---- the vocabulary

static void classify_ascii(struct wordpiece *w)
{
    for (int c = 0; c < 128; c++) {
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        w->kind[c] = letter ? LETTER : space ? SPACE : c < ' ' || c == 127 ? DROPPED : PUNCTUATION;
        w->becomes[c] = (uint8_t)(w->lower && c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
}

static int find_special(const char *name, const struct wordpiece *w, const char *piece, int32_t *id)
{
    *id = vocabulary_find(w->all, piece, strlen(piece));
    if (*id != VOCABULARY_NONE) return 0;
    return fail(ERR_INPUT, "%s has no line %s: it is not a vocabulary of BERT", name, piece);
}

static int index_pieces(const char *name, struct wordpiece *w)
{
    TRY(find_special(name, w, "[PAD]", &w->special.pad));
    TRY(find_special(name, w, "[UNK]", &w->special.unknown));
    TRY(find_special(name, w, "[CLS]", &w->special.first));
    TRY(find_special(name, w, "[SEP]", &w->special.separator));
    w->special.mask = vocabulary_find(w->all, "[MASK]", strlen("[MASK]"));
    w->rest = vocabulary_new();
    w->rest_id = zalloc((size_t)vocabulary_count(w->all) * sizeof *w->rest_id);
    for (int32_t i = 0; i < vocabulary_count(w->all); i++) {
        size_t n;
        const char *piece = vocabulary_word(w->all, i, &n);
        if (n > 2 && piece[0] == '#' && piece[1] == '#') w->rest_id[vocabulary_add(w->rest, piece + 2, n - 2)] = i;
    }
    w->longest = vocabulary_longest(w->all);
    return 0;
}

static int take_vocabulary(const char *name, struct vocabulary *all, bool lower, struct wordpiece **made)
{
    struct wordpiece *w = zalloc(sizeof *w);
    w->all = all;
    w->lower = lower;
    classify_ascii(w);
    int rc = index_pieces(name, w);
    if (rc < 0) wordpiece_free(w);
    else *made = w;
    return rc;
}

int wordpiece_parse(const char *name, const char *bytes, size_t count, bool lower, struct wordpiece **made)
{
    struct vocabulary *all;
    *made = NULL;
    TRY(vocabulary_parse(name, bytes, count, &all));
    return take_vocabulary(name, all, lower, made);
}

int wordpiece_open(const char *path, bool lower, struct wordpiece **made)
{
    struct vocabulary *all;
    *made = NULL;
    TRY(vocabulary_open(path, &all));
    return take_vocabulary(path, all, lower, made);
}

void wordpiece_free(struct wordpiece *w)
{
    if (w == NULL) return;
    vocabulary_free(w->all);
    vocabulary_free(w->rest);
    free(w->rest_id);
    free(w);
}

int32_t wordpiece_count(const struct wordpiece *w)
{
    return vocabulary_count(w->all);
}

const char *wordpiece_name(const struct wordpiece *w, int32_t id)
{
    size_t n;
    return vocabulary_word(w->all, id, &n);
}

struct wordpiece_special wordpiece_special(const struct wordpiece *w)
{
    return w->special;
}

// ---- a word

// The normalised characters of the current word. `at` has one more entry: the end of the bytes.
struct gathered {
    const struct wordpiece *w;
    struct pieces *pieces;
    struct vocabulary *words;  // counts the words instead of cutting them; NULL: it does not
    bool full;                 // they have as many as they can
    int count;  // number of characters; if above WORDPIECE_CHARACTERS, the last entry represents all further ones
    int at[WORDPIECE_CHARACTERS + 2];
    int32_t begin[WORDPIECE_CHARACTERS + 1], end[WORDPIECE_CHARACTERS + 1];
    char bytes[(WORDPIECE_CHARACTERS + 1) * UNICODE_BYTES];
};

static void gather_character(struct gathered *g, int32_t code, int32_t begin, int32_t end)
{
    if (g->count > WORDPIECE_CHARACTERS) {
        g->end[WORDPIECE_CHARACTERS] = end;
        return;
    }
    int from = g->at[g->count], took = 1;
    if (code < 0x80) g->bytes[from] = (char)code;
    else took = unicode_put(code, g->bytes + from);
    g->begin[g->count] = begin;
    g->end[g->count] = end;
    g->at[++g->count] = from + took;
}

// The longest piece of the word's `n` characters from `from` on; VOCABULARY_NONE if there is none. *behind: the character
// after it.
static int32_t longest_piece(const struct gathered *g, int n, int from, int *behind)
{
    const struct wordpiece *w = g->w;
    const struct vocabulary *pieces = from == 0 ? w->all : w->rest;
    uint32_t hash[WORDPIECE_CHARACTERS + 1], h = VOCABULARY_HASH;
    int to = from;
    while (to < n && (size_t)(g->at[to + 1] - g->at[from]) <= w->longest) {
        h = vocabulary_hash(h, g->bytes + g->at[to], (size_t)(g->at[to + 1] - g->at[to]));
        hash[to++] = h;
    }
    for (; to > from; to--) {
        int32_t found = vocabulary_find_hashed(pieces, g->bytes + g->at[from], (size_t)(g->at[to] - g->at[from]), hash[to - 1]);
        if (found == VOCABULARY_NONE) continue;
        *behind = to;
        return from == 0 ? found : w->rest_id[found];
    }
    return VOCABULARY_NONE;
}

static void count_word(struct gathered *g, int n)
{
    g->full = g->full || vocabulary_count(g->words) == VOCABULARY_WORDS;
    if (n <= WORDPIECE_CHARACTERS && !g->full) vocabulary_add(g->words, g->bytes, (size_t)g->at[n]);
}

static void cut_word(struct gathered *g)
{
    int n = g->count, from = 0, to = 0;
    g->count = 0;
    if (n == 0) return;
    if (g->words != NULL) {
        count_word(g, n);
        return;
    }
    int64_t before = g->pieces->count;
    while (n <= WORDPIECE_CHARACTERS && from < n) {
        int32_t id = longest_piece(g, n, from, &to);
        if (id == VOCABULARY_NONE) break;
        append_piece(g->pieces, id, g->begin[from], g->end[to - 1]);
        from = to;
    }
    if (from == n) return;
    g->pieces->count = before;
    append_piece(g->pieces, g->w->special.unknown, g->begin[0], g->end[n - 1]);
}

// ---- a text

static bool is_ideograph(int32_t c)
{
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
           (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

static void take_normalised(struct gathered *g, int32_t code, int32_t begin, int32_t end)
{
    if (unicode_is_space(code)) {
        cut_word(g);
    } else if (code < 0x80 ? g->w->kind[code] == PUNCTUATION : unicode_is_punctuation(code)) {
        cut_word(g);
        gather_character(g, code, begin, end);
        cut_word(g);
    } else {
        gather_character(g, code, begin, end);
    }
}

// Decomposes, drops marks, then lowers, like the library: a character at a time.
static void take_lowered(struct gathered *g, int32_t code, int32_t begin, int32_t end)
{
    utf8proc_int32_t parts[32];
    int boundary = 0;
    utf8proc_ssize_t n = utf8proc_decompose_char(code, parts, 32, UTF8PROC_DECOMPOSE, &boundary);
    if (n < 1 || n > 32) parts[0] = code, n = 1;
    for (int i = 0; i < n; i++) {
        if (unicode_is_mark(parts[i])) continue;
        take_normalised(g, unicode_lower(parts[i]), begin, end);
    }
}

static void take_character(struct gathered *g, int32_t code, int32_t begin, int32_t end)
{
    if (code == UNICODE_REPLACEMENT || unicode_is_other(code)) return;
    bool alone = is_ideograph(code);
    if (alone) cut_word(g);
    if (g->w->lower) take_lowered(g, code, begin, end);
    else take_normalised(g, code, begin, end);
    if (alone) cut_word(g);
}

static void read_text(struct gathered *g, const char *text, size_t n)
{
    BUG_IF(n > INT32_MAX);
    g->full = false, g->count = 0, g->at[0] = 0;
    for (size_t at = 0; at < n;) {
        int32_t begin = (int32_t)at;
        uint8_t c = (uint8_t)text[at];
        if (c >= 0x80) {
            int32_t code = unicode_next(text, n, &at);
            take_character(g, code, begin, (int32_t)at);
            continue;
        }
        at++;
        switch (g->w->kind[c]) {
        case LETTER: gather_character(g, g->w->becomes[c], begin, begin + 1); break;
        case SPACE: cut_word(g); break;
        case PUNCTUATION:
            cut_word(g);
            gather_character(g, c, begin, begin + 1);
            cut_word(g);
        }
    }
    cut_word(g);
}

void wordpiece_encode(const struct wordpiece *w, const char *text, size_t n, struct pieces *pieces)
{
    struct gathered g;
    g.w = w, g.pieces = pieces, g.words = NULL;
    read_text(&g, text, n);
}

int wordpiece_count_words(const char *text, size_t n, bool lower, struct vocabulary *words)
{
    struct wordpiece w = {.lower = lower};
    struct gathered g;
    classify_ascii(&w);
    g.w = &w, g.pieces = NULL, g.words = words;
    read_text(&g, text, n);
    return g.full ? fail(ERR_INPUT, "the text has %d different words or more", VOCABULARY_WORDS) : 0;
}
