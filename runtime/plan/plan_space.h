// SPDX-License-Identifier: Apache-2.0
// Which bytes of the slab are taken at which positions: a segment tree over positions, whose nodes hold the union of the
// bytes that were taken as sorted spans. Neighbouring spans are joined, and a packed slab has few gaps, so that a question
// costs O(log positions * gaps) however many blocks are live.
#pragma once

#include "runtime/common/base/error.h"

struct span {
    size_t begin, end;
};
struct spans {
    struct span *at;  // ascending
    int count, capacity;
};

struct plan_space;
struct plan_space *plan_space_new(int positions);
void plan_space_free(struct plan_space *);
// Takes bytes from position `first` to `last`, both included.
void plan_space_take(struct plan_space *, int first, int last, struct span);
// The lowest offset of `bytes` that are free from `first` to `last` and outside of `also`. Spans of `also` may overlap.
size_t plan_space_find(const struct plan_space *, int first, int last, size_t bytes, struct spans *also);
