// SPDX-License-Identifier: Apache-2.0
// Products by tiles against those by vectors: whole tiles and remainders, a transposed factor, sums that are added.
#include "runtime/cpu/product/pairs_product.h"
#include "runtime/cpu/tiles/tiles.h"
#include "test/unit/test.h"

enum { SIDE = 160 };

struct product_case {
    int64_t rows, columns, depth;
    bool transposed, adds;
};

// Any pairs of small numbers.
static void fill(uint32_t *units, uint32_t from)
{
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
        uint16_t pair[2] = {f32_to_bf16(sinf((float)(i + from))), f32_to_bf16(cosf((float)(i * 3 + from)))};
        memcpy(&units[i], pair, 4);
    }
}

TEST(test_products)
{
    static const struct product_case cases[] = {
        {48, 64, 32, false, false}, {8, 128, 16, false, false}, {48, 32, 128, false, true}, {128, 32, 24, true, true},
        {20, 80, 27, false, false}, {36, 16, 5, true, false},   {4, 112, 17, true, true},   {16, 48, 1, false, false},
    };
    if (!tiles_exist() || !pairs_fit()) skip();
    static uint32_t a[SIDE * SIDE], b[SIDE * SIDE];
    static float ours[SIDE * SIDE], theirs[SIDE * SIDE];
    fill(a, 1), fill(b, 77);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct product_case *c = &cases[i];
        struct product p = {.a = (const float *)a, .b = (const float *)b, .rows = c->rows, .columns = c->columns,
                            .depth = c->depth, .a_row = c->transposed ? 1 : SIDE, .a_unit = c->transposed ? SIDE : 1,
                            .b_row = SIDE, .c_row = SIDE, .adds = c->adds};
        for (int j = 0; j < SIDE * SIDE; j++) ours[j] = theirs[j] = (float)j;
        p.c = ours, tiles_product(&p);
        p.c = theirs, pairs_product(&p);
        for (int j = 0; j < SIDE * SIDE; j++) {
            bool inside = j / SIDE < c->rows && j % SIDE < c->columns;
            if (!inside && ours[j] != (float)j) fail_msg("case %d: [%d][%d] was written", (int)i, j / SIDE, j % SIDE);
            if (!(fabsf(ours[j] - theirs[j]) <= 1e-5f * (fabsf(theirs[j]) + (float)c->depth)))
                fail_msg("case %d: [%d][%d] is %g, not %g", (int)i, j / SIDE, j % SIDE, (double)ours[j], (double)theirs[j]);
        }
    }
}
