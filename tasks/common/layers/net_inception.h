// SPDX-License-Identifier: Apache-2.0
// Inception-v3, which ImageNet trains and which FID reads.
#pragma once

#include "tasks/common/layers/net.h"

struct net_inception {
    int64_t divisor;  // of the published channels
    bool of_2015;     // the network that FID reads
    int64_t second;   // classes of the second head; 0: none
};
// x[N,H,W,3] -> [N,1,1,2048 / divisor], the average of the last block, by torchvision's names; *second: the second head's logits.
int net_inception(struct net *, int x, const struct net_inception *, int *second);
