// SPDX-License-Identifier: Apache-2.0
// The subtokens of Tensor2Tensor's tokenizer (Vaswani et al. 2017), which MLPerf's Transformer reads: text as ids of a fixed
// vocabulary and back, without any other tokenizer.
//
// A line without the blanks around it becomes tokens: runs of letters and numbers, and runs of all other characters; a single
// blank between two runs is no token. A token is escaped ("_" is "\u", "\" is "\\", a character that no subtoken has is
// "\NUMBER;"), gets a "_" at its end, and is cut from the left into the longest subtokens. So the ids of any line decode to that
// line, except for blanks next to punctuation marks. Cost: a look-up for each prefix of a token up to the longest subtoken.
#pragma once

#include "data/text/bpe.h"

// Ids follow bpe.h: a subtoken's id is its position in the file plus BPE_FIRST, not counting the reserved ones.
enum { SUBTOKENS_PER_BYTE = 8 };  // a byte that is not UTF-8: "\65533;_"

struct subtokens;
// Parses a vocabulary: lines with a subtoken in single quotes. The reserved ones, "<pad>" and "<EOS>" with or without "_", may
// stand at the beginning. Pure; `name` names it in errors.
int subtokens_parse(const char *name, const char *bytes, size_t count, struct subtokens **) MUST_CHECK;
int subtokens_open(const char *path, struct subtokens **) MUST_CHECK;
void subtokens_free(struct subtokens *);  // NULL is fine

int32_t subtokens_count(const struct subtokens *);  // of ids, with the BPE_FIRST special ones
// Writes the ids of a line and returns their number, at most SUBTOKENS_PER_BYTE a byte. A character that cannot be spelled
// becomes BPE_UNKNOWN. May be called by several threads.
int64_t subtokens_encode(const struct subtokens *, const char *line, size_t n, int32_t *into);
// Adds the text of ids up to the first BPE_EOS; other special ids are left out.
void subtokens_decode(const struct subtokens *, const int32_t *id, int64_t count, struct text *);
