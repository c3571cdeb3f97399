// SPDX-License-Identifier: Apache-2.0
// A record as people read it, in 80 columns: tasks/cmd_results.c prints what these write.
#ifndef DAWN_TASKS_SHOW_H
#define DAWN_TASKS_SHOW_H

#include "runtime/base/text.h"
#include "tasks/record/record.h"

struct show_style {
    bool unicode;  // blocks and dots; else plain ASCII
    bool bold;     // headings stand out by terminal codes
};
int show_run(struct results *, int64_t id, const struct show_style *, struct text *into) MUST_CHECK;
int show_list(struct results *, const struct show_style *, struct text *into) MUST_CHECK;
int show_group(struct results *, int64_t group, const struct show_style *, struct text *into) MUST_CHECK;

// A curve of `count` values of a metric in `rows` lines of at most `width` columns, the target drawn as a line.
struct show_values {
    const struct run_metric *metric;
    const double *at;
    int count;
    double target;
};
void show_curve(struct text *, const struct show_values *, int rows, int width, const struct show_style *);

#endif
