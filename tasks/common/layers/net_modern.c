// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/layers/net_modern.h"

#include <math.h>

const char *const net_modern_between[] = {"relu-squared", "swiglu", NULL};

int net_modern_check(const char *where, const struct recipe *r, int64_t width, int64_t heads)
{
    if (width % heads)
        return fail(ERR_USAGE, "%s: a \"model.width\" of %lld cannot be shared by %lld heads (\"model.heads\")", where,
                    (long long)width, (long long)heads);
    if (recipe_has_part(r, PART_ROTARY) && (width / heads % 2 || width / heads > ROTARY_MOST))
        return fail(ERR_USAGE, "%s: a head has %lld numbers (\"model.width\" / \"model.heads\"); rotary positions need an even "
                    "number up to %d", where, (long long)(width / heads), ROTARY_MOST);
    return 0;
}

// Products that end a part begin with nothing, because each adds to the sum of all before.
void net_modern_layer(const struct net_modern_keys *k, int64_t width, struct net_modern *own, struct net_transformer *layer)
{
    own->begin.weight = (struct init){INIT_UNIFORM, sqrtf(3) * 0.5f / sqrtf((float)width)};
    own->begin.last = (struct init){INIT_ZERO, 0};
    own->rotary.base = (float)k->base;
    layer->begin = &own->begin, layer->rotary = &own->rotary;
    layer->between = NET_SQUARED + (enum net_between)k->between;
}
