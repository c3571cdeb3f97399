// SPDX-License-Identifier: Apache-2.0
// The CUDA device as a session uses it, on the emulator and on a GPU: memory, copies, programs replayed and run step by step,
// 16-bit copies of weights that are shared and never stale. Tests that need the emulator (errors, other machines, counters) are
// in test_emulated_device.c.
#include "runtime/cuda/cuda.h"

#include "test/unit/test.h"
#include "test/unit/fixture_decode.h"

void emulate_replay(int mixed) __attribute__((weak));  // only in the emulator

// ---- memory and facts

enum { BLOCKS = 3000 };

static size_t take_all(struct device *d, char *block[BLOCKS])
{
    size_t asked = 0;
    for (int i = 0; i < BLOCKS; i++) {
        size_t bytes = i % 500 == 0 ? 3 << 20 : (size_t)(i * 37 % 3001);  // 0 bytes are a block too
        OK(d->type->alloc(d, bytes, (void **)&block[i]));
        asked += bytes;
        assert_non_null(block[i]);
        assert_int_equal((uintptr_t)block[i] % 256, 0);
        if (i > 0) assert_true(block[i] != block[i - 1]);
    }
    return asked;
}

static void hold_memory(void)
{
    static char *block[BLOCKS];
    struct device *d;
    OK(device_open("cuda", 1, &d));
    size_t asked = take_all(d, block), taken = d->type->taken(d);
    assert_true(taken >= asked);
    assert_true(taken <= asked + BLOCKS * 256 + (4 << 20));
    for (int i = 0; i < BLOCKS; i += 2) d->type->free(d, block[i]);
    for (int i = 1; i < BLOCKS; i += 2) d->type->free(d, block[i]);
    (void)take_all(d, block);  // all was given back: the same again needs no more
    assert_int_equal(d->type->taken(d), taken);
    for (int i = BLOCKS - 1; i >= 0; i--) d->type->free(d, block[i]);
    d->type->free(d, NULL);
    assert_int_equal(d->type->alloc(d, SIZE_MAX - 5, (void **)&block[0]), ERR_MEMORY);
    OK(d->type->alloc(d, 100, (void **)&block[0]));
    device_close(d);  // with a block still in use
}

TEST(memory_is_taken_and_given_back)
{
    hold_memory();
}

// Tools that find accesses past the end of an allocation (memcheck, AddressSanitizer) need separate allocations.
TEST(without_a_pool_every_block_is_its_own)
{
    struct device *d;
    void *block;
    setenv("DAWN_CUDA_POOL", "off", 1);
    hold_memory();
    OK(device_open("cuda", 1, &d));
    OK(d->type->alloc(d, 100, &block));
    assert_int_equal(d->type->taken(d), 100);
    device_close(d);
    setenv("DAWN_CUDA_POOL", "no", 1);
    REFUSED(device_open("cuda", 1, &d), "DAWN_CUDA_POOL must be on or off; got \"no\"");
    unsetenv("DAWN_CUDA_POOL");
}

TEST(copies_are_done_when_they_return)
{
    enum { BYTES = 1 << 20 };
    struct device *d;
    char *host = zalloc(BYTES), *back = zalloc(BYTES);
    void *a;
    OK(device_open("cuda", 1, &d));
    OK(d->type->alloc(d, BYTES, &a));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < BYTES; i++) host[i] = (char)(i * 31 + round);
        OK(d->type->upload(d, a, host, BYTES));
        memset(host, 0, BYTES);  // the caller may overwrite it
        OK(d->type->upload(d, (char *)a + 100, host, 3));
        OK(d->type->upload(d, a, host, 0));
        OK(d->type->download(d, back, a, BYTES));
        for (int i = 0; i < BYTES; i++) assert_int_equal(back[i], i >= 100 && i < 103 ? 0 : (char)(i * 31 + round));
    }
    device_close(d);
    free(host);
    free(back);
}

TEST(facts_name_the_gpu)
{
    struct device *d;
    struct device_facts f;
    OK(device_open("cuda:0", 8, &d));
    OK(d->type->facts(d, &f));
    assert_non_null(strstr(f.name, "compute capability "));
    assert_non_null(strstr(f.name, " processors"));
    assert_non_null(strstr(f.library, "CUDA "));
    assert_non_null(strstr(f.library, "cuDNN "));
    assert_non_null(strstr(f.library, ", driver "));
    OK(device_check(d));  // loads cuDNN, which then reports its version
    OK(d->type->facts(d, &f));
    assert_null(strstr(f.library, "built for"));
    assert_int_equal(f.threads, 1);
    assert_true(f.memory > 16 << 20);
    assert_true(f.fast[F16] && f.fast[BF16] && !f.fast[F32]);
    int64_t first, then;
    if (d->type->energy_uj(d, &first)) {
        assert_true(d->type->energy_uj(d, &then));
        assert_true(then >= first);
    }
    device_close(d);
}

// ---- programs

// Reads and overwrites its state, so that every run changes the bytes.
static int build_counting(struct session *s)
{
    struct graph *g = graph_new(s->store, "counting");
    graph_scope(g, "body");
    int x = input(g, "x", SHAPE(4, 30)), p = weight(g, "p", SHAPE(4, 30));
    int y = g_add(g, g_act(g, g_mul(g, x, p), ACT_GELU), g_scale(g, p, 0.5f));
    int flat = g_reshape(g, y, SHAPE(120));
    keep(g, "flat", g_scale(g, flat, 2.0f));
    graph_node_over(g, OP_ASSIGN, (int[]){p, y}, 2, NULL, &p, NULL);
    int n = graph_state(g, "n", SHAPE(1), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    g_tick(g, n, 3);
    int program = session_add(s, g);
    if (program < 0) fail_msg("%s", error_text());
    return program;
}

static void run_in_mode(const char *graphs, const char *sync, bool profiled, float p[120], float flat[120], int32_t *n)
{
    setenv("DAWN_CUDA_GRAPHS", graphs, 1);
    setenv("DAWN_CUDA_SYNC", sync, 1);
    struct session *s = session_on("cuda");
    unsetenv("DAWN_CUDA_GRAPHS");
    unsetenv("DAWN_CUDA_SYNC");
    int program = build_counting(s);
    start(s);
    int64_t ns[16];
    assert_true(s->plan[program]->count <= 16);
    for (int i = 0; i < 3; i++) OK(profiled ? session_profile(s, program, ns) : session_run(s, program));
    OK(session_get(s, "p", p, 120 * sizeof *p));
    OK(session_get(s, "flat", flat, 120 * sizeof *flat));
    OK(session_get(s, "n", n, sizeof *n));
    for (int i = 0; profiled && i < s->plan[program]->count; i++) {
        enum op op = s->graph[program]->node[i].op;
        if (op == OP_RESHAPE) assert_int_equal(ns[i], 0);
        else assert_true(ns[i] >= 0 && ns[i] < 1000000000);
    }
    session_done(s);
}

TEST(graphs_and_steps_leave_the_same_bytes)
{
    float p[4][120], flat[4][120];
    int32_t n[4];
    run_in_mode("on", "off", false, p[0], flat[0], &n[0]);
    run_in_mode("off", "off", false, p[1], flat[1], &n[1]);
    run_in_mode("off", "on", false, p[2], flat[2], &n[2]);
    run_in_mode("on", "off", true, p[3], flat[3], &n[3]);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(n[i], 9);
        assert_memory_equal(p[i], p[0], sizeof p[0]);
        assert_memory_equal(flat[i], flat[0], sizeof flat[0]);
    }
    assert_true(fabsf(p[0][0]) > 0);
}

TEST(a_switch_is_on_or_off)
{
    struct device *d = NULL;
    setenv("DAWN_CUDA_GRAPHS", "0", 1);
    REFUSED(device_open("cuda", 1, &d), "DAWN_CUDA_GRAPHS must be on or off; got \"0\"");
    unsetenv("DAWN_CUDA_GRAPHS");
    assert_null(d);
}

TEST(empty_programs_run)
{
    struct session *s = session_on("cuda");
    struct graph *g = graph_new(s->store, "nothing");
    int64_t ns[1];
    assert_true(session_add(s, g) == 0);
    start(s);
    OK(session_run(s, 0));
    OK(session_profile(s, 0, ns));
    OK(session_sync(s));
    session_done(s);
}

// ---- weights

enum { C = 8, SIDE = 4, FILTER = C * 3 * 3 * C };

static int conv16(struct graph *g, int x, int w, const char *scope)
{
    graph_scope(g, "%s", scope);
    return g_conv(g, x, w, 1, 1);
}

// All ways to read filters: twice, through a reshape, after an overwrite, computed by the graph, and overwritten at the end; in
// f32 they need no copy.
static int build_readers(struct session *s, enum dtype type)
{
    struct graph *g = graph_new(s->store, "readers");
    struct shape filter = SHAPE(C, 3, 3, C);
    int x = g_cast(g, input(g, "x", SHAPE(1, SIDE, SIDE, C)), type);
    int w = weight(g, "w", filter), frozen = weight(g, "frozen", filter), long_one = weight(g, "long", SHAPE(FILTER));
    keep(g, "y0", conv16(g, x, w, "first"));
    keep(g, "y1", conv16(g, x, w, "second"));
    keep(g, "y2", conv16(g, x, frozen, "frozen"));
    keep(g, "y3", conv16(g, x, g_reshape(g, long_one, filter), "reshaped"));
    keep(g, "y4", conv16(g, x, g_scale(g, w, 0.3f), "made"));
    graph_node_over(g, OP_ASSIGN, (int[]){w, g_scale(g, w, -1.1f)}, 2, NULL, &w, NULL);
    keep(g, "y5", conv16(g, x, w, "overwritten"));
    keep(g, "y6", conv16(g, x, frozen, "frozen again"));
    int program = session_add(s, g);
    if (program < 0) fail_msg("%s", error_text());
    return program;
}

static float largest_difference(struct session *a, struct session *b, const char *name, enum dtype type)
{
    struct slot *slot = slot_find(a->store, name);
    size_t bytes = slot_bytes(slot);
    void *x = zalloc(bytes), *y = zalloc(bytes);
    OK(session_get(a, name, x, bytes));
    OK(session_get(b, name, y, bytes));
    float most = 0;
    for (int64_t i = 0; i < shape_count(&slot->shape); i++) {
        float difference = fabsf((float)(element_get(type, x, i) - element_get(type, y, i)));
        if (!(difference <= most)) most = difference;
    }
    free(x);
    free(y);
    return most;
}

static void hold_readers(enum dtype type)
{
    static const char *const outputs[] = {"y0", "y1", "y2", "y3", "y4", "y5", "y6"};
    struct session *s[2] = {session_on("cuda"), session_on("ref")};
    int program[2];
    for (int i = 0; i < 2; i++) {
        program[i] = build_readers(s[i], type);
        start(s[i]);
    }
    size_t copies = type == F32 ? 0 : 5 * FILTER * dtype_size(type);  // w, frozen, long, the computed one, w overwritten
    assert_int_equal(s[0]->plan[program[0]]->kept_bytes, copies);
    float changed[FILTER];
    for (int i = 0; i < FILTER; i++) changed[i] = draw(99, i);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 2; i++) {
            if (round == 2) OK(session_put(s[i], "frozen", changed, 0, sizeof changed));
            if (round == 3) OK(session_put(s[i], "w", changed, 0, sizeof changed));
            OK(session_run(s[i], program[i]));
        }
        for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
            float most = largest_difference(s[0], s[1], outputs[i], type);
            if (!(most <= (type == BF16 ? 0.04f : 0.005f)))
                fail_msg("round %d, %s in %s: off by %g", round, outputs[i], dtype_name(type), (double)most);
        }
    }
    for (int i = 0; i < 2; i++) session_done(s[i]);
}

TEST(copies_are_shared_and_never_stale)
{
    hold_readers(BF16);
    hold_readers(F16);
    hold_readers(F32);
}

static int build_reader(struct session *s, const char *name, const char *w, int k)
{
    struct graph *g = graph_new(s->store, name);
    int x = g_cast(g, input(g, "x", SHAPE(1, SIDE, SIDE, C)), F16);
    keep(g, name, conv16(g, x, weight(g, w, SHAPE(k, 3, 3, C)), name));
    int program = session_add(s, g);
    assert_true(program >= 0);
    return program;
}

// Programs in turn: each finds its own weights, though the block that holds the copies is as large as those of one.
TEST(programs_share_the_memory_of_copies)
{
    static const char *const name[] = {"a", "b", "c"}, *const read[] = {"v", "w", "v"};
    static const int order[] = {0, 1, 0, 2, 2, 1, 1, 0}, filters[] = {C, 2 * C, C};
    struct session *s[2] = {session_on("cuda"), session_on("ref")};
    for (int i = 0; i < 2; i++) {
        for (int p = 0; p < 3; p++) assert_int_equal(build_reader(s[i], name[p], read[p], filters[p]), p);
        start(s[i]);
    }
    size_t bytes = s[0]->slab_bytes + 2 * FILTER * dtype_size(F16);
    for (int i = 0; i < s[0]->store->count; i++) bytes += plan_round_up(slot_bytes(s[0]->store->slot[i]));
    assert_int_equal(s[0]->memory_total, bytes);
    for (int p = 0; p < 3; p++) assert_ptr_equal(s[0]->plan[p]->kept, s[0]->kept);
    for (size_t at = 0; at < sizeof order / sizeof *order; at++) {
        const int p = order[at];
        for (int i = 0; i < 2; i++) {
            float poison[2 * C * SIDE * SIDE] = {0};
            OK(session_put(s[i], name[p], poison, 0, slot_bytes(slot_find(s[i]->store, name[p]))));
            OK(session_run(s[i], p));
        }
        float most = largest_difference(s[0], s[1], name[p], F16);
        if (!(most <= 0.005f)) fail_msg("run %zu, program %s: off by %g", at, name[p], (double)most);
    }
    for (int i = 0; i < 2; i++) session_done(s[i]);
}

// The content of the copies: every element is rounded once, including tails, for more tensors than one launch takes.
TEST(every_element_is_rounded_once)
{
    enum { TENSORS = 70 };
    struct session *s = session_on("cuda");
    struct graph *g = graph_new(s->store, "many");
    int x = g_cast(g, input(g, "x", SHAPE(1, 1, 1, 3)), BF16), y = NONE;
    for (int i = 0; i < TENSORS; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        int k = 1 + i * 131 % 97;  // 27 to 2,619 elements
        y = conv16(g, x, weight(g, name, SHAPE(k, 3, 3, 3)), name);
        snprintf(name, sizeof name, "y%d", i);
        keep(g, name, y);
    }
    int program = session_add(s, g);
    if (program < 0) fail_msg("%s", error_text());
    start(s);
    OK(session_run(s, program));
    OK(session_sync(s));
    const struct plan *plan = s->plan[program];
    for (int n = 0, i = 0; n < g->nodes; n++) {
        if (g->node[n].op != OP_CONV) continue;
        char name[16];
        snprintf(name, sizeof name, "w%d", i++);
        float *w = read_slot(s, name);
        int64_t count = shape_count(&slot_find(s->store, name)->shape);
        uint16_t *copy = zalloc((size_t)count * 2), want;
        OK(s->device->type->download(s->device, copy, (char *)plan->kept + plan->kept_offset[n], (size_t)count * 2));
        for (int64_t j = 0; j < count; j++) {
            element_set(BF16, &want, 0, w[j]);
            if (copy[j] != want) fail_msg("%s[%d]: %04x, not %04x", name, (int)j, copy[j], want);
        }
        free(copy);
        free(w);
    }
    session_done(s);
}

TEST(decoding_reads_its_cache)
{
    decode_on("cuda");
}

SETUP(replay_by_edges)
{
    if (emulate_replay) emulate_replay(true);  // no test here needs more order than the graphs' edges
    return 0;
}

TEST_GROUP(replay_by_edges, NULL)
