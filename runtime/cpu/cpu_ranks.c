// SPDX-License-Identifier: Apache-2.0
// Sums over the processes that train together. The gradients of a bucket are packed side by side, reduced in one exchange, and
// unpacked. The node ends when the sums are there: the exchange needs a processor itself, so nothing would be gained by going
// on meanwhile.
#include "runtime/cpu/cpu_work.h"
#include "runtime/ranks/ranks.h"

static int64_t elements_of(const struct graph *g, const struct node *n)
{
    int64_t count = 0;
    for (int i = 0; i < op_table[OP_ALL_REDUCE].inputs; i++)
        if (n->in[i] != NONE) count += shape_count(&g->value[n->in[i]].shape);
    return count;
}

static size_t all_reduce_workspace(struct cpu_device *cpu, const struct graph *g, const struct node *n)
{
    (void)cpu;
    return ranks_size() > 1 ? 2 * (size_t)ranks_scratch(elements_of(g, n)) * sizeof(float) : 0;
}

static int all_reduce_run(struct cpu_step *s)
{
    const struct loops *loops = s->cpu->loops;
    int inputs = op_table[OP_ALL_REDUCE].inputs;
    int64_t count = elements_of(s->graph, s->node), at = 0;
    float *packed = s->work;
    bool alone = ranks_size() == 1;
    for (int i = 0; i < inputs; i++) {
        if (!s->in[i]) continue;
        float *to = alone ? s->out[i] : packed + at;
        if (to) cpu_convert(loops, F32, s->in[i], F32, to, cpu_count(cpu_in(s, i)));
        at += cpu_count(cpu_in(s, i));
    }
    if (alone) return 0;
    TRY(ranks_reduce(packed, packed + ranks_scratch(count), count));
    at = 0;
    for (int i = 0; i < inputs; i++) {
        if (!s->in[i]) continue;
        if (s->out[i]) cpu_convert(loops, F32, packed + at, F32, s->out[i], cpu_count(cpu_in(s, i)));
        at += cpu_count(cpu_in(s, i));
    }
    return 0;
}

CPU_PREPARE(all_reduce)
const struct cpu_op cpu_all_reduce = {.prepare = all_reduce_prepare, .workspace = all_reduce_workspace};
