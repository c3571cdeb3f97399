// SPDX-License-Identifier: Apache-2.0
// Attention on the GPU: arguments of k_attention.cu.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_attention.h"

#include <math.h>

// Channels of a head; input `q` is followed by kv.
static int64_t channels_of(const struct graph *g, const struct node *n, int q)
{
    return shape_last(&node_in(g, n, q)->shape) / (n->in[q + 1] == NONE ? 3 : 1) / n->attr.attention.heads;
}

static int attention_supports(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    int64_t channels = channels_of(g, n, n->op == OP_ATTENTION_GRAD);
    if (channels <= K_ATTENTION_CHANNELS) return 0;
    return fail(ERR_UNSUPPORTED, "cuda: attention has at most %d channels a head, not %lld", K_ATTENTION_CHANNELS,
                (long long)channels);
}

static void *element_at(const void *base, int64_t i, enum dtype t)
{
    return base ? (char *)(uintptr_t)base + i * (int64_t)dtype_size(t) : NULL;
}

// Inputs from `lengths` on are lengths, q_lengths, key and step.
static struct k_attention arguments_of(const struct cuda_step *s, int q, int lengths)
{
    const struct value *v = cuda_in(s, q), *kv = cuda_in(s, q + 1);
    const struct attention_attr *a = &s->node->attr.attention;
    const int64_t *dim = v->shape.dim, channels = channels_of(s->graph, s->node, q), width = channels * a->heads;
    struct k_attention k = {.q = s->in[q], .pitch = dim[2], .kv_pitch = kv ? 2 * width : dim[2], .length = s->in[lengths],
                            .q_length = s->in[kv ? lengths + 1 : lengths], .key = s->in[lengths + 2],
                            .step = s->in[lengths + 3], .samples = (int)dim[0], .tokens = (int)dim[1],
                            .keys = (int)(kv ? kv->shape.dim[1] : dim[1]), .heads = a->heads, .channels = (int)channels,
                            .causal = a->causal, .p = a->p, .site = (uint32_t)a->site, .type = v->dtype};
    for (int i = 0; i < 2; i++)
        k.kv[i] = kv ? element_at(s->in[q + 1], i * width, v->dtype) : element_at(s->in[q], (1 + i) * width, v->dtype);
    k.scale = (float)(1.0 / sqrt((double)k.channels));
    return k;
}

static bool takes_tensor_cores(const struct k_attention *k)
{
    return k->type != F32 && k->channels <= K_ATTENTION_HALF && k->channels % 8 == 0;
}

static int attention_prepare(struct cuda_step *s)
{
    struct k_attention k = arguments_of(s, 0, 2);
    k.to = s->out[0], k.lse = s->out[1];
    s->launch = takes_tensor_cores(&k) ? k_attention_half : k_attention;
    s->args = memcpy(arena_alloc(s->arena, sizeof k), &k, sizeof k);
    return 0;
}

static int attention_grad_prepare(struct cuda_step *s)
{
    struct k_attention k = arguments_of(s, 1, 5);
    bool apart = s->node->in[2] != NONE;
    int64_t width = (int64_t)k.heads * k.channels;
    if (!s->out[0] && !s->out[1]) return 0;
    k.dy = s->in[0], k.y = s->in[3], k.lse = s->in[4], k.dq = s->out[0], k.delta = s->work;
    for (int i = 0; i < 2; i++)
        k.dkv[i] = apart ? element_at(s->out[1], i * width, k.type) : element_at(s->out[0], (1 + i) * width, k.type);
    s->launch = takes_tensor_cores(&k) ? k_attention_half_grad : k_attention_grad;
    s->args = memcpy(arena_alloc(s->arena, sizeof k), &k, sizeof k);
    return 0;
}

static size_t attention_grad_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    return value_bytes(node_in(g, n, 4));
}

const struct cuda_op cuda_attention = {.prepare = attention_prepare, .supports = attention_supports};
const struct cuda_op cuda_attention_grad = {.prepare = attention_grad_prepare, .workspace = attention_grad_workspace,
                                            .supports = attention_supports};
