// SPDX-License-Identifier: Apache-2.0
// The CPU device: errors that name the node, facts, and measured peaks.
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

#include "runtime/common/base/clock.h"
#include "runtime/cpu/cpu.h"
#include "runtime/fuse.h"
#include "runtime/grad.h"

// ---- names

TEST(test_errors_have_names)
{
    struct device *d = NULL;
    REFUSED(device_open("cpuu", 1, &d), "did you mean \"cpu\"");
    REFUSED(device_open("gpu", 1, &d), "did you mean \"cuda\"");
    REFUSED(device_open("zebrafish", 1, &d), "cuda, cpu, ref, null");
    REFUSED(device_open("cpu:1", 1, &d), "device cpu:1 does not exist");
    REFUSED(device_open("cpu:x", 1, &d), "cpu:0");
    REFUSED(device_open("cpu", -1, &d), "got -1");
    assert_null(d);

    struct session *s = session_on("cpu");
    struct graph *g = graph_new(s->store, "halves");
    graph_scope(g, "group1.conv1");
    int x = input(g, "x", SHAPE(8, 8));
    keep(g, "y", g_cast(g, g_matmul(g, x, false, x, true, BF16), F32));  // f32 into bf16: no library does
    OK(session_add(s, g));
    REFUSED(session_ready(s), "group1.conv1");
    assert_non_null(strstr(error_text(), "oneDNN"));
    session_done(s);
}

TEST(test_facts)
{
    struct device *d;
    struct device_facts facts;
    OK(device_open("auto", 2, &d));
    assert_string_equal(d->type->name, device_cuda.present() ? "cuda" : "cpu");
    device_close(d);
    OK(device_open("cpu", 2, &d));
    OK(d->type->facts(d, &facts));
    assert_int_equal(facts.threads, 2);
    assert_non_null(strstr(facts.name, "2 threads"));
    assert_non_null(strstr(facts.library, "oneDNN "));
    assert_true(facts.memory > 1 << 20);
    device_close(d);
}

// The rate of a product by plain loops. An emulator of another processor slows these and the device alike.
static double plain_flops(void)
{
    enum { N = 96, TRIES = 5 };
    static float a[N][N], b[N][N], y[N][N];
    int64_t least = INT64_MAX;
    for (int i = 0; i < N * N; i++) a[i / N][i % N] = b[i / N][i % N] = 1;
    for (int t = 0; t < TRIES; t++) {
        int64_t since = clock_ns();
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++)
                for (int j = 0; j < N; j++) y[i][j] += a[i][k] * b[k][j];
        int64_t ns = clock_ns() - since;
        if (ns < least) least = ns;
    }
    assert_true(y[N - 1][N - 1] == TRIES * N);
    return 2.0 * N * N * N / ((double)least * 1e-9);
}

TEST(test_measure)
{
    struct device *d;
    struct device_facts facts;
    double plain = plain_flops();
    OK(device_open("cpu", 1, &d));
    OK(device_measure(d, &facts));
    assert_true(facts.peak_flops[F32] > 0.1 * plain && facts.peak_flops[F32] < 1e15);
    assert_false(facts.fast[F16]);  // products in f16 are computed in f32
    assert_true(facts.peak_bytes > 1e8 && facts.peak_bytes < 1e14);
    device_close(d);
    OK(device_open("null", 1, &d));
    OK(device_measure(d, &facts));
    assert_true(facts.peak_flops[F32] == 0);
    device_close(d);
}

// ---- peaks of a machine on which other programs run at first

// The cpu device with invented times: 1 GFLOP/s and 1 GB/s, so that sizes stay small enough for an emulator within the second
// that device_measure takes for later tries; while `busy`, a twentieth. It is busy until a copy follows a product.
static const double RATE = 1e9;
static bool multiplied, busy;
static int (*compile_on_cpu)(struct device *, const struct plan *, void *, struct program **);
static struct {
    const struct program *program;
    const struct plan *plan;
} compiled[8];
static int compilations;

static int compile_and_note(struct device *d, const struct plan *plan, void *slab, struct program **into)
{
    TRY(compile_on_cpu(d, plan, slab, into));
    compiled[compilations % 8].program = *into, compiled[compilations++ % 8].plan = plan;
    return 0;
}

static int invent_times(struct program *program, int64_t *ns)
{
    int i = 0;
    while (i < 8 && compiled[(compilations - 1 - i + 8) % 8].program != program) i++;
    assert_true(i < 8);
    const struct plan *plan = compiled[(compilations - 1 - i + 8) % 8].plan;
    bool product = false;
    for (int at = 0; at < plan->count; at++) product = product || plan->graph->node[plan->order[at]].op == OP_MATMUL;
    if (!product && multiplied) busy = false;
    multiplied = multiplied || product;
    for (int at = 0; at < plan->count; at++) {
        struct cost cost = node_cost(plan->graph, &plan->graph->node[plan->order[at]]);
        ns[at] = (int64_t)((product ? cost.flops : cost.read + cost.written) / RATE * 1e9 * (busy ? 20 : 1));
    }
    return 0;
}

static void measure_invented(bool with_others, struct device_facts *facts)
{
    struct device *d;
    OK(device_open("cpu", 1, &d));
    struct device_type invented = *d->type;
    const struct device_type *own = d->type;
    compile_on_cpu = invented.compile;
    invented.compile = compile_and_note, invented.profile = invent_times;
    busy = with_others, multiplied = false;
    d->type = &invented;
    OK(device_measure(d, facts));
    d->type = own;
    device_close(d);
}

TEST(test_measure_beside_others)
{
    struct device_facts quiet, facts;
    measure_invented(false, &quiet);
    assert_true(fabs(quiet.peak_flops[F32] / RATE - 1) < 0.01 && quiet.peak_bytes > 0 && quiet.peak_spread < 1.01);
    measure_invented(true, &facts);
    assert_true(fabs(facts.peak_flops[F32] / RATE - 1) < 0.01 && fabs(facts.peak_bytes / quiet.peak_bytes - 1) < 0.01);
    assert_true(facts.peak_spread > 19);
}

// ---- cross entropy: classes that cannot be, no class, and a NaN

static void cross_entropy(const char *device, int64_t n, const float *logits, int32_t label, float *loss, float *slope)
{
    struct session *s = session_on(device);
    struct graph *g = graph_new(s->store, "loss");
    int x = weight(g, "x", SHAPE(1, n)), grad, labels = graph_state(g, "label", SHAPE(1), I32, MEMORY_DATA,
                                                                   (struct init){INIT_UPLOAD, 0});
    int v = g_xent(g, x, labels, 0, false);
    OK(grad_of(g, v, &x, 1, &grad));
    keep(g, "loss", v), keep(g, "slope", grad);
    OK(session_add(s, g));
    OK(session_ready(s));
    OK(session_reset(s, 1));
    OK(session_put(s, "x", logits, 0, (size_t)n * sizeof *logits));
    OK(session_put(s, "label", &label, 0, sizeof label));
    OK(session_run(s, 0));
    float *read = read_slot(s, "loss"), *slopes = read_slot(s, "slope");
    *loss = *read;
    memcpy(slope, slopes, (size_t)n * sizeof *slope);
    free(read), free(slopes);
    session_done(s);
}

TEST(impossible_classes_cost_nothing)
{
    enum { MOST = 300 };
    static const char *const devices[] = {"ref", "cpu"};
    for (int d = 0; d < 2; d++)
        for (int64_t n = 3; n <= MOST; n += MOST - 3) {  // a short row, and one of two blocks
            float x[MOST], slope[MOST], loss;
            for (int64_t i = 0; i < n; i++) x[i] = i % 3 == 1 ? -INFINITY : 0;
            double possible = (double)(n - n / 3);
            cross_entropy(devices[d], n, x, 0, &loss, slope);
            assert_true(fabs((double)loss - log(possible)) < 1e-5);  // not of a NaN, which assert_float_equal takes
            assert_true(fabs((double)slope[0] - (1 / possible - 1)) < 1e-6 && fabsf(slope[1]) < 1e-6f);
            cross_entropy(devices[d], n, x, -1, &loss, slope);  // no class: no loss
            assert_true(loss == 0 && slope[0] == 0 && slope[2] == 0);
            x[2] = NAN;
            cross_entropy(devices[d], n, x, 0, &loss, slope);
            assert_true(isnan(loss) && isnan(slope[0]));
        }
}
