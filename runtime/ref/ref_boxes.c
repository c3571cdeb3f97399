// SPDX-License-Identifier: Apache-2.0
// Boxes in fixed numbers. Overlaps are f32, as on every device (runtime/boxes.h), because thresholds decide about them.
#include "runtime/boxes.h"
#include "runtime/ref/ref.h"

static const float *box_at(const struct ref_step *s, int input, int64_t i) { return (const float *)s->in[input] + i * 4; }

// ---- codes

// One axis of a code and of an anchor. clip: where boxes end, or a negative number.
static void decode_axis(const double *code, const double *anchor, const float weight[2], double clip, double *box)
{
    double size = anchor[2] - anchor[0], centre = anchor[0] + size / 2.0;
    double grown = size * exp(fmin(code[2] / (double)weight[1], log(1000.0 / 16.0)));
    centre += size * code[0] / (double)weight[0];
    for (int i = 0; i < 2; i++) {
        double x = i ? centre + grown / 2.0 : centre - grown / 2.0;
        box[2 * i] = clip < 0 ? x : fmin(fmax(x, 0.0), clip);
    }
}

static void encode_axis(const double *box, const double *anchor, const float weight[2], double *code)
{
    double size = anchor[2] - anchor[0], want = box[2] - box[0];
    code[0] = (double)weight[0] * (box[0] + want / 2.0 - anchor[0] - size / 2.0) / size;
    code[2] = (double)weight[1] * log(want / size);
}

void ref_boxes(const struct ref_step *s)
{
    const struct boxes_attr *a = &s->node->attr.boxes;
    const int64_t *d = ref_in(s, 0)->shape.dim;
    int64_t each = d[2] / 4;
    const double *x = ref_read(s, 0), *anchor = ref_read(s, 1);
    double *y = ref_zeros(s, d[0] * d[1] * d[2]);
    for (int64_t i = 0; i < d[0] * d[1] * each; i++) {
        int64_t box = i / each, at = ref_in(s, 1)->shape.rank == 2 ? box % d[1] : box;
        if (!box_exists(box_at(s, 1, at)) || (a->encode && !box_exists(box_at(s, 0, i)))) continue;
        for (int axis = 0; axis < 2; axis++) {
            double clip = s->in[2] ? ref_get(s, 2, box / d[1] * 2 + 1 - axis) : -1.0;
            if (a->encode) encode_axis(x + i * 4 + axis, anchor + at * 4 + axis, a->weight, y + i * 4 + axis);
            else decode_axis(x + i * 4 + axis, anchor + at * 4 + axis, a->weight, clip, y + i * 4 + axis);
        }
    }
    ref_write(s, 0, y);
}

// ---- non-maximum suppression

struct kept_boxes {
    int64_t *at, count;
};

static bool is_dropped(const struct ref_step *s, int64_t i, const struct kept_boxes *kept)
{
    int64_t n = ref_in(s, 0)->shape.dim[1];
    bool shared = s->in[2] && shape_count(&ref_in(s, 2)->shape) == n;
    for (int64_t j = 0; j < kept->count; j++) {
        int64_t k = kept->at[j];
        if (s->in[2] && ref_get(s, 2, shared ? i % n : i) != ref_get(s, 2, shared ? k % n : k)) continue;
        if (box_overlap(box_at(s, 0, i), box_at(s, 0, k)) > s->node->attr.nms.iou) return true;
    }
    return false;
}

// Candidates from the best to the worst: those that no better kept one drops.
static void suppress(const struct ref_step *s, int64_t picture, struct kept_boxes *kept)
{
    const struct nms_attr *a = &s->node->attr.nms;
    int64_t n = ref_in(s, 0)->shape.dim[1], last = -1;
    while (kept->count < a->k) {
        int64_t best = -1;
        for (int64_t i = picture * n; i < (picture + 1) * n; i++) {
            double x = ref_get(s, 1, i), before = last < 0 ? INFINITY : ref_get(s, 1, last);
            bool comes = x < before || (x == before && i > last);
            if (!comes || !box_is_candidate(box_at(s, 0, i), (float)x, a->score, a->side)) continue;
            if (best < 0 || x > ref_get(s, 1, best)) best = i;
        }
        if (best < 0) return;
        if (!is_dropped(s, best, kept)) kept->at[kept->count++] = best;
        last = best;
    }
}

void ref_nms(const struct ref_step *s)
{
    const int64_t *d = ref_in(s, 0)->shape.dim;
    int64_t k = s->node->attr.nms.k;
    double *boxes = ref_zeros(s, d[0] * k * 4), *scores = ref_zeros(s, d[0] * k), *at = ref_zeros(s, d[0] * k);
    double *count = ref_zeros(s, d[0]);
    for (int64_t b = 0; b < d[0]; b++) {
        struct kept_boxes kept = {arena_alloc(s->scratch, (size_t)k * sizeof(int64_t)), 0};
        suppress(s, b, &kept);
        for (int64_t j = 0; j < k; j++) {
            int64_t to = b * k + j;
            at[to] = (double)(b * d[1]);
            if (j >= kept.count) continue;
            at[to] = (double)kept.at[j], scores[to] = ref_get(s, 1, kept.at[j]);
            for (int i = 0; i < 4; i++) boxes[to * 4 + i] = (double)box_at(s, 0, kept.at[j])[i];
        }
        count[b] = (double)kept.count;
    }
    ref_write(s, 0, boxes), ref_write(s, 1, scores), ref_write(s, 2, at), ref_write(s, 3, count);
}

// ---- matching

static float overlap_of(const float *box, const float *truth)
{
    return box_exists(box) && box_exists(truth) ? box_overlap(box, truth) : -1.0f;
}

void ref_match(const struct ref_step *s)
{
    const struct match_attr *a = &s->node->attr.match;
    const int64_t *d = ref_in(s, 1)->shape.dim;
    const struct shape *boxes = &ref_in(s, 0)->shape;
    int64_t n = boxes->dim[boxes->rank - 2], truths = d[1];
    bool shared = boxes->rank == 2;
    double *labels = ref_zeros(s, d[0] * n), *at = ref_zeros(s, d[0] * n);
    for (int64_t b = 0; b < d[0]; b++) {
        float *best = arena_alloc(s->scratch, (size_t)truths * sizeof *best);
        for (int64_t g = 0; g < truths; g++) {
            best[g] = -1.0f;
            for (int64_t i = 0; i < n; i++)
                best[g] = fmaxf(best[g], overlap_of(box_at(s, 0, shared ? i : b * n + i), box_at(s, 1, b * truths + g)));
        }
        for (int64_t i = 0; i < n; i++) {
            const float *box = box_at(s, 0, shared ? i : b * n + i);
            float most = -1.0f;
            int64_t which = 0;
            bool rescued = false;
            for (int64_t g = 0; g < truths; g++) {
                float overlap = overlap_of(box, box_at(s, 1, b * truths + g));
                if (overlap > most) most = overlap, which = g;
                rescued |= a->rescue && overlap >= 0.0f && overlap == best[g];
            }
            double class = s->in[2] ? ref_get(s, 2, b * truths + which) : 1.0;
            labels[b * n + i] = !box_exists(box) ? -1.0 : rescued || most >= a->high ? class : most < a->low ? 0.0 : -1.0;
            at[b * n + i] = (double)(b * truths + which);
        }
    }
    ref_write(s, 0, labels), ref_write(s, 1, at);
}

// ---- drawing

// Marks the `k` smallest of the random numbers whose label is positive, or 0; returns how many there are.
static int64_t draw_smallest(const double *label, const double *random, int64_t n, int64_t k, bool positive, bool *drawn)
{
    for (int64_t count = 0;; count++) {
        int64_t best = -1;
        for (int64_t i = 0; count < k && i < n; i++)
            if (!drawn[i] && (positive ? label[i] > 0 : label[i] == 0) && (best < 0 || random[i] < random[best])) best = i;
        if (best < 0) return count;
        drawn[best] = true;
    }
}

void ref_sample(const struct ref_step *s)
{
    const struct sample_attr *a = &s->node->attr.sample;
    const int64_t *d = ref_in(s, 0)->shape.dim;
    int64_t k = a->k;
    const double *label = ref_read(s, 0), *random = ref_read(s, 1);
    double *at = ref_zeros(s, d[0] * k), *labels = ref_zeros(s, d[0] * k), *positive = ref_zeros(s, d[0] * k);
    for (int64_t b = 0; b < d[0]; b++, label += d[1], random += d[1]) {
        bool *drawn = arena_alloc(s->scratch, (size_t)d[1]);
        int64_t most = draw_smallest(label, random, d[1], a->positive, true, drawn), to = b * k;
        draw_smallest(label, random, d[1], k - most, false, drawn);
        for (int part = 0; part < 2; part++)
            for (int64_t i = 0; i < d[1]; i++)
                if (drawn[i] && (label[i] > 0) == (part == 0))
                    at[to] = (double)(b * d[1] + i), labels[to] = label[i], positive[to++] = part == 0;
        for (; to < (b + 1) * k; to++) at[to] = (double)(b * d[1]), labels[to] = -1.0;
    }
    ref_write(s, 0, at), ref_write(s, 1, labels), ref_write(s, 2, positive);
}

// ---- slices by class

// x[rows, above, classes, below] and the slices y[rows, above, below].
struct slices {
    int64_t rows, above, classes, below;
};

static struct slices slices_of(const struct shape *x, const struct shape *index, int axis)
{
    struct slices o = {shape_count(index), 1, x->dim[axis], 1};
    for (int i = index->rank; i < axis; i++) o.above *= x->dim[i];
    for (int i = axis + 1; i < x->rank; i++) o.below *= x->dim[i];
    return o;
}

static void each_slice(const struct slices *o, const double *index, double *x, double *y, bool back)
{
    for (int64_t i = 0; i < o->rows * o->above * o->below; i++) {
        int64_t d = i % o->below, run = i / o->below, class = (int64_t)index[run / o->above];
        if (class < 0 || class >= o->classes) continue;
        double *at = &x[(run * o->classes + class) * o->below + d];
        if (back) *at = y[i];
        else y[i] = *at;
    }
}

void ref_class_slice(const struct ref_step *s)
{
    struct slices o = slices_of(&ref_in(s, 0)->shape, &ref_in(s, 1)->shape, s->node->attr.move.axis);
    double *y = ref_zeros(s, o.rows * o.above * o.below);
    each_slice(&o, ref_read(s, 1), ref_read(s, 0), y, false);
    ref_write(s, 0, y);
}

void ref_class_slice_grad(const struct ref_step *s)
{
    const struct shape *x = &s->node->attr.move.shape;
    struct slices o = slices_of(x, &ref_in(s, 0)->shape, s->node->attr.move.axis);
    double *dx = ref_zeros(s, shape_count(x));
    each_slice(&o, ref_read(s, 0), dx, ref_read(s, 1), true);
    ref_write(s, 0, dx);
}
