// SPDX-License-Identifier: Apache-2.0
#include "data/read/positions/connect4.h"

static uint64_t mirrored(uint64_t discs)
{
    uint64_t into = 0;
    for (int c = 0; c < CONNECT4_COLUMNS; c++) into |= (discs >> 7 * c & 63) << 7 * (CONNECT4_COLUMNS - 1 - c);
    return into;
}

struct connect4 connect4_mirror(const struct connect4 *b)
{
    return (struct connect4){mirrored(b->own), mirrored(b->all)};
}

void connect4_planes(const struct connect4 *b, uint8_t planes[CONNECT4_PLANES])
{
    for (int row = CONNECT4_ROWS - 1; row >= 0; row--)
        for (int c = 0; c < CONNECT4_COLUMNS; c++) {
            *planes++ = b->own >> (7 * c + row) & 1;
            *planes++ = (b->all & ~b->own) >> (7 * c + row) & 1;
        }
}
