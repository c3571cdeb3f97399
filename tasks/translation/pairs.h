// SPDX-License-Identifier: Apache-2.0
// Pairs of lines as ids: the data set that a translator trains on, and its batches.
//
// Symbols are a data set's own subtokens (WMT17), or merges that are learned from the training text when the set is made; a run
// needs no file but its data. Batches have buckets of two lengths (pair_buckets.h); those of an evaluation go by the source
// alone, and have no other field.
#pragma once

#include "data/text/bpe.h"
#include "tasks/common/step/task.h"

enum { PAIRS_LONGEST = 1024 };
enum { PAIRS_SOURCE, PAIRS_TARGET, PAIRS_SIDES };

// Members of struct task.
int pairs_view(const struct setting *, struct dataset *stored, struct dataset **) MUST_CHECK;
int pairs_feed(const struct setting *, int feed, struct feed_choice *) MUST_CHECK;
int pairs_buckets(const struct setting *, struct dataset *view, enum split, int32_t *bucket) MUST_CHECK;
void pairs_note(const struct setting *, const struct dataset *view, struct text *);

bool pairs_is_noise(const struct dataset *view);       // it has no text
const char *pairs_digest(const struct dataset *view);  // of the merges, or of the vocabulary
// Adds the text of ids up to the first BPE_EOS.
void pairs_decode(const struct dataset *view, const int32_t *id, int64_t count, struct text *);
// The ids of a sentence, with its end; their number. The name of one: a symbol that does not end a word has "@@" at its end.
int64_t pairs_symbols(const struct dataset *view, enum split, int64_t sample, int side, const int32_t **id);
void pairs_name(const struct dataset *view, int32_t id, struct text *);
// The data set of one sentence or of the lines of a text, in the form of the training text (members of struct task): of Multi30k
// lower case and marks apart, of WMT16 marks apart, of WMT17 plain. A blank line stays one, and its answer is blank.
int pairs_ask(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **) MUST_CHECK;
int pairs_ask_cased(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **) MUST_CHECK;
int pairs_ask_plain(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **) MUST_CHECK;
// Replaces the text by the sample's line in the stored set.
int pairs_line(struct dataset *view, enum split, int64_t sample, int side, struct text *) MUST_CHECK;
