// SPDX-License-Identifier: Apache-2.0
// The cases on processors without AVX-512. oneDNN asks for its limit once per process, before its first product.
#include "test/unit/test.h"
#include "test/unit/fixture_cases.h"

TEST(test_cpu_with_avx2)
{
    setenv("DAWN_ISA", "avx2", 1);
    setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1);
    hold_types("cpu", 2, F16, CASE_SLOW);
}
