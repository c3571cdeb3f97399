// SPDX-License-Identifier: Apache-2.0
#include "tasks/imagenet/imagenet_networks.h"

// For weights of other programs: the prefix that parallel training adds to each name, and the head, which starts from random
// values because its rows are the classes.
static const char *const prefixes[] = {"module.", NULL}, *const fresh[] = {"fc.", NULL};
static const char *const fresh_heads[] = {"fc.", "AuxLogits.", NULL};

const struct model imagenet_models[] = {
    {.name = "resnet18", .about = "18 layers, basic blocks of two 3x3 convolutions (He et al. 2015)", .parts = PART_STAGES,
     .forward = resnet18_forward, .prefixes = prefixes, .fresh = fresh},
    {.name = "resnet50", .about = "50 layers, bottlenecks with the stride on the 3x3 convolution (version 1.5)", .half = true,
     .parts = PART_STAGES, .forward = resnet50_forward, .prefixes = prefixes, .fresh = fresh},
    {.name = "inception-v3", .about = "branches of 1x1, 3x3, 5x5, 1x7 and 7x1 convolutions (Szegedy et al. 2015)", .half = true,
     .recipe = "inception-v3", .parts = PART_SECOND_HEAD, .forward = inception_v3_forward, .prefixes = prefixes,
     .fresh = fresh_heads},
    {0},
};
