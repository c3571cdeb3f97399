// SPDX-License-Identifier: Apache-2.0
// ROIAlign. Forward, a bin is the sum of the pixels that its samples read, each pixel once. Backward, a thread owns rows of dx
// and adds the bins that read them in the order of the boxes, so the sums are the same for any number of threads. Cost: the
// pixels of each bin are read or written once per bin; backward looks at every box once per row.
#include "runtime/boxes.h"
#include "runtime/cpu/cpu_work.h"

// The positions along an axis that the samples of a bin read, in rising order, and their weights.
struct roi_taps {
    int count, at[2 * ROI_GRID];
    float weight[2 * ROI_GRID];
};

static void add_tap(struct roi_taps *t, int at, float weight)
{
    for (int i = t->count - 1; i >= 0 && i >= t->count - 2; i--)
        if (t->at[i] == at) {
            t->weight[i] += weight;
            return;
        }
    t->at[t->count] = at, t->weight[t->count++] = weight;
}

static void find_taps(const struct roi_axis *axis, int bin, int size, struct roi_taps *t)
{
    float share = 1.0f / (float)axis->grid;
    t->count = 0;
    for (int i = 0; i < axis->grid; i++) {
        int at;
        float high = roi_sample(axis, bin, i, size, &at);
        if (at < 0) continue;
        add_tap(t, at, (1.0f - high) * share);
        if (high > 0.0f) add_tap(t, at + 1, high * share);
    }
}

static void axes_of(const struct roi_attr *a, const float *box, int level, struct roi_axis *y, struct roi_axis *x)
{
    *y = roi_axis(box[1], box[3], a->scale[level], a->aligned, a->bins, a->sampling);
    *x = roi_axis(box[0], box[2], a->scale[level], a->aligned, a->bins, a->sampling);
}

// ---- forward

static void add_pixel(const struct cpu_step *s, enum dtype t, const void *x, int64_t c, float weight, float *acc)
{
    if (t != U8) {
        s->cpu->loops->add_scaled(t, x, c, weight, acc);
        return;
    }
    for (int64_t i = 0; i < c; i++) acc[i] += weight * (float)((const uint8_t *)x)[i];
}

static void align_box(const struct cpu_step *s, const float *box, int64_t image, int64_t r, float *acc)
{
    const struct roi_attr *a = &s->node->attr.roi;
    int level = roi_level(box, a->side, a->levels);
    const struct value *x = cpu_in(s, 2 + level);
    enum dtype t = x->dtype, to = cpu_out(s, 0)->dtype;
    int64_t h = x->shape.dim[1], w = x->shape.dim[2], c = x->shape.dim[3];
    const void *picture = cpu_at(t, s->in[2 + level], image * h * w * c);
    struct roi_axis down, across;
    struct roi_taps rows, columns;
    axes_of(a, box, level, &down, &across);
    for (int p = 0; p < a->bins; p++) {
        find_taps(&down, p, (int)h, &rows);
        for (int q = 0; q < a->bins; q++) {
            find_taps(&across, q, (int)w, &columns);
            memset(acc, 0, (size_t)c * sizeof *acc);
            for (int i = 0; i < rows.count; i++)
                for (int j = 0; j < columns.count; j++)
                    add_pixel(s, t, cpu_at(t, picture, (rows.at[i] * w + columns.at[j]) * c), c,
                              rows.weight[i] * columns.weight[j], acc);
            s->cpu->loops->narrow(to, acc, cpu_at(to, s->out[0], ((r * a->bins + p) * a->bins + q) * c), c);
        }
    }
}

static size_t channel_scratch(int64_t channels)
{
    return ((size_t)channels * sizeof(float) + 63) & ~(size_t)63;
}

static void roi_align_piece(void *context, int64_t begin, int64_t end, int thread)  // boxes
{
    const struct cpu_step *s = context;
    const struct shape *x = &cpu_in(s, 2)->shape, *y = &cpu_out(s, 0)->shape;
    float *acc = (float *)((char *)s->work + channel_scratch(x->dim[3]) * (size_t)thread);
    size_t each = (size_t)(y->dim[2] * y->dim[3] * y->dim[4]) * dtype_size(cpu_out(s, 0)->dtype);
    for (int64_t r = begin; r < end; r++) {
        const float *box = (const float *)s->in[0] + r * 4;
        int64_t image = s->in[1] ? ((const int32_t *)s->in[1])[r] : r / y->dim[1];
        if (box_exists(box) && image >= 0 && image < x->dim[0]) align_box(s, box, image, r, acc);
        else memset((char *)s->out[0] + (size_t)r * each, 0, each);
    }
}

static int roi_align_run(struct cpu_step *s)
{
    if (!s->out[0]) return 0;
    const int64_t *d = cpu_out(s, 0)->shape.dim;
    threads_for(d[0] * d[1], cpu_grain(4 * d[2] * d[3] * d[4]), roi_align_piece, s);
    return 0;
}

static size_t roi_align_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return channel_scratch(g->value[n->in[2]].shape.dim[3]) * (size_t)cpu->threads;
}

// ---- backward

// Adds what box r gives to row y of a level.
static void add_box(const struct cpu_step *s, int64_t r, int level, int y, float *row)
{
    const struct roi_attr *a = &s->node->attr.roi;
    const float *box = (const float *)s->in[0] + r * 4;
    enum dtype t = cpu_in(s, 1)->dtype;
    int64_t c = cpu_in(s, 1)->shape.dim[4];
    struct roi_axis down, across;
    struct roi_taps columns;
    if (!box_exists(box) || roi_level(box, a->side, a->levels) != level) return;
    axes_of(a, box, level, &down, &across);
    if (!roi_reaches(&down, a->bins, y, y)) return;
    for (int p = 0; p < a->bins; p++) {
        float weight = roi_weight(&down, p, y, (int)a->h[level]);
        for (int q = 0; weight > 0.0f && q < a->bins; q++) {
            find_taps(&across, q, (int)a->w[level], &columns);
            const void *dy = cpu_at(t, s->in[1], ((r * a->bins + p) * a->bins + q) * c);
            for (int j = 0; j < columns.count; j++)
                s->cpu->loops->add_scaled(t, dy, c, weight * columns.weight[j], row + columns.at[j] * c);
        }
    }
}

static size_t widest_row(const struct graph *g, const struct node *n)
{
    int64_t widest = 0;
    for (int l = 0; l < n->attr.roi.levels; l++)
        if (n->attr.roi.w[l] > widest) widest = n->attr.roi.w[l];
    return channel_scratch(widest * g->value[n->in[1]].shape.dim[4]);
}

static void roi_align_grad_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of all levels, one after another
{
    const struct cpu_step *s = context;
    const struct roi_attr *a = &s->node->attr.roi;
    const int64_t *d = cpu_in(s, 1)->shape.dim;
    enum dtype t = cpu_in(s, 1)->dtype;
    float *row = (float *)((char *)s->work + widest_row(s->graph, s->node) * (size_t)thread);
    for (int64_t i = begin; i < end; i++) {
        int level = 0;
        int64_t at = i;
        for (; at >= d[0] * a->h[level]; level++) at -= d[0] * a->h[level];
        if (!s->out[level]) continue;
        int64_t image = at / a->h[level], line = a->w[level] * d[4];
        memset(row, 0, (size_t)line * sizeof *row);
        for (int64_t r = image * d[1]; r < (image + 1) * d[1]; r++) add_box(s, r, level, (int)(at % a->h[level]), row);
        s->cpu->loops->narrow(t, row, cpu_at(t, s->out[level], at * line), line);
    }
}

static int roi_align_grad_run(struct cpu_step *s)
{
    const struct roi_attr *a = &s->node->attr.roi;
    const int64_t *d = cpu_in(s, 1)->shape.dim;
    int64_t rows = 0;
    for (int l = 0; l < a->levels; l++) rows += d[0] * a->h[l];
    threads_for(rows, cpu_grain(a->w[0] * d[4]), roi_align_grad_piece, s);
    return 0;
}

static size_t roi_align_grad_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return widest_row(g, n) * (size_t)cpu->threads;
}

CPU_PREPARE(roi_align)
CPU_PREPARE(roi_align_grad)
const struct cpu_op cpu_roi_align = {.workspace = roi_align_workspace, .prepare = roi_align_prepare};
const struct cpu_op cpu_roi_align_grad = {.workspace = roi_align_grad_workspace, .prepare = roi_align_grad_prepare};
