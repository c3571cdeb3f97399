// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing and its gradient.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_resize.h"

static int set_launch(struct cuda_step *s, const struct shape *large, const struct shape *small, bool back)
{
    if (!s->out[0]) return 0;
    CUDA_LAUNCH(s, k_resize, .from = s->in[0], .to = s->out[0], .type = cuda_in(s, 0)->dtype, .images = large->dim[0],
                .h = (int)large->dim[1], .w = (int)large->dim[2], .p = (int)small->dim[1], .q = (int)small->dim[2],
                .channels = large->dim[3]);
    if (back) s->launch = k_resize_grad;
    return 0;
}

static int resize_prepare(struct cuda_step *s)
{
    return set_launch(s, &cuda_in(s, 0)->shape, &s->node->attr.move.shape, false);
}

static int resize_grad_prepare(struct cuda_step *s)
{
    return set_launch(s, &s->node->attr.move.shape, &cuda_in(s, 0)->shape, true);
}

static int resize_supports(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const int64_t *x = g->value[n->in[0]].shape.dim, *y = n->attr.move.shape.dim;
    if (y[1] * y[2] * y[3] >= (int64_t)1 << 30)
        return fail(ERR_UNSUPPORTED, "cuda: %s supports images of at most 2^30 numbers", op_table[n->op].name);
    for (int i = 1; i <= 2; i++)
        if (x[i] > K_RESIZE_MOST || y[i] > K_RESIZE_MOST)
            return fail(ERR_UNSUPPORTED, "cuda: %s supports images of at most %d rows and columns", op_table[n->op].name,
                        K_RESIZE_MOST);
    return 0;
}

const struct cuda_op cuda_resize = {.prepare = resize_prepare, .supports = resize_supports};
const struct cuda_op cuda_resize_grad = {.prepare = resize_grad_prepare, .supports = resize_supports};
