// SPDX-License-Identifier: Apache-2.0
#include "runtime/op/op.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define INPLACE OP_FLAG_INPLACE
#define ALIAS OP_FLAG_ALIAS
#define GRADS OP_FLAG_GRADS
const struct op_info op_table[OP_COUNT] = {
#define OP(ID, name, inputs, outputs, flags)                                                                           \
    [OP_##ID] = {#name, inputs, outputs, flags, op_##name##_infer, op_##name##_grad, op_##name##_flops},
#include "runtime/ops.def"
#undef OP
};

const char *act_name(enum act a)
{
#define ACT(ID, name) #name,
    static const char *const names[ACT_KINDS] = {"none", ACT_LIST(ACT)};
#undef ACT
    return names[a];
}

const char *node_name(const struct node *n)
{
#define MAP(ID, name, ...) [MAP_##ID] = {#name, #name "_grad"},
    static const char *const names[MAP_KINDS][2] = {
#include "runtime/map.def"
    };
#undef MAP
    if (n->op != OP_MAP && n->op != OP_MAP_GRAD) return op_table[n->op].name;
    return names[n->attr.map.formula][n->op == OP_MAP_GRAD];
}

enum act node_act(const struct node *n)
{
    return n->op == OP_MAP && (int)n->attr.map.formula < ACT_KINDS ? (enum act)n->attr.map.formula : ACT_NONE;
}

size_t value_bytes_below(const struct value *v, int axis, int64_t *above)
{
    size_t bytes = dtype_size(v->dtype);
    *above = 1;
    for (int i = 0; i < v->shape.rank; i++) {
        if (i < axis) *above *= v->shape.dim[i];
        if (i > axis) bytes *= (size_t)v->shape.dim[i];
    }
    return bytes;
}

struct graph *graph_new(struct slot_store *store, const char *name)
{
    struct graph *g = zalloc(sizeof *g);
    g->store = store;
    g->name = arena_text(&g->arena, "%s", name);
    g->scope = "";
    return g;
}

void graph_free(struct graph *g)
{
    if (!g) return;
    arena_free(&g->arena);
    free(g->value);
    free(g->value_of);
    free(g->node);
    free(g);
}

int graph_fail(struct graph *g, int code, const char *format, ...)
{
    if (g->error) return NONE;
    char text[ERROR_TEXT_MAX / 2];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    g->error = code;
    g->error_text = arena_text(&g->arena, "graph \"%s\"%s%s: %s", g->name, *g->scope ? ", " : "", g->scope, text);
    return NONE;
}

int graph_check(const struct graph *g)
{
    return g->error ? fail(g->error, "%s", g->error_text) : 0;
}

void graph_scope(struct graph *g, const char *format, ...)
{
    char text[128];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    g->scope = arena_text(&g->arena, "%s", text);
}

static int new_value(struct graph *g, struct value v)
{
    if (g->values == g->value_capacity) {
        g->value_capacity = g->value_capacity ? 2 * g->value_capacity : 128;
        g->value = grow(g->value, (size_t)g->value_capacity * sizeof *g->value);
    }
    g->value[g->values] = v;
    return g->values++;
}

int graph_slot(struct graph *g, struct slot *slot)
{
    BUG_IF(slot->number >= g->store->count || g->store->slot[slot->number] != slot);  // of another store
    if (slot->number >= g->value_ofs) {
        int had = g->value_ofs;
        g->value_ofs = 2 * slot->number + 64;
        g->value_of = grow(g->value_of, (size_t)g->value_ofs * sizeof *g->value_of);
        memset(g->value_of + had, 0, (size_t)(g->value_ofs - had) * sizeof *g->value_of);
    }
    int *value = &g->value_of[slot->number];
    if (*value) return *value - 1;
    *value = g->values + 1;
    return new_value(g, (struct value){.shape = slot->shape, .dtype = slot->dtype, .slot = slot, .producer = NONE});
}

int graph_state(struct graph *g, const char *name, struct shape shape, enum dtype dtype, enum memory_class memory,
                struct init init)
{
    if (g->error) return NONE;
    struct slot *slot;
    int rc = slot_make(g->store, name, shape, dtype, memory, init, &slot);
    if (rc < 0) return graph_fail(g, rc, "%s", error_text());
    return graph_slot(g, slot);
}

void graph_group(struct graph *g, int group)
{
    BUG_IF(group < 0 || group >= GROUPS_MAX);
    g->group = group;
}

int graph_param(struct graph *g, const char *name, struct shape shape, struct init init, enum role role)
{
    BUG_IF(!role_is_parameter(role));
    int v = graph_state(g, name, shape, F32, MEMORY_WEIGHTS, init);
    if (v == NONE) return NONE;
    struct slot *slot = g->value[v].slot;
    if (slot->role == ROLE_PLAIN) slot->role = role, slot->group = g->group;
    if (slot->role != role || slot->group != g->group)
        return graph_fail(g, ERR_SHAPE, "\"%s\" has another role or group in another graph", name);
    if (g->trains >> g->group & 1) g->value[v].trains = true;
    return v;
}

int graph_node_over(struct graph *g, enum op op, const int *in, int inputs, const union attr *attr, const int *over,
                    int *out)
{
    const struct op_info *info = &op_table[op];
    BUG_IF(inputs > info->inputs);
    for (int i = 0; out && i < info->outputs; i++) out[i] = NONE;
    if (g->error) return NONE;
    struct node n = {.op = op, .phase = g->phase, .scope = g->scope};
    if (attr) n.attr = *attr;
    bool trains = false;
    for (int i = 0; i < MAX_IN; i++) {
        n.in[i] = i < inputs ? in[i] : NONE;
        if (n.in[i] != NONE) trains |= g->value[n.in[i]].trains;
    }
    if (n.in[0] == NONE) return graph_fail(g, ERR_SHAPE, "%s has no first input", info->name);
    // Shapes are inferred into fresh values; those that overwrite a persistent value are then replaced by it.
    for (int i = 0; i < MAX_OUT; i++)
        n.out[i] = i < info->outputs ? new_value(g, (struct value){.producer = g->nodes, .trains = trains}) : NONE;
    int rc = info->infer(g, &n);
    if (rc < 0) return NONE;
    for (int i = 0; i < info->outputs; i++)
        if (n.out[i] != NONE && !dtype_is_float(g->value[n.out[i]].dtype)) g->value[n.out[i]].trains = false;
    for (int i = 0; over && i < info->outputs; i++) {
        if (over[i] == NONE) continue;
        const struct value *made = &g->value[n.out[i]], *kept = &g->value[over[i]];
        BUG_IF(!kept->slot);
        if (!shape_equal(&made->shape, &kept->shape) || made->dtype != kept->dtype)
            return graph_fail(g, ERR_SHAPE, "%s cannot overwrite \"%s\": another shape or type", info->name,
                              kept->slot->name);
        n.out[i] = over[i];
    }
    if (g->nodes == g->node_capacity) {
        g->node_capacity = g->node_capacity ? 2 * g->node_capacity : 128;
        g->node = grow(g->node, (size_t)g->node_capacity * sizeof *g->node);
    }
    g->node[g->nodes++] = n;
    for (int i = 0; out && i < info->outputs; i++) out[i] = n.out[i];
    return n.out[0];
}

int graph_node(struct graph *g, enum op op, const int *in, int inputs, const union attr *attr, int *out)
{
    return graph_node_over(g, op, in, inputs, attr, NULL, out);
}

int node_refuse(const struct graph *g, const struct node *n, const char *device, int rc)
{
    char why[ERROR_TEXT_MAX], shape[SHAPE_TEXT];
    snprintf(why, sizeof why, "%s", error_text());
    const struct value *v = node_out(g, n, 0) ? node_out(g, n, 0) : node_in(g, n, 0);
    return fail(rc, "the %s cannot run %s (%s -> %s %s) of graph %s: %s", device, n->scope && *n->scope ? n->scope : "a node",
                node_name(n), dtype_name(v->dtype), shape_text(shape, &v->shape), g->name, why);
}

// What lies between inputs and outputs of LINEAR_XENT. Logits are written, read for the losses, overwritten by their gradients,
// and read by dx, dw and dbias. w is copied to 16 bits if x has 16. Each piece of rows reads w for the logits and for dx, and all
// but the first add to dw. x is read again for dw.
static void add_logits(const struct graph *g, const struct node *n, struct cost *c)
{
    enum { X, W, DX = 4, DW, DBIAS };
    const struct value *x = node_in(g, n, X), *w = node_in(g, n, W);
    const int64_t rows = shape_rows(&x->shape), size = (int64_t)dtype_size(x->dtype), row_bytes = w->shape.dim[0] * size;
    const int64_t fit = n->attr.linear_xent.bytes / row_bytes, most = fit < 1 ? 1 : fit < rows ? fit : rows;
    const double pieces = (double)((rows + most - 1) / most), logits = (double)rows * (double)row_bytes;
    const double copy = (double)(shape_count(&w->shape) * size), copies = x->dtype != F32;
    const double dx = n->out[DX] != NONE, dw = n->out[DW] != NONE, dbias = n->out[DBIAS] != NONE;
    c->written += logits * (dx + dw + dbias > 0 ? 2 : 1) + copies * copy + dw * (pieces - 1) * (double)value_bytes(w);
    c->read += logits * (1 + dx + dw + dbias) + copy * (pieces * (1 + dx) - (1 - copies));
    c->read += dw * ((pieces - 1) * (double)value_bytes(w) + (double)value_bytes(x));
}

// Batch norm reads its tensors once for sums over the batch and once more for each value: of inputs, or of the pooled values.
static double second_pass_bytes(const struct graph *g, const struct node *n)
{
    enum { DY, X, Y = 6, POOLED = 3 };
    switch (n->op) {
    case OP_NORM: return (double)value_bytes(node_in(g, n, 0));
    case OP_POOL_NORM: return (double)value_bytes(node_out(g, n, POOLED));
    case OP_POOL_NORM_GRAD: return (double)(value_bytes(node_in(g, n, DY)) + value_bytes(node_in(g, n, X)));
    case OP_NORM_GRAD:
        return (double)(value_bytes(node_in(g, n, DY)) + value_bytes(node_in(g, n, X)) +
                        (n->in[Y] != NONE ? value_bytes(node_in(g, n, Y)) : 0));
    default: return 0;
    }
}

double node_forward_flops(const struct graph *g, const struct node *n)
{
    enum { DX = 4, DW, DBIAS };
    struct node bare = *n;
    if (n->op == OP_LINEAR_XENT) bare.out[DX] = bare.out[DW] = bare.out[DBIAS] = NONE;
    return op_table[n->op].flops(g, &bare);
}

struct cost node_cost(const struct graph *g, const struct node *n)
{
    struct cost c = {op_table[n->op].flops(g, n), 0, 0};
    if (op_table[n->op].flags & OP_FLAG_ALIAS) return c;
    for (int i = 0; i < MAX_IN; i++)
        if (n->in[i] != NONE) c.read += (double)value_bytes(&g->value[n->in[i]]);
    for (int i = 0; i < MAX_OUT; i++)
        if (n->out[i] != NONE) c.written += (double)value_bytes(&g->value[n->out[i]]);
    // An append touches the rows that it writes, not the whole cache.
    if (n->op == OP_APPEND) {
        c.read -= (double)value_bytes(&g->value[n->in[0]]);
        c.written = (double)value_bytes(&g->value[n->in[1]]);
    }
    // A gather reads the picked rows, not the whole array.
    if (n->op == OP_GATHER || n->op == OP_AUGMENT || n->op == OP_WINDOW) {
        c.read -= (double)value_bytes(&g->value[n->in[0]]);
        const struct value *y = &g->value[n->out[0]];
        c.read += (double)shape_count(&y->shape) * (double)dtype_size(g->value[n->in[0]].dtype);
    }
    if (n->op == OP_LINEAR_XENT) add_logits(g, n, &c);
    c.read += second_pass_bytes(g, n);
    // CTC keeps a number of 8 bytes for each class of a frame, and for its gradient for each state of a frame.
    if (n->op == OP_CTC) {
        const struct shape *x = &node_in(g, n, 0)->shape;
        const int64_t states = n->out[3] == NONE ? 0 : 2 * node_in(g, n, 2)->shape.dim[1] + 1;
        const double kept = 8.0 * (double)(shape_rows(x) * (shape_last(x) + states));
        c.read += kept, c.written += kept;
    }
    return c;
}
