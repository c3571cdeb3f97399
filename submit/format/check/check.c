// SPDX-License-Identifier: Apache-2.0
// Runs all checks. Invariant: pure; the same statement and moment give the same findings, here and on the server. A check adds
// one finding, for its first failure, so a curve of 4,000 bad points cannot hide other faults. Workload: every statement once
// before it is signed and once after it arrives. Cost: about one SHA-256 a point.
#include <stdlib.h>
#include <string.h>

#include "runtime/base/arena.h"
#include "submit/format/check/check_inside.h"
#include "submit/format/score/curve.h"

// 22 November 2026. Statements that were accepted earlier passed fewer checks and are not judged again.
#define STRICT_SINCE_MS ((int64_t)1795305600000)

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
                                .hash = canonical_text(p, "hash")};
    for (int m = 0; m < s->metric_count; m++) point.score[m] = curve_score(p, &s->metrics[m]);
    return point;
}

static struct check_span span_of(const json_t *p)
{
    const char *name = canonical_text(p, "segment");
    bool evaluate = strcmp(name, "evaluate") == 0;
    return (struct check_span){.train = strcmp(name, "train") == 0,
                               .evaluate = evaluate,
                               .classic = !evaluate && strcmp(name, "checkpoint") != 0 && strcmp(name, "away") != 0,
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
                          .version = (int)canonical_int(json, "version"),
                          .target_micro = canonical_int(json, "target_micro"),
                          .count = json_array_size(points),
                          .span_count = json_array_size(spans)};
    s->contest = contest_of(canonical_text(json, "task"), s->synthetic);
    if (s->contest != NULL && s->contest->synthetic != s->synthetic) s->contest = NULL;  // "demo" takes drawn data alone
    s->axis = s->version == 1 ? "epoch" : "step";
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
    int64_t late = now_ms - canonical_int(s->json, s->type == STATEMENT_RUN ? "ended_ms" : "made_ms");
    if (late > 30 * day)
        finding_add(out, CHECK_CLIENT_TIME, "the statement is dated %lld days ago; at most 30 are allowed",
                    (long long)(late / day));
    if (late < -10 * minute)
        finding_add(out, CHECK_CLIENT_TIME, "the statement is dated %lld minutes in the future; at most 10 are allowed",
                    (long long)(-late / minute));
    if (s->type == STATEMENT_RUN && canonical_int(s->json, "started_ms") > canonical_int(s->json, "ended_ms"))
        finding_add(out, CHECK_CLIENT_TIME, "the run ended before it began");
}

void check_statement(const struct statement *statement, int64_t now_ms, struct findings *out)
{
    *out = (struct findings){0};
    check_moment(statement, now_ms, out);
    if (now_ms >= STRICT_SINCE_MS) check_text(statement->json, out);
    if (statement->type != STATEMENT_RUN) return;
    struct subject s;
    unpack(statement, out, &s);
    s.strict = now_ms >= STRICT_SINCE_MS;
    s.now_ms = now_ms;
    check_rules(&s);
    check_curve(&s);
    check_clocks(&s);
    check_speed(&s, statement);
    if (s.strict) check_work(&s);
    if (s.strict) check_fields(&s);
    if (s.strict) check_reference(&s);
    free(s.points);
    free(s.spans);
}

// ---- two runs of a group

static const json_t *last_of(const json_t *run, const char *list)
{
    const json_t *all = json_object_get(run, list);
    return json_array_get(all, json_array_size(all) > 0 ? json_array_size(all) - 1 : 0);
}

static int64_t step_ns(const json_t *points, size_t i)
{
    int64_t before = i > 0 ? canonical_int(json_array_get(points, i - 1), "t_ns") : 0;
    return canonical_int(json_array_get(points, i), "t_ns") - before;
}

// Honest times scatter by a thousandth. Three intervals that agree within 5 millionths are no accident; fewer must agree closer.
static bool near_ns(int64_t a, int64_t b, size_t points)
{
    int64_t slack = points < 3 || a < 200000000 ? 1000 : a / 200000;
    return a - b <= slack && b - a <= slack;
}

bool check_same_times(const json_t *run, const json_t *other)
{
    const json_t *a = json_object_get(run, "points"), *b = json_object_get(other, "points");
    size_t count = json_array_size(a);
    if (count == 0 || json_array_size(b) != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!near_ns(step_ns(a, i), step_ns(b, i), count)) return false;
    return true;
}

static bool same_value(const json_t *a, const json_t *b)
{
    return a == b || json_equal(a, b);  // true also if both are missing
}

// True if two seeds have the same losses and scores at every point. False if there is nothing to compare.
static bool same_curve(const json_t *run, const json_t *other)
{
    const json_t *a = json_object_get(run, "points"), *b = json_object_get(other, "points");
    size_t count = json_array_size(a);
    int64_t first = canonical_int(json_array_get(a, 0), "loss");
    bool varies = false;
    if (count < 2 || json_array_size(b) != count || canonical_int(run, "seed") == canonical_int(other, "seed")) return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *p = json_array_get(a, i), *q = json_array_get(b, i);
        if (canonical_int(p, "loss") != canonical_int(q, "loss") || canonical_int(p, "k") != canonical_int(q, "k") ||
            !same_value(json_object_get(p, "scores"), json_object_get(q, "scores")))
            return false;
        varies = varies || canonical_int(p, "loss") != first;
    }
    return varies;
}

bool check_alike(const json_t *run, const json_t *other)
{
    const json_t *a = last_of(run, "points"), *b = last_of(other, "points");
    if (a == NULL || b == NULL) return false;
    int64_t t = canonical_int(a, "t_ns"), difference = t - canonical_int(b, "t_ns"), slack = 4000000 + t / 200000;
    return canonical_int(a, "loss") == canonical_int(b, "loss") || (difference <= slack && difference >= -slack);
}

// Beginning and end of the run, from its end and its stopwatch. Nothing else depends on the stated start.
static void span_of_run(const json_t *run, int64_t *began_ms, int64_t *ended_ms)
{
    *ended_ms = canonical_int(run, "ended_ms");
    *began_ms = *ended_ms - canonical_int(last_of(run, "segments"), "end_ns") / 1000000;
}

static bool overlap(const json_t *run, const json_t *other)
{
    int64_t began, ended, other_began, other_ended;
    span_of_run(run, &began, &ended);
    span_of_run(other, &other_began, &other_ended);
    // Clocks may be set during a run. Copies that ended within seconds overlap for nearly all of their time.
    int64_t shorter = ended - began < other_ended - other_began ? ended - began : other_ended - other_began;
    int64_t slack_ms = 1000 + (shorter / 10 < 59000 ? shorter / 10 : 59000);
    return json_equal(json_object_get(run, "hardware"), json_object_get(other, "hardware")) &&
           began + slack_ms < other_ended && other_began + slack_ms < ended;
}

static bool was_found(const struct findings *f, enum check check)
{
    for (int i = 0; i < f->count && i < FINDINGS_MAX; i++)
        if (f->at[i].check == check) return true;
    return false;
}

void check_group_mate(const struct statement *s, const json_t *other, struct findings *out)
{
    int64_t seed = canonical_int(s->json, "seed"), index = canonical_int(other, "group.index");
    if (canonical_int(other, "seed") == seed && !was_found(out, CHECK_SEED))
        finding_add(out, CHECK_SEED, "seed %lld was used by another run of the group", (long long)seed);
    if (check_same_times(s->json, other) && !was_found(out, CHECK_TWIN))
        finding_add(out, CHECK_TWIN, "each of its points took as long as in run %lld of the group", (long long)index);
    if (same_curve(s->json, other) && !was_found(out, CHECK_TWIN))
        finding_add(out, CHECK_TWIN, "its losses and scores are those of run %lld of the group, under another seed",
                    (long long)index);
    if (overlap(s->json, other) && !was_found(out, CHECK_OVERLAP))
        finding_add(out, CHECK_OVERLAP, "it went on at the same time as run %lld of the group, on the same hardware",
                    (long long)index);
}
