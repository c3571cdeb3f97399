// SPDX-License-Identifier: Apache-2.0
// A long text as a row of tokens per split, read in blocks.
//
// The kinds: "shakespeare" (characters), "lines" (drawn, for tests and trials) and "fineweb" (GPT-2's tokens in binary shards). A
// sample is a block: its field "tokens" (i32, ragged) has the `block` tokens from block x number on and the one that follows, so
// that neighbours share a token and every token but the first is predicted once. The last block of a split may be shorter.
//
// A token of characters is the number of its character among the sorted characters of the text.
#pragma once

#include "data/dataset.h"

// Characters of a text: line feeds and the printable ones of ASCII. They are safe on a terminal.
enum { CORPUS_SYMBOLS = 96, CORPUS_BYTES = 1 << 30 };
struct corpus_symbols {
    int count;
    char symbol[CORPUS_SYMBOLS];
    int16_t id[256];  // -1: the text does not have this byte
};
// Pure. `name` names the text in errors, which name the byte, too.
int corpus_parse(const char *name, const char *text, size_t n, struct corpus_symbols *) MUST_CHECK;

// Tokens of a split; 0 if the set is no text (noise).
int64_t corpus_length(const struct dataset *, enum split);
// Any tokens of a split. The range is inside of it. Several threads may read at once.
int corpus_read(const struct dataset *, enum split, int64_t first, int64_t count, int32_t *into) MUST_CHECK;
const struct corpus_symbols *corpus_symbols(const struct dataset *);  // NULL: its tokens are no characters
