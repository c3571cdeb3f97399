// SPDX-License-Identifier: Apache-2.0
// The table of one instruction set and, in the base build only, the choice between the tables.
#include "runtime/cpu/loops_inside.h"

#include <stdlib.h>

#define LOOPS_TEXT2(x) #x
#define LOOPS_TEXT(x) LOOPS_TEXT2(x)
#define LOOPS_TABLE2(isa) loops_##isa
#define LOOPS_TABLE(isa) LOOPS_TABLE2(isa)

const struct loops LOOPS_TABLE(ISA) = {
    .isa = LOOPS_TEXT(ISA),
#define LOOP(name, arguments) .name = LOOPS_NAME(name),
    LOOPS_LIST
#undef LOOP
};

#define LOOPS_IS_base 1
#define LOOPS_IS2(isa) LOOPS_IS_##isa
#define LOOPS_IS(isa) LOOPS_IS2(isa)
#if LOOPS_IS(ISA)

int loops_all(const struct loops *into[3])
{
    int count = 0;
    into[count++] = &loops_base;
#ifndef ISA_ONLY_BASE
    __builtin_cpu_init();
    // Every CPU with avx2 has f16c, but clang 14 does not accept that name.
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2) into[count++] = &loops_avx2;
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        into[count++] = &loops_avx512;
#endif
    return count;
}

const struct loops *loops_choose(void)
{
    const struct loops *table[3];
    int count = loops_all(table);
    const char *asked = getenv("DAWN_ISA");
    for (int i = 0; asked && i < count; i++)
        if (!strcmp(table[i]->isa, asked)) return table[i];
    return table[count - 1];
}

#endif
