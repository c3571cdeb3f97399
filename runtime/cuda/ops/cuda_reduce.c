// SPDX-License-Identifier: Apache-2.0
// Sums and means over any dimensions, and their gradients. Adjacent dimensions are merged first, so that kept and summed
// dimensions alternate. The result is nearly always columns (the last dimension kept) or runs (the last one summed).
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_reduce.h"

// Dimensions and strides of the large tensor, outermost first; `added` marks those that are summed or repeated.
struct merged {
    int rank;
    int64_t dim[MAX_RANK], stride[MAX_RANK];
    bool added[MAX_RANK];
};

static struct merged merge_dims(const struct shape *x, unsigned axes)
{
    struct merged m = {0};
    for (int i = 0; i < x->rank; i++) {
        if (x->dim[i] == 1) continue;
        bool now = axes >> i & 1;
        if (m.rank && m.added[m.rank - 1] == now)
            m.dim[m.rank - 1] *= x->dim[i];
        else
            m.dim[m.rank] = x->dim[i], m.added[m.rank++] = now;
    }
    if (!m.rank) m.dim[m.rank++] = 1;
    int64_t run = 1;
    for (int i = m.rank - 1; i >= 0; i--) m.stride[i] = run, run *= m.dim[i];
    return m;
}

enum reduction { COLUMNS, RUNS, ANY };

// COLUMNS is x[batch, rows, columns] and RUNS is x[batch, rows], both summed over rows; ANY is everything else. Batches of a
// few short rows are ANY, because they would leave most of a block idle.
static enum reduction kind_of(const struct merged *m, int64_t *batch, int64_t *rows, int64_t *columns)
{
    int last = m->rank - 1;
    *batch = *rows = *columns = 1;
    if (m->added[last]) {
        if (m->rank > 2) return ANY;
        *rows = m->dim[last];
        if (m->rank == 2) *batch = m->dim[0];
        return *rows < 256 && *batch > 1 ? ANY : RUNS;
    }
    if (m->rank > 3) return ANY;
    *columns = m->dim[last];
    if (m->rank > 1) *rows = m->dim[last - 1];
    if (m->rank > 2) *batch = m->dim[0];
    return *batch > 1 && *rows < 32 && *columns < 64 ? ANY : COLUMNS;
}

// Length of the parts of a run that separate blocks sum: at least 16 rounds of a block, in whole vectors.
static int64_t part_of_run(int64_t batch, int64_t length)
{
    int64_t part = k_divide_up(length, k_chunks(batch, k_divide_up(length, 256 * 16)));
    return (part + 7) & ~(int64_t)7;
}

static void split_dims(const struct merged *m, struct k_dims *kept, struct k_dims *added)
{
    for (int i = 0; i < m->rank; i++) {
        struct k_dims *to = m->added[i] ? added : kept;
        to->dim[to->rank] = m->dim[i], to->stride[to->rank++] = m->stride[i];
    }
}

static int reduce_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0), *y = cuda_out(s, 0);
    if (!s->out[0]) return 0;
    struct merged m = merge_dims(&x->shape, s->node->attr.move.axes);
    int64_t batch, rows, columns, all = cuda_count(x), results = cuda_count(y);
    float factor = s->node->attr.move.mean ? (float)((double)results / (double)all) : 1.0f;
    enum reduction kind = kind_of(&m, &batch, &rows, &columns);
    if (kind == COLUMNS) {
        CUDA_LAUNCH(s, k_reduce_columns, .x = s->in[0], .y = s->out[0], .partial = s->work, .from = x->dtype,
                    .to = y->dtype, .factor = factor, .of = k_columns_of(x->dtype, batch, rows, columns));
    } else if (kind == RUNS) {
        int64_t part = part_of_run(batch, rows);
        CUDA_LAUNCH(s, k_reduce_runs, .x = s->in[0], .y = s->out[0], .partial = s->work, .from = x->dtype,
                    .to = y->dtype, .factor = factor, .batch = batch, .length = rows, .chunk_length = part,
                    .chunks = k_divide_up(rows, part));
    } else {
        struct k_dims kept = {0}, added = {0};
        split_dims(&m, &kept, &added);
        CUDA_LAUNCH(s, k_reduce_any, .x = s->in[0], .y = s->out[0], .from = x->dtype, .to = y->dtype,
                    .factor = factor, .results = results, .terms = all / results, .kept = k_dims_ready(kept),
                    .added = k_dims_ready(added));
    }
    return 0;
}

static size_t reduce_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const struct value *x = node_in(g, n, 0);
    struct merged m = merge_dims(&x->shape, n->attr.move.axes);
    int64_t batch, rows, columns;
    switch (kind_of(&m, &batch, &rows, &columns)) {
    case COLUMNS: return k_columns_bytes(k_columns_of(x->dtype, batch, rows, columns));
    case RUNS: return (size_t)(batch * k_divide_up(rows, part_of_run(batch, rows))) * sizeof(float);
    case ANY: break;
    }
    return 0;
}

static int broadcast_prepare(struct cuda_step *s)
{
    const struct value *y = cuda_out(s, 0);
    if (!s->out[0]) return 0;
    struct merged m = merge_dims(&y->shape, s->node->attr.move.axes);
    struct k_dims of = {.rank = m.rank};
    int64_t run = 1;
    for (int i = m.rank - 1; i >= 0; i--) {
        of.dim[i] = m.dim[i];
        if (!m.added[i]) of.stride[i] = run, run *= m.dim[i];
    }
    CUDA_LAUNCH(s, k_broadcast, .x = s->in[0], .y = s->out[0], .type = y->dtype, .factor = s->node->attr.move.factor,
                .count = cuda_count(y), .inner = m.dim[m.rank - 1], .repeated = m.added[m.rank - 1], .of = k_dims_ready(of));
    return 0;
}

const struct cuda_op cuda_reduce = {.prepare = reduce_prepare, .workspace = reduce_workspace};
const struct cuda_op cuda_broadcast = {.prepare = broadcast_prepare};
