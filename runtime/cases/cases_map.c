// SPDX-License-Identifier: Apache-2.0
// Cases of formulas, made from the list of them (map.def): values, gradients, many rows, speed; inputs that are repeated.
#include "runtime/cases/cases.h"

// The inputs and attributes of a formula that is not defined, or has a kink, somewhere among normal numbers.
struct domain {
    enum draw draw[3];
    double a[3];  // 0: 1
    float p, q;
};
static const struct domain domains[MAP_KINDS] = {
    [MAP_RELU] = {{DRAW_AWAY}, {1}, 0, 0},
    [MAP_ADD_RELU] = {{DRAW_AWAY, DRAW_CONSTANT}, {1, 0.5}, 0, 0},
    [MAP_DIV] = {{DRAW_NORMAL, DRAW_POSITIVE}, {0}, 0, 0},
    [MAP_MIN] = {{DRAW_AWAY, DRAW_CONSTANT}, {1, 0.25}, 0, 0},
    [MAP_MAX] = {{DRAW_AWAY, DRAW_CONSTANT}, {1, 0.25}, 0, 0},
    [MAP_LESS] = {{DRAW_INDEX, DRAW_INDEX}, {4, 4}, 0, 0},
    [MAP_EQUAL] = {{DRAW_INDEX, DRAW_INDEX}, {4, 4}, 0, 0},
    [MAP_SELECT] = {{DRAW_INDEX}, {2}, 0, 0},
    [MAP_SCALE] = {{DRAW_NORMAL}, {0}, -1.0f / 3.0f, 0},
    [MAP_SHIFT] = {{DRAW_NORMAL}, {0}, -1.0f / 3.0f, 0},
    [MAP_ABS] = {{DRAW_AWAY}, {1}, 0, 0},
    [MAP_SQRT] = {{DRAW_POSITIVE}, {2}, 0, 0},
    [MAP_RECIPROCAL] = {{DRAW_POSITIVE}, {2}, 0, 0},
    [MAP_LOG] = {{DRAW_POSITIVE}, {2}, 0, 0},
    [MAP_POW] = {{DRAW_POSITIVE}, {2}, 2.5f, 0},
    [MAP_CLAMP] = {{DRAW_DISTINCT}, {0.125}, -0.5f, 0.75f},
    [MAP_LEAKY_RELU] = {{DRAW_AWAY}, {1}, 0.125f, 0},
    [MAP_RELU_SQUARE] = {{DRAW_AWAY}, {1}, 0, 0},
    [MAP_SOFTPLUS] = {{DRAW_NORMAL}, {4}, 0, 0},
};

// p: formula, three dimensions, how many leading ones b lacks, and c
static union attr formula_of(const int *p)
{
    const struct domain *d = &domains[p[0]];
    return (union attr){.map = {(enum map)p[0], d->p, d->q}};
}

static int operand(struct case_build *b, int i)
{
    static const char *const name[] = {"a", "b", "c"};
    const int *p = b->row->p;
    const struct domain *d = &domains[p[0]];
    int lacks = i ? p[3 + i] : 0;
    struct shape shape = lacks == 2 ? SHAPE(p[3]) : lacks ? SHAPE(p[2], p[3]) : SHAPE(p[1], p[2], p[3]);
    double a = d->a[i] > 0 ? d->a[i] : 1.0;
    if (d->draw[i] == DRAW_INDEX) return case_input(b, name[i], shape, b->options.type, DRAW_INDEX, a);
    return case_param(b, name[i], shape, b->options.type, d->draw[i], a);
}

static int formula_inputs(enum map formula)
{
    static const int inputs[MAP_KINDS] = {
#define MAP(ID, name, inputs, ...) [MAP_##ID] = inputs,
#include "runtime/map.def"
#undef MAP
    };
    return inputs[formula];
}

static void build_map(struct case_build *b)
{
    union attr a = formula_of(b->row->p);
    int in[3], inputs = formula_inputs(a.map.formula);
    for (int i = 0; i < inputs; i++) in[i] = operand(b, i);
    case_node(b, in, inputs, &a, NULL);
}

// The first gradient, twice the second and three times the third, so that a second derivative comes of all.
static int add_outputs(struct graph *g, const int in[5], const union attr *a, int inputs)
{
    int out[MAX_OUT], sum = graph_node(g, OP_MAP_GRAD, in, 5, a, out);
    for (int i = 1; i < inputs; i++) sum = g_add(g, sum, g_scale(g, out[i], (float)(1 + i)));
    return sum;
}

static void build_map_grad(struct case_build *b)
{
    const int *p = b->row->p;
    union attr a = formula_of(p);
    struct shape shape = SHAPE(p[1], p[2], p[3]);
    int inputs = formula_inputs(a.map.formula);
    int in[5] = {case_param(b, "dy", shape, b->options.type, DRAW_NORMAL, 1.0), NONE, NONE, NONE, NONE};
    for (int i = 0; i < inputs; i++) in[1 + i] = operand(b, i);
    in[4] = case_param(b, "value", shape, b->options.type, DRAW_AWAY, 1.0);
    if (b->options.gradient) case_result(b, add_outputs(b->g, in, &a, inputs));
    else case_node(b, in, 5, &a, NULL);
}

#define HG (CASE_HALF | CASE_GRADIENT)
#define SPREAD(name, ID, ...)                                                                                          \
    {name, OP_MAP, build_map, HG, {MAP_##ID, __VA_ARGS__}, 64},                                                        \
    {name ", back", OP_MAP_GRAD, build_map_grad, HG, {MAP_##ID, __VA_ARGS__}, 64}

const struct op_case cases_map[] = {
// A formula whose gradient costs nothing has none, or passes it on ("add of positions").
#define MAP(ID, name, inputs, flops, back, ...)                                                                        \
    {#name, OP_MAP, build_map, CASE_HALF | ((back) > 0 ? CASE_GRADIENT : 0), {MAP_##ID, 1, 7, 37}, 32},                \
    {#name "_grad", OP_MAP_GRAD, build_map_grad, HG, {MAP_##ID, 1, 7, 37}, 32},                                        \
    {#name ", many rows", OP_MAP, build_map, CASE_HALF, {MAP_##ID, 1, 3001, 11}, 32},                                  \
    {#name " 1M", OP_MAP, build_map, CASE_HALF | CASE_LARGE, {MAP_##ID, 1, 16384, 64}, 0},
#include "runtime/map.def"
#undef MAP
    {"shift of one element", OP_MAP, build_map, HG, {MAP_SHIFT, 1, 1, 1}, 0},
    SPREAD("add of positions", ADD, 3, 5, 17, 1),
    SPREAD("add of a row", ADD, 3, 4, 32, 2),
    SPREAD("mul by a row", MUL, 3, 4, 33, 2),
    SPREAD("mul by positions", MUL, 3, 4, 8, 1),
    SPREAD("div by a row", DIV, 3, 4, 9, 2),
    SPREAD("select of positions and a row", SELECT, 3, 5, 9, 1, 2),
    SPREAD("select of all and positions", SELECT, 3, 4, 16, 0, 1),
    {"add of positions, many rows", OP_MAP, build_map, CASE_HALF, {MAP_ADD, 40, 64, 24, 1}, 0},
    {"mul by positions, many rows", OP_MAP, build_map, CASE_HALF, {MAP_MUL, 40, 64, 24, 1}, 0},
    {"max of rows, many rows", OP_MAP, build_map, CASE_HALF, {MAP_MAX, 40, 640, 3, 2}, 0},
    {"mul by one number, many rows", OP_MAP, build_map, CASE_HALF, {MAP_MUL, 40, 640, 1, 2}, 0},
    SPREAD("div by one number", DIV, 3, 400, 1, 2),
    {"mul by one number 6M", OP_MAP, build_map, CASE_HALF | CASE_LARGE, {MAP_MUL, 1, 6150400, 1, 2}, 0},
    {"add 6M", OP_MAP, build_map, CASE_HALF | CASE_LARGE, {MAP_ADD, 1, 96100, 64}, 0},
    {"add_relu 6M", OP_MAP, build_map, CASE_HALF | CASE_LARGE, {MAP_ADD_RELU, 1, 96100, 64}, 0},
    {"gelu 6M", OP_MAP, build_map, CASE_HALF | CASE_LARGE, {MAP_GELU, 1, 96100, 64}, 0},
    {"gelu_grad 6M", OP_MAP_GRAD, build_map_grad, CASE_HALF | CASE_LARGE, {MAP_GELU, 1, 96100, 64}, 0},
    {0},
};
