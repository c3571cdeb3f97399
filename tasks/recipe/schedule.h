// SPDX-License-Identifier: Apache-2.0
// A number over the steps of a training, in pieces: constant, linear, cosine. Learning rates, norms and the like are
// tables of it on the device, one value a step.
#ifndef DAWN_TRAIN_SCHEDULE_H
#define DAWN_TRAIN_SCHEDULE_H

#include "runtime/base/error.h"

enum curve { CURVE_LINEAR, CURVE_COSINE };  // constant: linear with equal ends
struct schedule_piece {
    double steps;     // its length; 0 and less: skipped
    double from, to;
    enum curve curve;
};
enum { SCHEDULE_PIECES = 8 };
struct schedule {
    struct schedule_piece piece[SCHEDULE_PIECES];
    int pieces;       // 0: not a schedule
    double least;     // no value is below
};

struct schedule schedule_constant(double value);
void schedule_add(struct schedule *, double steps, double from, double to, enum curve);
// At a position in steps, which may be a fraction. Behind the last piece its end goes on.
double schedule_at(const struct schedule *, double step);

#endif
