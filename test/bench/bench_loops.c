// SPDX-License-Identifier: Apache-2.0
// The memory-bound passes of airbench's training step, alone, on the CPU device's loops.
//
//   loops [BATCH [bf16|f32|f16 [REPEATS [THREADS]]]]
//
// Prints for each pass: the median time; the least CPU time per thread (less disturbed by other programs; with more than one
// thread it includes waiting); the bytes that must move (every input read and every output written once; second passes over a
// tensor count again); and the share of the copy bandwidth (memcpy, reads + writes). DAWN_ISA selects the instruction set.
// "together" is their total per step.
#include "runtime/cpu/loops/loops.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/sort.h"
#include "runtime/common/base/threads.h"
#include "runtime/cpu/cpu.h"

#include <stdio.h>
#include <stdlib.h>

enum { VALUES = 16, REPEATS_MAX = 101 };

struct bench {
    struct cpu_device cpu;
    struct graph g;
    struct value value[VALUES];
    struct node node;
    struct cpu_step step;
    void *memory[VALUES];
};

static int repeats = 9, threads;
static double copy_rate, step_ms, processor_ms;

static void *alloc_buffer(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
    if (!p) BUG("no memory");
    memset(p, 0, bytes);
    return p;
}

static void measure_copy(void)
{
    enum { BYTES = 256 << 20 };
    char *to = alloc_buffer(BYTES), *from = alloc_buffer(BYTES);
    int64_t ns[9];
    for (int i = 0; i < 9; i++) {
        int64_t begin = clock_cpu_ns();
        threads_copy(to, from, BYTES, 4096);
        ns[i] = (clock_cpu_ns() - begin) / threads;
    }
    qsort(ns, 9, sizeof *ns, sort_i64);
    copy_rate = 2.0 * BYTES / (double)ns[0];
    free(from), free(to);
}

static void fill_value(struct value *v, void *at)
{
    uint32_t seed = 12345;
    for (int64_t i = 0, n = shape_count(&v->shape); i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        double x = dtype_is_float(v->dtype) ? (double)(seed >> 8) * 0x1p-23 - 1 : v->dtype == U8 ? (seed >> 8) % 4 : 0;
        if (v->dtype == BF16)
            ((uint16_t *)at)[i] = f32_to_bf16((float)x);
        else
            element_set(v->dtype, at, i, x);
    }
}

static int add_value(struct bench *b, struct shape shape, enum dtype t)
{
    int id = b->g.values++;
    b->value[id] = (struct value){.shape = shape, .dtype = t, .producer = NONE};
    b->memory[id] = alloc_buffer(value_bytes(&b->value[id]));
    return id;
}

static void set_in(struct bench *b, int i, struct shape shape, enum dtype t)
{
    b->node.in[i] = add_value(b, shape, t);
    b->step.in[i] = b->memory[b->node.in[i]];
    fill_value(&b->value[b->node.in[i]], b->step.in[i]);
}

static void set_out(struct bench *b, int i, struct shape shape, enum dtype t)
{
    b->node.out[i] = add_value(b, shape, t);
    b->step.out[i] = b->memory[b->node.out[i]];
}

static struct bench *start_bench(enum op op)
{
    struct bench *b = calloc(1, sizeof *b);
    if (!b) BUG("no memory");
    b->g.value = b->value;
    b->node.op = op;
    for (int i = 0; i < MAX_IN; i++) b->node.in[i] = NONE;
    for (int i = 0; i < MAX_OUT; i++) b->node.out[i] = NONE;
    b->cpu.threads = threads, b->cpu.loops = loops_choose();
    b->step.cpu = &b->cpu, b->step.graph = &b->g, b->step.node = &b->node;
    return b;
}

static double bytes_of(const struct bench *b, int value)
{
    return value == NONE ? 0 : (double)value_bytes(&b->value[value]);
}

// `extra`: bytes of second passes.
static void finish_bench(struct bench *b, const char *name, const struct cpu_op *op, double extra)
{
    size_t work = op->workspace ? op->workspace(&b->cpu, &b->g, &b->node) : 0;
    if (work) b->step.work = alloc_buffer(work);
    if (op->prepare(&b->step) < 0) BUG("prepare failed");
    double bytes = extra;
    for (int i = 0; i < MAX_IN; i++) bytes += bytes_of(b, b->node.in[i]);
    for (int i = 0; i < MAX_OUT; i++) bytes += bytes_of(b, b->node.out[i]);
    int64_t ns[REPEATS_MAX], used[REPEATS_MAX];
    for (int i = -1; i < repeats; i++) {
        int64_t from = clock_ns(), processor = clock_cpu_ns();
        if (b->step.run(&b->step) < 0) BUG("a step failed");
        if (i >= 0) ns[i] = clock_ns() - from, used[i] = (clock_cpu_ns() - processor) / threads;
    }
    qsort(ns, (size_t)repeats, sizeof *ns, sort_i64);
    qsort(used, (size_t)repeats, sizeof *used, sort_i64);
    double median = (double)ns[repeats / 2], least = (double)used[0];
    step_ms += median * 1e-6, processor_ms += least * 1e-6;
    printf("%-34s %8.2f ms  processor %8.2f ms %7.1f MB %6.1f GB/s %4.0f%%\n", name, median * 1e-6, least * 1e-6,
           bytes * 1e-6, bytes / least, 100 * bytes / least / copy_rate);
    if (b->step.release) b->step.release(&b->step);
    for (int i = 0; i < b->g.values; i++) free(b->memory[i]);
    free(b->step.work);
    free(b);
}

static void bench_norm(int64_t n, int64_t side, int64_t c, enum act act, enum dtype t)
{
    char name[64];
    struct shape x = SHAPE(n, side, side, c), channel = SHAPE(c);
    double size = (double)(shape_count(&x) * (int64_t)dtype_size(t));
    struct bench *b = start_bench(OP_NORM);
    b->node.attr.norm = (struct norm_attr){.eps = 1e-12f, .momentum = 0.6f, .act = act};
    set_in(b, 0, x, t), set_in(b, 1, channel, F32), set_in(b, 2, channel, F32), set_in(b, 4, channel, F32);
    set_out(b, 0, x, t);
    for (int i = 1; i < 5; i++) set_out(b, i, channel, F32);
    snprintf(name, sizeof name, "norm %lldx%lldx%lld %s", (long long)side, (long long)side, (long long)c,
             act_name(act));
    finish_bench(b, name, &cpu_norm, size);
    b = start_bench(OP_NORM_GRAD);
    b->node.attr.norm.act = act;
    set_in(b, 0, x, t), set_in(b, 1, x, t), set_in(b, 2, channel, F32), set_in(b, 3, channel, F32), set_in(b, 5, channel, F32);
    set_out(b, 0, x, t), set_out(b, 2, channel, F32);
    snprintf(name, sizeof name, "norm_grad %lldx%lldx%lld %s", (long long)side, (long long)side, (long long)c,
             act_name(act));
    finish_bench(b, name, &cpu_norm_grad, 2 * size);
}

static void bench_pool_norm(int64_t n, int64_t side, int64_t c, enum act act, enum dtype t)
{
    char name[64];
    struct shape x = SHAPE(n, side, side, c), y = SHAPE(n, side / 2, side / 2, c), channel = SHAPE(c);
    double size = (double)(shape_count(&y) * (int64_t)dtype_size(t));
    struct bench *b = start_bench(OP_POOL_NORM);
    b->node.attr.norm = (struct norm_attr){.eps = 1e-12f, .momentum = 0.6f, .act = act};
    set_in(b, 0, x, t), set_in(b, 1, channel, F32), set_in(b, 2, channel, F32), set_in(b, 4, channel, F32);
    set_out(b, 0, y, t), set_out(b, 1, channel, F32), set_out(b, 2, channel, F32), set_out(b, 3, y, t), set_out(b, 4, y, U8);
    set_out(b, 5, channel, F32), set_out(b, 6, channel, F32);
    snprintf(name, sizeof name, "pool_norm %lldx%lldx%lld %s", (long long)side, (long long)side, (long long)c,
             act_name(act));
    finish_bench(b, name, &cpu_pool_norm, size);
    b = start_bench(OP_POOL_NORM_GRAD);
    b->node.attr.norm = (struct norm_attr){.act = act, .x_h = side, .x_w = side};
    set_in(b, 0, y, t), set_in(b, 1, y, t), set_in(b, 2, channel, F32), set_in(b, 3, channel, F32), set_in(b, 5, channel, F32),
        set_in(b, 6, y, U8);
    set_out(b, 0, x, t), set_out(b, 2, channel, F32);
    snprintf(name, sizeof name, "pool_norm_grad %lldx%lldx%lld %s", (long long)side, (long long)side, (long long)c,
             act_name(act));
    finish_bench(b, name, &cpu_pool_norm_grad, 2 * size);
}

static void bench_data(int64_t n, enum dtype t)
{
    struct bench *b = start_bench(OP_AUGMENT);
    b->node.attr.augment = (struct augment_attr){.flip = FLIP_ALTERNATE,
                                                 .pad = 2,
                                                 .brightness = 0.14f,
                                                 .contrast = 0.13f,
                                                 .mean = {0.49f, 0.48f, 0.45f},
                                                 .std = {0.25f, 0.24f, 0.26f},
                                                 .to = t};
    set_in(b, 0, SHAPE(50000, 32, 32, 3), U8), set_in(b, 1, SHAPE(n), I32), set_in(b, 2, SHAPE(4), I32);
    int32_t *index = b->step.in[1], *key = b->step.in[2];
    for (int64_t i = 0; i < n; i++) index[i] = (int32_t)(i * 7919 % 50000);
    for (int i = 0; i < 4; i++) key[i] = i;
    set_out(b, 0, SHAPE(n, 32, 32, 3), t);
    double unread = bytes_of(b, b->node.in[0]) - (double)n * 3072;
    finish_bench(b, "augment", &cpu_augment, -unread);
    for (int64_t side = 24; side <= 28; side += 4) {
        char name[64];
        b = start_bench(OP_RESIZE);
        b->node.attr.move.shape = SHAPE(n, side, side, 3);
        set_in(b, 0, SHAPE(n, 32, 32, 3), t);
        set_out(b, 0, SHAPE(n, side, side, 3), t);
        snprintf(name, sizeof name, "resize 32 to %lld", (long long)side);
        finish_bench(b, name, &cpu_resize, 0);
    }
}

static void bench_optimiser(void)
{
    struct shape w = SHAPE(256, 8192);
    struct bench *b = start_bench(OP_MOMENTUM);
    b->node.attr.optim = (struct optim_attr){.mu = 0.9f, .nesterov = true};
    set_in(b, 0, w, F32), set_in(b, 1, w, F32);
    set_out(b, 0, w, F32), set_out(b, 1, w, F32);
    finish_bench(b, "momentum 2M", &cpu_momentum, 0);
    b = start_bench(OP_UNIT_NORM);
    b->node.attr.optim = (struct optim_attr){.target = 1, .eps = 1e-7f};
    set_in(b, 0, w, F32), set_out(b, 0, w, F32);
    finish_bench(b, "unit_norm 2M", &cpu_unit_norm, 8388608.0);
    b = start_bench(OP_DESCEND);
    b->node.attr.optim = (struct optim_attr){.factor = 1};
    set_in(b, 0, w, F32), set_in(b, 1, w, F32), set_in(b, 2, SHAPE(1), F32), set_out(b, 0, w, F32);
    finish_bench(b, "descend 2M", &cpu_descend, 0);
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 2000;
    enum dtype t = BF16;
    if (argc > 2 && dtype_parse(argv[2], &t) < 0) return fprintf(stderr, "loops: %s\n", error_text()), 2;
    if (argc > 3) repeats = atoi(argv[3]);
    if (repeats < 1 || repeats > REPEATS_MAX) repeats = 9;
    threads_set(argc > 4 ? atoi(argv[4]) : 0);
    threads = threads_count();
    measure_copy();
    printf("batch %lld, %s, %s, %d threads; copy %.1f GB/s\n", (long long)n, dtype_name(t), loops_choose()->isa,
           threads, copy_rate);
    bench_data(n, t);
    step_ms = processor_ms = 0;
    for (int i = 0; i < 2; i++) {
        enum act act = i ? ACT_GELU : ACT_SILU;
        bench_pool_norm(n, 30, 64, act, t), bench_norm(n, 15, 64, act, t);
        bench_pool_norm(n, 14, 256, act, t), bench_norm(n, 7, 256, act, t);
        bench_pool_norm(n, 6, 256, act, t), bench_norm(n, 3, 256, act, t);
        printf("%-34s %8.2f ms  processor %8.2f ms\n", "together, a step", step_ms, processor_ms);
        step_ms = processor_ms = 0;
    }
    bench_optimiser();
    return 0;
}
