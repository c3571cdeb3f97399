// SPDX-License-Identifier: Apache-2.0
// Boxes in fixed numbers: arguments and scratch of k_boxes.cu.
#include "runtime/cuda/cuda.h"
#include "runtime/cuda/kernels/k_boxes.h"

static int boxes_prepare(struct cuda_step *s)
{
    const struct value *x = cuda_in(s, 0);
    const int64_t *d = x->shape.dim;
    if (s->out[0])
        CUDA_LAUNCH(s, k_boxes, .x = s->in[0], .anchors = s->in[1], .sizes = s->in[2], .y = s->out[0], .type = x->dtype,
                    .count = d[0] * d[1], .n = d[1], .each = d[2] / 4, .shared = cuda_in(s, 1)->shape.rank == 2,
                    .attr = s->node->attr.boxes);
    return 0;
}

static size_t sorted_bytes(const struct graph *g, const struct node *n)
{
    const int64_t *d = node_in(g, n, 0)->shape.dim;
    return (size_t)(d[0] * k_sort_capacity(d[1])) * sizeof(uint64_t);
}

static size_t nms_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    return sorted_bytes(g, n) + (size_t)(node_in(g, n, 0)->shape.dim[0] * n->attr.nms.k) * sizeof(int32_t);
}

static int nms_prepare(struct cuda_step *s)
{
    const int64_t *d = cuda_in(s, 0)->shape.dim;
    CUDA_LAUNCH(s, k_nms, .boxes = s->in[0], .scores = s->in[1], .classes = s->in[2], .to_boxes = s->out[0],
                .to_scores = s->out[1], .at = s->out[2], .count = s->out[3], .sorted = s->work,
                .kept = (int32_t *)((char *)s->work + sorted_bytes(s->graph, s->node)), .batch = d[0], .n = d[1],
                .shared = s->in[2] && cuda_count(cuda_in(s, 2)) == d[1], .attr = s->node->attr.nms);
    return 0;
}

static size_t match_workspace(struct cuda_device *cuda, const struct graph *g, const struct node *n)
{
    (void)cuda;
    const int64_t *truth = node_in(g, n, 1)->shape.dim;
    return n->attr.match.rescue ? (size_t)(truth[0] * truth[1]) * sizeof(float) : 0;
}

static int match_prepare(struct cuda_step *s)
{
    const int64_t *truth = cuda_in(s, 1)->shape.dim;
    const struct shape *boxes = &cuda_in(s, 0)->shape;
    CUDA_LAUNCH(s, k_match, .boxes = s->in[0], .truth = s->in[1], .classes = s->in[2], .labels = s->out[0], .at = s->out[1],
                .best = s->work, .batch = truth[0], .n = boxes->dim[boxes->rank - 2], .truths = truth[1],
                .shared = boxes->rank == 2, .attr = s->node->attr.match);
    return 0;
}

static int sample_prepare(struct cuda_step *s)
{
    const int64_t *d = cuda_in(s, 0)->shape.dim;
    CUDA_LAUNCH(s, k_sample, .labels = s->in[0], .random = s->in[1], .at = s->out[0], .to_labels = s->out[1],
                .positive = s->out[2], .batch = d[0], .n = d[1], .attr = s->node->attr.sample);
    return 0;
}

// x: the shape with the classes; `of`: the input that holds the index.
static void launch_slices(struct cuda_step *s, const struct shape *x, int of, bool back)
{
    int axis = s->node->attr.move.axis;
    int64_t above = 1, below = 1;
    if (!s->out[0]) return;
    for (int i = cuda_in(s, of)->shape.rank; i < axis; i++) above *= x->dim[i];
    for (int i = axis + 1; i < x->rank; i++) below *= x->dim[i];
    CUDA_LAUNCH(s, k_class_slice, .from = s->in[1 - of], .index = s->in[of], .to = s->out[0], .count = cuda_count(cuda_out(s, 0)),
                .above = above, .classes = x->dim[axis], .below = below, .size = (int)dtype_size(cuda_out(s, 0)->dtype),
                .back = back);
}

static int slice_prepare(struct cuda_step *s)
{
    launch_slices(s, &cuda_in(s, 0)->shape, 1, false);
    return 0;
}

static int slice_grad_prepare(struct cuda_step *s)
{
    launch_slices(s, &s->node->attr.move.shape, 0, true);
    return 0;
}

const struct cuda_op cuda_boxes = {.prepare = boxes_prepare};
const struct cuda_op cuda_nms = {.prepare = nms_prepare, .workspace = nms_workspace};
const struct cuda_op cuda_match = {.prepare = match_prepare, .workspace = match_workspace};
const struct cuda_op cuda_sample = {.prepare = sample_prepare};
const struct cuda_op cuda_class_slice = {.prepare = slice_prepare};
const struct cuda_op cuda_class_slice_grad = {.prepare = slice_grad_prepare};
