// SPDX-License-Identifier: Apache-2.0
// Recurrent layers as models build them, against loops written out from the papers and PyTorch's documentation, on `ref` and on
// the CPU; results that do not depend on the number of threads; shapes that are refused.
#include "runtime/grad.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

enum { SAMPLES = 3, WORDS = 5, WIDE = 6, UNITS = 3 };
static const int32_t lengths[SAMPLES] = {5, 2, 3};

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }

// The product of row `row` of w[.., n] and x.
static double dot_of(const float *w, int64_t row, const float *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)w[row * n + i] * (double)x[i];
    return sum;
}

static double add_up(const float *w, int64_t row, const double *h, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)w[row * n + i] * h[i];
    return sum;
}

// The word that direction d reads as number i; -1 past the end.
static int word_of(int b, int d, int i) { return i >= lengths[b] ? -1 : d ? lengths[b] - 1 - i : i; }

struct layer {
    struct session *s;
    struct graph *g;
    int x, length;
};

static struct layer layer_new(const char *device)
{
    struct layer l = {.s = session_on(device)};
    l.g = graph_new(l.s->store, "layer");
    l.x = input(l.g, "x", SHAPE(SAMPLES, WORDS, WIDE));
    l.length = graph_state(l.g, "length", SHAPE(SAMPLES), I32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    return l;
}

static void layer_run(struct layer *l, int y)
{
    keep(l->g, "y", y);
    OK(graph_check(l->g));
    OK(session_add(l->s, l->g));
    start(l->s);
    OK(session_put(l->s, "length", lengths, 0, sizeof lengths));
    OK(session_run(l->s, 0));
}

// A value above 1 has steps of up to 1e-7 of it, so the bound grows with it.
static void is_near(const float *y, const double *want, int count)
{
    for (int i = 0; i < count; i++)
        if (!(fabs((double)y[i] - want[i]) < 1e-6 * fmax(1, fabs(want[i]))))
            fail_msg("element %d is %g, not %g", i, (double)y[i], want[i]);
}

static void lstm_direction(struct session *s, int d, const float *x, double *y)
{
    char name[4][32];
    static const char *const what[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
    float *w[4];
    for (int i = 0; i < 4; i++) {
        snprintf(name[i], sizeof name[i], "rnn.%s_l0%s", what[i], d ? "_reverse" : "");
        w[i] = read_slot(s, name[i]);
    }
    for (int b = 0; b < SAMPLES; b++) {
        double h[UNITS] = {0}, c[UNITS] = {0}, gate[4 * UNITS];
        for (int i = 0, t; (t = word_of(b, d, i)) >= 0; i++) {
            for (int k = 0; k < 4 * UNITS; k++)
                gate[k] = dot_of(w[0], k, x + (b * WORDS + t) * WIDE, WIDE) + add_up(w[1], k, h, UNITS) + (double)w[2][k] +
                          (double)w[3][k];
            for (int j = 0; j < UNITS; j++) {
                c[j] = sigmoid(gate[UNITS + j]) * c[j] + sigmoid(gate[j]) * tanh(gate[2 * UNITS + j]);
                h[j] = sigmoid(gate[3 * UNITS + j]) * tanh(c[j]);
                y[((b * WORDS + t) * 2 + d) * UNITS + j] = h[j];
            }
        }
    }
    for (int i = 0; i < 4; i++) free(w[i]);
}

static void lstm_on(const char *device)
{
    struct layer l = layer_new(device);
    layer_run(&l, g_lstm_layer(l.g, "rnn", 0, l.x, &(struct lstm){.lengths = l.length, .directions = 2, .hidden = UNITS}));
    double want[SAMPLES * WORDS * 2 * UNITS] = {0};
    float *x = read_slot(l.s, "x"), *y = read_slot(l.s, "y");
    for (int d = 0; d < 2; d++) lstm_direction(l.s, d, x, want);
    is_near(y, want, SAMPLES * WORDS * 2 * UNITS);
    free(x);
    free(y);
    session_done(l.s);
}

// ---- states of an LSTM, as PyTorch 2 computes them: torch.nn.LSTM in double on packed sequences with lengths 5, 2 and 3.
// Element i of a tensor is amplitude sin(step (i + 1)); the loss is sum(y) + 2 sum(h_n) + 3 sum(c_n).
static void put_wave(struct session *s, const char *name, double step, double amplitude)
{
    const struct slot *slot = slot_find(s->store, name);
    float *v = zalloc(slot_bytes(slot));
    for (int64_t i = 0; i < shape_count(&slot->shape); i++) v[i] = (float)(amplitude * sin(step * (double)(i + 1)));
    OK(session_put(s, name, v, 0, slot_bytes(slot)));
    free(v);
}

static void slot_is_near(struct session *s, const char *name, const double *want, int count)
{
    float *got = read_slot(s, name);
    is_near(got, want, count);
    free(got);
}

static int sum_of(struct graph *g, int v, float factor)
{
    unsigned axes = (1u << g->value[v].shape.rank) - 1u;
    return g_scale(g, g_reshape(g, g_reduce(g, v, axes, false, F32), SHAPE(1)), factor);
}

static void states_on(const char *device)
{
    static const double last[] = {0.000294560, 0.242531688, -0.068374115, -0.130296795, -0.026207180,
                                  0.149018789, -0.122482984, 0.021647656, 0.023323052};
    static const double cell[] = {0.000833082, 0.341264294, -0.150039423, -0.440524398, -0.092925330,
                                  0.204892817, -0.424489359, 0.079546447, 0.031046773};
    static const double dh[] = {-0.546765684, -0.592160686, -0.492574100, -0.584999687, 0.136700425,
                                0.824931505, 0.045996856, 0.290550997, 0.463968121};
    static const double dc[] = {0.114944981, 0.476016926, 0.402775966, -0.170776613, 0.556876312,
                                2.315708633, -0.158704604, 0.451521263, 0.497176121};
    static const struct {
        const char *name;
        double step, amplitude;
    } wave[] = {{"x", 0.7, 1}, {"h", 0.4, 0.5}, {"c", 0.6, 0.8}, {"rnn.weight_ih_l0", 0.3, 0.6}, {"rnn.weight_hh_l0", 0.5, 0.7},
                {"rnn.bias_ih_l0", 0.9, 0.2}, {"rnn.bias_hh_l0", 1.1, 0.1}};
    struct layer l = layer_new(device);
    int of[] = {weight(l.g, "h", SHAPE(SAMPLES, UNITS)), weight(l.g, "c", SHAPE(SAMPLES, UNITS))}, d[2];
    struct lstm_states states = {of[0], of[1]};
    struct lstm how = {.lengths = l.length, .directions = 1, .states = &states, .hidden = UNITS};
    int y = g_lstm_layer(l.g, "rnn", 0, l.x, &how);
    int loss = g_add(l.g, g_add(l.g, sum_of(l.g, y, 1), sum_of(l.g, states.h, 2)), sum_of(l.g, states.c, 3));
    OK(graph_check(l.g));
    OK(grad_of(l.g, loss, of, 2, d));
    keep(l.g, "last", states.h), keep(l.g, "cell", states.c), keep(l.g, "dh", d[0]), keep(l.g, "dc", d[1]);
    OK(graph_check(l.g));
    OK(session_add(l.s, l.g));
    start(l.s);
    OK(session_put(l.s, "length", lengths, 0, sizeof lengths));
    for (size_t i = 0; i < sizeof wave / sizeof *wave; i++) put_wave(l.s, wave[i].name, wave[i].step, wave[i].amplitude);
    OK(session_run(l.s, 0));
    slot_is_near(l.s, "last", last, SAMPLES * UNITS);
    slot_is_near(l.s, "cell", cell, SAMPLES * UNITS);
    slot_is_near(l.s, "dh", dh, SAMPLES * UNITS);
    slot_is_near(l.s, "dc", dc, SAMPLES * UNITS);
    session_done(l.s);
}

TEST(test_lstm_states)
{
    states_on("ref");
    states_on("cpu");
}

TEST(test_lstm)
{
    lstm_on("ref");
    lstm_on("cpu");
}

// The slot's parts are candidate, forget, reset and, unless the input is the skip input, that.
static void sru_on(const char *device, int units)
{
    struct layer l = layer_new(device);
    struct sru_layer how = {.lengths = l.length, .hidden = units, .attr = {.directions = 2, .act = ACT_TANH}};
    int wide = 2 * units, parts = wide == WIDE ? 3 : 4;
    layer_run(&l, g_sru_layer(l.g, "rnn", l.x, l.x, &how));
    float *x = read_slot(l.s, "x"), *y = read_slot(l.s, "y"), *w = read_slot(l.s, "rnn.weight");
    float *bias = read_slot(l.s, "rnn.bias");
    double *want = zalloc((size_t)(SAMPLES * WORDS * wide) * sizeof *want);
    assert_int_equal(shape_count(&slot_find(l.s->store, "rnn.weight")->shape), parts * wide * WIDE);
    for (int line = 0; line < SAMPLES * wide; line++) {
        int j = line % units, d = line / units % 2, b = line / wide;
        double c = 0;
        for (int i = 0, t; (t = word_of(b, d, i)) >= 0; i++) {
            const float *row = x + (b * WORDS + t) * WIDE;
            double u[4] = {0};
            for (int k = 0; k < parts; k++) u[k] = dot_of(w, (d * parts + k) * units + j, row, WIDE);
            double f = sigmoid(u[1] + (double)bias[2 * d * units + j]);
            double r = sigmoid(u[2] + (double)bias[(2 * d + 1) * units + j]);
            c = f * c + (1 - f) * u[0];
            double skip = parts == 3 ? (double)row[d * units + j] : u[3];
            want[(b * WORDS + t) * wide + d * units + j] = r * tanh(c) + (1 - r) * skip;
        }
    }
    is_near(y, want, SAMPLES * WORDS * wide);
    free(want), free(x), free(y), free(w), free(bias);
    session_done(l.s);
}

TEST(test_sru)
{
    sru_on("ref", 3);
    sru_on("cpu", 3);
    sru_on("ref", 4);
    sru_on("cpu", 4);
}

TEST(test_gru_cell)
{
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "cell");
    int x = input(g, "x", SHAPE(SAMPLES, WIDE)), h = input(g, "h", SHAPE(SAMPLES, UNITS));
    int p[] = {weight(g, "w_ih", SHAPE(3 * UNITS, WIDE)), weight(g, "w_hh", SHAPE(3 * UNITS, UNITS)),
               input(g, "b_ih", SHAPE(3 * UNITS)), input(g, "b_hh", SHAPE(3 * UNITS))};
    keep(g, "y", g_gru_cell(g, x, h, p));
    OK(graph_check(g));
    OK(session_add(s, g));
    start(s);
    OK(session_run(s, 0));
    static const char *const name[] = {"x", "h", "w_ih", "w_hh", "b_ih", "b_hh", "y"};
    float *v[7];
    double want[SAMPLES * UNITS];
    for (int i = 0; i < 7; i++) v[i] = read_slot(s, name[i]);
    for (int i = 0; i < SAMPLES * UNITS; i++) {
        int b = i / UNITS, j = i % UNITS;
        double a[3], c[3];
        for (int k = 0; k < 3; k++) {
            a[k] = dot_of(v[2], k * UNITS + j, v[0] + b * WIDE, WIDE) + (double)v[4][k * UNITS + j];
            c[k] = dot_of(v[3], k * UNITS + j, v[1] + b * UNITS, UNITS) + (double)v[5][k * UNITS + j];
        }
        double r = sigmoid(a[0] + c[0]), z = sigmoid(a[1] + c[1]), n = tanh(a[2] + r * c[2]);
        want[i] = (1 - z) * n + z * (double)v[1][i];
    }
    is_near(v[6], want, SAMPLES * UNITS);
    for (int i = 0; i < 7; i++) free(v[i]);
    session_done(s);
}

// ---- GRU layers of two directions that are added, with both reset gates. Golden: torch.nn.GRU 2.15 in double on packed
// sequences, and for the original unit a loop in double with PyTorch's gradients. Slots are waves as above, the steps of the
// second direction 0.01 larger; the loss is the sum of y^2. Wanted: it, the gradients of weight_hh_l0_reverse and bias_hh_l0.
static void gru_on(const char *device, bool original, const double *want)
{
    static const struct {
        const char *name;
        double step, amplitude;
    } wave[] = {{"weight_ih", 0.3, 0.6}, {"weight_hh", 0.5, 0.7}, {"bias_ih", 0.9, 0.2}, {"bias_hh", 1.1, 0.4}};
    struct layer l = layer_new(device);
    l.g->trains = 1;
    struct gru how = {.lengths = l.length, .directions = 2, .original = original, .sum = true, .hidden = UNITS};
    int y = g_gru_layer(l.g, "rnn", 0, l.x, &how), d[2];
    int loss = sum_of(l.g, g_mul(l.g, y, y), 1);
    OK(graph_check(l.g));
    int of[] = {graph_slot(l.g, slot_find(l.s->store, "rnn.weight_hh_l0_reverse")),
                graph_slot(l.g, slot_find(l.s->store, "rnn.bias_hh_l0"))};
    OK(grad_of(l.g, loss, of, 2, d));
    keep(l.g, "loss", loss), keep(l.g, "dw", d[0]), keep(l.g, "dbias", d[1]);
    OK(graph_check(l.g));
    OK(session_add(l.s, l.g));
    start(l.s);
    OK(session_put(l.s, "length", lengths, 0, sizeof lengths));
    put_wave(l.s, "x", 0.7, 1);
    for (int i = 0; i < 8; i++) {
        char name[40];
        snprintf(name, sizeof name, "rnn.%s_l0%s", wave[i / 2].name, i % 2 ? "_reverse" : "");
        put_wave(l.s, name, wave[i / 2].step + (i % 2 ? 0.01 : 0), wave[i / 2].amplitude);
    }
    OK(session_run(l.s, 0));
    slot_is_near(l.s, "loss", want, 1);
    slot_is_near(l.s, "dw", want + 1, 3 * UNITS * UNITS);
    slot_is_near(l.s, "dbias", want + 1 + 3 * UNITS * UNITS, 3 * UNITS);
    session_done(l.s);
}

TEST(test_gru)
{
    static const double torch[] = {
        19.074161353, -0.098326976, -0.066714075, 0.154411184, 0.124151118, -0.125223766, -0.028166715, 0.007152244,
        -0.020503568, 0.006451298, 0.214398991, -0.384183159, 0.104399365, 0.596824528, 0.116692399, -0.534671601, -0.165308565,
        0.667119113, -0.386620060, -0.726746294, -0.297088760, 0.974669186, 0.755571677, -0.563628902, -0.303559690,
        0.093901256, 0.043541153, -0.098158874, -0.443901953, 0.015427798, -0.010975852, -2.440138692, -2.625380850,
        -1.151258592, -1.226378161, -0.202715213, -0.789073751};
    static const double original[] = {
        19.791393086, 0.048742421, -0.012401460, -0.031585979, 0.054160021, -0.086001895, 0.019148911, -0.012267864,
        -0.015610188, 0.014410972, 0.267321069, -0.456134895, 0.079686112, 0.377010593, 0.191542541, -0.469258373, -0.240565022,
        0.896618529, -0.577675247, -0.745016691, -0.163813964, 0.784453397, 0.755765711, -0.560488228, -0.288996991,
        -0.096316740, -0.134882263, -0.045660688, -0.015447427, -0.024958315, -0.222550616, -2.709999528, -2.739507632,
        -1.043965857, -2.257493149, -0.552194226, -2.792897985};
    for (int i = 0; i < 2; i++) {
        gru_on(i ? "cpu" : "ref", false, torch);
        gru_on(i ? "cpu" : "ref", true, original);
    }
}

// ---- threads: all scans forward and backward, with more samples than a block and units that are no whole vectors

enum { MANY = 14, LONG = 7, SRU_UNITS = 35, LSTM_UNITS = 19, U = MANY * LONG * 8 * SRU_UNITS, X = MANY * LONG * 8 * LSTM_UNITS,
       GRU_UNITS = 21, V = MANY * LONG * 6 * GRU_UNITS };

static int square_sum(struct graph *g, int y)
{
    return g_reshape(g, g_reduce(g, g_mul(g, y, y), 7, false, F32), SHAPE(1));
}

static void train_scans(struct graph *g)
{
    struct sru_layer how = {.lengths = NONE, .attr = {.directions = 2, .act = ACT_TANH, .p = 0.2f, .site = 1}};
    how.key = graph_state(g, "key", SHAPE(4), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    how.step = graph_state(g, "step", SHAPE(1), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    int of[] = {weight(g, "u", SHAPE(MANY, LONG, 8 * SRU_UNITS)), weight(g, "x", SHAPE(MANY, LONG, 8 * LSTM_UNITS)),
                weight(g, "bias", SHAPE(4 * SRU_UNITS)), weight(g, "v", SHAPE(MANY, LONG, 6 * GRU_UNITS))}, grads[4];
    int loss = square_sum(g, g_sru(g, of[0], NONE, of[2], &how));
    int w = input(g, "w", SHAPE(8 * LSTM_UNITS, LSTM_UNITS));
    loss = g_add(g, loss, square_sum(g, g_lstm(g, of[1], w, &(struct lstm){.lengths = NONE, .directions = 2})));
    w = input(g, "w_gru", SHAPE(6 * GRU_UNITS, GRU_UNITS));
    for (int original = 0; original < 2; original++) {
        struct gru gru = {.lengths = NONE, .directions = 2, .original = original};
        loss = g_add(g, loss, square_sum(g, g_gru(g, of[3], w, NONE, &gru)));
    }
    OK(graph_check(g));
    OK(grad_of(g, loss, of, 4, grads));
    keep(g, "du", grads[0]), keep(g, "dx", grads[1]), keep(g, "dbias", grads[2]), keep(g, "dv", grads[3]);
}

static void run_threads(int threads, float *d[4])
{
    struct device *device;
    struct session *s;
    OK(device_open("cpu", threads, &device));
    OK(session_new(device, &s));
    struct graph *g = graph_new(s->store, "train");
    train_scans(g);
    OK(session_add(s, g));
    start(s);
    OK(session_run(s, 0));
    d[0] = read_slot(s, "du"), d[1] = read_slot(s, "dx"), d[2] = read_slot(s, "dbias"), d[3] = read_slot(s, "dv");
    session_done(s);
}

TEST(test_threads)
{
    static const int threads[] = {1, 2, 40}, count[] = {U, X, 4 * SRU_UNITS, V};
    float *d[3][4];
    for (int i = 0; i < 3; i++) run_threads(threads[i], d[i]);
    for (int k = 0; k < 4; k++) {
        double sum = 0;
        for (int i = 0; i < count[k]; i++) sum += fabs((double)d[0][k][i]);
        assert_true(sum > 0.1 && sum < 1e6);
        for (int i = 1; i < 3; i++) assert_memory_equal(d[0][k], d[i][k], (size_t)count[k] * sizeof(float));
        for (int i = 0; i < 3; i++) free(d[i][k]);
    }
}

// ---- a dropout whose mask is shared

TEST(test_shared_dropout)
{
    struct session *s = session_on("cpu");
    struct graph *g = graph_new(s->store, "drop");
    int x = graph_state(g, "x", SHAPE(4, 6, 50), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, 1});
    int key = graph_state(g, "key", SHAPE(4), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    int step = graph_state(g, "step", SHAPE(1), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    keep(g, "y", g_dropout_shared(g, x, key, step, 0.5f, 3));
    OK(session_add(s, g));
    start(s);
    OK(session_run(s, 0));
    float *y = read_slot(s, "y");
    int kept = 0;
    for (int i = 0; i < 4 * 6 * 50; i++) {
        assert_true(y[i] == 0.0f || y[i] == 2.0f);
        assert_true(y[i] == y[i / 300 * 300 + i % 50]);  // as in the sample's first row
        kept += y[i] > 0.0f;
    }
    assert_in_range(kept / 6, 70, 130);  // of 200
    assert_true(memcmp(y, y + 300, 50 * sizeof *y) != 0);
    free(y);
    session_done(s);
}

// ---- refusals

static int refused(int (*build)(struct graph *))
{
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "refused");
    build(g);
    int rc = graph_check(g);
    graph_free(g);
    session_done(s);
    return rc;
}

static int sru_with(struct graph *g, struct shape u, struct shape x, int64_t biases, int directions, enum act act)
{
    struct sru_layer how = {.lengths = NONE, .attr = {.directions = directions, .act = act}};
    int skip = x.rank ? input(g, "skip", x) : NONE;
    return g_sru(g, input(g, "u", u), skip, input(g, "bias", SHAPE(biases)), &how);
}

static int three_directions(struct graph *g) { return sru_with(g, SHAPE(2, 3, 24), (struct shape){0}, 12, 3, ACT_TANH); }
static int odd_parts(struct graph *g) { return sru_with(g, SHAPE(2, 3, 20), (struct shape){0}, 10, 2, ACT_TANH); }
static int wrong_skip(struct graph *g) { return sru_with(g, SHAPE(2, 3, 18), SHAPE(2, 3, 5), 12, 2, ACT_TANH); }
static int few_biases(struct graph *g) { return sru_with(g, SHAPE(2, 3, 16), (struct shape){0}, 4, 2, ACT_TANH); }
static int wrong_act(struct graph *g) { return sru_with(g, SHAPE(2, 3, 16), (struct shape){0}, 8, 2, ACT_GELU); }
static int flat_sru(struct graph *g) { return sru_with(g, SHAPE(6, 16), (struct shape){0}, 8, 2, ACT_TANH); }
static int lstm_with(struct graph *g, struct shape w, int length, int c)
{
    struct lstm_states states = {NONE, c};
    struct lstm how = {.lengths = length, .directions = 2, .states = &states};
    return g_lstm(g, input(g, "x", SHAPE(2, 3, 24)), input(g, "w", w), &how);
}
static int wrong_weights(struct graph *g)
{
    return lstm_with(g, SHAPE(24, 4), NONE, NONE);
}
static int few_lengths(struct graph *g)
{
    int n = graph_state(g, "n", SHAPE(3), I32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
    return lstm_with(g, SHAPE(24, 3), n, NONE);
}
static int wrong_state(struct graph *g) { return lstm_with(g, SHAPE(24, 3), NONE, input(g, "c", SHAPE(2, 3))); }
static int gru_weights(struct graph *g)
{
    return g_gru(g, input(g, "x", SHAPE(2, 3, 18)), input(g, "w", SHAPE(18, 4)), NONE,
                 &(struct gru){.lengths = NONE, .directions = 2});
}
static int gru_biases(struct graph *g)
{
    return g_gru(g, input(g, "x", SHAPE(2, 3, 18)), input(g, "w", SHAPE(18, 3)), input(g, "b", SHAPE(9)),
                 &(struct gru){.lengths = NONE, .directions = 2});
}

TEST(test_refusals)
{
    REFUSED(refused(three_directions), "one direction or two, not 3");
    REFUSED(refused(odd_parts), "2 directions with 4 parts cannot read 2x3x20");
    REFUSED(refused(wrong_skip), "requires f32 2x3x6 as input 1, not 2x3x5");
    REFUSED(refused(few_biases), "8 channels as input 2");
    REFUSED(refused(wrong_act), "tanh, relu or no activation");
    REFUSED(refused(flat_sru), "requires floats [B,T,C]");
    REFUSED(refused(wrong_weights), "recurrent weights 24x3, not 24x4");
    REFUSED(refused(few_lengths), "requires 2 i32");
    REFUSED(refused(wrong_state), "lstm requires f32 2x6 as input 4, not f32 2x3");
    REFUSED(refused(gru_weights), "gru requires f32 recurrent weights 18x3, not 18x4");
    REFUSED(refused(gru_biases), "gru requires f32 of 18 channels as input 2");
}
