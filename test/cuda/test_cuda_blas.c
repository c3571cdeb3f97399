// SPDX-License-Identifier: Apache-2.0
// Matrix products by cuBLASLt: which products it takes, that others do not load it, that transposed factors, batches and c
// reach it correctly, and that everything is freed. The products are the list of cases (runtime/cases/cases_conv.c), compared
// with ref.
#include "test/unit/test.h"
#include "test/unit/fixture_cases.h"
#include "test/unit/fixture_graph.h"

#include "runtime/cuda/ops/cuda_blas.h"
#include "runtime/fuse.h"

#include <dlfcn.h>

static void *library_handle(void) { return dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_NOLOAD); }

static int read_counter(const char *name)  // by the emulated library; -1 with the real one
{
    void *library = library_handle();
    const int *count = library ? (const int *)dlsym(library, name) : NULL;
    return count ? *count : -1;
}

static struct k_matmul product_of(int m, int n, int k, enum dtype type)
{
    return (struct k_matmul){.m = m, .n = n, .k = k, .batch = 1, .a_type = type, .b_type = type, .out = type};
}

TEST(test_which)
{
    struct cuda_device cuda = {.set.blas = BLAS_AUTO};
    // DAWN's kernels take Newton-Schulz and the head of airbench.
    const int own[][3] = {{256, 256, 2304}, {256, 2304, 256}, {256, 256, 256}, {2000, 10, 256}, {2000, 256, 10}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        struct k_matmul p = product_of(own[i][0], own[i][1], own[i][2], F32);
        assert_false(cuda_blas_takes(&cuda, &p));
    }
    struct k_matmul p = product_of(1024, 1024, 1024, F16);
    assert_true(cuda_blas_takes(&cuda, &p));
    p.out = F32;
    assert_true(cuda_blas_takes(&cuda, &p));
    p.b_type = F32;
    assert_false(cuda_blas_takes(&cuda, &p));
    p = product_of(1024, 1024, 1025, F16);  // rows of a start at multiples of 2 bytes
    assert_true(cuda_blas_takes(&cuda, &p));
    p = product_of(512, 512, 512, BF16);
    p.batch = 8;
    assert_true(cuda_blas_takes(&cuda, &p));
    cuda.set.blas = BLAS_OFF;
    assert_false(cuda_blas_takes(&cuda, &p));
}

TEST(test_not_loaded)
{
    setenv("DAWN_CASE", "matmul", 1);
    hold_types("cuda", 1, F32, 0);
    assert_null(library_handle());
}

TEST(test_products)
{
    setenv("DAWN_CASE", "matmul", 1);
    setenv("DAWN_CUDA_BLAS", "always", 1);
    hold_types("cuda", 1, F16, 0);
    assert_non_null(library_handle());
    if (!dlsym(RTLD_DEFAULT, "emulate_enqueue")) return;  // on a GPU, with the real library
    assert_true(read_counter("lt_products") >= 20);
    assert_int_equal(read_counter("lt_objects"), 0);
}

// Code that the library loads during a product's first call is loaded before any capture.
TEST(test_first_call)
{
    if (!dlsym(RTLD_DEFAULT, "emulate_enqueue")) skip();
    setenv("DAWN_CUDA_BLAS", "always", 1);
    setenv("DAWN_CUDA_GRAPHS", "off", 1);  // so that nothing is captured, and work is executed at once
    struct session *s = session_on("cuda");
    unsetenv("DAWN_CUDA_BLAS");
    unsetenv("DAWN_CUDA_GRAPHS");
    struct graph *g = graph_new(s->store, "product");
    keep(g, "y", g_matmul(g, input(g, "a", SHAPE(16, 16)), false, input(g, "b", SHAPE(16, 16)), false, F32));
    assert_int_equal(session_add(s, g), 0);
    int before = read_counter("lt_products");
    start(s);
    assert_int_equal(read_counter("lt_products"), (before < 0 ? 0 : before) + 1);
    OK(session_run(s, 0));
    assert_int_equal(read_counter("lt_products"), (before < 0 ? 0 : before) + 2);
    session_done(s);
    assert_int_equal(read_counter("lt_objects"), 0);
}

// The classes of an output layer are padded for the library: losses, gradients and hits in two pieces, with a bias and with
// labels that are not classes, against ref.
TEST(test_padded_classes)
{
    if (!dlsym(RTLD_DEFAULT, "emulate_enqueue")) skip();
    enum { ROWS = 2150, CLASSES = 1003, CHANNELS = 1000 };
    const struct op_case *row = case_next(NULL);
    while (row && strcmp(row->name, "linear_xent of words") != 0) row = case_next(row);
    assert_non_null(row);
    struct op_case padded = *row;
    const int bytes = (ROWS / 2 + 1) * CLASSES * 2 / 4;  // a GPU takes four times as many
    memcpy(padded.p, (const int[]){ROWS, CLASSES, CHANNELS, 10, 1, 0, 1, 1, 40, 0, 0, 1, bytes}, 13 * sizeof(int));
    struct device *device, *ref;
    OK(device_open("cuda", 1, &device));
    OK(device_open("ref", 1, &ref));
    failures = 0;
    const int before = read_counter("lt_products");
    assert_true(hold(device, ref, &padded, (struct case_options){.type = BF16}, "padded"));
    assert_int_equal(read_counter("lt_products") - before - (before < 0), 2 * 2 * 3);  // prepared and run: pieces, products
    assert_int_equal(failures, 0);
    device_close(ref);
    device_close(device);
}

// A large product of 16-bit activations and f32 weights goes to the library through 16-bit copies of the weights, and of a bias
// if the result has 16 bits.
static void hold_mixed(bool biased)
{
    enum { N = 1024, ROUNDED = 256 };  // numbers of 8 bits are exact in bf16
    struct session *s = session_on("cuda");
    struct graph *g = graph_new(s->store, "mixed");
    int x = g_cast(g, input(g, "x", SHAPE(N, N)), BF16), bias = biased ? weight(g, "bias", SHAPE(N)) : NONE;
    int out = g_linear(g, x, weight(g, "w", SHAPE(N, N)), bias, biased ? BF16 : F32);
    keep(g, "y", g_cast(g, out, F32));
    OK(fuse_graph(g, FUSE_MATMUL_BIAS));
    int program = session_add(s, g);
    assert_true(program >= 0);
    assert_int_equal(count_op(g, OP_ACT), 0);
    int before = read_counter("lt_products");
    start(s);
    assert_true(read_counter("lt_products") > before + (before < 0));
    assert_int_equal(s->plan[program]->kept_bytes, (size_t)(N + biased) * N * dtype_size(BF16));
    float *a = zalloc((2 * (size_t)N + 1) * N * sizeof *a), *w = a + (size_t)N * N, *b = w + (size_t)N * N;
    for (int i = 0; i < N * N; i++) a[i] = (float)(i * 7 % 251 - 125) / ROUNDED, w[i] = (float)(i * 11 % 241 - 120) / ROUNDED;
    for (int i = 0; i < N; i++) b[i] = biased ? (float)(i * 3 % 255 - 127) / 16 : 0;
    OK(session_put(s, "x", a, 0, (size_t)N * N * sizeof *a));
    OK(session_put(s, "w", w, 0, (size_t)N * N * sizeof *w));
    if (biased) OK(session_put(s, "bias", b, 0, (size_t)N * sizeof *b));
    OK(session_run(s, program));
    float *y = zalloc((size_t)N * N * sizeof *y);
    OK(session_get(s, "y", y, (size_t)N * N * sizeof *y));
    for (int i = 0; i < 64; i++) {
        int row = i * 577 % N, column = i * 311 % N;
        double sum = (double)b[column];
        for (int k = 0; k < N; k++) sum += (double)a[row * N + k] * (double)w[column * N + k];
        assert_true(fabs(sum - (double)y[row * N + column]) < 1e-3 + (biased ? 0x1p-8 * fabs(sum) : 0));
    }
    free(a);
    free(y);
    session_done(s);
}

TEST(test_mixed)
{
    if (!dlsym(RTLD_DEFAULT, "emulate_enqueue")) skip();
    hold_mixed(false);
    hold_mixed(true);
}
