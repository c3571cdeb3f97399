// SPDX-License-Identifier: Apache-2.0
// Pairs of lines as ids: the data set that a translator trains on, and its batches.
//
// Symbols are made when the set is made (bitext_symbols.h), so a run needs no file but its data. Batches have buckets of two
// lengths (pair_buckets.h); batches of an evaluation go by the source alone, and have no other field.
#pragma once

#include "data/read/bitext/bitext_symbols.h"
#include "tasks/common/step/task.h"

enum { PAIRS_LONGEST = 1024 };

// Members of struct task.
int pairs_view(const struct setting *, struct dataset *stored, struct dataset **) MUST_CHECK;
int pairs_feed(const struct setting *, int feed, struct feed_choice *) MUST_CHECK;
int pairs_buckets(const struct setting *, struct dataset *view, enum split, int32_t *bucket) MUST_CHECK;
void pairs_note(const struct setting *, const struct dataset *view, struct text *);

const struct bitext_symbols *pairs_symbols(const struct dataset *view);  // NULL: noise, which has no text
// The ids of a sentence, with its end; their number.
int64_t pairs_ids(const struct dataset *view, enum split, int64_t sample, int side, const int32_t **id);
// The data set of one sentence or of the lines of a text, in the form of the training text (members of struct task): of Multi30k
// lower case and marks apart, of WMT16 marks apart, of WMT17 plain. A blank line stays one, and its answer is blank.
int pairs_ask(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **) MUST_CHECK;
int pairs_ask_cased(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **) MUST_CHECK;
int pairs_ask_plain(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **) MUST_CHECK;
// Replaces the text by the sample's line in the stored set.
int pairs_line(struct dataset *view, enum split, int64_t sample, enum bitext_side, struct text *) MUST_CHECK;
