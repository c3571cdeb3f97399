// SPDX-License-Identifier: Apache-2.0
// Two runs against each other: one may be a copy of the other, and two runs of a group may exclude each other. Times are
// compared from each common point to the next, so that a longer beginning, another point or another unit of time hides nothing.
// Cost: a walk over two curves.
#include <math.h>
#include <stdlib.h>

#include "runtime/common/base/arena.h"
#include "submit/format/check/check_inside.h"
#include "submit/format/score/curve.h"

static const json_t *last_of(const json_t *run, const char *list)
{
    const json_t *all = json_object_get(run, list);
    return json_array_get(all, json_array_size(all) > 0 ? json_array_size(all) - 1 : 0);
}

// ---- times

// The time from one common point to the next, in both runs.
struct lap {
    int64_t own, other;
};

// Goes on to the next point that both curves have; then *i and *j are its numbers.
static bool next_common(const json_t *a, const json_t *b, size_t *i, size_t *j)
{
    while (*i < json_array_size(a) && *j < json_array_size(b)) {
        int64_t ahead = curve_step(json_array_get(a, *i)) - curve_step(json_array_get(b, *j));
        if (ahead == 0) return true;
        *i += ahead < 0;
        *j += ahead > 0;
    }
    return false;
}

static size_t pair_laps(const json_t *a, const json_t *b, struct lap *laps)
{
    size_t count = 0;
    int64_t own = 0, other = 0;
    for (size_t i = 0, j = 0; next_common(a, b, &i, &j); i++, j++) {
        const int64_t t = canonical_int(json_array_get(a, i), "t_ns"), u = canonical_int(json_array_get(b, j), "t_ns");
        laps[count++] = (struct lap){t - own, u - other};
        own = t, other = u;
    }
    return count;
}

// Honest times scatter by a thousandth. Three intervals that agree within 5 millionths are no accident; fewer must agree closer.
static bool laps_are_equal(const struct lap *laps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int64_t a = laps[i].own, slack = count < 3 || a < 200000000 ? 1000 : a / 200000;
        if (a - laps[i].other > slack || laps[i].other - a > slack) return false;
    }
    return count > 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// How many intervals of one run are those of the other times a factor, within 5 millionths: 0 if these are fewer than five, or
// than three of four.
static size_t count_scaled(const struct lap *laps, size_t count)
{
    const size_t least = 5;
    size_t agree = 0;
    if (count < least) return 0;
    double *ratios = zalloc(count * sizeof *ratios);
    for (size_t i = 0; i < count; i++) ratios[i] = (double)laps[i].own / fmax(1, (double)laps[i].other);
    qsort(ratios, count, sizeof *ratios, by_value);
    double factor = ratios[count / 2];
    free(ratios);
    for (size_t i = 0; i < count; i++)
        agree += fabs((double)laps[i].own - factor * (double)laps[i].other) <= (double)laps[i].own / 200000 + 2;
    return agree >= least && 4 * agree >= 3 * count ? agree : 0;
}

// SCALED may be an accident, COPIED may not. One interval sets the factor. Where times scatter by a thousandth, another agrees by
// chance in 3 of 1,000 cases; on the steadiest machines, by a ten-thousandth, in 3 of 100: then five of five agree in one pair of
// a million, and eight of nine in one of ten thousand millions. A group of a thousand runs has half a million pairs. (Of 28 pairs
// of honest runs on two cores of a shared machine, whose intervals scatter by hundredths, none had a second one.) A forger who
// scales a run has all intervals of its schedule, about ten or more, in agreement, but for the first, with the beginning.
// One who alters more of them gets the flag, and one who scatters all has made up a run (docs/threats.md).
enum likeness { APART, SCALED, COPIED };

static enum likeness compare_times(const json_t *run, const json_t *other)
{
    const json_t *a = json_object_get(run, "points"), *b = json_object_get(other, "points");
    size_t points = json_array_size(a);
    struct lap *laps = zalloc((points + 1) * sizeof *laps);
    size_t count = pair_laps(a, b, laps), scaled = count_scaled(laps, count);
    bool all = count == points && count == json_array_size(b);
    bool copied = (all && laps_are_equal(laps, count)) || (scaled >= 8 && scaled + 1 >= count);
    free(laps);
    return copied ? COPIED : scaled > 0 ? SCALED : APART;
}

bool check_same_times(const json_t *run, const json_t *other)
{
    return compare_times(run, other) != APART;
}

// ---- curves

static bool same_value(const json_t *a, const json_t *b)
{
    return a == b || json_equal(a, b);  // true also if both are missing
}

// True if two seeds have the same losses and scores at every point. Losses of five or more common points need only agree within
// 20 millionths: those of honest seeds differ by thousandths. False if there is nothing to compare.
static bool same_curve(const json_t *run, const json_t *other)
{
    const json_t *a = json_object_get(run, "points"), *b = json_object_get(other, "points");
    size_t common = 0;
    int64_t first = 0;
    bool varies = false, equal = true, near = true;
    if (canonical_int(run, "seed") == canonical_int(other, "seed")) return false;
    for (size_t i = 0, j = 0; next_common(a, b, &i, &j); i++, j++) {
        const json_t *p = json_array_get(a, i), *q = json_array_get(b, j);
        int64_t loss = canonical_int(p, "loss"), difference = loss - canonical_int(q, "loss");
        if (common++ == 0) first = loss;
        equal = equal && difference == 0 && same_value(json_object_get(p, "scores"), json_object_get(q, "scores"));
        near = near && llabs(difference) <= llabs(loss) / 50000;
        varies = varies || loss != first;
    }
    bool all = common == json_array_size(a) && common == json_array_size(b);
    return varies && ((equal && all && common >= 2) || (near && common >= 5));
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
    const enum likeness times = compare_times(s->json, other);
    if (times == COPIED && !was_found(out, CHECK_TWIN))
        finding_add(out, CHECK_TWIN, "its points have the same intervals as run %lld of the group", (long long)index);
    if (times == SCALED && !was_found(out, CHECK_PACE))
        finding_add(out, CHECK_PACE, "most of its intervals equal those of run %lld of the group times one factor",
                    (long long)index);
    if (same_curve(s->json, other) && !was_found(out, CHECK_TWIN))
        finding_add(out, CHECK_TWIN, "its losses and scores equal run %lld of the group, under another seed",
                    (long long)index);
    if (overlap(s->json, other) && !was_found(out, CHECK_OVERLAP))
        finding_add(out, CHECK_OVERLAP, "it went on at the same time as run %lld of the group, on the same hardware",
                    (long long)index);
}

void check_copied(const struct statement *s, const json_t *other, int64_t sequence, struct findings *out)
{
    const enum likeness times = compare_times(s->json, other);
    if (times == COPIED && !was_found(out, CHECK_TWIN))
        finding_add(out, CHECK_TWIN, "its losses, scores and times equal statement %lld: it is a copy of that run",
                    (long long)sequence);
    if (times == SCALED && !was_found(out, CHECK_PACE))
        finding_add(out, CHECK_PACE, "it has the losses and scores of statement %lld, and most of its intervals times one factor",
                    (long long)sequence);
}
