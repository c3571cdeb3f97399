// SPDX-License-Identifier: Apache-2.0
// The division of kernels (k_divide.h) against the processor's, at every edge: around multiples of the divisor, around 2^31,
// and beyond it.
#include "runtime/cuda/kernels/k_divide.h"
#include "test/unit/test.h"

static const int64_t edge = (int64_t)1 << 31;

static void try_at(int64_t by, int64_t i)
{
    if (i < 0) return;
    struct k_divide_any d = k_divide_any_by(by);
    int64_t whole = i, rest = k_split_any(&d, &whole);
    if (whole != i / by || rest != i % by) fail_msg("%lld by %lld: %lld", (long long)i, (long long)by, (long long)whole);
    if (i >= edge || by >= edge) return;
    uint32_t quotient = (uint32_t)i, left = k_split(k_divide_by(by), &quotient);
    assert_int_equal(quotient, i / by);
    assert_int_equal(left, i % by);
}

TEST(quotients_are_exact)
{
    static const int64_t by[] = {1, 2, 3, 5, 7, 10, 27, 31, 32, 33, 641, 3072, 65535, 65537, 1000003, (1 << 30) - 1, 1 << 30,
                                 (1 << 30) + 1, 2147483629, 2147483647, 2147483648, 2147483649, 6442450941, 1099511627776};
    for (size_t b = 0; b < sizeof by / sizeof *by; b++)
        for (int64_t near = -3; near <= 3; near++) {
            static const int64_t many[] = {0, 1, 2, 3, 1000, 65536, 1 << 20};
            for (size_t m = 0; m < sizeof many / sizeof *many; m++) try_at(by[b], many[m] * by[b] + near);
            try_at(by[b], edge + near);
            try_at(by[b], edge / by[b] * by[b] + near);
            try_at(by[b], (int64_t)1 << 40 | (near + 3));
        }
}

TEST(sizes_are_rounded_up)
{
    assert_int_equal(k_divide_up(0, 256), 0);
    assert_int_equal(k_divide_up(1, 256), 1);
    assert_int_equal(k_divide_up(256, 256), 1);
    assert_int_equal(k_divide_up(257, 256), 2);
    assert_int_equal(k_divide_up(edge * 4 + 1, 4), edge + 1);
}
