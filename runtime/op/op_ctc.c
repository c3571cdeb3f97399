// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification. The forward node makes the gradient of the sum of the losses, too, while it has the
// alignments (docs/decisions/ctc.md).
#include "runtime/op/op.h"

enum { LOGITS, LENGTHS, LABELS, COUNTS };
enum { LOSS, LOSSES, SKIPPED, DLOGITS };

int op_ctc_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, LOGITS), *l = op_in(g, n, LABELS);
    NEED(x->shape.rank == 3 && dtype_is_float(x->dtype) && shape_last(&x->shape) >= 2, g, "ctc requires logits[B,T,K], K > 1");
    const struct shape of = x->shape;
    const enum dtype type = x->dtype;
    NEED(l && (l->dtype == U8 || l->dtype == I32) && l->shape.rank == 2 && l->shape.dim[0] == of.dim[0], g,
         "ctc requires labels[B,L] (u8 or i32)");
    TRY(op_per_sample(g, n, LENGTHS, of.dim[0]));
    TRY(op_per_sample(g, n, COUNTS, of.dim[0]));
    const bool trains = x->trains;
    op_out(g, n, LOSS, SHAPE(1), F32);
    op_out(g, n, LOSSES, SHAPE(of.dim[0]), F32);
    op_out(g, n, SKIPPED, SHAPE(of.dim[0]), F32);
    op_out(g, n, DLOGITS, of, type);
    for (int i = SKIPPED; i <= DLOGITS; i++) op_constant(g, n, i);
    if (!trains) op_drop(n, DLOGITS);
    return 0;
}

int op_ctc_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int d = n->out[DLOGITS], whole = NONE, each = NONE;
    if (d == NONE) return 0;
    if (dy[LOSS] != NONE) whole = graph_node(g, OP_LINEAR_XENT_GRAD, (int[]){d, dy[LOSS], NONE}, 3, NULL, NULL);
    if (dy[LOSSES] != NONE) {
        const struct value v = g->value[d];
        each = g_cast(g, g_mul(g, g_cast(g, d, F32), op_spread(g, dy[LOSSES], v.shape, 6)), v.dtype);
    }
    dx[LOGITS] = whole == NONE ? each : each == NONE ? whole : g_add(g, whole, each);
    return g->error;
}

// A class of a frame is an exponential. A state of a frame is two sums and two products, and its share in the gradient.
double op_ctc_flops(const struct graph *g, const struct node *n)
{
    const struct shape *x = &node_in(g, n, LOGITS)->shape;
    const double frames = (double)shape_rows(x), states = 2.0 * (double)node_in(g, n, LABELS)->shape.dim[1] + 1.0;
    return frames * (12.0 * (double)shape_last(x) + states * (n->out[DLOGITS] == NONE ? 8.0 : 20.0));
}

int g_ctc(struct graph *g, const int in[4], int out[3])
{
    int all[MAX_OUT];
    graph_node(g, OP_CTC, in, 4, NULL, all);
    for (int i = 0; i < 3; i++) out[i] = g->error ? NONE : all[i];
    return out[LOSS];
}
