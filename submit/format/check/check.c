// SPDX-License-Identifier: Apache-2.0
// Runs all checks. Invariant: pure; the same statement and moment give the same findings, here and on the server. A check adds
// one finding, for its first failure, so a curve of 4,000 bad points cannot hide other faults. Workload: every statement once
// before it is signed and once after it arrives. Cost: about one SHA-256 per point.
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/check/check_inside.h"
#include "submit/format/score/curve.h"
#include "submit/format/score/ticket.h"

// ---- unpacking

static struct check_point point_of(const json_t *p, const struct subject *s)
{
    struct check_point point = {.step = curve_step(p),
                                .epoch_micro = curve_epoch_micro(p),
                                .t_ns = canonical_int(p, "t_ns"),
                                .classic_ns = canonical_int(p, "classic_ns"),
                                .warm_ns = canonical_int(p, "warm_ns"),
                                .warm_with_evaluation_ns = canonical_int(p, "warm_with_evaluation_ns"),
                                .samples = canonical_int(p, "samples"),
                                .stall_ns = canonical_int(p, "stall_ns"),
                                .loss = canonical_int(p, "loss"),
                                .losses = json_object_get(p, "losses"),
                                .hash = canonical_text(p, "hash")};
    for (int m = 0; m < s->metric_count; m++) point.score[m] = curve_score(p, &s->metrics[m]);
    return point;
}

static struct check_span span_of(const json_t *p)
{
    const char *name = canonical_text(p, "segment");
    bool evaluate = strcmp(name, "evaluate") == 0, checkpoint = strcmp(name, "checkpoint") == 0;
    return (struct check_span){.train = strcmp(name, "train") == 0,
                               .evaluate = evaluate,
                               .checkpoint = checkpoint,
                               .classic = !evaluate && !checkpoint && strcmp(name, "away") != 0,
                               .start_ns = canonical_int(p, "start_ns"),
                               .end_ns = canonical_int(p, "end_ns")};
}

static void unpack(const struct statement *statement, struct findings *out, struct subject *s)
{
    const json_t *json = statement->json, *points = json_object_get(json, "points"), *spans = json_object_get(json, "segments");
    *s = (struct subject){.json = json,
                          .out = out,
                          .status = canonical_text(json, "status"),
                          .synthetic = canonical_int(json, "synthetic") != 0,
                          .official = canonical_int(json, "official") != 0,
                          .self = strcmp(canonical_text(json, "evaluated_by"), "self") == 0,
                          .target_micro = canonical_int(json, "target_micro"),
                          .count = json_array_size(points),
                          .span_count = json_array_size(spans)};
    s->contest = contest_of(canonical_text(json, "task"), s->synthetic);
    if (s->contest != NULL && s->contest->synthetic != s->synthetic) s->contest = NULL;  // "demo" takes drawn data alone
    const char *recipe = canonical_text(json, "recipe.text");  // bytes of the submitter
    s->recipe = json_loadb(recipe, strlen(recipe), JSON_REJECT_DUPLICATES, NULL);
    s->metric_count = curve_metrics(json, s->metrics);
    s->items = run_metric_scale(&s->metrics[0]);
    s->points = zalloc((s->count + 1) * sizeof *s->points);
    s->spans = zalloc((s->span_count + 1) * sizeof *s->spans);
    for (size_t i = 0; i < s->count; i++) s->points[i] = point_of(json_array_get(points, i), s);
    for (size_t i = 0; i < s->span_count; i++) s->spans[i] = span_of(json_array_get(spans, i));
}

// ---- the moment

static void check_moment(const struct statement *s, int64_t now_ms, struct findings *out)
{
    const int64_t day = (int64_t)24 * 3600 * 1000, minute = 60 * 1000;
    int64_t late = now_ms - statement_made_ms(s);
    if (late > 30 * day)
        finding_add(out, CHECK_CLIENT_TIME, "the statement is dated %lld days ago; at most 30 are allowed",
                    (long long)(late / day));
    if (late < -10 * minute)
        finding_add(out, CHECK_CLIENT_TIME, "the statement is dated %lld minutes in the future; at most 10 are allowed",
                    (long long)(-late / minute));
    if (s->type == STATEMENT_RUN && canonical_int(s->json, "started_ms") > canonical_int(s->json, "ended_ms"))
        finding_add(out, CHECK_CLIENT_TIME, "the run ended before it began");
}

// A seed of one's own choice could have been trained with before the ticket.
static void check_ticket(const json_t *run, struct findings *out)
{
    const char *proof = canonical_text(run, "ticket.proof");
    int64_t seed = canonical_int(run, "seed");
    if (*proof != 0 && seed != ticket_seed(proof))
        finding_add(out, CHECK_TICKET, "its seed is %lld, but its ticket says %lld", (long long)seed,
                    (long long)ticket_seed(proof));
}

void check_statement(const struct statement *statement, int64_t now_ms, struct findings *out)
{
    *out = (struct findings){0};
    check_moment(statement, now_ms, out);
    check_text(statement->json, out);
    if (statement->type == STATEMENT_BENCH) check_bench(statement->json, out);
    if (statement->type != STATEMENT_RUN) return;
    struct subject s;
    unpack(statement, out, &s);
    s.now_ms = now_ms;
    check_ticket(s.json, out);
    check_rules(&s);
    check_curve(&s);
    check_clocks(&s);
    check_speed(&s, statement);
    check_work(&s);
    check_fields(&s);
    check_reference(&s);
    json_decref(s.recipe);
    free(s.points);
    free(s.spans);
}
