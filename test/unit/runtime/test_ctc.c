// SPDX-License-Identifier: Apache-2.0
// CTC against torch.nn.CTCLoss 2.15 in double (log_softmax, blank 0, reduction "none", zero_infinity): repeats, no labels, too
// few frames; then on the CPU, with alignments whose probabilities no float holds and any number of threads; what infer refuses.
#include "runtime/grad.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

enum { SAMPLES = 5, FRAMES = 5, CLASSES = 3, LABELS = 2 };
static const int32_t frames[SAMPLES] = {5, 4, 3, 2, 5}, counts[SAMPLES] = {2, 2, 0, 2, 1};
static const int32_t labels[SAMPLES * LABELS] = {1, 1, 1, 2, 0, 0, 2, 2, 2, 1};

struct net {
    struct session *s;
    struct graph *g;
    int logits, in[4], out[3];
};

static int whole(struct graph *g, const char *name, struct shape shape)
{
    return graph_state(g, name, shape, I32, MEMORY_DATA, (struct init){INIT_UPLOAD, 0});
}

// The loss and its gradient, of logits with this shape.
static struct net net_new(struct session *s, struct shape shape, int64_t most)
{
    struct net n = {.s = s};
    n.g = graph_new(s->store, "net");
    n.logits = weight(n.g, "logits", shape);
    const int in[4] = {n.logits, whole(n.g, "frames", SHAPE(shape.dim[0])), whole(n.g, "labels", SHAPE(shape.dim[0], most)),
                       whole(n.g, "counts", SHAPE(shape.dim[0]))};
    memcpy(n.in, in, sizeof in);
    int d, loss = g_ctc(n.g, n.in, n.out);
    OK(graph_check(n.g));
    OK(grad_of(n.g, loss, &n.logits, 1, &d));
    keep(n.g, "loss", loss), keep(n.g, "losses", n.out[1]), keep(n.g, "skipped", n.out[2]), keep(n.g, "d", d);
    OK(graph_check(n.g));
    OK(session_add(s, n.g));
    start(s);
    return n;
}

static void put_logits(struct session *s, double step, double amplitude)
{
    const struct slot *slot = slot_find(s->store, "logits");
    float *v = zalloc(slot_bytes(slot));
    for (int64_t i = 0; i < shape_count(&slot->shape); i++) v[i] = (float)(amplitude * sin(step * (double)(i + 1)));
    OK(session_put(s, "logits", v, 0, slot_bytes(slot)));
    free(v);
}

static void slot_is(struct session *s, const char *name, const double *want, int count)
{
    float *got = read_slot(s, name);
    for (int i = 0; i < count; i++)
        if (!(fabs((double)got[i] - want[i]) <= 2e-7 * fmax(1, fabs(want[i]))))
            fail_msg("%s[%d] is %.9g, not %.9g", name, i, (double)got[i], want[i]);
    free(got);
}

static void torch_on(const char *device)
{
    static const double losses[SAMPLES] = {2.841478415, 2.053715104, 4.126421392, 0, 3.811659966};
    static const double skipped[SAMPLES] = {0, 0, 0, 1, 0};
    static const double d[SAMPLES * FRAMES * CLASSES] = {
        0.160527074, -0.502723927, 0.342196853, -0.145432333, 0.078776980, 0.066655353, -0.238373877, -0.471291923, 0.709665799,
        -0.028540714, -0.307057865, 0.335598579, -0.032866051, -0.034757643, 0.067623694, -0.161340441, -0.551169827,
        0.712510268, 0.003728221, -0.271394368, 0.267666147, -0.000024841, 0.032815944, -0.032791103, 0.046458385, 0.192885391,
        -0.239343775, 0, 0, 0, -0.258327633, 0.188611796, 0.069715837, -0.910142586, 0.192309471, 0.717833115, -0.757812376,
        0.441718528, 0.316093848, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -0.312652977, 0.190817792,
        0.121835185, -0.220420773, 0.443781207, -0.223360434, 0.113236566, 0.188906098, -0.302142665, -0.266198621, 0.190401752,
        0.075796870, -0.376767323, 0.444175564, -0.067408240};
    struct net n = net_new(session_on(device), SHAPE(SAMPLES, FRAMES, CLASSES), LABELS);
    put_logits(n.s, 0.7, 2);
    OK(session_put(n.s, "frames", frames, 0, sizeof frames));
    OK(session_put(n.s, "labels", labels, 0, sizeof labels));
    OK(session_put(n.s, "counts", counts, 0, sizeof counts));
    OK(session_run(n.s, 0));
    double sum = 0;
    for (int i = 0; i < SAMPLES; i++) sum += losses[i];
    slot_is(n.s, "loss", &sum, 1);
    slot_is(n.s, "losses", losses, SAMPLES);
    slot_is(n.s, "skipped", skipped, SAMPLES);
    slot_is(n.s, "d", d, SAMPLES * FRAMES * CLASSES);
    session_done(n.s);
}

TEST(test_torch)
{
    torch_on("ref");
    torch_on("cpu");
}

// ---- 120 labels in 400 frames whose logits differ by up to 60: alignments have probabilities of e^-4000 and less.

enum { MANY = 7, LONG = 400, LETTERS = 29, MOST = 120, D = MANY * LONG * LETTERS };

static struct session *long_on(const char *name, int threads)
{
    struct device *device;
    struct session *s;
    int32_t label[MANY * MOST], count[MANY], length[MANY];
    OK(device_open(name, threads, &device));
    OK(session_new(device, &s));
    net_new(s, SHAPE(MANY, LONG, LETTERS), MOST);
    put_logits(s, 0.37, 30);
    for (int i = 0; i < MANY; i++) count[i] = MOST - 17 * i, length[i] = LONG - 13 * i;
    for (int i = 0; i < MANY * MOST; i++) label[i] = 1 + i * i % (LETTERS - 1);
    OK(session_put(s, "frames", length, 0, sizeof length));
    OK(session_put(s, "labels", label, 0, sizeof label));
    OK(session_put(s, "counts", count, 0, sizeof count));
    OK(session_run(s, 0));
    return s;
}

TEST(test_long)
{
    struct session *ref = long_on("ref", 1);
    float *want = read_slot(ref, "losses"), *d = read_slot(ref, "d");
    static const int threads[] = {1, 2, 40};
    float *first = NULL;
    for (int i = 0; i < 3; i++) {
        struct session *s = long_on("cpu", threads[i]);
        float *got = read_slot(s, "losses"), *to = read_slot(s, "d");
        for (int b = 0; b < MANY; b++) {
            assert_true(want[b] > 500.0f);
            if (!(fabsf(got[b] - want[b]) <= 1e-6f * want[b]))
                fail_msg("loss %d is %.9g, not %.9g", b, (double)got[b], (double)want[b]);
        }
        for (int j = 0; j < D; j++)
            if (!(fabsf(to[j] - d[j]) <= 1e-5f)) fail_msg("gradient %d is %.9g, not %.9g", j, (double)to[j], (double)d[j]);
        if (first) assert_memory_equal(first, to, D * sizeof *to);
        if (first) free(to);
        else first = to;
        free(got);
        session_done(s);
    }
    free(first), free(want), free(d);
    session_done(ref);
}

// ---- a label that its one frame rules out: its sample is skipped, and the other is what arithmetic says.

static void impossible_on(const char *device)
{
    enum { BOTH = 2 };
    const float never = -INFINITY, logits[BOTH][CLASSES] = {{0.5f, 1, never}, {0.5f, never, 0.25f}};
    static const int32_t one[BOTH] = {1, 1};
    struct net n = net_new(session_on(device), SHAPE(BOTH, 1, CLASSES), 1);
    OK(session_put(n.s, "logits", logits, 0, sizeof logits));
    OK(session_put(n.s, "frames", one, 0, sizeof one));
    OK(session_put(n.s, "labels", one, 0, sizeof one));
    OK(session_put(n.s, "counts", one, 0, sizeof one));
    OK(session_run(n.s, 0));
    const double p = 1 / (1 + exp(-0.5)), losses[BOTH] = {-log(p), 0}, skipped[BOTH] = {0, 1};
    const double d[BOTH * CLASSES] = {1 - p, p - 1, 0, 0, 0, 0};
    slot_is(n.s, "losses", losses, BOTH);
    slot_is(n.s, "skipped", skipped, BOTH);
    slot_is(n.s, "d", d, BOTH * CLASSES);
    session_done(n.s);
}

TEST(test_impossible)
{
    impossible_on("ref");
    impossible_on("cpu");
}

TEST(test_nan)
{
    static const char *const device[] = {"ref", "cpu"};
    for (int i = 0; i < 2; i++) {
        struct net n = net_new(session_on(device[i]), SHAPE(SAMPLES, FRAMES, CLASSES), LABELS);
        float bad = NAN;
        OK(session_put(n.s, "frames", frames, 0, sizeof frames));
        OK(session_put(n.s, "labels", labels, 0, sizeof labels));
        OK(session_put(n.s, "counts", counts, 0, sizeof counts));
        OK(session_put(n.s, "logits", &bad, 7 * sizeof bad, sizeof bad));
        OK(session_run(n.s, 0));
        float *losses = read_slot(n.s, "losses"), *d = read_slot(n.s, "d");
        assert_true(isnan(losses[0]) && losses[1] > 0 && isnan(d[7]) && !isnan(d[FRAMES * CLASSES]));
        free(losses), free(d);
        session_done(n.s);
    }
}

static int refused(struct shape logits, struct shape labels_shape, int64_t lengths)
{
    struct session *s = session_on("ref");
    struct graph *g = graph_new(s->store, "refused");
    int out[3];
    g_ctc(g, (int[]){input(g, "logits", logits), whole(g, "n", SHAPE(lengths)), whole(g, "labels", labels_shape), NONE}, out);
    int rc = graph_check(g);
    graph_free(g);
    session_done(s);
    return rc;
}

TEST(test_refusals)
{
    REFUSED(refused(SHAPE(6, 5), SHAPE(6, 2), 6), "ctc requires logits[B,T,K]");
    REFUSED(refused(SHAPE(6, 5, 1), SHAPE(6, 2), 6), "ctc requires logits[B,T,K]");
    REFUSED(refused(SHAPE(6, 5, 3), SHAPE(5, 2), 6), "ctc requires labels[B,L]");
    REFUSED(refused(SHAPE(6, 5, 3), SHAPE(6, 2), 5), "ctc requires 6 i32");
}
