// SPDX-License-Identifier: Apache-2.0
// Measurements of inference on a page.
#include "tasks/tools/show/show.h"

#include "submit/format/score/contest.h"
#include "submit/format/score/cost.h"

// The metric over the measured items. A value is in millionths for any number of them.
static struct run_metric latency_metric(const json_t *row)
{
    const struct contest *contest = contest_find(record_text(row, "task"));
    struct run_metric metric = contest != NULL ? contest->board : (struct run_metric){.name = "", .unit = "%"};
    metric.items = contest_is_share(contest) ? 0 : record_int(row, "items");
    return metric;
}

void show_latencies(struct text *t, const json_t *rows, const struct plain_style *style, const char *title)
{
    if (json_array_size(rows) == 0) return;
    plain_heading(t, style, "%s", title);
    size_t i;
    json_t *row;
    json_array_foreach((json_t *)rows, i, row)
    {
        char items[TEXT_FIGURE], cost[COST_TEXT], score[TEXT_FIGURE];
        struct run_metric metric = latency_metric(row);
        long long threads = (long long)record_int(row, "threads"), views = (long long)record_int(row, "views");
        const char *model = record_has(row, "run") ? "" : record_text(row, "model");
        plain_add(t, "  %s%s%s, %lld thread%s, %s, %lld view%s: %s of %s items%s", model, *model ? ", " : "",
                  record_text(row, "precision"), threads, threads == 1 ? "" : "s", record_text(row, "device"), views,
                  views == 1 ? "" : "s",
                  run_metric_text(&metric, record_int(row, "k"), score), text_count(items, record_int(row, "items")),
                  record_int(row, "eligible") ? "" : ", NOT ELIGIBLE");
        text_add(t, "\n    %-22s%11s%11s%11s%11s\n", "ms per item", "mean", "p50", "p90", "p99");
        static const char *const which[2][5] = {
            {"network alone", "model_mean_ns", "model_p50_ns", "model_p90_ns", "model_p99_ns"},
            {"with preprocessing", "whole_mean_ns", "whole_p50_ns", "whole_p90_ns", "whole_p99_ns"}};
        for (int w = 0; w < 2; w++) {
            text_add(t, "    %-22s", which[w][0]);
            for (int c = 1; c < 5; c++) text_add(t, "%11.3f", text_up((double)record_int(row, which[w][c]) / 1e3) / 1e3);
            text_add(t, "\n");
        }
        int64_t mean = record_int(row, "whole_mean_ns"), price = record_int(row, "price_micro_per_hour");
        if (record_has(row, "price_micro_per_hour"))
            text_add(t, "    %s for 10,000 items\n", cost_text(cost, cost_inference_micro(mean, 10000, price)));
    }
}
