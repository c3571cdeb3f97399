// SPDX-License-Identifier: Apache-2.0
// Tests of the CUDA device that need the emulator: machines on which it cannot be opened, calls that fail, and the limits of a
// run, which allocates nothing, waits for nothing and launches nothing besides its graph.
#include "runtime/cuda/cuda.h"

#include "test/unit/test.h"
#include "test/emulate/emulate_test.h"
#include "test/unit/fixture_graph.h"

// ---- opening

static void expect_refusal(enum emulate_machine machine, int code, const char *says)
{
    struct device *d = NULL;
    emulate_machine(machine);
    assert_int_equal(device_open("cuda", 1, &d), code);
    if (!strstr(error_text(), says)) fail_msg("\"%s\" lacks \"%s\"", error_text(), says);
    assert_false(device_cuda.present());
    assert_null(d);
    emulate_machine(EMULATE_H200);
}

TEST(missing_parts_have_messages)
{
    expect_refusal(EMULATE_NO_DRIVER, ERR_MISSING, "device cuda: no NVIDIA driver is installed");
    expect_refusal(EMULATE_OLD_DRIVER, ERR_DEVICE, "the NVIDIA driver is too old: it supports CUDA 11.4, but this program");
    expect_refusal(EMULATE_NO_DEVICE, ERR_MISSING, "the NVIDIA driver finds no GPU");
    expect_refusal(EMULATE_OLD_GPU, ERR_UNSUPPORTED, "compute capability 7.5; the kernels need 8.0");
    struct device *d = NULL;
    assert_true(device_cuda.present());
    assert_int_equal(device_open("cuda:1", 1, &d), ERR_USAGE);
    assert_string_equal(error_text(), "device cuda:1: there is 1 GPU, cuda:0");
    emulate_fail("cudaSetDevice", cudaErrorDevicesUnavailable);
    REFUSED(device_open("cuda", 1, &d), "the GPU is in use by another process");
    REFUSED((emulate_fail("cudaSetDevice", cudaErrorDeviceAlreadyInUse), device_open("cuda", 1, &d)), "exclusive use");
    emulate_fail("cudaStreamCreateWithFlags", cudaErrorMemoryAllocation);
    assert_int_equal(device_open("cuda", 1, &d), ERR_MEMORY);
    emulate_fail_after("cudaStreamCreateWithFlags", 1, cudaErrorMemoryAllocation);
    setenv("DAWN_CUDA_LANES", "all", 1);  // a second stream
    assert_int_equal(device_open("cuda", 1, &d), ERR_MEMORY);
    unsetenv("DAWN_CUDA_LANES");
    emulate_fail(NULL, cudaSuccess);
    assert_null(d);
    assert_int_equal(emulate_counts().streams, 0);
}

TEST(auto_takes_the_gpu_if_there_is_one)
{
    struct device *d;
    OK(device_open("auto", 1, &d));
    assert_string_equal(d->type->name, "cuda");
    device_close(d);
    emulate_machine(EMULATE_NO_DRIVER);
    OK(device_open("auto", 1, &d));
    assert_string_equal(d->type->name, "cpu");
    device_close(d);
    emulate_machine(EMULATE_OLD_GPU);
    OK(device_open(NULL, 1, &d));
    assert_string_equal(d->type->name, "cpu");
    device_close(d);
    emulate_machine(EMULATE_H200);
}

// ---- switches

TEST(switches_reject_unknown_words)
{
    static const char *const wrong[][3] = {
        {"DAWN_CUDA_GRAPHS", "ON", "DAWN_CUDA_GRAPHS must be on or off; got \"ON\""},
        {"DAWN_CUDA_SYNC", "1", "DAWN_CUDA_SYNC must be on or off; got \"1\""},
        {"DAWN_CUDA_TUNE", "yes", "DAWN_CUDA_TUNE must be on or off; got \"yes\""},
        {"DAWN_CUDA_TF32", "1", "DAWN_CUDA_TF32 must be on or off; got \"1\""},
        {"DAWN_CUDA_CACHE", "no", "DAWN_CUDA_CACHE must be on or off; got \"no\""},
        {"DAWN_CUDA_CONV", "cuDNN", "DAWN_CUDA_CONV must be auto, own or cudnn; got \"cuDNN\""},
        {"DAWN_CUDA_BLAS", "on", "DAWN_CUDA_BLAS must be auto, off or always; got \"on\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct device *d = NULL;
        setenv(wrong[i][0], wrong[i][1], 1);
        assert_int_equal(device_open("cuda", 1, &d), ERR_USAGE);
        assert_string_equal(error_text(), wrong[i][2]);
        assert_null(d);
        setenv(wrong[i][0], "", 1);  // as if it were not set
        OK(device_open("cuda", 1, &d));
        device_close(d);
        unsetenv(wrong[i][0]);
    }
}

// The emulated cuDNN is 9.0, the choices that come with the program are of 9.19.
TEST(choices_of_another_version_are_named)
{
    static const char *const cache[] = {"on", "off"};
    struct device *d;
    struct device_facts facts;
    for (int i = 0; i < 2; i++) {
        setenv("DAWN_CUDA_CACHE", cache[i], 1);
        OK(device_open("cuda", 1, &d));
        OK(device_check(d));
        OK(d->type->facts(d, &facts));
        assert_true((strstr(facts.library, ", cuDNN 9.0 with engines of 9.19, driver ") != NULL) == (i == 0));
        assert_true((strstr(facts.library, ", cuDNN 9.0, driver ") != NULL) == (i == 1));
        device_close(d);
    }
    unsetenv("DAWN_CUDA_CACHE");
}

// A run's record lists the switches that differ from their defaults after the libraries.
TEST(switches_are_recorded)
{
    static const char *const set[][2] = {{"DAWN_CUDA_GRAPHS", "off"}, {"DAWN_CUDA_SYNC", "on"}, {"DAWN_CUDA_TUNE", "on"},
                                         {"DAWN_CUDA_TF32", "on"}, {"DAWN_CUDA_CACHE", "off"}, {"DAWN_CUDA_CONV", "cudnn"},
                                         {"DAWN_CUDA_BLAS", "always"}, {"DAWN_CUDA_LANES", "all"}};
    static const char all[] = "; GRAPHS=off, SYNC=on, TUNE=on, TF32=on, CACHE=off, CONV=cudnn, BLAS=always, LANES=all";
    struct device *d;
    struct device_facts facts;
    OK(device_open("cuda", 1, &d));
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) setenv(set[i][0], set[i][1], 1);  // too late for this device
    OK(d->type->facts(d, &facts));
    assert_null(strchr(facts.library, '='));
    size_t plain = strlen(facts.library);
    device_close(d);
    OK(device_open("cuda", 1, &d));
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) unsetenv(set[i][0]);
    OK(d->type->facts(d, &facts));
    assert_string_equal(facts.library + plain, all);
    device_close(d);
    setenv("DAWN_CUDA_TF32", "on", 1);
    setenv("DAWN_CUDA_CONV", "auto", 1);
    OK(device_open("cuda", 1, &d));
    unsetenv("DAWN_CUDA_TF32");
    unsetenv("DAWN_CUDA_CONV");
    OK(d->type->facts(d, &facts));
    assert_string_equal(facts.library + plain, "; TF32=on");
    device_close(d);
    setenv("DAWN_CUDA_LANES", "4", 1);
    OK(device_open("cuda", 1, &d));
    unsetenv("DAWN_CUDA_LANES");
    OK(d->type->facts(d, &facts));
    assert_string_equal(facts.library + plain, "; LANES=4");
    device_close(d);
}

// Planning may load libraries and time engines, on the device's own GPU only.
TEST(planning_selects_the_gpu)
{
    struct session *s = session_on("cuda");
    struct graph *g = graph_new(s->store, "plan");
    size_t bytes;
    g_scale(g, input(g, "x", SHAPE(8)), 2.0f);
    emulate_fail("cudaSetDevice", cudaErrorDevicesUnavailable);
    REFUSED(s->device->type->supports(s->device, g, &g->node[0]), "selecting the GPU");
    emulate_fail("cudaSetDevice", cudaErrorDevicesUnavailable);
    REFUSED(s->device->type->workspace(s->device, g, &g->node[0], &bytes), "selecting the GPU");
    emulate_fail(NULL, cudaSuccess);
    graph_free(g);
    session_done(s);
}

// ---- errors

TEST(errors_are_sentences)
{
    assert_int_equal(cuda_check(cudaSuccess, "breathing"), 0);
    assert_int_equal(cuda_check(cudaErrorMemoryAllocation, "taking 7 bytes"), ERR_MEMORY);
    assert_string_equal(error_text(), "cuda: taking 7 bytes: the GPU has not enough free memory; a smaller --batch needs less "
                                      "(cudaErrorMemoryAllocation)");
    assert_int_equal(cuda_check(cudaErrorNoKernelImageForDevice, "x"), ERR_UNSUPPORTED);
    assert_int_equal(cuda_check(cudaErrorIllegalAddress, "x"), ERR_DEVICE);
    for (int e = 1; e <= cudaErrorUnknown; e++) {  // including those without a sentence of their own
        if (strncmp(cudaGetErrorName((cudaError_t)e), "cuda", 4) != 0) continue;
        REFUSED(cuda_check((cudaError_t)e, "testing"), "cuda: testing: ");
        assert_int_equal(error_text()[strlen(error_text()) - 1], ')');
    }
}

static int build_small(struct session *s)
{
    struct graph *g = graph_new(s->store, "small");
    graph_scope(g, "body.scale1");
    int x = input(g, "x", SHAPE(300));
    int y = g_scale(g, x, 2.0f);
    graph_scope(g, "body.act2");
    keep(g, "y", g_act(g, y, ACT_SILU));
    int program = session_add(s, g);
    if (program < 0) fail_msg("%s", error_text());
    return program;
}

static struct session *small_on(const char *graphs, const char *sync)
{
    setenv("DAWN_CUDA_GRAPHS", graphs, 1);
    setenv("DAWN_CUDA_SYNC", sync, 1);
    struct session *s = session_on("cuda");
    unsetenv("DAWN_CUDA_GRAPHS");
    unsetenv("DAWN_CUDA_SYNC");
    assert_int_equal(build_small(s), 0);
    return s;
}

TEST(a_launch_that_fails_names_the_node)
{
    struct session *s = small_on("on", "off");
    emulate_fail_after("cudaLaunchKernel", 1, cudaErrorInvalidConfiguration);
    REFUSED(session_ready(s), "cuda: launching silu of body.act2 in graph small: a launch configuration was rejected");
    session_done(s);
    static const char *const calls[] = {
        "cudaEventCreateWithFlags", "cudaStreamBeginCapture", "cudaStreamUpdateCaptureDependencies", "cudaStreamGetCaptureInfo",
        "cudaEventRecord", "cudaStreamWaitEvent", "cudaGraphInstantiate"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        setenv("DAWN_CUDA_LANES", "all", 1);
        s = small_on("on", "off");
        unsetenv("DAWN_CUDA_LANES");
        emulate_fail(calls[i], cudaErrorMemoryAllocation);
        assert_int_equal(session_ready(s), ERR_MEMORY);
        session_done(s);
    }
    assert_int_equal(emulate_counts().graphs, 0);
    assert_int_equal(emulate_counts().events, 0);

    s = small_on("off", "off");
    start(s);
    emulate_fail_after("cudaLaunchKernel", 1, cudaErrorLaunchOutOfResources);
    REFUSED(session_run(s, 0), "launching silu of body.act2 in graph small");
    OK(session_run(s, 0));  // the error is not remembered
    int64_t ns[8];
    emulate_fail("cudaLaunchHostFunc", cudaErrorInvalidValue);
    REFUSED(session_profile(s, 0, ns), "holding the stream back");
    OK(session_profile(s, 0, ns));
    OK(session_sync(s));
    session_done(s);
    assert_int_equal(emulate_memory_in_use(), 0);
}

TEST(what_fails_on_the_gpu_is_found)
{
    struct session *s = small_on("on", "off");
    start(s);
    OK(session_run(s, 0));
    emulate_fail("cudaStreamSynchronize", cudaErrorIllegalAddress);
    REFUSED(session_sync(s), "a kernel accessed memory outside of its buffers (cudaErrorIllegalAddress); graph small ran last: "
                             "set DAWN_CUDA_GRAPHS=off DAWN_CUDA_SYNC=on");
    REFUSED(session_run(s, 0), "cudaErrorIllegalAddress");  // the error is sticky
    session_done(s);
    emulate_fail(NULL, cudaSuccess);

    s = small_on("off", "on");
    start(s);
    emulate_fail_after("cudaStreamSynchronize", 1, cudaErrorIllegalAddress);
    REFUSED(session_run(s, 0), "cuda: running silu of body.act2 in graph small: a kernel accessed memory");
    session_done(s);
    emulate_fail(NULL, cudaSuccess);
}

TEST(memory_that_is_not_there_is_refused)
{
    struct session *s = session_on("cuda");
    emulate_machine(EMULATE_SMALL);
    struct graph *g = graph_new(s->store, "large");
    keep(g, "y", g_scale(g, input(g, "x", SHAPE(64 << 20)), 2.0f));
    assert_int_equal(session_add(s, g), 0);
    REFUSED(session_ready(s), "cuda has 0.07 GB free");
    session_done(s);
    s = session_on("cuda");
    void *block;
    assert_fails(s->device->type->alloc(s->device, 80 << 20, &block), ERR_MEMORY, "allocating 83886080 bytes of GPU memory");
    session_done(s);
    emulate_machine(EMULATE_H200);
}

// ---- a run

TEST(memory_is_what_the_plan_says)
{
    size_t before = emulate_memory_in_use();
    struct session *s = session_on("cuda");
    struct graph *g = graph_new(s->store, "plan");
    int y = input(g, "x", SHAPE(5 << 20));
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        int p = weight(g, name, SHAPE(1000 + 37 * i));
        graph_node_over(g, OP_ASSIGN, (int[]){p, g_scale(g, p, 0.5f)}, 2, NULL, &p, NULL);
    }
    keep(g, "y", g_scale(g, y, 2.0f));
    assert_int_equal(session_add(s, g), 0);
    OK(session_ready(s));
    size_t taken = emulate_memory_in_use() - before;
    assert_int_equal(s->device->type->taken(s->device), taken);
    assert_true(taken >= s->memory_total - 64 * 402);
    if (taken > s->memory_total + s->memory_total / 20) fail_msg("%zu bytes for a plan of %zu", taken, s->memory_total);
    session_done(s);
    assert_int_equal(emulate_memory_in_use(), before);
}

static struct emulate_counts counts_since(const struct emulate_counts *before)
{
    struct emulate_counts now = emulate_counts();
    now.launches -= before->launches, now.graph_launches -= before->graph_launches;
    now.launches_captured -= before->launches_captured, now.allocations -= before->allocations;
    now.synchronisations -= before->synchronisations, now.copies -= before->copies;
    return now;
}

TEST(a_run_is_one_call)
{
    struct session *s = small_on("on", "off");
    struct emulate_counts before = emulate_counts(), done;
    OK(session_ready(s));
    done = counts_since(&before);
    assert_int_equal(done.launches, 0);  // compiling runs nothing
    assert_true(done.launches_captured >= 3);
    OK(session_reset(s, 1));
    fill(s);
    before = emulate_counts();
    for (int i = 0; i < 5; i++) OK(session_run(s, 0));
    done = counts_since(&before);
    assert_int_equal(done.graph_launches, 5);
    assert_int_equal(done.launches + done.allocations + done.synchronisations + done.copies, 0);
    float *x = read_slot(s, "x"), *y = read_slot(s, "y");
    for (int i = 0; i < 300; i++) assert_float_equal(y[i], 2 * x[i] / (1 + expf(-2 * x[i])), 1e-5);
    free(x);
    free(y);
    session_done(s);
}

// Small uploads return when their bytes are in the ring of pinned memory; reading the answer is the only wait. The ring is
// waited for when it is full, and large uploads wait.
TEST(a_request_waits_once)
{
    enum { LARGE = 1 << 20 };
    struct session *s = small_on("on", "off");
    float x[300] = {0}, y[300], *large = zalloc(LARGE);
    void *memory;
    start(s);
    emulate_late(EMULATE_LATE);
    for (int i = 0; i < 3; i++) {
        struct emulate_counts before = emulate_counts();
        x[7] = (float)i;
        OK(session_put(s, "x", x, 0, sizeof x));
        memset(x, 0xff, sizeof x);  // the caller may overwrite it
        OK(session_run(s, 0));
        OK(session_get(s, "y", y, sizeof y));
        assert_int_equal(counts_since(&before).synchronisations, 1);
        assert_float_equal(y[7], 2 * (float)i / (1 + expf(-2 * (float)i)), 1e-5);
        memset(x, 0, sizeof x);
    }
    OK(s->device->type->alloc(s->device, LARGE, &memory));
    struct emulate_counts before = emulate_counts();
    for (int i = 0; i < 5; i++) OK(s->device->type->upload(s->device, memory, large, LARGE / 4));
    assert_int_equal(counts_since(&before).synchronisations, 1);
    OK(s->device->type->upload(s->device, memory, large, LARGE));
    assert_int_equal(counts_since(&before).synchronisations, 2);
    emulate_late(EMULATE_AT_ONCE);
    free(large);
    session_done(s);
}

TEST(nothing_is_left)
{
    struct session *s = small_on("on", "off");
    int64_t ns[8];
    start(s);
    OK(session_profile(s, 0, ns));
    assert_true(emulate_counts().events > 0 && emulate_counts().graphs > 0);
    session_done(s);
    struct emulate_counts c = emulate_counts();
    assert_int_equal(c.streams + c.events + c.graphs, 0);
    assert_int_equal(emulate_memory_in_use(), 0);
}

// Sums are cut into parts by their sizes only, so a GPU with fewer processors gives the same bytes.
TEST(bytes_do_not_depend_on_the_number_of_processors)
{
    enum { ROWS = 600, WIDTH = 1024 };
    float *y[2];
    for (int few = 0; few < 2; few++) {
        struct session *s = session_on("cuda");
        if (few) ((struct cuda_device *)s->device)->processors = 20;
        struct graph *g = graph_new(s->store, "norm");
        struct norm_layer how = {.training = true, .scale = true, .bias = true, .eps = 1e-5f, .momentum = 0.9f};
        keep(g, "y", g_norm(g, "norm", input(g, "x", SHAPE(ROWS, WIDTH)), NONE, &how));
        assert_int_equal(session_add(s, g), 0);
        start(s);
        OK(session_run(s, 0));
        y[few] = read_slot(s, "y");
        session_done(s);
    }
    assert_memory_equal(y[0], y[1], ROWS * WIDTH * sizeof(float));
    free(y[0]);
    free(y[1]);
}

// ---- how often weights are copied

enum { C = 8, SIDE = 4 };

static uint64_t launched_by_run(struct session *s, int program)
{
    struct emulate_counts before = emulate_counts();
    OK(session_run(s, program));
    struct emulate_counts done = counts_since(&before);
    assert_int_equal(done.graph_launches, 1);
    assert_int_equal(done.allocations + done.synchronisations, 0);
    return done.launches;
}

TEST(weights_are_copied_when_they_changed)
{
    enum { TENSORS = 65 };  // one more than a launch takes; the last one is read through a reshape
    struct session *s = session_on("cuda");
    struct graph *g = graph_new(s->store, "read"), *t = graph_new(s->store, "turn");
    int x = g_cast(g, input(g, "x", SHAPE(1, SIDE, SIDE, C)), BF16);
    for (int i = 0; i < TENSORS; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        int w = i < TENSORS - 1 ? weight(g, name, SHAPE(C, 1, 1, C))
                                : g_reshape(g, weight(g, name, SHAPE(C * C)), SHAPE(C, 1, 1, C));
        x = g_conv(g, x, w, 1, 0);
    }
    keep(g, "y", x);
    int w = weight(t, "w5", SHAPE(C, 1, 1, C));
    graph_node_over(t, OP_ASSIGN, (int[]){w, g_scale(t, w, -1.0f)}, 2, NULL, &w, NULL);
    int read = session_add(s, g), turn = session_add(s, t);
    assert_true(read == 0 && turn == 1);
    start(s);
    assert_int_equal(launched_by_run(s, read), 2);  // 64 and 1
    assert_int_equal(launched_by_run(s, read), 0);
    assert_int_equal(launched_by_run(s, turn), 0);
    assert_int_equal(launched_by_run(s, read), 1);  // the one that another program wrote
    float one[C * C] = {0};
    OK(session_put(s, "w64", one, 0, sizeof one));
    OK(session_put(s, "x", (float[SIDE * SIDE * C]){0}, 0, SIDE * SIDE * C * sizeof(float)));
    assert_int_equal(launched_by_run(s, read), 1);
    assert_int_equal(launched_by_run(s, read), 0);
    OK(session_reset(s, 2));
    assert_int_equal(launched_by_run(s, read), 0);  // uploaded weights do not change
    session_done(s);
}

// A program that updates its weights casts them inside its graph, in one launch for all.
TEST(weights_that_train_are_copied_in_the_graph)
{
    uint64_t captured[2];
    for (int updates = 0; updates < 2; updates++) {
        struct session *s = session_on("cuda");
        struct graph *g = graph_new(s->store, "train");
        int x = g_cast(g, input(g, "x", SHAPE(1, SIDE, SIDE, C)), F16), w[2];
        for (int i = 0; i < 2; i++) x = g_conv(g, x, w[i] = weight(g, i ? "w1" : "w0", SHAPE(C, 3, 3, C)), 1, 1);
        keep(g, "y", x);
        for (int i = 0; i < 2; i++) {
            int to = updates ? w[i] : graph_state(g, i ? "o1" : "o0", SHAPE(C, 3, 3, C), F32, MEMORY_STATE,
                                                  (struct init){INIT_ZERO, 0});
            graph_node_over(g, OP_ASSIGN, (int[]){to, g_scale(g, w[i], -1.0f)}, 2, NULL, &to, NULL);
        }
        assert_int_equal(session_add(s, g), 0);
        struct emulate_counts before = emulate_counts();
        start(s);
        captured[updates] = counts_since(&before).launches_captured;
        assert_int_equal(launched_by_run(s, 0), updates ? 0 : 1);
        assert_int_equal(launched_by_run(s, 0), 0);
        session_done(s);
    }
    assert_int_equal(captured[1], captured[0] + 1);
}
