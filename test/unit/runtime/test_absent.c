// SPDX-License-Identifier: Apache-2.0
// The CUDA device of a build without CUDA, tested in every build: it is never the default, and names the missing part.
#define device_cuda device_absent
#define CUDA_MISSING missing
static const char *missing;
#include "runtime/cuda/absent.c"

#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

static void says(const char *what, const char *part)
{
    struct device *d = NULL;
    missing = what;
    REFUSED(device_absent.open(0, 0, &d), part);
    assert_null(d);
}

TEST(it_says_what_is_missing)
{
    says("nvcc was not found", "was built without CUDA: nvcc was not found. Install");
    says("no", "CUDA=no was given");
    says("no driver", "without CUDA, because the machine had no NVIDIA driver. Run make again where there is one, or make cuda");
    says("", "the toolkit was not found");
    says("nvcc was not found", "Install the CUDA Toolkit 13.0 or newer with cuDNN 9 and run make again, or use --device cpu");
}

TEST(it_is_never_chosen_by_itself)
{
    assert_false(device_absent.present());
    assert_string_equal(device_absent.name, "cuda");
}
