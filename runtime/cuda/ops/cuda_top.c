// SPDX-License-Identifier: Apache-2.0
// The largest elements of rows: arguments and scratch of k_top.cu.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_top.h"

static int top_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    if (s->out[0] || s->out[1])
        CUDA_LAUNCH(s, k_top, .x = s->in[0], .y = s->out[0], .at = s->out[1], .rows = shape_rows(&x->shape),
                    .n = shape_last(&x->shape), .k = (int)s->node->attr.top.k, .type = x->dtype, .flat = s->node->attr.top.flat,
                    .sorted = s->work);
    return 0;
}

static int top_grad_prepare(struct cuda_step *s)
{
    const struct value *dy = cuda_in(s, 1);
    if (s->out[0])
        CUDA_LAUNCH(s, k_top, .x = s->in[1], .at_from = s->in[0], .y = s->out[0], .rows = shape_rows(&dy->shape),
                    .n = s->node->attr.top.n, .k = (int)shape_last(&dy->shape), .type = dy->dtype,
                    .flat = s->node->attr.top.flat);
    return 0;
}

static int check_rows(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    if (shape_rows(&node_in(g, n, 0)->shape) <= INT32_MAX) return 0;
    return fail(ERR_UNSUPPORTED, "cuda: %s does not support more than 2^31 rows", op_table[n->op].name);
}

static size_t top_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    return k_top_bytes(shape_rows(&node_in(g, n, 0)->shape), n->attr.top.k);
}

const struct cuda_op cuda_top = {.prepare = top_prepare, .workspace = top_workspace, .supports = check_rows};
const struct cuda_op cuda_top_grad = {.prepare = top_grad_prepare, .supports = check_rows};
