// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/base/isa.h"

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

static const char *const names[ISA_SETS] = {"base", "avx2", "avx512"};

bool isa_is_known(const char *name)
{
    for (int i = 0; i < ISA_SETS; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

enum isa_set isa_choose(void)
{
    const char *asked = getenv("DAWN_ISA");
    for (enum isa_set i = ISA_SET_BASE; asked != NULL && i < isa_most(); i++)
        if (!strcmp(names[i], asked)) return i;
    return isa_most();
}
