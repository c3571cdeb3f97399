// SPDX-License-Identifier: Apache-2.0
// The network of the public CIFAR-10 speedruns (KellerJordan/cifar10-airbench and its descendants).
//
//   whiten 2x2 (frozen filters, a bias trained for a while), act
//   three groups: conv 3x3, max pool 2, norm, act, conv 3x3, norm, act
//   max pool, linear head without bias, divided by its width
//
// Filters begin as identity on the first input channels, norms have a bias and no scale. x[N,H,W,3] -> [N,classes].
#include "tasks/cifar10/networks.h"

#include <math.h>
#include <stdlib.h>

enum { WHITEN_SIDE = 2, WHITEN_IMAGES = 5000 };

static int filters(struct graph *g, const char *name, int64_t k, int64_t side, int64_t c)
{
    struct init dirac = {INIT_DIRAC, 1.0f / sqrtf((float)(side * side * c))};
    return graph_param(g, name, SHAPE(k, side, side, c), dirac, ROLE_FILTER);
}

static int norm_act(struct step *s, const char *name, int x)
{
    const struct recipe *r = s->setting->recipe;
    x = g_norm(s->g, name, x, step_trains(s), false, true, 1e-12f, (float)cifar10_keys(r)->norm_momentum);
    return g_act(s->g, x, (enum act)cifar10_keys(r)->activation);
}

static int conv_group(struct step *s, int number, int x, int64_t c, int64_t k)
{
    struct graph *g = s->g;
    const char *name = arena_text(&g->arena, "group%d", number);
    graph_scope(g, "%s.1", name);
    x = networks_conv(s, x, filters(g, arena_text(&g->arena, "%s.conv1.weight", name), k, 3, c), 1, 1);
    x = g_maxpool(g, x, 2, 2);
    x = norm_act(s, arena_text(&g->arena, "%s.norm1", name), x);
    graph_scope(g, "%s.2", name);
    x = networks_conv(s, x, filters(g, arena_text(&g->arena, "%s.conv2.weight", name), k, 3, k), 1, 1);
    return norm_act(s, arena_text(&g->arena, "%s.norm2", name), x);
}

static int whitening(struct step *s, int x, int64_t wide)
{
    struct graph *g = s->g;
    graph_scope(g, "whiten");
    graph_group(g, GROUP_WHITENING);
    struct init uniform = {INIT_UNIFORM, sqrtf(2.0f / (float)wide)};  // 1 / sqrt of a patch's pixels: half of the filters
    int bias = graph_param(g, "whiten.bias", SHAPE(wide), uniform, ROLE_BIAS);
    uint32_t trains = g->trains;
    g->trains = 0;  // the whitening filters never train
    struct shape shape = SHAPE(wide, WHITEN_SIDE, WHITEN_SIDE, wide / (2 * WHITEN_SIDE * WHITEN_SIDE));
    int weight = graph_param(g, "whiten.weight", shape, (struct init){INIT_UPLOAD, 0}, ROLE_FILTER);
    g->trains = trains;
    graph_group(g, GROUP_REST);
    return g_act(g, g_bias(g, g_conv(g, x, weight, 1, 0), bias), (enum act)cifar10_keys(s->setting->recipe)->first_activation);
}

void record_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    static const double usual[] = {64, 256, 256};
    struct graph *g = s->g;
    const struct recipe *r = s->setting->recipe;
    const struct recipe_list *w = &r->widths;
    if (w->count && w->count != 3) graph_fail(g, ERR_USAGE, "the record network needs three widths; got %d", w->count);
    if (g->error) return;
    const double *width = w->count ? w->at : usual;
    int x = in[0];
    int64_t wide = 2 * WHITEN_SIDE * WHITEN_SIDE * shape_last(&g->value[x].shape);
    x = whitening(s, x, wide);
    for (int i = 0; i < 3; i++) x = conv_group(s, i + 1, x, (int64_t)(i ? width[i - 1] : (double)wide), (int64_t)width[i]);
    graph_scope(g, "head");
    if (g->error) return;
    x = cifar10_keys(r)->pool == POOL_WINDOW ? g_maxpool(g, x, 3, 3) : g_maxpool_global(g, x);
    if (g->error) return;
    int64_t n = g->value[x].shape.dim[0], features = shape_count(&g->value[x].shape) / n;
    struct shape shape = SHAPE(s->setting->data->classes, features);
    int head = graph_param(g, "head.weight", shape, (struct init){INIT_UNIT_UNIFORM, 1}, ROLE_MATRIX);
    x = g_linear(g, g_reshape(g, x, SHAPE(n, features)), head, NONE, F32);
    out[0] = g_scale(g, x, 1.0f / (float)features);
}

int record_begin(const struct setting *setting, struct session *session, struct dataset *data)
{
    const struct dataset_facts *f = setting->data;
    int64_t n = f->count[SPLIT_TRAIN] < WHITEN_IMAGES ? f->count[SPLIT_TRAIN] : WHITEN_IMAGES;
    size_t image = (size_t)f->height * (size_t)f->width * (size_t)f->channels;
    size_t patch = (size_t)(WHITEN_SIDE * WHITEN_SIDE * f->channels), bytes = 2 * patch * patch * sizeof(float);
    uint8_t *images = zalloc((size_t)n * image);
    float *weight = zalloc(bytes);
    int rc = dataset_read(data, SPLIT_TRAIN, "images", 0, n, images);
    if (rc == 0) {
        whiten(images, n, f->height, f->width, f->channels, f->mean, f->std, WHITEN_SIDE, weight);
        rc = session_put(session, "whiten.weight", weight, 0, bytes);
    }
    free(images);
    free(weight);
    return rc;
}
