// SPDX-License-Identifier: Apache-2.0
// A vector loop for each formula of map.def, each of its slopes and each type.
#include "runtime/cpu/loops/loops_inside.h"

#define A get(t, a, i)
#define B get(t, b, i)
#define C get(t, c, i)
#define Y get(t, y, i)
#define D get(t, dy, i)
#define P p
#define Q q
#define F(name) element_##name
#define EACH(value)                                                                                                    \
    {                                                                                                                  \
        INDEPENDENT                                                                                                    \
        for (int64_t i = 0; i < n; i++) put(t, to, i, (value));                                                        \
    }

ALWAYS void map_of(enum dtype t, enum map formula, int part, const struct map_run *r, int64_t n)
{
    const void *a = r->a, *b = r->b, *c = r->c, *y = r->y, *dy = r->dy;
    void *to = r->to;
    const float p = r->p, q = r->q;
    switch (formula) {
#define MAP(ID, name, inputs, flops, back, value, da, db, dc)                                                          \
    case MAP_##ID:                                                                                                     \
        if (part == 0) EACH(value)                                                                                     \
        else if (part == 1) EACH(D * (da))                                                                             \
        else if (inputs > 1 && part == 2) EACH(D * (db))                                                               \
        else if (inputs > 2) EACH(D * (dc))                                                                            \
        break;
#include "runtime/map.def"
#undef MAP
    default: break;
    }
}

void LOOPS_NAME(map)(enum dtype t, enum map formula, int part, const struct map_run *r, int64_t n)
{
    EACH_TYPE(t, map_of, formula, part, r, n);
}
