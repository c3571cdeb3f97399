// SPDX-License-Identifier: Apache-2.0
// The figures of a group as text, the same wherever they are printed. A group of one run has a mean and no spread. An
// undefined figure is a dash.
#pragma once

#include <jansson.h>

#include "submit/format/run_metric.h"
#include "submit/format/score/group.h"

// Adds the lines "  score      mean 94.16% ...", "  time ...", "  verdict ...". Without a finished run only the verdict.
void group_text(struct text *, const struct run_metric *, const struct group_facts *);
// The same for programs: planned, finished, verdict, official; means in seconds, and of the score as a share of 1 or in its unit.
// Undefined figures are left out. group_text_members ends with NULL and has all names after "planned".
json_t *group_text_json(const struct group_facts *);
extern const char *const group_text_members[];
