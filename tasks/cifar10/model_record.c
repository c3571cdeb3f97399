// SPDX-License-Identifier: Apache-2.0
// The network of the public CIFAR-10 speedruns (KellerJordan/cifar10-airbench and its descendants).
//
//   whiten 2x2 (frozen filters, a bias trained for a while), act
//   three groups: conv 3x3, max pool 2, norm, act, conv 3x3, norm, act
//   max pool, linear head without bias, divided by its width
//
// Filters begin as identity on the first input channels, norms have a bias and no scale. x[N,H,W,3] -> [N,classes].
#include "tasks/cifar10/model.h"

#include <math.h>

static int filters(struct graph *g, const char *name, int64_t k, int64_t side, int64_t c, const struct model_build *b)
{
    struct init dirac = {INIT_DIRAC, 1.0f / sqrtf((float)(side * side * c))};
    return graph_param(g, name, SHAPE(k, side, side, c), dirac, b->training);
}

static int norm_act(struct graph *g, const char *name, int x, const struct model_build *b)
{
    x = g_norm(g, name, x, b->training, false, true, 1e-12f, (float)b->recipe->norm_momentum, b->training);
    return g_act(g, x, (enum act)b->recipe->activation);
}

static int group(struct graph *g, int number, int x, int64_t c, int64_t k, const struct model_build *b)
{
    const char *name = arena_text(&g->arena, "group%d", number);
    graph_scope(g, "%s.1", name);
    x = g_conv(g, x, filters(g, arena_text(&g->arena, "%s.conv1.weight", name), k, 3, c, b), 1, 1);
    x = g_maxpool(g, x, 2, 2);
    x = norm_act(g, arena_text(&g->arena, "%s.norm1", name), x, b);
    graph_scope(g, "%s.2", name);
    x = g_conv(g, x, filters(g, arena_text(&g->arena, "%s.conv2.weight", name), k, 3, k, b), 1, 1);
    return norm_act(g, arena_text(&g->arena, "%s.norm2", name), x, b);
}

int model_record(struct graph *g, int x, const struct model_build *b)
{
    static const double usual[] = {64, 256, 256};
    const struct recipe_list *w = &b->recipe->widths;
    if (w->count && w->count != 3) return graph_fail(g, ERR_USAGE, "the record network wants three widths");
    const double *width = w->count ? w->at : usual;

    graph_scope(g, "whiten");
    int64_t c = shape_last(&g->value[x].shape), wide = 2 * 4 * c;
    int weight = graph_param(g, "whiten.weight", SHAPE(wide, 2, 2, c), (struct init){INIT_UPLOAD, 0}, false);
    int bias = graph_param(g, "whiten.bias", SHAPE(wide), (struct init){INIT_ZERO, 0}, b->training && b->first_trains);
    x = g_act(g, g_bias(g, g_conv(g, x, weight, 1, 0), bias), (enum act)b->recipe->first_activation);
    for (int i = 0; i < 3; i++) {
        x = group(g, i + 1, x, (int64_t)(i ? width[i - 1] : (double)wide), (int64_t)width[i], b);
    }
    graph_scope(g, "head");
    if (g->error) return NONE;
    x = b->recipe->pool == POOL_WINDOW ? g_maxpool(g, x, 3, 3) : g_maxpool_global(g, x);
    if (g->error) return NONE;
    int64_t n = g->value[x].shape.dim[0], features = shape_count(&g->value[x].shape) / n;
    x = g_reshape(g, x, SHAPE(n, features));
    int head = graph_param(g, "head.weight", SHAPE(b->classes, features), (struct init){INIT_UNIT_UNIFORM, 1}, b->training);
    return g_scale(g, g_linear(g, x, head, NONE, F32), 1.0f / (float)features);
}
