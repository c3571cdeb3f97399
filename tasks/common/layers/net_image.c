// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/layers/net.h"

#include <math.h>

int net_conv_by(struct net *n, int x, int w, int stride, int pad)
{
    struct conv_attr a = {.stride = {stride, stride}, .before = {pad, pad}, .after = {pad, pad}, .groups = 1,
                          .winograd = n->winograd};
    return g_conv_full(n->g, x, w, NONE, &a);
}

int net_conv(struct net *n, const char *name, int x, struct net_conv how)
{
    struct init init = {INIT_NORMAL, (float)sqrt(2.0 / (double)(how.k * how.side * how.side))};
    struct shape shape = SHAPE(how.k, how.side, how.side, net_channels(n, x));
    return net_conv_by(n, x, graph_param(n->g, net_join(n, name, "weight"), shape, init, ROLE_FILTER), how.stride, how.pad);
}

int net_norm(struct net *n, const char *name, int x)
{
    struct norm_layer how = {.training = step_trains(n->step), .scale = !n->unscaled, .bias = true, .eps = n->eps,
                             .momentum = n->momentum};
    return g_norm(n->g, name, x, NONE, &how);
}

int net_act(struct net *n, int x)
{
    return g_act(n->g, x, n->act);
}

int net_norm_act(struct net *n, const char *name, int x)
{
    return net_act(n, net_norm(n, name, x));
}

int net_conv_norm_act(struct net *n, const char *filter, const char *norm, int x, struct net_conv how)
{
    return net_norm_act(n, norm, net_conv(n, filter, x, how));
}

// Rows of `width` elements, each twice.
static int repeat_rows(struct graph *g, int x, int64_t rows, int64_t width)
{
    const union attr twice = {.move = {.shape = SHAPE(rows, 2, width), .axes = 2u, .factor = 1}};
    x = g_reshape(g, x, SHAPE(rows, 1, width));
    return graph_node(g, OP_BROADCAST, &x, 1, &twice, NULL);
}

int net_double(struct net *n, int x)
{
    struct graph *g = n->g;
    if (g->error) return NONE;
    const struct shape is = g->value[x].shape;
    const int64_t samples = is.dim[0], high = is.dim[1], wide = is.dim[2], channels = is.dim[3];
    x = repeat_rows(g, x, samples * high * wide, channels);
    x = repeat_rows(g, x, samples * high, 2 * wide * channels);
    return g_reshape(g, x, SHAPE(samples, 2 * high, 2 * wide, channels));
}

int net_stages(struct net *n, int x, const struct net_stages *s)
{
    for (int stage = 0; stage < s->count; stage++)
        for (int64_t i = 0; i < s->blocks[stage]; i++) {
            char *name = arena_text(&n->g->arena, "layer%d.%lld", stage + 1, (long long)i);
            graph_scope(n->g, "%s", name);
            x = s->block(n, x, &(struct net_block){name, s->width[stage], stage && i == 0 ? 2 : 1, s->bottleneck});
        }
    return x;
}

void net_take(struct net *n, const char *key, const struct recipe_list *list, int64_t into[], int count)
{
    if (list->count && list->count != count)
        graph_fail(n->g, ERR_USAGE, "this network has %d numbers in \"%s\"; got %d", count, key, list->count);
    for (int i = 0; list->count == count && i < count; i++) into[i] = (int64_t)list->at[i];
}
