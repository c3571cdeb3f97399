// SPDX-License-Identifier: Apache-2.0
// Words with numbers: 0, 1, 2, ... in the order of their first occurrence, or by frequency.
//
// A word is any bytes, at least one. Cost of a look-up: one hash of the word and, in nearly all cases, one comparison.
#pragma once

#include "runtime/common/base/error.h"

enum { VOCABULARY_WORDS = 1 << 24, VOCABULARY_FILE = 256 << 20, VOCABULARY_NONE = -1 };

struct vocabulary;
struct vocabulary *vocabulary_new(void);
void vocabulary_free(struct vocabulary *);  // NULL is fine

// Parses a list of words, one per line; line i (from 0) is word i. Pure; `name` names the list in errors. Refuses an empty or
// repeated line, because the number of a line identifies its word.
int vocabulary_parse(const char *name, const char *bytes, size_t count, struct vocabulary **) MUST_CHECK;
int vocabulary_open(const char *path, struct vocabulary **) MUST_CHECK;

int32_t vocabulary_add(struct vocabulary *, const char *word, size_t n);  // returns its number, new or old; counts one occurrence
int32_t vocabulary_add_times(struct vocabulary *, const char *word, size_t n, int64_t times);
int32_t vocabulary_find(const struct vocabulary *, const char *word, size_t n);  // VOCABULARY_NONE if it is missing
// Renumbers the words: the most frequent first, words of equal frequency by their bytes. The first `fixed` keep their
// numbers.
void vocabulary_rank(struct vocabulary *, int32_t fixed);

int32_t vocabulary_count(const struct vocabulary *);
const char *vocabulary_word(const struct vocabulary *, int32_t i, size_t *n);  // followed by a NUL, which is not counted
int64_t vocabulary_times(const struct vocabulary *, int32_t i);
size_t vocabulary_longest(const struct vocabulary *);  // in bytes

// The hash of a word is a fold over its bytes, so one pass gives the hashes of all prefixes of a text.
#define VOCABULARY_HASH UINT32_C(2166136261)
static inline uint32_t vocabulary_hash(uint32_t hash, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash;
}
int32_t vocabulary_find_hashed(const struct vocabulary *, const char *word, size_t n, uint32_t hash);
