// SPDX-License-Identifier: Apache-2.0
// Compares two runs or two groups.
#ifndef DAWN_SHOW_COMPARE_H
#define DAWN_SHOW_COMPARE_H

#include "tasks/tools/show/plain.h"

// Clocks, scores, curves, and each fact that differs: machine, program, settings, keys of the recipe. Refuses runs of
// different tasks.
int compare_runs(struct results *, int64_t first, int64_t second, const struct plain_style *, struct text *into) MUST_CHECK;
// Means with their spread, and Welch's test of the difference.
int compare_groups(struct results *, int64_t first, int64_t second, const struct plain_style *, struct text *into) MUST_CHECK;
// The same for programs, as one JSON object: figures in the units of the record, and every fact that differs.
int compare_runs_json(struct results *, int64_t first, int64_t second, struct text *into) MUST_CHECK;
int compare_groups_json(struct results *, int64_t first, int64_t second, struct text *into) MUST_CHECK;
// The keys of two recipes whose values differ, by their paths, one a line. Exposed for tests.
void compare_recipes(const json_t *first, const json_t *second, const struct plain_style *, struct text *into);

#endif
