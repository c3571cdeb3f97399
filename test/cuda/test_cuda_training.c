// SPDX-License-Identifier: Apache-2.0
// Whole trainings on the CUDA device, on the emulator or on a GPU: the weights of `ref` after some steps, the same bytes from
// the same seed, captured graphs equal to eager steps, memory as planned.
#include "tasks/common/train/state.h"
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"

// Only in the emulator; NULL on a GPU.
void emulate_order(int order) __attribute__((weak));
void emulate_replay(int mixed) __attribute__((weak));
size_t emulate_memory_peak(void) __attribute__((weak));
void emulate_late(int late) __attribute__((weak));

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
enum { TRAIN = 24, TEST = 20, STEPS = 4 };  // small: the emulator is slow, and slower under sanitizers

static void open_small(struct bench *b, const char *device, const char *precision)
{
    const char *const settings[] = {precision,  "widths=8,8,16",  "batch=6",  "epochs=2", "resolution=16",
                                    "views=2",  "lookahead_every=2", NULL};
    bench_open(b, device, 1, TRAIN, TEST, "cifar10", settings);
    bench_ready(b);
}

// The largest difference of the weights, relative to the largest weight of each slot.
static double weights_distance(const struct slot_store *s, const uint8_t *a, const uint8_t *b, const char **where)
{
    double worst = 0.0;
    for (int i = 0; i < s->count; i++) {
        const struct slot *slot = s->slot[i];
        double most = 0.0, apart = 0.0;
        for (int64_t j = 0, n = shape_count(&slot->shape); j < n && slot->memory == MEMORY_WEIGHTS; j++) {
            double x = element_get(slot->dtype, a, j), y = element_get(slot->dtype, b, j);
            most = fmax(most, fabs(x));
            apart = isnan(x) || isnan(y) ? INFINITY : fmax(apart, fabs(x - y));
        }
        if (apart > worst * most) worst = apart / most, *where = slot->name;
        a += slot_bytes(slot), b += slot_bytes(slot);
    }
    return worst;
}

// In f32 the two devices differ only by roundings, which a few steps of Muon amplify to some thousandths.
TEST(learns_what_ref_learns)
{
    struct bench ref, cuda;
    size_t n, m;
    open_small(&ref, "ref", "precision=f32");
    open_small(&cuda, "cuda", "precision=f32");
    uint8_t *want = bench_train(&ref, 7, STEPS, &n), *got = bench_train(&cuda, 7, STEPS, &m);
    assert_int_equal(n, m);
    const char *where = "";
    double apart = weights_distance(ref.trainer->session->store, got, want, &where);
    print_message("after %d steps the weights are %.1e apart (%s)\n", STEPS, apart, where);
    assert_true(apart < 5e-3);
    struct trainer_sums a, b;
    assert_int_equal(trainer_sums(ref.trainer, false, &a), 0);
    assert_int_equal(trainer_sums(cuda.trainer, false, &b), 0);
    assert_true(a.loss > 0 && fabs(a.loss - b.loss) < 1e-3 * a.loss);
    int64_t right[METRICS_MAX], found[METRICS_MAX];
    assert_int_equal(trainer_evaluate(ref.trainer, right), 0);
    assert_int_equal(trainer_evaluate(cuda.trainer, found), 0);
    assert_in_range(found[0], right[0] - 1, right[0] + 1);
    free(want), free(got);
    bench_close(&ref);
    bench_close(&cuda);
}

static uint8_t *bytes_of(const char *precision, uint64_t seed, size_t *n)
{
    struct bench b;
    open_small(&b, "cuda", precision);
    uint8_t *bytes = bench_train(&b, seed, STEPS, n);
    bench_close(&b);
    return bytes;
}

TEST(same_seed_same_bytes)
{
    static const char *const precisions[] = {"precision=f32", "precision=bf16", "precision=f16"};
    for (int i = 0; i < 3; i++) {
        struct bench a, b;
        open_small(&a, "cuda", precisions[i]);
        open_small(&b, "cuda", precisions[i]);
        bench_same_bytes(&a, &b, STEPS);
    }
}

TEST(captured_equals_eager)
{
    size_t n, m;
    uint8_t *captured = bytes_of("precision=f16", 7, &n);
    setenv("DAWN_CUDA_GRAPHS", "off", 1);
    uint8_t *eager = bytes_of("precision=f16", 7, &m);
    unsetenv("DAWN_CUDA_GRAPHS");
    assert_int_equal(n, m);
    assert_memory_equal(captured, eager, n);
    free(captured), free(eager);
}

// f16 with a scale that overflows: the step is skipped as on ref, and both have the same scale.
TEST(overflow_skips_a_step)
{
    static const char *const devices[] = {"ref", "cuda"};
    struct trainer_scale scale[2];
    for (int i = 0; i < 2; i++) {
        struct bench b;
        bench_open(&b, devices[i], 1, TRAIN, TEST, "cifar10",
                   (const char *const[]){"precision=f16", "widths=8,8,16", "batch=6", "epochs=2", "resolution=16",
                                         "loss_scale=16777216", NULL});
        bench_ready(&b);
        float before[160], after[160];  // head.weight[10,16]
        assert_int_equal(trainer_begin(b.trainer, 7), 0);
        const struct slot *slot = slot_find(b.trainer->session->store, "head.weight");
        assert_int_equal(slot_bytes(slot), sizeof before);
        assert_int_equal(session_read(b.trainer->session, slot, before, sizeof before), 0);
        for (int step = 0; step < 2; step++) assert_int_equal(trainer_step(b.trainer), 0);
        assert_int_equal(session_read(b.trainer->session, slot, after, sizeof after), 0);
        assert_memory_equal(before, after, sizeof before);
        assert_int_equal(trainer_scale(b.trainer, &scale[i]), 0);
        bench_close(&b);
    }
    assert_int_equal(scale[0].skipped, 2);
    assert_int_equal(scale[1].skipped, 2);
    assert_true(scale[0].scale == 0x1p22 && scale[1].scale == 0x1p22);
}

// Neither the number of concurrent nodes nor their order changes the result. On the emulator every launch draws a new order, so
// a missing dependency would show.
TEST(order_of_nodes_does_not_matter)
{
    enum { ORDERS = SANITIZED ? 4 : 12 };
    size_t n, m;
    uint8_t *want = bytes_of("precision=f16", 7, &n);
    setenv("DAWN_CUDA_LANES", "4", 1);
    uint8_t *four = bytes_of("precision=f16", 7, &m);
    assert_memory_equal(four, want, n);
    free(four);
    struct bench b;
    setenv("DAWN_CUDA_LANES", "all", 1);
    open_small(&b, "cuda", "precision=f16");
    unsetenv("DAWN_CUDA_LANES");
    for (int i = 0; i < ORDERS; i += STEPS) {  // on a GPU, the GPU chooses the order
        if (emulate_replay) emulate_replay(true);
        uint8_t *got = bench_train(&b, 7, STEPS, &m);
        if (emulate_replay) emulate_replay(false);
        assert_memory_equal(got, want, n);
        free(got);
    }
    bench_close(&b);
    free(want);
}

// No result depends on the order of threads or blocks: a missing barrier or an unordered sum would show here.
TEST(order_of_threads_does_not_matter)
{
    if (!emulate_order || SANITIZED) skip();  // the plain build shows it
    size_t n, m;
    uint8_t *up = bytes_of("precision=f16", 7, &n);
    for (int order = 1; order <= 2; order++) {
        emulate_order(order);
        uint8_t *other = bytes_of("precision=f16", 7, &m);
        emulate_order(0);
        assert_int_equal(n, m);
        assert_memory_equal(up, other, n);
        free(other);
    }
    free(up);
}

TEST(memory_is_as_planned)
{
    struct bench b;
    enum { AT_ONCE, NEVER = 2 };
    if (emulate_late) emulate_late(NEVER);  // convolutions are tried when they are compiled: of this size, for seconds
    bench_open(&b, "cuda", 1, 100, 20, "cifar10", (const char *const[]){"precision=f16", "batch=100", "epochs=1", NULL});
    bench_ready(&b);
    double planned = (double)b.trainer->session->memory_total, taken = (double)b.device->type->taken(b.device);
    print_message("planned %.1f MB, taken %.1f MB\n", planned / 1e6, taken / 1e6);
    assert_true(fabs(taken - planned) <= 0.05 * planned);
    if (emulate_memory_peak) assert_true((double)emulate_memory_peak() <= 1.05 * planned);
    bench_close(&b);
    if (emulate_late) emulate_late(AT_ONCE);
}

// Evaluated first, so that folded filters, which no state holds, are made.
static uint8_t *finish(struct bench *b, int64_t steps, size_t *count)
{
    int64_t score[METRICS_MAX];
    while (b->trainer->at < steps) assert_int_equal(trainer_step(b->trainer), 0);
    assert_int_equal(trainer_evaluate(b->trainer, score), 0);
    return bench_bytes(b, count);
}

// Saved, freed, and loaded into a new trainer: in the middle of an epoch (4 steps) and after one.
TEST(goes_on_to_the_same_bytes)
{
    const struct state_run run = {{"aa", "bb"}, ""};
    char path[] = "/tmp/dawn-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct bench straight;
    size_t n, m;
    open_small(&straight, "cuda", "precision=bf16");
    assert_int_equal(trainer_begin(straight.trainer, 7), 0);
    uint8_t *want = finish(&straight, 6, &n);
    bench_close(&straight);
    for (int k = 3; k <= 4; k++) {
        struct bench first, second;
        struct state *saved;
        open_small(&first, "cuda", "precision=bf16");
        free(bench_train(&first, 7, k, &m));
        if (state_save(path, first.trainer, &run) < 0) fail_msg("%s", error_text());
        bench_close(&first);
        open_small(&second, "cuda", "precision=bf16");
        if (state_open(path, &saved) < 0 || state_load(saved, second.trainer, &run, STATE_SAME) < 0) fail_msg("%s", error_text());
        state_close(saved);
        uint8_t *got = finish(&second, 6, &m);
        assert_int_equal(n, m);
        const struct slot_store *s = second.trainer->session->store;
        for (size_t i = 0, at = 0; at < n; at += slot_bytes(s->slot[i++]))
            if (memcmp(got + at, want + at, slot_bytes(s->slot[i])))
                fail_msg("\"%s\" differs after a restart at step %d", s->slot[i]->name, k);
        free(got);
        bench_close(&second);
    }
    free(want);
    unlink(path);
}
