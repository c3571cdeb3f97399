// SPDX-License-Identifier: Apache-2.0
// Updates by rule: the group and the role of each parameter select the optimiser, its settings and its learning rate.
#pragma once

#include "tasks/common/step/step.h"

// The factor of the loss whose gradients update_parameters expects: the loss scale if an f16 training has one, else NONE (1).
// update_parameters divides by it.
int update_scale(struct step *);
// Appends the update of every parameter that has a gradient. `step` is i32[1], counted from 0. A parameter without a
// matching rule is an error with its name.
int update_parameters(struct step *, const int *params, const int *grads, int count, int step) MUST_CHECK;
// For a batch that is computed in parts: adds the tallies to earlier parts' tallies, in slots "sum.NAME". In the last part they
// become the whole batch's.
struct tally;
int update_accumulate(struct step *, struct tally *, int tallies) MUST_CHECK;
// True if a step renormalises the filters that Muon updates. *last is the last such step, counted from 1.
bool update_uses_muon(const struct setting *);
bool update_renormalises(const struct setting *, int64_t step, int64_t *last);
