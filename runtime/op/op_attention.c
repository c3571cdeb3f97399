// SPDX-License-Identifier: Apache-2.0
// Attention of several heads over one sequence per sample, or of the queries of one sequence to the keys of another. Queries,
// keys and values lie side by side in one tensor, or queries in one and keys and values in another, as products with joined
// weights make them, so that heads are strides and nothing is transposed. Rotary positions of queries and keys.
#include "runtime/op/op.h"

#include <math.h>

// Input `of` is qkv[B,T,3*H*D] or q[B,T,H*D]; then kv[B,S,2*H*D].
static int check_heads(struct graph *g, const struct node *n, int of)
{
    const struct value *q = op_in(g, n, of), *kv = op_in(g, n, of + 1);
    const int heads = n->attr.attention.heads, parts = kv ? 1 : 3;
    const char *name = op_table[n->op].name;
    char s[SHAPE_TEXT], t[SHAPE_TEXT];
    NEED(q && dtype_is_float(q->dtype) && q->shape.rank == 3, g, "%s requires qkv[B,T,3*H*D] or q[B,T,H*D]", name);
    NEED(heads > 0 && q->shape.dim[2] % (parts * heads) == 0, g, "%s of %d heads requires %s[B,T,%s], not %s", name, heads,
         kv ? "q" : "qkv", kv ? "H*D" : "3*H*D", shape_text(s, &q->shape));
    NEED(!kv || (kv->dtype == q->dtype && kv->shape.rank == 3 && kv->shape.dim[0] == q->shape.dim[0] &&
                 kv->shape.dim[2] == 2 * q->shape.dim[2]),
         g, "%s of q %s requires kv[B,S,2*H*D] of its type, not %s", name, shape_text(s, &q->shape), shape_text(t, &kv->shape));
    NEED(q->shape.dim[0] * q->shape.dim[1] * heads <= INT32_MAX, g, "%s of more than 2^31 rows", name);
    return 0;
}

// Inputs from `lengths` on are lengths, q_lengths, key and step.
static int check_lengths(struct graph *g, const struct node *n, int of, int lengths)
{
    for (int i = 0; i < 2; i++) TRY(op_per_sample(g, n, lengths + i, op_in(g, n, of)->shape.dim[0]));
    NEED(n->in[of + 1] != NONE || n->in[lengths + 1] == NONE, g, "%s of one sequence has one length", op_table[n->op].name);
    if (n->in[lengths + 2] != NONE) TRY(op_drops(g, n, lengths + 2, n->attr.attention.p));
    return 0;
}

int op_attention_infer(struct graph *g, struct node *n)
{
    TRY(check_heads(g, n, 0));
    TRY(check_lengths(g, n, 0, 2));
    const struct value *q = op_in(g, n, 0);
    const int64_t *d = q->shape.dim;
    op_out(g, n, 0, SHAPE(d[0], d[1], n->in[1] == NONE ? d[2] / 3 : d[2]), q->dtype);
    op_out(g, n, 1, SHAPE(d[0], n->attr.attention.heads, d[1]), F32);
    return 0;
}

int op_attention_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int in[] = {dy[0], n->in[0], n->in[1], n->out[0], n->out[1], n->in[2], n->in[3], n->in[4], n->in[5]}, out[MAX_OUT];
    graph_node(g, OP_ATTENTION_GRAD, in, 9, &n->attr, out);
    dx[0] = out[0], dx[1] = out[1];
    return g->error;
}

int op_attention_grad_infer(struct graph *g, struct node *n)
{
    TRY(op_same(g, n, 0, 3));
    TRY(check_heads(g, n, 1));
    TRY(check_lengths(g, n, 1, 5));
    const struct value *q = op_in(g, n, 1), *kv = op_in(g, n, 2), *y = op_in(g, n, 3), *lse = op_in(g, n, 4);
    NEED(y->dtype == q->dtype && shape_count(&y->shape) * (kv ? 1 : 3) == shape_count(&q->shape), g,
         "attention_grad requires the results of its queries");
    NEED(lse && lse->dtype == F32 && shape_count(&lse->shape) == shape_rows(&q->shape) * n->attr.attention.heads, g,
         "attention_grad requires the logarithms of attention");
    op_out(g, n, 0, q->shape, q->dtype);
    if (kv) op_out(g, n, 1, kv->shape, kv->dtype);
    else op_drop(n, 1);
    return 0;
}

// Pairs of a query and a key that it sees, of one head and sample without lengths.
static double pairs_of(const struct attention_attr *a, double queries, double keys)
{
    if (!a->causal) return queries * keys;
    double seeing = queries < keys ? queries : keys;  // queries before them see nothing
    return seeing * (keys - seeing) + seeing * (seeing + 1.0) / 2.0;
}

// Two products over these pairs and D a head forward, five backward (one of them again).
static double attention_flops(const struct graph *g, const struct node *n, int of, double products)
{
    const struct shape *q = &node_in(g, n, of)->shape;
    const struct value *kv = node_in(g, n, of + 1);
    double keys = (double)(kv ? kv->shape.dim[1] : q->dim[1]), width = (double)(kv ? q->dim[2] : q->dim[2] / 3);
    return products * 2.0 * (double)q->dim[0] * pairs_of(&n->attr.attention, (double)q->dim[1], keys) * width;
}
double op_attention_flops(const struct graph *g, const struct node *n) { return attention_flops(g, n, 0, 2); }
double op_attention_grad_flops(const struct graph *g, const struct node *n) { return attention_flops(g, n, 1, 5); }
NO_GRAD(attention_grad)

int g_attention(struct graph *g, const struct attention *a)
{
    bool drops = a->attr.p > 0;
    int in[] = {a->q, a->kv, a->lengths, a->q_lengths, drops ? a->key : NONE, drops ? a->step : NONE};
    return graph_node(g, OP_ATTENTION, in, 6, &(union attr){.attention = a->attr}, NULL);
}

// ---- rotary positions
int op_rotary_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, 0), *at = op_in(g, n, 1);
    char s[SHAPE_TEXT];
    int64_t d = x->shape.rank == 4 ? x->shape.dim[3] : 0, positions = at ? shape_count(&at->shape) : 1;
    NEED(dtype_is_float(x->dtype) && d > 0 && d % 2 == 0 && d <= ROTARY_MOST, g,
         "rotary requires float x[B,T,H,D] with D even and at most %d, not %s", ROTARY_MOST, shape_text(s, &x->shape));
    NEED(n->attr.rotary.base >= 1.0f, g, "rotary requires a base of at least 1");
    NEED(!at || (at->dtype == I32 && (positions == 1 || positions == x->shape.dim[0])), g,
         "rotary requires one i32 position, or one per sample");
    op_out(g, n, 0, x->shape, x->dtype);
    return 0;
}

int op_rotary_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    union attr a = n->attr;
    a.rotary.inverse = !a.rotary.inverse;
    dx[0] = graph_node(g, OP_ROTARY, (int[]){dy[0], n->in[1]}, 2, &a, NULL);
    return g->error;
}

FLOPS_EACH(rotary, 3)

void rotary_turns(const struct rotary_attr *a, int64_t channels, uint64_t turn[ROTARY_MOST / 2])
{
    const double whole = 6.283185307179586476925;
    for (int64_t i = 0; i < channels / 2; i++)
        turn[i] = (uint64_t)(pow((double)a->base, -2.0 * (double)i / (double)channels) / whole * 0x1p64);
}

int g_rotary(struct graph *g, int x, int at, float base)
{
    return graph_node(g, OP_ROTARY, (int[]){x, at}, 2, &(union attr){.rotary = {.base = base}}, NULL);
}
