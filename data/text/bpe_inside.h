// SPDX-License-Identifier: Apache-2.0
// How both halves of BPE spell words, and the learner that WordPiece shares (wordpiece_learn.c).
#pragma once

#include <stdbool.h>
#include <string.h>

#include "data/text/bpe.h"
#include "data/text/unicode.h"

#define BPE_HEADER "#version: 0.2"
#define BPE_END "</w>"
enum { BPE_END_BYTES = sizeof BPE_END - 1, BPE_LAST = UNICODE_BYTES + BPE_END_BYTES };

// The symbol of the last character of a word; changes its length.
static inline const char *bpe_last_character(const char *character, size_t *n, char into[BPE_LAST])
{
    memcpy(into, character, *n);
    memcpy(into + *n, BPE_END, BPE_END_BYTES);
    *n += BPE_END_BYTES;
    return into;
}

// The same for a character at byte `from` of a word that is cut into pieces.
#define BPE_REST "##"
enum { BPE_REST_BYTES = sizeof BPE_REST - 1 };
static inline const char *bpe_rest_character(const char *character, size_t *n, size_t from, char into[BPE_LAST])
{
    size_t before = from > 0 ? BPE_REST_BYTES : 0;
    memcpy(into, BPE_REST, before);
    memcpy(into + before, character, *n);
    *n += before;
    return into;
}

// What a learner makes of the words' pairs.
struct bpe_merge {
    const char *first, *second, *both;
    size_t first_bytes, second_bytes, both_bytes;
};
struct bpe_learning {
    // False: the last character of a word ends with BPE_END. True: all but the first begin with "##", which a merge drops from
    // its second symbol.
    bool pieces;
    // Takes a pair when it is merged for the first time. False: it was the last.
    bool (*take)(void *context, const struct bpe_merge *);
    void *context;
};
int bpe_learn_merges(const struct vocabulary *words, const struct bpe_learning *) MUST_CHECK;
