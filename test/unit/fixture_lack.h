// SPDX-License-Identifier: Apache-2.0
// Allocations that fail. This replaces malloc, calloc and realloc of the whole program, its libraries included. The functions of
// the sanitizers stay behind them, so leaks are found as usual.
#pragma once

#include "test/unit/test.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/common/base/reserve.h"
#include "runtime/common/cli/program.h"

static _Atomic long lack_at;    // the allocation that fails: 1 is the next one; 0: none fails
static _Atomic bool lack_lasts;  // all after it fail, too
static _Atomic bool lack_struck;
static long lack_dense = LONG_MAX;  // lack_each tries so many allocations one by one, and those after them in growing distances

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define LACK_REAL(name) __interceptor_##name
#else
#define LACK_REAL(name) __libc_##name
#endif
// What runs before the sanitizers begin.
#define LACK_PLAIN __attribute__((no_sanitize("address"), no_sanitize("undefined"), no_sanitize("thread")))
extern void *LACK_REAL(malloc)(size_t), *LACK_REAL(calloc)(size_t, size_t), *LACK_REAL(realloc)(void *, size_t);

LACK_PLAIN static bool lack_strikes(void)
{
    long at = lack_at;
    while (at > 0 && !atomic_compare_exchange_weak(&lack_at, &at, at - 1)) continue;
    if (at != 1) return false;
    if (lack_lasts) lack_at = 1;
    lack_struck = true;
    errno = ENOMEM;
    return true;
}

LACK_PLAIN void *malloc(size_t bytes) { return lack_strikes() ? NULL : LACK_REAL(malloc)(bytes); }
LACK_PLAIN void *calloc(size_t count, size_t bytes) { return lack_strikes() ? NULL : LACK_REAL(calloc)(count, bytes); }
LACK_PLAIN void *realloc(void *at, size_t bytes) { return lack_strikes() ? NULL : LACK_REAL(realloc)(at, bytes); }

// For a child process that may crash: without it cmocka takes the signal, and the child exits as if a test of it had failed.
static inline void lack_child(void)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    const struct rlimit no_core = {0, 0};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) signal(signals[i], SIG_DFL);
    if (!freopen("/dev/null", "w", stderr) || setrlimit(RLIMIT_CORE, &no_core) < 0) _exit(2);
}

// Calls `read` with its first allocation failing, then with its second alone, until it makes no more. It must return an error and
// a sentence (negative), or what it returns without a lack: the reserve, or a library, did without. Returns the number of errors.
static inline int lack_each(const char *name, int64_t (*read)(void))
{
    program_memory();
    const int64_t usual = read();
    if (usual < 0) fail_msg("%s: %s", name, error_text());
    int errors = 0;
    long nth = 0, tried = 0;
    do {
        (void)!fail(ERR_INPUT, "no sentence");
        lack_struck = reserve_low();  // false, and the reserve is full again
        nth += 1 + nth / lack_dense, tried++;
        lack_at = nth;
        const int64_t got = read();
        lack_at = 0;
        if (got < 0 && strcmp(error_text(), "no sentence") == 0) fail_msg("%s: allocation %ld: no sentence", name, nth);
        if (got >= 0 && got != usual) fail_msg("%s: allocation %ld: %lld, not %lld", name, nth, (long long)got, (long long)usual);
        if (got < 0 && !lack_struck) fail_msg("%s: after a lack: %s", name, error_text());
        errors += got < 0;
    } while (lack_struck);
    print_message("%s: %d errors of %ld allocations\n", name, errors, tried - 1);
    return errors;
}
