// SPDX-License-Identifier: Apache-2.0
// The CPU device: memory, the table of operators, and programs that are arrays of prepared steps. A run is one call per node;
// compile has fixed primitives, addresses and scratch. Overhead per step: the call, and the fork and join of its loop (some
// microseconds on two threads).
#include "runtime/cpu/cpu.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/isa.h"
#include "runtime/common/base/memory.h"
#include "runtime/common/base/threads.h"
#include "runtime/cpu/loops/loops.h"
#include "runtime/cpu/product/dnnl_prim.h"
#include "runtime/cpu/tiles/tiles.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

static const struct cpu_op *const cpu_ops[OP_COUNT] = {
#define OP(ID, name, inputs, outputs, flags) [OP_##ID] = &cpu_##name,
#include "runtime/ops.def"
#undef OP
};

struct program {
    struct cpu_step *step;
    int count;
};

// ---- the device

static int cpu_open(int index, int threads, struct device **into)
{
    if (index != 0) return fail(ERR_USAGE, "device cpu:%d does not exist: there is one cpu device", index);
    if (threads < 0) return fail(ERR_USAGE, "the number of threads must not be negative; got %d", threads);
    const char *level = getenv("DAWN_ISA");
    if (level && *level && !isa_is_known(level)) return fail(ERR_USAGE, "DAWN_ISA=%s: it is base, avx2 or avx512", level);
    threads_set(threads);
    struct cpu_device *cpu = zalloc(sizeof *cpu);
    cpu->base.type = &device_cpu;
    cpu->threads = threads_count();
    int rc = dnnl_prim_open(cpu);
    if (rc < 0) {
        free(cpu);
        return rc;
    }
    cpu->loops = loops_choose();
    cpu->bf16 = dnnl_prim_multiplies_bf16();
    cpu->tiles = tiles_exist();
    *into = &cpu->base;
    return 0;
}

static void cpu_close(struct device *device)
{
    struct cpu_device *cpu = (struct cpu_device *)device;
    dnnl_prim_close(cpu);
    free(cpu);
}

// Large blocks request huge pages: the first touch of 1 GB is 512 faults instead of 262,144 (docs/performance.md).
enum { LARGE_PAGE = 2 << 20, LARGE_BLOCK = 4 << 20 };

static int cpu_alloc(struct device *device, size_t bytes, void **into)
{
    (void)device;
    size_t align = bytes >= LARGE_BLOCK ? LARGE_PAGE : PLAN_ALIGN;
    size_t capacity = (bytes + align - 1) / align * align;
    if (capacity < bytes) return fail(ERR_MEMORY, "%zu bytes exceed the address space", bytes);
    *into = aligned_alloc(align, capacity ? capacity : align);
    if (!*into) return fail(ERR_MEMORY, "the system cannot allocate %zu bytes of memory", bytes);
    if (align == LARGE_PAGE) (void)madvise(*into, capacity, MADV_HUGEPAGE);  // a hint: small pages work as well
    return 0;
}

static void cpu_free(struct device *device, void *block)
{
    (void)device;
    free(block);
}

static int cpu_copy(struct device *device, void *to, const void *from, size_t bytes)
{
    (void)device;
    threads_copy(to, from, bytes, 1 << 20);
    return 0;
}

// ---- programs

static int cpu_supports(struct device *device, const struct graph *g, const struct node *n)
{
    const struct cpu_op *op = cpu_ops[n->op];
    if (!op->supports) return 0;
    int rc = op->supports((struct cpu_device *)device, g, n);
    return rc == 0 ? 0 : node_refuse(g, n, "cpu", rc);
}

// Called only for convolutions with a pool, which Winograd's kernels compute if they fit.
static bool cpu_fuses(struct device *device, const struct graph *g, const struct node *n)
{
    return cpu_supports(device, g, n) == 0;
}

static int cpu_workspace(struct device *device, const struct graph *g, const struct node *n, size_t *bytes)
{
    const struct cpu_op *op = cpu_ops[n->op];
    *bytes = op->workspace ? op->workspace((struct cpu_device *)device, g, n) : 0;
    return 0;
}

static size_t cpu_kept(struct device *device, const struct graph *g, const struct node *n)
{
    const struct cpu_op *op = cpu_ops[n->op];
    return op->kept ? op->kept((struct cpu_device *)device, g, n) : 0;
}

static void cpu_release(struct program *program)
{
    for (int i = 0; i < program->count; i++)
        if (program->step[i].release) program->step[i].release(&program->step[i]);
    free(program->step);
    free(program);
}

static int step_prepare(struct cpu_device *cpu, const struct plan *plan, char *slab, int position,
                        struct cpu_step *step)
{
    const struct graph *g = plan->graph;
    const struct node *n = &g->node[plan->order[position]];
    *step = (struct cpu_step){.cpu = cpu, .graph = g, .node = n, .work_bytes = plan->work_bytes[position]};
    for (int i = 0; i < MAX_IN; i++)
        step->in[i] = i < op_table[n->op].inputs ? plan_address(plan, slab, n->in[i]) : NULL;
    for (int i = 0; i < MAX_OUT; i++)
        step->out[i] = i < op_table[n->op].outputs ? plan_address(plan, slab, n->out[i]) : NULL;
    if (step->work_bytes) step->work = slab + plan->work_offset[position];
    if (plan->kept) step->kept = (char *)plan->kept + plan->kept_offset[position];
    TRY(cpu_ops[n->op]->prepare(step));
    BUG_IF(!step->run);
    return 0;
}

static int cpu_compile(struct device *device, const struct plan *plan, void *slab, struct program **into)
{
    struct cpu_device *cpu = (struct cpu_device *)device;
    struct program *program = zalloc(sizeof *program);
    program->step = zalloc((size_t)(plan->count ? plan->count : 1) * sizeof *program->step);
    for (int i = 0; i < plan->count; i++) {
        int rc = step_prepare(cpu, plan, slab, i, &program->step[program->count++]);
        if (rc < 0) {
            cpu_release(program);
            return rc;
        }
    }
    *into = program;
    return 0;
}

static int cpu_run(struct program *program)
{
    for (int i = 0; i < program->count; i++) TRY(program->step[i].run(&program->step[i]));
    return 0;
}

static int cpu_profile(struct program *program, int64_t *ns)
{
    for (int i = 0; i < program->count; i++) {
        int64_t before = clock_ns();
        TRY(program->step[i].run(&program->step[i]));
        ns[i] = clock_ns() - before;
    }
    return 0;
}

static int cpu_sync(struct device *device)
{
    (void)device;  // run returns only when the work is done
    return 0;
}

// ---- facts

// The text after "key : " in a file like /proc/cpuinfo; "" if the key is missing.
static void proc_text(const char *path, const char *key, char *into, size_t capacity)
{
    char line[512];
    into[0] = '\0';
    FILE *f = fopen(path, "re");
    if (!f) return;
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, key, strlen(key)) != 0) continue;
        const char *at = strchr(line, ':');
        if (!at) continue;
        at += 1 + strspn(at + 1, " \t");
        snprintf(into, capacity, "%.*s", (int)strcspn(at, "\n"), at);
        break;
    }
    fclose(f);
}

static int cpu_facts(struct device *device, struct device_facts *facts)
{
    struct cpu_device *cpu = (struct cpu_device *)device;
    char model[80], isa[24];
    memset(facts, 0, sizeof *facts);
    proc_text("/proc/cpuinfo", "model name", model, sizeof model);
    dnnl_prim_facts(facts->library, sizeof facts->library, isa, sizeof isa);
    snprintf(facts->name, sizeof facts->name, "%s, %d thread%s, %s", model[0] ? model : "unknown processor",
             cpu->threads, cpu->threads == 1 ? "" : "s", isa);
    facts->threads = cpu->threads;
    facts->memory = memory_available();
    facts->fast[BF16] = cpu->bf16;
    return 0;
}

const struct device_type device_cpu = {
    .name = "cpu",
    .about = "this machine's CPU, with oneDNN and vector loops of DAWN",
    .joins = true,
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .free = cpu_free,
    .upload = cpu_copy,
    .download = cpu_copy,
    .host_alloc = device_host_alloc,
    .host_free = device_host_free,
    .stage = cpu_copy,
    .stage_done = device_stage_done,
    .supports = cpu_supports,
    .fuses = cpu_fuses,
    .workspace = cpu_workspace,
    .kept = cpu_kept,
    .compile = cpu_compile,
    .run = cpu_run,
    .sync = cpu_sync,
    .profile = cpu_profile,
    .release = cpu_release,
    .facts = cpu_facts,
};
