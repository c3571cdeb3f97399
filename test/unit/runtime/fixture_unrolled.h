// SPDX-License-Identifier: Apache-2.0
// A recurrence written out step by step, as backpropagation through time has it: h' = gelu(W h + b) + x, forward, backward
// and an update by momentum. Each step's gradients add to the gradients of W and b.
#pragma once

#include "runtime/grad.h"
#include "runtime/optim.h"
#include "test/unit/fixture_graph.h"

static inline struct graph *unrolled_graph(struct slot_store *store, int steps)
{
    struct graph *g = graph_new(store, "unrolled");
    int w = weight(g, "w", SHAPE(16, 16)), b = weight(g, "b", SHAPE(16)), x = input(g, "x", SHAPE(4, 16)), h = x;
    for (int i = 0; i < steps; i++) {
        graph_scope(g, "step%d", i);
        input(g, "x", SHAPE(4, 16));  // by name, as a model would ask for it
        h = g_add(g, g_act(g, g_linear(g, h, w, b, F32), ACT_GELU), x);
    }
    int loss = g_reshape(g, g_reduce(g, h, 3u, true, F32), SHAPE(1)), of[] = {w, b}, grads[2];
    OK(grad_of(g, loss, of, 2, grads));
    g->phase = PHASE_UPDATE;
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.1f});
    struct optim_settings o = {.momentum = 0.9f, .clip = NONE};
    for (int i = 0; i < 2; i++) optim_sgd(g, of[i], grads[i], lr, &o);
    return g;
}
