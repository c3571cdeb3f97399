// SPDX-License-Identifier: Apache-2.0
// Straight lines through measured points, and a verdict on a window of steps: has the machine reached a steady speed?
#pragma once

#include "runtime/common/base/error.h"

// y = slope x + offset by least squares; r2 is 1 if the line passes through every point.
struct fit_line {
    double slope, offset, r2;
};
#define FIT_LINE 0.9  // with a smaller r2 the points do not lie on a line
// False if fewer than two points have different x.
bool fit_line(const double *x, const double *y, int count, struct fit_line *);

// A window is a sequence of blocks. A block is the mean time of a step over some steps. A window is accepted if its blocks
// vary little and do not drift. Fewer than FIT_BLOCKS_LEAST blocks allow no verdict.
enum { FIT_BLOCKS_LEAST = 5 };
#define FIT_VARIATION 0.02  // limit of the blocks' standard deviation, relative to their mean
#define FIT_SLOPE 0.01      // limit of the change along the line from the first to the last block, relative to their mean
struct fit_window {
    double mean, variation, slope;
    bool judged, accepted;
};
struct fit_window fit_window(const double *block, int count);
