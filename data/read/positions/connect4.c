// SPDX-License-Identifier: Apache-2.0
#include "data/read/positions/connect4.h"

#include "runtime/common/base/text.h"

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

struct connect4 connect4_from_planes(const uint8_t planes[CONNECT4_PLANES])
{
    struct connect4 b = {0};
    for (int row = CONNECT4_ROWS - 1; row >= 0; row--)
        for (int c = 0; c < CONNECT4_COLUMNS; c++, planes += 2) {
            b.own |= (uint64_t)planes[0] << (7 * c + row);
            b.all |= (uint64_t)(planes[0] | planes[1]) << (7 * c + row);
        }
    return b;
}

void connect4_draw(const struct connect4 *b, struct text *into)
{
    const char mover = connect4_mover(b), other = mover == 'X' ? 'O' : 'X';
    for (int row = CONNECT4_ROWS - 1; row >= 0; row--) {
        text_add(into, "  |");
        for (int c = 0; c < CONNECT4_COLUMNS; c++) {
            const uint64_t cell = 1ull << (7 * c + row);
            text_add(into, " %c", b->own & cell ? mover : b->all & cell ? other : '.');
        }
        text_add(into, " |\n");
    }
    text_add(into, "    1 2 3 4 5 6 7\n");
}
