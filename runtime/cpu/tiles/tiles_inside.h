// SPDX-License-Identifier: Apache-2.0
// What the files of tiles.h share. A tile is 16 rows of 64 bytes. The instruction adds the product of x (16 rows of 32 channels)
// and w (32 channels in pairs by 16 columns) to a tile of 16 x 16 sums in f32.
#ifndef DAWN_CPU_TILES_INSIDE_H
#define DAWN_CPU_TILES_INSIDE_H

#include "runtime/cpu/tiles/tiles.h"

enum { TILE = 1024, TILE_SIDE = 16, TILE_LINE = 64 };  // bytes; rows; bytes of a row

#if defined __x86_64__

#include "runtime/cpu/product/vectors.h"

#define TILES __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16")))

// All tiles are whole.
TILES static inline void tiles_begin(void)
{
    struct {
        uint8_t palette, start, zero[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shape = {.palette = 1};
    for (int i = 0; i < 8; i++) shape.bytes[i] = TILE_LINE, shape.rows[i] = TILE_SIDE;
    __asm__ volatile("" : : "r"(&shape) : "memory");  // gcc 12 takes the instruction to read 8 bytes of it
    _tile_loadconfig(&shape);
}

TILES static inline void tiles_end(void) { _tile_release(); }

#endif
#endif
