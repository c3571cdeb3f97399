// SPDX-License-Identifier: Apache-2.0
// Curves in a terminal: values over epochs, with labels on both axes. Cost: none that matters.
#ifndef DAWN_TASKS_PLOT_H
#define DAWN_TASKS_PLOT_H

#include "submit/format/run_metric.h"
#include "tasks/show/page.h"

struct plot_series {
    char mark;            // of its points, where there are several series or the page is plain ASCII
    const double *x, *y;  // x grows
    int count;
};
enum { PLOT_SERIES = 2, PLOT_ROWS_MAX = 16, PLOT_WIDTH_MAX = 64 };
struct plot {
    const struct run_metric *metric;  // how values are labelled; NULL: as plain numbers (a loss)
    double target;                    // drawn as a line; NaN: none
    struct plot_series series[PLOT_SERIES];
    int count;
};
// Nothing for fewer than two points. `rows` lines of at most `width` columns of curve, then the axis of epochs.
void plot_text(struct text *, const struct plot *, int rows, int width, const struct page_style *);

// The points of a run that have a score of its metric (of the loss where `metric` is NULL), by epoch: their number. free() ends
// both lists.
int plot_points(const json_t *run, const struct run_metric *metric, double **x, double **y);

#endif
