// SPDX-License-Identifier: Apache-2.0
// The page of a group: its runs, its figures, its verdict.
#include "tasks/tools/show/show.h"

#include <string.h>

#include "submit/format/score/curve.h"
#include "submit/results/group_text.h"

int show_group(struct results *r, int64_t group, const struct plain_style *style, struct text *t)
{
    json_t *runs, *run;
    struct group_facts facts;
    TRY(record_group(r, group, &runs, &facts));
    if (json_array_size(runs) == 0) {
        json_decref(runs);
        return fail(ERR_USAGE, "there is no group g%lld with runs in %s", (long long)group, result_file(r));
    }
    plain_heading(t, style, "Group %lld: %d of %d announced runs finished", (long long)group, facts.finished, facts.planned);
    size_t i;
    bool self = false;
    const struct run_metric board = curve_board(json_array_get(runs, 0));
    json_array_foreach(runs, i, run)
    {
        char figure[TEXT_FIGURE] = "-", share[TEXT_FIGURE] = "-";
        self = self || record_is_outside(run);
        if (record_has(run, "last_ns")) plain_span(figure, record_int(run, "last_ns"));
        if (record_has(run, "last_score")) run_metric_text(&board, record_int(run, "last_score"), share);
        plain_add(t, "  run %-5lld seed %-10lld %8s %14s  %s", (long long)record_int(run, "id"),
                  (long long)record_int(run, "seed"), share, figure, record_text(run, "status"));
        text_add(t, "\n");
    }
    group_text(t, &board, &facts);
    if (facts.finished > 1)
        plain_line(t, "p", "the chance of a mean this good if the true mean were at the target (one-sided t-test)");
    if (self) plain_line(t, "evaluated", "self-evaluated: the programs reported their own scores; boards never call it checked");
    plain_page(t, style);
    json_decref(runs);
    return 0;
}
