// SPDX-License-Identifier: Apache-2.0
// Optimisers on `ref` against the same steps written out by hand in double: SGD, AdamW, Muon, moving averages.
#include "runtime/optim.h"
#include "test/unit/fixture_graph.h"

enum { STEPS = 4 };

struct run {
    struct session *s;
    struct graph *g;
    int p, grad, lr, step;
    int64_t count;
};

// A parameter, a gradient that the test uploads each step, a rate of 0.1 and a counter.
static struct run run_new(struct shape shape)
{
    struct run r = {.s = session_on("ref"), .count = shape_count(&shape)};
    r.g = graph_new(r.s->store, "update");
    r.p = weight(r.g, "p", shape);
    r.grad = input(r.g, "grad", shape);
    r.lr = graph_state(r.g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.1f});
    r.step = graph_state(r.g, "step", SHAPE(1), I32, MEMORY_STATE, (struct init){INIT_ZERO, 0});
    r.g->phase = PHASE_UPDATE;
    return r;
}

static void run_start(struct run *r)
{
    g_tick(r->g, r->step, 1);
    OK(session_add(r->s, r->g));
    start(r->s);
}

static void gradient(const struct run *r, int step, double *g)
{
    for (int64_t i = 0; i < r->count; i++) g[i] = draw(100 + (uint32_t)step, i);
}

static void one_step(struct run *r, int step, double *g)
{
    gradient(r, step, g);
    float *f = zalloc((size_t)r->count * sizeof *f);
    for (int64_t i = 0; i < r->count; i++) f[i] = (float)g[i];
    OK(session_put(r->s, "grad", f, 0, (size_t)r->count * sizeof *f));
    free(f);
    OK(session_run(r->s, 0));
}

static double *begin(const struct run *r)
{
    float *f = read_slot(r->s, "p");
    double *p = zalloc((size_t)r->count * sizeof *p);
    for (int64_t i = 0; i < r->count; i++) p[i] = f[i];
    free(f);
    return p;
}

static void is_now(const struct run *r, const char *name, const double *wanted, double within)
{
    float *p = read_slot(r->s, name);
    for (int64_t i = 0; i < r->count; i++)
        if (!(fabs((double)p[i] - wanted[i]) <= within)) fail_msg("%s[%d]: %g, not %g", name, (int)i, (double)p[i], wanted[i]);
    free(p);
}

static void run_done(struct run *r, double *p)
{
    free(p);
    session_done(r->s);
}

static void test_sgd(void **state)
{
    (void)state;
    static const struct optim_settings rows[] = {
        {.momentum = 0},
        {.momentum = 0.9f},
        {.momentum = 0.9f, .nesterov = true},
        {.momentum = 0.8f, .nesterov = true, .decay = 0.05f},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct run r = run_new(SHAPE(3, 5));
        optim_sgd(r.g, r.p, r.grad, r.lr, &rows[k]);
        run_start(&r);
        double *p = begin(&r), g[15], m[15] = {0}, mu = rows[k].momentum;
        for (int step = 0; step < STEPS; step++) {
            one_step(&r, step, g);
            for (int i = 0; i < 15; i++) {
                g[i] += rows[k].decay * p[i];
                m[i] = mu * m[i] + g[i];
                p[i] -= 0.1 * (rows[k].nesterov ? g[i] + mu * m[i] : m[i]);
            }
            is_now(&r, "p", p, 1e-6);
        }
        is_now(&r, "p.momentum", m, 1e-6);
        run_done(&r, p);
    }
}

static void test_adamw(void **state)
{
    (void)state;
    struct optim_settings o = {.beta1 = 0.9f, .beta2 = 0.95f, .eps = 1e-3f, .decay = 0.2f};
    struct run r = run_new(SHAPE(15));
    optim_adamw(r.g, r.p, r.grad, r.lr, r.step, &o);
    run_start(&r);
    double *p = begin(&r), g[15], m[15] = {0}, v[15] = {0};
    for (int step = 0; step < STEPS; step++) {
        one_step(&r, step, g);
        for (int i = 0; i < 15; i++) {
            m[i] = 0.9 * m[i] + 0.1 * g[i];
            v[i] = 0.95 * v[i] + 0.05 * g[i] * g[i];
            double first = m[i] / (1 - pow(0.9, step + 1)), second = v[i] / (1 - pow(0.95, step + 1));
            p[i] -= 0.1 * (first / (sqrt(second) + 1e-3) + 0.2 * p[i]);
        }
        is_now(&r, "p", p, 2e-6);
    }
    run_done(&r, p);
}

// ---- Muon

static double norm_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

// X <- a X + (b A + c A A) X with A = X X', of x[rows, columns]; always this side, so that tall ones are a test.
static void newton_schulz(double *x, int rows, int columns, const float ns[3])
{
    double *a = zalloc((size_t)(rows * rows) * sizeof *a), *b = zalloc((size_t)(rows * rows) * sizeof *b);
    double *y = zalloc((size_t)(rows * columns) * sizeof *y);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++)
            for (int k = 0; k < columns; k++) a[i * rows + j] += x[i * columns + k] * x[j * columns + k];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++) {
            b[i * rows + j] = ns[1] * a[i * rows + j];
            for (int k = 0; k < rows; k++) b[i * rows + j] += ns[2] * a[i * rows + k] * a[k * rows + j];
        }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            y[i * columns + j] = ns[0] * x[i * columns + j];
            for (int k = 0; k < rows; k++) y[i * columns + j] += b[i * rows + k] * x[k * columns + j];
        }
    memcpy(x, y, (size_t)(rows * columns) * sizeof *y);
    free(a);
    free(b);
    free(y);
}

static void muon(struct shape shape, bool scheduled)
{
    struct optim_settings o = {.momentum = 0.6f, .nesterov = true, .ns_steps = 3, .ns = {3.4445f, -4.775f, 2.0315f},
                               .renormalise = NONE, .ns_norm = NONE, .decay = 0.01f};
    struct run r = run_new(shape);
    int rows = (int)shape.dim[0], columns = (int)(r.count / rows);
    if (scheduled) {
        o.renormalise = graph_state(r.g, "t", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.75f});
        o.ns_norm = graph_state(r.g, "norm", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.5f});
    }
    optim_muon(r.g, r.p, r.grad, r.lr, &o);
    run_start(&r);
    size_t bytes = (size_t)r.count * sizeof(double);
    double *p = begin(&r), *g = zalloc(bytes), *m = zalloc(bytes), *x = zalloc(bytes);
    for (int step = 0; step < STEPS; step++) {
        one_step(&r, step, g);
        double size = norm_of(p, r.count);
        for (int64_t i = 0; scheduled && i < r.count; i++) p[i] += 0.75 * (p[i] * sqrt(rows) / size - p[i]);
        for (int64_t i = 0; i < r.count; i++) {
            m[i] = 0.6 * m[i] + g[i];
            x[i] = g[i] + 0.6 * m[i];
        }
        size = norm_of(x, r.count);
        for (int64_t i = 0; i < r.count; i++) x[i] *= (scheduled ? 0.5 : 1) / size;
        for (int k = 0; k < 3; k++) newton_schulz(x, rows, columns, o.ns);
        for (int64_t i = 0; i < r.count; i++) p[i] -= 0.1 * (x[i] + 0.01 * p[i]);
        is_now(&r, "p", p, 2e-5);
    }
    free(g);
    free(m);
    free(x);
    run_done(&r, p);
}

static void test_muon(void **state)
{
    (void)state;
    muon(SHAPE(4, 3, 3, 2), false);   // 4 x 18
    muon(SHAPE(12, 1, 1, 5), false);  // 12 x 5: tall
    muon(SHAPE(4, 3, 3, 2), true);
}

// With the classical coefficients and enough steps the update is what Muon is about: its rows are orthonormal.
static void test_muon_orthogonalises(void **state)
{
    (void)state;
    struct optim_settings o = {.ns_steps = 30, .ns = {1.5f, -0.5f, 0}, .renormalise = NONE, .ns_norm = NONE};
    struct run r = run_new(SHAPE(3, 2, 2, 2));
    optim_muon(r.g, r.p, r.grad, r.lr, &o);
    run_start(&r);
    double *p = begin(&r), g[24];
    one_step(&r, 0, g);
    float *now = read_slot(r.s, "p");
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = 0;
            for (int k = 0; k < 8; k++) sum += (p[i * 8 + k] - now[i * 8 + k]) * (p[j * 8 + k] - now[j * 8 + k]) * 100;
            assert_float_equal(sum, i == j, 1e-4);
        }
    free(now);
    run_done(&r, p);
}

static void test_average(void **state)
{
    (void)state;
    struct run r = run_new(SHAPE(15));
    int t = graph_state(r.g, "t", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.3f});
    optim_sgd(r.g, r.p, r.grad, r.lr, &(struct optim_settings){.momentum = 0});
    optim_ema(r.g, r.p, t);
    run_start(&r);
    double *p = begin(&r), g[15], e[15] = {0};
    for (int step = 0; step < STEPS; step++) {
        one_step(&r, step, g);
        for (int i = 0; i < 15; i++) {
            p[i] -= 0.1 * g[i];
            e[i] += 0.3 * (p[i] - e[i]);  // of the parameter after its step
        }
        is_now(&r, "ema.p", e, 1e-6);
    }
    is_now(&r, "p", p, 1e-6);
    run_done(&r, p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sgd),  cmocka_unit_test(test_adamw),
        cmocka_unit_test(test_muon), cmocka_unit_test(test_muon_orthogonalises),
        cmocka_unit_test(test_average),
    };
    return cmocka_run_group_tests_name("optim", tests, NULL, NULL);
}
