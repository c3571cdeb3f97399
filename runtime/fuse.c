// SPDX-License-Identifier: Apache-2.0
#include "runtime/fuse.h"

#include "runtime/device.h"

#include <stdlib.h>

// State of a rewrite: the number of readers of each value, and the nodes that were merged into others.
struct match {
    struct graph *g;
    int *uses;    // per value
    bool *gone;   // per node
};

static struct match match_open(struct graph *g)
{
    struct match m = {g, zalloc((size_t)(g->values + 1) * sizeof(int)), zalloc((size_t)(g->nodes + 1) * sizeof(bool))};
    for (int i = 0; i < g->nodes; i++)
        for (int j = 0; j < MAX_IN; j++)
            if (g->node[i].in[j] != NONE) m.uses[g->node[i].in[j]]++;
    return m;
}

static void match_close(struct match *m)
{
    struct graph *g = m->g;
    int kept = 0;
    for (int i = 0; i < g->nodes; i++) {
        if (m->gone[i]) continue;
        g->node[kept] = g->node[i];
        for (int o = 0; o < MAX_OUT; o++)
            if (g->node[kept].out[o] != NONE && !g->value[g->node[kept].out[o]].slot)
                g->value[g->node[kept].out[o]].producer = kept;
        kept++;
    }
    g->nodes = kept;
    free(m->uses);
    free(m->gone);
}

// The producer of input j of node n if its operator is `want` and node n is its only reader; else NULL.
static struct node *source_of(struct match *m, const struct node *n, int j, enum op want)
{
    int v = n->in[j];
    if (m->g->value[v].slot || m->uses[v] != 1) return NULL;
    int p = m->g->value[v].producer;
    return p == NONE || m->gone[p] || m->g->node[p].op != want ? NULL : &m->g->node[p];
}

static struct node *only_source(struct match *m, int i, enum op want)
{
    return source_of(m, &m->g->node[i], 0, want);
}

static void absorb(struct match *m, int i, struct node *into)  // node i's result is now made by `into`
{
    int y = m->g->node[i].out[0];
    into->out[0] = y;
    m->g->value[y].producer = (int)(into - m->g->node);
    m->gone[i] = true;
}

static void crop(struct match *m, int i)
{
    struct node *n = &m->g->node[i];
    if ((n->op != OP_MAXPOOL && n->op != OP_AVGPOOL) || n->attr.pool.pad[0] || n->attr.pool.pad[1]) return;
    struct node *conv = only_source(m, i, OP_CONV);
    if (!conv) return;
    struct value *y = &m->g->value[conv->out[0]];
    for (int d = 0; d < 2; d++) {
        int64_t k = n->attr.pool.k[d], stride = n->attr.pool.stride[d], have = y->shape.dim[1 + d];
        int64_t read = (have - k) / stride * stride + k;
        int64_t less = (have - read) * conv->attr.conv.stride[d];
        if (less <= 0 || less > conv->attr.conv.after[d]) continue;
        conv->attr.conv.after[d] -= (int)less;
        y->shape.dim[1 + d] = read;
    }
}

static bool has_lengths(const struct node *n)
{
    return (n->op == OP_NORM && n->in[6] != NONE) || (n->op == OP_NORM_INFER && n->in[5] != NONE);
}

static void norm_act(struct match *m, int i)
{
    struct node *n = &m->g->node[i];
    if (node_act(n) == ACT_NONE) return;
    struct node *norm = only_source(m, i, OP_NORM);
    if (!norm) norm = only_source(m, i, OP_NORM_INFER);
    if (!norm || norm->attr.norm.act != ACT_NONE || has_lengths(norm)) return;  // act(0) of padding may not be 0
    norm->attr.norm.act = node_act(n);
    absorb(m, i, norm);
}

static bool halves(const struct pool_attr *a)
{
    return a->k[0] == 2 && a->k[1] == 2 && a->stride[0] == 2 && a->stride[1] == 2 && !a->pad[0] && !a->pad[1];
}

static void pool_norm(struct match *m, int i)
{
    struct node *n = &m->g->node[i];
    if (n->op != OP_NORM || has_lengths(n)) return;
    struct node *pool = only_source(m, i, OP_MAXPOOL);
    if (!pool || !halves(&pool->attr.pool)) return;
    if (m->uses[pool->out[1]]) return;
    int at = pool->out[1], pooled = pool->out[0];
    n->op = OP_POOL_NORM;
    n->in[0] = pool->in[0];
    int was[] = {n->out[0], n->out[1], n->out[2], n->out[3], n->out[4]};
    int now[MAX_OUT] = {was[0], was[1], was[2], pooled, at, was[3], was[4]};
    for (int o = 0; o < MAX_OUT; o++) n->out[o] = now[o];
    m->g->value[pooled].producer = m->g->value[at].producer = i;
    m->gone[pool - m->g->node] = true;
}

static void bias_act(struct match *m, int i)
{
    struct node *n = &m->g->node[i];
    if (node_act(n) == ACT_NONE) return;
    struct node *bias = only_source(m, i, OP_ACT);
    if (!bias || bias->attr.act.act != ACT_NONE) return;
    bias->attr.act.act = node_act(n);
    absorb(m, i, bias);
}

static void conv_act(struct match *m, int i)
{
    struct node *n = &m->g->node[i];
    int bias = n->op == OP_ACT ? n->in[1] : NONE;
    if ((bias == NONE && node_act(n) == ACT_NONE) || m->g->value[n->out[0]].trains) return;
    struct node *conv = only_source(m, i, OP_CONV);
    if (!conv || conv->attr.conv.act != ACT_NONE || (conv->in[2] != NONE && bias != NONE)) return;
    // A bias may be the result of a node that comes after the convolution.
    if (bias != NONE && !m->g->value[bias].slot) return;
    if (bias != NONE) conv->in[2] = bias;
    conv->attr.conv.act = bias != NONE ? n->attr.act.act : node_act(n);
    absorb(m, i, conv);
}

// The activation that follows the sum; ACT_KINDS if the node is no sum.
static enum act act_of_sum(const struct node *n)
{
    int act = n && n->op == OP_MAP ? (int)n->attr.map.formula - (int)MAP_ADD : ACT_KINDS;
    return act >= 0 && act < ACT_KINDS ? (enum act)act : ACT_KINDS;
}

// In training relu alone, whose slope follows from the result: the others would keep both terms.
static void add_act(struct match *m, int i)
{
    struct node *n = &m->g->node[i], *add = only_source(m, i, OP_MAP);
    enum act act = node_act(n);
    if (act == ACT_NONE || act_of_sum(add) != ACT_NONE) return;
    if (!shape_equal(&m->g->value[add->in[0]].shape, &m->g->value[add->in[1]].shape)) return;
    if (act != ACT_RELU && m->g->value[n->out[0]].trains) return;
    add->attr.map.formula = (enum map)(MAP_ADD + (int)act);
    absorb(m, i, add);
}

// The node that makes value v, if it is a norm whose only reader is this sum and which has no shortcut yet; else NONE.
static int norm_for_sum(const struct match *m, int v)
{
    const struct graph *g = m->g;
    if (g->value[v].slot || m->uses[v] != 1) return NONE;
    int p = g->value[v].producer;
    if (p == NONE || m->gone[p] || g->node[p].op != OP_NORM || g->node[p].out[0] != v) return NONE;
    return g->node[p].attr.norm.act == ACT_NONE && g->node[p].in[5] == NONE && !has_lengths(&g->node[p]) ? p : NONE;
}

// True if a node between the two reads or writes a slot that the node updates.
static bool touched_between(const struct graph *g, int from, int to)
{
    for (int o = 0; o < MAX_OUT; o++) {
        int v = g->node[from].out[o];
        if (v == NONE || !g->value[v].slot) continue;
        for (int i = from + 1; i < to; i++) {
            for (int j = 0; j < MAX_IN; j++)
                if (g->node[i].in[j] == v) return true;
            for (int j = 0; j < MAX_OUT; j++)
                if (g->node[i].out[j] == v) return true;
        }
    }
    return false;
}

// The norm takes the place of the sum, so that the shortcut may be made after the norm was. Of two norms the first becomes
// the shortcut of the second.
static void norm_add(struct match *m, int i)
{
    struct graph *g = m->g;
    struct node *n = &g->node[i];
    enum act act = act_of_sum(n);
    if ((act != ACT_NONE && act != ACT_RELU) || n->in[0] == n->in[1]) return;
    if (!shape_equal(&g->value[n->in[0]].shape, &g->value[n->in[1]].shape)) return;
    int a = norm_for_sum(m, n->in[0]), b = norm_for_sum(m, n->in[1]), from = a > b ? a : b;
    if (from == NONE || touched_between(g, from, i)) return;
    struct node norm = g->node[from];
    norm.in[5] = from == a ? n->in[1] : n->in[0];
    norm.attr.norm.act = act;
    norm.out[0] = n->out[0];
    *n = norm;
    for (int o = 0; o < MAX_OUT; o++)
        if (n->out[o] != NONE && !g->value[n->out[o]].slot) g->value[n->out[o]].producer = i;
    m->gone[from] = true;
}

static void add_layer_norm(struct match *m, int i)
{
    struct node *n = &m->g->node[i];
    if (n->op != OP_LAYER_NORM || n->in[1] != NONE) return;
    struct node *add = only_source(m, i, OP_MAP);
    if (act_of_sum(add) != ACT_NONE || m->g->value[add->in[0]].shape.rank != m->g->value[add->in[1]].shape.rank) return;
    int side = 0;
    struct node *drop = source_of(m, add, 0, OP_DROPOUT);
    if (!drop) drop = source_of(m, add, 1, OP_DROPOUT), side = drop != NULL;
    if (drop && drop->attr.dropout.shared) drop = NULL, side = 0;
    n->in[0] = drop ? drop->in[0] : add->in[0];
    n->in[1] = add->in[1 - side];
    n->out[1] = add->out[0];  // the sum, kept for backward
    m->g->value[n->out[1]].producer = i;
    m->gone[add - m->g->node] = true;
    if (!drop) return;
    n->in[4] = drop->in[1], n->in[5] = drop->in[2];
    n->attr.layer_norm.p = drop->attr.dropout.p, n->attr.layer_norm.site = drop->attr.dropout.site;
    m->gone[drop - m->g->node] = true;
}

static bool is_written_between(const struct graph *g, int v, int from, int to)
{
    for (int i = from + 1; i < to; i++)
        for (int o = 0; o < MAX_OUT; o++)
            if (g->node[i].out[o] == v) return true;
    return false;
}

// The bias must have its value before the product.
static void matmul_bias(struct match *m, int i)
{
    struct node *n = &m->g->node[i];
    if (n->op != OP_ACT || n->attr.act.act != ACT_NONE) return;
    const struct value *bias = &m->g->value[n->in[1]];
    struct node *shape = only_source(m, i, OP_RESHAPE), *product = only_source(m, i, OP_MATMUL);
    if (shape) product = source_of(m, shape, 0, OP_MATMUL);
    if (!product || product->in[2] != NONE || product->in[3] != NONE || product->attr.matmul.alpha != 1) return;
    if (is_written_between(m->g, n->in[1], (int)(product - m->g->node), i)) return;
    struct value *y = &m->g->value[product->out[0]];
    if (shape_last(&y->shape) != shape_last(&m->g->value[n->out[0]].shape)) return;
    y->trains |= bias->trains;
    product->in[3] = n->in[1];
    absorb(m, i, shape ? shape : product);
}

int fuse_graph(struct graph *g, unsigned patterns)
{
    TRY(graph_check(g));
    static void (*const rewrite[])(struct match *, int) = {crop,    norm_act, pool_norm,      bias_act,   conv_act,
                                                                 add_act, norm_add, add_layer_norm, matmul_bias};
    for (unsigned p = 0; p < sizeof rewrite / sizeof *rewrite; p++) {
        if (!(patterns >> p & 1)) continue;
        struct match m = match_open(g);
        for (int i = 0; i < g->nodes; i++)
            if (!m.gone[i]) rewrite[p](&m, i);
        match_close(&m);
    }
    return graph_check(g);
}

// ---- folding

// conv, norm or conv, max pool, norm ending at node i; a max pool commutes only with a norm that has no scale of its own
// (1 / deviation is positive, a learned scale may not be).
static struct node *foldable(struct match *m, int i, struct node **pool)
{
    struct node *n = &m->g->node[i];
    *pool = NULL;
    if (n->op != OP_NORM_INFER || has_lengths(n)) return NULL;
    struct node *conv = only_source(m, i, OP_CONV);
    if (conv) return conv->attr.conv.act == ACT_NONE ? conv : NULL;
    *pool = only_source(m, i, OP_MAXPOOL);
    if (!*pool || n->in[3] != NONE) return NULL;
    conv = only_source(m, (int)(*pool - m->g->node), OP_CONV);
    return conv && conv->attr.conv.act == ACT_NONE ? conv : NULL;
}

static int folded_slot(struct graph *g, const char *name, struct shape shape)
{
    int v = graph_state(g, name, shape, F32, MEMORY_WEIGHTS, (struct init){INIT_ZERO, 0});
    if (v != NONE) g->value[v].slot->role = ROLE_DERIVED;
    return v;
}

static int in_prepare(struct graph *infer, struct graph *prepare, int v)
{
    return v == NONE ? NONE : graph_slot(prepare, infer->value[v].slot);
}

// A folded filter has the name of the filter: only one norm of those that follow it in different places can be in it.
static bool has_other_norm(const struct graph *prepare, const struct slot *w, const struct slot *mean)
{
    for (int i = 0; i < prepare->nodes; i++) {
        const struct node *n = &prepare->node[i];
        if (n->op == OP_NORM_FOLD && prepare->value[n->in[0]].slot == w && prepare->value[n->in[1]].slot != mean) return true;
    }
    return false;
}

static int fold(struct match *m, int i, struct graph *prepare)
{
    struct graph *g = m->g;
    struct node *pool, *conv = foldable(m, i, &pool);
    if (!conv || !g->value[conv->in[1]].slot || (conv->in[2] != NONE && !g->value[conv->in[2]].slot)) return 0;
    struct node *norm = &g->node[i];
    struct slot *w = g->value[conv->in[1]].slot;
    if (has_other_norm(prepare, w, g->value[norm->in[1]].slot)) return 0;
    char *weight = arena_text(&g->arena, "folded.%s", w->name), *bias = arena_text(&g->arena, "folded.%s.bias", w->name);
    int w2 = folded_slot(g, weight, w->shape), b2 = folded_slot(g, bias, SHAPE(w->shape.dim[0]));
    int in[6] = {graph_slot(prepare, w), NONE, NONE, NONE, NONE, in_prepare(g, prepare, conv->in[2])}, out[2];
    for (int j = 1; j < 5; j++) in[j] = in_prepare(g, prepare, norm->in[j]);
    graph_node(prepare, OP_NORM_FOLD, in, 6, &norm->attr, out);
    int pw = folded_slot(prepare, weight, w->shape), pb = folded_slot(prepare, bias, SHAPE(w->shape.dim[0]));
    graph_node_over(prepare, OP_ASSIGN, (int[]){pw, out[0]}, 2, NULL, &pw, NULL);
    graph_node_over(prepare, OP_ASSIGN, (int[]){pb, out[1]}, 2, NULL, &pb, NULL);
    if (w2 == NONE || b2 == NONE) return g->error;
    TRY(graph_check(prepare));

    conv->in[1] = w2, conv->in[2] = b2;
    enum act act = norm->attr.norm.act;
    if (!pool) {
        conv->attr.conv.act = act;
        absorb(m, i, conv);
    } else if (act == ACT_NONE) {
        absorb(m, i, pool);
    } else {  // the norm's place is taken by its activation
        int x = norm->in[0], y = norm->out[0];
        *norm = (struct node){.op = OP_MAP, .phase = norm->phase, .scope = norm->scope, .attr.map = {.formula = (enum map)act}};
        for (int j = 0; j < MAX_IN; j++) norm->in[j] = NONE;
        for (int j = 0; j < MAX_OUT; j++) norm->out[j] = NONE;
        norm->in[0] = x, norm->out[0] = y;
    }
    return 0;
}

int fuse_fold(struct graph *g, struct graph *prepare)
{
    TRY(graph_check(g));
    struct match m = match_open(g);
    m.uses = grow(m.uses, (size_t)(g->values + 3 * g->nodes + 1) * sizeof *m.uses);  // with the folded slots
    int rc = 0;
    for (int i = 0; i < g->nodes && rc == 0; i++)
        if (!m.gone[i]) rc = fold(&m, i, prepare);
    match_close(&m);
    return rc;
}

// ---- for one device

static bool fuses(struct device *d, const struct graph *g, enum op op, const struct conv_attr *a, int in0, int in1, int out)
{
    struct node n = {.op = op, .attr.conv = *a};
    for (int i = 0; i < MAX_IN; i++) n.in[i] = NONE;
    for (int i = 0; i < MAX_OUT; i++) n.out[i] = NONE;
    n.in[0] = in0, n.in[1] = in1, n.out[0] = out;
    return d->type->fuses(d, g, &n);
}

// The convolution and the gradients that backward will need must all run with the pool. Else dy would have to be
// written in full for one of them. A bias that trains has a sum over dy, which would add a quarter of the terms in other groups
// and round to other bytes.
static bool fuses_conv_pool(struct device *d, const struct graph *g, const struct node *conv, int pooled)
{
    struct conv_attr a = conv->attr.conv;
    const struct value *y = &g->value[conv->out[0]];
    int x = conv->in[0], w = conv->in[1], bias = conv->in[2];
    if (bias != NONE && g->value[bias].trains) return false;
    if (a.act != ACT_NONE || a.pool || y->shape.dim[1] % 2 || y->shape.dim[2] % 2) return false;
    a.pool = true;
    return fuses(d, g, OP_CONV, &a, x, w, pooled) && (!g->value[x].trains || fuses(d, g, OP_CONV_DGRAD, &a, w, pooled, x)) &&
           (!g->value[w].trains || fuses(d, g, OP_CONV_WGRAD, &a, x, pooled, w));
}

static void conv_pool(struct match *m, int i, struct device *device)
{
    struct graph *g = m->g;
    struct node *n = &g->node[i];
    bool norm = n->op == OP_POOL_NORM;
    if (!norm && (n->op != OP_MAXPOOL || !halves(&n->attr.pool))) return;
    struct node *conv = only_source(m, i, OP_CONV);
    int pooled = n->out[norm ? 3 : 0], at = n->out[norm ? 4 : 1];
    if (!conv || pooled == NONE || !fuses_conv_pool(device, g, conv, pooled)) return;
    if (norm) {
        int now[MAX_OUT] = {n->out[0], n->out[1], n->out[2], n->out[5], n->out[6], NONE, NONE};
        memcpy(n->out, now, sizeof now);
        n->op = OP_NORM, n->in[0] = pooled, n->attr.norm.pooled = true;
    } else {
        m->gone[i] = true;
    }
    conv->attr.conv.pool = true;
    conv->out[0] = pooled, conv->out[1] = at;
    g->value[pooled].producer = (int)(conv - g->node);
    if (at != NONE) g->value[at].producer = (int)(conv - g->node);
}

// Moves an activation that follows a pooled convolution into it. Results are rounded before the activation, as without fusion.
static void conv_pool_act(struct match *m, int i)
{
    struct node *n = &m->g->node[i];
    if (node_act(n) == ACT_NONE || m->g->value[n->out[0]].trains) return;
    struct node *conv = only_source(m, i, OP_CONV);
    if (!conv || !conv->attr.conv.pool || conv->attr.conv.act != ACT_NONE || conv->out[0] != n->in[0]) return;
    conv->attr.conv.act = node_act(n);
    absorb(m, i, conv);
}

int fuse_device(struct graph *g, unsigned patterns, struct device *device)
{
    TRY(graph_check(g));
    if (!device->type->fuses || !(patterns & FUSE_CONV_POOL)) return 0;
    struct match m = match_open(g);
    for (int i = 0; i < g->nodes; i++)
        if (!m.gone[i]) conv_pool(&m, i, device), conv_pool_act(&m, i);
    match_close(&m);
    return graph_check(g);
}

// ---- pruning

void fuse_prune(struct graph *g)
{
    bool *wanted = zalloc((size_t)(g->values + 1) * sizeof *wanted);
    struct match m = match_open(g);
    for (int i = g->nodes - 1; i >= 0; i--) {
        struct node *n = &g->node[i];
        bool keep = false;
        for (int o = 0; o < MAX_OUT; o++)
            if (n->out[o] != NONE) keep |= g->value[n->out[o]].slot || wanted[n->out[o]];
        if (!keep) {
            m.gone[i] = true;
            continue;
        }
        for (int o = 0; o < MAX_OUT; o++)
            if (n->out[o] != NONE && !g->value[n->out[o]].slot && !wanted[n->out[o]]) n->out[o] = NONE;
        for (int j = 0; j < MAX_IN; j++)
            if (n->in[j] != NONE) wanted[n->in[j]] = true;
    }
    match_close(&m);
    free(wanted);
}
