// SPDX-License-Identifier: Apache-2.0
// Matrix products through oneDNN. An f32 operand of a product with a 16-bit one is rounded first, in scratch of the plan. c is
// copied to y and added by the kernel, so the product writes every result once.
#include "runtime/common/base/arena.h"
#include "runtime/common/base/threads.h"
#include "runtime/cpu/product/dnnl_prim.h"
#include "runtime/cpu/product/widen.h"

#include <stdlib.h>

struct matmul_plan {
    struct dnnl_prim main, copy[2];  // copy[i]: rounds operand i to 16 bits or gives it longer rows, if needed
    bool copies[2];
    struct widen widen;              // of f16
    size_t copy_at[2], scratch_at, widened_at, bytes;
};

static void matmul_plan_end(struct matmul_plan *p)
{
    dnnl_prim_end(&p->main);
    for (int i = 0; i < 2; i++) dnnl_prim_end(&p->copy[i]);
}

// The array as stored, viewed as op(array) if `transpose`.
static struct dnnl_array array_of(const struct value *v, bool transpose)
{
    struct dnnl_array a = {.dtype = widen_type(v->dtype), .rank = v->shape.rank};
    for (int i = a.rank - 1; i >= 0; i--) {
        a.dim[i] = v->shape.dim[i];
        a.stride[i] = i == a.rank - 1 ? 1 : a.stride[i + 1] * a.dim[i + 1];
    }
    if (transpose) {
        int r = a.rank - 2, c = a.rank - 1;
        int64_t dim = a.dim[r], stride = a.stride[r];
        a.dim[r] = a.dim[c], a.stride[r] = a.stride[c];
        a.dim[c] = dim, a.stride[c] = stride;
    }
    return a;
}

// oneDNN's kernels below AVX-512 for products with less than FEW rows or columns reach half of their rate if they go through the
// other operand in steps of 4 KB: these numbers share a set of the L1 cache. So it is copied with longer rows first
// (docs/performance.md: Rows of 4 KB).
enum { STEP = 1024, FEW = 384, LONGER = 16 };

// Gives operand i longer rows if it is such a one; returns the numbers that this adds.
static int64_t lengthen_rows(struct dnnl_array operand[2], int i)
{
    struct dnnl_array *a = &operand[i];
    const struct dnnl_array *other = &operand[1 - i];
    const int row = a->rank - 2, depth = row + (i == 0), side = row + (i == 1);  // depth: the dimension that is summed over
    const int64_t step = a->stride[depth];
    int64_t rows = 1;
    if (a->dtype != F32 || other->dtype != F32 || a->stride[side] != 1 || step % STEP || other->dim[depth] >= FEW) return 0;
    if (dnnl_prim_has_avx512()) return 0;
    for (int d = 0; d < a->rank; d++)
        if (d != side) rows *= a->dim[d], a->stride[d] += a->stride[d] / step * LONGER;
    return rows * LONGER;
}

static int plan_parts(struct cpu_device *cpu, const struct graph *g, const struct node *n, struct matmul_plan *p)
{
    const struct matmul_attr *attr = &n->attr.matmul;
    const struct value *in[2] = {node_in(g, n, 0), node_in(g, n, 1)};
    bool transpose[2] = {attr->ta, attr->tb};
    struct dnnl_array operand[2], y = array_of(node_out(g, n, 0), false);
    enum dtype narrow = widen_type(in[0]->dtype == F32 ? in[1]->dtype : in[0]->dtype);
    widen_plan(&p->widen, g, n);
    size_t scratch = 0;
    for (int i = 0; i < 2; i++) operand[i] = array_of(in[i], transpose[i]);
    for (int i = 0; i < 2; i++) {
        const struct dnnl_array from = operand[i];
        const int64_t more = lengthen_rows(operand, i);
        p->copies[i] = from.dtype != narrow || more;
        if (!p->copies[i]) continue;
        operand[i].dtype = narrow;
        TRY(dnnl_prim_copy(cpu, &p->copy[i], &from, &operand[i]));
        p->copy_at[i] = p->scratch_at;
        p->scratch_at += plan_round_up((size_t)(shape_count(&in[i]->shape) + more) * dtype_size(narrow));
        if (p->copy[i].scratch > scratch) scratch = p->copy[i].scratch;
    }
    const struct dnnl_adding adding = {attr->alpha, n->in[2] == NONE ? 0.0f : attr->beta, n->in[3] != NONE};
    TRY(dnnl_prim_matmul(cpu, &p->main, &operand[0], &operand[1], &y, adding));
    if (p->main.scratch > scratch) scratch = p->main.scratch;
    p->widened_at = p->scratch_at + plan_round_up(scratch);
    p->bytes = p->widened_at + p->widen.bytes;
    return 0;
}

static int matmul_plan_new(struct cpu_device *cpu, const struct graph *g, const struct node *n, struct matmul_plan *p)
{
    memset(p, 0, sizeof *p);
    int rc = plan_parts(cpu, g, n, p);
    if (rc < 0) matmul_plan_end(p);
    return rc;
}

static int matmul_supports(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct matmul_plan p;
    TRY(matmul_plan_new(cpu, g, n, &p));
    matmul_plan_end(&p);
    return 0;
}

static size_t matmul_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    struct matmul_plan p;
    if (matmul_plan_new(cpu, g, n, &p) < 0) return 0;  // prepare fails with the same error
    matmul_plan_end(&p);
    return p.bytes;
}

static int matmul_run(struct cpu_step *step)
{
    struct matmul_plan *p = step->own;
    const struct value *y = node_out(step->graph, step->node, 0);
    widen_operands(&p->widen, step);
    for (int i = 0; i < 2; i++)
        if (p->copies[i]) TRY(dnnl_prim_run(step->cpu, &p->copy[i]));
    if (step->in[2] && step->in[2] != step->out[0] && step->node->attr.matmul.beta != 0.0f)
        threads_copy(step->out[0], step->in[2], (size_t)shape_count(&y->shape) * dtype_size(widen_type(y->dtype)), 1 << 18);
    TRY(dnnl_prim_run(step->cpu, &p->main));
    widen_results(&p->widen, step);
    return 0;
}

static void matmul_release(struct cpu_step *step)
{
    matmul_plan_end(step->own);
    free(step->own);
    step->own = NULL;
}

static int matmul_bind(struct cpu_step *step, struct matmul_plan *p)
{
    struct cpu_device *cpu = step->cpu;
    char *work = step->work;
    void *scratch = work + p->scratch_at;
    for (int i = 0; i < 2; i++) {
        void *from = step->in[i];
        if (p->copies[i]) {
            void *to = work + p->copy_at[i];
            TRY(dnnl_prim_bind(cpu, &p->copy[i], DNNL_ARG_FROM, from));
            TRY(dnnl_prim_bind(cpu, &p->copy[i], DNNL_ARG_TO, to));
            if (p->copy[i].scratch) TRY(dnnl_prim_bind(cpu, &p->copy[i], DNNL_ARG_SCRATCHPAD, scratch));
            TRY(dnnl_prim_build(&p->copy[i]));
            from = to;
        }
        TRY(dnnl_prim_bind(cpu, &p->main, i ? DNNL_ARG_WEIGHTS : DNNL_ARG_SRC, from));
    }
    if (step->in[3]) TRY(dnnl_prim_bind(cpu, &p->main, DNNL_ARG_BIAS, step->in[3]));
    if (p->main.scratch) TRY(dnnl_prim_bind(cpu, &p->main, DNNL_ARG_SCRATCHPAD, scratch));
    TRY(dnnl_prim_bind(cpu, &p->main, DNNL_ARG_DST, step->out[0]));
    return dnnl_prim_build(&p->main);
}

static int matmul_prepare(struct cpu_step *step)
{
    struct matmul_plan *p = zalloc(sizeof *p);
    int rc = matmul_plan_new(step->cpu, step->graph, step->node, p);
    if (rc < 0) {
        free(p);
        return rc;
    }
    BUG_IF(p->bytes > step->work_bytes);
    step->own = p;
    step->release = matmul_release;
    step->run = matmul_run;
    widen_bind(&p->widen, step, p->widened_at);
    return matmul_bind(step, p);
}

const struct cpu_op cpu_matmul = {matmul_supports, matmul_workspace, matmul_prepare, NULL};
