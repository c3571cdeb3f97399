// SPDX-License-Identifier: Apache-2.0
// A number for each step of a training, in pieces, each a row of a table of curves. Learning rates and norms are uploaded to
// the device as tables with one value per step.
#pragma once

#include "runtime/common/base/error.h"

// A constant is a linear piece with equal ends. Both ends of an exponential and of an inverse root are above 0: equal steps have
// equal ratios of the value, and equal differences of 1 / value^2.
enum curve { CURVE_LINEAR, CURVE_COSINE, CURVE_EXPONENTIAL, CURVE_INVERSE_ROOT };
struct schedule_piece {
    double steps;     // its length; 0 or less: skipped
    double from, to;
    enum curve curve;
};
enum { SCHEDULE_PIECES = 20 };
struct schedule {
    struct schedule_piece piece[SCHEDULE_PIECES];
    int pieces;       // 0: no schedule
    double least;     // lower bound of all values
};

struct schedule schedule_constant(double value);
void schedule_add(struct schedule *, double steps, double from, double to, enum curve);
bool schedule_same(const struct schedule *, const struct schedule *);
// The value at a position in steps, which may be a fraction. After the last piece its end value holds.
double schedule_at(const struct schedule *, double step);
