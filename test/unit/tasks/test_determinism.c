// SPDX-License-Identifier: Apache-2.0
// The guarantee of docs/architecture.md: same seed, same device, same number of threads give the same bytes, and no draw
// depends on the number of threads.
#include "runtime/common/base/isa.h"
#include "test/unit/test.h"
#include "test/unit/fixture_trainer.h"

enum { TRAIN = 600, TEST = 150, STEPS = 20 };

static void open_bench(struct bench *b, int threads, const char *precision, const char *widths)
{
    bench_open(b, "cpu", threads, TRAIN, TEST, "cifar10", (const char *const[]){widths, "batch=50", "epochs=2", precision, NULL});
    bench_ready(b);
}

static void same_seed_same_bytes(const char *precision, int threads, const char *widths)
{
    struct bench a, b;
    open_bench(&a, threads, precision, widths);
    open_bench(&b, threads, precision, widths);
    bench_same_bytes(&a, &b, STEPS);
}

TEST(f32_is_repeatable)
{
    same_seed_same_bytes("precision=f32", 2, "widths=16,16,32");
    same_seed_same_bytes("precision=f32", 1, "widths=16,16,32");
}

TEST(bf16_is_repeatable)
{
    struct device *device;
    struct device_facts facts;
    assert_int_equal(device_open("cpu", 1, &device), 0);
    assert_int_equal(device->type->facts(device, &facts), 0);
    device_close(device);
    if (!facts.fast[BF16]) skip();
    same_seed_same_bytes("precision=bf16", 2, "widths=16,16,32");
    same_seed_same_bytes("precision=bf16", 2, "widths=64,64,64");  // wide enough for the own kernel of filter gradients
}

static int count_pooled(const struct session *s)
{
    int count = 0;
    for (int p = 0; p < s->programs; p++)
        for (int i = 0; i < s->graph[p]->nodes; i++)
            count += s->graph[p]->node[i].op == OP_CONV && s->graph[p]->node[i].attr.conv.pool;
    return count;
}

static double count_flops(const struct session *s)
{
    double sum = 0;
    for (int p = 0; p < s->programs; p++)
        for (int i = 0; i < s->graph[p]->nodes; i++) sum += node_cost(s->graph[p], &s->graph[p]->node[i]).flops;
    return sum;
}

// Pools inside convolutions (fuse_device) change no byte of a training, no count of an evaluation, and no count of FLOPs.
TEST(pooled_convolutions_keep_the_bytes)
{
    struct device *device;
    struct device_facts facts;
    assert_int_equal(device_open("cpu", 1, &device), 0);
    assert_int_equal(device->type->facts(device, &facts), 0);
    device_close(device);
    if (!facts.fast[BF16] || isa_choose() < ISA_SET_AVX512) skip();  // only that set has a kernel that pools
    uint8_t *bytes[2];
    size_t n[2];
    double flops[2];
    int64_t score[2][METRICS_MAX] = {0};
    for (int fused = 0; fused < 2; fused++) {
        struct bench b;
        bench_open(&b, "cpu", 2, TRAIN, TEST, "cifar10",
                   (const char *const[]){"widths=64,64,64", "batch=50", "epochs=2", "precision=bf16", NULL});
        if (!fused) b.choice.fuse &= ~(unsigned)FUSE_CONV_POOL;
        bench_ready(&b);
        // Of every training step at least group 1 or group 2; fewer where the whitening bias trains.
        assert_true(fused ? count_pooled(b.trainer->session) > 3 : count_pooled(b.trainer->session) == 0);
        flops[fused] = count_flops(b.trainer->session);
        free(bench_train(&b, 7, 6, &n[fused]));
        assert_true(trainer_evaluate(b.trainer, score[fused]) >= 0);
        bytes[fused] = bench_bytes(&b, &n[fused]);
        bench_close(&b);
    }
    assert_true(flops[0] == flops[1]);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    assert_memory_equal(score[0], score[1], sizeof score[0]);
    free(bytes[0]);
    free(bytes[1]);
}

// A graph that only draws samples, with the order and the key that a trainer of so many threads made.
static void draw(const char *device_name, int threads, float *x, int32_t *index, size_t bytes)
{
    struct bench b;
    open_bench(&b, threads, "precision=f32", "widths=16,16,16");
    struct session *s;
    struct device *device;
    assert_int_equal(device_open(device_name, threads, &device), 0);
    assert_int_equal(session_new(device, &s), 0);
    struct graph *g = graph_new(s->store, "draw");
    struct init upload = {INIT_UPLOAD, 0};
    int images = graph_state(g, "images", SHAPE(TRAIN, 32, 32, 3), U8, MEMORY_DATA, upload);
    int order = graph_state(g, "order", SHAPE(TRAIN), I32, MEMORY_DATA, upload);
    int cursor = graph_state(g, "cursor", SHAPE(1), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    int key = graph_state(g, "key", SHAPE(4), I32, MEMORY_DATA, upload);
    int drawn = graph_state(g, "drawn", SHAPE(TRAIN / 2), I32, MEMORY_DATA, upload);
    int kept = graph_state(g, "kept", SHAPE(TRAIN / 2, 32, 32, 3), F32, MEMORY_DATA, upload);
    struct augment_attr a = {.flip = FLIP_ALTERNATE, .pad = 2, .brightness = 0.1f, .contrast = 0.1f,
                             .mean = {.5f, .5f, .5f}, .std = {.25f, .25f, .25f}, .to = F32};
    int at = g_window(g, order, cursor, TRAIN / 2);
    graph_node_over(g, OP_ASSIGN, (int[]){drawn, at}, 2, NULL, &drawn, NULL);
    graph_node_over(g, OP_ASSIGN, (int[]){kept, g_augment(g, images, at, key, &a)}, 2, NULL, &kept, NULL);
    int program = session_add(s, g);
    assert_true(program >= 0);
    assert_int_equal(session_ready(s), 0);
    assert_int_equal(session_reset(s, 1), 0);

    uint8_t *pixels = zalloc((size_t)TRAIN * 3072);
    assert_int_equal(dataset_read(b.data, SPLIT_TRAIN, "images", 0, TRAIN, pixels), 0);
    assert_int_equal(session_put(s, "images", pixels, 0, (size_t)TRAIN * 3072), 0);
    free(pixels);
    // The trainer's own order and key of epoch 1.
    assert_int_equal(trainer_begin(b.trainer, 99), 0);
    for (int i = 0; i <= b.trainer->steps_per_epoch; i++) assert_int_equal(trainer_step(b.trainer), 0);
    int32_t words[TRAIN];
    assert_int_equal(session_get(b.trainer->session, "train.order", words, sizeof words), 0);
    assert_int_equal(session_put(s, "order", words, 0, sizeof words), 0);
    assert_int_equal(session_get(b.trainer->session, "train.key", words, 16), 0);
    assert_int_equal(session_put(s, "key", words, 0, 16), 0);
    assert_int_equal(session_run(s, program), 0);
    assert_int_equal(session_get(s, "kept", x, bytes), 0);
    assert_int_equal(session_get(s, "drawn", index, TRAIN / 2 * sizeof *index), 0);
    session_free(s);
    device_close(device);
    bench_close(&b);
}

TEST(threads_draw_alike)
{
    size_t bytes = (size_t)TRAIN / 2 * 3072 * sizeof(float);
    float *one = zalloc(bytes), *other = zalloc(bytes);
    int32_t a[TRAIN / 2], b[TRAIN / 2];
    draw("cpu", 1, one, a, bytes);
    for (int threads = 2; threads <= 3; threads++) {
        draw("cpu", threads, other, b, bytes);
        assert_memory_equal(one, other, bytes);
        assert_memory_equal(a, b, sizeof a);
    }
    draw("ref", 1, other, b, bytes);
    assert_memory_equal(a, b, sizeof a);
    for (int64_t i = 0; i < (int64_t)(bytes / sizeof *one); i++) assert_float_equal(one[i], other[i], 1e-5);
    bool seen[TRAIN] = {0};  // a window of a permutation holds no sample twice
    for (int i = 0; i < TRAIN / 2; i++) {
        assert_in_range(a[i], 0, TRAIN - 1);
        assert_false(seen[a[i]]);
        seen[a[i]] = true;
    }
    free(one), free(other);
}
