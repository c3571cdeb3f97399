// SPDX-License-Identifier: Apache-2.0
// Walks the nodes from the last to the first. These are errors that name the operator: a gradient that a rule cannot use, a
// trained input without a gradient, and a value that has changed since the forward pass read it.
#include "runtime/grad.h"

#include <stdlib.h>

struct walk {
    struct graph *g;
    int *adj;      // per value: its gradient so far, or NONE
    int *written;  // per value: the last node that overwrites it, or NONE
    bool *passed;  // per value: the walk has passed a node that overwrites it, and readers after that node sent gradients
    int values;    // of the graph when the walk began: the length of these
};

static struct walk walk_open(struct graph *g)
{
    size_t values = (size_t)g->values + 1;
    struct walk w = {g, zalloc(values * sizeof *w.adj), zalloc(values * sizeof *w.written), zalloc(values * sizeof *w.passed),
                     g->values};
    for (int v = 0; v < g->values; v++) w.adj[v] = w.written[v] = NONE;
    for (int i = 0; i < g->nodes; i++)
        for (int o = 0; o < MAX_OUT; o++)
            if (g->node[i].out[o] != NONE && g->value[g->node[i].out[o]].slot) w.written[g->node[i].out[o]] = i;
    return w;
}

static void walk_close(struct walk *w)
{
    free(w->adj);
    free(w->written);
    free(w->passed);
}

static int add_gradient(struct walk *w, int v, int d)
{
    struct graph *g = w->g;
    if (w->passed[v])
        return graph_fail(g, ERR_SHAPE, "the loss depends on \"%s\" before and after it is overwritten", g->value[v].slot->name),
               g->error;
    w->adj[v] = w->adj[v] == NONE ? d : g_add(g, w->adj[v], d);
    return g->error;
}

// The gradients of node n's outputs; true if there are any. A slot is a constant to its readers.
static bool take_gradients(struct walk *w, const struct node *n, int *dy)
{
    bool any = false;
    for (int o = 0; o < MAX_OUT; o++) {
        int v = n->out[o];
        dy[o] = NONE;
        if (v == NONE) continue;
        if (w->g->value[v].slot)
            w->passed[v] |= w->adj[v] != NONE;
        else if (w->g->value[v].trains)
            dy[o] = w->adj[v];
        any |= dy[o] != NONE;
    }
    return any;
}

// A rule without OP_FLAG_GRADS handles the gradient of output 0 alone.
static int check_outputs(struct graph *g, const struct node *n, const int *dy)
{
    for (int o = 1; o < MAX_OUT && !(op_table[n->op].flags & OP_FLAG_GRADS); o++)
        if (dy[o] != NONE)
            return graph_fail(g, ERR_SHAPE, "%s has no gradient for its output %d", node_name(n), o), g->error;
    return 0;
}

// Nodes from `first` on are the rule of node i. They must read the same slot values as node i.
static int check_slots(struct walk *w, int i, int first)
{
    struct graph *g = w->g;
    for (int k = first; k < g->nodes; k++)
        for (int j = 0; j < MAX_IN; j++) {
            int v = g->node[k].in[j];
            if (v == NONE || !g->value[v].slot || v >= w->values || w->written[v] < i) continue;
            return graph_fail(g, ERR_SHAPE, "the gradient of %s reads \"%s\", which is overwritten before that",
                              node_name(&g->node[i]), g->value[v].slot->name), g->error;
        }
    return 0;
}

// Adds the gradients of node i's inputs.
static int differentiate_node(struct walk *w, int i)
{
    struct graph *g = w->g;
    struct node n = g->node[i];  // a copy: the array moves as nodes are added
    int dy[MAX_OUT], dx[MAX_IN], first = g->nodes;
    if (!take_gradients(w, &n, dy)) return 0;
    g->scope = n.scope;
    for (int j = 0; j < MAX_IN; j++) dx[j] = NONE;
    TRY(check_outputs(g, &n, dy));
    TRY(op_table[n.op].grad(g, &n, dy, dx));
    TRY(check_slots(w, i, first));
    for (int j = 0; j < MAX_IN; j++) {
        int v = n.in[j];
        if (v == NONE || !g->value[v].trains) continue;
        if (dx[j] == NONE)
            return graph_fail(g, ERR_SHAPE, "%s has no gradient for its input %d", node_name(&n), j), g->error;
        if (dx[j] != FLAT) TRY(add_gradient(w, v, dx[j]));
    }
    return g->error;
}

// The gradients of seed * (the sum of the losses); seed NONE: 1.
static int differentiate(struct graph *g, const int *loss, int losses, int seed, const int *of, int count, int *grads)
{
    TRY(graph_check(g));
    for (int i = 0; i < losses; i++)
        if (g->value[loss[i]].dtype != F32 || shape_count(&g->value[loss[i]].shape) != 1)
            return fail(ERR_SHAPE, "graph \"%s\": only a single f32 can be differentiated", g->name);
    enum phase was = g->phase;
    const char *scope = g->scope;
    g->phase = PHASE_BACKWARD;
    int last = g->nodes - 1;
    struct walk w = walk_open(g);
    if (seed == NONE) seed = graph_state(g, "one", SHAPE(1), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, 1});
    for (int i = 0; i < losses && !g->error; i++) add_gradient(&w, loss[i], seed);
    for (int i = last; i >= 0 && !g->error; i--)
        if (differentiate_node(&w, i) < 0) break;
    for (int i = 0; i < count; i++) grads[i] = of[i] == NONE || of[i] >= w.values ? NONE : w.adj[of[i]];
    walk_close(&w);
    g->phase = was;
    g->scope = scope;
    return graph_check(g);
}

int grad_of_sum(struct graph *g, const int *loss, int losses, const int *of, int count, int *grads)
{
    return differentiate(g, loss, losses, NONE, of, count, grads);
}

int grad_of(struct graph *g, int loss, const int *of, int count, int *grads)
{
    return differentiate(g, &loss, 1, NONE, of, count, grads);
}

int grad_of_times(struct graph *g, int loss, int factor, const int *of, int count, int *grads)
{
    return differentiate(g, &loss, 1, factor, of, count, grads);
}

void grad_watch(struct graph *g, int x)
{
    if (g->error || x == NONE) return;
    BUG_IF(g->value[x].trains);  // grad_of has its gradient
    g->value[x].trains = true;
}

int grad_watched(struct graph *g, int loss, int x)
{
    int grad = NONE, first = g->nodes;
    if (g->error || loss == NONE || x == NONE) return NONE;
    int rc = grad_of(g, loss, &x, 1, &grad);
    g->value[x].trains = false;
    for (int i = first; i < g->nodes; i++) g->node[i].phase = g->phase;
    if (rc < 0 && !g->error) return graph_fail(g, rc, "%s", error_text());
    if (grad == NONE) graph_fail(g, ERR_SHAPE, "a loss does not depend on the value that it should be differentiated by");
    return grad;
}
