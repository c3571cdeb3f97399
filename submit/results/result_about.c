// SPDX-License-Identifier: Apache-2.0
// Facts that an outside program reports late, while it runs (tasks/tools/outside/recorder.c). The root of the chain is computed
// again with them. They cannot change after the first point.
#include "submit/results/result_inside.h"

static const char *text_or_null(const char *text)
{
    return text != NULL && *text != 0 ? text : NULL;
}

static int store_about(struct run *run, const struct run_about *a)
{
    struct results *r = run->results;
    TRY(result_do(r, "record what the program says of itself",
                  "UPDATE runs SET model = coalesce(?2, model), precision = coalesce(?3, precision),"
                  " parameters = iif(?4 < 0, parameters, ?4), flops_per_sample = iif(?5 < 0, flops_per_sample, ?5),"
                  " batch = iif(?6 < 0, batch, ?6), views = iif(?7 < 0, views, ?7), input_size = iif(?8 < 0, input_size, ?8)"
                  " WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM points WHERE run = ?1)",
                  "ittiiiii", run->id, text_or_null(a->model), text_or_null(a->precision), a->parameters, a->flops_per_sample,
                  a->batch, a->views, a->input_size));
    if (sqlite3_changes(r->db) != 1)
        return fail(ERR_INPUT, "the program described its model after its first epoch; it must do so before");
    TRY(result_do(r, "record what the program says of itself",
                  "UPDATE outside SET framework = coalesce(?2, framework) WHERE run = ?1", "it", run->id,
                  text_or_null(a->framework)));
    return result_bind(run);
}

int result_about(struct run *run, const struct run_about *a)
{
    struct chain before = run->chain;
    TRY(result_begin_transaction(run->results));
    int rc = result_end_transaction(run->results, store_about(run, a));
    if (rc < 0) run->chain = before;
    return rc;
}
