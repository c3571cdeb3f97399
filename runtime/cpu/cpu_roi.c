// SPDX-License-Identifier: Apache-2.0
// ROIAlign, one axis after the other. Forward, the lines that the samples of a row of bins read are added up, and a bin is a sum
// of columns of that. Backward, a thread owns rows of dx and adds to each the sum of the rows of bins that read it, in the order
// of the boxes, so the sums are the same for any number of threads. Cost: a pixel is read once per row of bins that reads it,
// and every bin adds up its columns; backward looks at every box once per row.
#include "runtime/boxes.h"
#include "runtime/cpu/cpu_work.h"

// The positions along an axis that the samples of a bin read, in rising order, and their weights.
struct roi_taps {
    int count;
    struct roi_tap {
        int at;
        float weight;
    } tap[2 * ROI_GRID];
};

static void add_tap(struct roi_taps *t, int at, float weight)
{
    for (int i = t->count - 1; i >= 0 && i >= t->count - 2; i--)
        if (t->tap[i].at == at) {
            t->tap[i].weight += weight;
            return;
        }
    t->tap[t->count++] = (struct roi_tap){at, weight};
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

// acc += weight x. A call of a loop is not worth it for a few numbers.
static void add_numbers(const struct cpu_step *s, enum dtype t, const void *x, int64_t n, float weight, float *acc)
{
    enum { FEW = 8 };
    if (t == U8)
        for (int64_t i = 0; i < n; i++) acc[i] += weight * (float)((const uint8_t *)x)[i];
    else if (t == F32 && n < FEW)
        for (int64_t i = 0; i < n; i++) acc[i] += weight * ((const float *)x)[i];
    else s->cpu->loops->add_scaled(t, x, n, weight, acc);
}

struct roi_scratch {  // of a thread
    struct roi_taps *across;  // of each column of bins
    struct roi_run {
        int begin, end;
    } *run;                   // the columns that these read
    float *line, *bins;       // a line of x or dx; a row of bins
    size_t bytes;
};

static struct roi_scratch carve(char *base, const struct graph *g, const struct node *n)
{
    struct cpu_scratch o = {base, 0};
    struct roi_scratch s;
    bool back = n->op == OP_ROI_ALIGN_GRAD;
    int64_t c = shape_last(&g->value[n->in[back ? 1 : 2]].shape), widest = 0;
    for (int l = 0; l < n->attr.roi.levels; l++) {
        int64_t w = back ? n->attr.roi.w[l] : g->value[n->in[2 + l]].shape.dim[2];
        if (w > widest) widest = w;
    }
    s.across = cpu_take(&o, n->attr.roi.bins, sizeof *s.across), s.run = cpu_take(&o, widest, sizeof *s.run);
    s.line = cpu_take(&o, widest * c, sizeof *s.line), s.bins = cpu_take(&o, n->attr.roi.bins * c, sizeof *s.bins);
    s.bytes = o.used;
    return s;
}

static size_t roi_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return carve(NULL, g, n).bytes * (size_t)cpu->threads;
}

static struct roi_scratch scratch_of(const struct cpu_step *s, int thread)
{
    return carve((char *)s->work + carve(NULL, s->graph, s->node).bytes * (size_t)thread, s->graph, s->node);
}

// ---- forward

// Finds the taps of all columns of bins, and the runs of columns that they read; returns the number of runs.
static int find_across(const struct roi_axis *axis, int bins, int size, const struct roi_scratch *o)
{
    int runs = 0, end = 0;
    for (int q = 0; q < bins; q++) {
        struct roi_taps *t = &o->across[q];
        find_taps(axis, q, size, t);
        for (int j = 0; j < t->count; j++) {
            int at = t->tap[j].at;
            if (runs == 0 || at > end) o->run[runs++].begin = at, end = at;
            if (at == end) o->run[runs - 1].end = ++end;
        }
    }
    return runs;
}

static void align_box(const struct cpu_step *s, const float *box, int64_t image, int64_t r, const struct roi_scratch *o)
{
    const struct roi_attr *a = &s->node->attr.roi;
    int level = roi_level(box, a->side, a->levels);
    const struct value *x = cpu_in(s, 2 + level);
    enum dtype t = x->dtype, to = cpu_out(s, 0)->dtype;
    int64_t h = x->shape.dim[1], w = x->shape.dim[2], c = x->shape.dim[3], row = a->bins * c;
    const void *picture = cpu_at(t, s->in[2 + level], image * h * w * c);
    struct roi_axis down, across;
    struct roi_taps rows;
    axes_of(a, box, level, &down, &across);
    int runs = find_across(&across, a->bins, (int)w, o);
    for (int p = 0; p < a->bins; p++) {
        find_taps(&down, p, (int)h, &rows);
        for (int k = 0; k < runs; k++) {
            int64_t begin = o->run[k].begin * c, numbers = o->run[k].end * c - begin;
            memset(o->line + begin, 0, (size_t)numbers * sizeof *o->line);
            for (int i = 0; i < rows.count; i++)
                add_numbers(s, t, cpu_at(t, picture, rows.tap[i].at * w * c + begin), numbers, rows.tap[i].weight,
                            o->line + begin);
        }
        memset(o->bins, 0, (size_t)row * sizeof *o->bins);
        for (int q = 0; q < a->bins; q++)
            for (const struct roi_tap *j = o->across[q].tap; j < o->across[q].tap + o->across[q].count; j++)
                add_numbers(s, F32, o->line + j->at * c, c, j->weight, o->bins + q * c);
        s->cpu->loops->narrow(to, o->bins, cpu_at(to, s->out[0], (r * a->bins + p) * row), row);
    }
}

static void roi_align_piece(void *context, int64_t begin, int64_t end, int thread)  // boxes
{
    const struct cpu_step *s = context;
    const struct shape *x = &cpu_in(s, 2)->shape, *y = &cpu_out(s, 0)->shape;
    struct roi_scratch o = scratch_of(s, thread);
    size_t each = (size_t)(y->dim[2] * y->dim[3] * y->dim[4]) * dtype_size(cpu_out(s, 0)->dtype);
    for (int64_t r = begin; r < end; r++) {
        const float *box = (const float *)s->in[0] + r * 4;
        int64_t image = s->in[1] ? ((const int32_t *)s->in[1])[r] : r / y->dim[1];
        if (box_exists(box) && image >= 0 && image < x->dim[0]) align_box(s, box, image, r, &o);
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

// ---- backward

// Adds what box r gives to row y of a level. If one row of bins reads it, that is not copied.
static void add_box(const struct cpu_step *s, int64_t r, int level, int y, const struct roi_scratch *o)
{
    const struct roi_attr *a = &s->node->attr.roi;
    const float *box = (const float *)s->in[0] + r * 4;
    enum dtype t = cpu_in(s, 1)->dtype;
    int64_t c = cpu_in(s, 1)->shape.dim[4], row = a->bins * c;
    struct roi_axis down, across;
    struct roi_taps columns;
    const void *sum = NULL;
    float share = 0.0f;
    int rows = 0;
    if (!box_exists(box) || roi_level(box, a->side, a->levels) != level) return;
    axes_of(a, box, level, &down, &across);
    if (!roi_reaches(&down, a->bins, y, y)) return;
    for (int p = 0; p < a->bins; p++) {
        float weight = roi_weight(&down, p, y, (int)a->h[level]);
        const void *dy = cpu_at(t, s->in[1], (r * a->bins + p) * row);
        if (!(weight > 0.0f)) continue;
        if (rows == 1) memset(o->bins, 0, (size_t)row * sizeof *o->bins), add_numbers(s, t, sum, row, share, o->bins);
        if (rows++ > 0) add_numbers(s, t, dy, row, weight, o->bins);
        else sum = dy, share = weight;
    }
    if (rows > 1) t = F32, sum = o->bins, share = 1.0f;
    for (int q = 0; rows > 0 && q < a->bins; q++) {
        find_taps(&across, q, (int)a->w[level], &columns);
        for (int j = 0; j < columns.count; j++)
            add_numbers(s, t, cpu_at(t, sum, q * c), c, share * columns.tap[j].weight, o->line + columns.tap[j].at * c);
    }
}

static void roi_align_grad_piece(void *context, int64_t begin, int64_t end, int thread)  // rows of all levels, one after another
{
    const struct cpu_step *s = context;
    const struct roi_attr *a = &s->node->attr.roi;
    const int64_t *d = cpu_in(s, 1)->shape.dim;
    enum dtype t = cpu_in(s, 1)->dtype;
    struct roi_scratch o = scratch_of(s, thread);
    for (int64_t i = begin; i < end; i++) {
        int level = 0;
        int64_t at = i;
        for (; at >= d[0] * a->h[level]; level++) at -= d[0] * a->h[level];
        if (!s->out[level]) continue;
        int64_t image = at / a->h[level], line = a->w[level] * d[4];
        memset(o.line, 0, (size_t)line * sizeof *o.line);
        for (int64_t r = image * d[1]; r < (image + 1) * d[1]; r++) add_box(s, r, level, (int)(at % a->h[level]), &o);
        s->cpu->loops->narrow(t, o.line, cpu_at(t, s->out[level], at * line), line);
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

CPU_PREPARE(roi_align)
CPU_PREPARE(roi_align_grad)
const struct cpu_op cpu_roi_align = {.workspace = roi_workspace, .prepare = roi_align_prepare};
const struct cpu_op cpu_roi_align_grad = {.workspace = roi_workspace, .prepare = roi_align_grad_prepare};
