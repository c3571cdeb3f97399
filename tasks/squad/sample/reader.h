// SPDX-License-Identifier: Apache-2.0
// Differences between the models that answer questions: how questions and contexts become samples, and the form of an
// answer. A model's graph reads the fields of its own samples (step_input) and ends in scores of beginnings and ends.
#pragma once

#include "data/read/squad/squad_kind.h"
#include "tasks/common/step/step.h"

struct answer {
    int64_t question;    // number in the split
    int64_t begin, end;  // bytes of its context; begin == end: no answer
    float score;         // the highest counts if several samples belong to one question
};

struct reader {
    // As in struct task: makes samples from a data set that squad_of knows (or noise of its shape), and their batches.
    int (*view)(const struct setting *, struct dataset *stored, struct dataset **);
    int (*feed)(const struct setting *, struct feed_choice *);
    // Adds what people should know about the samples before a training (struct task).
    void (*note)(const struct setting *, const struct dataset *view, struct text *);
    // The question of the test split to which a sample belongs.
    int64_t (*question)(const struct dataset *view, int64_t sample);
    // True if sample `sample` of the test split has an answer by these scores, one for each position of the sequence.
    bool (*answer)(const struct dataset *view, int64_t sample, const float *start, const float *end, struct answer *);
};

// The reader of the model, which its row names (struct model: own).
static inline const struct reader *reader_of(const struct setting *c)
{
    return c->model->own;
}
