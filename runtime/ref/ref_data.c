// SPDX-License-Identifier: Apache-2.0
// Data on the device: the samples of a step and their augmentation. Indices outside a table are clamped, so that no index reads
// outside of the table.
#include "runtime/ref/ref.h"

#include "runtime/element.h"

static int64_t clamp_index(int64_t i, int64_t count) { return i < 0 ? 0 : i >= count ? count - 1 : i; }

void ref_window(const struct ref_step *s)
{
    const struct value *y = ref_out(s, 0);
    if (!y) return;
    int64_t n = shape_count(&ref_in(s, 0)->shape), count = shape_count(&y->shape), cursor = (int64_t)ref_get(s, 1, 0);
    for (int64_t i = 0; i < count; i++)
        ((int32_t *)s->out[0])[i] = (int32_t)ref_get(s, 0, ((cursor + i) % n + n) % n);
}

// One image: mirrored, then read at a shifted position with reflected borders, then normalised and jittered.
static void augment_one(const struct ref_step *s, int64_t image, const struct augment_draw *draw, double *to)
{
    const struct augment_attr *a = &s->node->attr.augment;
    const struct shape *shape = &ref_in(s, 0)->shape;
    int h = (int)shape->dim[1], w = (int)shape->dim[2], channels = (int)shape->dim[3];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int row = element_reflect(y + draw->dy + a->view_dy, h);
            int column = element_reflect(x + draw->dx + a->view_dx, w);
            if (draw->flip ^ (int)a->view_flip) column = w - 1 - column;
            for (int c = 0; c < channels; c++) {
                double pixel = ref_get(s, 0, ((image * h + row) * w + column) * channels + c) / 255.0;
                double plain = (pixel - (double)a->mean[c]) / (double)a->std[c];
                *to++ = (plain + (double)draw->shift) * (double)draw->gain;
            }
        }
}

void ref_augment(const struct ref_step *s)
{
    const struct augment_attr *a = &s->node->attr.augment;
    const struct value *y = ref_out(s, 0);
    if (!y) return;
    int64_t batch = y->shape.dim[0], each = shape_count(&y->shape) / batch, images = ref_in(s, 0)->shape.dim[0];
    double *to = ref_zeros(s, batch * each);
    int32_t key[4] = {0};
    for (int i = 0; i < 4 && ref_in(s, 2); i++) key[i] = (int32_t)ref_get(s, 2, i);
    for (int64_t b = 0; b < batch; b++) {
        int64_t image = ref_in(s, 1) ? clamp_index((int64_t)ref_get(s, 1, b), images) : b;
        struct augment_draw draw = {.gain = 1.0f};
        if (ref_in(s, 2))
            draw = element_augment(key, (uint32_t)image, (int)a->flip, a->pad, a->brightness, a->contrast);
        augment_one(s, image, &draw, to + b * each);
    }
    ref_write(s, 0, to);
}

void ref_pick(const struct ref_step *s)
{
    double value = ref_get(s, 0, clamp_index((int64_t)ref_get(s, 1, 0), shape_count(&ref_in(s, 0)->shape)));
    ref_write(s, 0, &value);
}

void ref_tick(const struct ref_step *s)
{
    bool stays = s->node->in[1] != NONE && ref_get(s, 1, 0) < 0;
    // unsigned, so it wraps without overflow
    uint32_t now = (uint32_t)(int32_t)ref_get(s, 0, 0) + (stays ? 0 : (uint32_t)s->node->attr.tick.by);
    double value = (double)(int32_t)now;
    ref_write(s, 0, &value);
}
