// SPDX-License-Identifier: Apache-2.0
// Boxes in fixed numbers: coded and decoded, suppressed, matched with the truth, drawn for the loss, and slices by class. Boxes
// are constants to a gradient, as torchvision detaches them.
#include "runtime/op/op.h"

#include <math.h>

static bool are_boxes(const struct value *v, int64_t batch, int64_t count)  // batch 0, count 0: any
{
    const struct shape *s = &v->shape;
    if (v->dtype != F32 || s->rank < 2 || s->rank > 3 || s->dim[s->rank - 1] != 4) return false;
    return (!batch || s->rank == 2 || s->dim[0] == batch) && (!count || s->dim[s->rank - 2] == count);
}

// ---- codes

int op_boxes_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, 0), *anchors = op_in(g, n, 1), *sizes = op_in(g, n, 2);
    const struct boxes_attr *a = &n->attr.boxes;
    const int64_t *d = x->shape.dim;
    NEED(x->shape.rank == 3 && d[2] >= 4 && d[2] % 4 == 0 && dtype_is_float(x->dtype), g, "boxes requires codes[B,N,4K]");
    NEED(anchors && are_boxes(anchors, d[0], d[1]), g, "boxes requires f32 anchors[N,4] or [B,N,4]");
    NEED(!sizes || (sizes->dtype == F32 && shape_count(&sizes->shape) == 2 * d[0]), g, "boxes requires f32 sizes[B,2]");
    NEED(!a->encode || (are_boxes(x, 0, 0) && !sizes), g, "boxes encodes f32 boxes[B,N,4], without sizes");
    NEED(a->weight[0] > 0 && a->weight[1] > 0, g, "boxes requires weights above 0");
    op_out(g, n, 0, x->shape, F32);
    op_constant(g, n, 0);
    return 0;
}

NO_GRAD(boxes)
FLOPS_EACH(boxes, 8)

static int coded(struct graph *g, const int in[3], bool encode, const float weight[2])
{
    return graph_node(g, OP_BOXES, in, 3, &(union attr){.boxes = {encode, {weight[0], weight[1]}}}, NULL);
}

int g_boxes_decode(struct graph *g, int codes, int anchors, int sizes, const float weight[2])
{
    return coded(g, (int[]){codes, anchors, sizes}, false, weight);
}

int g_boxes_encode(struct graph *g, int boxes, int anchors, const float weight[2])
{
    return coded(g, (int[]){boxes, anchors, NONE}, true, weight);
}

// ---- non-maximum suppression

int op_nms_infer(struct graph *g, struct node *n)
{
    const struct value *boxes = op_in(g, n, 0), *scores = op_in(g, n, 1), *classes = op_in(g, n, 2);
    const int64_t *d = boxes->shape.dim;
    NEED(are_boxes(boxes, 0, 0) && boxes->shape.rank == 3, g, "nms requires f32 boxes[B,N,4]");
    NEED(scores && scores->dtype == F32 && shape_count(&scores->shape) == d[0] * d[1], g, "nms requires one f32 score per box");
    NEED(!classes || (classes->dtype == I32 &&
                      (shape_count(&classes->shape) == d[1] || shape_count(&classes->shape) == d[0] * d[1])),
         g, "nms requires i32 classes[N] or [B,N]");
    int64_t k = n->attr.nms.k;
    NEED(k >= 1 && k <= d[1] && d[0] * d[1] <= INT32_MAX / 4, g, "nms keeps 1 to N of at most 2^29 boxes, not %lld",
         (long long)k);
    NEED(n->attr.nms.iou >= 0, g, "nms requires a threshold of 0 or more");
    op_out(g, n, 0, SHAPE(d[0], k, 4), F32);
    op_out(g, n, 1, SHAPE(d[0], k), F32);
    op_constant(g, n, 0), op_constant(g, n, 1);
    op_out(g, n, 2, SHAPE(d[0], k), I32);
    op_out(g, n, 3, SHAPE(d[0]), I32);
    return 0;
}

NO_GRAD(nms)

// Each candidate is compared with the kept ones, 16 operations each: at most.
double op_nms_flops(const struct graph *g, const struct node *n)
{
    return 16.0 * (double)n->attr.nms.k * (double)shape_count(&g->value[n->in[1]].shape);
}

struct nms_kept g_nms(struct graph *g, const struct nms *o)
{
    float iou = (float)o->iou;
    if ((double)iou > o->iou) iou = nextafterf(iou, -INFINITY);
    int out[MAX_OUT];
    union attr a = {.nms = {.k = o->k, .iou = iou, .score = o->score, .side = o->side}};
    graph_node(g, OP_NMS, (int[]){o->boxes, o->scores, o->classes}, 3, &a, out);
    return (struct nms_kept){out[0], out[1], out[2], out[3]};
}

// ---- matching and drawing

int op_match_infer(struct graph *g, struct node *n)
{
    const struct value *boxes = op_in(g, n, 0), *truth = op_in(g, n, 1), *classes = op_in(g, n, 2);
    NEED(truth && are_boxes(truth, 0, 0) && truth->shape.rank == 3, g, "match requires f32 truth[B,G,4]");
    int64_t batch = truth->shape.dim[0], count = truth->shape.dim[1];
    NEED(are_boxes(boxes, batch, 0), g, "match requires f32 boxes[N,4] or [B,N,4]");
    NEED(!classes || (classes->dtype == I32 && shape_count(&classes->shape) == batch * count), g,
         "match requires one i32 class per truth");
    NEED(n->attr.match.low <= n->attr.match.high && batch * count <= INT32_MAX, g,
         "match requires low <= high, and 2^31 truths at most");
    struct shape y = SHAPE(batch, boxes->shape.dim[boxes->shape.rank - 2]);
    op_out(g, n, 0, y, I32);
    op_out(g, n, 1, y, I32);
    return 0;
}

NO_GRAD(match)

double op_match_flops(const struct graph *g, const struct node *n)
{
    const int64_t *truth = g->value[n->in[1]].shape.dim;
    return 16.0 * (double)shape_count(&g->value[n->out[0]].shape) * (double)truth[1] * (n->attr.match.rescue ? 2 : 1);
}

int g_match(struct graph *g, int boxes, int truth, int classes, const struct match_attr *a, int *at)
{
    int out[MAX_OUT];
    graph_node(g, OP_MATCH, (int[]){boxes, truth, classes}, 3, &(union attr){.match = *a}, out);
    if (at) *at = out[1];
    return out[0];
}

int op_sample_infer(struct graph *g, struct node *n)
{
    const struct value *labels = op_in(g, n, 0), *random = op_in(g, n, 1);
    const struct sample_attr *a = &n->attr.sample;
    NEED(labels->dtype == I32 && labels->shape.rank == 2 && random && random->dtype == F32 &&
             shape_equal(&labels->shape, &random->shape), g, "sample requires i32 labels[B,N] and f32 random numbers alike");
    NEED(a->k >= 1 && a->positive >= 0 && a->positive <= a->k && shape_count(&labels->shape) <= INT32_MAX, g,
         "sample draws one or more boxes, %lld of them positive, not %lld", (long long)a->positive, (long long)a->k);
    struct shape y = SHAPE(labels->shape.dim[0], a->k);
    op_out(g, n, 0, y, I32);
    op_out(g, n, 1, y, I32);
    op_out(g, n, 2, y, F32);
    op_constant(g, n, 2);
    return 0;
}

NO_GRAD(sample)
FLOPS_EACH(sample, 1)

struct sampled g_sample(struct graph *g, int labels, int random, const struct sample_attr *a)
{
    int out[MAX_OUT];
    graph_node(g, OP_SAMPLE, (int[]){labels, random}, 2, &(union attr){.sample = *a}, out);
    return (struct sampled){out[0], out[1], out[2]};
}

// ---- slices by class

int op_class_slice_infer(struct graph *g, struct node *n)
{
    const struct value *x = op_in(g, n, 0), *index = op_in(g, n, 1);
    int axis = n->attr.move.axis;
    NEED(index && index->dtype == I32 && axis >= index->shape.rank && axis < x->shape.rank, g,
         "class_slice requires an i32 index of the leading dimensions before its axis");
    for (int i = 0; i < index->shape.rank; i++)
        NEED(index->shape.dim[i] == x->shape.dim[i], g, "class_slice requires an index of the leading dimensions of x");
    struct shape y = x->shape;
    for (int i = axis; i + 1 < y.rank; i++) y.dim[i] = y.dim[i + 1];
    y.rank--;
    op_out(g, n, 0, y, x->dtype);
    return 0;
}

int op_class_slice_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    union attr a = {.move = {.shape = g->value[n->in[0]].shape, .axis = n->attr.move.axis}};
    dx[0] = graph_node(g, OP_CLASS_SLICE_GRAD, (int[]){n->in[1], dy[0]}, 2, &a, NULL);
    return g->error;
}

int op_class_slice_grad_infer(struct graph *g, struct node *n)
{
    const struct value *index = op_in(g, n, 0), *dy = op_in(g, n, 1);
    const struct move_attr *a = &n->attr.move;
    NEED(index->dtype == I32 && dy && a->axis >= index->shape.rank && a->axis < a->shape.rank &&
             shape_count(&dy->shape) * a->shape.dim[a->axis] == shape_count(&a->shape), g,
         "class_slice_grad requires an index and dy");
    op_out(g, n, 0, a->shape, dy->dtype);
    return 0;
}

NO_GRAD(class_slice_grad)
FLOPS_EACH(class_slice, 0)
FLOPS_EACH(class_slice_grad, 0)

int g_class_slice(struct graph *g, int x, int index, int axis)
{
    return graph_node(g, OP_CLASS_SLICE, (int[]){x, index}, 2, &(union attr){.move = {.axis = axis}}, NULL);
}
