// SPDX-License-Identifier: Apache-2.0
// The only file that uses OpenMP. A loop costs one fork and join of the pool (a few microseconds); a range of one grain or a
// single thread costs a call. Without OpenMP (the fuzzers' build) the same pieces run one after another, so the bytes are
// the same.
#include "runtime/base/threads.h"

#include "runtime/base/error.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

static _Atomic int count_now;  // 0 until the first call

// A container's share of processor time, in processors, rounded up; 0 if there is no limit.
static int container_limit(void)
{
    long long quota = 0, period = 0;
    FILE *f = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (!f) return 0;
    int got = fscanf(f, "%lld %lld", &quota, &period);  // "max 100000" yields no number
    fclose(f);
    if (got != 2 || quota <= 0 || period <= 0) return 0;
    long long whole = (quota + period - 1) / period;
    return whole > 4096 ? 0 : (int)whole;
}

int threads_available(void)
{
    int n = 0;
    for (int room = 1024; n == 0 && room <= 1 << 20; room *= 4) {  // large machines need larger sets
        cpu_set_t *set = CPU_ALLOC(room);
        if (!set) break;
        if (sched_getaffinity(0, CPU_ALLOC_SIZE(room), set) == 0) n = CPU_COUNT_S(CPU_ALLOC_SIZE(room), set);
        CPU_FREE(set);
    }
    if (n <= 0) n = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int limit = container_limit();
    if (limit > 0 && limit < n) n = limit;
    return n > 0 ? n : 1;
}

void threads_set(int count)
{
    BUG_IF(count < 0);
    count_now = count ? count : threads_available();
#ifdef _OPENMP
    omp_set_dynamic(0);
    omp_set_num_threads(count_now);  // oneDNN asks OpenMP, not us
#endif
}

int threads_count(void)
{
    if (!count_now) {
        int wanted = 0;
#ifdef _OPENMP
        // OpenMP's own setting counts until threads_set changes it.
        if (getenv("OMP_NUM_THREADS")) wanted = omp_get_max_threads();
#endif
        threads_set(wanted);
    }
    return count_now;
}

void threads_for(int64_t n, int64_t grain, void (*fn)(void *context, int64_t begin, int64_t end, int thread), void *context)
{
    BUG_IF(grain < 1);
    if (n <= 0) return;
    int64_t units = n / grain + (n % grain != 0);
    int pieces = threads_count();
    if (units < pieces) pieces = (int)units;
#ifdef _OPENMP
    if (omp_in_parallel()) {  // a nested loop: all threads are busy, so this thread runs it alone
        fn(context, 0, n, omp_get_thread_num());
        return;
    }
#endif
    if (pieces == 1) {
        fn(context, 0, n, 0);
        return;
    }
    // By piece, not by thread: if the system grants fewer threads, the split stays the same.
#ifdef _OPENMP
#pragma omp parallel for num_threads(pieces) schedule(static, 1)
#endif
    for (int piece = 0; piece < pieces; piece++) {
        int64_t size = units / pieces, extra = units % pieces;
        int64_t first = piece * size + (piece < extra ? piece : extra);
        int64_t begin = first * grain, end = (first + size + (piece < extra)) * grain;
        fn(context, begin, end < n ? end : n, piece);
    }
}

struct copying {
    char *to;
    const char *from;
};

static void copy_piece(void *context, int64_t begin, int64_t end, int thread)
{
    (void)thread;
    const struct copying *c = context;
    memcpy(c->to + begin, c->from + begin, (size_t)(end - begin));
}

void threads_copy(void *to, const void *from, size_t bytes, int64_t grain)
{
    struct copying c = {to, from};
    threads_for((int64_t)bytes, grain, copy_piece, &c);
}
