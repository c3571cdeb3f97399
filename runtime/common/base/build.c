// SPDX-License-Identifier: Apache-2.0
// The only file that is compiled with DAWN_COMMIT, DAWN_DIRTY and DAWN_FLAGS, so that a new commit recompiles one file.
#include "runtime/common/base/build.h"

#include <stddef.h>

#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)

const char *build_version(void)
{
    return "0.1.0";
}

const char *build_commit(void)
{
    return DAWN_COMMIT;
}

bool build_dirty(void)
{
    return DAWN_DIRTY;
}

const char *build_compiler(void)
{
#ifdef __clang__
    return "clang " TEXT_OF(__clang_major__) "." TEXT_OF(__clang_minor__) "." TEXT_OF(__clang_patchlevel__);
#else
    return "gcc " TEXT_OF(__GNUC__) "." TEXT_OF(__GNUC_MINOR__) "." TEXT_OF(__GNUC_PATCHLEVEL__);
#endif
}

// Weak: the emulator's object overrides it.
__attribute__((weak)) const char *build_emulates(void)
{
    return NULL;
}

const char *build_flags(void)
{
    return DAWN_FLAGS;
}
