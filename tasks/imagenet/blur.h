// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/graph.h"

// Halves x[N,H,W,C] (rounded up) without aliasing (Zhang 2019): every other pixel of x after the filter 1 2 1 / 4 in both
// directions, with the border reflected.
int blur_halve(struct graph *, int x);
