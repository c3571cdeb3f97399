// SPDX-License-Identifier: Apache-2.0
// One clock, one open segment. Invariant: the closed spans reach from 0 to entered_ns without gaps, so the sums over
// segments equal the end-to-end time exactly. Cost: a clock read and a few additions.
#include "submit/results/machine/stopwatch.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/error.h"

static const struct {
    const char *name;
    bool classic;
} segments[] = {
#define SEGMENT(name, text, classic, what) {text, classic},
    SEGMENT_LIST
#undef SEGMENT
};

void stopwatch_start_at(struct stopwatch *sw, int64_t start_ns, enum segment first)
{
    *sw = (struct stopwatch){.start_ns = start_ns, .entered_ns = start_ns, .open = first};
}

void stopwatch_from_process(struct stopwatch *sw)
{
    stopwatch_start_at(sw, clock_process_start_ns(), SEGMENT_PROCESS);
}

void stopwatch_from_now(struct stopwatch *sw)
{
    stopwatch_start_at(sw, clock_ns(), SEGMENT_INIT);
}

void stopwatch_free(struct stopwatch *sw)
{
    free(sw->spans);
    *sw = (struct stopwatch){0};
}

static void add_span(struct stopwatch *sw, struct stopwatch_span span)
{
    if (sw->count == sw->capacity) {
        sw->capacity = sw->capacity > 0 ? 2 * sw->capacity : 64;
        sw->spans = grow(sw->spans, (size_t)sw->capacity * sizeof *sw->spans);
    }
    sw->spans[sw->count++] = span;
    sw->closed_ns[span.segment] += span.end_ns - span.start_ns;
}

// Sets the start as if the clock had never stopped. After a reboot the start is before the clock's zero.
void stopwatch_resume(struct stopwatch *sw, const struct stopwatch_span *spans, int count, int64_t away_ns)
{
    int64_t now = clock_ns(), end = count > 0 ? spans[count - 1].end_ns : 0;
    BUG_IF(away_ns <= 0);
    stopwatch_start_at(sw, now, SEGMENT_INIT);
    sw->start_ns = now - end - away_ns;
    for (int i = 0; i < count; i++) add_span(sw, spans[i]);
    add_span(sw, (struct stopwatch_span){SEGMENT_AWAY, end, end + away_ns});
}

static void close_open(struct stopwatch *sw, int64_t now_ns)
{
    BUG_IF(now_ns < sw->entered_ns);
    if (now_ns == sw->entered_ns) return;  // an empty span is dropped
    struct stopwatch_span *last = sw->count > 0 ? &sw->spans[sw->count - 1] : NULL;
    if (last != NULL && last->segment == sw->open) {
        sw->closed_ns[sw->open] += now_ns - sw->entered_ns;
        last->end_ns = now_ns - sw->start_ns;
    } else {
        add_span(sw, (struct stopwatch_span){sw->open, sw->entered_ns - sw->start_ns, now_ns - sw->start_ns});
    }
    sw->entered_ns = now_ns;
}

struct stopwatch_clocks stopwatch_enter_at(struct stopwatch *sw, enum segment next, int64_t now_ns)
{
    BUG_IF(next < 0 || next >= SEGMENT_END);
    if (next != sw->open) {
        close_open(sw, now_ns);
        sw->open = next;
    }
    return stopwatch_read_at(sw, now_ns);
}

struct stopwatch_clocks stopwatch_enter(struct stopwatch *sw, enum segment next)
{
    return stopwatch_enter_at(sw, next, clock_ns());
}

static int64_t segment_at(const struct stopwatch *sw, enum segment segment, int64_t now_ns)
{
    return sw->closed_ns[segment] + (segment == sw->open ? now_ns - sw->entered_ns : 0);
}

struct stopwatch_clocks stopwatch_read_at(const struct stopwatch *sw, int64_t now_ns)
{
    BUG_IF(now_ns < sw->entered_ns);
    struct stopwatch_clocks clocks = {0};
    for (int i = 0; i < SEGMENT_END; i++) {
        int64_t ns = segment_at(sw, (enum segment)i, now_ns);
        clocks.end_to_end_ns += ns;
        if (segments[i].classic) clocks.classic_ns += ns;
    }
    clocks.warm_ns = segment_at(sw, SEGMENT_TRAIN, now_ns);
    clocks.warm_with_evaluation_ns = clocks.warm_ns + segment_at(sw, SEGMENT_EVALUATE, now_ns);
    return clocks;
}

struct stopwatch_clocks stopwatch_read(const struct stopwatch *sw)
{
    return stopwatch_read_at(sw, clock_ns());
}

int64_t stopwatch_end_to_end_ns(const struct stopwatch *sw)
{
    return stopwatch_read(sw).end_to_end_ns;
}

int64_t stopwatch_warm_ns(const struct stopwatch *sw)
{
    return stopwatch_read(sw).warm_ns;
}

const char *stopwatch_name(enum segment segment)
{
    BUG_IF(segment < 0 || segment >= SEGMENT_END);
    return segments[segment].name;
}

bool stopwatch_find(const char *name, enum segment *segment)
{
    for (int i = 0; i < SEGMENT_END; i++)
        if (strcmp(name, segments[i].name) == 0) {
            *segment = (enum segment)i;
            return true;
        }
    return false;
}
