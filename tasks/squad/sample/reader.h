// SPDX-License-Identifier: Apache-2.0
// What differs between the models that answer questions: how questions and contexts become samples, and what an answer is.
// A model's graph reads the fields of its own samples (step_input) and ends in the scores of beginnings and ends.
#ifndef DAWN_SQUAD_READER_H
#define DAWN_SQUAD_READER_H

#include "data/read/squad/squad.h"
#include "tasks/step/step.h"

struct answer {
    int64_t question;    // of the split
    int64_t begin, end;  // bytes of its context; the same: no answer
    float score;         // of several samples of one question the highest counts
};

struct reader {
    // Of struct task: the samples, made of a data set that squad_of knows (or of noise of its shape), and their batches.
    int (*view)(const struct setting *, struct dataset *stored, struct dataset **);
    void (*feed)(const struct setting *, enum split, struct feed_choice *);
    // The question, of the test split, that a sample is of.
    int64_t (*question)(const struct dataset *view, int64_t sample);
    // Whether sample `sample` of the test split has an answer by these scores, one for each place of the sequence.
    bool (*answer)(const struct dataset *view, int64_t sample, const float *start, const float *end, struct answer *);
};

const struct reader *reader_of(const struct setting *);

#endif
