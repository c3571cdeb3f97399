// SPDX-License-Identifier: Apache-2.0
// Connectionist temporal classification on the GPU: arguments and scratch of k_ctc.cu.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_ctc.h"

static void *take(char *base, size_t *used, int64_t count)
{
    *used += ((size_t)count * sizeof(float) + 63) & ~(size_t)63;
    return base ? base + *used - (((size_t)count * sizeof(float) + 63) & ~(size_t)63) : NULL;
}

// Sets the sizes, and with `base` the scratch.
static struct k_ctc arguments(const struct graph *g, const struct node *n, void *base, size_t *used)
{
    const struct value *x = node_in(g, n, 0), *labels = node_in(g, n, 2);
    const int64_t *dim = x->shape.dim, states = 2 * labels->shape.dim[1] + 1;
    struct k_ctc k = {.samples = (int)dim[0], .frames = (int)dim[1], .classes = (int)dim[2], .most = (int)labels->shape.dim[1],
                      .bytes = labels->dtype == U8, .type = x->dtype};
    const bool back = n->out[3] != NONE;
    struct k_ctc_numbers *part[] = {&k.y, &k.with, &k.before};
    const int64_t count[] = {dim[0] * dim[1] * dim[2], dim[0] * 2 * (K_CTC_GUARD + states), back ? dim[0] * dim[1] * states : 0};
    *used = 0;
    for (int i = 0; i < 3; i++) part[i]->m = take(base, used, count[i]), part[i]->e = take(base, used, count[i]);
    k.share = take(base, used, back ? dim[0] * states : 0);
    k.each = take(base, used, dim[0]);
    return k;
}

static size_t ctc_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    size_t bytes;
    arguments(g, n, NULL, &bytes);
    return bytes;
}

static int ctc_prepare(struct cuda_step *s)
{
    size_t bytes;
    struct k_ctc k = arguments(s->graph, s->node, s->work, &bytes);
    k.x = s->in[0], k.length = s->in[1], k.labels = s->in[2], k.count = s->in[3];
    k.loss = s->out[0], k.losses = s->out[1], k.skipped = s->out[2], k.d = s->out[3];
    s->launch = k_ctc;
    s->args = memcpy(arena_alloc(s->arena, sizeof k), &k, sizeof k);
    return 0;
}

const struct cuda_op cuda_ctc = {.prepare = ctc_prepare, .workspace = ctc_workspace};
