// SPDX-License-Identifier: Apache-2.0
// The six 3x3 convolutions of the record network, alone, through oneDNN: the yardstick for a training step.
//
//   convs [BATCH [SIDE [bf16|f32 [REPEATS]]]]
//
// Forward and both backward passes, NHWC activations, weights in the format oneDNN prefers, nothing else. Each pass is timed
// separately; the sum of the medians is a lower bound of a whole step.
#include <oneapi/dnnl/dnnl.h>
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

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static dnnl_memory_t filled_memory(const dnnl_memory_desc_t *md)
{
    dnnl_memory_t m;
    size_t bytes = dnnl_memory_desc_get_size(md);
    OK(dnnl_memory_create(&m, md, engine, DNNL_MEMORY_ALLOCATE));
    void *p;
    OK(dnnl_memory_get_data_handle(m, &p));
    memset(p, 0x3c, bytes); // a small positive number in every dtype: no denormals, no infinities
    return m;
}

// Median seconds of one pass of x[N,side,side,C] * w[K,3,3,C] (padding lo before, hi after) -> y[N,out,out,K].
static double time_conv(int pass, int n, int side, int lo, int hi, int c, int k, dnnl_data_type_t dt, int repeats, double *gflop)
{
    int out = side + lo + hi - 2;
    dnnl_dims_t xd = {n, c, side, side}, wd = {k, c, 3, 3}, yd = {n, k, out, out};
    dnnl_dims_t strides = {1, 1}, before = {lo, lo}, after = {hi, hi};
    dnnl_memory_desc_t x, w, wf, y;
    OK(dnnl_memory_desc_init_by_tag(&x, 4, xd, dt, dnnl_nhwc));
    OK(dnnl_memory_desc_init_by_tag(&w, 4, wd, dt, dnnl_format_tag_any));
    OK(dnnl_memory_desc_init_by_tag(&wf, 4, wd, dnnl_f32, dnnl_format_tag_any));
    OK(dnnl_memory_desc_init_by_tag(&y, 4, yd, dt, dnnl_nhwc));
    dnnl_convolution_desc_t fwd, desc;
    OK(dnnl_convolution_forward_desc_init(&fwd, dnnl_forward_training, dnnl_convolution_direct, &x, &w, NULL, &y,
                                          strides, before, after));
    dnnl_primitive_desc_t hint, pd;
    OK(dnnl_primitive_desc_create(&hint, &fwd, NULL, engine, NULL));
    pd = hint;
    if (pass == BWD_DATA) {
        OK(dnnl_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, &x, &w, &y, strides, before, after));
        OK(dnnl_primitive_desc_create(&pd, &desc, NULL, engine, hint));
    } else if (pass == BWD_WEIGHTS) {
        OK(dnnl_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, &x, &wf, NULL, &y, strides, before,
                                                       after));
        OK(dnnl_primitive_desc_create(&pd, &desc, NULL, engine, hint));
    }
    dnnl_primitive_t prim;
    OK(dnnl_primitive_create(&prim, pd));
    dnnl_query_t wq = pass == BWD_WEIGHTS ? dnnl_query_diff_weights_md : dnnl_query_weights_md;
    dnnl_memory_t mx = filled_memory(&x), mw = filled_memory(dnnl_primitive_desc_query_md(pd, wq, 0)), my = filled_memory(&y);
    dnnl_exec_arg_t args[PASSES][3] = {
        {{DNNL_ARG_SRC, mx}, {DNNL_ARG_WEIGHTS, mw}, {DNNL_ARG_DST, my}},
        {{DNNL_ARG_DIFF_SRC, mx}, {DNNL_ARG_WEIGHTS, mw}, {DNNL_ARG_DIFF_DST, my}},
        {{DNNL_ARG_SRC, mx}, {DNNL_ARG_DIFF_WEIGHTS, mw}, {DNNL_ARG_DIFF_DST, my}},
    };
    double *t = calloc((size_t)repeats, sizeof *t);
    if (!t) exit(1);
    for (int i = -1; i < repeats; i++) { // one warm-up
        double t0 = now_seconds();
        OK(dnnl_primitive_execute(prim, stream, 3, args[pass]));
        OK(dnnl_stream_wait(stream));
        if (i >= 0) t[i] = now_seconds() - t0;
    }
    qsort(t, (size_t)repeats, sizeof *t, compare_times);
    double median = t[repeats / 2];
    *gflop = 2e-9 * n * out * out * k * c * 9;
    free(t);
    const char *impl;
    OK(dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &impl));
    printf("  %-8s %8.1f ms %8.0f GFLOP/s  %s\n", PASS[pass], median * 1e3, *gflop / median, impl);
    dnnl_memory_destroy(mx), dnnl_memory_destroy(mw), dnnl_memory_destroy(my);
    dnnl_primitive_destroy(prim);
    if (pd != hint) dnnl_primitive_desc_destroy(pd);
    dnnl_primitive_desc_destroy(hint);
    return median;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2000, side = argc > 2 ? atoi(argv[2]) : 32;
    dnnl_data_type_t dt = argc > 3 && !strcmp(argv[3], "f32") ? dnnl_f32 : dnnl_bf16;
    int repeats = argc > 4 ? atoi(argv[4]) : 5;
    if (n < 1 || side < 16 || repeats < 1) {
        fprintf(stderr, "usage: convs [BATCH [SIDE [bf16|f32 [REPEATS]]]]\n");
        return 2;
    }
    OK(dnnl_engine_create(&engine, dnnl_cpu, 0));
    OK(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
    // The first convolution of a group is pooled by 2, so its last odd row and column are not computed.
    int s = side - 1, p = s / 2, q = p / 2;
    struct { int side, hi, c, k; } layer[] = {{s, s % 2 ? 0 : 1, 24, 64}, {p, 1, 64, 64},   {p, p % 2 ? 0 : 1, 64, 256},
                                              {q, 1, 256, 256},           {q, q % 2 ? 0 : 1, 256, 256}, {q / 2, 1, 256, 256}};
    double total = 0, flop = 0;
    for (size_t i = 0; i < sizeof layer / sizeof *layer; i++) {
        printf("%d -> %d channels at %d x %d, padding 1 before and %d after\n", layer[i].c, layer[i].k, layer[i].side,
               layer[i].side, layer[i].hi);
        for (int pass = 0; pass < PASSES; pass++) {
            double g;
            total += time_conv(pass, n, layer[i].side, 1, layer[i].hi, layer[i].c, layer[i].k, dt, repeats, &g);
            flop += g;
        }
    }
    printf("convolutions of one step, batch %d at %d x %d, %s: %.3f s, %.0f GFLOP/s\n", n, side, side,
           dt == dnnl_f32 ? "f32" : "bf16", total, flop / total);
    return 0;
}
