// SPDX-License-Identifier: Apache-2.0
// The networks of WGAN-GP (Gulrajani et al. 2017) for pictures of 32 x 32: of DCGAN's type, and residual. Neither critic has a
// batch norm, because its penalty is about single pictures. A bias before a norm would do nothing, so there is none.
#include "tasks/wgan/wgan_networks.h"

#include "tasks/common/layers/net.h"
#include "tasks/wgan/wgan_keys.h"

#include <math.h>

static const struct init ZEROS = {INIT_ZERO, 0};

static struct net generator_of(struct step *s)
{
    struct net n = net_of(s);
    n.act = ACT_RELU, n.eps = 1e-5f, n.momentum = 0.9f;
    graph_group(s->g, GROUP_GENERATOR);
    return n;
}

static struct net critic_of(struct step *s)
{
    struct net n = net_of(s);
    graph_group(s->g, GROUP_CRITIC);
    return n;
}

static int64_t width_of(const struct step *s) { return wgan_keys(s->setting->recipe)->width; }

// Uniform with the variance 2 / (in + out): the products that each value is a sum of, and that each value goes into (Glorot and
// Bengio 2010).
static struct init glorot(double in, double out) { return (struct init){INIT_UNIFORM, (float)sqrt(6 / (in + out))}; }
// The same with twice the variance, for what a relu halves (He et al. 2015).
static struct init glorot_relu(double in, double out) { return (struct init){INIT_UNIFORM, (float)sqrt(12 / (in + out))}; }

static int add_dense(struct net *n, const char *name, int x, struct net_dense d)
{
    struct graph *g = n->g;
    if (g->error || x == NONE) return NONE;
    int64_t rows = g->value[x].shape.dim[0], in = shape_count(&g->value[x].shape) / rows;
    graph_scope(g, "%s", name);
    d.weight = glorot((double)in, (double)d.out), d.bias = ZEROS;
    return net_dense(n, name, g_reshape(g, x, SHAPE(rows, in)), &d);
}

static int add_bias(struct net *n, const char *name, int x)
{
    int b = graph_param(n->g, net_join(n, name, "bias"), SHAPE(net_channels(n, x)), ZEROS, ROLE_BIAS);
    return g_bias(n->g, x, b);
}

// ---- DCGAN's type (Radford et al. 2016): four times as many channels where the picture is 4 x 4, windows of 5 x 5

enum { WINDOW = 5, AREA = WINDOW * WINDOW, STRIDES = 2 * 2 };

static int deconv_to_double(struct net *n, const char *name, int x, int64_t to)
{
    struct graph *g = n->g;
    if (g->error || x == NONE) return NONE;
    int64_t from = net_channels(n, x), side = 2 * g->value[x].shape.dim[1];
    const struct conv_attr a = {.stride = {2, 2}, .before = {2, 2}, .after = {2, 2}, .groups = 1, .x_h = side, .x_w = side};
    struct init init = glorot_relu((double)from * AREA / STRIDES, (double)to * AREA);
    graph_scope(g, "%s", name);
    return g_deconv(g, x, graph_param(g, net_join(n, name, "weight"), SHAPE(from, WINDOW, WINDOW, to), init, ROLE_FILTER), &a);
}

static int generate_dcgan(struct step *s, int noise, int64_t channels)
{
    struct net n = generator_of(s);
    struct graph *g = s->g;
    const int64_t d = width_of(s);
    const struct net_dense first = {.out = 4 * 4 * 4 * d, .to = s->setting->dtype, .unbiased = true};
    int x = add_dense(&n, "generator.dense", noise, first);
    x = net_norm_act(&n, "generator.norm0", x);
    if (g->error) return NONE;
    x = g_reshape(g, x, SHAPE(g->value[x].shape.dim[0], 4, 4, 4 * d));
    x = net_norm_act(&n, "generator.norm1", deconv_to_double(&n, "generator.deconv1", x, 2 * d));
    x = net_norm_act(&n, "generator.norm2", deconv_to_double(&n, "generator.deconv2", x, d));
    return g_act(g, add_bias(&n, "generator.deconv3", deconv_to_double(&n, "generator.deconv3", x, channels)), ACT_TANH);
}

static int conv_to_half(struct net *n, const char *name, int x, int64_t to)
{
    struct graph *g = n->g;
    const double from = (double)net_channels(n, x);
    struct init init = glorot_relu(from * AREA, (double)to * AREA / STRIDES);
    graph_scope(g, "%s", name);
    int w = graph_param(g, net_join(n, name, "weight"), SHAPE(to, WINDOW, WINDOW, (int64_t)from), init, ROLE_FILTER);
    return g_map(g, MAP_LEAKY_RELU, add_bias(n, name, net_conv_by(n, x, w, 2, 2)), 0.2f, 0);
}

static int criticise_dcgan(struct step *s, int x)
{
    struct net n = critic_of(s);
    const int64_t d = width_of(s);
    x = conv_to_half(&n, "critic.conv1", x, d);
    x = conv_to_half(&n, "critic.conv2", x, 2 * d);
    x = conv_to_half(&n, "critic.conv3", x, 4 * d);
    return add_dense(&n, "critic.dense", x, (struct net_dense){.out = 1, .to = F32});
}

// ---- residual: three blocks that enlarge; two that halve and two that do not

static int add_conv(struct net *n, const char *name, int x, int64_t to, int side)
{
    const double from = (double)net_channels(n, x), area = side * side;
    struct init init = side > 1 ? glorot_relu(from * area, (double)to * area) : glorot(from, (double)to);
    int w = graph_param(n->g, net_join(n, name, "weight"), SHAPE(to, side, side, (int64_t)from), init, ROLE_FILTER);
    return net_conv_by(n, x, w, 1, side / 2);
}

static int add_conv_and_bias(struct net *n, const char *name, int x, int64_t to, int side)
{
    return add_bias(n, name, add_conv(n, name, x, to, side));
}

static int block_up(struct net *n, const char *name, int x, int64_t to)
{
    struct graph *g = n->g;
    graph_scope(g, "%s", name);
    int y = net_double(n, net_norm_act(n, net_join(n, name, "norm1"), x));
    y = net_norm_act(n, net_join(n, name, "norm2"), add_conv(n, net_join(n, name, "conv1"), y, to, 3));
    y = add_conv_and_bias(n, net_join(n, name, "conv2"), y, to, 3);
    return g_add(g, y, net_double(n, add_conv_and_bias(n, net_join(n, name, "shortcut"), x, to, 1)));
}

static int generate_residual(struct step *s, int noise, int64_t channels)
{
    static const char *const blocks[] = {"generator.block1", "generator.block2", "generator.block3"};
    struct net n = generator_of(s);
    struct graph *g = s->g;
    const int64_t d = width_of(s);
    int x = add_dense(&n, "generator.dense", noise, (struct net_dense){.out = 4 * 4 * d, .to = s->setting->dtype});
    if (g->error) return NONE;
    x = g_reshape(g, x, SHAPE(g->value[x].shape.dim[0], 4, 4, d));
    for (int i = 0; i < 3; i++) x = block_up(&n, blocks[i], x, d);
    x = net_norm_act(&n, "generator.norm", x);
    return g_act(g, add_conv_and_bias(&n, "generator.last", x, channels, 3), ACT_TANH);
}

static int halve_sides(struct net *n, int x) { return g_avgpool(n->g, x, 2, 2); }

// The first block reads a picture, on which a relu would act badly, and its shortcut is halved before its product.
static int block_first(struct net *n, const char *name, int x, int64_t to)
{
    struct graph *g = n->g;
    graph_scope(g, "%s", name);
    int y = g_act(g, add_conv_and_bias(n, net_join(n, name, "conv1"), x, to, 3), ACT_RELU);
    y = halve_sides(n, add_conv_and_bias(n, net_join(n, name, "conv2"), y, to, 3));
    return g_add(g, y, add_conv_and_bias(n, net_join(n, name, "shortcut"), halve_sides(n, x), to, 1));
}

static int block_down(struct net *n, const char *name, int x, bool halves)
{
    struct graph *g = n->g;
    const int64_t to = net_channels(n, x);
    graph_scope(g, "%s", name);
    int y = add_conv_and_bias(n, net_join(n, name, "conv1"), g_act(g, x, ACT_RELU), to, 3);
    y = add_conv_and_bias(n, net_join(n, name, "conv2"), g_act(g, y, ACT_RELU), to, 3);
    if (!halves) return g_add(g, y, x);
    return g_add(g, halve_sides(n, y), halve_sides(n, add_conv_and_bias(n, net_join(n, name, "shortcut"), x, to, 1)));
}

static int criticise_residual(struct step *s, int x)
{
    struct net n = critic_of(s);
    x = block_first(&n, "critic.block1", x, width_of(s));
    x = block_down(&n, "critic.block2", x, true);
    x = block_down(&n, "critic.block3", x, false);
    x = block_down(&n, "critic.block4", x, false);
    x = g_avgpool_global(s->g, g_act(s->g, x, ACT_RELU));
    return add_dense(&n, "critic.dense", x, (struct net_dense){.out = 1, .to = F32});
}

// ---- the models

static const struct wgan_network dcgan = {generate_dcgan, criticise_dcgan};
static const struct wgan_network residual = {generate_residual, criticise_residual};

const struct model wgan_models[] = {
    {.name = "wgan", .about = "transposed convolutions against convolutions, of DCGAN's type (Gulrajani et al. 2017)",
     .own = &dcgan},
    {.name = "wgan-resnet", .about = "residual blocks on both sides (Gulrajani et al. 2017)", .recipe = "wgan-resnet",
     .own = &residual},
    {0},
};
