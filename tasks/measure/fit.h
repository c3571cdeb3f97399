// SPDX-License-Identifier: Apache-2.0
// Straight lines through measured points, and the verdict on a window of steps: is the machine at its usual speed yet?
#ifndef DAWN_TASKS_FIT_H
#define DAWN_TASKS_FIT_H

#include "runtime/base/error.h"

// y = slope x + offset by least squares; r2 is 1 where the line passes through every point.
struct fit_line {
    double slope, offset, r2;
};
// False if fewer than two points have different x.
bool fit_line(const double *x, const double *y, int count, struct fit_line *);

// A window is a row of blocks: times of a step, each the mean over some steps. It is accepted if the blocks vary little and
// do not drift. Fewer than FIT_BLOCKS_LEAST blocks say nothing about either.
enum { FIT_BLOCKS_LEAST = 5 };
#define FIT_VARIATION 0.02  // standard deviation of the blocks, of their mean
#define FIT_SLOPE 0.01      // change of the line through the blocks from the first to the last, of their mean
struct fit_window {
    double mean, variation, slope;
    bool judged, accepted;
};
struct fit_window fit_window(const double *block, int count);

#endif
