// SPDX-License-Identifier: Apache-2.0
// Checks of the curve alone: its order, its scores, its chain, and the results derived from it. Integers only.
#include <string.h>

#include "submit/format/chain.h"
#include "submit/format/check/check_inside.h"
#include "submit/format/score/curve.h"

// ---- order

static const char *time_fault(const struct check_point *before, const struct check_point *p)
{
    if (p->t_ns <= before->t_ns) return "its time is not later than the previous point's";
    if (p->classic_ns < before->classic_ns) return "the classic clock runs backwards";
    if (p->warm_ns < before->warm_ns) return "the warm clock runs backwards";
    if (p->warm_with_evaluation_ns < before->warm_with_evaluation_ns) return "the warm clock with evaluation runs backwards";
    if (p->classic_ns > p->t_ns) return "the classic clock is ahead of the end-to-end clock";
    if (p->warm_ns > p->classic_ns) return "the warm clock is ahead of the classic clock";
    if (p->warm_with_evaluation_ns > p->t_ns) return "the warm clock with evaluation is ahead of the end-to-end clock";
    if (p->warm_ns > p->warm_with_evaluation_ns) return "the warm clock is ahead of the one with evaluation";
    return NULL;
}

static void check_order(struct subject *s)
{
    static const struct check_point origin;
    bool time = true, epochs = true;
    for (size_t i = 0; i < s->count; i++) {
        const struct check_point *before = i > 0 ? &s->points[i - 1] : &origin, *p = &s->points[i];
        const char *fault = time ? time_fault(before, p) : NULL;
        if (fault != NULL) finding_add(s->out, CHECK_TIME_ORDER, "point %zu, step %lld: %s", i, (long long)p->step, fault);
        time = time && fault == NULL;
        if (!epochs) continue;
        epochs = p->step > before->step && p->epoch_micro >= before->epoch_micro && p->samples >= before->samples &&
                 p->stall_ns >= before->stall_ns && p->stall_ns <= p->t_ns;
        if (!epochs)
            finding_add(s->out, CHECK_EPOCH_ORDER, "point %zu: step %lld with %lld samples follows step %lld with %lld", i,
                        (long long)p->step, (long long)p->samples, (long long)before->step, (long long)before->samples);
    }
    s->in_order = time && epochs;
}

// ---- scores

// No hash and no comparison would cover a score of an unknown metric, or a second score of one metric.
static bool odd_names(const struct subject *s, size_t i)
{
    const json_t *scores = canonical_at(json_array_get(json_object_get(s->json, "points"), i), "scores");
    int known = 0;
    for (int m = 0; m < s->metric_count; m++) known += s->points[i].score[m] != RUN_SCORE_NONE;
    return scores != NULL && (size_t)known != json_array_size(scores);
}

static bool metric_twice(const struct subject *s)
{
    for (int m = 0; m < s->metric_count; m++)
        for (int before = 0; before < m; before++)
            if (strcmp(s->metrics[m].name, s->metrics[before].name) == 0) return true;
    return false;
}

int64_t check_most(const struct contest *c, const struct run_metric *m)
{
    if (m->items > 0) return m->items;
    if (strcmp(m->unit, "%") == 0) return 1000000;  // a share in any unit of the board
    bool same = c != NULL && (strcmp(m->name, c->metric) == 0 || (*m->unit != 0 && strcmp(m->unit, c->board.unit) == 0));
    return same && c->most_micro > 0 ? c->most_micro : INT64_MAX;
}

static bool meets(const struct subject *s, int64_t score)
{
    return run_metric_meets(&s->metrics[0], score, s->target_micro);
}

struct bounds {
    int64_t least, most;
};

static struct bounds bounds_of(const struct subject *s, size_t i, const struct run_metric *m)
{
    const struct contest *c = s->contest;
    const bool met = c != NULL && meets(s, s->points[i].score[0]);
    const json_t *tighter = met ? json_object_get(c->where_met, m->name) : NULL;
    if (tighter != NULL) return (struct bounds){canonical_int(tighter, "least_micro"), canonical_int(tighter, "most_micro")};
    return (struct bounds){c != NULL && strcmp(m->name, c->metric) == 0 ? c->least_micro : 0, check_most(c, m)};
}

// Finds the first metric with an impossible score: a count lies between 0 and N, a board's share between 0 and 1.
static int wild_score(const struct subject *s, size_t i)
{
    for (int m = 0; m < s->metric_count; m++) {
        const int64_t score = s->points[i].score[m];
        const struct bounds b = bounds_of(s, i, &s->metrics[m]);
        if (b.most < INT64_MAX && score != RUN_SCORE_NONE && (score < b.least || score > b.most)) return m;
    }
    return -1;
}

static void check_scores(struct subject *s)
{
    if (metric_twice(s)) finding_add(s->out, CHECK_SCORE, "a metric is named twice");
    for (size_t i = 0; i < s->count; i++) {
        const struct check_point *p = &s->points[i];
        const int m = wild_score(s, i);
        const struct bounds b = m >= 0 ? bounds_of(s, i, &s->metrics[m]) : (struct bounds){0};
        char score[TEXT_FIGURE], least[TEXT_FIGURE], most[TEXT_FIGURE];
        if (m >= 0 && s->metrics[m].items > 0)
            finding_add(s->out, CHECK_SCORE, "point %zu, step %lld: %lld correct of %lld items", i, (long long)p->step,
                        (long long)p->score[m], (long long)s->metrics[m].items);
        else if (m >= 0)
            finding_add(s->out, CHECK_SCORE, "point %zu, step %lld: %s is %s, and not between %s and %s", i, (long long)p->step,
                        s->metrics[m].name, run_metric_text(&s->metrics[m], p->score[m], score),
                        run_metric_text(&s->metrics[m], b.least, least), run_metric_text(&s->metrics[m], b.most, most));
        else if (odd_names(s, i))
            finding_add(s->out, CHECK_SCORE, "point %zu, step %lld: its scores do not match the run's metrics", i,
                        (long long)p->step);
        else continue;
        return;
    }
}

// Counts and millionths allow one mistake of scale: a percentage in their place. 0.1% is no target of a count, and 100 items are
// no test set. If the best count, read as a percentage, lies between half the target and 100, the curve is one of percentages:
// of thousands of items even a guess gets more right.
static void check_scale(struct subject *s)
{
    int64_t best = -1;
    bool count = s->metrics[0].items > 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].score[0] > best) best = s->points[i].score[0];
    if (!count) return;
    if (s->target_micro < 1000)
        finding_add(s->out, CHECK_SCALE, "a target of %lld millionths is below 0.1%%: it looks like a percentage or a share",
                    (long long)s->target_micro);
    else if (s->target_micro > 1000000)
        finding_add(s->out, CHECK_SCALE, "a target of %lld millionths is above 100%%", (long long)s->target_micro);
    else if (s->items == 1 || s->items == 100)
        finding_add(s->out, CHECK_SCALE, "a score out of %lld items is a share or a percentage, not a count",
                    (long long)s->items);
    else if (s->items >= 1000 && best <= 100 && best >= 1 && contest_meets(2 * best, 100, s->target_micro))
        finding_add(s->out, CHECK_SCALE, "no score is above %lld of %lld items: it looks like a percentage", (long long)best,
                    (long long)s->items);
}

// ---- chain

static bool is_root(struct subject *s, struct chain *chain)
{
    const char *root = canonical_text(s->json, "chain_root");
    char hex[DIGEST_HEX];
    if (chain_bind(chain, s->json) < 0) BUG("a canonical statement has no canonical form");
    chain_hex(chain, hex);
    if (strcmp(root, hex) == 0) return true;
    finding_add(s->out, CHECK_CHAIN, "the root is %.12s..., but the run's facts give %.12s...", root, hex);
    return false;
}

// The end and the latencies. The recipe's text is published; its digest is in the root.
static void check_bound(struct subject *s, const struct chain *chain)
{
    const json_t *latencies = json_object_get(s->json, "latencies");
    const char *root = canonical_text(s->json, "chain_root"), *end = canonical_text(s->json, "chain_end");
    const char *text = canonical_text(s->json, "recipe.text"), *digest = canonical_text(s->json, "recipe.digest");
    bool ended = curve_ended(s->json);
    char hex[DIGEST_HEX];
    if (chain_end(chain, s->json, hex) < 0) BUG("a canonical statement has no canonical form");
    if ((*end != 0 || ended) && strcmp(end, hex) != 0)
        finding_add(s->out, CHECK_CHAIN, "the hash of the end is %.12s..., but segments, dates and status give %.12s...",
                    *end != 0 ? end : "missing", hex);
    digest_bytes(text, strlen(text), hex);
    if (strcmp(digest, hex) != 0)
        finding_add(s->out, CHECK_CHAIN, "the recipe's digest is %.12s..., but its text has %.12s...", digest, hex);
    for (size_t i = 0; i < json_array_size(latencies); i++) {
        const json_t *latency = json_array_get(latencies, i);
        if (chain_latency(root, latency, hex) < 0) BUG("a canonical statement has no canonical form");
        if (strcmp(canonical_text(latency, "hash"), hex) == 0) continue;
        finding_add(s->out, CHECK_CHAIN, "latency %zu: its hash does not match its figures", i);
        return;
    }
}

static void check_chain(struct subject *s)
{
    struct chain chain;
    char hex[DIGEST_HEX];
    if (!is_root(s, &chain)) return;
    for (size_t i = 0; i < s->count; i++) {
        const struct check_point *p = &s->points[i];
        struct chain_point point = {.step = p->step, .epoch_micro = p->epoch_micro, .t_ns = p->t_ns,
                                    .classic_ns = p->classic_ns, .warm_ns = p->warm_ns,
                                    .warm_with_evaluation_ns = p->warm_with_evaluation_ns, .samples = p->samples,
                                    .stall_ns = p->stall_ns, .loss_micro = p->loss, .losses = p->losses,
                                    .metrics = s->metrics, .metric_count = s->metric_count};
        memcpy(point.score, p->score, sizeof point.score);
        chain_add(&chain, &point);
        chain_hex(&chain, hex);
        if (strcmp(p->hash, hex) != 0) {
            finding_add(s->out, CHECK_CHAIN, "point %zu, step %lld: its hash is %.12s..., but its figures give %.12s...",
                        i, (long long)p->step, p->hash, hex);
            return;
        }
    }
    check_bound(s, &chain);
}

// ---- results

static const struct check_point *first_meeting(const struct subject *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (meets(s, s->points[i].score[0])) return &s->points[i];
    return NULL;
}

static void check_crossing(struct subject *s)
{
    const json_t *r = json_object_get(s->json, "reached");
    const struct check_point *p = first_meeting(s);
    if (p == NULL && r == NULL) return;
    if (p == NULL) {
        finding_add(s->out, CHECK_CROSSING, "the run claims the target, but no point meets it");
        return;
    }
    if (r == NULL) {
        finding_add(s->out, CHECK_CROSSING, "step %lld meets the target, but the run does not claim it",
                    (long long)p->step);
        return;
    }
    const struct {
        const char *name;
        int64_t value;
    } figures[] = {{"step", p->step}, {"epoch_micro", p->epoch_micro}, {"t_ns", p->t_ns}, {"classic_ns", p->classic_ns},
                   {"warm_ns", p->warm_ns}, {"warm_with_evaluation_ns", p->warm_with_evaluation_ns}, {"samples", p->samples}};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        int64_t said = canonical_int(r, figures[i].name);
        if (said == figures[i].value) continue;
        finding_add(s->out, CHECK_CROSSING, "the first point that meets the target has %s %lld, but %lld is claimed",
                    figures[i].name, (long long)figures[i].value, (long long)said);
        return;
    }
}

// A run that ended by itself is done if its last evaluation meets the target. An interrupted run may have any status.
static void check_status(struct subject *s)
{
    bool done = strcmp(s->status, "done") == 0, missed = strcmp(s->status, "missed") == 0;
    if (!done && !missed) return;
    int64_t last = RUN_SCORE_NONE;
    char score[TEXT_FIGURE];
    for (size_t i = 0; i < s->count; i++)
        if (s->points[i].score[0] != RUN_SCORE_NONE) last = s->points[i].score[0];
    if (s->count == 0)
        finding_add(s->out, CHECK_STATUS, "a run with the status %s must have points, but this one has none", s->status);
    else if (done && !meets(s, last))
        finding_add(s->out, CHECK_STATUS, "the run is called done, but its last evaluation does not meet the target");
    else if (missed && meets(s, last))
        finding_add(s->out, CHECK_STATUS, "the run is called missed, but its last evaluation, %s, meets the target",
                    run_metric_text(&s->metrics[0], last, score));
}

void check_curve(struct subject *s)
{
    check_order(s);
    check_scores(s);
    check_scale(s);
    check_chain(s);
    check_crossing(s);
    check_status(s);
}
