// SPDX-License-Identifier: Apache-2.0
// What the files of tiles.h share. A tile is 16 rows of 64 bytes. The instruction adds the product of x (16 rows of 32 channels)
// and w (32 channels in pairs by 16 columns) to a tile of 16 x 16 sums in f32.
#pragma once

#include "runtime/cpu/tiles/tiles.h"

enum { TILE = 1024, TILE_SIDE = 16, TILE_LINE = 64 };  // bytes; rows; bytes of a row

#if defined __x86_64__

#include "runtime/cpu/product/avx512.h"

#define TILES __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16")))

// Rows of the left factor, and of the sums; units of 4 bytes of a row of the left factor, which are the rows of the right one.
// Sums are tiles 0 to 3, the left factor is 4 and 6, the right one 5 and 7; while all are whole, they are interchangeable.
TILES static inline void tiles_begin(int rows, int units)
{
    struct {
        uint8_t palette, start, zero[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shape = {.palette = 1};
    for (int i = 0; i < 8; i++) shape.bytes[i] = TILE_LINE, shape.rows[i] = (uint8_t)rows;
    shape.bytes[4] = shape.bytes[6] = (uint16_t)(units * 4);
    shape.rows[5] = shape.rows[7] = (uint8_t)units;
    __asm__ volatile("" : : "r"(&shape) : "memory");  // gcc 12 takes the instruction to read 8 bytes of it
    _tile_loadconfig(&shape);
}

// Call it between storing values and loading them as tiles: gcc 12 does not know that loading a tile reads memory.
static inline void tiles_filled(void) { __asm__ volatile("" : : : "memory"); }

TILES static inline void tiles_end(void) { _tile_release(); }

#endif
