// SPDX-License-Identifier: Apache-2.0
// Layer norm and RMS norm on the GPU: arguments of k_layer_norm.cu.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_layer_norm.h"
#include "runtime/element.h"

static int layer_norm_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    const struct layer_norm_attr *a = &s->node->attr.layer_norm;
    CUDA_LAUNCH(s, k_layer_norm, .x = s->in[0], .residual = s->in[1], .scale = s->in[2], .bias = s->in[3], .key = s->in[4],
                .step = s->in[5], .y = s->out[0], .sum = s->out[1], .mean = s->out[2], .rstd = s->out[3],
                .rows = shape_rows(&x->shape), .channels = shape_last(&x->shape), .eps = a->eps, .p = a->p,
                .factor = element_factor(a->p), .site = (uint32_t)a->site, .rms = a->rms, .type = x->dtype);
    return 0;
}

static size_t partial_bytes(const struct value *dy)
{
    return plan_round_up(k_columns_bytes(k_columns_of(dy->dtype, 1, shape_rows(&dy->shape), shape_last(&dy->shape))));
}

static size_t layer_norm_grad_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    return 2 * partial_bytes(node_in(g, n, 0));
}

static int layer_norm_grad_prepare(struct cuda_step *s)
{
    const struct value *dy = cuda_in(s, 0);
    const struct layer_norm_attr *a = &s->node->attr.layer_norm;
    float *partial = s->work, *second = partial ? partial + partial_bytes(dy) / sizeof(float) : NULL;
    CUDA_LAUNCH(s, k_layer_norm_grad, .dy = s->in[0], .x = s->in[1], .mean = s->in[2], .rstd = s->in[3], .scale = s->in[4],
                .key = s->in[5], .step = s->in[6], .dsum = s->out[0], .dx = s->out[1], .dscale = s->out[2], .dbias = s->out[3],
                .partial = {partial, second}, .rows = shape_rows(&dy->shape), .channels = shape_last(&dy->shape), .p = a->p,
                .factor = element_factor(a->p), .site = (uint32_t)a->site, .type = dy->dtype);
    return 0;
}

const struct cuda_op cuda_layer_norm = {.prepare = layer_norm_prepare};
const struct cuda_op cuda_layer_norm_grad = {.prepare = layer_norm_grad_prepare, .workspace = layer_norm_grad_workspace};
