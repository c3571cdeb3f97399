// SPDX-License-Identifier: Apache-2.0
// Cost: the pixels of the box, and the pixels of the picture for its runs.
#include "tasks/detection/paste.h"

#include <stdlib.h>

#include "runtime/common/base/arena.h"

enum { BORDER = 1 };
static const float INSIDE = 0.5f;

struct axis {
    int64_t begin, length;  // in the picture; it may reach beyond it
};

static void enlarge(const float box[4], int side, struct axis axis[2])
{
    const float scale = (float)(side + 2 * BORDER) / (float)side;
    for (int a = 0; a < 2; a++) {
        float half = (box[a + 2] - box[a]) * 0.5f * scale, centre = (box[a + 2] + box[a]) * 0.5f;
        int64_t first = (int64_t)(centre - half), last = (int64_t)(centre + half);
        axis[a] = (struct axis){first, last - first + 1};
    }
}

// Two elements of `count` and the part of the second, at an output of `length`.
static float find_taps(int64_t at, int64_t length, int count, int tap[2])
{
    float x = ((float)at + 0.5f) * ((float)count / (float)length) - 0.5f;
    if (x < 0) x = 0;
    tap[0] = (int)x;
    if (tap[0] > count - 1) tap[0] = count - 1;
    tap[1] = tap[0] + (tap[0] < count - 1);
    return x - (float)tap[0];
}

static float element(const float *mask, int side, int y, int x)
{
    y -= BORDER, x -= BORDER;
    return y < 0 || x < 0 || y >= side || x >= side ? 0 : mask[y * side + x];
}

struct rle paste_mask(const float *mask, int side, const float box[4], const int32_t size[2])
{
    const int count = side + 2 * BORDER;
    struct axis axis[2];
    uint8_t *inside = zalloc((size_t)size[0] * (size_t)size[1]);  // column by column
    enlarge(box, side, axis);
    for (int64_t i = 0; i < axis[0].length; i++) {
        int64_t x = axis[0].begin + i;
        int across[2], down[2];
        float right = find_taps(i, axis[0].length, count, across);
        for (int64_t k = 0; k < axis[1].length && x >= 0 && x < size[0]; k++) {
            int64_t y = axis[1].begin + k;
            if (y < 0 || y >= size[1]) continue;
            float low = find_taps(k, axis[1].length, count, down);
            float above = (1 - right) * element(mask, side, down[0], across[0]) + right * element(mask, side, down[0], across[1]);
            float below = (1 - right) * element(mask, side, down[1], across[0]) + right * element(mask, side, down[1], across[1]);
            inside[x * size[1] + y] = (1 - low) * above + low * below > INSIDE;
        }
    }
    struct rle r = rle_encode(inside, size[1], size[0]);
    free(inside);
    return r;
}
