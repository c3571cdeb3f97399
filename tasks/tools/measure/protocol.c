// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/measure/protocol.h"

#include "runtime/common/base/sort.h"

#include <stdlib.h>

static int64_t clamp(double value, int64_t low, int64_t high)
{
    if (value < (double)low) return low;
    return value > (double)high ? high : (int64_t)value;
}

struct protocol protocol_fit(double step, double budget, int64_t repeats)
{
    BUG_IF(repeats < 1);
    struct protocol p = {PROTOCOL_IGNORED, PROTOCOL_TIMED, repeats, true};
    double all = (double)(p.ignored + p.timed * repeats);
    if (!(step * all > budget)) return p;
    double steps = budget / step;
    p.whole = false;
    p.ignored = clamp(steps / 10, 1, PROTOCOL_IGNORED);
    p.timed = clamp((steps - (double)p.ignored) / (double)repeats, 1, PROTOCOL_TIMED);
    p.repeats = clamp((steps - (double)p.ignored) / (double)p.timed, 1, repeats);
    return p;
}

struct spread protocol_spread(double *values, int count)
{
    BUG_IF(count < 1);
    qsort(values, (size_t)count, sizeof *values, sort_f64);
    int half = count / 2;
    double median = count % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
    return (struct spread){median, values[0], values[count - 1]};
}
