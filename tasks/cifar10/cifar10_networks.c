// SPDX-License-Identifier: Apache-2.0
#include "tasks/cifar10/cifar10_networks.h"

const struct model cifar10_models[] = {
    {.name = "airbench", .about = "8 layers of the public speedruns: whitening, three groups of 64/256/256 channels, max pools",
     .parts = PART_WHITENING | PART_FIRST_ACTIVATION | PART_POOL, .half = true, .forward = airbench_forward,
     .begin = airbench_begin},
    {.name = "resnet9", .about = "9 layers, two residual blocks: DAWNBench's fast entries", .recipe = "resnet",
     .forward = resnet9_forward},
    {.name = "resnet56", .about = "pre-activation, three stages of 9 basic blocks: DAWNBench's seed", .recipe = "resnet",
     .forward = resnet56_forward},
    {.name = "resnet164", .about = "pre-activation, three stages of 18 bottlenecks: DAWNBench's seed", .recipe = "resnet",
     .forward = resnet164_forward},
    {0},
};

struct net cifar10_net(struct step *s, float eps)
{
    const struct cifar10_keys *own = cifar10_keys(s->setting->recipe);
    struct net n = net_of(s);
    n.act = (enum act)own->activation, n.winograd = (enum winograd)own->winograd;
    n.eps = eps, n.momentum = (float)own->norm_momentum;
    return n;
}
