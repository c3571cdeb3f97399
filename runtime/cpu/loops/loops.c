// SPDX-License-Identifier: Apache-2.0
// The table of one instruction set and, in the base build only, the choice between the tables.
#include "runtime/cpu/loops/loops_inside.h"

#include "runtime/common/base/isa.h"

#define LOOPS_TEXT2(x) #x
#define LOOPS_TEXT(x) LOOPS_TEXT2(x)
#define LOOPS_TABLE2(isa) loops_##isa
#define LOOPS_TABLE(isa) LOOPS_TABLE2(isa)

const struct loops LOOPS_TABLE(ISA) = {
    .isa = LOOPS_TEXT(ISA),
    .panel_lanes = PANEL_LANES,
#define LOOP(name, arguments) .name = LOOPS_NAME(name),
    LOOPS_LIST
#undef LOOP
};

#define LOOPS_IS_base 1
#define LOOPS_IS2(isa) LOOPS_IS_##isa
#define LOOPS_IS(isa) LOOPS_IS2(isa)
#if LOOPS_IS(ISA)

static const struct loops *const loops_sets[ISA_SETS] = {
    &loops_base,
#ifndef ISA_ONLY_BASE
    &loops_avx2, &loops_avx512,
#endif
};

int loops_all(const struct loops *into[ISA_SETS])
{
    for (enum isa_set i = ISA_SET_BASE; i <= isa_most(); i++) into[i] = loops_sets[i];
    return (int)isa_most() + 1;
}

const struct loops *loops_choose(void)
{
    return loops_sets[isa_choose()];
}

#endif
