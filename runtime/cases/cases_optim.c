// SPDX-License-Identifier: Apache-2.0
// Cases of optimiser operators. Everything is f32 here; overwritten values are inputs and outputs.
#include "runtime/cases/cases.h"

#include <math.h>

static int f32_input(struct case_build *b, const char *name, enum draw draw, double a)
{
    return case_input(b, name, SHAPE(b->row->p[0], b->row->p[1]), F32, draw, a);
}

// An overwritten value must be its slot, not a copy of it.
static int state_input(struct case_build *b, const char *name, enum draw draw, double a)
{
    bool through = b->options.through;
    b->options.through = false;
    int v = f32_input(b, name, draw, a);
    b->options.through = through;
    return v;
}

static int one_f32(struct case_build *b, const char *name, double a)
{
    return case_input(b, name, SHAPE(1), F32, DRAW_CONSTANT, a);
}

// p: rows, columns, nesterov, decay
static void build_momentum(struct case_build *b)
{
    const int *p = b->row->p;
    int g = f32_input(b, "g", DRAW_NORMAL, 1.0), m = state_input(b, "m", DRAW_NORMAL, 1.0);
    int w = p[3] ? f32_input(b, "p", DRAW_NORMAL, 1.0) : NONE;
    union attr a = {.optim = {.mu = 0.85f, .decay = p[3] ? 0.01f : 0.0f, .nesterov = p[2]}};
    case_node(b, (int[]){g, m, w}, 3, &a, (int[]){NONE, m});
}

// p: rows, columns, nesterov and decay
static void build_momentum_clipped(struct case_build *b)
{
    const int *p = b->row->p;
    int g = f32_input(b, "g", DRAW_NORMAL, 1.0), m = state_input(b, "m", DRAW_NORMAL, 1.0);
    int w = p[2] ? f32_input(b, "p", DRAW_NORMAL, 1.0) : NONE;
    union attr a = {.optim = {.mu = 0.85f, .decay = p[2] ? 0.01f : 0.0f, .nesterov = p[2]}};
    case_node(b, (int[]){g, m, w, one_f32(b, "clip", 0.37)}, 4, &a, (int[]){NONE, m});
}

// p: rows, columns, step, 1: clipped, 2: infinity, 3: RMSProp with epsilon outside of the root, 4: inside
static void build_adam(struct case_build *b)
{
    int g = f32_input(b, "g", DRAW_NORMAL, 1.0), m = state_input(b, "m", DRAW_NORMAL, 0.1);
    int v = state_input(b, "v", DRAW_POSITIVE, 0.5);
    bool rms = b->row->p[3] >= 3;
    int step = rms ? NONE : case_input(b, "step", SHAPE(1), I32, DRAW_CONSTANT, b->row->p[2]);
    union attr a = {.optim = {.beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f, .infinity = b->row->p[3] == 2}};
    if (rms) a.optim = (struct optim_attr){.beta2 = 0.9f, .eps = 0.25f};
    if (b->row->p[3] == 4) a.optim = (struct optim_attr){.beta2 = 0.9f, .root_eps = 0.25f};
    int clip = b->row->p[3] == 1 ? one_f32(b, "clip", 0.37) : NONE;
    case_node(b, (int[]){g, m, v, step, clip}, 5, &a, (int[]){NONE, m, v});
}

// The gradient is not finite. p: rows, columns
static void build_momentum_skipped(struct case_build *b)
{
    int g = f32_input(b, "g", DRAW_CONSTANT, INFINITY), m = state_input(b, "m", DRAW_NORMAL, 1.0);
    union attr a = {.optim = {.mu = 0.85f, .decay = 0.01f, .nesterov = true}};
    int w = f32_input(b, "p", DRAW_NORMAL, 1.0);
    case_node(b, (int[]){g, m, w, one_f32(b, "clip", -1)}, 4, &a, (int[]){NONE, m});
}

static void build_adam_skipped(struct case_build *b)
{
    int g = f32_input(b, "g", DRAW_CONSTANT, NAN), m = state_input(b, "m", DRAW_NORMAL, 0.1);
    int v = state_input(b, "v", DRAW_POSITIVE, 0.5), step = case_input(b, "step", SHAPE(1), I32, DRAW_CONSTANT, 3);
    union attr a = {.optim = {.beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f}};
    case_node(b, (int[]){g, m, v, step, one_f32(b, "clip", -1)}, 5, &a, (int[]){NONE, m, v});
}

// The least scale is 4, the most 4096; after 8 good steps it grows. p: sum of squares, or -1 for infinity; scale; both counts;
// norm to clip to
static void build_loss_scale(struct case_build *b)
{
    const int *p = b->row->p;
    int squares = one_f32(b, "squares", p[0] < 0 ? INFINITY : p[0]);
    bool through = b->options.through;
    b->options.through = false;
    int scale = one_f32(b, "scale", p[1]);
    b->options.through = through;
    int counts = case_input(b, "counts", SHAPE(2), I32, DRAW_CONSTANT, p[2]);
    union attr a = {.loss_scale = {.target = (float)p[3], .least = 4, .most = 4096, .every = 8}};
    case_node(b, (int[]){squares, scale, counts}, 3, &a, (int[]){NONE, NONE, scale, counts});
}

// p: rows, columns, with a sum before
static void build_squares(struct case_build *b)
{
    int x = f32_input(b, "x", DRAW_NORMAL, 2.0), before = b->row->p[2] ? one_f32(b, "before", 31.0) : NONE;
    case_node(b, (int[]){x, before}, 2, NULL, NULL);
}

// p: the sum of squares; clipped to a norm of 3
static void build_clip_factor(struct case_build *b)
{
    int squares = one_f32(b, "squares", b->row->p[0]);
    case_node(b, &squares, 1, &(union attr){.optim = {.target = 3.0f}}, NULL);
}

// p: rows, columns, with a factor
static void build_unit_norm(struct case_build *b)
{
    int x = f32_input(b, "x", DRAW_NORMAL, 2.0), factor = b->row->p[2] ? one_f32(b, "factor", 0.31) : NONE;
    union attr a = {.optim = {.target = 8.0f, .eps = 1e-7f}};
    case_node(b, (int[]){x, factor}, 2, &a, NULL);
}

// p: rows, columns, 1: decay, 2: clamped
static void build_descend(struct case_build *b)
{
    int p = state_input(b, "p", DRAW_NORMAL, 1.0), u = f32_input(b, "u", DRAW_NORMAL, 1.0), lr = one_f32(b, "lr", 0.24);
    union attr a = {.optim = {.decay = b->row->p[2] == 1 ? 0.02f : 0.0f, .factor = 0.5f, .limit = b->row->p[2] == 2 ? 0.3f : 0}};
    case_node(b, (int[]){p, u, lr}, 3, &a, &p);
}

// p: squares of p and of u
static void build_trust(struct case_build *b)
{
    int p = one_f32(b, "squares p", b->row->p[0]), u = one_f32(b, "squares u", b->row->p[1]), lr = one_f32(b, "lr", 0.24);
    case_node(b, (int[]){p, u, lr}, 3, NULL, NULL);
}

static void build_lerp(struct case_build *b)
{
    int e = state_input(b, "e", DRAW_NORMAL, 1.0), p = f32_input(b, "p", DRAW_NORMAL, 1.0), t = one_f32(b, "t", 0.3);
    case_node(b, (int[]){e, p, t}, 3, NULL, &e);
}

// p: rows, columns, type of p, type of x; COUNT: the case's own
static void build_assign(struct case_build *b)
{
    const int *p = b->row->p;
    enum dtype to = (enum dtype)p[2] == DTYPE_COUNT ? b->options.type : (enum dtype)p[2];
    enum dtype from = (enum dtype)p[3] == DTYPE_COUNT ? b->options.type : (enum dtype)p[3];
    bool through = b->options.through;
    b->options.through = false;
    int e = case_input(b, "p", SHAPE(p[0], p[1]), to, DRAW_CONSTANT, 1.0);
    b->options.through = through;
    int x = case_input(b, "x", SHAPE(p[1], p[0]), from, DRAW_NORMAL, 2.0);
    case_node(b, (int[]){e, x}, 2, NULL, &e);
}

// p: rows, columns. Alone, a process gets back what it gives.
static void build_all_reduce(struct case_build *b)
{
    int a = f32_input(b, "a", DRAW_NORMAL, 1.0), c = one_f32(b, "c", 0.3);
    int d = case_input(b, "d", SHAPE(3, 5, 7), F32, DRAW_NORMAL, 2.0);
    case_node(b, (int[]){a, c, d}, 3, NULL, NULL);
}

#define THREE(name, op, build, third, fourth, slack)                                                                   \
    {name, op, build, 0, {7, 19, third, fourth}, slack},                                                               \
    {name ", one element", op, build, 0, {1, 1, third, fourth}, slack},                                                \
    {name ", many", op, build, 0, {301, 333, third, fourth}, slack}

const struct op_case cases_optim[] = {
    THREE("momentum", OP_MOMENTUM, build_momentum, 0, 0, 0),
    THREE("momentum nesterov decay", OP_MOMENTUM, build_momentum, 1, 1, 0),
    THREE("adam, first step", OP_ADAM, build_adam, 0, 0, 64),
    THREE("adam, step 1000", OP_ADAM, build_adam, 1000, 0, 64),
    THREE("momentum, clipped", OP_MOMENTUM, build_momentum_clipped, 0, 0, 0),
    THREE("momentum nesterov decay, clipped", OP_MOMENTUM, build_momentum_clipped, 1, 0, 0),
    THREE("adam, clipped", OP_ADAM, build_adam, 3, 1, 64),
    THREE("adam, infinity", OP_ADAM, build_adam, 3, 2, 64),
    THREE("adam, no count, epsilon outside", OP_ADAM, build_adam, 0, 3, 64),
    THREE("adam, no count, epsilon inside", OP_ADAM, build_adam, 0, 4, 64),
    THREE("squares", OP_SQUARES, build_squares, 0, 0, 64),
    THREE("squares, added", OP_SQUARES, build_squares, 1, 0, 64),
    {"clip_factor, clips", OP_CLIP_FACTOR, build_clip_factor, 0, {17}, 0},
    {"clip_factor, at the norm", OP_CLIP_FACTOR, build_clip_factor, 0, {9}, 0},
    {"clip_factor of nothing", OP_CLIP_FACTOR, build_clip_factor, 0, {0}, 0},
    THREE("momentum, skipped", OP_MOMENTUM, build_momentum_skipped, 0, 0, 0),
    THREE("adam, skipped", OP_ADAM, build_adam_skipped, 0, 0, 0),
    {"loss_scale", OP_LOSS_SCALE, build_loss_scale, 0, {900, 64, 3}, 0},
    {"loss_scale, clips", OP_LOSS_SCALE, build_loss_scale, 0, {90000, 64, 3, 2}, 0},
    {"loss_scale, clips nothing", OP_LOSS_SCALE, build_loss_scale, 0, {900, 64, 3, 2}, 0},
    {"loss_scale, grows", OP_LOSS_SCALE, build_loss_scale, 0, {900, 64, 7}, 0},
    {"loss_scale, at the most", OP_LOSS_SCALE, build_loss_scale, 0, {900, 4096, 7}, 0},
    {"loss_scale, skips", OP_LOSS_SCALE, build_loss_scale, 0, {-1, 64, 3, 2}, 0},
    {"loss_scale, skips down to the least", OP_LOSS_SCALE, build_loss_scale, 0, {-1, 6, 3}, 0},
    {"loss_scale, at the least", OP_LOSS_SCALE, build_loss_scale, 0, {-1, 4, 3, 2}, 0},
    THREE("unit_norm", OP_UNIT_NORM, build_unit_norm, 0, 0, 64),
    THREE("unit_norm with a factor", OP_UNIT_NORM, build_unit_norm, 1, 0, 64),
    THREE("descend", OP_DESCEND, build_descend, 0, 0, 0),
    THREE("descend decay", OP_DESCEND, build_descend, 1, 0, 0),
    THREE("descend, clamped", OP_DESCEND, build_descend, 2, 0, 0),
    {"trust", OP_TRUST, build_trust, 0, {17, 5}, 0},
    {"trust of nothing", OP_TRUST, build_trust, 0, {0, 5}, 0},
    {"trust, no step", OP_TRUST, build_trust, 0, {17, 0}, 0},
    THREE("lerp", OP_LERP, build_lerp, 0, 0, 0),
    THREE("assign", OP_ASSIGN, build_assign, F32, F32, 0),
    THREE("all_reduce", OP_ALL_REDUCE, build_all_reduce, 0, 0, 0),
    {"assign to a narrower type", OP_ASSIGN, build_assign, CASE_HALF, {5, 33, DTYPE_COUNT, F32}, 0},
    {"assign to a wider type", OP_ASSIGN, build_assign, CASE_HALF, {5, 33, F32, DTYPE_COUNT}, 0},
    {"momentum 2M", OP_MOMENTUM, build_momentum, CASE_LARGE, {256, 8192, 1, 1}, 0},
    {"adam 2M", OP_ADAM, build_adam, CASE_LARGE, {256, 8192, 5}, 0},
    {"adam 2M, clipped", OP_ADAM, build_adam, CASE_LARGE, {256, 8192, 5, 1}, 0},
    {"squares 2M", OP_SQUARES, build_squares, CASE_LARGE, {256, 8192}, 0},
    {"unit_norm 2M", OP_UNIT_NORM, build_unit_norm, CASE_LARGE, {256, 8192}, 0},
    {"descend 2M", OP_DESCEND, build_descend, CASE_LARGE, {256, 8192, 1}, 0},
    {0},
};
