// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/layers/net.h"

struct net net_of(struct step *s)
{
    return (struct net){.step = s, .g = s->g, .key = NONE, .counter = NONE};
}

void net_dropout_at(struct net *n, float p)
{
    n->p = p;
    if (!step_trains(n->step) || p <= 0) return;
    n->key = step_key(n->step);
    n->counter = step_count(n->step);
}

int64_t net_channels(const struct net *n, int x)
{
    return n->g->error || x == NONE ? 1 : shape_last(&n->g->value[x].shape);
}

char *net_join(const struct net *n, const char *name, const char *part)
{
    return arena_text(&n->g->arena, "%s%s%s", name, *name ? "." : "", part);
}

int net_dropout(struct net *n, int x)
{
    return n->key == NONE ? x : g_dropout(n->g, x, n->key, n->counter, n->p, step_site(n->step));
}

int net_dense(struct net *n, const char *name, int x, const struct net_dense *d)
{
    struct graph *g = n->g;
    if (g->error) return NONE;
    int w = graph_param(g, net_join(n, name, "weight"), SHAPE(d->out, net_channels(n, x)), d->weight, ROLE_MATRIX);
    int b = d->unbiased ? NONE : graph_param(g, net_join(n, name, "bias"), SHAPE(d->out), d->bias, ROLE_BIAS);
    return g_linear(g, x, w, b, d->to);
}

int net_embedding(struct net *n, const char *slot, int index, const struct net_table *t)
{
    int table = graph_param(n->g, slot, SHAPE(t->rows, t->width), t->init, ROLE_EMBEDDING);
    return index != NONE ? g_gather(n->g, table, index) : g_slice(n->g, table, 0, 0, t->length);
}

int net_head(struct net *n, const char *name, int x, const struct net_dense *d)
{
    struct graph *g = n->g;
    graph_scope(g, "%s", name);
    if (g->error) return NONE;
    int64_t samples = g->value[x].shape.dim[0];
    return net_dense(n, name, g_reshape(g, x, SHAPE(samples, shape_count(&g->value[x].shape) / samples)), d);
}
