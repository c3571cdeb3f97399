// SPDX-License-Identifier: Apache-2.0
// Pairs of lines as ids: the data set that a translator trains on, and its batches.
//
// Merges are learned from the training text when the set is made, so a run needs no file but its data. Batches have buckets of
// two lengths (pair_buckets.h); those of an evaluation go by the source alone, and have no other field.
#ifndef DAWN_TRANSLATION_PAIRS_H
#define DAWN_TRANSLATION_PAIRS_H

#include "data/text/bpe.h"
#include "tasks/common/step/task.h"

enum { PAIRS_LONGEST = 1024 };
enum { PAIRS_SOURCE, PAIRS_TARGET, PAIRS_SIDES };

// Members of struct task.
int pairs_view(const struct setting *, struct dataset *stored, struct dataset **) MUST_CHECK;
int pairs_feed(const struct setting *, int feed, struct feed_choice *) MUST_CHECK;
int pairs_buckets(const struct setting *, struct dataset *view, enum split, int32_t *bucket) MUST_CHECK;
void pairs_note(const struct setting *, const struct dataset *view, struct text *);

const struct bpe *pairs_bpe(const struct dataset *view);  // NULL: noise has no text
const char *pairs_digest(const struct dataset *view);     // of the merges
// The data set of one sentence or of the lines of a text, in the form of Multi30k's files: lower case, marks apart (member of
// struct task).
int pairs_ask(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **) MUST_CHECK;
// Replaces the text by the sample's line in the stored set.
int pairs_line(struct dataset *view, enum split, int64_t sample, int side, struct text *) MUST_CHECK;

#endif
