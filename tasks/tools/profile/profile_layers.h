// SPDX-License-Identifier: Apache-2.0
// Memory by layer and class: the bytes of a program's plan at its peak. A layer is the scope that a model gives to its
// nodes. Weights, gradients and optimiser state belong to the layer that reads the parameter. The sums equal the sums of the
// plan, to the byte (test_profile). Cost: slots * slots comparisons of names, a few milliseconds.
#pragma once

#include "runtime/session.h"

struct profile_layers_row {
    const char *name;
    size_t bytes[MEMORY_CLASSES], all;
};
struct profile_layers {
    struct profile_layers_row *row;  // the largest first
    int rows;
    struct profile_layers_row sum;
};
void profile_layers_of(const struct session *, int program, struct profile_layers *);
void profile_layers_free(struct profile_layers *);
// Joins all rows after the first `rows` - 1 into a last one, "others".
void profile_layers_shorten(struct profile_layers *, int rows);
