// SPDX-License-Identifier: Apache-2.0
// Boxes x1, y1, x2, y2 in f32: their overlap, their order by score, and where ROIAlign reads. These numbers are compared with
// thresholds, so every device rounds each operation, in the order of torchvision: a GPU would fuse products and sums.
// A box without area (x2 <= x1, y2 <= y1, or NaN) does not exist: it fills up a fixed number of boxes.
#pragma once

#include "runtime/common/base/rng.h"

#include <stdbool.h>
#include <string.h>

#ifdef __CUDA_ARCH__
DAWN_BOTH float box_mul(float a, float b) { return __fmul_rn(a, b); }
#else
DAWN_BOTH float box_mul(float a, float b) { return a * b; }
#endif
DAWN_BOTH float box_least(float a, float b) { return b < a ? b : a; }
DAWN_BOTH float box_most(float a, float b) { return b > a ? b : a; }

DAWN_BOTH bool box_exists(const float *b) { return b[2] > b[0] && b[3] > b[1]; }
DAWN_BOTH float box_area(const float *b) { return box_mul(b[2] - b[0], b[3] - b[1]); }

// Intersection over union of boxes with area.
DAWN_BOTH float box_overlap(const float *a, const float *b)
{
    float w = box_least(a[2], b[2]) - box_most(a[0], b[0]), h = box_least(a[3], b[3]) - box_most(a[1], b[1]), shared;
    if (!(w > 0.0f && h > 0.0f)) return 0.0f;
    shared = box_mul(w, h);
    return shared / (box_area(a) + box_area(b) - shared);
}

// The truth that a box overlaps most, the first of equals; and true if no other box overlaps some truth more (best: per truth, or
// NULL). -1: there is no box, or no truth.
struct box_match {
    int64_t at;
    float overlap;
    bool rescued;
};

DAWN_BOTH struct box_match box_match(const float *box, const float *truth, int64_t count, const float *best)
{
    struct box_match m = {0, -1.0f, false};
    if (!box_exists(box)) return m;
    for (int64_t i = 0; i < count; i++) {
        float overlap;
        if (!box_exists(truth + i * 4)) continue;
        overlap = box_overlap(box, truth + i * 4);
        if (overlap > m.overlap) m.overlap = overlap, m.at = i;
        if (best && overlap == best[i]) m.rescued = true;
    }
    return m;
}

// A candidate of non-maximum suppression.
DAWN_BOTH bool box_is_candidate(const float *b, float score, float least_score, float least_side)
{
    return box_exists(b) && b[2] - b[0] >= least_side && b[3] - b[1] >= least_side && score > least_score;
}

// Numbers that are ordered as `x` falls; equal for equal x (-0 is 0), and NaN last.
DAWN_BOTH uint32_t box_rank(float x)
{
    uint32_t bits;
    if (x != x) return UINT32_MAX;
    memcpy(&bits, &x, 4);
    if (x == 0.0f) bits = 0;
    return bits >> 31 ? bits : ~(bits | 0x80000000u);
}

// ---- the coding of a box relative to another one (Girshick et al. 2014): offset of the centre, logarithm of the size
// One axis: of a shift and a growth that are divided by their weights, on low .. high. A size grows by at most 1000 / 16.
DAWN_BOTH void box_decode(float shift, float growth, float low, float high, float *from, float *to)
{
    float size = high - low, centre = low + 0.5f * size, grown;
    grown = expf(growth > 4.135166556742356f ? 4.135166556742356f : growth) * size;
    centre = shift * size + centre;
    *from = centre - 0.5f * grown, *to = centre + 0.5f * grown;
}

DAWN_BOTH void box_encode(float from, float to, float low, float high, float *shift, float *growth)
{
    float size = high - low, want = to - from;
    *shift = (from + 0.5f * want - (low + 0.5f * size)) / size;
    *growth = logf(want / size);
}

// ---- ROIAlign (He et al. 2017): a box is cut into bins, and each bin is the mean of grid x grid samples
enum { ROI_GRID = 256 };  // at most so many
struct roi_axis {
    float start, bin;
    int grid;
};

DAWN_BOTH struct roi_axis roi_axis(float low, float high, float scale, bool aligned, int bins, int sampling)
{
    struct roi_axis o;
    float offset = aligned ? 0.5f : 0.0f, length;
    o.start = box_mul(low, scale) - offset;
    length = box_mul(high, scale) - offset - o.start;
    if (!aligned && length < 1.0f) length = 1.0f;
    o.bin = length / (float)bins;
    o.grid = sampling > 0 ? sampling : o.bin < (float)ROI_GRID ? (int)ceilf(o.bin) : ROI_GRID;
    if (o.grid < 1) o.grid = 1;
    return o;
}

// Sample i of a bin lies between positions *at and *at + 1; returns the weight of the latter. *at is -1 for a sample outside.
DAWN_BOTH float roi_sample(const struct roi_axis *o, int bin, int i, int size, int *at)
{
    float x = o->start + box_mul((float)bin, o->bin) + box_mul((float)i + 0.5f, o->bin) / (float)o->grid;
    *at = -1;
    if (!(x >= -1.0f && x <= (float)size)) return 0.0f;
    x = x < 0.0f ? 0.0f : x;
    *at = (int)x < size - 1 ? (int)x : size - 1;
    return (int)x < size - 1 ? x - (float)*at : 0.0f;
}

// The weight of a position in a bin.
DAWN_BOTH float roi_weight(const struct roi_axis *o, int bin, int at, int size)
{
    float sum = 0.0f;
    for (int i = 0; i < o->grid; i++) {
        int low;
        float high = roi_sample(o, bin, i, size, &low);
        if (low == at) sum += 1.0f - high;
        else if (low >= 0 && low + 1 == at) sum += high;
    }
    return sum / (float)o->grid;
}

// True if samples may read positions in [first, last].
DAWN_BOTH bool roi_reaches(const struct roi_axis *o, int bins, int first, int last)
{
    return o->start <= (float)last + 1.5f && o->start + o->bin * (float)bins >= (float)first - 1.5f;
}

// The level of a pyramid that a box reads: the second from root(area) = side on, the next at twice that. The factor is
// torchvision's epsilon, 2^-2e-6.
DAWN_BOTH int roi_level(const float *box, float side, int levels)
{
    float area = box_area(box);
    int level = 0;
    for (; level + 1 < levels && area >= box_mul(box_mul(side, side), 0.9999986f); level++) side *= 2.0f;
    return level;
}
