// SPDX-License-Identifier: Apache-2.0
// ROIAlign: sample by sample, each of four pixels. Positions are f32, as on every device (runtime/boxes.h).
#include "runtime/boxes.h"
#include "runtime/ref/ref.h"

// The four pixels of a sample: x[row[i / 2], column[i % 2]] with the product of the weights.
struct spot {
    int row[2], column[2];
    double down[2], across[2];
};

static bool find_axis(const struct roi_axis *a, int bin, int i, int64_t size, int at[2], double weight[2])
{
    float high = roi_sample(a, bin, i, (int)size, &at[0]);
    at[1] = at[0] + 1 < size ? at[0] + 1 : at[0];
    weight[0] = 1.0 - (double)high, weight[1] = (double)high;
    return at[0] >= 0;
}

struct visit {
    const struct roi_attr *attr;
    const int64_t *h, *w;       // of the levels
    int64_t channels;
    double *const *x;           // levels
    double *y;
    bool back;                  // x += y, else y += x
};

static void visit_sample(const struct visit *v, const struct spot *o, double *x, int64_t line, double share, double *y)
{
    for (int i = 0; i < 4; i++) {
        double weight = share * o->down[i / 2] * o->across[i % 2];
        double *pixel = x + (o->row[i / 2] * line + o->column[i % 2]) * v->channels;
        for (int64_t c = 0; c < v->channels; c++)
            if (v->back) pixel[c] += weight * y[c];
            else y[c] += weight * pixel[c];
    }
}

static void visit_bin(const struct visit *v, int level, int64_t image, const struct roi_axis axis[2], int bin)
{
    int64_t h = v->h[level], w = v->w[level];
    double *x = v->x[level] + image * h * w * v->channels;
    int p = bin / v->attr->bins, q = bin % v->attr->bins;
    double share = 1.0 / ((double)axis[0].grid * (double)axis[1].grid);
    struct spot o;
    for (int i = 0; i < axis[0].grid; i++)
        for (int j = 0; j < axis[1].grid; j++)
            if (find_axis(&axis[0], p, i, h, o.row, o.down) && find_axis(&axis[1], q, j, w, o.column, o.across))
                visit_sample(v, &o, x, w, share, v->y + bin * v->channels);
}

static void visit_box(const struct visit *v, const float *box, int64_t image)
{
    const struct roi_attr *a = v->attr;
    int level = roi_level(box, a->side, a->levels);
    struct roi_axis axis[2] = {roi_axis(box[1], box[3], a->scale[level], a->aligned, a->bins, a->sampling),
                               roi_axis(box[0], box[2], a->scale[level], a->aligned, a->bins, a->sampling)};
    for (int bin = 0; bin < a->bins * a->bins; bin++) visit_bin(v, level, image, axis, bin);
}

void ref_roi_align(const struct ref_step *s)
{
    const struct roi_attr *a = &s->node->attr.roi;
    int64_t h[ROI_LEVELS], w[ROI_LEVELS];
    double *x[ROI_LEVELS];
    const int64_t *d = ref_in(s, 0)->shape.dim;
    int64_t images = ref_in(s, 2)->shape.dim[0];
    for (int l = 0; l < a->levels; l++) {
        const int64_t *level = ref_in(s, 2 + l)->shape.dim;
        h[l] = level[1], w[l] = level[2], x[l] = ref_read(s, 2 + l);
    }
    struct visit v = {a, h, w, ref_in(s, 2)->shape.dim[3], x, NULL, false};
    int64_t each = a->bins * a->bins * v.channels;
    double *y = ref_zeros(s, d[0] * d[1] * each);
    for (int64_t r = 0; r < d[0] * d[1]; r++) {
        const float *box = (const float *)s->in[0] + r * 4;
        int64_t image = s->in[1] ? (int64_t)ref_get(s, 1, r) : r / d[1];
        v.y = y + r * each;
        if (box_exists(box) && image >= 0 && image < images) visit_box(&v, box, image);
    }
    ref_write(s, 0, y);
}

void ref_roi_align_grad(const struct ref_step *s)
{
    const struct roi_attr *a = &s->node->attr.roi;
    const int64_t *d = ref_in(s, 1)->shape.dim;
    double *dx[ROI_LEVELS], *dy = ref_read(s, 1);
    for (int l = 0; l < a->levels; l++) dx[l] = ref_zeros(s, d[0] * a->h[l] * a->w[l] * d[4]);
    struct visit v = {a, a->h, a->w, d[4], dx, NULL, true};
    for (int64_t r = 0; r < d[0] * d[1]; r++) {
        const float *box = (const float *)s->in[0] + r * 4;
        v.y = dy + r * a->bins * a->bins * d[4];
        if (box_exists(box)) visit_box(&v, box, r / d[1]);
    }
    for (int l = 0; l < a->levels; l++) ref_write(s, l, dx[l]);
}
