// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation, graph to graph: appends the nodes of phase BACKWARD to the graph itself.
#ifndef DAWN_GRAD_H
#define DAWN_GRAD_H

#include "runtime/graph.h"

// grads[i] = d loss / d of[i], or NONE where the loss does not depend on it. `loss` is one f32. Only paths to values
// that train are walked, so a frozen first layer costs nothing on the way back.
int grad_of(struct graph *, int loss, const int *of, int count, int *grads) MUST_CHECK;

#endif
