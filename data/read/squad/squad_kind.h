// SPDX-License-Identifier: Apache-2.0
// Questions about paragraphs that contain the answers: the Stanford Question Answering Dataset, version 1.1.
//
// The kinds: "squad" (train-v1.1.json and dev-v1.1.json), "squad-split" (dev-v1.1.json alone: every sixth article of those
// sorted by title is for validation) and "stories" (generated, for tests and trials). A sample is a question. Its fields are
// "contexts" and "questions" (u8, UTF-8, ragged) and "answers" (i32[2], the first answer's bytes [begin, end) in the
// context; -1, -1 if the context does not have it there).
//
// Every text is valid UTF-8 without a zero byte. Positions count bytes, although the files count code points. Cost: opening
// files of the official size (35 MB) takes 0.9 s of one core and 240 MB, most of it for the JSON, which is freed. The rest
// is about the size of the files.
#pragma once

#include "data/dataset.h"
#include "runtime/common/base/arena.h"

enum { SQUAD_NOWHERE = -1 };

struct squad_answer {
    const char *text;
    int64_t start;  // byte in the context; SQUAD_NOWHERE: the text is not where the file says
};

struct squad_question {
    const char *id, *text;
    int64_t paragraph;
    const struct squad_answer *answer;
    int answers;  // at least 1
};

struct squad_article {
    const char *title;
    int64_t first, paragraphs;  // its paragraphs are [first, first + paragraphs)
};

// One split, in the order of the file.
struct squad {
    const struct squad_article *article;
    int64_t articles;
    const char *const *context;
    int64_t paragraphs;
    const struct squad_question *question;
    int64_t questions;
    int64_t answers;
    int64_t lost;            // answers with SQUAD_NOWHERE
    const char *lost_first;  // a sentence about the first of them; NULL if there is none
};

// The questions of a split; NULL if the data set is not one of these kinds.
const struct squad *squad_of(const struct dataset *, enum split);

// A data set whose test split is one question about a text of `n` bytes. Its training split comes from `like`, which is
// borrowed; NULL: an empty one.
int squad_ask(const struct dataset *like, const char *text, size_t n, const char *question, struct dataset **) MUST_CHECK;

// Reads a file of that form with any name. Texts and tables go into the arena.
int squad_read_file(const char *path, struct arena *, struct squad *) MUST_CHECK;
