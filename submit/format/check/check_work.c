// SPDX-License-Identifier: Apache-2.0
// Checks that a run of the harness did the work of its score: time spent training and evaluating, samples that agree with
// epochs and batches, the recipe's schedule, the arithmetic of the named model, dates that agree with the stopwatch. Each free
// figure of the signer is compared with the others, so a small figure in one place does not pass as a fast run.
#include <math.h>
#include <string.h>

#include "submit/format/check/check_inside.h"
#include "submit/format/score/curve.h"

// ---- samples

struct step_bounds {
    double least, most;
};

// A step has a whole batch, or what the run declares.
static struct step_bounds step_bounds(const struct subject *s)
{
    double batch = (double)canonical_int(s->json, "batch");
    if (json_object_get(s->json, "step_most") == NULL) return (struct step_bounds){batch, batch};
    return (struct step_bounds){(double)canonical_int(s->json, "step_least"), (double)canonical_int(s->json, "step_most")};
}

static void check_bounds(struct subject *s)
{
    struct step_bounds one = step_bounds(s);
    bool declared = json_object_get(s->json, "step_most") != NULL || json_object_get(s->json, "step_least") != NULL;
    if (one.least > one.most)
        finding_add(s->out, CHECK_WORK, "a step has at least %.0f samples and at most %.0f", one.least, one.most);
    else if (declared && s->contest != NULL && !s->contest->steps_vary)
        finding_add(s->out, CHECK_WORK, "it declares steps of %.0f to %.0f samples, and every step of this task has its batch",
                    one.least, one.most);
}

// The most samples that an epoch leaves out, those that fill no batch: at most one batch in each bucket. Only texts have buckets:
// 8 where the contest says that a stored item may be several samples (windows of one text), and 32 where steps vary, whose
// batches have as many samples as a step on average. (Of Multi30k 32 buckets leave out 7.4%, 19 batches of the mean size.)
static double left_over(const struct subject *s, const struct check_point *p, const struct step_bounds *one)
{
    const struct contest *contest = s->contest;
    const double mean = (double)p->samples / (double)p->step;
    if (contest == NULL || contest->steps_vary) return fmax(8 * one->most, 32 * mean);
    return (contest->samples_per_item > 1 ? 8 : 1) * one->most;
}

// Steps have samples within the bounds, also between two points. An epoch visits every sample once, except those that are left
// over, and never leaves out more than three of four.
static bool samples_fit(const struct subject *s, size_t at, int64_t items)
{
    const struct check_point *p = &s->points[at];
    const struct contest *contest = s->contest;
    struct step_bounds one = step_bounds(s);
    double epochs = (double)p->epoch_micro * 1e-6, all = (double)items, samples = (double)p->samples;
    double most = epochs * all * (double)(contest != NULL ? contest->samples_per_item : 1);
    double least = epochs * fmax(all - left_over(s, p, &one), all / 4);
    double steps = (double)(p->step - (at > 0 ? p[-1].step : 0)), more = samples - (at > 0 ? (double)p[-1].samples : 0);
    if (more < steps * one.least || more > steps * one.most) return false;
    return samples <= most * (1 + 1e-5) + 1 && samples >= least * (1 - 1e-5) - fmin(one.most, all);
}

static void check_samples(struct subject *s)
{
    int64_t items = curve_items(s->json, "train");
    if (items == 0) return;  // check_data reports it
    check_bounds(s);
    for (size_t i = 0; i < s->count; i++) {
        const struct check_point *p = &s->points[i];
        if (p->samples == 0 || p->warm_ns == 0)
            finding_add(s->out, CHECK_WORK, "point %zu, step %lld: nothing was trained before it (%lld samples in %lld ns)", i,
                        (long long)p->step, (long long)p->samples, (long long)p->warm_ns);
        else if (!samples_fit(s, i, items))
            finding_add(s->out, CHECK_WORK, "point %zu, step %lld: %lld samples do not follow from %g epochs of %lld items in "
                        "steps of %.0f to %.0f", i, (long long)p->step, (long long)p->samples, (double)p->epoch_micro * 1e-6,
                        (long long)items, step_bounds(s).least, step_bounds(s).most);
        else continue;
        return;
    }
}

// ---- evaluations

// Each evaluation is a forward pass over the whole test set, a view at least, within the peak of the stated hardware. Views may
// share work, and texts may be much shorter than the evaluation's, whose mean is stated.
static void check_evaluations(struct subject *s)
{
    double views = fmax(1, (double)canonical_int(s->json, "views")), peak = check_peak_of(s->json);
    double share = s->contest == NULL || s->contest->samples_per_item > 1 ? 0.25 : 0.5;
    double work = share * views * (double)curve_items(s->json, "test") * (double)canonical_int(s->json, "model.flops_per_sample");
    int64_t before = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct check_point *p = &s->points[i];
        int64_t ns = p->warm_with_evaluation_ns - p->warm_ns - before;
        if (p->score[0] == RUN_SCORE_NONE) continue;
        before += ns;
        double rate = work / ((double)ns * 1e-9);
        if (ns <= 0)
            finding_add(s->out, CHECK_WORK, "point %zu, step %lld: it has a score, but no time was spent on evaluating", i,
                        (long long)p->step);
        else if (peak > 0 && rate > peak)
            finding_add(s->out, CHECK_SPEED, "point %zu, step %lld: its evaluation took %.3g ms: %.4g%% of the stated hardware's "
                        "peak", i, (long long)p->step, (double)ns * 1e-6, 100 * rate / peak);
        else continue;
        return;
    }
}

// ---- the schedule

double check_recipe_number(const struct subject *s, const char *section, const char *key)
{
    const json_t *value = json_object_get(json_object_get(s->recipe, section), key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

// An evaluation at another point than the recipe's would be one more draw at the target.
static bool evaluates_after(const struct subject *s, const struct check_point *p, double epochs)
{
    double from = check_recipe_number(s, "evaluation", "from"), every = check_recipe_number(s, "evaluation", "every");
    const double at = (double)p->epoch_micro * 1e-6, step = 1.5 * at / (double)p->step + 1e-5;
    if (isnan(from)) from = 0;  // as DAWN reads a recipe without them
    if (isnan(every)) every = 1;
    if (fabs(at - epochs) <= step) return true;
    return every > 0 && at >= from - step && fabs(at - from - every * round((at - from) / every)) <= step;
}

static void check_moments(struct subject *s, double epochs)
{
    const double views = check_recipe_number(s, "evaluation", "views");
    if (views >= 1 && views != (double)canonical_int(s->json, "views"))
        finding_add(s->out, CHECK_CONTRADICTION, "an item has %lld views, and %g by the recipe",
                    (long long)canonical_int(s->json, "views"), views);
    for (size_t i = 0; i < s->count; i++) {
        const struct check_point *p = &s->points[i];
        if (p->score[0] == RUN_SCORE_NONE || evaluates_after(s, p, epochs)) continue;
        finding_add(s->out, CHECK_CONTRADICTION, "it was evaluated after %g epochs, which its recipe does not say",
                    (double)p->epoch_micro * 1e-6);
        return;
    }
}

// A run goes through the schedule of its own recipe, to within a step, and stops earlier only at its target.
static void check_schedule(struct subject *s)
{
    double epochs = check_recipe_number(s, "schedule", "epochs"), batch = check_recipe_number(s, "data", "batch");
    if (!isnan(batch) && batch != (double)canonical_int(s->json, "batch"))
        finding_add(s->out, CHECK_CONTRADICTION, "the run has batches of %lld samples, and its recipe of %g",
                    (long long)canonical_int(s->json, "batch"), batch);
    if (isnan(epochs) || s->count == 0) return;
    check_moments(s, epochs);
    const struct check_point *last = &s->points[s->count - 1];
    double done = (double)last->epoch_micro * 1e-6, slack = 1.5 * done / (double)last->step + 1e-5;
    bool whole = curve_ended(s->json);
    bool early = canonical_int(s->json, "stop_at_target") != 0 && json_object_get(s->json, "reached") != NULL;
    if (done > epochs + slack || (whole && !early && done < epochs - slack))
        finding_add(s->out, CHECK_CONTRADICTION, "the run ended after %g epochs, and its recipe has %g", done, epochs);
}

// ---- models

static const json_t *forms_of(const char *task, const char *model)
{
    const struct contest *contest = contest_find(task);
    return contest != NULL ? json_object_get(contest->models, model) : NULL;
}

double check_model_flops(const char *task, const char *model)
{
    const json_t *list = forms_of(task, model);
    double least = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        double known = (double)canonical_int(json_array_get(list, i), "flops_per_sample");
        if (least == 0 || known < least) least = known;
    }
    return least;
}

// True if the harness has this model with these parameters and about this arithmetic. A later program may save some of it, and
// the mean over buckets depends on the samples. A model with buckets has two rows: earlier programs stated the shortest bucket.
static bool model_known(const struct subject *s)
{
    const json_t *list = forms_of(canonical_text(s->json, "task"), canonical_text(s->json, "model.name"));
    double flops = (double)canonical_int(s->json, "model.flops_per_sample");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        double known = (double)canonical_int(row, "flops_per_sample");
        if (canonical_int(row, "parameters") == canonical_int(s->json, "model.parameters") && flops >= 0.5 * known &&
            flops <= 4 * known)
            return true;
    }
    return false;
}

static void check_model(struct subject *s)
{
    if (s->synthetic || s->contest == NULL || s->contest->models == NULL || model_known(s)) return;
    bool closed = strcmp(canonical_text(s->json, "division"), "closed") == 0;
    finding_add(s->out, closed ? CHECK_DIVISION : CHECK_SPEED_UNKNOWN,
                "no published recipe has a model %.40s of %lld parameters and %.4g MFLOP per sample%s",
                canonical_text(s->json, "model.name"), (long long)canonical_int(s->json, "model.parameters"),
                (double)canonical_int(s->json, "model.flops_per_sample") * 1e-6,
                closed ? "" : ": its arithmetic is the submitter's word");
}

// ---- dates

// A clock may be set during a run: a minute and a hundredth of the time are allowed. The stopwatch does not count the time that a
// machine sleeps; such a run is flagged and not refused.
static void check_dates(struct subject *s)
{
    int64_t started = canonical_int(s->json, "started_ms"), wall = canonical_int(s->json, "ended_ms") - started;
    int64_t end = s->count > 0 ? s->points[s->count - 1].t_ns / 1000000 : 0, slack = 60000 + end / 100;
    for (size_t i = 0; i < s->span_count; i++)
        if (s->spans[i].end_ns / 1000000 > end) end = s->spans[i].end_ns / 1000000;
    bool ended = curve_ended(s->json);
    if (wall + slack < end)
        finding_add(s->out, CHECK_CLIENT_TIME, "its dates are %.0f s apart, but its stopwatch says %.0f s", (double)wall * 1e-3,
                    (double)end * 1e-3);
    else if (ended && !s->self && wall > end + 10 * slack)
        finding_add(s->out, CHECK_DATES, "its dates are %.0f s apart, and its stopwatch says only %.0f s", (double)wall * 1e-3,
                    (double)end * 1e-3);
    const json_t *latencies = json_object_get(s->json, "latencies");
    for (size_t i = 0; i < json_array_size(latencies); i++) {
        if (canonical_int(json_array_get(latencies, i), "measured_ms") + slack >= started) continue;
        finding_add(s->out, CHECK_CLIENT_TIME, "latency %zu was measured before the training of its weights began", i);
        return;
    }
}

// ---- latencies

static void check_latency_speed(struct subject *s)
{
    const json_t *latencies = json_object_get(s->json, "latencies");
    double flops = (double)canonical_int(s->json, "model.flops_per_sample");
    for (size_t i = 0; i < json_array_size(latencies); i++) {
        const json_t *latency = json_array_get(latencies, i);
        double work = flops * (double)canonical_int(latency, "views"), peak = check_peak_of(latency);
        double mean = (double)canonical_int(latency, "model_mean_ns"), ns = (double)canonical_int(latency, "model_p50_ns");
        ns = fmin(ns, mean);  // a bound for each item is a bound for their mean
        double rate = work / (ns * 1e-9);
        if (peak <= 0) {
            finding_add(s->out, CHECK_SPEED_UNKNOWN, "latency %zu: the peak arithmetic of its hardware is not known", i);
            return;
        }
        if (rate <= 0.7 * peak) continue;
        finding_add(s->out, rate > peak ? CHECK_SPEED : CHECK_SPEED_HIGH, "latency %zu: %.4g TFLOP/s are %.4g%% of the stated "
                    "hardware's peak", i, rate * 1e-12, 100 * rate / peak);
        return;
    }
}

void check_work(struct subject *s)
{
    check_dates(s);
    check_latency_speed(s);
    if (s->self) return;  // flagged elsewhere: only its author saw its work
    if (s->in_order) check_samples(s);
    check_model(s);
    if (s->in_order) check_evaluations(s);
    if (s->in_order) check_schedule(s);
}
