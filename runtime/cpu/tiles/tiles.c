// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/tiles/tiles.h"

#include <pthread.h>
#include <stdlib.h>

#if defined __x86_64__ && defined __linux__

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/cpu/product/avx512.h"

enum { REQUEST_REGISTERS = 0x1023, TILE_REGISTERS = 18 };  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA

static bool exist;

static void ask_permission(void)
{
    unsigned a, b, c, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return;
    bool bf16 = d >> 22 & 1, tiles = d >> 24 & 1;
    exist = bf16 && tiles && avx512_fit(true) && syscall(SYS_arch_prctl, REQUEST_REGISTERS, TILE_REGISTERS) == 0;
}

bool tiles_exist(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ask_permission);
    return exist && getenv("DAWN_ISA") == NULL;
}

#else

bool tiles_exist(void) { return false; }

#endif
