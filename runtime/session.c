// SPDX-License-Identifier: Apache-2.0
#include "runtime/session.h"

#include "runtime/fuse.h"

#include <stdlib.h>

int session_new(struct device *device, struct session **into)
{
    struct session *s = zalloc(sizeof *s);
    s->device = device;
    s->store = slot_store_new();
    *into = s;
    return 0;
}

void session_free(struct session *s)
{
    if (!s) return;
    const struct device_type *type = s->device->type;
    for (int i = 0; i < s->programs; i++) {
        if (s->program[i]) type->release(s->program[i]);
        if (s->plan[i] && s->plan[i]->kept && !s->kept) type->free(s->device, s->plan[i]->kept);
        plan_free(s->plan[i]);
        graph_free(s->graph[i]);
    }
    for (int i = 0; i < s->store->count; i++)
        if (s->store->slot[i]->device) type->free(s->device, s->store->slot[i]->device);
    if (s->kept) type->free(s->device, s->kept);
    if (s->slab) type->free(s->device, s->slab);
    slot_store_free(s->store);
    free(s);
}

int session_add(struct session *s, struct graph *g)
{
    BUG_IF(s->programs == SESSION_PROGRAMS || g->store != s->store || s->slab);
    int number = s->programs++;
    s->graph[number] = g;
    TRY(graph_check(g));
    fuse_prune(g);
    return number;
}

static size_t kept_bytes(const struct session *s)
{
    size_t sum = 0, most = 0;
    for (int i = 0; i < s->programs; i++) {
        const size_t bytes = s->plan[i]->kept_bytes;
        sum += bytes;
        most = bytes > most ? bytes : most;
    }
    return s->device->type->shares_kept ? most : sum;
}

int session_plan(struct session *s)
{
    int largest = -1;
    for (int i = 0; i < s->programs; i++) {
        if (!s->plan[i]) TRY(plan_new(s->graph[i], s->device, &s->plan[i]));
        if (s->plan[i]->slab_bytes >= s->slab_bytes) {
            s->slab_bytes = s->plan[i]->slab_bytes;
            largest = i;
        }
    }
    s->memory_total = 0;
    for (int c = 0; c < MEMORY_CLASSES; c++) {
        s->memory[c] = largest < 0 ? 0 : s->plan[largest]->memory[c];
        if (c == MEMORY_WORKSPACE && largest >= 0) s->memory[c] += kept_bytes(s) - s->plan[largest]->kept_bytes;
        s->memory_total += s->memory[c];
    }
    s->persistent_bytes = s->memory_total - s->slab_bytes;
    return 0;
}

// In pieces, because the slot may be a whole data set.
static int clear_slot(struct session *s, const struct slot *slot)
{
    enum { PIECE = 1 << 20 };
    size_t bytes = slot_bytes(slot);
    void *zeros = zalloc(bytes < PIECE ? bytes : PIECE);
    int rc = 0;
    for (size_t at = 0; at < bytes && rc == 0; at += PIECE)
        rc = s->device->type->upload(s->device, (char *)slot->device + at, zeros, bytes - at < PIECE ? bytes - at : PIECE);
    free(zeros);
    return rc;
}

static int take_kept(struct session *s)
{
    const struct device_type *type = s->device->type;
    if (type->shares_kept && kept_bytes(s)) TRY(type->alloc(s->device, kept_bytes(s), &s->kept));
    for (int i = 0; i < s->programs; i++) {
        if (type->shares_kept) s->plan[i]->kept = s->kept;
        else if (s->plan[i]->kept_bytes) TRY(type->alloc(s->device, s->plan[i]->kept_bytes, &s->plan[i]->kept));
    }
    return 0;
}

static int take_memory(struct session *s)
{
    struct device_facts facts;
    TRY(s->device->type->facts(s->device, &facts));
    if (facts.memory && s->memory_total > facts.memory)
        return fail(ERR_MEMORY, "the plan needs %.2f GB and %s has %.2f GB free; a smaller --batch needs less",
                    (double)s->memory_total / 1e9, s->device->type->name, (double)facts.memory / 1e9);
    for (int i = 0; i < s->store->count; i++) {
        struct slot *slot = s->store->slot[i];
        TRY(s->device->type->alloc(s->device, slot_bytes(slot), &slot->device));
        if (slot->init.kind == INIT_UPLOAD) TRY(clear_slot(s, slot));
    }
    TRY(take_kept(s));
    return s->device->type->alloc(s->device, s->slab_bytes ? s->slab_bytes : PLAN_ALIGN, &s->slab);
}

static int begin_slot(struct session *s, struct slot *slot, uint64_t seed)
{
    void *bytes = zalloc(slot_bytes(slot));
    slot_initial(slot, seed, bytes);
    slot->version++;
    int rc = s->device->type->upload(s->device, slot->device, bytes, slot_bytes(slot));
    free(bytes);
    return rc;
}

int session_ready(struct session *s)
{
    TRY(session_plan(s));
    TRY(take_memory(s));
    for (int i = 0; i < s->programs; i++)
        TRY(s->device->type->compile(s->device, s->plan[i], s->slab, &s->program[i]));
    return 0;
}

int session_reset(struct session *s, uint64_t seed)
{
    TRY(session_sync(s));
    for (int i = 0; i < s->store->count; i++)
        if (s->store->slot[i]->init.kind != INIT_UPLOAD) TRY(begin_slot(s, s->store->slot[i], seed));
    return 0;
}

// Called before the run: a copy that the program packs from a slot is stale in the next run if the program overwrites the slot.
static void mark_written(const struct graph *g)
{
    for (int i = 0; i < g->nodes; i++)
        for (int o = 0; o < MAX_OUT; o++)
            if (g->node[i].out[o] != NONE && g->value[g->node[i].out[o]].slot) g->value[g->node[i].out[o]].slot->version++;
}

int session_run(struct session *s, int program)
{
    BUG_IF(program < 0 || program >= s->programs || !s->program[program]);
    mark_written(s->graph[program]);
    return s->device->type->run(s->program[program]);
}

int session_profile(struct session *s, int program, int64_t *ns)
{
    BUG_IF(program < 0 || program >= s->programs || !s->program[program]);
    mark_written(s->graph[program]);
    return s->device->type->profile(s->program[program], ns);
}

int session_sync(struct session *s)
{
    return s->device->type->sync(s->device);
}

static int check_range(const struct slot *slot, size_t offset, size_t count)
{
    BUG_IF(!slot->device);
    if (offset > slot_bytes(slot) || count > slot_bytes(slot) - offset)
        return fail(ERR_SHAPE, "slot \"%s\" holds %zu bytes, not %zu at %zu", slot->name, slot_bytes(slot), count, offset);
    return 0;
}

int session_write(struct session *s, struct slot *slot, const void *bytes, size_t offset, size_t count)
{
    TRY(check_range(slot, offset, count));
    slot->version++;
    return s->device->type->upload(s->device, (char *)slot->device + offset, bytes, count);
}

int session_read_at(struct session *s, const struct slot *slot, void *bytes, size_t offset, size_t count)
{
    TRY(check_range(slot, offset, count));
    return s->device->type->download(s->device, bytes, (const char *)slot->device + offset, count);
}

int session_read(struct session *s, const struct slot *slot, void *bytes, size_t count)
{
    return session_read_at(s, slot, bytes, 0, count);
}

static int find_slot(const struct session *s, const char *name, struct slot **slot)
{
    *slot = slot_find(s->store, name);
    return *slot ? 0 : fail(ERR_SHAPE, "there is no slot \"%s\"", name);
}

int session_put(struct session *s, const char *name, const void *bytes, size_t offset, size_t count)
{
    struct slot *slot;
    TRY(find_slot(s, name, &slot));
    return session_write(s, slot, bytes, offset, count);
}

int session_get(struct session *s, const char *name, void *bytes, size_t count)
{
    struct slot *slot;
    TRY(find_slot(s, name, &slot));
    return session_read(s, slot, bytes, count);
}

int session_stage(struct session *s, struct slot *slot, const void *bytes, size_t count)
{
    BUG_IF(!slot->device);
    if (count > slot_bytes(slot))
        return fail(ERR_SHAPE, "slot \"%s\" holds %zu bytes, not %zu", slot->name, slot_bytes(slot), count);
    slot->version++;
    return s->device->type->stage(s->device, slot->device, bytes, count);
}

int session_stage_done(struct session *s)
{
    return s->device->type->stage_done(s->device);
}
