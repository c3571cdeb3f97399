// SPDX-License-Identifier: Apache-2.0
// The list of cases on the CUDA device, against ref, in f32, bf16 and f16: the same host code and the same kernels that
// a card runs, on the emulator or, linked otherwise, on the card (docs/testing.md).
#include "test/unit/fixture_cases.h"

static void test_against_ref(void **state)
{
    (void)state;
    hold_types("cuda", 1, F16, 0);
}

static void test_through_temporaries(void **state)
{
    (void)state;
    hold_through_temporaries("cuda", F16);
}

static void test_outputs_left_out(void **state)
{
    (void)state;
    outputs_left_out("cuda");
}

// As on the cpu: a few hundred roundings of f32 at most.
static void test_fused(void **state)
{
    (void)state;
    fused_on("cuda", F32, 1024.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_ref),
        cmocka_unit_test(test_through_temporaries),
        cmocka_unit_test(test_outputs_left_out),
        cmocka_unit_test(test_fused),
    };
    return cmocka_run_group_tests_name("cuda ops", tests, NULL, NULL);
}
