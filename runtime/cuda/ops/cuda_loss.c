// SPDX-License-Identifier: Apache-2.0
// Softmax, cross-entropy and evaluation counters: arguments of k_loss.cu. Sums over rows need one scratch number per block.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_loss.h"

// Reads long rows 16 bytes at a time.
static struct k_loss_rows wide_rows(const struct value *x)
{
    int64_t k = shape_last(&x->shape);
    int wide = 16 / (int)dtype_size(x->dtype);
    return k_loss_rows_of(shape_rows(&x->shape), k, k % wide == 0 && k >= 8 * wide ? wide : 1);
}

static struct k_loss_rows narrow_rows(const struct value *x)
{
    return k_loss_rows_of(shape_rows(&x->shape), shape_last(&x->shape), 1);
}

// A launch has at most 2^31 blocks, and a block handles at least eight rows.
static int check_rows(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    if (shape_rows(&node_in(g, n, 0)->shape) <= INT32_MAX) return 0;
    return fail(ERR_UNSUPPORTED, "cuda: %s does not support more than 2^31 rows", op_table[n->op].name);
}

static size_t partial_sums(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    struct k_loss_rows rows = n->op == OP_XENT ? wide_rows(node_in(g, n, 0)) : narrow_rows(node_in(g, n, 0));
    return k_loss_scratch(&rows);
}

static int softmax_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    if (s->out[0]) CUDA_LAUNCH(s, k_softmax, .x = s->in[0], .y = s->out[0], .type = x->dtype, .rows = wide_rows(x));
    return 0;
}

static int softmax_grad_prepare(struct cuda_step *s)
{
    const struct value *y = cuda_in(s, 0);
    if (s->out[0])
        CUDA_LAUNCH(s, k_softmax_grad, .y = s->in[0], .dy = s->in[1], .dx = s->out[0], .type = y->dtype,
                    .rows = wide_rows(y));
    return 0;
}

// Labels or probabilities, by their type.
static int xent_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    const struct loss_attr *a = &s->node->attr.loss;
    bool soft = cuda_in(s, 1)->dtype == F32;
    CUDA_LAUNCH(s, k_xent, .x = s->in[0], .labels = soft ? NULL : s->in[1], .targets = soft ? s->in[1] : NULL,
                .weights = s->in[2], .loss = s->out[0], .losses = s->out[1], .count = s->out[2], .kept = s->out[3],
                .partial = s->work, .type = x->dtype, .label = cuda_in(s, 1)->dtype, .smoothing = a->smoothing,
                .mean = a->mean, .rows = wide_rows(x));
    return 0;
}

static int xent_grad_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    bool soft = cuda_in(s, 1)->dtype == F32;
    if (s->out[0])
        CUDA_LAUNCH(s, k_xent_grad, .x = s->in[0], .labels = soft ? NULL : s->in[1], .targets = soft ? s->in[1] : NULL,
                    .weights = s->in[2], .count = s->in[3], .kept = s->in[4], .dloss = s->in[5], .drows = s->in[6],
                    .dx = s->out[0], .type = x->dtype, .label = cuda_in(s, 1)->dtype,
                    .smoothing = s->node->attr.loss.smoothing, .rows = wide_rows(x));
    return 0;
}

static int correct_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    if (s->out[0])
        CUDA_LAUNCH(s, k_correct, .x = s->in[0], .labels = s->in[1], .before = s->in[2], .after = s->out[0],
                    .partial = s->work, .type = x->dtype, .label = cuda_in(s, 1)->dtype, .top = s->node->attr.loss.k,
                    .rows = narrow_rows(x));
    return 0;
}

static int accumulate_supports(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    enum dtype type = node_in(g, n, 0)->dtype;
    if (type == F32 || type == I32) return 0;
    return fail(ERR_UNSUPPORTED, "cuda: a total must be f32 or i32; got %s", dtype_name(type));
}

static int accumulate_prepare(struct cuda_step *s)
{
    if (s->out[0])
        CUDA_LAUNCH(s, k_accumulate, .before = s->in[0], .x = s->in[1], .after = s->out[0],
                    .type = cuda_in(s, 0)->dtype, .more = cuda_in(s, 1)->dtype);
    return 0;
}

const struct cuda_op cuda_softmax = {.prepare = softmax_prepare, .supports = check_rows};
const struct cuda_op cuda_softmax_grad = {.prepare = softmax_grad_prepare, .supports = check_rows};
const struct cuda_op cuda_xent = {.prepare = xent_prepare, .workspace = partial_sums, .supports = check_rows};
const struct cuda_op cuda_xent_grad = {.prepare = xent_grad_prepare, .supports = check_rows};
const struct cuda_op cuda_correct = {.prepare = correct_prepare, .workspace = partial_sums, .supports = check_rows};
const struct cuda_op cuda_accumulate = {.prepare = accumulate_prepare, .supports = accumulate_supports};
