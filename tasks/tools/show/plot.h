// SPDX-License-Identifier: Apache-2.0
// Curves in a terminal: values over epochs, with labels on both axes. Cost: negligible.
#pragma once

#include "submit/format/run_metric.h"
#include "tasks/tools/show/plain.h"

struct plot_series {
    char mark;            // mark of its points, if there are several series or the page is plain ASCII
    const double *x, *y;  // x is ascending
    int count;
};
enum { PLOT_SERIES = 8, PLOT_ROWS_MAX = 16, PLOT_WIDTH_MAX = 64 };
struct plot {
    const struct run_metric *metric;  // selects the labels of values; NULL: plain numbers (a loss)
    double target;                    // drawn as a line; NaN: none
    struct plot_series series[PLOT_SERIES];
    int count;
};
// Adds `rows` lines of at most `width` columns, then the axis of epochs. Adds nothing for fewer than two points.
void plot_text(struct text *, const struct plot *, int rows, int width, const struct plain_style *);

// The points of a run by epoch that have a score of its metric, or a loss if `metric` is NULL. Returns their number. free()
// ends both lists.
int plot_points(const json_t *run, const struct run_metric *metric, double **x, double **y);
