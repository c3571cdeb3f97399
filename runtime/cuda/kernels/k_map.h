// SPDX-License-Identifier: Apache-2.0
// Formulas element by element (map.def): the value, or dy times the slope of each input, in one pass.
#pragma once

#include "runtime/cuda/kernel.h"

enum { K_MAP_INPUTS = 5, K_MAP_PARTS = 4 };  // a, b, c, y, dy; the value and three slopes

struct k_map {
    const void *in[K_MAP_INPUTS];  // NULL: not read
    void *out[K_MAP_PARTS];        // NULL: not computed; may be an input
    int64_t count, period[2];      // period: elements of b and c, which are repeated
    float p, q;
    enum map formula;
    enum dtype type;
};
K_LAUNCHER(k_map);
