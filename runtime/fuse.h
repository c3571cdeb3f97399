// SPDX-License-Identifier: Apache-2.0
// Rewrites of a forward graph, before it is differentiated: patterns become fused nodes that pass over memory once.
// Each pattern can be switched off, and the tests hold every fused graph against its unfused equal.
#ifndef DAWN_FUSE_H
#define DAWN_FUSE_H

#include "runtime/graph.h"

enum fuse_pattern {
    FUSE_CROP = 1,        // rows and columns of a convolution that the pool behind it drops are not computed
    FUSE_NORM_ACT = 2,    // norm, activation
    FUSE_POOL_NORM = 4,   // 2x2 max pool, norm (, activation)
    FUSE_BIAS_ACT = 8,    // bias, activation
    FUSE_CONV_ACT = 16,   // convolution (, bias) (, activation) where nothing trains through it
    FUSE_ALL = 31
};
int fuse_graph(struct graph *, unsigned patterns) MUST_CHECK;

// Folds running statistics into convolutions: conv, (max pool,) norm in `infer` become one convolution with a bias.
// The folded filters are slots "folded.NAME", made by `prepare`, which is run once.
int fuse_fold(struct graph *infer, struct graph *prepare) MUST_CHECK;

// Removes nodes that nothing persistent depends on, and turns outputs that nobody reads into NONE.
void fuse_prune(struct graph *);

#endif
