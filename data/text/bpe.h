// SPDX-License-Identifier: Apache-2.0
// Byte pair encoding (Sennrich et al. 2016) as subword-nmt 0.2: cuts words into the symbols of a vocabulary learned from counted
// words.
//
// A word is a run of bytes without blanks and tabs. It starts as its characters, the last one with "</w>". Learning merges the
// most frequent pair of neighbours, again and again; of equally frequent pairs the larger one, compared as two strings by code
// point. Encoding applies the merges to a word in the order in which they were learned. Files equal subword-nmt's byte for
// byte, with one difference: a pair that is merged, comes up again and is merged again is written once. Any bytes are text; a
// byte that is not UTF-8 is a character. Cost: 10,000 merges of the words of 29,000 pairs of sentences (1.1 million) are learned
// in 0.2 s; encoding is a look-up per known word, and an unknown one takes time by the square of its characters.
#pragma once

#include "data/text/vocabulary.h"
#include "runtime/common/base/text.h"

enum { BPE_MERGES = 1 << 20, BPE_FILE = 64 << 20 };
enum { BPE_PAD, BPE_BOS, BPE_EOS, BPE_UNKNOWN, BPE_FIRST };  // ids; symbols are numbered from BPE_FIRST on

// Counts the words of a text of any number of lines.
int bpe_count_words(const char *text, size_t n, struct vocabulary *words) MUST_CHECK;
// Learns at most `merges` merges and adds the `code` file to a text: "#version: 0.2", then "first second" per line. Ends where no
// pair occurs twice.
int bpe_learn(const struct vocabulary *words, int64_t merges, struct text *code) MUST_CHECK;

struct bpe;
// Parses a `code` file; `name` names it in errors.
int bpe_parse(const char *name, const char *bytes, size_t count, struct bpe **) MUST_CHECK;
void bpe_free(struct bpe *);  // NULL is fine

// Adds the words of a line as symbols, with "@@" after each that does not end a word and a blank between two.
void bpe_segment(const struct bpe *, const char *line, size_t n, struct text *);

// Numbers the symbols of which these words consist, the most frequent first, equally frequent ones by their bytes, and remembers
// the words. Once per bpe, before the functions below. They may be called by several threads.
void bpe_number(struct bpe *, const struct vocabulary *words);
int32_t bpe_count(const struct bpe *);  // of ids, with the BPE_FIRST special ones
// Writes the ids of a line and returns their number, at most n; `into` NULL only counts. A symbol without a number becomes its
// characters, and a character without a number BPE_UNKNOWN. No special ids are added.
int64_t bpe_encode(const struct bpe *, const char *line, size_t n, int32_t *into);
// Adds the words of ids up to the first BPE_EOS, with a blank between two. BPE_PAD and BPE_BOS are left out; BPE_UNKNOWN is
// "<unk>".
void bpe_decode(const struct bpe *, const int32_t *id, int64_t count, struct text *);
// A symbol as bpe_segment writes it: "klein@@", "hund", "<unk>".
void bpe_name(const struct bpe *, int32_t id, struct text *);
