// SPDX-License-Identifier: Apache-2.0
// Texts with masked pieces: a view of a data set of articles (data/read/wiki). Pieces come from --vocab, or are learned from the
// training text (wordpiece.h).
//
// Fields of a batch: "tokens" i32[T], [CLS] first text [SEP] second text [SEP], padded with [PAD]; "segments" i32[T], 1 from the
// second text on; "tokens.length" i32; "places" i32[P], of the masked pieces in the batch (row x T + position); "labels" i32[P],
// the original pieces, -1 after the last; "next" i32, 1: the second text is from another article.
//
// An epoch has as many samples as a walk through the training text makes. Each epoch draws its own (sentence_pairs.h). What is
// scored is fixed by the task: of ten walks with seed 12345 the first samples in a drawn order, each masked once. Cost: a list of
// samples takes 24 bytes each, made in 10 ns per piece when the first batch of an epoch needs it.
#pragma once

#include "data/text/wordpiece.h"
#include "tasks/common/step/task.h"
#include "tasks/common/words/sentence_pairs.h"

#define CLOZE_SMALL "wiki-mlm"
enum { CLOZE_LONGEST = 1024, CLOZE_BEST = 5 };  // words that an answer names

// Members of struct task.
int cloze_view(const struct setting *, struct dataset *stored, struct dataset **) MUST_CHECK;
int cloze_feed(const struct setting *, int feed, struct feed_choice *) MUST_CHECK;
void cloze_note(const struct setting *, const struct dataset *view, struct text *);
int cloze_ask(const struct dataset *like, const char *text, size_t n, const char *sentence, struct dataset **) MUST_CHECK;

const char *cloze_digest(const struct dataset *view);  // of the learned pieces; "": none were learned
const char *cloze_piece(const struct dataset *view, int32_t id);
bool cloze_is_noise(const struct dataset *view);       // it has no text

const struct sentence_text *cloze_text(const struct dataset *view, enum split);
const struct wordpiece_special *cloze_special(const struct dataset *view);

// What is scored without learning.
struct cloze_floors {
    int32_t piece;           // the most frequent one of training
    int64_t places;          // masked ones
    double masked, next;     // its share of them; the share of the more frequent answer to "next"
};
struct cloze_floors cloze_floors_of(const struct dataset *view);

struct cloze_sample {
    int32_t *tokens, *segments;       // [T]
    int32_t *places, *labels;         // [P]: places in the sample
    int64_t length, masked, second;   // second: the position where the second text begins
    bool random;
};
// Sample of the scored set. The arrays are freed by cloze_sample_free.
void cloze_sample(const struct dataset *view, int64_t number, struct cloze_sample *);
void cloze_sample_free(struct cloze_sample *);
// SHA-256 of the scored set: a line "tokens | second | places | labels | random" for each sample, a blank after each number.
void cloze_scored_digest(const struct dataset *view, char hex[DIGEST_HEX]);
