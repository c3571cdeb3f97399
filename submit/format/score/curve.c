// SPDX-License-Identifier: Apache-2.0
#include "submit/format/score/curve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "submit/format/canonical.h"

enum { MILLION = 1000000 };

int curve_metrics(const json_t *run, struct run_metric into[RUN_METRICS_MAX])
{
    const json_t *list = json_object_get(run, "metrics");
    size_t count = json_array_size(list);
    into[0] = (struct run_metric){.name = "", .unit = ""};
    if (count == 0) return 1;
    if (count > RUN_METRICS_MAX) count = RUN_METRICS_MAX;
    for (size_t i = 0; i < count; i++) {
        const json_t *m = json_array_get(list, i);
        into[i] = (struct run_metric){canonical_text(m, "name"), canonical_text(m, "unit"),
                                      canonical_int(m, "lower_is_better") != 0, canonical_int(m, "items")};
    }
    return (int)count;
}

struct run_metric curve_own(const json_t *run, const struct run_metric *like)
{
    struct run_metric of[RUN_METRICS_MAX];
    int count = curve_metrics(run, of);
    for (int i = 0; i < count; i++)
        if (!strcmp(of[i].name, like->name)) return of[i];
    return *like;
}

struct run_metric curve_board(const json_t *run)
{
    struct run_metric all[RUN_METRICS_MAX];
    curve_metrics(run, all);
    return all[0];
}

bool curve_ended(const json_t *run)
{
    const char *status = canonical_text(run, "status");
    return strcmp(status, "done") == 0 || strcmp(status, "missed") == 0;
}

int64_t curve_items(const json_t *run, const char *split)
{
    const json_t *list = json_object_get(run, "data");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(canonical_text(json_array_get(list, i), "split"), split) == 0)
            return canonical_int(json_array_get(list, i), "items");
    return 0;
}

int64_t curve_score(const json_t *point, const struct run_metric *metric)
{
    const json_t *scores = json_object_get(point, "scores");
    for (size_t i = 0; i < json_array_size(scores); i++) {
        const json_t *one = json_array_get(scores, i);
        if (strcmp(canonical_text(one, "metric"), metric->name) == 0) return canonical_int(one, "score");
    }
    return RUN_SCORE_NONE;
}

int64_t curve_last(const json_t *run, const struct run_metric *metric)
{
    const json_t *points = json_object_get(run, "points");
    int64_t score = RUN_SCORE_NONE;
    for (size_t i = json_array_size(points); i-- > 0 && score == RUN_SCORE_NONE;)
        score = curve_score(json_array_get(points, i), metric);
    return score;
}

int curve_losses(const json_t *run, const char *name[RUN_LOSSES_MAX])
{
    const json_t *points = json_object_get(run, "points"), *point, *loss;
    size_t p, i;
    int count = 0, k;
    json_array_foreach((json_t *)points, p, point) json_array_foreach(json_object_get(point, "losses"), i, loss)
    {
        const char *one = canonical_text(loss, "name");
        for (k = 0; k < count && strcmp(name[k], one) != 0;) k++;
        if (k == count && count < RUN_LOSSES_MAX) name[count++] = one;
    }
    return count;
}

double curve_loss(const json_t *point, const char *name)
{
    const json_t *losses = json_object_get(point, "losses"), *value = json_object_get(point, "loss_micro"), *one;
    size_t i;
    if (value == NULL) value = json_object_get(point, "loss");  // of a statement
    if (name != NULL) value = NULL;
    json_array_foreach((json_t *)losses, i, one)
        if (name != NULL && strcmp(canonical_text(one, "name"), name) == 0) value = json_object_get(one, "loss");
    bool known = json_is_integer(value) && json_integer_value(value) < 1000000000000000;  // docs/results-format.md
    return known ? (double)json_integer_value(value) / 1e6 : NAN;
}

int64_t curve_step(const json_t *point)
{
    return canonical_int(point, "step");
}

int64_t curve_epoch_micro(const json_t *point)
{
    return canonical_int(point, "epoch_micro");
}

char *curve_epoch(const json_t *point, char into[CURVE_MOMENT])
{
    int64_t micro = curve_epoch_micro(point);
    int length = snprintf(into, CURVE_MOMENT, "%lld.%06lld", (long long)(micro / MILLION), (long long)(micro % MILLION));
    while (length > 0 && into[length - 1] == '0') into[--length] = 0;
    if (length > 0 && into[length - 1] == '.') into[--length] = 0;
    return into;
}

char *curve_moment(const json_t *point, char into[CURVE_MOMENT])
{
    char epoch[CURVE_MOMENT];
    int64_t micro = curve_epoch_micro(point);
    bool whole = micro % MILLION == 0 && micro / MILLION == curve_step(point);  // counted in epochs: the step adds nothing
    if (whole) snprintf(into, CURVE_MOMENT, "epoch %.24s", curve_epoch(point, epoch));
    else snprintf(into, CURVE_MOMENT, "epoch %.24s, step %lld", curve_epoch(point, epoch), (long long)curve_step(point));
    return into;
}
