// SPDX-License-Identifier: Apache-2.0
// Boxes in fixed numbers: coded, suppressed, matched, drawn, and slices by class. A picture's suppression and drawing is the
// work of one thread. Cost: suppression compares each candidate with the boxes kept so far, best first, until k are kept;
// matching compares each box with each truth, twice where boxes are rescued.
#include "runtime/boxes.h"
#include "runtime/cpu/cpu_select.h"
#include "runtime/cpu/cpu_work.h"

static const float *box_at(const struct cpu_step *s, int input, int64_t i) { return (const float *)s->in[input] + i * 4; }

// ---- codes

static void code_box(const struct cpu_step *s, const float *x, const float *anchor, const float *size, float *y)
{
    const struct boxes_attr *a = &s->node->attr.boxes;
    for (int i = 0; i < 2; i++) {
        if (a->encode) {
            box_encode(x[i], x[i + 2], anchor[i], anchor[i + 2], &y[i], &y[i + 2]);
            y[i] *= a->weight[0], y[i + 2] *= a->weight[1];
            continue;
        }
        box_decode(x[i] / a->weight[0], x[i + 2] / a->weight[1], anchor[i], anchor[i + 2], &y[i], &y[i + 2]);
        for (int j = i; size && j < 4; j += 2) y[j] = box_least(box_most(y[j], 0.0f), size[1 - i]);
    }
}

static void boxes_piece(void *context, int64_t begin, int64_t end, int thread)  // anchors of all pictures
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct value *x = cpu_in(s, 0);
    int64_t n = x->shape.dim[1], each = x->shape.dim[2] / 4;
    bool shared = cpu_in(s, 1)->shape.rank == 2;
    for (int64_t i = begin; i < end; i++) {
        const float *anchor = box_at(s, 1, shared ? i % n : i), *size = s->in[2] ? (const float *)s->in[2] + i / n * 2 : NULL;
        for (int64_t j = i * each; j < (i + 1) * each; j++) {
            float code[4], *y = (float *)s->out[0] + j * 4;
            s->cpu->loops->widen(x->dtype, cpu_at(x->dtype, s->in[0], j * 4), code, 4);
            if (box_exists(anchor) && (!s->node->attr.boxes.encode || box_exists(code))) code_box(s, code, anchor, size, y);
            else memset(y, 0, 4 * sizeof *y);
        }
    }
}

static int boxes_run(struct cpu_step *s)
{
    const int64_t *d = cpu_in(s, 0)->shape.dim;
    if (s->out[0]) threads_for(d[0] * d[1], cpu_grain(4 * d[2]), boxes_piece, s);
    return 0;
}

// ---- non-maximum suppression

struct nms_scratch {
    uint32_t *key;
    int32_t *at, *spare;
    size_t bytes;
};

static struct nms_scratch nms_carve(char *base, int64_t n)
{
    struct cpu_scratch o = {base, 0};
    struct nms_scratch s;
    s.key = cpu_take(&o, n, sizeof *s.key), s.at = cpu_take(&o, n, sizeof *s.at), s.spare = cpu_take(&o, n, sizeof *s.spare);
    s.bytes = o.used;
    return s;
}

struct nms_picture {
    const float *boxes, *scores;
    const int32_t *classes;  // or NULL
    int32_t *kept;
    int64_t count;
};

static bool is_dropped(const struct nms_picture *o, int32_t i, float iou)
{
    for (int64_t j = 0; j < o->count; j++) {
        int32_t k = o->kept[j];
        if (o->classes && o->classes[i] != o->classes[k]) continue;
        if (box_overlap(o->boxes + i * (int64_t)4, o->boxes + k * (int64_t)4) > iou) return true;
    }
    return false;
}

// Leaves the numbers of the kept boxes in work->spare.
static void suppress(const struct nms_attr *a, struct nms_picture *o, int64_t n, const struct nms_scratch *work)
{
    int64_t candidates = 0;
    for (int64_t i = 0; i < n; i++) {
        work->key[i] = box_rank(o->scores[i]);
        if (box_is_candidate(o->boxes + i * 4, o->scores[i], a->score, a->side)) work->at[candidates++] = (int32_t)i;
    }
    cpu_sort(work->key, candidates, work->at, work->spare);
    o->kept = work->spare, o->count = 0;
    for (int64_t i = 0; i < candidates && o->count < a->k; i++)
        if (!is_dropped(o, work->at[i], a->iou)) o->kept[o->count++] = work->at[i];
}

static void nms_piece(void *context, int64_t begin, int64_t end, int thread)  // pictures
{
    const struct cpu_step *s = context;
    const struct nms_attr *a = &s->node->attr.nms;
    int64_t n = cpu_in(s, 0)->shape.dim[1];
    size_t bytes = nms_carve(NULL, n).bytes;
    struct nms_scratch work = nms_carve((char *)s->work + bytes * (size_t)thread, n);
    bool shared = s->in[2] && cpu_count(cpu_in(s, 2)) == n;
    for (int64_t b = begin; b < end; b++) {
        struct nms_picture o = {box_at(s, 0, b * n), (const float *)s->in[1] + b * n, s->in[2], NULL, 0};
        if (o.classes && !shared) o.classes += b * n;
        suppress(a, &o, n, &work);
        for (int64_t j = 0; j < a->k; j++) {
            static const float none[4];
            bool any = j < o.count;
            int64_t i = any ? o.kept[j] : 0, to = b * a->k + j;
            if (s->out[0]) memcpy((float *)s->out[0] + to * 4, any ? o.boxes + i * 4 : none, sizeof none);
            if (s->out[1]) ((float *)s->out[1])[to] = any ? o.scores[i] : 0.0f;
            if (s->out[2]) ((int32_t *)s->out[2])[to] = (int32_t)(b * n + i);
        }
        if (s->out[3]) ((int32_t *)s->out[3])[b] = (int32_t)o.count;
    }
}

static int nms_run(struct cpu_step *s)
{
    threads_for(cpu_in(s, 0)->shape.dim[0], 1, nms_piece, s);
    return 0;
}

static size_t nms_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return nms_carve(NULL, g->value[n->in[0]].shape.dim[1]).bytes * (size_t)cpu->threads;
}

// ---- matching

static int64_t boxes_each(const struct cpu_step *s)
{
    const struct shape *boxes = &cpu_in(s, 0)->shape;
    return boxes->dim[boxes->rank - 2];
}

static const float *match_box(const struct cpu_step *s, int64_t b, int64_t i)
{
    return box_at(s, 0, cpu_in(s, 0)->shape.rank == 2 ? i : b * boxes_each(s) + i);
}

static void best_piece(void *context, int64_t begin, int64_t end, int thread)  // truths of all pictures
{
    (void)thread;
    const struct cpu_step *s = context;
    int64_t truths = cpu_in(s, 1)->shape.dim[1], n = boxes_each(s);
    for (int64_t t = begin; t < end; t++) {
        const float *truth = box_at(s, 1, t);
        float best = -1.0f;
        for (int64_t i = 0; box_exists(truth) && i < n; i++) {
            const float *box = match_box(s, t / truths, i);
            if (box_exists(box)) best = box_most(best, box_overlap(box, truth));
        }
        ((float *)s->work)[t] = best;
    }
}

static void match_piece(void *context, int64_t begin, int64_t end, int thread)  // boxes of all pictures
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct match_attr *a = &s->node->attr.match;
    int64_t truths = cpu_in(s, 1)->shape.dim[1], n = boxes_each(s);
    for (int64_t i = begin; i < end; i++) {
        int64_t first = i / n * truths;
        const float *box = match_box(s, i / n, i % n);
        struct box_match m = box_match(box, box_at(s, 1, first), truths, a->rescue ? (const float *)s->work + first : NULL);
        int32_t class = s->in[2] ? ((const int32_t *)s->in[2])[first + m.at] : 1;
        if (s->out[0])
            ((int32_t *)s->out[0])[i] =
                !box_exists(box) ? -1 : m.rescued || m.overlap >= a->high ? class : -(m.overlap >= a->low);
        if (s->out[1]) ((int32_t *)s->out[1])[i] = (int32_t)(first + m.at);
    }
}

static int match_run(struct cpu_step *s)
{
    const int64_t *d = cpu_in(s, 1)->shape.dim;
    int64_t n = boxes_each(s);
    if (s->node->attr.match.rescue) threads_for(d[0] * d[1], cpu_grain(16 * n), best_piece, s);
    threads_for(d[0] * n, cpu_grain(16 * d[1]), match_piece, s);
    return 0;
}

static size_t match_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    (void)cpu;
    const int64_t *truth = g->value[n->in[1]].shape.dim;
    return n->attr.match.rescue ? (size_t)(truth[0] * truth[1]) * sizeof(float) : 0;
}

// ---- drawing

// Draws up to k of the boxes whose label is positive, or 0, into at[]; returns how many.
static int64_t draw_part(const struct cpu_step *s, int64_t picture, bool positive, int64_t k, int32_t *at)
{
    int64_t n = cpu_in(s, 0)->shape.dim[1], count = 0;
    size_t bytes = nms_carve(NULL, n).bytes;
    struct nms_scratch work = nms_carve((char *)s->work + bytes * (size_t)picture, n);
    const int32_t *label = (const int32_t *)s->in[0] + picture * n;
    const float *random = (const float *)s->in[1] + picture * n;
    for (int64_t i = 0; i < n; i++)
        if (positive ? label[i] > 0 : label[i] == 0) work.key[count] = box_rank(-random[i]), work.at[count++] = (int32_t)i;
    k = k < count ? k : count;
    cpu_select(work.key, count, k, work.spare);
    for (int64_t i = 0; i < k; i++) at[i] = (int32_t)(picture * n) + work.at[work.spare[i]];
    return k;
}

static void sample_piece(void *context, int64_t begin, int64_t end, int thread)  // pictures
{
    (void)thread;
    const struct cpu_step *s = context;
    const struct sample_attr *a = &s->node->attr.sample;
    int64_t n = cpu_in(s, 0)->shape.dim[1];
    for (int64_t b = begin; b < end; b++) {
        int32_t *at = (int32_t *)s->out[0] + b * a->k;
        int64_t positive = draw_part(s, b, true, a->positive, at);
        int64_t count = positive + draw_part(s, b, false, a->k - positive, at + positive);
        for (int64_t i = 0; i < a->k; i++) {
            if (i >= count) at[i] = (int32_t)(b * n);
            if (s->out[1]) ((int32_t *)s->out[1])[b * a->k + i] = i < count ? ((const int32_t *)s->in[0])[at[i]] : -1;
            if (s->out[2]) ((float *)s->out[2])[b * a->k + i] = i < positive ? 1.0f : 0.0f;
        }
    }
}

static int sample_run(struct cpu_step *s)
{
    threads_for(cpu_in(s, 0)->shape.dim[0], 1, sample_piece, s);
    return 0;
}

// Of each picture: the keys, the boxes that they belong to, the selected keys. Then the result, which may have no reader.
static size_t sample_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    (void)cpu;
    const int64_t *d = g->value[n->in[0]].shape.dim;
    return nms_carve(NULL, d[1]).bytes * (size_t)d[0] + (size_t)(d[0] * n->attr.sample.k) * sizeof(int32_t);
}

static int sample_prepare(struct cpu_step *s)
{
    const int64_t *d = cpu_in(s, 0)->shape.dim;
    if (!s->out[0]) s->out[0] = (char *)s->work + nms_carve(NULL, d[1]).bytes * (size_t)d[0];
    s->run = sample_run;
    return 0;
}

// ---- slices by class

// x[rows, above, classes, bytes] and the slices [rows, above, bytes].
struct slices {
    int64_t rows, above, classes;
    size_t bytes;
};

static struct slices slices_of(const struct shape *x, const struct shape *index, int axis, enum dtype type)
{
    struct slices o = {shape_count(index), 1, x->dim[axis], dtype_size(type)};
    for (int i = index->rank; i < axis; i++) o.above *= x->dim[i];
    for (int i = axis + 1; i < x->rank; i++) o.bytes *= (size_t)x->dim[i];
    return o;
}

static void slice_piece(void *context, int64_t begin, int64_t end, int thread)  // slices
{
    (void)thread;
    const struct cpu_step *s = context;
    bool back = s->node->op == OP_CLASS_SLICE_GRAD;
    const struct value *y = back ? cpu_in(s, 1) : cpu_out(s, 0);
    const struct shape *x = back ? &s->node->attr.move.shape : &cpu_in(s, 0)->shape;
    struct slices o = slices_of(x, &cpu_in(s, !back)->shape, s->node->attr.move.axis, y->dtype);
    for (int64_t i = begin; i < end; i++) {
        int64_t class = ((const int32_t *)s->in[!back])[i / o.above];
        bool any = class >= 0 && class < o.classes;
        size_t at = (size_t)(i * o.classes + class) * o.bytes, slice = (size_t)i * o.bytes;
        if (back) {
            memset((char *)s->out[0] + slice * (size_t)o.classes, 0, o.bytes * (size_t)o.classes);
            if (any) memcpy((char *)s->out[0] + at, (const char *)s->in[1] + slice, o.bytes);
        } else if (any) {
            memcpy((char *)s->out[0] + slice, (const char *)s->in[0] + at, o.bytes);
        } else {
            memset((char *)s->out[0] + slice, 0, o.bytes);
        }
    }
}

static int slice_run(struct cpu_step *s)
{
    bool back = s->node->op == OP_CLASS_SLICE_GRAD;
    const struct shape *x = back ? &s->node->attr.move.shape : &cpu_in(s, 0)->shape;
    int64_t below = 1;
    for (int i = s->node->attr.move.axis; i < x->rank; i++) below *= x->dim[i];
    if (s->out[0]) threads_for(shape_count(x) / below, cpu_grain(below), slice_piece, s);
    return 0;
}

CPU_PREPARE(boxes)
CPU_PREPARE(nms)
CPU_PREPARE(match)
CPU_PREPARE(slice)
const struct cpu_op cpu_boxes = {.prepare = boxes_prepare};
const struct cpu_op cpu_nms = {.workspace = nms_workspace, .prepare = nms_prepare};
const struct cpu_op cpu_match = {.workspace = match_workspace, .prepare = match_prepare};
const struct cpu_op cpu_sample = {.workspace = sample_workspace, .prepare = sample_prepare};
const struct cpu_op cpu_class_slice = {.prepare = slice_prepare};
const struct cpu_op cpu_class_slice_grad = {.prepare = slice_prepare};
