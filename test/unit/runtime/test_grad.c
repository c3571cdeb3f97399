// SPDX-License-Identifier: Apache-2.0
// Differentiation: gradients reach every output of an operator or are refused by name, and one graph can have several losses.
#include "runtime/fuse.h"
#include "runtime/grad.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

static int sum_of(struct graph *g, int x)
{
    if (g->error || x == NONE) return NONE;
    return g_reshape(g, g_reduce(g, x, (1u << g->value[x].shape.rank) - 1, false, F32), SHAPE(1));
}

static int labels(struct graph *g, int64_t count)
{
    return graph_state(g, "labels", SHAPE(count), I32, MEMORY_DATA, (struct init){INIT_CONSTANT, 1});
}

// ---- outputs above 0

static int xent_node(struct graph *g, int x, int *out)
{
    union attr a = {.loss = {.smoothing = 0.1f, .mean = true}};
    return graph_node(g, OP_XENT, (int[]){x, labels(g, 5)}, 2, &a, out);
}

// The losses of the rows alone, and these and the loss.
static int of_rows(struct graph *g, int x)
{
    int out[MAX_OUT];
    xent_node(g, x, out);
    return sum_of(g, g_mul(g, out[1], input(g, "factors", SHAPE(5))));
}

static int of_both(struct graph *g, int x)
{
    int out[MAX_OUT], loss = xent_node(g, x, out);
    return g_add(g, g_scale(g, loss, 3), sum_of(g, g_mul(g, out[1], input(g, "factors", SHAPE(5)))));
}

static float loss_with(struct session *s, int program, const float *x)
{
    OK(session_put(s, "x", x, 0, slot_bytes(slot_find(s->store, "x"))));
    OK(session_run(s, program));
    return read_one(s, "loss");
}

static void check_differences(int (*build)(struct graph *, int))
{
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "differences");
    int x = weight(g, "x", SHAPE(5, 4)), loss = build(g, x), dx;
    OK(grad_of(g, loss, &x, 1, &dx));
    assert_true(dx != NONE);
    keep(g, "loss", loss);
    keep(g, "dx", dx);
    int program = session_add(s, g);
    OK(program);
    start(s);
    float *at = read_slot(s, "x"), step = 0x1p-9f;
    loss_with(s, program, at);
    float *wanted = read_slot(s, "dx");
    for (int i = 0; i < 20; i++) {
        float was = at[i], side[2];
        for (int k = 0; k < 2; k++) {
            at[i] = was + (k ? step : -step);
            side[k] = loss_with(s, program, at);
        }
        at[i] = was;
        assert_float_equal(wanted[i], (side[1] - side[0]) / (2 * step), 1e-3);
    }
    free(at);
    free(wanted);
    session_done(s);
}

TEST(test_every_output)
{
    check_differences(of_rows);
    check_differences(of_both);
}

// ---- refusals

static void norm_node(struct graph *g, int x, int *out)
{
    struct init zero = {INIT_ZERO, 0};
    int mean = graph_state(g, "mean", SHAPE(4), F32, MEMORY_STATE, zero);
    int var = graph_state(g, "var", SHAPE(4), F32, MEMORY_STATE, zero);
    union attr a = {.norm = {.eps = 1e-5f, .momentum = 0.9f}};
    graph_scope(g, "layer.norm");
    graph_node_over(g, OP_NORM, (int[]){x, mean, var}, 3, &a, (int[]){NONE, NONE, NONE, mean, var}, out);
}

static int of_mean(struct graph *g, int x)  // y is used, too: its gradient alone would be wrong
{
    int out[5];
    norm_node(g, x, out);
    return g_add(g, sum_of(g, out[0]), sum_of(g, out[1]));
}

static int of_mean_alone(struct graph *g, int x)
{
    int out[5];
    norm_node(g, x, out);
    return sum_of(g, out[1]);
}

static int of_no_rule(struct graph *g, int x)
{
    graph_scope(g, "layer.odd");
    int y = graph_node(g, OP_UNIT_NORM, &x, 1, &(union attr){.optim = {.target = 1, .eps = 1e-7f}}, NULL);
    graph_scope(g, "loss");
    return sum_of(g, y);
}

static int of_input_without_gradient(struct graph *g, int x)
{
    int mean = weight(g, "trained.mean", SHAPE(4)), var = input(g, "var", SHAPE(4)), out[5];
    union attr a = {.norm = {.eps = 1e-5f, .momentum = 0.9f}};
    graph_scope(g, "layer.norm");
    graph_node(g, OP_NORM, (int[]){x, mean, var}, 3, &a, out);
    return sum_of(g, out[0]);
}

static int of_overwritten(struct graph *g, int x)
{
    int other = weight(g, "other", SHAPE(5, 4));
    graph_scope(g, "product");
    int y = g_mul(g, x, other);
    graph_node_over(g, OP_ASSIGN, (int[]){other, input(g, "new", SHAPE(5, 4))}, 2, NULL, &other, NULL);
    return sum_of(g, y);
}

static int of_two_versions(struct graph *g, int x)
{
    int before = g_scale(g, x, 2);
    graph_node_over(g, OP_ASSIGN, (int[]){x, input(g, "new", SHAPE(5, 4))}, 2, NULL, &x, NULL);
    return sum_of(g, g_add(g, before, g_scale(g, x, 3)));
}

TEST(test_refusals)
{
    static const struct {
        int (*build)(struct graph *, int x);
        const char *said;
    } rows[] = {
        {of_mean, "layer.norm: norm has no gradient for its output 1"},
        {of_mean_alone, "layer.norm: norm has no gradient for its output 1"},
        {of_no_rule, "layer.odd: unit_norm has no gradient"},
        {of_input_without_gradient, "layer.norm: norm has no gradient for its input 1"},
        {of_overwritten, "product: the gradient of mul reads \"other\", which is overwritten before that"},
        {of_two_versions, "the loss depends on \"x\" before and after it is overwritten"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct slot_store *store = slot_store_new();
        struct graph *g = graph_new(store, "refused");
        int x = weight(g, "x", SHAPE(5, 4)), loss = rows[i].build(g, x), dx;
        OK(graph_check(g));
        REFUSED(grad_of(g, loss, &x, 1, &dx), rows[i].said);
        graph_free(g);
        slot_store_free(store);
    }
}

// An index is a constant: it neither has a gradient nor stands in the way of one.
TEST(test_integers_are_constants)
{
    struct slot_store *store = slot_store_new();
    struct graph *g = graph_new(store, "integers");
    int x = weight(g, "x", SHAPE(2, 4, 4, 3)), out[2], dx;
    graph_node(g, OP_MAXPOOL, &x, 1, &(union attr){.pool = {.k = {2, 2}, .stride = {2, 2}}}, out);
    int loss = sum_of(g, g_mul(g, out[0], g_cast(g, out[1], F32)));
    OK(grad_of(g, loss, (int[]){x}, 1, &dx));
    assert_true(dx != NONE);
    OK(grad_of(g, sum_of(g, g_cast(g, out[1], F32)), (int[]){x, NONE}, 1, &dx));
    assert_int_equal(dx, NONE);
    graph_free(g);
    slot_store_free(store);
}

// ---- several losses

struct pair {
    int critic, generator, losses[2];  // weights; losses of the critic and the generator
};

// The critic judges what the generator made.
static struct pair build_pair(struct graph *g)
{
    struct pair p = {.generator = weight(g, "generator", SHAPE(4, 3)), .critic = weight(g, "critic", SHAPE(1, 4))};
    int made = g_act(g, g_linear(g, input(g, "noise", SHAPE(6, 3)), p.generator, NONE, F32), ACT_GELU);
    int judged = g_act(g, g_linear(g, made, p.critic, NONE, F32), ACT_SILU);
    p.losses[0] = sum_of(g, g_mul(g, judged, judged));
    p.losses[1] = sum_of(g, g_scale(g, judged, -0.5f));
    return p;
}

enum { CRITIC = 1, GENERATOR = 2, SUM = 4 };

// Runs the gradients of the losses that are asked for; results in "dc0", "dg0" (critic's loss), "dc1", .. and "dcs", "dgs".
static struct session *run_pair(int which, int *nodes)
{
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "pair");
    struct pair p = build_pair(g);
    int of[] = {p.critic, p.generator}, grads[2];
    for (int i = 0; i < 3; i++) {
        if (!(which >> i & 1)) continue;
        int before = g->nodes;
        if (i < 2)
            OK(grad_of(g, p.losses[i], of, 2, grads));
        else
            OK(grad_of_sum(g, p.losses, 2, of, 2, grads));
        nodes[i] = g->nodes - before;
        char name[8];
        snprintf(name, sizeof name, "dc%d", i);
        keep(g, name, grads[0]);
        snprintf(name, sizeof name, "dg%d", i);
        keep(g, name, grads[1]);
    }
    int program = session_add(s, g);
    OK(program);
    start(s);
    OK(session_run(s, program));
    return s;
}

static void same_slot(struct session *a, struct session *b, const char *name)
{
    float *x = read_slot(a, name), *y = read_slot(b, name);
    assert_memory_equal(x, y, slot_bytes(slot_find(a->store, name)));
    free(x);
    free(y);
}

TEST(test_several_losses)
{
    int all[3], critic[3], generator[3];
    struct session *together = run_pair(CRITIC | GENERATOR | SUM, all), *first = run_pair(CRITIC, critic);
    struct session *second = run_pair(GENERATOR, generator);
    assert_int_equal(all[0], critic[0]);
    assert_int_equal(all[1], generator[1]);  // and none for the first call's backward nodes
    same_slot(together, first, "dc0");
    same_slot(together, first, "dg0");
    same_slot(together, second, "dc1");
    same_slot(together, second, "dg1");
    static const char *const names[][3] = {{"dc0", "dc1", "dc2"}, {"dg0", "dg1", "dg2"}};
    for (int i = 0; i < 2; i++) {
        float *a = read_slot(together, names[i][0]), *b = read_slot(together, names[i][1]);
        float *sum = read_slot(together, names[i][2]);
        for (int64_t j = 0; j < shape_count(&slot_find(together->store, names[i][0])->shape); j++)
            assert_float_equal(sum[j], a[j] + b[j], 1e-5);
        free(a);
        free(b);
        free(sum);
    }
    session_done(together);
    session_done(first);
    session_done(second);
}

// The critic learns first; the generator's loss is computed with the new critic, and is differentiated with it.
TEST(test_losses_around_an_update)
{
    struct slot_store *store = slot_store_new();
    struct graph *g = graph_new(store, "around");
    struct pair p = build_pair(g);
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.1f}), d;
    OK(grad_of(g, p.losses[0], &p.critic, 1, &d));
    g->phase = PHASE_UPDATE;
    graph_node_over(g, OP_DESCEND, (int[]){p.critic, d, lr}, 3, &(union attr){.optim = {.factor = 1}}, &p.critic, NULL);
    g->phase = PHASE_FORWARD;
    struct pair again = build_pair(g);
    OK(grad_of(g, again.losses[1], &p.generator, 1, &d));
    assert_true(d != NONE);
    REFUSED(grad_of(g, p.losses[1], &p.generator, 1, &d), "reads \"critic\", which is overwritten before that");
    graph_free(g);
    slot_store_free(store);
}

// A factor that a graph may overwrite later: the gradients are of the loss times it.
TEST(test_scaled_loss)
{
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "scaled");
    struct pair p = build_pair(g);
    int scale = graph_state(g, "scale", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 8}), d, scaled;
    OK(grad_of(g, p.losses[0], &p.generator, 1, &d));
    OK(grad_of_times(g, p.losses[0], scale, &p.generator, 1, &scaled));
    keep(g, "d", d);
    keep(g, "scaled", scaled);
    OK(session_add(s, g));
    start(s);
    OK(session_run(s, 0));
    float *x = read_slot(s, "d"), *y = read_slot(s, "scaled");
    for (int i = 0; i < 12; i++) assert_true(y[i] == 8 * x[i]);
    free(x), free(y);
    session_done(s);
}

// ---- gradients of gradients

// Each time the gradient of the sum of the one before: derivatives of the element by itself, held to differences of the last.
static void hold_derivatives(enum map formula, double from)
{
    enum { COUNT = 24, TIMES = 3 };
    const float step = 0x1p-8f;
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "derivatives");
    int x = weight(g, "x", SHAPE(COUNT)), y = g_map(g, formula, x, 3.5f, 0);
    for (int i = 1; i <= TIMES; i++) {
        OK(grad_of(g, sum_of(g, y), &x, 1, &y));
        assert_true(y != NONE);
        if (i >= TIMES - 1) keep(g, i == TIMES ? "last" : "before", y);
    }
    OK(session_add(s, g));
    start(s);
    float at[COUNT], *side[2] = {NULL}, *last = NULL;
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < COUNT; i++) at[i] = (float)(from + 0.171 * i) + (k == 2 ? 0 : k ? step : -step);
        OK(session_put(s, "x", at, 0, sizeof at));
        OK(session_run(s, 0));
        if (k < 2) side[k] = read_slot(s, "before");
        else last = read_slot(s, "last");
    }
    for (int i = 0; i < COUNT; i++) {
        double wanted = (double)(side[1][i] - side[0][i]) / (2 * (double)step);
        if (!(fabs((double)last[i] - wanted) < 2e-3 * (1 + fabs(wanted))))
            fail_msg("formula %d at %g: %g, not %g", (int)formula, (double)at[i], (double)last[i], wanted);
    }
    free(side[0]), free(side[1]), free(last);
    session_done(s);
}

TEST(test_third_derivatives)
{
    static const enum map bent[] = {MAP_GELU, MAP_SILU, MAP_TANH, MAP_GELU_TANH, MAP_SIGMOID, MAP_EXP, MAP_SOFTPLUS};
    static const enum map positive[] = {MAP_SQRT, MAP_RECIPROCAL, MAP_LOG, MAP_POW};
    for (size_t i = 0; i < sizeof bent / sizeof *bent; i++) hold_derivatives(bent[i], -2);
    for (size_t i = 0; i < sizeof positive / sizeof *positive; i++) hold_derivatives(positive[i], 0.5);
}

// The penalty of a WGAN (Gulrajani et al. 2017): the mean of (|d critic / d x| - 1)^2.
static int penalty_of(struct graph *g, enum map bend)
{
    int x = input(g, "x", SHAPE(3, 8, 8, 2)), judged;
    grad_watch(g, x);  // a value between real and made samples
    int y = g_map(g, bend, g_conv(g, x, weight(g, "w0", SHAPE(4, 5, 5, 2)), 2, 2), 0.2f, 0);
    y = g_conv(g, y, weight(g, "w1", SHAPE(5, 3, 3, 4)), 2, 1);
    y = g_map(g, MAP_TANH, g_bias(g, y, weight(g, "bias", SHAPE(5))), 0, 0);
    y = g_avgpool(g, g_resize(g, y, 4, 4), 2, 2);
    judged = g_linear(g, g_reshape(g, y, SHAPE(3, 20)), weight(g, "w2", SHAPE(1, 20)), NONE, F32);
    int dx = grad_watched(g, sum_of(g, judged), x);
    int squares = g_reshape(g, g_reduce(g, g_map(g, MAP_SQUARE, dx, 0, 0), 14u, false, F32), SHAPE(3));
    int slope = g_map(g, MAP_SQRT, g_map(g, MAP_SHIFT, squares, 1e-6f, 0), 0, 0);
    return g_reshape(g, g_reduce(g, g_map(g, MAP_SQUARE, g_map(g, MAP_SHIFT, slope, -1, 0), 0, 0), 1u, true, F32), SHAPE(1));
}

enum { WEIGHTS = 4 };
static const char *const weights_of_critic[WEIGHTS] = {"w0", "w1", "bias", "w2"};

static struct session *run_penalty(const char *device, enum map bend, unsigned patterns)
{
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "penalty");
    int loss = penalty_of(g, bend), of[WEIGHTS], d[WEIGHTS];
    OK(graph_check(g));
    for (int i = 0; i < g->nodes; i++) assert_int_equal(g->node[i].phase, PHASE_FORWARD);  // what backward reads is kept for it
    assert_false(g->value[graph_slot(g, slot_find(s->store, "x"))].trains);
    for (int i = 0; i < WEIGHTS; i++) of[i] = graph_slot(g, slot_find(s->store, weights_of_critic[i]));
    OK(fuse_graph(g, patterns));
    OK(grad_of(g, loss, of, WEIGHTS, d));
    keep(g, "loss", loss);
    for (int i = 0; i < WEIGHTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "d.%s", weights_of_critic[i]);
        assert_true(d[i] != NONE);
        keep(g, name, d[i]);
    }
    OK(session_add(s, g));
    start(s);
    OK(session_run(s, 0));
    return s;
}

static float loss_at(struct session *s, const char *name, const float *w)
{
    OK(session_put(s, name, w, 0, slot_bytes(slot_find(s->store, name))));
    OK(session_run(s, 0));
    return read_one(s, "loss");
}

static float slope_at(struct session *s, const char *name, float *w, int64_t i)
{
    const float was = w[i], step = 0x1p-9f;
    w[i] = was + step;
    float above = loss_at(s, name, w);
    w[i] = was - step;
    float below = loss_at(s, name, w);
    w[i] = was;
    return (above - below) / (2 * step);
}

// On ref against differences of the penalty; on cpu against ref.
static void hold_weight(struct session *ref, struct session *cpu, const char *weight_name)
{
    char name[16];
    snprintf(name, sizeof name, "d.%s", weight_name);
    float *want = read_slot(ref, name), *got = read_slot(cpu, name), *w = read_slot(ref, weight_name), most = 0;
    int64_t count = shape_count(&slot_find(ref->store, name)->shape);
    for (int64_t i = 0; i < count; i++) most = fmaxf(most, fabsf(want[i]));
    assert_true(most > 0.01f);
    for (int64_t i = 0; i < count; i++)
        if (!(fabsf(got[i] - want[i]) <= 1e-5f * most))
            fail_msg("%s[%d] on cpu: %g, not %g", name, (int)i, (double)got[i], (double)want[i]);
    for (int64_t i = 0; i < count; i += 1 + count / 8) {
        float slope = slope_at(ref, weight_name, w, i);
        if (!(fabsf(want[i] - slope) <= 2e-3f * most))
            fail_msg("%s[%d]: %g, not %g", name, (int)i, (double)want[i], (double)slope);
    }
    loss_at(ref, weight_name, w);
    free(want), free(got), free(w);
}

static void hold_penalty(enum map bend)
{
    struct session *ref = run_penalty("ref", bend, 0), *cpu = run_penalty("cpu", bend, FUSE_ALL);
    for (int k = 0; k < WEIGHTS; k++) hold_weight(ref, cpu, weights_of_critic[k]);
    session_done(ref);
    session_done(cpu);
}

TEST(test_gradient_penalty)
{
    hold_penalty(MAP_LEAKY_RELU);
    hold_penalty(MAP_GELU);
    hold_penalty(MAP_SOFTPLUS);
}

TEST(a_watched_value_must_matter)
{
    struct slot_store *store = slot_store_new();
    struct graph *g = graph_new(store, "apart");
    int x = input(g, "x", SHAPE(2, 3)), w = weight(g, "w", SHAPE(2, 3));
    grad_watch(g, x);
    assert_int_equal(grad_watched(g, sum_of(g, w), x), NONE);
    REFUSED(graph_check(g), "a loss does not depend on the value that it should be differentiated by");
    graph_free(g);
    slot_store_free(store);
}
