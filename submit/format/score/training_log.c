// SPDX-License-Identifier: Apache-2.0
#include "submit/format/score/training_log.h"

#include <stdio.h>
#include <string.h>

#include "submit/format/canonical.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/curve.h"

char *training_log_score(char into[TRAINING_FIGURE], const struct run_metric *m, int64_t score)
{
    bool percent = strcmp(m->unit, "%") == 0;
    int64_t micro = (int64_t)((__int128)score * 1000000 / run_metric_scale(m)), unit = percent ? 10000 : 1000000;
    unsigned long long size = micro < 0 ? 0 - (unsigned long long)micro : (unsigned long long)micro;
    snprintf(into, TRAINING_FIGURE, "%s%llu.%0*llu", micro < 0 ? "-" : "", size / (unsigned)unit, percent ? 4 : 6,
             size % (unsigned)unit);
    return into;
}

char *training_log_hours(char into[TRAINING_FIGURE], int64_t ns)
{
    const int64_t decimals = 10000000000;
    const __int128 hour = (__int128)3600 * 1000000000;
    long long parts = (long long)(((__int128)ns * decimals + hour - 1) / hour);
    snprintf(into, TRAINING_FIGURE, "%lld.%010lld", parts / decimals, parts % decimals);
    return into;
}

static int columns_of(const json_t *run, struct run_metric columns[RUN_METRICS_MAX])
{
    struct run_metric metrics[RUN_METRICS_MAX];
    const json_t *points = json_object_get(run, "points");
    int count = curve_metrics(run, metrics), kept = 0;
    for (int m = 0; m < count; m++) {
        bool whole = contest_column(metrics[m].name) != NULL;
        for (size_t i = 0; whole && i < json_array_size(points); i++) {
            const json_t *point = json_array_get(points, i);
            if (curve_score(point, &metrics[0]) == RUN_SCORE_NONE) continue;
            whole = curve_score(point, &metrics[m]) != RUN_SCORE_NONE;
        }
        if (whole) columns[kept++] = metrics[m];
    }
    return kept;
}

void training_log(const json_t *run, struct text *into)
{
    struct run_metric columns[RUN_METRICS_MAX], board = curve_board(run);
    char figure[TRAINING_FIGURE], epoch[CURVE_MOMENT];
    const json_t *points = json_object_get(run, "points");
    int count = columns_of(run, columns);
    text_add(into, "epoch\thours");
    for (int m = 0; m < count; m++) text_add(into, "\t%s", contest_column(columns[m].name));
    text_add(into, "\n");
    for (size_t i = 0; i < json_array_size(points); i++) {
        const json_t *point = json_array_get(points, i);
        if (curve_score(point, &board) == RUN_SCORE_NONE) continue;
        text_add(into, "%s\t%s", curve_epoch(point, epoch), training_log_hours(figure, canonical_int(point, "classic_ns")));
        for (int m = 0; m < count; m++)
            text_add(into, "\t%s", training_log_score(figure, &columns[m], curve_score(point, &columns[m])));
        text_add(into, "\n");
    }
}
