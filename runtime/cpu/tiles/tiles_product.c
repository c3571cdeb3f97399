// SPDX-License-Identifier: Apache-2.0
// Small products whose factors fit in the cache: 16 rows by up to 64 columns at a time. Rows and units that fill no tile are
// narrower tiles; the shape of tiles is set for a whole product, so these are computed apart.
#include "runtime/cpu/tiles/tiles_inside.h"

#include "runtime/common/base/error.h"

#if defined __x86_64__

#include "runtime/cpu/product/transpose16.h"

enum { COLUMNS = 4 * TILE_SIDE };

// Rows of the product from `row` on, and units from `unit` on. adds: to what c holds.
struct part {
    const struct product *p;
    int64_t row, rows, unit, units;
    bool adds;
};

// The tile of a at `row` and `unit`, where the instruction reads rows of units.
static inline AVX512 ALWAYS const char *tile_of_a(const struct product *p, int64_t row, int64_t unit, int rows, int units,
                                                   size_t *pitch, char *buffer)
{
    const float *a = p->a + row * p->a_row + unit * p->a_unit;
    if (p->a_unit == 1) {
        *pitch = (size_t)p->a_row * sizeof *a;
        return (const char *)a;
    }
    __m512i v[TILE_SIDE];
    __mmask16 in = avx512_below(rows, 0);
    for (int i = 0; i < TILE_SIDE; i++) v[i] = _mm512_maskz_loadu_epi32(i < units ? in : 0, a + i * p->a_unit);
    transpose16(v);
    for (int i = 0; i < TILE_SIDE; i++) _mm512_store_si512((void *)(buffer + i * TILE_LINE), v[i]);
    *pitch = TILE_LINE;
    tiles_filled();
    return buffer;
}

// `wide` tiles of columns. rows, units: of a tile.
TILES ALWAYS static inline void add_columns(const int wide, const struct part *t, int64_t row, int64_t column, int rows,
                                            int units)
{
    const struct product *p = t->p;
    const size_t b_pitch = (size_t)p->b_row * sizeof *p->b, c_pitch = (size_t)p->c_row * sizeof *p->c;
    float *c = p->c + row * p->c_row + column;
    char buffer[TILE] __attribute__((aligned(64)));
    if (t->adds) {
        _tile_loadd(0, c, c_pitch);
        if (wide > 1) _tile_loadd(1, c + 16, c_pitch);
        if (wide > 2) _tile_loadd(2, c + 32, c_pitch);
        if (wide > 2) _tile_loadd(3, c + 48, c_pitch);
    } else {
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
    }
    for (int64_t u = t->unit; u < t->unit + t->units; u += units) {
        size_t a_pitch;
        const char *a = tile_of_a(p, row, u, rows, units, &a_pitch, buffer);
        const float *b = p->b + u * p->b_row + column;
        _tile_loadd(6, a, a_pitch);
        _tile_loadd(7, b, b_pitch);
        _tile_dpbf16ps(0, 6, 7);
        if (wide > 1) {
            _tile_loadd(5, b + 16, b_pitch);
            _tile_dpbf16ps(1, 6, 5);
        }
        if (wide > 2) {
            _tile_loadd(7, b + 32, b_pitch);
            _tile_dpbf16ps(2, 6, 7);
            _tile_loadd(5, b + 48, b_pitch);
            _tile_dpbf16ps(3, 6, 5);
        }
    }
    _tile_stored(0, c, c_pitch);
    if (wide > 1) _tile_stored(1, c + 16, c_pitch);
    if (wide > 2) _tile_stored(2, c + 32, c_pitch);
    if (wide > 2) _tile_stored(3, c + 48, c_pitch);
}

TILES static void add_one(const struct part *t, int64_t row, int64_t column, int rows, int units)
{
    add_columns(1, t, row, column, rows, units);
}
TILES static void add_two(const struct part *t, int64_t row, int64_t column, int rows, int units)
{
    add_columns(2, t, row, column, rows, units);
}
TILES static void add_four(const struct part *t, int64_t row, int64_t column, int rows, int units)
{
    add_columns(4, t, row, column, rows, units);
}

static void add_part(const struct part *t)
{
    int rows = t->rows < TILE_SIDE ? (int)t->rows : TILE_SIDE, units = t->units < TILE_SIDE ? (int)t->units : TILE_SIDE;
    tiles_begin(rows, units);
    for (int64_t row = t->row; row < t->row + t->rows; row += rows)
        for (int64_t at = 0, left; (left = t->p->columns - at) > 0; at += left)
            if (left >= COLUMNS) left = COLUMNS, add_four(t, row, at, rows, units);
            else if (left >= COLUMNS / 2) left = COLUMNS / 2, add_two(t, row, at, rows, units);
            else left = TILE_SIDE, add_one(t, row, at, rows, units);
}

void tiles_product(const struct product *p)
{
    BUG_IF(p->depth < 1 || (p->a_unit != 1 && p->a_row != 1));
    const int64_t whole = p->depth / TILE_SIDE * TILE_SIDE, rows = p->rows / TILE_SIDE * TILE_SIDE;
    for (int part = 0; part < 2; part++) {
        struct part t = {.p = p, .row = part ? rows : 0, .rows = part ? p->rows - rows : rows, .units = whole, .adds = p->adds};
        if (t.rows == 0) continue;
        if (whole > 0) add_part(&t);
        t.adds = p->adds || whole > 0, t.unit = whole, t.units = p->depth - whole;
        if (t.units > 0) add_part(&t);
    }
    tiles_end();
}

#else

void tiles_product(const struct product *p)
{
    (void)p;
    BUG("tiles_product without tiles");
}

#endif
