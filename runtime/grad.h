// SPDX-License-Identifier: Apache-2.0
// Reverse-mode differentiation, graph to graph: appends the nodes of phase BACKWARD to the graph itself.
#pragma once

#include "runtime/graph.h"

// grads[i] = d loss / d of[i], or NONE where the loss does not depend on it or of[i] does not train. `loss` is one f32.
// Only paths to values that train are walked, so a frozen first layer costs nothing in the backward pass. A slot that a
// node overwrites is a constant to later readers. These are errors that name the operator and its scope: an operator without a
// rule on the path, a rule that cannot use the gradient of one of its outputs, and a slot that was overwritten after the forward
// pass had read it.
//
// May be called several times on one graph, for example for a critic and for its generator. Each call walks only the nodes
// that its loss depends on. Differentiate a loss before the update overwrites the weights that it was computed with.
//
// A loss may depend on gradients of an earlier call (the penalty of a WGAN). No rule differentiates the gradients of max
// pools (also inside convolutions), largest elements (top), norms, attention, recurrent layers and cross entropies: an error.
int grad_of(struct graph *, int loss, const int *of, int count, int *grads) MUST_CHECK;
// The same of the sum of several losses.
int grad_of_sum(struct graph *, const int *loss, int losses, const int *of, int count, int *grads) MUST_CHECK;
// The same of factor * loss; `factor` is a value of one f32 and no part of the graph of the loss.
int grad_of_times(struct graph *, int loss, int factor, const int *of, int count, int *grads) MUST_CHECK;

// A gradient that is part of a loss (the penalty of a WGAN): grad_watch lets values made of `x` train, whether x does or not,
// and grad_watched ends that and returns d loss / d x, NONE after an error. Its nodes belong to the caller's phase.
void grad_watch(struct graph *, int x);
int grad_watched(struct graph *, int loss, int x);
