// SPDX-License-Identifier: Apache-2.0
// Attention on the GPU: arguments of k_attention.cu.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_attention.h"

#include <math.h>

static const struct value *qkv_of(const struct graph *g, const struct node *n)
{
    return node_in(g, n, n->op == OP_ATTENTION_GRAD);
}

static int attention_supports(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    int64_t channels = shape_last(&qkv_of(g, n)->shape) / 3 / n->attr.attention.heads;
    if (channels <= K_ATTENTION_CHANNELS) return 0;
    return fail(ERR_UNSUPPORTED, "cuda: attention has at most %d channels a head, not %lld", K_ATTENTION_CHANNELS,
                (long long)channels);
}

// Inputs from `lengths` on are lengths, key and step.
static struct k_attention arguments_of(const struct cuda_step *s, int qkv, int lengths)
{
    const struct value *v = cuda_in(s, qkv);
    const struct attention_attr *a = &s->node->attr.attention;
    const int64_t *dim = v->shape.dim;
    struct k_attention k = {.qkv = s->in[qkv], .length = s->in[lengths], .key = s->in[lengths + 1], .step = s->in[lengths + 2],
                            .samples = (int)dim[0], .tokens = (int)dim[1], .heads = a->heads,
                            .channels = (int)(dim[2] / 3 / a->heads), .p = a->p, .site = (uint32_t)a->site, .type = v->dtype};
    k.scale = (float)(1.0 / sqrt((double)k.channels));
    return k;
}

static bool takes_tensor_cores(const struct k_attention *k)
{
    return k->type != F32 && k->channels <= K_ATTENTION_HALF && k->channels % 8 == 0;
}

static int attention_prepare(struct cuda_step *s)
{
    struct k_attention k = arguments_of(s, 0, 1);
    k.to = s->out[0], k.lse = s->out[1];
    s->launch = takes_tensor_cores(&k) ? k_attention_half : k_attention;
    s->args = memcpy(arena_alloc(s->arena, sizeof k), &k, sizeof k);
    return 0;
}

static int attention_grad_prepare(struct cuda_step *s)
{
    struct k_attention k = arguments_of(s, 1, 4);
    if (!s->out[0]) return 0;
    k.dy = s->in[0], k.y = s->in[2], k.lse = s->in[3], k.to = s->out[0], k.delta = s->work;
    s->launch = takes_tensor_cores(&k) ? k_attention_half_grad : k_attention_grad;
    s->args = memcpy(arena_alloc(s->arena, sizeof k), &k, sizeof k);
    return 0;
}

static size_t attention_grad_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    return value_bytes(node_in(g, n, 3));
}

const struct cuda_op cuda_attention = {.prepare = attention_prepare, .supports = attention_supports};
const struct cuda_op cuda_attention_grad = {.prepare = attention_grad_prepare, .workspace = attention_grad_workspace,
                                            .supports = attention_supports};
