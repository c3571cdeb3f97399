// SPDX-License-Identifier: Apache-2.0
// Attention of several heads over one sequence per sample. Queries, keys and values lie side by side in one tensor, as one
// product with joined weights makes them, so that heads are strides and nothing is transposed.
#include "runtime/op/op.h"

// Input `of` is qkv[B,T,3*H*D]; the next may be lengths, then key and step of a dropout.
static int check_attention(struct graph *g, const struct node *n, int of, int lengths)
{
    const struct value *qkv = op_in(g, n, of);
    const struct attention_attr *a = &n->attr.attention;
    char s[SHAPE_TEXT];
    NEED(qkv && dtype_is_float(qkv->dtype) && qkv->shape.rank == 3, g, "%s wants qkv[B,T,3*H*D]", op_table[n->op].name);
    NEED(a->heads > 0 && qkv->shape.dim[2] % (3 * a->heads) == 0, g, "%s of %d heads wants qkv[B,T,3*H*D], not %s",
         op_table[n->op].name, a->heads, shape_text(s, &qkv->shape));
    NEED(qkv->shape.dim[0] * qkv->shape.dim[1] * a->heads <= INT32_MAX, g, "%s of more than 2^31 rows", op_table[n->op].name);
    TRY(op_per_sample(g, n, lengths, qkv->shape.dim[0]));
    if (n->in[lengths + 1] != NONE) TRY(op_drops(g, n, lengths + 1, a->p));
    return 0;
}

int op_attention_infer(struct graph *g, struct node *n)
{
    TRY(check_attention(g, n, 0, 1));
    const struct value *qkv = op_in(g, n, 0);
    const int64_t *d = qkv->shape.dim;
    op_out(g, n, 0, SHAPE(d[0], d[1], d[2] / 3), qkv->dtype);
    op_out(g, n, 1, SHAPE(d[0], n->attr.attention.heads, d[1]), F32);
    return 0;
}

int op_attention_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    int in[] = {dy[0], n->in[0], n->out[0], n->out[1], n->in[1], n->in[2], n->in[3]};
    dx[0] = graph_node(g, OP_ATTENTION_GRAD, in, 7, &n->attr, NULL);
    return g->error;
}

int op_attention_grad_infer(struct graph *g, struct node *n)
{
    TRY(op_same(g, n, 0, 2));
    TRY(check_attention(g, n, 1, 4));
    const struct value *qkv = op_in(g, n, 1), *y = op_in(g, n, 2), *lse = op_in(g, n, 3);
    NEED(y->dtype == qkv->dtype && shape_count(&y->shape) * 3 == shape_count(&qkv->shape), g,
         "attention_grad of results that its qkv did not make");
    NEED(lse && lse->dtype == F32 && shape_count(&lse->shape) == shape_rows(&qkv->shape) * n->attr.attention.heads, g,
         "attention_grad wants the logarithms of attention");
    op_out(g, n, 0, qkv->shape, qkv->dtype);
    return 0;
}

// Two products of T x T x D a head forward, five backward (one of them again).
static double attention_flops(const struct graph *g, int qkv, double products)
{
    const int64_t *d = g->value[qkv].shape.dim;
    return products * 2.0 * (double)d[0] * (double)d[1] * (double)d[1] * (double)(d[2] / 3);
}
double op_attention_flops(const struct graph *g, const struct node *n) { return attention_flops(g, n->in[0], 2); }
double op_attention_grad_flops(const struct graph *g, const struct node *n) { return attention_flops(g, n->in[1], 5); }
NO_GRAD(attention_grad)

int g_attention(struct graph *g, int q, int k, int v, int lengths, int heads, float p, int key, int step, int site)
{
    if (g->error || q == NONE) return NONE;
    int qkv = k == NONE ? q : g_concat(g, (int[]){q, k, v}, 3, g->value[q].shape.rank - 1);
    union attr a = {.attention = {heads, p, site}};
    if (p == 0) key = step = NONE;
    return graph_node(g, OP_ATTENTION, (int[]){qkv, lengths, key, step}, 4, &a, NULL);
}
