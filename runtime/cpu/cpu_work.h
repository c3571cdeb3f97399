// SPDX-License-Identifier: Apache-2.0
// Shared by the cpu_*.c files: the values of a step, the split over threads, and the scratch of a step. Workspace and run carve
// the scratch with the same lines.
#pragma once

#include "runtime/common/base/threads.h"
#include "runtime/cpu/cpu.h"
#include "runtime/cpu/loops/loops.h"

// Minimum number of elements per thread; fewer are not worth waking a thread.
enum { CPU_GRAIN = 16384 };

static inline const struct value *cpu_in(const struct cpu_step *s, int i)
{
    return node_in(s->graph, s->node, i);
}

static inline const struct value *cpu_out(const struct cpu_step *s, int i)
{
    return node_out(s->graph, s->node, i);
}

static inline void *cpu_at(enum dtype t, const void *base, int64_t i)
{
    return (char *)(uintptr_t)base + i * (int64_t)dtype_size(t);
}

static inline int64_t cpu_count(const struct value *v)
{
    return shape_count(&v->shape);
}

// For rows that are too short and too far apart for the hardware prefetcher. base: or NULL.
static inline void cpu_prefetch(enum dtype t, const void *base, int64_t i, int64_t n)
{
    const char *row = base ? cpu_at(t, base, i) : NULL;
    for (int64_t at = 0; row && at < n * (int64_t)dtype_size(t); at += 64) __builtin_prefetch(row + at);
}

// Minimum number of rows of `size` elements per piece.
static inline int64_t cpu_grain(int64_t size)
{
    return size >= CPU_GRAIN ? 1 : CPU_GRAIN / (size > 0 ? size : 1);
}

// The width of a struct period: C repeated until whole vectors fit and a row is long enough to be worth a loop.
static inline int64_t cpu_period(int64_t c)
{
    enum { WIDE = 256 };
    if (c >= WIDE) return c;
    int64_t fold = 1;
    while (fold * c % 32 != 0) fold *= 2;
    while (fold * c < WIDE) fold *= 2;
    return fold * c;
}

// Converts between any two types, on all threads (cpu_element.c).
void cpu_convert(const struct loops *, enum dtype from, const void *x, enum dtype to, void *y, int64_t n);

// Defines a prepare function that only sets run.
#define CPU_PREPARE(name)                                                                                              \
    static int name##_prepare(struct cpu_step *s)                                                                      \
    {                                                                                                                  \
        s->run = name##_run;                                                                                           \
        return 0;                                                                                                      \
    }

// Carves scratch; with base NULL it only counts.
struct cpu_scratch {
    char *base;
    size_t used;
};

static inline void *cpu_take(struct cpu_scratch *s, int64_t count, size_t size)
{
    size_t bytes = ((size_t)count * size + 63) & ~(size_t)63;
    s->used += bytes;
    return s->base ? s->base + (s->used - bytes) : NULL;
}
