// SPDX-License-Identifier: Apache-2.0
// Two runs against each other: one may be a copy of the other, and two runs of a group may exclude each other.
// Cost: a walk over two curves, and their intervals sorted (check_pace.c).
#include <math.h>
#include <stdlib.h>

#include "runtime/common/base/arena.h"
#include "submit/format/check/check_inside.h"

static const json_t *last_of(const json_t *run, const char *list)
{
    const json_t *all = json_object_get(run, list);
    return json_array_get(all, json_array_size(all) > 0 ? json_array_size(all) - 1 : 0);
}

// ---- curves

static bool same_value(const json_t *a, const json_t *b)
{
    return a == b || json_equal(a, b);  // true also if both are missing
}

// What the losses of two runs have in common at their paired points: common steps, or points of the same number if no two steps
// are the same.
struct curves {
    size_t common;
    bool all;     // each point has a partner
    bool varies;  // a constant loss says nothing
    bool equal;   // losses and scores
    bool near;    // losses, within 20 millionths: honest seeds differ by thousandths
    bool scaled;  // the same times one factor
};

static int by_ratio(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Losses below a twentieth are left to `near`: they are small whole numbers, which agree by chance.
static bool scaled_losses(const double *own, const double *other, size_t count)
{
    double *ratios = zalloc((count + 1) * sizeof *ratios);
    bool scaled = count >= 4;
    for (size_t i = 0; i < count; i++) {
        scaled = scaled && fabs(own[i]) >= 50000 && fabs(other[i]) >= 50000;
        ratios[i] = own[i] / (other[i] != 0 ? other[i] : 1);
    }
    qsort(ratios, count, sizeof *ratios, by_ratio);
    for (size_t i = 0; i < count; i++) scaled = scaled && fabs(own[i] - ratios[count / 2] * other[i]) <= fabs(own[i]) / 50000 + 1;
    free(ratios);
    return scaled;
}

static struct curves compare_curves(const json_t *run, const json_t *other, bool by_order)
{
    const json_t *a = json_object_get(run, "points"), *b = json_object_get(other, "points");
    size_t least = json_array_size(a) < json_array_size(b) ? json_array_size(a) : json_array_size(b);
    double *own = zalloc((least + 1) * sizeof *own), *others = zalloc((least + 1) * sizeof *others);
    struct curves c = {.equal = true, .near = true};
    for (size_t i = 0, j = 0; by_order ? i < least : check_next_common(a, b, &i, &j); i++, j++) {
        const json_t *p = json_array_get(a, i), *q = json_array_get(b, j);
        int64_t loss = canonical_int(p, "loss"), difference = loss - canonical_int(q, "loss");
        own[c.common] = (double)loss, others[c.common] = (double)(loss - difference);
        c.varies = c.varies || own[c.common] != own[0];
        c.equal = c.equal && difference == 0 && same_value(json_object_get(p, "scores"), json_object_get(q, "scores"));
        c.near = c.near && llabs(difference) <= llabs(loss) / 50000;
        c.common++;
    }
    c.all = c.common == json_array_size(a) && c.common == json_array_size(b);
    c.scaled = c.varies && scaled_losses(own, others, c.common);
    free(own);
    free(others);
    return c.common == 0 && !by_order && least > 0 ? compare_curves(run, other, true) : c;
}

// Two seeds have the same losses and scores at every point, or nearly the same losses at five or more.
static bool same_curve(const json_t *run, const json_t *other, const struct curves *c)
{
    if (canonical_int(run, "seed") == canonical_int(other, "seed") || !c->varies) return false;
    return (c->equal && c->all && c->common >= 2) || ((c->near || c->scaled) && c->common >= 5);
}

bool check_alike(const json_t *run, const json_t *other)
{
    const json_t *a = last_of(run, "points"), *b = last_of(other, "points");
    if (a == NULL || b == NULL) return false;
    int64_t t = canonical_int(a, "t_ns"), difference = t - canonical_int(b, "t_ns"), slack = 4000000 + t / 200000;
    return canonical_int(a, "loss") == canonical_int(b, "loss") || (difference <= slack && difference >= -slack);
}

// ---- runs of a group

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
    const enum check_pace times = check_pace(s->json, other);
    const struct curves curves = compare_curves(s->json, other, false);
    if (times >= PACE_SAME && !was_found(out, CHECK_TWIN))
        finding_add(out, CHECK_TWIN, "its points have the same intervals as run %lld of the group", (long long)index);
    if (times == PACE_SCALED && !was_found(out, CHECK_PACE))
        finding_add(out, CHECK_PACE, "most of its intervals equal run %lld's of the group times one factor",
                    (long long)index);
    if (curves.scaled && curves.common < 5 && !was_found(out, CHECK_PACE))
        finding_add(out, CHECK_PACE, "its losses are run %lld's of the group times one factor", (long long)index);
    if (same_curve(s->json, other, &curves) && !was_found(out, CHECK_TWIN))
        finding_add(out, CHECK_TWIN, "its losses and scores equal run %lld of the group, under another seed",
                    (long long)index);
    if (overlap(s->json, other) && !was_found(out, CHECK_OVERLAP))
        finding_add(out, CHECK_OVERLAP, "it went on at the same time as run %lld of the group, on the same hardware",
                    (long long)index);
}

// With few intervals that agree only nearly, the losses have to agree, too.
void check_copied(const struct statement *s, const json_t *other, int64_t sequence, struct findings *out)
{
    const enum check_pace times = check_pace(s->json, other);
    const struct curves curves = compare_curves(s->json, other, false);
    const bool copied = times == PACE_COPIED || (times == PACE_SAME && (curves.equal || (curves.near && curves.common >= 3)));
    if (copied && !was_found(out, CHECK_TWIN))
        finding_add(out, CHECK_TWIN, "its points have the same intervals as statement %lld: it is a copy of that run",
                    (long long)sequence);
    if (times == PACE_SCALED && !was_found(out, CHECK_PACE))
        finding_add(out, CHECK_PACE, "most of its intervals equal statement %lld's times one factor", (long long)sequence);
}
