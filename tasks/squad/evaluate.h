// SPDX-License-Identifier: Apache-2.0
// The scores of SQuAD 1.1 as its published evaluation (evaluate-v1.1.py) defines them, to the last digit.
//
// A text is lowered (all of Unicode, with final sigma), freed of the 32 ASCII punctuation characters, of the words a, an and
// the, and of superfluous white space. F1 is that of the multisets of words left, and 0 where they share none; an exact match
// is equality of what is left (two texts of which nothing is left match exactly, at F1 0). The best of a question's answers
// counts. Pure functions; white space and boundaries of words are Python's.
#ifndef DAWN_TASKS_SQUAD_EVALUATE_H
#define DAWN_TASKS_SQUAD_EVALUATE_H

#include "data/read/squad/squad.h"
#include "runtime/base/text.h"

// Appends what is left of a text: words with one blank between them.
void evaluate_normalise(const char *text, struct text *);

struct evaluate_score {
    double f1;   // 0 to 1
    bool exact;
};
struct evaluate_score evaluate_pair(const char *prediction, const char *truth);
// The best over the answers; f1 and exact may come from different ones.
struct evaluate_score evaluate_answers(const char *prediction, const struct squad_answer *, int answers);

// Sums over questions, in their order: the sum of doubles depends on it.
struct evaluate_total {
    double f1;
    int64_t exact, questions, missing;  // missing: no prediction, which scores 0
};
void evaluate_add(struct evaluate_total *, const char *prediction, const struct squad_question *);  // NULL: there is none
// In percent, 0 of no question.
double evaluate_f1(const struct evaluate_total *);
double evaluate_exact(const struct evaluate_total *);

#endif
