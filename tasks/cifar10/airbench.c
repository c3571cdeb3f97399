// SPDX-License-Identifier: Apache-2.0
// The network of the public CIFAR-10 speedruns (KellerJordan/cifar10-airbench and its descendants).
//
//   whiten 2x2 (frozen filters, a bias trained for a while), act
//   three groups: conv 3x3, max pool 2, norm, act, conv 3x3, norm, act
//   max pool, linear head without bias, divided by its width
//
// Filters begin as identity on the first input channels, norms have a bias and no scale. x[N,H,W,3] -> [N,classes].
#include "tasks/cifar10/cifar10_networks.h"

#include <math.h>
#include <stdlib.h>

enum { WHITEN_SIDE = 2, WHITEN_IMAGES = 5000 };

static int filters(struct graph *g, const char *name, int64_t k, int64_t side, int64_t c)
{
    struct init dirac = {INIT_DIRAC, 1.0f / sqrtf((float)(side * side * c))};
    return graph_param(g, name, SHAPE(k, side, side, c), dirac, ROLE_FILTER);
}

static int conv_group(struct net *n, int number, int x, int64_t c, int64_t k)
{
    struct graph *g = n->g;
    const char *name = arena_text(&g->arena, "group%d", number);
    graph_scope(g, "%s.1", name);
    x = net_conv_by(n, x, filters(g, net_join(n, name, "conv1.weight"), k, 3, c), 1, 1);
    x = net_norm_act(n, net_join(n, name, "norm1"), g_maxpool(g, x, 2, 2));
    graph_scope(g, "%s.2", name);
    x = net_conv_by(n, x, filters(g, net_join(n, name, "conv2.weight"), k, 3, k), 1, 1);
    return net_norm_act(n, net_join(n, name, "norm2"), x);
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

void airbench_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    struct graph *g = s->g;
    struct net n = cifar10_net(s, 1e-12f);
    int64_t width[] = {64, 256, 256};
    n.unscaled = true;
    net_take(&n, "model.widths", &s->setting->recipe->widths, width, 3);
    if (g->error) return;
    int x = in[0];
    int64_t wide = 2 * WHITEN_SIDE * WHITEN_SIDE * shape_last(&g->value[x].shape);
    x = whitening(s, x, wide);
    for (int i = 0; i < 3; i++) x = conv_group(&n, i + 1, x, i ? width[i - 1] : wide, width[i]);
    graph_scope(g, "head");
    if (g->error) return;
    x = cifar10_keys(s->setting->recipe)->pool == POOL_WINDOW ? g_maxpool(g, x, 3, 3) : g_maxpool_global(g, x);
    if (g->error) return;
    const struct shape *shape = &g->value[x].shape;
    float features = (float)(shape_count(shape) / shape->dim[0]);
    const struct net_dense head = {s->setting->data->classes, F32, {INIT_UNIT_UNIFORM, 1}, {INIT_ZERO, 0}, true};
    out[0] = g_scale(g, net_head(&n, "head", x, &head), 1.0f / features);
}

int airbench_begin(const struct setting *setting, struct session *session, struct dataset *data)
{
    const struct dataset_facts *f = setting->data;
    int64_t n = f->count[SPLIT_TRAIN] < WHITEN_IMAGES ? f->count[SPLIT_TRAIN] : WHITEN_IMAGES;
    size_t image = (size_t)f->height * (size_t)f->width * (size_t)f->channels;
    size_t patch = (size_t)(WHITEN_SIDE * WHITEN_SIDE * f->channels), bytes = 2 * patch * patch * sizeof(float);
    uint8_t *images = zalloc((size_t)n * image);
    float *weight = zalloc(bytes);
    int rc = dataset_read(data, SPLIT_TRAIN, "images", 0, n, images);
    if (rc == 0) {
        const struct whiten_images from = {images, n, f->height, f->width, f->channels, f->mean, f->std};
        whiten(&from, WHITEN_SIDE, weight);
        rc = session_put(session, "whiten.weight", weight, 0, bytes);
    }
    free(images);
    free(weight);
    return rc;
}
