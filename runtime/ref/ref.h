// SPDX-License-Identifier: Apache-2.0
// The reference device from the inside. Every operator is one function of plain loops over doubles: inputs are read
// whole into doubles, the arithmetic is libm's, and a result is rounded once, to the type it is stored in. It is the
// specification; the other devices are held against it. Speed does not matter beyond letting tests finish.
#ifndef DAWN_REF_H
#define DAWN_REF_H

#include "runtime/device.h"

struct ref_step {
    const struct graph *graph;
    const struct node *node;
    void *in[MAX_IN], *out[MAX_OUT];  // addresses; NULL for NONE
    struct arena *scratch;            // emptied after every node
};

// One function an operator: ref_conv, ref_matmul, ... A new operator without one does not link.
typedef void (*ref_fn)(const struct ref_step *);
extern const ref_fn ref_ops[OP_COUNT];
#define OP(ID, name, inputs, outputs, flags) void ref_##name(const struct ref_step *);
#include "runtime/ops.def"
#undef OP

// What every operator is written with.
static inline const struct value *ref_in(const struct ref_step *s, int i) { return node_in(s->graph, s->node, i); }
static inline const struct value *ref_out(const struct ref_step *s, int i) { return node_out(s->graph, s->node, i); }
double *ref_zeros(const struct ref_step *, int64_t count);  // scratch
double *ref_read(const struct ref_step *, int input);       // the whole input; NULL for NONE
double ref_get(const struct ref_step *, int input, int64_t index);
void ref_write(const struct ref_step *, int output, const double *from);  // rounds; nothing when nobody wants it
double ref_round(enum dtype, double);
void ref_round_all(enum dtype, double *, int64_t count);
double ref_act_value(enum act, double);
double ref_act_slope(enum act, double);

#endif
