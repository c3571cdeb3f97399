// SPDX-License-Identifier: Apache-2.0
// The figures of a group in words, the same wherever they are printed. A group of one run has a mean and no spread: what is not
// defined is a dash.
#ifndef DAWN_TASKS_GROUP_TEXT_H
#define DAWN_TASKS_GROUP_TEXT_H

#include "submit/format/run_metric.h"
#include "submit/format/score/group.h"

// Lines "  score      mean 94.16% ...", "  time ...", "  verdict ..."; without a finished run the verdict alone.
void group_text(struct text *, const struct run_metric *, const struct group_facts *);
// A mean is rounded as scores are (run_metric.h); a spread is rounded up: "0.10%", "0.0012"; "-" where it is not defined.
char *group_spread_text(const struct run_metric *, double sigma, int runs, char into[TEXT_FIGURE]);

#endif
