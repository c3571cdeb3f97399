// SPDX-License-Identifier: Apache-2.0
// The texts of a split, cut into pieces or words, and the samples of a reader: one for each window of each question
// (windows.h).
//
// Cost: when the view is made, all threads cut every text once; 12 bytes per piece are kept.
#pragma once

#include "data/read/squad/squad_kind.h"
#include "data/text/wordpiece.h"
#include "tasks/squad/text/windows.h"

struct sample {
    int32_t question, window;
};

struct texts {
    const struct squad *squad;        // borrowed; NULL: noise
    const struct windows_rule *rule;  // borrowed
    struct pieces *context, *question;
    int64_t contexts, questions;
    struct sample *sample;
    int64_t samples;
};

// Appends the pieces of one text. Several threads call it at once.
typedef void texts_cut(const void *how, const char *text, size_t n, struct pieces *);
void texts_make(struct texts *, const struct squad *, const struct windows_rule *, texts_cut *, const void *how);
// Makes noise for commands without data (dawn plan, dawn bench). Texts have about as many pieces as the English questions
// and paragraphs of SQuAD; ids are below `kinds`.
void texts_draw(struct texts *, enum split, int64_t questions, const struct windows_rule *, int32_t kinds);
void texts_free(struct texts *);  // {0} is fine

const struct pieces *texts_context(const struct texts *, int64_t question);
struct windows texts_windows(const struct texts *, int64_t question);
// The places of the answer's first and last piece in the sequence. False, and both 0, if the window does not hold the
// answer.
bool texts_answer(const struct texts *, const struct sample *, int32_t span[2]);
// Number of questions whose answer is whole in none of their windows. Noise has none.
int64_t texts_unanswered(const struct texts *);
// Lists the samples. `answered`: only those that hold their answer; noise is listed whole.
void texts_list(struct texts *, bool answered);

// A request of an inference. Its texts are cut again, because the cutting is part of its time.
struct texts_request {
    struct pieces context, question;
};
void *texts_request_new(void *view);  // feed_choice.worker_new
void texts_request_free(void *);
void texts_request_cut(struct texts_request *, const struct texts *, const struct sample *, texts_cut *, const void *how);
