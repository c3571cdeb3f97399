// SPDX-License-Identifier: Apache-2.0
// Flags a run that is better than the reference runs of its recipe make believable. Such a run may be lucky, so it is not
// refused. Fractions are allowed here, as in the checks of pace.
#include <string.h>

#include "submit/format/check/check_inside.h"
#include "submit/format/score/curve.h"
#include "submit/format/score/reference.h"

static void check_score(struct subject *s, const struct reference *r, const char *recipe)
{
    int64_t last = curve_last(s->json, &r->board);
    char score[TEXT_FIGURE], words[160];
    if (last == RUN_SCORE_NONE) return;
    double p = reference_score_p(r, run_metric_value(&r->board, last), 1);
    if (p < REFERENCE_P)
        finding_add(s->out, CHECK_BETTER, "its last score is %s, and the mean is %s: p = %.2g",
                    run_metric_text(&r->board, last, score), reference_text(r, recipe, words), p);
}

static void check_epochs(struct subject *s, const struct reference *r, const char *recipe)
{
    const json_t *reached = json_object_get(s->json, "reached");
    double epochs = (double)curve_epoch_micro(reached) * 1e-6;
    if (reached == NULL || !r->same_text) return;
    double p = reference_p(r->epochs.mean - epochs, r->epochs.sigma, r->reached, 1);
    if (p < REFERENCE_P)
        finding_add(s->out, CHECK_BETTER, "it met the target after %.6g epochs, and %d runs of recipe %.40s after %.6g, sigma "
                    "%.3g: p = %.2g", epochs, r->reached, recipe, r->epochs.mean, r->epochs.sigma, p);
}

void check_reference(struct subject *s)
{
    struct reference r;
    const char *recipe = canonical_text(s->json, "recipe.name");
    if (!curve_ended(s->json) || s->out->rejects > 0 || !reference_find(s->json, &r)) return;  // a rejected run needs none
    check_score(s, &r, recipe);
    check_epochs(s, &r, recipe);
}

static bool was_flagged(const struct findings *f)
{
    for (int i = 0; i < f->count && i < FINDINGS_MAX; i++)
        if (f->at[i].check == CHECK_BETTER) return true;
    return false;
}

void check_group_mean(const json_t *run, double mean, int runs, struct findings *out)
{
    struct reference r;
    char score[TEXT_FIGURE], words[160];
    const char *recipe = canonical_text(run, "recipe.name");
    if (was_flagged(out) || !reference_find(run, &r)) return;
    double p = reference_score_p(&r, mean, runs);
    if (p < REFERENCE_P)
        finding_add(out, CHECK_BETTER, "its group of %d has a mean of %s, the reference %s: p = %.2g", runs,
                    run_metric_value_text(&r.board, mean, score), reference_text(&r, recipe, words), p);
}
