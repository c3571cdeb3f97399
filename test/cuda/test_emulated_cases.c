// SPDX-License-Identifier: Apache-2.0
// The messages of the fixture of operator cases: no case was selected, and the GPU was lost.
#include "test/unit/test.h"
#include "test/cuda/fixture_emulator.h"
#include "test/unit/fixture_cases.h"

static void run_case(void *name)
{
    setenv("CMOCKA_TEST_ABORT", "1", 1);  // a failed assertion ends this process
    setenv("DAWN_CASE", name, 1);
    hold_types("cuda", 1, F32, 0);
}

TEST(a_name_without_a_case_fails)
{
    dies(run_case, "no such thing", "no case has \"no such thing\" in its name", NULL);
    dies(run_case, "no such thing|nor this", "no case has \"no such thing|nor this\" in its name", NULL);
}

TEST(either_of_two_names_is_enough)
{
    setenv("DAWN_CASE", "window past|tick by", 1);
    int rows = 0;
    for (const struct op_case *row = next_wanted(NULL); row; row = next_wanted(row)) rows++;
    assert_int_equal(rows, 2);
    hold_types("cuda", 1, F32, 0);
    unsetenv("DAWN_CASE");
}

static void lose_gpu(void *error)
{
    emulate_fail("cudaStreamSynchronize", *(const cudaError_t *)error);
    run_case("reduce ");
}

static void run_once(void *arg)
{
    (void)arg;
    struct device *device, *ref;
    assert_int_equal(device_open("cuda", 1, &device), 0);
    assert_int_equal(device_open("ref", 1, &ref), 0);
    failures = 0;
    emulate_fail("cudaStreamSynchronize", cudaErrorInvalidValue);
    assert_true(hold(device, ref, case_next(NULL), (struct case_options){.type = F32}, "once"));
    fprintf(stderr, "%d failed, and it goes on\n", failures);
    abort();
}

// Only a sticky error ends the list.
TEST(a_lost_gpu_ends_the_list)
{
    cudaError_t lost = cudaErrorIllegalAddress;
    dies(lose_gpu, &lost, "the GPU is lost after reduce ", "a kernel accessed memory outside of its buffers");
    dies(run_once, NULL, "1 failed, and it goes on", NULL);
}
