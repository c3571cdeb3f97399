// SPDX-License-Identifier: Apache-2.0
// The list of cases on the CUDA device, compared with ref in f32, bf16 and f16. The host code and the kernels are a
// GPU's; they run on the emulator or, linked with the real runtime, on the GPU (docs/testing.md).
#include "test/unit/test.h"
#include "test/unit/fixture_cases.h"

void emulate_races(int look_for_them) __attribute__((weak));  // only in the emulator; NULL on a GPU

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static void hold_one(enum dtype type, const char *what, void (*set)(struct case_options *))
{
    struct device *device;
    int claimed, refused;
    failures = 0;
    assert_int_equal(device_open("cuda", 1, &device), 0);
    hold_all(device, type, what, set, CASE_SLOW, &claimed, &refused);
    device_close(device);
    assert_true(claimed > 100 || getenv("DAWN_CASE"));
    assert_int_equal(failures, 0);
}

// The emulator is slow, so no pass there repeats another: f16 is compared with ref when races are looked for, and
// under sanitizers bf16 is left out, which shares f16's lines.
TEST(test_against_ref)
{
    if (SANITIZED) hold_one(F32, "cuda", NULL), hold_one(F16, "cuda", NULL);
    else hold_types("cuda", 1, emulate_races ? BF16 : F16, 0);
}

// What lies where does not depend on the type. In the plain build of the emulator, test_without_races does this.
TEST(test_through_temporaries)
{
    if (emulate_races && !SANITIZED) skip();
    if (emulate_races) hold_one(F16, "through temporaries", set_through);
    else hold_through_temporaries("cuda", F16);
}

TEST(test_outputs_left_out)
{
    outputs_left_out("cuda");
}

static void set_gradient(struct case_options *o) { o->gradient = true; }

// Outputs are the result and all gradients, computed by the nodes of a training step.
TEST(test_gradients)
{
    hold_one(F32, "gradients", set_gradient);
}

// As on the CPU: a few hundred roundings of f32 at most.
TEST(test_fused)
{
    fused_on("cuda", F32, 1024.0);
}

// Runs every launch in three orders of blocks and threads; the first difference ends the program and names the kernel. All
// memory is kept for the comparison: blocks of their own are less of it than chunks.
TEST(test_without_races)
{
    if (!emulate_races || SANITIZED) skip();
    emulate_races(1);
    setenv("DAWN_CUDA_POOL", "off", 1);
    hold_one(F16, "looking for races, through temporaries", set_through);
    unsetenv("DAWN_CUDA_POOL");
    emulate_races(0);
}

#ifdef __SANITIZE_ADDRESS__
SETUP(turn_pool_off)
{
    return setenv("DAWN_CUDA_POOL", "off", 0);  // so that an access past the end of a slot is detected
}

TEST_GROUP(turn_pool_off, NULL)
#endif
