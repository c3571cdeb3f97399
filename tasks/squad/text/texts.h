// SPDX-License-Identifier: Apache-2.0
// The texts of a split, cut into pieces or words, and the samples that a reader makes of them: one for each window of each
// question (windows.h).
//
// Cost: every text is cut once, on all threads, when the view is made; 12 bytes a piece are kept.
#ifndef DAWN_SQUAD_TEXTS_H
#define DAWN_SQUAD_TEXTS_H

#include "data/read/squad/squad.h"
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

// Appends the pieces of one text; several threads call it at once.
typedef void texts_cut(const void *how, const char *text, size_t n, struct pieces *);
void texts_make(struct texts *, const struct squad *, const struct windows_rule *, texts_cut *, const void *how);
// Noise for programs that have no data (dawn plan, dawn bench): about as many pieces as English questions and paragraphs of
// SQuAD have. Their ids are below `kinds`.
void texts_draw(struct texts *, enum split, int64_t questions, const struct windows_rule *, int32_t kinds);
void texts_free(struct texts *);  // {0} is fine

const struct pieces *texts_context(const struct texts *, int64_t question);
struct windows texts_windows(const struct texts *, int64_t question);
// Where in the sequence the answer's first and last piece stand; false, and both 0, if the window does not hold it.
bool texts_answer(const struct texts *, const struct sample *, int32_t place[2]);
// Lists the samples. `answered`: those alone that hold their answer; of noise all.
void texts_list(struct texts *, bool answered);

// A request of an inference: its texts are cut anew, because that is part of its time.
struct texts_request {
    struct pieces context, question;
};
void *texts_request_new(void *view);  // of struct feed_choice: worker_new
void texts_request_free(void *);
void texts_request_cut(struct texts_request *, const struct texts *, const struct sample *, texts_cut *, const void *how);

#endif
