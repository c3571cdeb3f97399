// SPDX-License-Identifier: Apache-2.0
// The graph alone decides who owns a copy: `kept` (while planning), compile and cuda_weight get the same answer. Updates depend
// on program order, so "earlier" compares node numbers. Cost: a walk over the nodes per reader at compile time; a comparison of
// versions at run time.
#include "runtime/cuda/cuda_weights.h"

#include "runtime/cuda/cuda_lanes.h"
#include "runtime/cuda/kernels/k_weights.h"

// The source of a copy: a value as it is after node `made`, and the type of the copy.
struct source {
    int root;       // the value that owns the bytes, after all aliases are followed
    int made;       // the last node before the reader that writes it; NONE: the program does not write it before
    enum dtype to;
};

static int root_of(const struct graph *g, int v)
{
    for (;;) {
        int maker = g->value[v].slot ? NONE : g->value[v].producer;
        if (maker == NONE || !(op_table[g->node[maker].op].flags & OP_FLAG_ALIAS)) return v;
        v = g->node[maker].in[0];
    }
}

int64_t cuda_weight_zeros(const struct graph *g, int v)
{
    const struct shape *s = &g->value[root_of(g, v)].shape;
    return s->rank == 2 ? (CUDA_WEIGHT_ROWS - s->dim[0] % CUDA_WEIGHT_ROWS) % CUDA_WEIGHT_ROWS * s->dim[1] : 0;
}

static bool node_writes(const struct node *n, int v)
{
    for (int i = 0; i < MAX_OUT; i++)
        if (n->out[i] == v) return true;
    return false;
}

// True if input i of a node is read through a copy; fills *source.
static bool reads_copy(const struct graph *g, int node, int i, struct source *source)
{
    const struct node *n = &g->node[node];
    if (!cuda_ops[n->op]->copies || n->in[i] == NONE || g->value[n->in[i]].dtype != F32) return false;
    source->to = F32;
    unsigned mask = cuda_ops[n->op]->copies(g, n, &source->to);
    if (!(mask >> i & 1u) || source->to == F32) return false;
    source->root = root_of(g, n->in[i]);
    source->made = node - 1;
    while (source->made >= 0 && !node_writes(&g->node[source->made], source->root)) source->made--;
    if (source->made < 0) source->made = NONE;
    return true;
}

// Returns the node that reads a source first, and sets *which to its input.
static int owner_of(const struct graph *g, int node, int input, const struct source *source, int *which)
{
    for (int m = source->made + 1; m <= node; m++)
        for (int i = 0; i < op_table[g->node[m].op].inputs; i++) {
            struct source other;
            if (!reads_copy(g, m, i, &other) || other.root != source->root || other.to != source->to) continue;
            *which = i;
            return m;
        }
    *which = input;
    BUG("cuda_weights: the reader itself was not found");
}

static size_t copy_bytes(const struct graph *g, const struct node *n, int i, enum dtype to)
{
    return plan_round_up((size_t)(shape_count(&g->value[n->in[i]].shape) + cuda_weight_zeros(g, n->in[i])) * dtype_size(to));
}

// Offset of the copy of input `until` in the node's kept bytes; MAX_IN: size of all copies.
static size_t kept_before(const struct graph *g, int node, int until)
{
    size_t bytes = 0;
    for (int i = 0; i < until && i < op_table[g->node[node].op].inputs; i++) {
        struct source source;
        int which;
        if (reads_copy(g, node, i, &source) && owner_of(g, node, i, &source, &which) == node && which == i)
            bytes += copy_bytes(g, &g->node[node], i, source.to);
    }
    return bytes;
}

size_t cuda_weights_kept(struct device *device, const struct graph *g, const struct node *n)
{
    (void)device;
    return kept_before(g, (int)(n - g->node), MAX_IN);
}

static void *copy_address(const struct plan *plan, int node, int i)
{
    BUG_IF(plan->order[node] != node);  // kept_offset is indexed by position, this file by node
    return (char *)plan->kept + plan->kept_offset[node] + kept_before(plan->graph, node, i);
}

const void *cuda_weight(const struct cuda_step *s, int i, enum dtype to)
{
    const struct value *v = cuda_in(s, i);
    if (!v || v->dtype == to) return s->in[i];
    int node = (int)(s->node - s->graph->node), which;
    struct source source;
    BUG_IF(!reads_copy(s->graph, node, i, &source) || source.to != to || !s->plan->kept);
    int owner = owner_of(s->graph, node, i, &source, &which);
    return copy_address(s->plan, owner, which);
}

// ---- making the copies

enum moment { FROZEN, BEGIN, LATE };  // before the run, if the slot changed; at the start of a run; before the owner

struct copy {
    enum moment moment;
    int position;             // the owner's
    const float *from;
    void *to;
    int64_t count, zeros;
    enum dtype type;
    const struct slot *slot;  // FROZEN: the slot whose version is compared
    uint64_t version;         // the slot's version when it was copied
};

struct cuda_weights {
    struct cuda_device *cuda;
    struct copy *copy;
    int count;
};

static enum moment moment_of(const struct graph *g, const struct source *source)
{
    if (!g->value[source->root].slot || source->made != NONE) return LATE;
    for (int i = 0; i < g->nodes; i++)
        if (node_writes(&g->node[i], source->root)) return BEGIN;
    return FROZEN;
}

static void add_owned(struct cuda_weights *w, const struct plan *plan, void *slab, int node)
{
    const struct graph *g = plan->graph;
    for (int i = 0; i < op_table[g->node[node].op].inputs; i++) {
        struct source source;
        int which;
        if (!reads_copy(g, node, i, &source) || owner_of(g, node, i, &source, &which) != node || which != i) continue;
        int value = g->node[node].in[i];
        w->copy[w->count++] = (struct copy){
            .moment = moment_of(g, &source), .position = node, .from = plan_address(plan, slab, value),
            .to = copy_address(plan, node, i), .count = shape_count(&g->value[value].shape),
            .zeros = cuda_weight_zeros(g, value), .type = source.to, .slot = g->value[source.root].slot, .version = UINT64_MAX};
    }
}

struct cuda_weights *cuda_weights_new(struct cuda_device *cuda, const struct plan *plan, void *slab, struct arena *arena)
{
    struct cuda_weights *w = arena_alloc(arena, sizeof *w);
    w->cuda = cuda;
    int most = 0;
    for (int n = 0; n < plan->graph->nodes; n++)
        for (int i = 0; i < MAX_IN; i++) most += cuda_ops[plan->graph->node[n].op]->copies && plan->graph->node[n].in[i] != NONE;
    w->copy = arena_alloc(arena, (size_t)(most + 1) * sizeof *w->copy);
    for (int n = 0; n < plan->graph->nodes; n++) add_owned(w, plan, slab, n);
    return w;
}

static int launch_copies(cudaStream_t stream, struct k_weights *k)
{
    if (k->tensors) TRY(cuda_check(k_weights(stream, k), "launching the 16-bit copies of weights"));
    k->tensors = 0;
    return 0;
}

static bool is_due(const struct copy *c, enum moment moment, int position)
{
    if (c->moment != moment || c->count == 0) return false;
    return moment == FROZEN ? c->version != c->slot->version : moment == BEGIN || c->position == position;
}

// One launch per K_WEIGHTS due copies of one type.
static int cast_due(struct cuda_weights *w, enum moment moment, int position, cudaStream_t stream)
{
    struct k_weights k;
    for (enum dtype type = BF16; type <= F16; type++) {
        k.tensors = 0, k.type = type, k.first[0] = 0;
        for (int i = 0; i < w->count; i++) {
            const struct copy *c = &w->copy[i];
            if (c->type != type || !is_due(c, moment, position)) continue;
            k.of[k.tensors].from = c->from, k.of[k.tensors].to = c->to;
            k.of[k.tensors].count = c->count, k.of[k.tensors].zeros = c->zeros;
            int64_t end = k.first[k.tensors] + (c->count + c->zeros + K_WEIGHTS_BLOCK - 1) / K_WEIGHTS_BLOCK;
            if (end > INT32_MAX) return fail(ERR_UNSUPPORTED, "cuda: a parameter of %lld elements is too large",
                                              (long long)c->count);
            k.first[++k.tensors] = (int)end;
            if (k.tensors == K_WEIGHTS) TRY(launch_copies(stream, &k));
        }
        TRY(launch_copies(stream, &k));
    }
    return 0;
}

// Copies of another program may have overwritten this one's.
int cuda_weights_refresh(struct cuda_weights *w)
{
    if (w->count == 0) return 0;
    for (int i = 0; i < w->count && w->cuda->copies_of != w; i++) w->copy[i].version = UINT64_MAX;
    w->cuda->copies_of = w;
    TRY(cast_due(w, FROZEN, NONE, w->cuda->stream));
    for (int i = 0; i < w->count; i++)
        if (w->copy[i].moment == FROZEN) w->copy[i].version = w->copy[i].slot->version;
    return 0;
}

int cuda_weights_begin(struct cuda_weights *w)
{
    return cast_due(w, BEGIN, NONE, w->cuda->stream);
}

int cuda_weights_before(struct cuda_weights *w, int position, cudaStream_t stream)
{
    return cast_due(w, LATE, position, stream);
}

// ---- accesses

int cuda_weights_touches(const struct cuda_weights *w, int position, struct cuda_touch *into)
{
    int touches = 0;
    for (int i = 0; i < w->count; i++) {
        const struct copy *c = &w->copy[i];
        if (!is_due(c, position == NONE ? BEGIN : LATE, position)) continue;
        if (into) {
            into[touches] = (struct cuda_touch){c->from, (size_t)c->count * sizeof *c->from, 0};
            into[touches + 1] = (struct cuda_touch){c->to, (size_t)(c->count + c->zeros) * dtype_size(c->type), TOUCH_WRITES};
        }
        touches += 2;
    }
    return touches;
}

bool cuda_weights_read(const struct cuda_step *s, int i, struct cuda_touch *into)
{
    int node = (int)(s->node - s->graph->node), which;
    struct source source;
    if (!reads_copy(s->graph, node, i, &source)) return false;
    int owner = owner_of(s->graph, node, i, &source, &which);
    *into = (struct cuda_touch){copy_address(s->plan, owner, which), copy_bytes(s->graph, s->node, i, source.to), 0};
    return true;
}
