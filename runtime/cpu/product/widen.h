// SPDX-License-Identifier: Apache-2.0
// Products in f16 on a CPU that multiplies none: operands are widened to f32 in the work buffer, the product is computed there,
// and a result in f16 is rounded once. An f32 operand of a product in f16 is rounded to f16 on the way, as every device reads
// it. Slower than f32; for comparing what a training in f16 learns.
#pragma once

#include "runtime/cpu/cpu.h"

enum { WIDEN_OPERANDS = 4 };
struct widen {
    int count;
    struct widen_operand {
        bool result;
        int number;          // of the node's inputs or outputs
        enum dtype stored;
        void *at;            // where it is stored
        size_t offset;       // of the f32 copy
        int64_t elements;
    } operand[WIDEN_OPERANDS];
    size_t bytes;            // of all copies
};

// Which operands of a product need a copy; count 0 if none is f16.
void widen_plan(struct widen *, const struct graph *, const struct node *);
// The type that a product of values of this type is computed in.
static inline enum dtype widen_type(enum dtype t)
{
    return t == F16 ? F32 : t;
}
void widen_round(const struct loops *, const float *from, float *to, int64_t n);  // to = from, rounded to f16; on all threads
// Lets the step work on the copies, in its work buffer from `offset` on. Runs before addresses are bound.
void widen_bind(struct widen *, struct cpu_step *, size_t offset);
void widen_operands(const struct widen *, const struct cpu_step *);  // before the product
void widen_results(const struct widen *, const struct cpu_step *);   // after it
