// SPDX-License-Identifier: Apache-2.0
// Matrix products by cuBLASLt: which ones it gets, that it is not loaded for the others, that rows and columns, turned
// factors, batches and c reach it the right way round, and that everything is given back. The products are the list of
// cases (runtime/cases/cases_conv.c), against ref.
#include "test/unit/fixture_cases.h"
#include "test/unit/fixture_graph.h"

#include "runtime/cuda/cuda_blas.h"

#include <dlfcn.h>

static void *loaded(void) { return dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_NOLOAD); }

static int counted(const char *name)  // by the pretend library; -1: it is the real one
{
    void *library = loaded();
    const int *count = library ? (const int *)dlsym(library, name) : NULL;
    return count ? *count : -1;
}

static struct k_matmul product(int m, int n, int k, enum dtype type)
{
    return (struct k_matmul){.m = m, .n = n, .k = k, .batch = 1, .a_type = type, .b_type = type, .out = type};
}

static void test_which(void **state)
{
    (void)state;
    struct cuda_device cuda = {.set.blas = BLAS_AUTO};
    // Newton-Schulz and the head of the record network are ours.
    const int own[][3] = {{256, 256, 2304}, {256, 2304, 256}, {256, 256, 256}, {2000, 10, 256}, {2000, 256, 10}};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        struct k_matmul p = product(own[i][0], own[i][1], own[i][2], F32);
        assert_false(cuda_blas_takes(&cuda, &p));
    }
    struct k_matmul p = product(1024, 1024, 1024, F16);
    assert_true(cuda_blas_takes(&cuda, &p));
    p.out = F32;
    assert_true(cuda_blas_takes(&cuda, &p));
    p.b_type = F32;
    assert_false(cuda_blas_takes(&cuda, &p));
    p = product(1024, 1024, 1028, F16);  // rows of a begin at multiples of 8 bytes
    assert_false(cuda_blas_takes(&cuda, &p));
    p.ta = true;
    assert_true(cuda_blas_takes(&cuda, &p));
    p = product(1024, 1024, 1023, F32);
    assert_false(cuda_blas_takes(&cuda, &p));
    p = product(512, 512, 512, BF16);
    p.batch = 8;
    assert_true(cuda_blas_takes(&cuda, &p));
    cuda.set.blas = BLAS_OFF;
    assert_false(cuda_blas_takes(&cuda, &p));
}

static void test_not_loaded(void **state)
{
    (void)state;
    setenv("DAWN_CASE", "matmul", 1);
    hold_types("cuda", 1, F32, 0);
    assert_null(loaded());
}

static void test_products(void **state)
{
    (void)state;
    setenv("DAWN_CASE", "matmul", 1);
    setenv("DAWN_CUDA_BLAS", "always", 1);
    hold_types("cuda", 1, F16, 0);
    assert_non_null(loaded());
    if (!dlsym(RTLD_DEFAULT, "emulate_enqueue")) return;  // on a card, with the real library
    assert_true(counted("lt_products") >= 20);
    assert_int_equal(counted("lt_objects"), 0);
}

// Whatever the library loads behind a product's first call is loaded before anything is captured.
static void test_first_call(void **state)
{
    (void)state;
    if (!dlsym(RTLD_DEFAULT, "emulate_enqueue")) skip();
    setenv("DAWN_CUDA_BLAS", "always", 1);
    setenv("DAWN_CUDA_GRAPHS", "off", 1);  // so that nothing is captured, and what is done is done at once
    struct session *s = session_on("cuda");
    unsetenv("DAWN_CUDA_BLAS");
    unsetenv("DAWN_CUDA_GRAPHS");
    struct graph *g = graph_new(s->store, "product");
    keep(g, "y", g_matmul(g, input(g, "a", SHAPE(16, 16)), false, input(g, "b", SHAPE(16, 16)), false, 1.0f, NONE, 0.0f, F32));
    assert_int_equal(session_add(s, g), 0);
    int before = counted("lt_products");
    start(s);
    assert_int_equal(counted("lt_products"), (before < 0 ? 0 : before) + 1);
    OK(session_run(s, 0));
    assert_int_equal(counted("lt_products"), (before < 0 ? 0 : before) + 2);
    session_done(s);
    assert_int_equal(counted("lt_objects"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which),
        cmocka_unit_test(test_not_loaded),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_first_call),
    };
    return cmocka_run_group_tests_name("cuda blas", tests, NULL, NULL);
}
