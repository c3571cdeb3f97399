// SPDX-License-Identifier: Apache-2.0
// Inception-v3 (Szegedy et al. 2015) with torchvision's shapes and names. A unit is a convolution without a bias, a norm and the
// activation. Windows are padded by half their size, so that images keep their size, or not at all (valid).
//
//   stem   3x3/2 32, 3x3 32, 3x3 64 (padded), max pool 3x3/2, 1x1 80, 3x3 192, max pool 3x3/2
//   mixed  branches side by side, whose channels are joined: A three times, B, C four times, D, E twice; B and D halve the image
//   second head, on the result of the last C: average pool 5x5/3, 1x1 128, 5x5 768, global average pool, linear. It needs images
//          of 299 pixels: 5x5 places after its pool
//
// The average pools 3x3 of branches count the padding. Weights begin as N(0, 0.1), the second head's 5x5 as N(0, .01) and its
// linear layer as N(0, .001), torchvision's numbers.
//
// The network of December 2015, in whose features FID is measured, differs: these pools average what lies within the image, and
// the last block has a max pool in their place. Its weights begin as N(0, 2 / inputs).
#include "tasks/common/layers/net_inception.h"

#include <math.h>

enum { MIXED_MOST = 4, CHANNELS = 3 };

struct unit {
    const char *name;  // below the block's; NULL ends a chain
    int64_t k;
    int rows, columns, stride;
    bool valid;
    float deviation;  // of the initial weights
};
#define SAME(name, k, rows, columns) {name, k, rows, columns, 1, false, .1f}
#define VALID(name, k, rows, columns, stride) {name, k, rows, columns, stride, true, .1f}
#define CHAIN(...) ((const struct unit[]){__VA_ARGS__, {0}})

struct network {
    struct net *net;
    const struct net_inception *how;
};

static int unit(const struct network *w, const char *name, int x, const struct unit *u)
{
    int high = u->valid ? 0 : u->rows / 2, wide = u->valid ? 0 : u->columns / 2;
    const struct conv_attr a = {.stride = {u->stride, u->stride}, .before = {high, wide}, .after = {high, wide}, .groups = 1};
    struct net *n = w->net;
    const double inputs = (double)(u->rows * u->columns * net_channels(n, x));
    const struct init init = {INIT_NORMAL, w->how->of_2015 ? (float)sqrt(2 / inputs) : u->deviation};
    const int64_t k = u->k / w->how->divisor > 0 ? u->k / w->how->divisor : 1;
    struct shape shape = SHAPE(k, u->rows, u->columns, net_channels(n, x));
    int filter = graph_param(n->g, net_join(n, name, "conv.weight"), shape, init, ROLE_FILTER);
    return net_norm_act(n, net_join(n, name, "bn"), g_conv_full(n->g, x, filter, NONE, &a));
}

static int chain(const struct network *w, const char *block, int x, const struct unit *u)
{
    for (; u->name; u++) x = unit(w, net_join(w->net, block, u->name), x, u);
    return x;
}

static int pooled(const struct network *w, int x)
{
    const struct pool_attr a = {.k = {3, 3}, .stride = {1, 1}, .pad = {1, 1}, .counts_pad = !w->how->of_2015};
    return g_avgpool_full(w->net->g, x, &a);
}

static int join(const struct network *w, const int *branch, int branches)
{
    return g_concat(w->net->g, branch, branches, CHANNELS);
}

// ---- blocks

static int mixed_a(const struct network *w, const char *name, int x, int64_t pool)
{
    int b[MIXED_MOST];
    b[0] = chain(w, name, x, CHAIN(SAME("branch1x1", 64, 1, 1)));
    b[1] = chain(w, name, x, CHAIN(SAME("branch5x5_1", 48, 1, 1), SAME("branch5x5_2", 64, 5, 5)));
    b[2] = chain(w, name, x, CHAIN(SAME("branch3x3dbl_1", 64, 1, 1), SAME("branch3x3dbl_2", 96, 3, 3),
                                   SAME("branch3x3dbl_3", 96, 3, 3)));
    b[3] = chain(w, name, pooled(w, x), CHAIN(SAME("branch_pool", pool, 1, 1)));
    return join(w, b, 4);
}

static int mixed_b(const struct network *w, const char *name, int x, int64_t k)
{
    int b[MIXED_MOST];
    b[0] = chain(w, name, x, CHAIN(VALID("branch3x3", k, 3, 3, 2)));
    b[1] = chain(w, name, x, CHAIN(SAME("branch3x3dbl_1", 64, 1, 1), SAME("branch3x3dbl_2", 96, 3, 3),
                                   VALID("branch3x3dbl_3", 96, 3, 3, 2)));
    b[2] = g_maxpool(w->net->g, x, 3, 2);
    return join(w, b, 3);
}

static int mixed_c(const struct network *w, const char *name, int x, int64_t k)
{
    int b[MIXED_MOST];
    b[0] = chain(w, name, x, CHAIN(SAME("branch1x1", 192, 1, 1)));
    b[1] = chain(w, name, x, CHAIN(SAME("branch7x7_1", k, 1, 1), SAME("branch7x7_2", k, 1, 7), SAME("branch7x7_3", 192, 7, 1)));
    b[2] = chain(w, name, x, CHAIN(SAME("branch7x7dbl_1", k, 1, 1), SAME("branch7x7dbl_2", k, 7, 1),
                                   SAME("branch7x7dbl_3", k, 1, 7), SAME("branch7x7dbl_4", k, 7, 1),
                                   SAME("branch7x7dbl_5", 192, 1, 7)));
    b[3] = chain(w, name, pooled(w, x), CHAIN(SAME("branch_pool", 192, 1, 1)));
    return join(w, b, 4);
}

static int mixed_d(const struct network *w, const char *name, int x, int64_t k)
{
    int b[MIXED_MOST];
    b[0] = chain(w, name, x, CHAIN(SAME("branch3x3_1", k, 1, 1), VALID("branch3x3_2", 320, 3, 3, 2)));
    b[1] = chain(w, name, x, CHAIN(SAME("branch7x7x3_1", k, 1, 1), SAME("branch7x7x3_2", k, 1, 7), SAME("branch7x7x3_3", k, 7, 1),
                                   VALID("branch7x7x3_4", k, 3, 3, 2)));
    b[2] = g_maxpool(w->net->g, x, 3, 2);
    return join(w, b, 3);
}

static int mixed_e(const struct network *w, const char *name, int x, int64_t k)
{
    int b[MIXED_MOST], parts[2];
    b[0] = chain(w, name, x, CHAIN(SAME("branch1x1", 320, 1, 1)));
    int y = chain(w, name, x, CHAIN(SAME("branch3x3_1", k, 1, 1)));
    parts[0] = chain(w, name, y, CHAIN(SAME("branch3x3_2a", k, 1, 3)));
    parts[1] = chain(w, name, y, CHAIN(SAME("branch3x3_2b", k, 3, 1)));
    b[1] = join(w, parts, 2);
    y = chain(w, name, x, CHAIN(SAME("branch3x3dbl_1", 448, 1, 1), SAME("branch3x3dbl_2", k, 3, 3)));
    parts[0] = chain(w, name, y, CHAIN(SAME("branch3x3dbl_3a", k, 1, 3)));
    parts[1] = chain(w, name, y, CHAIN(SAME("branch3x3dbl_3b", k, 3, 1)));
    b[2] = join(w, parts, 2);
    const bool last = strcmp(name, "Mixed_7c") == 0;
    y = last && w->how->of_2015 ? g_maxpool_pad(w->net->g, x, 3, 1, 1) : pooled(w, x);
    b[3] = chain(w, name, y, CHAIN(SAME("branch_pool", 192, 1, 1)));
    return join(w, b, 4);
}

static const struct {
    const char *name;
    int (*add)(const struct network *, const char *name, int x, int64_t k);
    int64_t k;
    bool second;  // the second head is behind it
} mixed[] = {
    {"Mixed_5b", mixed_a, 32, false},  {"Mixed_5c", mixed_a, 64, false},  {"Mixed_5d", mixed_a, 64, false},
    {"Mixed_6a", mixed_b, 384, false}, {"Mixed_6b", mixed_c, 128, false}, {"Mixed_6c", mixed_c, 160, false},
    {"Mixed_6d", mixed_c, 160, false}, {"Mixed_6e", mixed_c, 192, true},  {"Mixed_7a", mixed_d, 192, false},
    {"Mixed_7b", mixed_e, 384, false}, {"Mixed_7c", mixed_e, 384, false},
};

// ---- stem, heads, network

static int stem(const struct network *w, int x)
{
    graph_scope(w->net->g, "stem");
    x = chain(w, "", x, CHAIN(VALID("Conv2d_1a_3x3", 32, 3, 3, 2), VALID("Conv2d_2a_3x3", 32, 3, 3, 1),
                              SAME("Conv2d_2b_3x3", 64, 3, 3)));
    x = chain(w, "", g_maxpool(w->net->g, x, 3, 2), CHAIN(SAME("Conv2d_3b_1x1", 80, 1, 1), VALID("Conv2d_4a_3x3", 192, 3, 3, 1)));
    return g_maxpool(w->net->g, x, 3, 2);
}

static int second_head(const struct network *w, int x)
{
    struct net *n = w->net;
    const struct net_dense fc = {w->how->second, F32, {INIT_NORMAL, .001f}, {INIT_ZERO, 0}, false};
    graph_scope(n->g, "AuxLogits");
    x = chain(w, "AuxLogits", g_avgpool(n->g, x, 5, 3), CHAIN(SAME("conv0", 128, 1, 1), {"conv1", 768, 5, 5, 1, true, .01f}));
    return net_head(n, "AuxLogits.fc", g_avgpool_global(n->g, x), &fc);
}

int net_inception(struct net *n, int x, const struct net_inception *how, int *second)
{
    const struct network w = {n, how};
    n->eps = 1e-3f;
    x = stem(&w, x);
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
        graph_scope(n->g, "%s", mixed[i].name);
        x = mixed[i].add(&w, mixed[i].name, x, mixed[i].k);
        if (mixed[i].second && how->second > 0) *second = second_head(&w, x);
    }
    return g_avgpool_global(n->g, x);
}
