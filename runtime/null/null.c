// SPDX-License-Identifier: Apache-2.0
// A device without hardware: addresses that must not be accessed, programs that do nothing, and counters. Freeing an unknown
// address, or one twice, is a BUG, so every test with this device also checks the session's memory management.
#include "runtime/null/null.h"

#include <stdio.h>
#include <stdlib.h>

struct fake {
    uintptr_t at;
    size_t bytes;
};

struct null_device {
    struct device base;
    struct null_counts counts;
    size_t limit;
    uintptr_t next;  // addresses only grow and are never reused
    struct fake *fake;
    int fakes, capacity;
};

struct program {
    struct null_device *device;
    int nodes;
};

// Far from anything that a process maps, so that an access ends the program.
enum { FIRST_ADDRESS_MB = 64, PAGE = 4096 };
static const size_t EVERYTHING = (size_t)1 << 46;  // 64 TB: more than any plan needs, less than the address space

static struct null_device *null_of(const struct device *d)
{
    BUG_IF(d->type != &device_null);
    return (struct null_device *)(uintptr_t)d;
}

const struct null_counts *null_counts(const struct device *d) { return &null_of(d)->counts; }
void null_limit(struct device *d, size_t bytes) { null_of(d)->limit = bytes; }

static int null_open(int index, int threads, struct device **into)
{
    (void)index, (void)threads;
    struct null_device *n = zalloc(sizeof *n);
    n->base.type = &device_null;
    n->limit = EVERYTHING;
    n->next = (uintptr_t)FIRST_ADDRESS_MB << 20;
    *into = &n->base;
    return 0;
}

static void null_close(struct device *d)
{
    struct null_device *n = null_of(d);
    free(n->fake);
    free(n);
}

static int null_alloc(struct device *d, size_t bytes, void **into)
{
    struct null_device *n = null_of(d);
    if (n->counts.allocated > n->limit || bytes > n->limit - n->counts.allocated)
        return fail(ERR_MEMORY, "device null: no memory for %zu bytes (%zu of %zu are in use)", bytes,
                    n->counts.allocated, n->limit);
    if (n->fakes == n->capacity) {
        n->capacity = n->capacity ? 2 * n->capacity : 16;
        n->fake = grow(n->fake, (size_t)n->capacity * sizeof *n->fake);
    }
    n->fake[n->fakes++] = (struct fake){n->next, bytes};
    *into = (void *)n->next;
    n->next += (bytes / PAGE + 2) * PAGE;  // a gap behind each block, so that no two are adjacent
    n->counts.allocations++;
    n->counts.allocated += bytes;
    if (n->counts.allocated > n->counts.peak) n->counts.peak = n->counts.allocated;
    return 0;
}

static void null_free(struct device *d, void *at)
{
    if (!at) return;
    struct null_device *n = null_of(d);
    int i = 0;
    while (i < n->fakes && n->fake[i].at != (uintptr_t)at) i++;
    BUG_IF(i == n->fakes);
    n->counts.frees++;
    n->counts.allocated -= n->fake[i].bytes;
    n->fake[i] = n->fake[--n->fakes];
}

// A copy must lie inside one allocated block.
static void null_inside(const struct null_device *n, const void *at, size_t bytes)
{
    uintptr_t from = (uintptr_t)at;
    for (int i = 0; i < n->fakes; i++)
        if (from >= n->fake[i].at && from - n->fake[i].at <= n->fake[i].bytes &&
            bytes <= n->fake[i].bytes - (from - n->fake[i].at))
            return;
    BUG("null device: a copy outside of its memory");
}

static int null_upload(struct device *d, void *to, const void *from, size_t bytes)
{
    (void)from;
    null_inside(null_of(d), to, bytes);
    null_of(d)->counts.uploaded += bytes;
    return 0;
}

static int null_download(struct device *d, void *to, const void *from, size_t bytes)
{
    null_inside(null_of(d), from, bytes);
    if (bytes) memset(to, 0, bytes);
    null_of(d)->counts.downloaded += bytes;
    return 0;
}

static int null_supports(struct device *d, const struct graph *g, const struct node *n)
{
    (void)d, (void)g, (void)n;
    return 0;
}

static int null_workspace(struct device *d, const struct graph *g, const struct node *n, size_t *bytes)
{
    (void)d, (void)g, (void)n;
    *bytes = 0;
    return 0;
}

static int null_compile(struct device *d, const struct plan *plan, void *slab, struct program **into)
{
    (void)slab;
    struct program *p = zalloc(sizeof *p);
    p->device = null_of(d);
    p->nodes = plan->count;
    p->device->counts.compiled_programs++;
    p->device->counts.compiled_nodes += plan->count;
    *into = p;
    return 0;
}

static int null_run(struct program *p)
{
    p->device->counts.runs++;
    p->device->counts.nodes_run += p->nodes;
    return 0;
}

static int null_sync(struct device *d)
{
    null_of(d)->counts.syncs++;
    return 0;
}

static int null_profile(struct program *p, int64_t *ns)
{
    if (p->nodes) memset(ns, 0, (size_t)p->nodes * sizeof *ns);
    return null_run(p);
}

static void null_release(struct program *p)
{
    if (!p) return;
    p->device->counts.released_programs++;
    free(p);
}

static int null_facts(struct device *d, struct device_facts *f)
{
    const struct null_device *n = null_of(d);
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "no hardware");
    snprintf(f->library, sizeof f->library, "none");
    f->memory = n->limit > n->counts.allocated ? n->limit - n->counts.allocated : 0;
    return 0;
}

const struct device_type device_null = {
    .name = "null",
    .about = "counts calls and bytes, computes nothing",
    .open = null_open,
    .close = null_close,
    .alloc = null_alloc,
    .free = null_free,
    .upload = null_upload,
    .download = null_download,
    .host_alloc = device_host_alloc,
    .host_free = device_host_free,
    .stage = null_upload,
    .stage_done = device_stage_done,
    .supports = null_supports,
    .workspace = null_workspace,
    .compile = null_compile,
    .run = null_run,
    .sync = null_sync,
    .profile = null_profile,
    .release = null_release,
    .facts = null_facts,
};
