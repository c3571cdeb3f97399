// SPDX-License-Identifier: Apache-2.0
// Pooling as a separate operator: arguments of k_pool.cu. No scratch.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_pool.h"

static int channels_of(enum dtype type, int64_t c)  // per thread
{
    int wide = 16 / (int)dtype_size(type);
    return c % wide == 0 ? wide : 1;
}

// `large` holds the windows, `small` has one pixel per window, `result` is the one of the two that is computed.
static struct k_pool pool_geometry(const struct pool_attr *a, const struct value *large, const struct value *small,
                              const struct value *result)
{
    const int64_t *d = large->shape.dim, *e = small->shape.dim, *r = result->shape.dim;
    int per = channels_of(result->dtype, d[3]);
    return (struct k_pool){
        .type = result->dtype, .per = per, .count = (uint32_t)(cuda_count(result) / per),
        .across = k_divide_by(r[3] / per), .columns = k_divide_by(r[2]), .lines = k_divide_by(r[1]),
        .stride = {k_divide_by(a->stride[0]), k_divide_by(a->stride[1])},
        .c = d[3], .h = d[1], .w = d[2], .p = e[1], .q = e[2], .k = {(int)a->k[0], (int)a->k[1]},
        .pad = {(int)a->pad[0], (int)a->pad[1]}, .counts_pad = a->counts_pad,
    };
}

static void set_launch(struct cuda_step *s, const struct k_pool *k)
{
    s->launch = k_pool;
    s->args = memcpy(arena_alloc(s->arena, sizeof *k), k, sizeof *k);
}

static int prepare_forward(struct cuda_step *s, enum k_pool_kind kind)
{
    const struct value *y = cuda_out(s, 0) ? cuda_out(s, 0) : cuda_out(s, 1);
    if (!y) return 0;
    const struct value *x = cuda_in(s, 0);
    struct value result = {.shape = y->shape, .dtype = x->dtype};
    struct k_pool k = pool_geometry(&s->node->attr.pool, x, y, &result);
    k.kind = kind, k.from = s->in[0], k.to = s->out[0], k.at = kind == K_MAXPOOL ? s->out[1] : NULL;
    set_launch(s, &k);
    return 0;
}

static int prepare_backward(struct cuda_step *s, enum k_pool_kind kind, int dy)
{
    const struct value *dx = cuda_out(s, 0);
    if (!dx) return 0;
    struct k_pool k = pool_geometry(&s->node->attr.pool, dx, cuda_in(s, dy), dx);
    k.kind = kind, k.from = s->in[dy], k.at_from = dy ? s->in[0] : NULL, k.to = s->out[0];
    set_launch(s, &k);
    return 0;
}

static int maxpool_prepare(struct cuda_step *s) { return prepare_forward(s, K_MAXPOOL); }
static int avgpool_prepare(struct cuda_step *s) { return prepare_forward(s, K_AVGPOOL); }
static int maxpool_grad_prepare(struct cuda_step *s) { return prepare_backward(s, K_MAXPOOL_GRAD, 1); }
static int avgpool_grad_prepare(struct cuda_step *s) { return prepare_backward(s, K_AVGPOOL_GRAD, 0); }

// Kernels index threads and positions with 32 bits.
static int check_size(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const struct value *x = node_in(g, n, n->op == OP_MAXPOOL_GRAD ? 1 : 0), *y = node_out(g, n, 0);
    const struct pool_attr *a = &n->attr.pool;
    int64_t most = cuda_count(x), also = y ? cuda_count(y) : 0;
    if (also > most) most = also;
    bool fits = most / channels_of(x->dtype, shape_last(&x->shape)) <= INT32_MAX && a->stride[0] <= INT32_MAX &&
                a->stride[1] <= INT32_MAX;
    return fits ? 0 : fail(ERR_UNSUPPORTED, "cuda: %s does not support more than 2^31 pixels and channels", op_table[n->op].name);
}

const struct cuda_op cuda_maxpool = {.prepare = maxpool_prepare, .supports = check_size};
const struct cuda_op cuda_maxpool_grad = {.prepare = maxpool_grad_prepare, .supports = check_size};
const struct cuda_op cuda_avgpool = {.prepare = avgpool_prepare, .supports = check_size};
const struct cuda_op cuda_avgpool_grad = {.prepare = avgpool_grad_prepare, .supports = check_size};
