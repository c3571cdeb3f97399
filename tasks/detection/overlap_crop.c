// SPDX-License-Identifier: Apache-2.0
#include "tasks/detection/overlap_crop.h"

#include "runtime/boxes.h"

enum { TRIES = 128 /* all fail once in 10^8 pictures */, KINDS = 7 /* the last one: the whole */ };
static const float LEAST[KINDS - 1] = {-1, 0.1f, 0.3f, 0.5f, 0.7f, 0.9f};
static const double SIDE_LEAST = 0.3, SHAPE_MOST = 2;
static const struct area whole = {0, 0, 1, 1};

bool overlap_crop_keeps(const struct area *a, const float box[4])
{
    const double x = ((double)box[0] + (double)box[2]) / 2, y = ((double)box[1] + (double)box[3]) / 2;
    return x > a->left && x < a->left + a->width && y > a->top && y < a->top + a->height;
}

static bool fits(const struct area *a, float least, const float (*box)[4], int64_t boxes)
{
    const float part[4] = {(float)a->left, (float)a->top, (float)(a->left + a->width), (float)(a->top + a->height)};
    bool keeps = false;
    if (a->width / a->height > SHAPE_MOST || a->height / a->width > SHAPE_MOST) return false;
    for (int64_t i = 0; i < boxes; i++) {
        if (box_overlap(box[i], part) <= least) return false;
        keeps = keeps || overlap_crop_keeps(a, box[i]);
    }
    return keeps;
}

// Two blocks of four words per try: sides and position; kind.
struct area overlap_crop(uint64_t seed, uint32_t epoch, int64_t sample, const float (*box)[4], int64_t boxes)
{
    for (uint32_t try = 0; try < TRIES; try++) {
        struct rng4 r = rng_draw(seed, RNG_CROP, epoch, (uint32_t)sample, 2 * try);
        uint32_t kind = rng_below(rng_draw(seed, RNG_CROP, epoch, (uint32_t)sample, 2 * try + 1).v[0], KINDS);
        if (kind == KINDS - 1) break;
        struct area a = {.width = SIDE_LEAST + (1 - SIDE_LEAST) * (r.v[0] * 0x1p-32),
                         .height = SIDE_LEAST + (1 - SIDE_LEAST) * (r.v[1] * 0x1p-32)};
        a.left = (1 - a.width) * (r.v[2] * 0x1p-32), a.top = (1 - a.height) * (r.v[3] * 0x1p-32);
        if (fits(&a, LEAST[kind], box, boxes)) return a;
    }
    return whole;
}
