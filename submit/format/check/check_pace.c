// SPDX-License-Identifier: Apache-2.0
// The intervals of two runs against each other. They are paired in three ways, so that little hides a copy: from each common step
// to the next (a longer beginning or a point left out), by their order (other steps), and by their length (another order). In
// each way one run may be slower or faster by a factor. Cost: sorting two curves.
#include <math.h>
#include <stdlib.h>

#include "runtime/common/base/arena.h"
#include "submit/format/check/check_inside.h"
#include "submit/format/score/curve.h"

// The time from one paired point to the next, in both runs.
struct lap {
    int64_t own, other;
};

bool check_next_common(const json_t *a, const json_t *b, size_t *i, size_t *j)
{
    while (*i < json_array_size(a) && *j < json_array_size(b)) {
        int64_t ahead = curve_step(json_array_get(a, *i)) - curve_step(json_array_get(b, *j));
        if (ahead == 0) return true;
        *i += ahead < 0;
        *j += ahead > 0;
    }
    return false;
}

static int64_t time_of(const json_t *points, size_t i)
{
    return canonical_int(json_array_get(points, i), "t_ns");
}

static size_t pair_laps(const json_t *a, const json_t *b, bool by_order, struct lap *laps)
{
    size_t count = 0, both = json_array_size(a) < json_array_size(b) ? json_array_size(a) : json_array_size(b);
    int64_t own = 0, other = 0;
    for (size_t i = 0, j = 0; by_order ? i < both : check_next_common(a, b, &i, &j); i++, j++) {
        const int64_t t = time_of(a, i), u = time_of(b, j);
        laps[count++] = (struct lap){t - own, u - other};
        own = t, other = u;
    }
    return count;
}

// The largest difference of two paired laps is within `slack` of each, which a lap and the number of laps decide.
static bool laps_differ_within(const struct lap *laps, size_t count, int64_t (*slack)(int64_t lap, size_t count))
{
    for (size_t i = 0; i < count; i++)
        if (llabs(laps[i].own - laps[i].other) > slack(laps[i].own, count)) return false;
    return count > 0;
}

// Honest times scatter by a thousandth. Three intervals that agree within 5 millionths are no accident; fewer must agree closer.
static int64_t honest_slack(int64_t lap, size_t count)
{
    return count < 3 || lap < 200000000 ? 1000 : lap / 200000;
}

// On the steadiest machines times scatter by a ten-thousandth. There, three intervals of one second each agree within 100 ns in
// one pair of a thousand millions.
static int64_t exact_slack(int64_t lap, size_t count)
{
    (void)lap;
    return count < 3 ? -1 : 100;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// How many intervals of one run are the other's times a factor, within 5 millionths: 0 if these are fewer than five, or
// than three of four. Three or four intervals must all agree, within a millionth.
static size_t count_scaled(const struct lap *laps, size_t count)
{
    const size_t least = 5;
    size_t agree = 0;
    if (count < 3) return 0;
    double *ratios = zalloc(count * sizeof *ratios), share = count < least ? 1e-6 : 5e-6;
    for (size_t i = 0; i < count; i++) ratios[i] = (double)laps[i].own / fmax(1, (double)laps[i].other);
    qsort(ratios, count, sizeof *ratios, by_value);
    double factor = ratios[count / 2];
    free(ratios);
    for (size_t i = 0; i < count; i++)
        agree += fabs((double)laps[i].own - factor * (double)laps[i].other) <= (double)laps[i].own * share + 2;
    return agree == count || (agree >= least && 4 * agree >= 3 * count) ? agree : 0;
}

// One interval sets the factor. Where times scatter by a thousandth, another agrees by chance in 3 of 1,000 cases; on the
// steadiest machines, by a ten-thousandth, in 3 of 100: then five of five agree in one pair of a million, and eight of nine in
// one of ten thousand millions. A group of a thousand runs has half a million pairs. (Of 28 pairs of honest runs on two cores of
// a shared machine, whose intervals scatter by hundredths, none had a second one.) A forger who scales a run has all intervals of
// its schedule, about ten or more, in agreement, but for the first, with the beginning. One who alters more of them gets the
// flag, and one who scatters all has made up a run (docs/threats.md).
static enum check_pace judge_count(size_t agree, size_t count)
{
    if (agree >= 8 && agree + 1 >= count) return PACE_COPIED;
    return agree > 0 ? PACE_SCALED : PACE_APART;
}

static enum check_pace compare_paired(const json_t *a, const json_t *b, bool by_order)
{
    size_t points = json_array_size(a);
    struct lap *laps = zalloc((points + 1) * sizeof *laps);
    size_t count = pair_laps(a, b, by_order, laps);
    bool all = count == points && count == json_array_size(b);
    enum check_pace found = judge_count(count_scaled(laps, count), count);
    if (all && laps_differ_within(laps, count, honest_slack) && found < PACE_SAME) found = PACE_SAME;
    if (laps_differ_within(laps, count, exact_slack)) found = PACE_COPIED;
    free(laps);
    return found;
}

// ---- intervals in another order

// The intervals between points, from the shortest to the longest: without the first, which has the beginning.
static double *sort_laps(const json_t *points, size_t *count)
{
    size_t size = json_array_size(points);
    double *laps = zalloc((size + 1) * sizeof *laps);
    *count = size > 0 ? size - 1 : 0;
    for (size_t i = 0; i < *count; i++) laps[i] = (double)(time_of(points, i + 1) - time_of(points, i));
    qsort(laps, *count, sizeof *laps, by_value);
    return laps;
}

// Sorted intervals agree the more easily the more there are, so they have to agree within a two-hundredth of the distance to the
// next: by chance, in one case of a hundred, however they scatter. 10 ns: what rounding costs.
static double slack_of(const double *laps, size_t count, size_t i)
{
    double below = i > 0 ? laps[i] - laps[i - 1] : INFINITY, above = i + 1 < count ? laps[i + 1] - laps[i] : INFINITY;
    return fmax(10, fmin(laps[i] / 200000, fmin(below, above) / 200));
}

static size_t count_equal(const double *a, size_t na, const double *b, size_t nb, double factor)
{
    size_t agree = 0;
    for (size_t i = 0, j = 0; i < na && j < nb;) {
        double ahead = a[i] - factor * b[j];
        bool equal = fabs(ahead) <= slack_of(a, na, i);
        agree += equal;
        i += equal || ahead < 0;
        j += equal || ahead > 0;
    }
    return agree;
}

// A factor comes from the middle intervals, or from their neighbours if points were left out.
static enum check_pace compare_sorted(const json_t *points, const json_t *others)
{
    size_t na, nb, most;
    double *a = sort_laps(points, &na), *b = sort_laps(others, &nb);
    most = count_equal(a, na, b, nb, 1);
    for (size_t j = nb / 2 >= 2 ? nb / 2 - 2 : 0; na > 0 && j < nb && j <= nb / 2 + 2; j++) {
        size_t agree = count_equal(a, na, b, nb, a[na / 2] / fmax(1, b[j]));
        most = agree > most ? agree : most;
    }
    free(a);
    free(b);
    size_t fewer = na < nb ? na : nb;
    if (most >= 6 && most + 1 >= fewer) return PACE_COPIED;
    return most >= 5 && 4 * most >= 3 * fewer ? PACE_SCALED : PACE_APART;
}

enum check_pace check_pace(const json_t *run, const json_t *other)
{
    const json_t *a = json_object_get(run, "points"), *b = json_object_get(other, "points");
    enum check_pace found = compare_paired(a, b, false);
    for (int way = 0; way < 2 && found != PACE_COPIED; way++) {
        enum check_pace more = way == 0 ? compare_paired(a, b, true) : compare_sorted(a, b);
        if (more > found) found = more;
    }
    return found;
}

bool check_same_times(const json_t *run, const json_t *other)
{
    return check_pace(run, other) != PACE_APART;
}
