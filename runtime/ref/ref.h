// SPDX-License-Identifier: Apache-2.0
// Internals of the reference device. Every operator is one function of plain loops over doubles: inputs are converted to
// double, the arithmetic is libm's, and a result is rounded once, to its stored type. It is the specification: tests compare
// the other devices with it. Its speed matters only for the duration of tests.
#pragma once

#include "runtime/device.h"

struct ref_step {
    const struct graph *graph;
    const struct node *node;
    void *in[MAX_IN], *out[MAX_OUT];  // addresses of the operands; NULL: the operand is NONE
    struct arena *scratch;            // emptied after every node
};

// One function per operator: ref_conv, ref_matmul, ... A missing one is a link error.
typedef void (*ref_fn)(const struct ref_step *);
extern const ref_fn ref_ops[OP_COUNT];
#define OP(ID, name, inputs, outputs, flags) void ref_##name(const struct ref_step *);
#include "runtime/ops.def"
#undef OP

// Helpers of the operators.
static inline const struct value *ref_in(const struct ref_step *s, int i) { return node_in(s->graph, s->node, i); }
static inline const struct value *ref_out(const struct ref_step *s, int i) { return node_out(s->graph, s->node, i); }
double *ref_zeros(const struct ref_step *, int64_t count);  // scratch
double *ref_read(const struct ref_step *, int input);       // the whole input; NULL for NONE
double ref_get(const struct ref_step *, int input, int64_t index);
void ref_write(const struct ref_step *, int output, const double *from);  // rounds; does nothing if the output has no reader
double ref_round(enum dtype, double);
void ref_round_all(enum dtype, double *, int64_t count);
// Drops elements of x as dropout does; inputs `input` and the next are key and step.
void ref_drop(const struct ref_step *, double *x, int64_t count, int input, float p, int site);
double ref_act_value(enum act, double);
double ref_act_slope(enum act, double);
