// SPDX-License-Identifier: Apache-2.0
// The filter 1 2 1 is 1 1 applied twice, so a blur is two mean pools of 2x2, the second with the stride: every device has them
// and their gradients. Cost: four passes over x, two of them copies for the border.
#include "tasks/imagenet/blur.h"

// The pixel behind the first goes before it; of an odd size also the one before the last behind it. Of an even size no window
// reaches so far.
static int reflect_border(struct graph *g, int x, int axis)
{
    if (g->error || x == NONE) return NONE;
    int64_t n = g->value[x].shape.dim[axis], second = n > 1 ? 1 : 0;
    int parts[3] = {g_slice(g, x, axis, second, second + 1), x, NONE}, count = 2;
    if (n % 2) parts[count++] = g_slice(g, x, axis, n - 1 - second, n - second);
    return g_concat(g, parts, count, axis);
}

int blur_halve(struct graph *g, int x)
{
    x = reflect_border(g, reflect_border(g, x, 1), 2);
    return g_avgpool(g, g_avgpool(g, x, 2, 1), 2, 2);
}
