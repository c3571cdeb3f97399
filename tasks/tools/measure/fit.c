// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/measure/fit.h"

#include <math.h>

static double mean_of(const double *value, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += value[i];
    return sum / count;
}

// Sums of the products of two deviations from the mean: of x and x, x and y, y and y.
struct moments {
    double xx, xy, yy;
};

static struct moments moments_of(const double *x, const double *y, int count, double middle_x, double middle_y)
{
    struct moments m = {0};
    for (int i = 0; i < count; i++) {
        double dx = x[i] - middle_x, dy = y[i] - middle_y;
        m.xx += dx * dx, m.xy += dx * dy, m.yy += dy * dy;
    }
    return m;
}

bool fit_line(const double *x, const double *y, int count, struct fit_line *line)
{
    *line = (struct fit_line){0};
    if (count < 2) return false;
    double middle_x = mean_of(x, count), middle_y = mean_of(y, count);
    struct moments m = moments_of(x, y, count, middle_x, middle_y);
    if (!(m.xx > 0)) return false;
    line->slope = m.xy / m.xx;
    line->offset = middle_y - line->slope * middle_x;
    line->r2 = m.yy > 0 ? m.xy * m.xy / (m.xx * m.yy) : 1;
    return true;
}

struct fit_window fit_window(const double *block, int count)
{
    BUG_IF(count < 1);
    double middle = (count - 1) / 2.0, xx = 0, xy = 0, yy = 0;
    struct fit_window w = {.mean = mean_of(block, count), .judged = count >= FIT_BLOCKS_LEAST};
    if (!w.judged || !(w.mean > 0)) return w;
    for (int i = 0; i < count; i++) {
        double dx = i - middle, dy = block[i] - w.mean;
        xx += dx * dx, xy += dx * dy, yy += dy * dy;
    }
    w.variation = sqrt(yy / (count - 1)) / w.mean;
    w.slope = xy / xx * (count - 1) / w.mean;
    w.accepted = w.variation < FIT_VARIATION && fabs(w.slope) < FIT_SLOPE;
    return w;
}
