// SPDX-License-Identifier: Apache-2.0
// Compares the stopwatch's segments with the clocks of the points. Invariant of an honest record, to the nanosecond: segments
// follow each other without a gap from 0 on, and at every point the clocks are sums over them, because a point and the end of its
// segment are one reading of one clock. A point is stored together with all segments before it, so this holds for a killed run,
// too.
#include "submit/format/check/check_inside.h"

struct sums {
    int64_t classic, warm, with_evaluation;
};

static void add_span(struct sums *sums, const struct check_span *span, int64_t ns)
{
    if (span->classic) sums->classic += ns;
    if (span->train) sums->warm += ns;
    if (span->train || span->evaluate) sums->with_evaluation += ns;
}

static bool without_gaps(struct subject *s)
{
    int64_t end = 0;
    for (size_t i = 0; i < s->span_count; i++) {
        const struct check_span *span = &s->spans[i];
        if (span->start_ns != end || span->end_ns <= span->start_ns) {
            finding_add(s->out, CHECK_CLOCKS, "segment %zu reaches from %lld to %lld ns, but the one before ended at %lld", i,
                        (long long)span->start_ns, (long long)span->end_ns, (long long)end);
            return false;
        }
        end = span->end_ns;
    }
    return true;
}

static bool point_agrees(struct subject *s, size_t i, const struct sums *sums)
{
    const struct check_point *p = &s->points[i];
    const struct {
        const char *name;
        int64_t claimed, sum;
    } clocks[] = {{"classic", p->classic_ns, sums->classic},
                  {"warm", p->warm_ns, sums->warm},
                  {"warm (with evaluation)", p->warm_with_evaluation_ns, sums->with_evaluation}};
    for (size_t c = 0; c < sizeof clocks / sizeof *clocks; c++) {
        if (clocks[c].claimed == clocks[c].sum) continue;
        finding_add(s->out, CHECK_CLOCKS, "point %zu, step %lld: the %s clock says %lld ns, but its segments sum to %lld", i,
                    (long long)p->step, clocks[c].name, (long long)clocks[c].claimed, (long long)clocks[c].sum);
        return false;
    }
    return true;
}

void check_clocks(struct subject *s)
{
    if (!without_gaps(s) || !s->in_order || s->count == 0) return;
    int64_t end = s->span_count > 0 ? s->spans[s->span_count - 1].end_ns : 0, last = s->points[s->count - 1].t_ns;
    if (end < last) {
        finding_add(s->out, CHECK_CLOCKS, "the segments end at %lld ns, before the last point's %lld", (long long)end,
                    (long long)last);
        return;
    }
    struct sums whole = {0};  // of the segments before `at`
    size_t at = 0;
    for (size_t i = 0; i < s->count; i++) {
        int64_t t = s->points[i].t_ns;
        const struct check_span *span = &s->spans[at];
        for (; at < s->span_count && span->end_ns <= t; span = &s->spans[++at])
            add_span(&whole, span, span->end_ns - span->start_ns);
        struct sums here = whole;
        if (at < s->span_count) add_span(&here, span, t - span->start_ns);
        if (!point_agrees(s, i, &here)) return;
    }
}
