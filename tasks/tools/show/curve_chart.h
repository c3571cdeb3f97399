// SPDX-License-Identifier: Apache-2.0
// The curve of a run as the board draws it: score or loss over the end-to-end clock, straight lines between the points, no line
// after the last one.
#pragma once

#include "runtime/common/draw/chart.h"
#include "submit/format/run_metric.h"
#include "tasks/tools/show/plain.h"

enum { CURVE_CHART_MARKS = 80 };  // a curve of more points has no marks
// The points of a run that have a score of its metric or, if `metric` is NULL, the loss of that name (NULL: the one without a
// name). Returns their number. free() ends the list.
int curve_chart_points(const json_t *run, const struct run_metric *metric, const char *loss, struct chart_point **into);
// The axes and the title of such a chart; the caller adds id, series and levels.
struct chart curve_chart(const struct run_metric *metric);
