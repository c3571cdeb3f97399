// SPDX-License-Identifier: Apache-2.0
#include "data/image/image.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"
#include "tasks/wgan/wgan.h"

#include <stdlib.h>

enum { COLUMNS = 10, ZOOM = 3, GAP = 3 };

// Grey pixels have one channel for three.
static void paste(const struct wgan_pictures *p, int64_t number, struct image *grid)
{
    const uint8_t *from = p->at + number * p->height * p->width * p->channels;
    int64_t top = GAP + number / COLUMNS * (p->height * ZOOM + GAP), left = GAP + number % COLUMNS * (p->width * ZOOM + GAP);
    for (int64_t y = 0; y < p->height * ZOOM; y++)
        for (int64_t x = 0; x < p->width * ZOOM; x++)
            for (int64_t c = 0; c < 3; c++)
                grid->pixels[((top + y) * grid->width + left + x) * 3 + c] =
                    from[(y / ZOOM * p->width + x / ZOOM) * p->channels + (p->channels == 3 ? c : 0)];
}

int wgan_grid(const struct wgan_pictures *p, struct text *png)
{
    const int64_t count = p->count < WGAN_GRID ? p->count : WGAN_GRID, rows = (count + COLUMNS - 1) / COLUMNS;
    struct image grid = {.height = (int)(GAP + rows * (p->height * ZOOM + GAP)),
                         .width = (int)(GAP + COLUMNS * (p->width * ZOOM + GAP))};
    void *bytes = NULL;
    size_t length = 0;
    grid.pixels = zalloc((size_t)grid.height * (size_t)grid.width * 3);
    for (int64_t i = 0; i < count; i++) paste(p, i, &grid);
    int rc = image_encode_png("the grid", &grid, &bytes, &length);
    if (rc == 0) text_bytes(png, bytes, length);
    free(bytes);
    image_free(&grid);
    return rc;
}
