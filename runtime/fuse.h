// SPDX-License-Identifier: Apache-2.0
// Rewrites a forward graph before it is differentiated: patterns become fused nodes, which read and write memory once.
// Each pattern can be switched off, and the tests compare every fused graph with its unfused equal.
#pragma once

#include "runtime/graph.h"

struct device;

enum fuse_pattern {
    FUSE_CROP = 1,        // rows and columns of a convolution that the following pool drops are not computed
    FUSE_NORM_ACT = 2,    // norm, activation
    FUSE_POOL_NORM = 4,   // 2x2 max pool, norm (, activation)
    FUSE_BIAS_ACT = 8,    // bias, activation
    FUSE_CONV_ACT = 16,   // convolution (, bias) (, activation) if nothing before it trains
    FUSE_ADD_ACT = 32,    // sum, relu; any activation if nothing before it trains
    FUSE_NORM_ADD = 64,   // norm, sum (, relu): the end of a residual block
    FUSE_ADD_LAYER_NORM = 128,  // (dropout,) addition of a residual, layer norm
    FUSE_MATMUL_BIAS = 256,     // product (, its shape), bias without an activation
    FUSE_CONV_POOL = 512,       // fuse_device: convolution, 2x2 max pool (, norm) (, activation if nothing before it trains)
    FUSE_ALL = 1023
};
int fuse_graph(struct graph *, unsigned patterns) MUST_CHECK;
// Patterns that only some devices run faster; the device decides (device.h). Runs after fuse_graph and fuse_fold. The results
// are the same bytes.
int fuse_device(struct graph *, unsigned patterns, struct device *) MUST_CHECK;

// Folds running statistics into convolutions: conv, (max pool,) norm in `infer` become one convolution with a bias.
// The folded filters are slots "folded.NAME". The program `prepare` computes them and is run once.
int fuse_fold(struct graph *infer, struct graph *prepare) MUST_CHECK;

// Removes nodes that no persistent value depends on, and sets unread outputs to NONE.
void fuse_prune(struct graph *);
