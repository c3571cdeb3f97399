// SPDX-License-Identifier: Apache-2.0
// The scores of SQuAD 1.1 as its published evaluation (evaluate-v1.1.py) defines them, to the last digit.
//
// Normalising a text means: lower case (all of Unicode, with final sigma); without the 32 ASCII punctuation characters,
// without the words a, an and the, and without superfluous white space. F1 compares the multisets of the remaining words and
// is 0 if they share none. An exact match means equal normalised texts; two empty ones match exactly, with F1 0. The best of
// a question's answers counts. Pure functions; white space and word boundaries are Python's.
#pragma once

#include "data/read/squad/squad_kind.h"
#include "runtime/common/base/text.h"

// Appends the normalised text: words with one blank between them.
void evaluate_normalise(const char *text, struct text *);

struct evaluate_score {
    double f1;   // 0 to 1
    bool exact;
};
struct evaluate_score evaluate_pair(const char *prediction, const char *truth);
// The best scores over the answers. f1 and exact may come from different answers.
struct evaluate_score evaluate_answers(const char *prediction, const struct squad_answer *, int answers);

// Sums over questions in their order. The sum of doubles depends on the order.
struct evaluate_total {
    double f1;
    int64_t exact, questions, missing;  // missing: questions without a prediction, which score 0
};
void evaluate_add(struct evaluate_total *, const char *prediction, const struct squad_question *);  // prediction NULL: missing
// The scores in percent; 0 without questions.
double evaluate_f1(const struct evaluate_total *);
double evaluate_exact(const struct evaluate_total *);
