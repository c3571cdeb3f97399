// SPDX-License-Identifier: Apache-2.0
// Reference runs of published recipes (references.json), all of them measured, and the one-sided test whether a score is better
// than they make believable (docs/rules.md). Pure functions; the table is parsed once.
#pragma once

#include <jansson.h>

#include "submit/format/score/group.h"
#include "submit/format/run_metric.h"

enum { REFERENCE_MINIMUM = 3 };  // runs; of fewer nothing follows
#define REFERENCE_P 0.01         // below it, a score is not believed

struct reference {
    struct run_metric board;   // of the requested run; its texts are the run's
    int runs, reached;         // reference runs, and how many of them met the target
    struct group_mean score;   // of their last evaluations
    struct group_mean epochs;  // to the target, of those that met it
    bool same_text;            // of the very text of their recipe: its epochs are comparable
};
// The reference runs of a run's task, recipe and model. False: there are none; also for a run of the open division whose recipe
// has another text, because such a recipe may be better.
bool reference_find(const json_t *run, struct reference *);
// The chance that the mean of `m` runs lies so far above the mean of `n` reference runs, by Student's t with n - 1 degrees of
// freedom. 1 for fewer than REFERENCE_MINIMUM; without any spread, 0 for all that is above.
double reference_p(double above, double sigma, int n, int m);
// The p of a mean score of `m` runs, in the direction in which scores are better.
double reference_score_p(const struct reference *, double score, int m);
// "94.21%, sigma 0.20, of 6 runs of recipe cifar10": the other side of the comparison.
char *reference_text(const struct reference *, const char *recipe, char into[160]);
