// SPDX-License-Identifier: Apache-2.0
// Inception-v3 as a model: behind the shared network dropout and a linear layer. The second head serves a training with
// model.second_head.
#include "tasks/common/layers/net_inception.h"
#include "tasks/imagenet/imagenet_keys.h"
#include "tasks/imagenet/imagenet_networks.h"

void inception_v3_forward(struct step *s, const int in[MODEL_VALUES], int out[MODEL_VALUES])
{
    const struct imagenet_keys *keys = imagenet_keys(s->setting->recipe);
    const int64_t classes = s->setting->data->classes;
    const struct net_dense fc = {classes, F32, {INIT_NORMAL, .1f}, {INIT_ZERO, 0}, false};
    const struct net_inception how = {.divisor = 1, .second = step_trains(s) && keys->second_head > 0 ? classes : 0};
    struct net n = net_of(s);
    n.act = (enum act)keys->activation, n.momentum = (float)keys->norm_momentum;
    int x = net_inception(&n, in[0], &how, &out[1]);
    net_dropout_at(&n, (float)keys->dropout);
    out[0] = net_head(&n, "fc", net_dropout(&n, x), &fc);
}
