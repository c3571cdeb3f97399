// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/show/curve_chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "submit/format/score/contest.h"
#include "submit/format/score/curve.h"

int curve_chart_points(const json_t *run, const struct run_metric *metric, const char *loss, struct chart_point **into)
{
    const json_t *points = json_object_get(run, "points");
    struct chart_point *at = *into = zalloc((json_array_size(points) + 1) * sizeof *at);
    json_t *point;
    size_t i;
    int count = 0;
    json_array_foreach((json_t *)points, i, point)
    {
        int64_t score = metric ? curve_score(point, metric) : RUN_SCORE_NONE;
        double of_name = metric ? 0 : curve_loss(point, loss);
        if (metric ? score == RUN_SCORE_NONE : isnan(of_name)) continue;
        at[count].x = (double)record_int(point, "t_ns") * 1e-9;
        at[count++].y = metric ? run_metric_shown(metric, run_metric_value(metric, score)) : of_name;
    }
    return count;
}

static void loss_label(double value, char into[CHART_LABEL])
{
    snprintf(into, CHART_LABEL, "%.3g", value);
}

struct chart curve_chart(const struct run_metric *metric)
{
    bool percent = metric && !strcmp(metric->unit, "%");
    return (struct chart){
        .title = metric ? "Score over end-to-end time" : "Training loss over end-to-end time",
        .x = {.title = "end-to-end time", .scale = CHART_SECONDS},
        .y = {.title = metric ? contest_metric_title(metric->name) : "mean training loss since the point before",
              .label = !metric ? loss_label : percent ? chart_percent : chart_number},
    };
}
