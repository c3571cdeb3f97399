// SPDX-License-Identifier: Apache-2.0
// A loop costs one job of the pool (a few microseconds); a range of one grain or a single thread costs a call.
#include "runtime/common/base/threads.h"

#include "runtime/common/base/cgroup.h"
#include "runtime/common/base/error.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/base/pool.h"

enum { MOST = 4096 };
static _Atomic int count_now;  // 0 until the first call

int threads_available(void)
{
    int n = 0;
    for (int capacity = 1024; n == 0 && capacity <= 1 << 20; capacity *= 4) {  // large machines need larger sets
        cpu_set_t *set = CPU_ALLOC(capacity);
        if (!set) break;
        if (sched_getaffinity(0, CPU_ALLOC_SIZE(capacity), set) == 0) n = CPU_COUNT_S(CPU_ALLOC_SIZE(capacity), set);
        CPU_FREE(set);
    }
    if (n <= 0) n = (int)sysconf(_SC_NPROCESSORS_ONLN);
    int64_t limit = cgroup_processors(&cgroup_here);
    if (limit < n) n = (int)limit;
    return n > 0 ? n : 1;
}

void threads_set(int count)
{
    BUG_IF(count < 0);
    count_now = count ? count : threads_available();
}

int threads_count(void)
{
    if (!count_now) {
        const char *wish = getenv("OMP_NUM_THREADS");  // counts until threads_set changes it
        long wanted = wish ? strtol(wish, NULL, 10) : 0;
        threads_set(wanted > 0 && wanted <= MOST ? (int)wanted : 0);
    }
    return count_now;
}

struct loop {
    int64_t n, grain, units;
    int pieces;
    void (*fn)(void *context, int64_t begin, int64_t end, int thread);
    void *context;
};

static void run_piece(void *context, int piece)
{
    const struct loop *l = context;
    int64_t size = l->units / l->pieces, extra = l->units % l->pieces;
    int64_t first = piece * size + (piece < extra ? piece : extra);
    int64_t begin = first * l->grain, end = (first + size + (piece < extra)) * l->grain;
    l->fn(l->context, begin, end < l->n ? end : l->n, piece);
}

void threads_for(int64_t n, int64_t grain, void (*fn)(void *context, int64_t begin, int64_t end, int thread), void *context)
{
    BUG_IF(grain < 1);
    if (n <= 0) return;
    struct loop l = {n, grain, n / grain + (n % grain != 0), threads_count(), fn, context};
    if (l.units < l.pieces) l.pieces = (int)l.units;
    if (pool_inside()) {  // a nested loop: all threads are busy, so this thread runs it alone
        fn(context, 0, n, pool_part());
    } else if (l.pieces == 1) {
        fn(context, 0, n, 0);
    } else {
        pool_run(l.pieces, run_piece, &l);
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

// ---- oneDNN's loops
// Debian's oneDNN calls GCC's OpenMP library. The linker takes these definitions instead, because a program's precede a
// library's, so both use one pool. A oneDNN that is built on another library of threads is not reached by them, and brings its
// own threads.
struct region {
    void (*fn)(void *);
    void *data;
};

static void run_part(void *context, int part)
{
    (void)part;
    const struct region *r = context;
    r->fn(r->data);
}

void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);
void omp_set_num_threads(int count);

void GOMP_parallel(void (*fn)(void *), void *data, unsigned threads, unsigned flags)
{
    (void)flags;
    struct region r = {fn, data};
    pool_run(pool_inside() ? 1 : threads ? (int)threads : threads_count(), run_part, &r);
}

void GOMP_barrier(void)
{
    pool_barrier();
}

int omp_get_max_threads(void)
{
    return threads_count();
}

int omp_get_num_threads(void)
{
    return pool_parts();
}

int omp_get_thread_num(void)
{
    return pool_part();
}

int omp_in_parallel(void)
{
    return pool_inside();
}

void omp_set_num_threads(int count)
{
    threads_set(count);
}
