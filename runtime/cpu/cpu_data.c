// SPDX-License-Identifier: Apache-2.0
// Data on the device: windows of an order, tables, counters, and augmentation: gather, mirror, shift with reflected borders,
// normalise and jitter in one pass from u8 to the type that the network reads.
#include "runtime/cpu/cpu_work.h"
#include "runtime/element.h"

static int window_run(struct cpu_step *s)
{
    const int32_t *order = s->in[0];
    int32_t *y = s->out[0];
    int64_t n = cpu_count(cpu_in(s, 0)), batch = cpu_count(cpu_out(s, 0));
    int64_t at = *(const int32_t *)s->in[1] % n;
    if (at < 0) at += n;
    for (int64_t i = 0; i < batch; i++) {
        y[i] = order[at];
        if (++at == n) at = 0;
    }
    return 0;
}

static int pick_run(struct cpu_step *s)
{
    int64_t last = cpu_count(cpu_in(s, 0)) - 1, at = *(const int32_t *)s->in[1];
    at = at < 0 ? 0 : at > last ? last : at;
    *(float *)s->out[0] = ((const float *)s->in[0])[at];
    return 0;
}

static int tick_run(struct cpu_step *s)
{
    bool stays = s->in[1] && *(const float *)s->in[1] < 0;
    // unsigned, so it wraps without overflow
    uint32_t now = *(const uint32_t *)s->in[0] + (stays ? 0 : (uint32_t)s->node->attr.tick.by);
    *(int32_t *)s->out[0] = (int32_t)now;
    return 0;
}

// ---- augment
static size_t row_bytes(const struct graph *g, const struct node *n)
{
    const int64_t *d = g->value[n->in[0]].shape.dim;
    return (size_t)(d[2] * d[3]);
}

// Scratch per thread: two rows of coefficients, one row of pixels.
static size_t augment_scratch(const struct graph *g, const struct node *n)
{
    return (row_bytes(g, n) * (2 * sizeof(float) + 1) + 63) & ~(size_t)63;
}

static size_t augment_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    return augment_scratch(g, n) * (size_t)cpu->threads;
}

// value = ((pixel / 255 - mean) / std + shift) * gain = pixel * a + b
static void set_coefficients(const struct augment_attr *o, const struct augment_draw *d, int64_t width, int64_t channels,
                         float *a, float *b)
{
    float each_a[4], each_b[4];
    for (int64_t c = 0; c < channels; c++) {
        each_a[c] = (float)(d->gain / (255.0 * o->std[c]));
        each_b[c] = (float)(((double)d->shift - (double)o->mean[c] / (double)o->std[c]) * d->gain);
    }
    for (int64_t i = 0, c = 0; i < width; i++) {
        a[i] = each_a[c], b[i] = each_b[c];
        if (++c == channels) c = 0;
    }
}

// Reads one row of pixels, mirrored or not, shifted dx to the right with reflected borders.
static void shift_row(const uint8_t *from, int64_t w, int64_t c, int flip, int dx, uint8_t *to)
{
    int64_t first = 0, last = w;
    if (!flip) {  // the inner part is one copy
        first = dx < 0 ? -dx : 0, last = dx > 0 ? w - dx : w;
        memcpy(to + first * c, from + (first + dx) * c, (size_t)((last - first) * c));
        if (first == 0 && last == w) return;
    }
    for (int64_t x = 0; x < w; x++) {
        if (!flip && x == first) x = last;
        if (x == w) break;
        int64_t at = element_reflect((int)x + dx, (int)w);
        const uint8_t *pixel = from + (flip ? w - 1 - at : at) * c;
        for (int64_t i = 0; i < c; i++) to[x * c + i] = pixel[i];
    }
}

static void mirror_rgb(const uint8_t *from, int64_t w, int dx, uint8_t *to)
{
    for (int64_t x = 0; x < w; x++) {
        const uint8_t *pixel = from + (w - 1 - element_reflect((int)x + dx, (int)w)) * 3;
        to[0] = pixel[0], to[1] = pixel[1], to[2] = pixel[2], to += 3;
    }
}

static void augment_image(const struct cpu_step *s, int64_t image, int64_t b, float *a)
{
    const struct augment_attr *o = &s->node->attr.augment;
    const int64_t *d = cpu_in(s, 0)->shape.dim;
    int64_t h = d[1], w = d[2], c = d[3], line = w * c;
    float *bias = a + line;
    uint8_t *row = (uint8_t *)(bias + line);
    struct augment_draw draw = {.gain = 1.0f};
    if (s->in[2]) draw = element_augment(s->in[2], (uint32_t)image, (int)o->flip, o->pad, o->brightness, o->contrast);
    draw.flip ^= o->view_flip, draw.dy += o->view_dy, draw.dx += o->view_dx;
    set_coefficients(o, &draw, line, c, a, bias);
    enum dtype t = cpu_out(s, 0)->dtype;
    const uint8_t *pixels = (const uint8_t *)s->in[0] + image * h * line;
    for (int64_t y = 0; y < h; y++) {
        const uint8_t *from = pixels + element_reflect((int)y + draw.dy, (int)h) * line;
        if (draw.flip && c == 3)
            mirror_rgb(from, w, draw.dx, row), from = row;
        else if (draw.flip || draw.dx)
            shift_row(from, w, c, draw.flip, draw.dx, row), from = row;
        s->cpu->loops->pixels(t, from, a, bias, line, cpu_at(t, s->out[0], (b * h + y) * line));
    }
}

static void augment_piece(void *context, int64_t begin, int64_t end, int thread)
{
    const struct cpu_step *s = context;
    const int32_t *index = s->in[1];
    int64_t last = cpu_in(s, 0)->shape.dim[0] - 1;
    float *scratch = (float *)((char *)s->work + augment_scratch(s->graph, s->node) * (size_t)thread);
    for (int64_t b = begin; b < end; b++) {
        int64_t image = !index ? b : index[b] < 0 ? 0 : index[b] > last ? last : index[b];
        augment_image(s, image, b, scratch);
    }
}

static int augment_run(struct cpu_step *s)
{
    const struct shape *x = &cpu_in(s, 0)->shape;
    if (s->out[0]) threads_for(cpu_out(s, 0)->shape.dim[0], cpu_grain(x->dim[1] * x->dim[2] * x->dim[3]), augment_piece, s);
    return 0;
}

CPU_PREPARE(window)
CPU_PREPARE(augment)
CPU_PREPARE(pick)
CPU_PREPARE(tick)
const struct cpu_op cpu_window = {.prepare = window_prepare};
const struct cpu_op cpu_augment = {.workspace = augment_workspace, .prepare = augment_prepare};
const struct cpu_op cpu_pick = {.prepare = pick_prepare};
const struct cpu_op cpu_tick = {.prepare = tick_prepare};
