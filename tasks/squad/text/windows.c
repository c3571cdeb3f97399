// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/text/windows.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

struct windows windows_of(const struct windows_rule *rule, int64_t question, int64_t context)
{
    struct windows w = {.question = least(question, rule->question), .context = context};
    if (!rule->apart) w.begin = w.question + WINDOWS_SPECIAL - 1, w.behind = 1;
    w.capacity = rule->length - w.begin - w.behind;
    w.stride = least(rule->stride, w.capacity);  // a larger stride would skip pieces
    w.count = context <= w.capacity ? 1 : 1 + (context - w.capacity + w.stride - 1) / w.stride;
    return w;
}

struct window windows_at(const struct windows *w, int64_t number)
{
    int64_t first = number * w->stride;
    return (struct window){first, least(w->capacity, w->context - first)};
}

// The score of run_squad.py, min(left, right) + 0.01 x length, in whole numbers. Of equal windows the first counts.
static int64_t context_of(const struct windows *w, int64_t number, int64_t piece)
{
    struct window at = windows_at(w, number);
    return 100 * least(piece - at.first, at.first + at.count - 1 - piece) + at.count;
}

int64_t windows_owner(const struct windows *w, int64_t piece)
{
    int64_t from = piece < w->capacity ? 0 : (piece - w->capacity) / w->stride + 1, to = least(piece / w->stride, w->count - 1);
    int64_t owner = from;
    for (int64_t i = from + 1; i <= to; i++)
        if (context_of(w, i, piece) > context_of(w, owner, piece)) owner = i;
    return owner;
}

bool windows_span(const struct windows *w, int64_t number, int64_t begin, int64_t end, int32_t *first, int32_t *last)
{
    struct window at = windows_at(w, number);
    if (begin >= end || begin < at.first || end > at.first + at.count) return false;
    *first = (int32_t)(windows_begin(w) + begin - at.first);
    *last = (int32_t)(windows_begin(w) + end - 1 - at.first);
    return true;
}
