// SPDX-License-Identifier: Apache-2.0
// The symbols of parallel text as ids and back: the data set's own subtokens (WMT17), or merges that are learned from both sides
// of its training text. Ids follow data/text/bpe.h, and so does the cost of learning.
#pragma once

#include "data/dataset.h"
#include "data/read/bitext/bitext.h"
#include "data/text/bpe.h"

// Replaces the text by a line of a sample.
int bitext_read(struct dataset *, enum split, int64_t sample, enum bitext_side, struct text *) MUST_CHECK;

struct bitext_symbols;
int bitext_symbols_new(struct dataset *, int64_t merges, struct bitext_symbols **) MUST_CHECK;
void bitext_symbols_free(struct bitext_symbols *);  // NULL is fine

int32_t bitext_symbols_count(const struct bitext_symbols *);
const char *bitext_symbols_digest(const struct bitext_symbols *);  // of the merges, or of the vocabulary
// Writes the ids of a line, with BPE_EOS, and returns their number, at most bitext_symbols_most of its bytes. May be called by
// several threads.
int64_t bitext_symbols_encode(const struct bitext_symbols *, const struct text *line, int32_t *into);
int64_t bitext_symbols_most(const struct bitext_symbols *, size_t bytes);
// Adds the text of ids up to the first BPE_EOS.
void bitext_symbols_decode(const struct bitext_symbols *, const int32_t *id, int64_t count, struct text *);
// Adds the name of an id; a symbol that does not end a word has "@@" at its end.
void bitext_symbols_name(const struct bitext_symbols *, int32_t id, struct text *);
