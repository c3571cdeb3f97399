// SPDX-License-Identifier: Apache-2.0
// The machinery behind the list of cases: filling inputs, allocating outputs, running. Draws are keyed by the slot's name and
// the index, so a case is the same on every device and in every order. Small cases take microseconds to some milliseconds on
// `ref`; large ones are for speed only.
#include "runtime/cases/cases.h"

#include "runtime/common/base/hash.h"
#include "runtime/common/base/rng.h"
#include "runtime/fuse.h"
#include "runtime/grad.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct op_case *const case_lists[] = {
    cases_conv, cases_pool, cases_norm, cases_element, cases_map, cases_top, cases_move, cases_loss, cases_data, cases_optim,
    cases_attention, cases_recurrent, cases_pattern, cases_linear_xent, cases_ctc, cases_roi, cases_boxes, NULL};

const struct op_case *case_next(const struct op_case *after)
{
    int list = 0;
    if (after) {
        if (after[1].name) return after + 1;
        const struct op_case *end = after + 1;
        for (;; list++) {  // the list that holds this row
            BUG_IF(!case_lists[list]);
            const struct op_case *row = case_lists[list];
            while (row->name) row++;
            if (row == end) break;
        }
        list++;
    }
    return case_lists[list];
}

// ---- inputs

static struct rng4 draw_at(uint64_t key, int64_t i)
{
    return rng_draw(key, RNG_TEST, (uint32_t)(i >> 32), (uint32_t)i, 0);
}

// Normal numbers take more time than most small cases, and nearly all cases have an "x". So the first ones of each name are kept.
enum { KEPT_NAMES = 64, KEPT_NUMBERS = 1 << 20 };
static struct kept_normals {
    uint64_t key;
    int64_t count;
    double *at;
} kept[KEPT_NAMES];

static const double *keep_normals(uint64_t key, int64_t n)
{
    struct kept_normals *k = &kept[key % KEPT_NAMES];
    if (k->key != key) k->key = key, k->count = 0;
    if (k->count >= n) return k->at;
    k->at = grow(k->at, (size_t)n * sizeof *k->at);
    for (; k->count < n; k->count++) k->at[k->count] = rng_normal(draw_at(key, k->count));
    return k->at;
}

static bool is_normal(enum draw draw) { return draw == DRAW_NORMAL || draw == DRAW_AWAY || draw == DRAW_FAR; }

static double from_normal(enum draw draw, double a, double n)
{
    return draw == DRAW_NORMAL ? a * n : draw == DRAW_FAR ? a + n : n < 0.0 ? n - a : n + a;
}

static double draw_one(enum draw draw, double a, struct rng4 r)
{
    switch (draw) {
    case DRAW_NORMAL:
    case DRAW_AWAY:
    case DRAW_FAR: return from_normal(draw, a, rng_normal(r));
    case DRAW_POSITIVE: return a * (0.5 + (double)rng_unit(r.v[0]));
    case DRAW_INDEX: return (double)rng_below(r.v[0], (uint32_t)a);
    case DRAW_WHOLE: return (double)(int32_t)r.v[0];
    case DRAW_CONSTANT: return a;
    case DRAW_DISTINCT:
    case DRAW_BOX: break;
    }
    BUG("unknown draw");
}

// Fills `into` with a Fisher-Yates shuffle of the ladder -n/2 .. n/2 in steps of a.
static void draw_ladder(enum dtype type, void *into, int64_t n, double a, uint64_t key)
{
    int64_t *rung = zalloc((size_t)n * sizeof *rung);
    for (int64_t i = 0; i < n; i++) rung[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = rng_below(rng_draw(key, RNG_TEST, 0, (uint32_t)i, 0).v[0], (uint32_t)(i + 1)), was = rung[i];
        rung[i] = rung[j];
        rung[j] = was;
    }
    for (int64_t i = 0; i < n; i++) element_set(type, into, i, ((double)rung[i] - (double)n / 2.0 + 0.25) * a);
    free(rung);
}

// Element i of boxes. The third draw makes a box long or short, and some backwards.
static double draw_box(double a, uint64_t key, int64_t i)
{
    struct rng4 r = draw_at(key, i / 4);
    int side = (int)(i % 2);
    double low = a * (1.125 * (double)rng_unit(r.v[side]) - 0.125);
    double size = a * pow((double)rng_unit(r.v[2 + side]), 2.0);
    return i % 4 < 2 ? low : r.v[3] % 8 ? low + size : low - size;
}

static void draw_fill(struct case_input *in, bool absolute)
{
    const struct slot *slot = in->slot;
    int64_t n = shape_count(&slot->shape);
    uint64_t key = hash_text64(slot->name);
    const double *normal = is_normal(in->draw) && n <= KEPT_NUMBERS ? keep_normals(key, n) : NULL;
    in->host = zalloc(slot_bytes(slot));
    if (in->draw == DRAW_DISTINCT) draw_ladder(slot->dtype, in->host, n, in->a, key);
    else if (in->draw == DRAW_BOX)
        for (int64_t i = 0; i < n; i++) element_set(slot->dtype, in->host, i, draw_box(in->a, key, i));
    else
        for (int64_t i = 0; i < n; i++)
            element_set(slot->dtype, in->host, i,
                        normal ? from_normal(in->draw, in->a, normal[i]) : draw_one(in->draw, in->a, draw_at(key, i)));
    for (int64_t i = 0; absolute && dtype_is_float(slot->dtype) && in->draw != DRAW_BOX && i < n; i++)
        element_set(slot->dtype, in->host, i, fabs(element_get(slot->dtype, in->host, i)));
}

static void add_input(struct case_build *b, struct slot *slot, enum draw draw, double a, bool differentiable)
{
    BUG_IF(b->inputs == CASE_INPUTS);
    b->input[b->inputs++] = (struct case_input){slot, draw, a, differentiable, NULL};
}

static int new_input(struct case_build *b, const char *name, struct shape shape, enum dtype type, enum draw draw,
                     double a, bool differentiable)
{
    int v = graph_state(b->g, name, shape, type, MEMORY_STATE, (struct init){INIT_UPLOAD, 0});
    if (v == NONE) return NONE;
    differentiable = differentiable && b->options.gradient;
    add_input(b, b->g->value[v].slot, draw, a, differentiable);
    b->g->value[v].trains = differentiable;
    // A temporary copy, so that an operator that may overwrite its input can do so.
    if (b->options.through && dtype_is_float(type)) return g_scale(b->g, v, 1.0f);
    return v;
}

int case_input(struct case_build *b, const char *name, struct shape shape, enum dtype type, enum draw draw, double a)
{
    return new_input(b, name, shape, type, draw, a, false);
}

int case_param(struct case_build *b, const char *name, struct shape shape, enum dtype type, enum draw draw, double a)
{
    return new_input(b, name, shape, type, draw, a, true);
}

void case_dropout(struct case_build *b, int *key, int *step)
{
    *key = case_input(b, "key", SHAPE(4), I32, DRAW_WHOLE, 0);
    *step = case_input(b, "step", SHAPE(1), I32, DRAW_CONSTANT, 7);
}

void case_adopt(struct case_build *b, const char *name, enum draw draw, double a, bool differentiable)
{
    struct slot *slot = slot_find(b->g->store, name);
    if (!slot) {
        BUG_IF(!b->g->error);
        return;
    }
    differentiable = differentiable && b->options.gradient;
    add_input(b, slot, draw, a, differentiable);
    b->g->value[graph_slot(b->g, slot)].trains = differentiable;
}

// ---- outputs

static void add_output(struct case_build *b, struct slot *slot, bool update, int number)
{
    BUG_IF(b->outputs == CASE_OUTPUTS);
    b->output[b->outputs++] = (struct case_output){slot, update, number, zalloc(slot_bytes(slot))};
}

// Returns a slot of the value's own shape and type.
static int output_slot(struct case_build *b, const char *name, int value, int number)
{
    if (b->g->error || value == NONE) return NONE;
    struct value v = b->g->value[value];
    int slot = graph_state(b->g, name, v.shape, v.dtype, MEMORY_STATE, (struct init){INIT_UPLOAD, 0});
    if (slot != NONE) add_output(b, b->g->value[slot].slot, false, number);
    return slot;
}

static void add_kept_output(struct case_build *b, const char *name, int value, int number)
{
    int slot = output_slot(b, name, value, number);
    if (slot != NONE) graph_node_over(b->g, OP_ASSIGN, (int[]){slot, value}, 2, NULL, &slot, NULL);
}

void case_node(struct case_build *b, const int *in, int inputs, const union attr *attr, const int *over)
{
    struct graph *g = b->g;
    const struct op_info *info = &op_table[b->row->op];
    int out[MAX_OUT] = {NONE, NONE, NONE, NONE, NONE, NONE, NONE};
    graph_node_over(g, b->row->op, in, inputs, attr, over, out);
    if (g->error) return;
    b->node = g->nodes - 1;
    b->result = out[0];
    for (int i = 0; i < info->outputs; i++) {
        if (out[i] == NONE) continue;
        struct value v = g->value[out[i]];
        char name[16];
        snprintf(name, sizeof name, "out%d", i);
        if (over && over[i] != NONE) {
            add_output(b, v.slot, true, i);
        } else if (b->options.unwanted >> i & 1) {
            g->node[b->node].out[i] = NONE;
        } else if (b->options.gradient) {
            if (i == 0) add_kept_output(b, name, out[i], i);
        } else if (info->flags & OP_FLAG_ALIAS || (b->options.through && dtype_is_float(v.dtype))) {
            add_kept_output(b, name, out[i], i);
        } else {  // the operator's own output is the slot
            int slot = output_slot(b, name, out[i], i);
            if (slot != NONE) g->node[b->node].out[i] = slot;
        }
    }
}

void case_result(struct case_build *b, int value)
{
    b->result = value;
    b->node = NONE;
}

void case_watch(struct case_build *b, const char *name)
{
    struct slot *slot = slot_find(b->g->store, name);
    if (slot) add_output(b, slot, true, CASE_OUTPUTS - 1 - b->outputs);
}

// Adds loss = sum(y * weights); its gradients with respect to every differentiable input become outputs, where they are not 0.
static int add_gradients(struct case_build *b)
{
    struct graph *g = b->g;
    TRY(graph_check(g));
    struct shape shape = g->value[b->result].shape;
    int weights = graph_state(g, "weights", shape, F32, MEMORY_STATE, (struct init){INIT_UPLOAD, 0});
    TRY(graph_check(g));
    add_input(b, g->value[weights].slot, DRAW_NORMAL, 1.0, false);
    int y = g_cast(g, b->result, F32);
    int loss = g_reshape(g, g_reduce(g, g_mul(g, y, weights), (1u << shape.rank) - 1u, false, F32), SHAPE(1));
    int of[CASE_INPUTS], number[CASE_INPUTS], grads[CASE_INPUTS], count = 0;
    TRY(graph_check(g));
    for (int i = 0; i < b->inputs; i++)
        if (b->input[i].differentiable) of[count] = graph_slot(g, b->input[i].slot), number[count++] = i;
    TRY(grad_of(g, loss, of, count, grads));
    for (int i = 0; i < count; i++) {
        const char *name = b->input[number[i]].slot->name;
        if (grads[i] == NONE) continue;
        char text[64];
        snprintf(text, sizeof text, "d.%s", name);
        add_kept_output(b, text, grads[i], CASE_OUTPUTS + number[i]);
    }
    return graph_check(g);
}

// ---- running

static int check_support(struct device *d, const struct graph *g)
{
    for (int i = 0; i < g->nodes; i++) TRY(d->type->supports(d, g, &g->node[i]));
    return 0;
}

static int add_program(struct case_live *c, struct graph *g, int *program)
{
    int rc = check_support(c->device, g);
    if (rc < 0) {
        graph_free(g);
        return rc;
    }
    rc = session_add(c->session, g);
    if (rc < 0) return rc;
    *program = rc;
    return 0;
}

static int build_graph(struct case_build *b, struct graph *prepare)
{
    b->row->build(b);
    TRY(graph_check(b->g));
    if (b->options.patterns) TRY(fuse_graph(b->g, b->options.patterns));
    if (prepare) TRY(fuse_fold(b->g, prepare));
    if (b->node == NONE) add_kept_output(b, "y", b->result, 0);
    if (b->options.gradient) TRY(add_gradients(b));
    return graph_check(b->g);
}

static int open_case(struct case_live *c)
{
    struct case_build *b = &c->build;
    TRY(session_new(c->device, &c->session));
    b->g = graph_new(c->session->store, b->row->name);
    struct graph *prepare = b->options.fold ? graph_new(c->session->store, "prepare") : NULL;
    int rc = build_graph(b, prepare);
    if (rc < 0) {
        graph_free(b->g);
        graph_free(prepare);
        return rc;
    }
    if (prepare) rc = add_program(c, prepare, &c->prepare);
    if (rc < 0) graph_free(b->g);
    TRY(rc);
    TRY(add_program(c, b->g, &c->program));
    TRY(session_ready(c->session));
    TRY(session_reset(c->session, 1));
    for (int i = 0; i < b->inputs; i++) draw_fill(&b->input[i], b->options.absolute);
    return 0;
}

int case_open(struct device *device, const struct op_case *row, const struct case_options *options,
              struct case_live **into)
{
    struct case_live *c = zalloc(sizeof *c);
    c->device = device;
    c->program = c->prepare = NONE;
    c->build.row = row;
    c->build.options = *options;
    c->build.result = c->build.node = NONE;
    int rc = open_case(c);
    if (rc < 0) {
        case_close(c);
        return rc;
    }
    *into = c;
    return 0;
}

void case_close(struct case_live *c)
{
    if (!c) return;
    for (int i = 0; i < c->build.inputs; i++) free(c->build.input[i].host);
    for (int i = 0; i < c->build.outputs; i++) free(c->build.output[i].host);
    session_free(c->session);
    free(c);
}

static int poison_slab(struct case_live *c, size_t most)
{
    char *bad = grow(NULL, most ? most : 1);
    memset(bad, 0xff, most ? most : 1);
    int rc = 0;
    for (int i = 0; i < c->build.outputs && rc == 0; i++) {
        const struct slot *slot = c->build.output[i].slot;
        if (!c->build.output[i].update) rc = session_put(c->session, slot->name, bad, 0, slot_bytes(slot));
    }
    if (rc == 0 && c->session->slab_bytes)
        rc = c->device->type->upload(c->device, c->session->slab, bad, c->session->slab_bytes);
    free(bad);
    return rc;
}

int case_run(struct case_live *c)
{
    struct case_build *b = &c->build;
    size_t most = c->session->slab_bytes;
    for (int i = 0; i < b->outputs; i++)
        if (slot_bytes(b->output[i].slot) > most) most = slot_bytes(b->output[i].slot);
    TRY(poison_slab(c, most));
    for (int i = 0; i < b->inputs; i++)
        TRY(session_put(c->session, b->input[i].slot->name, b->input[i].host, 0, slot_bytes(b->input[i].slot)));
    if (c->prepare != NONE) TRY(session_run(c->session, c->prepare));
    TRY(session_run(c->session, c->program));
    TRY(session_sync(c->session));
    for (int i = 0; i < b->outputs; i++)
        TRY(session_get(c->session, b->output[i].slot->name, b->output[i].host, slot_bytes(b->output[i].slot)));
    return 0;
}

const struct case_output *case_output(const struct case_live *c, int number)
{
    for (int i = 0; i < c->build.outputs; i++)
        if (c->build.output[i].number == number) return &c->build.output[i];
    return NULL;
}
