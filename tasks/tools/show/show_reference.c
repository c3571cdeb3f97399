// SPDX-License-Identifier: Apache-2.0
// Recorded runs as rows of references.json, and a run against the rows that the program has. Cost: a reading of the list of runs.
#include "tasks/tools/show/show.h"

#include <stdlib.h>
#include <string.h>

#include "submit/format/score/curve.h"
#include "submit/format/score/reference.h"
#include "submit/results/stated.h"

// Whole schedules alone: a run that stops at its target ends with a score just above it.
static bool is_reference(const json_t *run)
{
    return curve_ended(run) && record_has(run, "last_score") && record_int(run, "stop_at_target") == 0 &&
           record_int(run, "synthetic") == 0 && !record_is_outside(run);
}

static json_t *find_row(json_t *rows, const json_t *run)
{
    static const char *const words[] = {"task", "recipe", "model"};
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        bool same = strcmp(json_string_value(json_array_get(json_object_get(row, "recipe_digests"), 0)),
                           record_text(run, "recipe_digest")) == 0;
        for (int w = 0; w < 3; w++) same = same && strcmp(record_text(row, words[w]), record_text(run, words[w])) == 0;
        if (same) return row;
    }
    return NULL;
}

static json_t *new_row(json_t *rows, const json_t *run)
{
    const struct run_metric board = curve_board(run);
    json_t *row = json_pack("{s:s, s:s, s:s, s:I, s:[s], s:[], s:[], s:[], s:s}", "task", record_text(run, "task"), "recipe",
                            record_text(run, "recipe"), "model", record_text(run, "model"), "items", (json_int_t)board.items,
                            "recipe_digests", record_text(run, "recipe_digest"), "seeds", "scores", "epochs_micro", "source",
                            "");
    json_array_append_new(rows, row);
    return row;
}

static void add_value(json_t *row, const char *list, int64_t value)
{
    json_array_append_new(json_object_get(row, list), json_integer(value));
}

// A run that was changed since its training is no measurement.
static int is_unchanged(struct results *r, const json_t *run, bool *unchanged)
{
    json_t *whole;
    TRY(record_read(r, record_int(run, "id"), &whole));
    *unchanged = record_chain(whole) == 0;
    json_decref(whole);
    return 0;
}

static void add_run(json_t *rows, const json_t *run)
{
    json_t *row = find_row(rows, run);
    if (row == NULL) row = new_row(rows, run);
    add_value(row, "seeds", record_int(run, "seed"));
    add_value(row, "scores", record_int(run, "last_score"));
    if (record_has(run, "reached_epoch_micro")) add_value(row, "epochs_micro", record_int(run, "reached_epoch_micro"));
}

int show_reference(struct results *r, int64_t id, struct text *t)
{
    json_t *runs, *run, *row, *rows = json_array();
    size_t i;
    int rc = record_list(r, &runs);
    if (rc < 0) json_decref(rows);
    TRY(rc);
    json_array_foreach(runs, i, run)
    {
        bool unchanged = false;
        if (!is_reference(run) || (id != 0 && record_int(run, "id") != id)) continue;
        if (rc == 0) rc = is_unchanged(r, run, &unchanged);
        if (rc == 0 && unchanged) add_run(rows, run);
    }
    json_array_foreach(rows, i, row)
    {
        char *line = json_dumps(row, 0);
        if (line != NULL) text_add(t, "%s\n", line);
        free(line);
    }
    bool none = json_array_size(rows) == 0;
    json_decref(rows);
    json_decref(runs);
    if (rc < 0) return rc;
    return none ? fail(ERR_MISSING, "no unchanged run of %s is a whole schedule on real data (\"dawn train --no-stop\")",
                       result_file(r)) : 0;
}

bool show_better(const json_t *run, struct text *t)
{
    struct reference reference;
    char score[TEXT_FIGURE], words[160];
    json_t *stated = stated_run(run);
    bool known = record_has(run, "last_score") && reference_find(stated, &reference);
    int64_t last = record_int(run, "last_score");
    double p = known ? reference_score_p(&reference, run_metric_value(&reference.board, last), 1) : 1;
    if (p < REFERENCE_P)
        text_add(t, "%s is better than reference runs make believable: %s, p = %.2g",
                 run_metric_text(&reference.board, last, score),
                 reference_text(&reference, record_text(run, "recipe"), words), p);
    json_decref(stated);
    return p < REFERENCE_P;
}
