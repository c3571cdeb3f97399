// SPDX-License-Identifier: Apache-2.0
// The convolutions of a network, alone, through oneDNN: the yardstick for a training step.
//
//   convs [BATCH [SIDE [bf16|f32 [REPEATS [airbench|resnet18|resnet50|retina]]]]]
//
// Forward and both backward passes, NHWC activations, weights in the format oneDNN prefers, nothing else; no gradient of the
// images. `retina` is the detector of bccd, whose images are SIDE high and a third wider. `airbench` is the six 3x3 convolutions
// of airbench. Each pass is timed separately; the sums of the medians
// and of the least processor times are lower bounds of a whole step. Processor time is of all threads, and on a busy
// machine the better measure with one of them (OMP_NUM_THREADS=1).
#include "runtime/cpu/product/dnnl_api.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK(call)                                                                     \
    do {                                                                             \
        dnnl_status_t s_ = (call);                                                   \
        if (s_ != dnnl_success) {                                                    \
            fprintf(stderr, "convs: %s: oneDNN status %d\n", #call, (int)s_);        \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

enum { FWD, BWD_DATA, BWD_WEIGHTS, PASSES };
static const char *const PASS[PASSES] = {"forward", "dgrad", "wgrad"};

static dnnl_engine_t engine;
static dnnl_stream_t stream;

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static dnnl_memory_t filled_memory(api_layout md)
{
    dnnl_memory_t m;
    size_t bytes = dnnl_memory_desc_get_size(md);
    OK(dnnl_memory_create(&m, md, engine, DNNL_MEMORY_ALLOCATE));
    void *p;
    OK(dnnl_memory_get_data_handle(m, &p));
    memset(p, 0x3c, bytes); // a small positive number in every dtype: no denormals, no infinities
    return m;
}

// x[N,side,side,C] * w[K,r,r,C] (padding lo before, hi after) -> y[N,out,out,K], `times` in the network.
struct layer {
    int side, lo, hi, c, k, r, stride, times;
    int width;  // 0: side
};

struct times {
    double median, least, gflop;  // least: of processor time
};

static struct times time_conv(int pass, int n, const struct layer *l, dnnl_data_type_t dt, int repeats)
{
    int c = l->c, k = l->k, side = l->side, width = l->width ? l->width : side, r = l->r;
    int out = (side + l->lo + l->hi - r) / l->stride + 1, wide = (width + l->lo + l->hi - r) / l->stride + 1;
    dnnl_dims_t xd = {n, c, side, width}, wd = {k, c, r, r}, yd = {n, k, out, wide};
    struct api_conv conv = {.pass = dnnl_forward_training,
                            .stride = {l->stride, l->stride}, .before = {l->lo, l->lo}, .after = {l->hi, l->hi}};
    OK(api_layout_tagged(&conv.x, 4, xd, dt, dnnl_nhwc));
    OK(api_layout_tagged(&conv.w, 4, wd, dt, dnnl_format_tag_any));
    OK(api_layout_tagged(&conv.y, 4, yd, dt, dnnl_nhwc));
    dnnl_primitive_desc_t hint, pd;
    OK(api_conv_describe(&hint, engine, &conv, NULL));
    pd = hint;
    if (pass != FWD) {
        conv.forward = hint;
        conv.pass = pass == BWD_DATA ? dnnl_backward_data : dnnl_backward_weights;
        if (pass == BWD_WEIGHTS) {
            api_layout_free(conv.w);
            OK(api_layout_tagged(&conv.w, 4, wd, dnnl_f32, dnnl_format_tag_any));
        }
        OK(api_conv_describe(&pd, engine, &conv, NULL));
    }
    dnnl_primitive_t prim;
    OK(dnnl_primitive_create(&prim, pd));
    dnnl_query_t wq = pass == BWD_WEIGHTS ? dnnl_query_diff_weights_md : dnnl_query_weights_md;
    dnnl_memory_t mx = filled_memory(conv.x), mw = filled_memory(dnnl_primitive_desc_query_md(pd, wq, 0)),
                  my = filled_memory(conv.y);
    dnnl_exec_arg_t args[PASSES][3] = {
        {{DNNL_ARG_SRC, mx}, {DNNL_ARG_WEIGHTS, mw}, {DNNL_ARG_DST, my}},
        {{DNNL_ARG_DIFF_SRC, mx}, {DNNL_ARG_WEIGHTS, mw}, {DNNL_ARG_DIFF_DST, my}},
        {{DNNL_ARG_SRC, mx}, {DNNL_ARG_DIFF_WEIGHTS, mw}, {DNNL_ARG_DIFF_DST, my}},
    };
    double *t = calloc((size_t)repeats, sizeof *t);
    if (!t) exit(1);
    struct times result = {.least = 1e9, .gflop = 2e-9 * n * out * wide * k * c * r * r};
    for (int i = -1; i < repeats; i++) { // one warm-up
        double t0 = now_seconds(), p0 = processor_seconds();
        OK(dnnl_primitive_execute(prim, stream, 3, args[pass]));
        OK(dnnl_stream_wait(stream));
        double spent = processor_seconds() - p0;
        if (i < 0) continue;
        t[i] = now_seconds() - t0;
        if (spent < result.least) result.least = spent;
    }
    qsort(t, (size_t)repeats, sizeof *t, compare_times);
    result.median = t[repeats / 2];
    free(t);
    const char *impl;
    OK(dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &impl));
    printf("  %-8s %8.2f ms %8.0f GFLOP/s  processor %8.2f ms  %s\n", PASS[pass], result.median * 1e3,
           result.gflop / result.median, result.least * 1e3, impl);
    dnnl_memory_destroy(mx), dnnl_memory_destroy(mw), dnnl_memory_destroy(my);
    dnnl_primitive_destroy(prim);
    if (pd != hint) dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_desc_destroy(hint);
    api_layout_free(conv.x);
    api_layout_free(conv.w);
    api_layout_free(conv.y);
    return result;
}

enum { LAYERS_MAX = 64 };

// The same layer twice is timed once.
static int add_layer(struct layer *all, int count, struct layer one)
{
    one.times = 1;
    for (int i = 0; i < count; i++) {
        struct layer seen = all[i];
        seen.times = 1;
        if (!memcmp(&seen, &one, sizeof one)) return all[i].times++, count;
    }
    if (count == LAYERS_MAX) exit(1);
    all[count] = one;
    return count + 1;
}

static int airbench_layers(struct layer *all, int side)
{
    // The first convolution of a group is pooled by 2, so its last odd row and column are not computed.
    int s = side - 1, p = s / 2, q = p / 2;
    const struct layer layers[] = {{s, 1, s % 2 ? 0 : 1, 24, 64, 3, 1, 1},   {p, 1, 1, 64, 64, 3, 1, 1},
                                   {p, 1, p % 2 ? 0 : 1, 64, 256, 3, 1, 1},  {q, 1, 1, 256, 256, 3, 1, 1},
                                   {q, 1, q % 2 ? 0 : 1, 256, 256, 3, 1, 1}, {q / 2, 1, 1, 256, 256, 3, 1, 1}};
    memcpy(all, layers, sizeof layers);
    return (int)(sizeof layers / sizeof *layers);
}

static int after(int side, int stride) { return (side - 1) / stride + 1; } // any odd filter with half of it as padding

// ResNet-18 and ResNet-50 v1.5 (He et al. 2015; stride in the 3x3), as torchvision has them.
static int resnet_layers(struct layer *all, int side, bool bottleneck)
{
    static const int blocks[2][4] = {{2, 2, 2, 2}, {3, 4, 6, 3}};
    int count = add_layer(all, 0, (struct layer){side, 3, 3, 3, 64, 7, 2, 1}), c = 64;
    side = after(after(side, 2), 2);
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < blocks[bottleneck][stage]; i++) {
            int width = 64 << stage, out = bottleneck ? 4 * width : width, stride = stage && !i ? 2 : 1;
            int small = after(side, stride);
            if (bottleneck) {
                count = add_layer(all, count, (struct layer){side, 0, 0, c, width, 1, 1, 1});
                count = add_layer(all, count, (struct layer){side, 1, 1, width, width, 3, stride, 1});
                count = add_layer(all, count, (struct layer){small, 0, 0, width, out, 1, 1, 1});
            } else {
                count = add_layer(all, count, (struct layer){side, 1, 1, c, width, 3, stride, 1});
                count = add_layer(all, count, (struct layer){small, 1, 1, width, out, 3, 1, 1});
            }
            if (stride > 1 || c != out) count = add_layer(all, count, (struct layer){side, 0, 0, c, out, 1, stride, 1});
            side = small, c = out;
        }
    return count;
}

// tasks/detection/retina.c
static int retina_layers(struct layer *all, int side)
{
    static const int widths[] = {16, 32, 64, 96, 128}, outs[] = {9, 12};
    int high = after(side, 2), wide = after(side * 4 / 3, 2), c = widths[0];
    int count = add_layer(all, 0, (struct layer){side, 1, 1, 3, c, 3, 2, 1, side * 4 / 3});
    for (int stage = 1; stage < 5; stage++) {
        int k = widths[stage];
        count = add_layer(all, count, (struct layer){high, 1, 1, c, k, 3, 2, 1, wide});
        high = after(high, 2), wide = after(wide, 2), c = k;
        for (int i = 0; i < (stage > 1 ? 3 : 2); i++)
            count = add_layer(all, count, (struct layer){high, 1, 1, c, c, 3, 1, 1, wide});
        if (stage == 1) continue;
        count = add_layer(all, count, (struct layer){high, 0, 0, c, 64, 1, 1, 1, wide});
        for (int i = 0; i < 5; i++) count = add_layer(all, count, (struct layer){high, 1, 1, 64, 64, 3, 1, 1, wide});
        for (int i = 0; i < 2; i++) count = add_layer(all, count, (struct layer){high, 1, 1, 64, outs[i], 3, 1, 1, wide});
    }
    return count;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000, side = argc > 2 ? atoi(argv[2]) : 32;
    dnnl_data_type_t dt = argc > 3 && !strcmp(argv[3], "f32") ? dnnl_f32 : dnnl_bf16;
    int repeats = argc > 4 ? atoi(argv[4]) : 5;
    const char *net = argc > 5 ? argv[5] : "airbench";
    bool airbench = !strcmp(net, "airbench"), bottleneck = !strcmp(net, "resnet50");
    bool retina = !strcmp(net, "retina");
    if (n < 1 || side < 16 || repeats < 1 || (!airbench && !bottleneck && !retina && strcmp(net, "resnet18") != 0)) {
        fprintf(stderr, "usage: convs [BATCH [SIDE [bf16|f32 [REPEATS [airbench|resnet18|resnet50|retina]]]]]\n");
        return 2;
    }
    OK(dnnl_engine_create(&engine, dnnl_cpu, 0));
    OK(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    struct layer layer[LAYERS_MAX];
    int layers = airbench ? airbench_layers(layer, side) : retina ? retina_layers(layer, side)
                                                                  : resnet_layers(layer, side, bottleneck);
    struct times total = {0}, by[PASSES] = {{0}};
    for (int i = 0; i < layers; i++) {
        const struct layer *l = &layer[i];
        printf("%d -> %d channels at %d x %d, %d x %d, stride %d, padding %d before and %d after, %d times\n", l->c, l->k,
               l->side, l->side, l->r, l->r, l->stride, l->lo, l->hi, l->times);
        for (int pass = 0; pass < PASSES; pass++) {
            if (pass == BWD_DATA && l->c == 3) continue;
            struct times t = time_conv(pass, n, l, dt, repeats);
            by[pass].median += l->times * t.median, by[pass].least += l->times * t.least;
            total.gflop += l->times * t.gflop;
        }
    }
    for (int pass = 0; pass < PASSES; pass++) {
        printf("%-8s %8.1f ms, processor %8.1f ms\n", PASS[pass], by[pass].median * 1e3, by[pass].least * 1e3);
        total.median += by[pass].median, total.least += by[pass].least;
    }
    printf("convolutions of one step, %s, batch %d at %d x %d, %s: %.3f s, %.0f GFLOP/s; processor %.3f s\n", net, n, side,
           side, dt == dnnl_f32 ? "f32" : "bf16", total.median, total.gflop / total.median, total.least);
    return 0;
}
