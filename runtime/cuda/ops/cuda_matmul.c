// SPDX-License-Identifier: Apache-2.0
// Matrix products on the GPU. cuBLASLt computes the large ones (cuda_blas.h). DAWN's kernels compute all others, and those for
// which cuBLASLt has no algorithm (k_matmul.h). The f32 factor of a large product whose other factor is 16-bit, such as BERT's
// weights, is read through a copy of that type, because cuBLASLt takes factors of one type only. DAWN's kernels round it to the
// same values. A large product's bias has the result's type, because cuBLASLt adds no other.
#include "runtime/cuda/ops/cuda_blas.h"

static struct k_matmul stored_matmul(const struct graph *g, const struct node *n)
{
    const struct matmul_attr *t = &n->attr.matmul;
    const struct value *a = node_in(g, n, 0), *b = node_in(g, n, 1);
    int last = a->shape.rank - 1;
    int64_t rows = a->shape.dim[last - 1], columns = a->shape.dim[last];
    return (struct k_matmul){.m = (int)(t->ta ? columns : rows), .k = (int)(t->ta ? rows : columns),
                             .n = (int)b->shape.dim[t->tb ? last - 1 : last],
                             .batch = last == 2 ? a->shape.dim[0] : 1, .ta = t->ta, .tb = t->tb, .alpha = t->alpha,
                             .beta = t->beta, .a_type = a->dtype, .b_type = b->dtype, .out = t->out};
}

static unsigned matmul_copies(const struct graph *g, const struct node *n, enum dtype *to)
{
    struct k_matmul p = stored_matmul(g, n);
    const enum dtype narrow = p.a_type == F32 ? p.b_type : p.a_type;
    if (narrow == F32 || !cuda_blas_is_large(&p)) return 0;
    *to = narrow;
    return (p.a_type == F32 ? 1u << 0 : p.b_type == F32 ? 1u << 1 : 0) | (p.out == narrow ? 1u << 3 : 0);
}

// As the kernel reads it: with the types of copies.
static struct k_matmul matmul_of(const struct graph *g, const struct node *n)
{
    struct k_matmul p = stored_matmul(g, n);
    enum dtype to;
    if (matmul_copies(g, n, &to)) p.a_type = p.b_type = to;
    return p;
}

static int matmul_supports(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const struct value *in[2] = {node_in(g, n, 0), node_in(g, n, 1)};
    for (int i = 0; i < 2; i++)
        for (int d = in[i]->shape.rank - 2; d < in[i]->shape.rank; d++)
            if (in[i]->shape.dim[d] > INT32_MAX - 4096)
                return fail(ERR_UNSUPPORTED, "a matrix with %lld rows or columns is too large",
                            (long long)in[i]->shape.dim[d]);
    if (in[0]->dtype != in[1]->dtype && in[0]->dtype != F32 && in[1]->dtype != F32)
        return fail(ERR_UNSUPPORTED, "a product of %s and %s is not supported", dtype_name(in[0]->dtype),
                    dtype_name(in[1]->dtype));
    return 0;
}

static size_t matmul_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    struct k_matmul p = matmul_of(g, n);
    size_t own = k_matmul_work(&p);
    return cuda_blas_takes(cuda, &p) && own < CUDA_BLAS_WORK ? (size_t)CUDA_BLAS_WORK : own;
}

static int matmul_prepare(struct cuda_step *s)
{
    struct k_matmul p = matmul_of(s->graph, s->node);
    if (!s->out[0]) return 0;
    p.a = cuda_weight(s, 0, p.a_type), p.b = cuda_weight(s, 1, p.b_type), p.c = s->in[2], p.y = s->out[0], p.work = s->work;
    p.bias = s->in[3];
    enum dtype to;
    const bool copied = matmul_copies(s->graph, s->node, &to) >> 3;
    if (cuda_blas_takes(s->cuda, &p) && (!p.bias || copied || p.out == F32)) {
        int rc = cuda_blas_prepare(s, &p, copied ? cuda_weight(s, 3, to) : p.bias);
        if (rc != ERR_UNSUPPORTED) return rc;
    }
    s->launch = k_matmul;
    s->args = memcpy(arena_alloc(s->arena, sizeof p), &p, sizeof p);
    return 0;
}

const struct cuda_op cuda_matmul = {.prepare = matmul_prepare, .workspace = matmul_workspace, .supports = matmul_supports,
                                   .copies = matmul_copies};
