// SPDX-License-Identifier: Apache-2.0
//   stem    conv 3x3, norm, act
//   block   x = act(x + norm(conv 3x3(act(norm(conv 3x3(x))))))
//   policy  conv 1x1 (2), norm, act, dense
//   value   conv 1x1 (1), norm, act, dense (32, in Go 64), act, dense (1), tanh
// A convolution before a norm has no bias.
#include "tasks/play/play_network.h"

#include "tasks/common/layers/net.h"
#include "tasks/play/game.h"
#include "tasks/play/play_keys.h"

#include <math.h>

enum { POLICY_PLANES = 2, VALUE_PLANES = 1 };

// Weights are initialised uniformly, as in PyTorch. The rule of net_conv would make the weights of the two heads' convolutions,
// which have one or two outputs, ten times as large, and the norm after them would make their gradients ten times as small.
static struct init begin_of(double inputs)
{
    return (struct init){INIT_UNIFORM, (float)(1 / sqrt(inputs))};
}

static int conv_norm(struct net *n, const char *name, int x, int64_t k, int side)
{
    const int64_t from = net_channels(n, x);
    graph_scope(n->g, "%s", name);
    const struct init init = begin_of((double)(from * side * side));
    int w = graph_param(n->g, net_join(n, name, "conv.weight"), SHAPE(k, side, side, from), init, ROLE_FILTER);
    return net_norm(n, net_join(n, name, "norm"), net_conv_by(n, x, w, 1, side / 2));
}

static int block(struct net *n, const char *name, int x, int64_t width)
{
    int y = net_act(n, conv_norm(n, net_join(n, name, "0"), x, width, 3));
    return net_act(n, g_add(n->g, conv_norm(n, net_join(n, name, "1"), y, width, 3), x));
}

static int head(struct net *n, const char *name, int x, int64_t out)
{
    if (n->g->error) return NONE;
    const struct shape *shape = &n->g->value[x].shape;
    const struct init weight = begin_of((double)(shape_count(shape) / shape->dim[0]));
    return net_head(n, name, x, &(struct net_dense){out, F32, weight, {INIT_ZERO, 0}, false});
}

struct play_outputs play_network(struct step *s, int boards)
{
    const struct play_keys *k = play_keys(s->setting->recipe);
    struct graph *g = s->g;
    struct net n = net_of(s);
    n.act = ACT_RELU, n.eps = 1e-5f, n.momentum = 0.9f;
    graph_scope(g, "stem");
    int x = net_act(&n, conv_norm(&n, "stem", g_cast(g, boards, s->setting->dtype), k->width, 3));
    for (int64_t i = 0; i < k->blocks; i++) x = block(&n, arena_text(&g->arena, "block%lld", (long long)i), x, k->width);
    int policy = net_act(&n, conv_norm(&n, "policy", x, POLICY_PLANES, 1));
    int value = net_act(&n, conv_norm(&n, "value", x, VALUE_PLANES, 1));
    value = net_act(&n, head(&n, "value.hidden", value, game_of(s->setting)->value_width));
    policy = head(&n, "policy.dense", policy, game_of(s->setting)->moves);
    return (struct play_outputs){policy, g_act(g, head(&n, "value.dense", value, 1), ACT_TANH)};
}

const struct game *game_of(const struct setting *c)
{
    return c->model->own;
}

const struct model play_models[] = {
    {.name = "alphazero", .about = "residual blocks with a policy and a value (Silver et al. 2018)", .own = &game_connect4},
    {0},
};
const struct model minigo_models[] = {
    {.name = "minigo", .about = "the same, as MLPerf's MiniGo has it for Go", .parts = PART_MINIGO, .own = &game_go},
    {0},
};
