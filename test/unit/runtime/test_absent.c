// SPDX-License-Identifier: Apache-2.0
// The CUDA device of a build without CUDA, tested in every build: it is never the default, and says what is missing.
#define device_cuda device_absent
#define CUDA_MISSING missing
static const char *missing;
#include "runtime/cuda/absent.c"

#include "test/unit/fixture_graph.h"

static void says(const char *what, const char *part)
{
    struct device *d = NULL;
    missing = what;
    REFUSED(device_absent.open(0, 0, &d), part);
    assert_null(d);
}

static void it_says_what_is_missing(void **state)
{
    (void)state;
    says("nvcc was not found", "was built without CUDA: nvcc was not found. Install");
    says("no", "CUDA=no was given");
    says("no driver", "without CUDA, because the machine had no NVIDIA driver. Run make again where there is one, or make cuda");
    says("", "the toolkit was not found");
    says("nvcc was not found", "Install the CUDA Toolkit 13.0 or newer with cuDNN 9 and run make again, or use --device cpu");
}

static void it_is_never_chosen_by_itself(void **state)
{
    (void)state;
    assert_false(device_absent.present());
    assert_string_equal(device_absent.name, "cuda");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_says_what_is_missing),
                                       cmocka_unit_test(it_is_never_chosen_by_itself)};
    return cmocka_run_group_tests_name("absent", tests, NULL, NULL);
}
