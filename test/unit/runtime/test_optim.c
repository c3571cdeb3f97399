// SPDX-License-Identifier: Apache-2.0
// Optimisers on `ref` against the same steps written out by hand in double: SGD, AdamW, Muon, moving averages.
#include "runtime/optim.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

enum { STEPS = 4 };

struct run {
    struct session *s;
    struct graph *g;
    int p, grad, lr;
    int64_t count;
};

// A parameter, a gradient that the test uploads each step, and a rate of 0.1.
static struct run run_new(struct shape shape)
{
    struct run r = {.s = session_on("ref"), .count = shape_count(&shape)};
    r.g = graph_new(r.s->store, "update");
    r.p = weight(r.g, "p", shape);
    r.grad = input(r.g, "grad", shape);
    r.lr = graph_state(r.g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.1f});
    r.g->phase = PHASE_UPDATE;
    return r;
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

// The values that the parameter starts from.
static double *begin(struct run *r)
{
    OK(session_add(r->s, r->g));
    start(r->s);
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

TEST(test_sgd)
{
    static const struct optim_settings rows[] = {
        {.momentum = 0, .clip = NONE},
        {.momentum = 0.9f, .clip = NONE},
        {.momentum = 0.9f, .nesterov = true, .clip = NONE},
        {.momentum = 0.8f, .nesterov = true, .decay = 0.05f, .clip = NONE},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct run r = run_new(SHAPE(3, 5));
        optim_sgd(r.g, r.p, r.grad, r.lr, &rows[k]);
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

TEST(test_adamw)
{
    struct optim_settings o = {.beta1 = 0.9f, .beta2 = 0.95f, .eps = 1e-3f, .decay = 0.2f, .clip = NONE};
    struct run r = run_new(SHAPE(15));
    optim_adamw(r.g, r.p, r.grad, r.lr, &o);
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

TEST(test_rmsprop)
{
    static const struct optim_settings rows[] = {
        {.beta2 = 0.9f, .eps = 0.125f, .clip = NONE},
        {.beta2 = 0.9f, .eps = 0.125f, .inside = true, .clip = NONE},
        {.beta2 = 0.9f, .eps = 0.125f, .momentum = 0.75f, .decay = 0.25f, .clip = NONE},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        struct run r = run_new(SHAPE(15));
        optim_rmsprop(r.g, r.p, r.grad, r.lr, &rows[k]);
        double *p = begin(&r), g[15], v[15] = {0}, m[15] = {0};
        for (int step = 0; step < STEPS; step++) {
            one_step(&r, step, g);
            for (int i = 0; i < 15; i++) {
                v[i] = 0.9 * v[i] + 0.1 * g[i] * g[i];
                double u = rows[k].inside ? g[i] / sqrt(v[i] + 0.125) : g[i] / (sqrt(v[i]) + 0.125);
                m[i] = rows[k].momentum * m[i] + u;
                p[i] -= 0.1 * (m[i] + rows[k].decay * p[i]);
            }
            is_now(&r, "p", p, 2e-6);
        }
        run_done(&r, p);
    }
}

static double norm_of(const double *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

// Of a matrix the trust ratio counts; of a bias, which begins at 0 and would never move with it, it does not.
TEST(test_lamb)
{
    struct optim_settings o = {.beta1 = 0.9f, .beta2 = 0.95f, .eps = 1e-3f, .decay = 0.25f, .clip = NONE};
    for (int bias = 0; bias < 2; bias++) {
        struct run r = run_new(SHAPE(3, 5));
        r.g->value[r.p].slot->role = bias ? ROLE_BIAS : ROLE_MATRIX;
        optim_lamb(r.g, r.p, r.grad, r.lr, &o);
        double *p = begin(&r), g[15], m[15] = {0}, v[15] = {0}, u[15];
        for (int step = 0; step < STEPS; step++) {
            one_step(&r, step, g);
            for (int i = 0; i < 15; i++) {
                m[i] = 0.9 * m[i] + 0.1 * g[i];
                v[i] = 0.95 * v[i] + 0.05 * g[i] * g[i];
                u[i] = m[i] / (1 - pow(0.9, step + 1)) / (sqrt(v[i] / (1 - pow(0.95, step + 1))) + 1e-3) + 0.25 * p[i];
            }
            double ratio = bias ? 1 : norm_of(p, 15) / norm_of(u, 15);
            for (int i = 0; i < 15; i++) p[i] -= 0.1 * ratio * u[i];
            is_now(&r, "p", p, 3e-6);
        }
        run_done(&r, p);
    }
}

// Weight clipping of a Wasserstein critic: after the update, of every optimiser.
TEST(test_clamp)
{
    int (*const updates[])(struct graph *, int, int, int, const struct optim_settings *) = {optim_sgd, optim_adamw, optim_adamax,
                                                                                           optim_rmsprop, optim_lamb};
    for (size_t k = 0; k < sizeof updates / sizeof *updates; k++) {
        struct optim_settings o = {.beta1 = 0.9f, .beta2 = 0.95f, .eps = 1e-3f, .limit = 0.5f, .clip = NONE};
        struct run r = run_new(SHAPE(3, 5));
        updates[k](r.g, r.p, r.grad, r.lr, &o);
        double *before = begin(&r), g[15];
        int held = 0;
        one_step(&r, 0, g);
        float *p = read_slot(r.s, "p");
        for (int i = 0; i < 15; i++) {
            assert_true(fabsf(p[i]) <= o.limit);
            held += fabsf(p[i]) == o.limit;
        }
        assert_true(held > 0 && held < 15);
        free(p);
        run_done(&r, before);
    }
}

TEST(test_adamax)
{
    struct optim_settings o = {.beta1 = 0.9f, .beta2 = 0.75f, .eps = 1e-3f, .clip = NONE};
    struct run r = run_new(SHAPE(15));
    optim_adamax(r.g, r.p, r.grad, r.lr, &o);
    double *p = begin(&r), g[15], m[15] = {0}, v[15] = {0};
    for (int step = 0; step < STEPS; step++) {
        one_step(&r, step, g);
        for (int i = 0; i < 15; i++) {
            m[i] = 0.9 * m[i] + 0.1 * g[i];
            v[i] = fmax(0.75 * v[i], fabs(g[i]));
            p[i] -= 0.1 * m[i] / (1 - pow(0.9, step + 1)) / (v[i] + 1e-3);
        }
        is_now(&r, "p", p, 2e-6);
    }
    run_done(&r, p);
}

// ---- Muon

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
                               .renormalise = NONE, .ns_norm = NONE, .decay = 0.01f, .clip = NONE};
    struct run r = run_new(shape);
    int rows = (int)shape.dim[0], columns = (int)(r.count / rows);
    if (scheduled) {
        o.renormalise = graph_state(r.g, "t", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.75f});
        o.ns_norm = graph_state(r.g, "norm", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.5f});
    }
    optim_muon(r.g, r.p, r.grad, r.lr, &o);
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

TEST(test_muon)
{
    muon(SHAPE(4, 3, 3, 2), false);   // 4 x 18
    muon(SHAPE(12, 1, 1, 5), false);  // 12 x 5: tall
    muon(SHAPE(4, 3, 3, 2), true);
}

// With the classical coefficients and enough steps the update is what Muon is about: its rows are orthonormal.
TEST(test_muon_orthogonalises)
{
    struct optim_settings o = {.ns_steps = 30, .ns = {1.5f, -0.5f, 0}, .renormalise = NONE, .ns_norm = NONE, .clip = NONE};
    struct run r = run_new(SHAPE(3, 2, 2, 2));
    optim_muon(r.g, r.p, r.grad, r.lr, &o);
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

// Two steps of three parameters, each alone or as one batch; into[3][24].
enum { THREE = 3, ELEMENTS = 24 };
static void muon_of_three(const char *device, struct shape shape, bool together, bool bf16, float *into)
{
    static const char *const names[2][THREE] = {{"p0", "p1", "p2"}, {"g0", "g1", "g2"}};
    struct optim_settings o = {.momentum = 0.6f, .nesterov = true, .ns_steps = 5, .ns = {3.4445f, -4.775f, 2.0315f},
                               .renormalise = NONE, .ns_norm = NONE, .clip = NONE, .ns_bf16 = bf16};
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "update");
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.1f}), p[THREE], grad[THREE];
    for (int i = 0; i < THREE; i++) p[i] = weight(g, names[0][i], shape), grad[i] = input(g, names[1][i], shape);
    g->phase = PHASE_UPDATE;
    if (together) optim_muon_together(g, p, grad, THREE, lr, &o);
    for (int i = 0; i < THREE && !together; i++) optim_muon(g, p[i], grad[i], lr, &o);
    OK(session_add(s, g));
    start(s);
    for (int step = 0; step < 2; step++) OK(session_run(s, 0));
    for (int i = 0; i < THREE; i++) OK(session_get(s, names[0][i], into + i * ELEMENTS, ELEMENTS * sizeof *into));
    session_done(s);
}

// A batch computes what its parameters compute alone. bf16 rounds the step, of elements below 1, to some hundredths.
TEST(test_muon_together)
{
    static const struct shape shapes[] = {SHAPE(4, 6), SHAPE(8, 1, 1, 3)};
    float alone[THREE * ELEMENTS], batch[THREE * ELEMENTS], f32[THREE * ELEMENTS];
    for (int i = 0; i < 2; i++)
        for (int bf16 = 0; bf16 < 2; bf16++) {
            muon_of_three("ref", shapes[i], false, bf16, alone);
            muon_of_three("ref", shapes[i], true, bf16, batch);
            assert_memory_equal(alone, batch, sizeof alone);
            double most = 0;
            if (!bf16) memcpy(f32, alone, sizeof f32);
            for (int k = 0; k < THREE * ELEMENTS; k++) {
                double off = fabs((double)alone[k] - (double)f32[k]);
                if (off > most) most = off;
            }
            assert_true(bf16 ? most > 1e-6 && most < 2 * 0.1 * 0.05 : most == 0);
            if (bf16 && !runs_bf16()) continue;
            muon_of_three("cpu", shapes[i], true, bf16, batch);
            for (int k = 0; k < THREE * ELEMENTS; k++) assert_float_equal(batch[k], alone[k], bf16 ? 2 * 0.1 * 0.05 : 1e-5);
        }
}

TEST(test_average)
{
    struct run r = run_new(SHAPE(15));
    int t = graph_state(r.g, "t", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.3f});
    optim_sgd(r.g, r.p, r.grad, r.lr, &(struct optim_settings){.clip = NONE});
    optim_ema(r.g, r.p, t);
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

// ---- clipping by the global norm

enum { FIRST = 15, SECOND = 3001 };  // elements of two parameters: SGD with momentum and decay, AdamW

static struct graph *clipped_update(struct session *s)
{
    struct graph *g = graph_new(s->store, "clipped");
    int p = weight(g, "p", SHAPE(FIRST)), q = weight(g, "q", SHAPE(SECOND));
    int grads[] = {input(g, "dp", SHAPE(FIRST)), NONE, input(g, "dq", SHAPE(SECOND))};
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.1f});
    g->phase = PHASE_UPDATE;
    assert_int_equal(optim_clip(g, (int[]){NONE, NONE}, 2, 1.0f), NONE);
    struct optim_settings o = {.momentum = 0.9f, .decay = 0.05f, .beta1 = 0.9f, .beta2 = 0.95f, .eps = 1e-3f};
    o.clip = optim_clip(g, grads, 3, 2.0f);
    optim_sgd(g, p, grads[0], lr, &o);
    o.decay = 0;
    optim_adamw(g, q, grads[2], lr, &o);
    keep(g, "factor", o.clip);
    return g;
}

// Gradients of one step, each of them `size` or so; returns what they are clipped by.
static double clipped_gradients(struct session *s, int step, double size, double *dp, double *dq)
{
    float f[FIRST + SECOND];
    double squares = 0;
    for (int i = 0; i < FIRST + SECOND; i++) {
        f[i] = (float)size * draw(200 + (uint32_t)step, i);
        squares += (double)f[i] * (double)f[i];
    }
    double factor = sqrt(squares) > 2 ? 2 / sqrt(squares) : 1;
    for (int i = 0; i < FIRST; i++) dp[i] = factor * (double)f[i];
    for (int i = 0; i < SECOND; i++) dq[i] = factor * (double)f[FIRST + i];
    OK(session_put(s, "dp", f, 0, FIRST * sizeof *f));
    OK(session_put(s, "dq", f + FIRST, 0, SECOND * sizeof *f));
    return factor;
}

static void check_slot(struct session *s, const char *name, const double *wanted, int count)
{
    float *x = read_slot(s, name);
    for (int i = 0; i < count; i++)
        if (!(fabs((double)x[i] - wanted[i]) <= 3e-6))
            fail_msg("%s[%d]: %g, not %g", name, i, (double)x[i], wanted[i]);
    free(x);
}

static void clipped_on(const char *device)
{
    static const double sizes[STEPS] = {0.02, 3, 1e-4, 0.5};
    struct session *s = session_on(device);
    OK(session_add(s, clipped_update(s)));
    start(s);
    static double p[FIRST], q[SECOND], dp[FIRST], dq[SECOND];
    double mp[FIRST] = {0};
    static double m[SECOND], v[SECOND];
    memset(m, 0, sizeof m), memset(v, 0, sizeof v);
    float *f = read_slot(s, "p");
    for (int i = 0; i < FIRST; i++) p[i] = f[i];
    free(f);
    f = read_slot(s, "q");
    for (int i = 0; i < SECOND; i++) q[i] = f[i];
    free(f);
    for (int step = 0; step < STEPS; step++) {
        double factor = clipped_gradients(s, step, sizes[step], dp, dq);
        assert_int_equal(factor < 1, step % 2);
        OK(session_run(s, 0));
        assert_float_equal(read_one(s, "factor"), factor, 1e-6);
        if (factor >= 1) assert_true(read_one(s, "factor") == 1.0f);  // to the bit: a norm below the limit changes nothing
        for (int i = 0; i < FIRST; i++) {
            mp[i] = 0.9 * mp[i] + dp[i] + 0.05 * p[i];
            p[i] -= 0.1 * mp[i];
        }
        for (int i = 0; i < SECOND; i++) {
            m[i] = 0.9 * m[i] + 0.1 * dq[i];
            v[i] = 0.95 * v[i] + 0.05 * dq[i] * dq[i];
            q[i] -= 0.1 * m[i] / (1 - pow(0.9, step + 1)) / (sqrt(v[i] / (1 - pow(0.95, step + 1))) + 1e-3);
        }
        check_slot(s, "p", p, FIRST);
        check_slot(s, "q", q, SECOND);
    }
    session_done(s);
}

TEST(test_clip)
{
    clipped_on("ref");
    clipped_on("cpu");
}

// A norm that is no number makes every parameter none, and not all but one.
TEST(test_clip_keeps_nan)
{
    struct session *s = session_on("cpu");
    OK(session_add(s, clipped_update(s)));
    start(s);
    float bad = NAN;
    OK(session_put(s, "dp", &bad, 0, sizeof bad));
    OK(session_run(s, 0));
    float *q = read_slot(s, "q");
    assert_true(isnan(q[0]) && isnan(q[SECOND - 1]));
    free(q);
    session_done(s);
}

// ---- gradients of a scaled loss

static struct graph *scaled_update(struct session *s, float first)
{
    struct graph *g = graph_new(s->store, "scaled");
    int p = weight(g, "p", SHAPE(FIRST)), q = weight(g, "q", SHAPE(SECOND));
    int grads[] = {input(g, "dp", SHAPE(FIRST)), NONE, input(g, "dq", SHAPE(SECOND))};
    int lr = graph_state(g, "lr", SHAPE(1), F32, MEMORY_STATE, (struct init){INIT_CONSTANT, 0.1f});
    g->phase = PHASE_UPDATE;
    assert_int_equal(optim_unscale(g, (int[]){NONE}, 1, first, 0).clip, NONE);
    struct optim_scaled scaled = optim_unscale(g, grads, 3, first, 2.0f);
    struct optim_settings o = {.momentum = 0.9f, .decay = 0.05f, .beta1 = 0.9f, .beta2 = 0.95f, .eps = 1e-3f,
                               .clip = scaled.clip};
    int rate = g_mul(g, lr, scaled.take);
    optim_sgd(g, p, grads[0], rate, &o);
    o.decay = 0;
    optim_adamw(g, q, grads[2], rate, &o);
    return g;
}

// Multiplies what clipped_gradients put by the scale, where the step is to be taken; else one element becomes infinite.
static void scale_gradients(struct session *s, bool good)
{
    float scale = read_one(s, OPTIM_SCALE), *dp = read_slot(s, "dp"), *dq = read_slot(s, "dq");
    for (int i = 0; i < FIRST; i++) dp[i] *= scale;
    for (int i = 0; i < SECOND; i++) dq[i] *= scale;
    if (!good) dq[SECOND / 2] = INFINITY;
    OK(session_put(s, "dp", dp, 0, FIRST * sizeof *dp));
    OK(session_put(s, "dq", dq, 0, SECOND * sizeof *dq));
    free(dp), free(dq);
}

// With some steps skipped the parameters equal a training's without scale that never had these steps.
static void scaled_on(const char *device)
{
    static const double sizes[] = {0.02, 3, 3, 1e-4, 0.5, 0.5};
    static const bool good[] = {true, false, true, true, false, true};
    static double dp[FIRST], dq[SECOND];
    struct session *scaled = session_on(device), *plain = session_on(device);
    OK(session_add(scaled, scaled_update(scaled, 1024)));
    OK(session_add(plain, clipped_update(plain)));
    start(scaled), start(plain);
    for (int step = 0; step < 6; step++) {
        clipped_gradients(scaled, step, sizes[step], dp, dq);
        scale_gradients(scaled, good[step]);
        OK(session_run(scaled, 0));
        if (!good[step]) continue;
        clipped_gradients(plain, step, sizes[step], dp, dq);
        OK(session_run(plain, 0));
    }
    assert_true(read_one(scaled, OPTIM_SCALE) == 256);
    int32_t updates;
    OK(session_get(scaled, "q.updates", &updates, sizeof updates));
    assert_int_equal(updates, 4);
    static const char *const slots[] = {"p", "p.momentum", "q", "q.moment1", "q.moment2"};
    for (int i = 0; i < 5; i++) {
        float *x = read_slot(scaled, slots[i]), *y = read_slot(plain, slots[i]);
        for (int j = 0; j < (i < 2 ? FIRST : SECOND); j++)
            if (!(fabsf(x[j] - y[j]) <= 1e-6f * (1 + fabsf(y[j]))))
                fail_msg("%s[%d]: %g, not %g", slots[i], j, (double)x[j], (double)y[j]);
        free(x), free(y);
    }
    session_done(scaled), session_done(plain);
}

TEST(test_scale)
{
    scaled_on("ref");
    scaled_on("cpu");
}

// At the least scale an infinite gradient is no overflow: it reaches the parameters, so that the loss shows it.
TEST(test_scale_hides_no_divergence)
{
    static double dp[FIRST], dq[SECOND];
    struct session *s = session_on("cpu");
    OK(session_add(s, scaled_update(s, 0x1p-15f)));
    start(s);
    for (int step = 0; step < 2; step++) {
        clipped_gradients(s, step, 1, dp, dq);
        scale_gradients(s, false);
        OK(session_run(s, 0));
        float *q = read_slot(s, "q");
        assert_int_equal(isfinite(q[SECOND / 2]), step == 0);
        free(q);
    }
    session_done(s);
}
