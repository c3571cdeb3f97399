// SPDX-License-Identifier: Apache-2.0
#include "runtime/grad.h"

#include <stdlib.h>

// Adds what node `i` sends back to its inputs. adj[v] is the gradient of value v so far.
static int one_back(struct graph *g, int i, int *adj)
{
    struct node n = g->node[i];  // a copy: the array moves as nodes are added
    int dy[MAX_OUT], dx[MAX_IN];
    for (int o = 0; o < MAX_OUT; o++) dy[o] = n.out[o] == NONE || g->value[n.out[o]].slot ? NONE : adj[n.out[o]];
    for (int o = 0; o < MAX_IN; o++) dx[o] = NONE;
    if (dy[0] == NONE || !g->value[n.out[0]].trains) return 0;
    g->scope = n.scope;
    int rc = op_table[n.op].grad(g, &n, dy, dx);
    if (rc < 0) return rc;
    for (int o = 0; o < MAX_IN; o++) {
        int v = n.in[o];
        if (v == NONE || dx[o] == NONE || !g->value[v].trains) continue;
        adj[v] = adj[v] == NONE ? dx[o] : g_add(g, adj[v], dx[o]);
    }
    return g->error;
}

int grad_of(struct graph *g, int loss, const int *of, int count, int *grads)
{
    TRY(graph_check(g));
    if (g->value[loss].dtype != F32 || shape_count(&g->value[loss].shape) != 1)
        return fail(ERR_SHAPE, "graph \"%s\": only a single f32 can be differentiated", g->name);
    int values = g->values, nodes = g->nodes;
    int *adj = zalloc((size_t)values * sizeof *adj);
    for (int i = 0; i < values; i++) adj[i] = NONE;
    enum phase was = g->phase;
    const char *scope = g->scope;
    g->phase = PHASE_BACKWARD;
    int one = graph_state(g, "one", SHAPE(1), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, 1});
    adj[loss] = one;
    for (int i = nodes - 1; i >= 0 && !g->error; i--)
        if (one_back(g, i, adj) < 0) break;
    for (int i = 0; i < count; i++) grads[i] = of[i] < values ? adj[of[i]] : NONE;
    free(adj);
    g->phase = was;
    g->scope = scope;
    return graph_check(g);
}
