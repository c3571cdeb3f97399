// SPDX-License-Identifier: Apache-2.0
// Compares runs or groups: two as columns, more as rows. Refuses different tasks.
#pragma once

#include "tasks/tools/show/differ.h"

// Clocks, scores, curves, and each fact that differs. `count` is 2 to DIFFER_MOST here and below.
int compare_runs(struct results *, const int64_t *id, int count, const struct plain_style *, struct text *into) MUST_CHECK;
// Means with their spread, and Welch's test of the difference.
int compare_groups(struct results *, const int64_t *id, int count, const struct plain_style *, struct text *into) MUST_CHECK;
// The same for programs, as one JSON object: figures in the units of the record, and every fact that differs.
int compare_json(struct results *, bool groups, const int64_t *id, int count, struct text *into) MUST_CHECK;
