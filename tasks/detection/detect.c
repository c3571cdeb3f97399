// SPDX-License-Identifier: Apache-2.0
// Cost: at most a million overlaps per class, where the network is sure of nothing; 0.1 ms per picture once it has learned.
#include "tasks/detection/detect.h"

#include "runtime/boxes.h"
#include "runtime/common/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 1000 };
static const float LEAST_SCORE = 0.05f, SAME = 0.5f;

struct candidate {
    struct detection is;
    int64_t order;  // in which equal scores stay
};

static int by_score(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->is.score != y->is.score) return x->is.score > y->is.score ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static float inside(float at, float most)
{
    return at < 0 ? 0 : at > most ? most : at;
}

// A mirrored view's box becomes a box of the view before.
static void turn_back(const struct anchors *a, int view, float box[4])
{
    for (int axis = 0; axis < 2; axis++) {
        if (!(view >> axis & 1)) continue;
        const float side = (float)(axis ? a->height : a->width), low = side - box[axis + 2];
        box[axis + 2] = side - box[axis], box[axis] = low;
    }
}

static void place_box(const struct anchors *a, const struct detect_answers *of, int64_t i, float box[4])
{
    const float across = (float)of->width / (float)a->width, down = (float)of->height / (float)a->height;
    anchors_move(a, i % a->count, of->deltas + i * ANCHOR_DELTA, box);
    turn_back(a, (int)(i / a->count), box);
    for (int k = 0; k < 4; k++)
        box[k] = k % 2 ? inside(box[k] * down, (float)of->height) : inside(box[k] * across, (float)of->width);
}

// The sigmoid of the class's logit, or its part of the softmax, whose first logit means no class.
static float score_of(const struct anchors *a, const struct detect_answers *of, int64_t i, int class)
{
    const int first = a->style->none + 1;
    const float *logit = of->logits + i * (of->classes + first), z = logit[first + class];
    float sum = first ? 0 : 1 + expf(-z);
    for (int c = 0; first && c <= of->classes; c++) sum += expf(logit[c] - z);
    return 1 / sum;
}

static int64_t list_class(const struct anchors *a, const struct detect_answers *of, int class, struct candidate *into)
{
    int64_t count = 0;
    for (int64_t i = 0; i < a->count * of->views; i++) {
        float score = score_of(a, of, i, class);
        if (score >= LEAST_SCORE) into[count++] = (struct candidate){.is = {.score = score, .class = class}, .order = i};
    }
    qsort(into, (size_t)count, sizeof *into, by_score);
    if (count > CANDIDATES) count = CANDIDATES;
    for (int64_t i = 0; i < count; i++) place_box(a, of, into[i].order, into[i].is.box);
    return count;
}

// The mean of the first box and of all that overlap it by `least` or more, each counted as much as its score.
static void average_box(const struct candidate *c, int64_t count, float least, float box[4])
{
    double sum[4] = {0}, scores = 0;
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && box_overlap(c->is.box, c[i].is.box) < least) continue;
        scores += (double)c[i].is.score;
        for (int k = 0; k < 4; k++) sum[k] += (double)c[i].is.score * (double)c[i].is.box[k];
    }
    for (int k = 0; k < 4; k++) box[k] = (float)(sum[k] / scores);
}

// Moves those that overlap no better one to the front, as many as all classes together may have; returns their number.
static int64_t keep_apart(const struct anchors_style *s, struct candidate *c, int64_t count)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count && kept < DETECT_MOST; i++) {
        struct candidate is = c[i];
        int64_t k = 0;
        while (k < kept && box_overlap(c[k].is.box, is.is.box) <= SAME) k++;
        if (k < kept) continue;
        if (s->averaged > 0) average_box(c + i, count - i, s->averaged, is.is.box);
        c[kept++] = is;
    }
    return kept;
}

int detect(const struct anchors *a, const struct detect_answers *of, struct detection found[DETECT_MOST])
{
    struct candidate *of_class = zalloc((size_t)(a->count * of->views) * sizeof *of_class);
    struct candidate *all = zalloc((size_t)of->classes * DETECT_MOST * sizeof *all);
    int64_t count = 0;
    for (int class = 0; class < of->classes; class++) {
        int64_t kept = keep_apart(a->style, of_class, list_class(a, of, class, of_class));
        memcpy(all + count, of_class, (size_t)kept * sizeof *all);
        for (; kept > 0; kept--, count++) all[count].order = count;
    }
    qsort(all, (size_t)count, sizeof *all, by_score);
    if (count > DETECT_MOST) count = DETECT_MOST;
    for (int64_t i = 0; i < count; i++) found[i] = all[i].is;
    free(of_class);
    free(all);
    return (int)count;
}
