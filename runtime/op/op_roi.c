// SPDX-License-Identifier: Apache-2.0
// ROIAlign: boxes cut from a pyramid of features, or masks cut from pictures.
#include "runtime/op/op.h"

enum { FIRST = 2 };  // input of the first level

static int check_attr(struct graph *g, const struct roi_attr *a, const struct value *boxes)
{
    NEED(boxes->dtype == F32 && boxes->shape.rank == 3 && boxes->shape.dim[2] == 4, g, "roi_align requires f32 boxes[B,R,4]");
    NEED(a->levels >= 1 && a->levels <= ROI_LEVELS, g, "roi_align requires 1 to %d levels", ROI_LEVELS);
    NEED(a->bins >= 1 && a->bins <= 64 && a->sampling >= 0 && a->sampling <= 64, g,
         "roi_align requires 1 to 64 bins and at most 64 samples of each along an axis");
    for (int l = 0; l < a->levels; l++) NEED(a->scale[l] > 0, g, "roi_align requires a scale above 0 for each level");
    NEED(a->levels == 1 || a->side > 0, g, "roi_align on several levels requires the side of the second");
    return 0;
}

int op_roi_align_infer(struct graph *g, struct node *n)
{
    const struct value *boxes = op_in(g, n, 0), *rows = op_in(g, n, 1), *x = op_in(g, n, FIRST);
    const struct roi_attr *a = &n->attr.roi;
    TRY(check_attr(g, a, boxes));
    const int64_t *d = boxes->shape.dim;
    NEED(!rows || (rows->dtype == I32 && shape_count(&rows->shape) == d[0] * d[1]), g,
         "roi_align requires one i32 per box as rows");
    for (int l = 0; l < ROI_LEVELS; l++) {
        const struct value *at = op_in(g, n, FIRST + l);
        NEED((at != NULL) == (l < a->levels), g, "roi_align of %d levels has another number of inputs", a->levels);
        if (!at) continue;
        NEED(at->shape.rank == 4 && (dtype_is_float(at->dtype) || at->dtype == U8) && at->dtype == x->dtype &&
                 at->shape.dim[0] == x->shape.dim[0] && at->shape.dim[3] == x->shape.dim[3], g,
             "roi_align requires levels x[N,H,W,C] of one type, N and C");
        NEED(rows || at->shape.dim[0] == d[0], g, "roi_align requires as many pictures as rows of boxes, or rows");
    }
    enum dtype to = x->dtype == U8 ? F32 : x->dtype;
    op_out(g, n, 0, SHAPE(d[0], d[1], a->bins, a->bins, x->shape.dim[3]), to);
    return 0;
}

int op_roi_align_grad(struct graph *g, const struct node *n, const int *dy, int *dx)
{
    NEED(n->in[1] == NONE, g, "roi_align on rows of boxes' own has no gradient");
    union attr a = n->attr;
    for (int l = 0; l < a.roi.levels; l++) {
        const int64_t *d = g->value[n->in[FIRST + l]].shape.dim;
        a.roi.h[l] = d[1], a.roi.w[l] = d[2];
    }
    int out[MAX_OUT];
    graph_node(g, OP_ROI_ALIGN_GRAD, (int[]){n->in[0], dy[0]}, 2, &a, out);
    for (int l = 0; l < a.roi.levels; l++) dx[FIRST + l] = out[l];
    return g->error;
}

int op_roi_align_grad_infer(struct graph *g, struct node *n)
{
    const struct value *boxes = op_in(g, n, 0), *dy = op_in(g, n, 1);
    const struct roi_attr *a = &n->attr.roi;
    TRY(check_attr(g, a, boxes));
    const int64_t *d = boxes->shape.dim;
    NEED(dy && dtype_is_float(dy->dtype) && dy->shape.rank == 5 && dy->shape.dim[0] == d[0] && dy->shape.dim[1] == d[1] &&
             dy->shape.dim[2] == a->bins && dy->shape.dim[3] == a->bins, g, "roi_align_grad requires dy[B,R,bins,bins,C]");
    for (int l = 0; l < ROI_LEVELS; l++) {
        if (l < a->levels) op_out(g, n, l, SHAPE(d[0], a->h[l], a->w[l], dy->shape.dim[4]), dy->dtype);
        else op_drop(n, l);
    }
    return 0;
}

NO_GRAD(roi_align_grad)

// Four pixels a sample; of the adaptive number at least one.
static double roi_flops(const struct graph *g, const struct node *n, int y)
{
    double each = n->attr.roi.sampling ? n->attr.roi.sampling * n->attr.roi.sampling : 1;
    return 8.0 * each * (double)shape_count(&g->value[y].shape);
}

double op_roi_align_flops(const struct graph *g, const struct node *n) { return roi_flops(g, n, n->out[0]); }
double op_roi_align_grad_flops(const struct graph *g, const struct node *n) { return roi_flops(g, n, n->in[1]); }

int g_roi_align(struct graph *g, int boxes, int rows, const int x[], const struct roi_attr *a)
{
    int in[FIRST + ROI_LEVELS] = {boxes, rows};
    for (int l = 0; l < ROI_LEVELS; l++) in[FIRST + l] = l < a->levels ? x[l] : NONE;
    return graph_node(g, OP_ROI_ALIGN, in, FIRST + ROI_LEVELS, &(union attr){.roi = *a}, NULL);
}
