// SPDX-License-Identifier: Apache-2.0
// The table travels inside the program, so a mistake in it is a bug, not an error. Cost: a walk over some rows.
#include "submit/format/score/reference.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "runtime/common/base/embed.h"
#include "submit/format/canonical.h"
#include "submit/format/score/curve.h"

enum { RUNS_MAX = 64 };

static json_t *table;  // stays as long as the program runs

static void read_table(void)
{
    const struct embedded *file = embedded_find("submit/format/score/references.json");
    BUG_IF(file == NULL);
    table = json_loadb(file->at, file->size, JSON_REJECT_DUPLICATES, NULL);
    BUG_IF(!json_is_array(table));
}

static bool has_digest(const json_t *row, const char *digest)
{
    const json_t *list = json_object_get(row, "recipe_digests");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), digest) == 0) return true;
    return false;
}

static bool same_word(const json_t *row, const char *key, const char *word)
{
    return strcmp(canonical_text(row, key), word) == 0;
}

// The row of the run's very text; else, in the closed division, the first of its recipe's name.
static const json_t *find_row(const json_t *run, bool *same_text)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_table);
    const json_t *first = NULL;
    *same_text = false;
    for (size_t i = 0; i < json_array_size(table) && !*same_text; i++) {
        const json_t *row = json_array_get(table, i);
        if (!same_word(row, "task", canonical_text(run, "task")) || !same_word(row, "model", canonical_text(run, "model.name")) ||
            !same_word(row, "recipe", canonical_text(run, "recipe.name")))
            continue;
        *same_text = has_digest(row, canonical_text(run, "recipe.digest"));
        if (*same_text || first == NULL) first = row;
    }
    return *same_text || strcmp(canonical_text(run, "division"), "closed") == 0 ? first : NULL;
}

static int take_mean(const json_t *list, double scale, struct group_mean *mean)
{
    double values[RUNS_MAX];
    int n = (int)json_array_size(list);
    BUG_IF(n > RUNS_MAX);
    for (int i = 0; i < n; i++) values[i] = (double)json_integer_value(json_array_get(list, (size_t)i)) / scale;
    group_mean(values, n, mean);
    return n;
}

bool reference_find(const json_t *run, struct reference *out)
{
    *out = (struct reference){0};
    if (strcmp(canonical_text(run, "evaluated_by"), "harness") != 0 || canonical_int(run, "synthetic") != 0) return false;
    const json_t *row = find_row(run, &out->same_text);
    if (row == NULL) return false;
    out->board = curve_board(run);
    out->runs = take_mean(json_object_get(row, "scores"), (double)run_metric_scale(&out->board), &out->score);
    out->reached = take_mean(json_object_get(row, "epochs_micro"), 1e6, &out->epochs);
    return out->board.items == canonical_int(row, "items");
}

double reference_p(double above, double sigma, int n, int m)
{
    if (n < REFERENCE_MINIMUM || m < 1) return 1;
    const double rounding = 1e-12;  // of a mean of equal values
    if (!(sigma > rounding)) return above > rounding ? 0 : 1;
    return group_t_cdf(-above / (sigma * sqrt(1.0 / n + 1.0 / m)), n - 1);
}

double reference_score_p(const struct reference *r, double score, int m)
{
    double above = score - r->score.mean;
    return reference_p(r->board.lower_is_better ? -above : above, r->score.sigma, r->runs, m);
}

char *reference_text(const struct reference *r, const char *recipe, char into[160])
{
    char mean[TEXT_FIGURE];
    snprintf(into, 160, "%s, sigma %.4g, of %d run%s of recipe %.40s", run_metric_value_text(&r->board, r->score.mean, mean),
             run_metric_shown(&r->board, r->score.sigma), r->runs, r->runs == 1 ? "" : "s", recipe);
    return into;
}
