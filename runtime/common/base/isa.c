// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/base/isa.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum isa_set isa_most(void)
{
#ifdef ISA_ONLY_BASE
    return ISA_SET_BASE;
#else
    __builtin_cpu_init();
    // Every CPU with avx2 has f16c, but clang 14 does not accept that name.
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx2 && avx512 ? ISA_SET_AVX512 : avx2 ? ISA_SET_AVX2 : ISA_SET_BASE;
#endif
}

enum isa_set isa_choose(void)
{
    static const char *const name[ISA_SETS] = {"base", "avx2", "avx512"};
    const char *asked = getenv("DAWN_ISA");
    for (enum isa_set i = ISA_SET_BASE; asked != NULL && i < isa_most(); i++)
        if (!strcmp(name[i], asked)) return i;
    return isa_most();
}
