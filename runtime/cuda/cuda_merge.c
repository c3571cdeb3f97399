// SPDX-License-Identifier: Apache-2.0
// List scheduling. Of the kinds with a ready node, one whose nodes are all ready goes first: waiting could not make its launch
// larger. Otherwise the kind with the longest path behind it goes first, so that the last nodes of all chains meet in one launch.
#include "runtime/cuda/cuda_merge.h"

#include "runtime/common/base/error.h"

#include <stdlib.h>

struct item {
    int task, kind;
    int waits;   // number of earlier items that it depends on and that were not placed yet
    int height;  // number of items on the longest path that begins here
    bool placed;
};

enum dependency { FREE, NEXT, LATER };  // NEXT: may be in the same launch, behind the earlier one
struct search {
    struct item *item;
    enum dependency *after;  // [earlier, later]: how the later item depends on the earlier one
    int items;
    struct cuda_merge *into;
};

static enum dependency *after_of(const struct search *s, int earlier, int later)
{
    return &s->after[(size_t)earlier * (size_t)s->items + (size_t)later];
}

static enum dependency find_dependency(const struct search *s, const struct cuda_task *task, int i, int j)
{
    const struct item *a = &s->item[i], *b = &s->item[j];
    if (!cuda_lanes_conflict(&task[a->task], &task[b->task])) return FREE;
    return a->kind && a->kind == b->kind && cuda_lanes_add(&task[a->task], &task[b->task]) ? NEXT : LATER;
}

// Items are in program order, so a path only goes up.
static void find_dependencies(struct search *s, const struct cuda_task *task)
{
    for (int i = s->items - 1; i >= 0; i--) {
        s->item[i].height = 1;
        for (int j = i + 1; j < s->items; j++) {
            if ((*after_of(s, i, j) = find_dependency(s, task, i, j)) == FREE) continue;
            s->item[j].waits++;
            if (s->item[j].height >= s->item[i].height) s->item[i].height = s->item[j].height + 1;
        }
    }
}

static bool is_ready(const struct item *i) { return !i->placed && i->waits == 0; }

// The item that stands for the next launch: one that is never merged, else one of the best kind.
static int choose_next(const struct search *s)
{
    int best = -1, waiting[CUDA_MERGE_KINDS] = {0};
    for (int i = 0; i < s->items; i++) waiting[s->item[i].kind] += s->item[i].waits > 0;
    for (int i = 0; i < s->items; i++) {
        const struct item *one = &s->item[i], *other = &s->item[best < 0 ? i : best];
        if (!is_ready(one)) continue;
        if (!one->kind) return i;
        bool whole = !waiting[one->kind], other_whole = !waiting[other->kind];
        if (best < 0 || whole > other_whole || (whole == other_whole && one->height > other->height)) best = i;
    }
    return best;
}

static void place_task(struct cuda_merge *m, int task)
{
    struct cuda_batch *b = &m->batch[m->batches];
    m->task[b->first + b->count++] = task;
}

static void end_batch(struct cuda_merge *m)
{
    struct cuda_batch *b = &m->batch[m->batches++];
    b[1] = (struct cuda_batch){b->first + b->count, 0};
}

static void end_waits(struct search *s, int i, enum dependency which)
{
    for (int j = i + 1; j < s->items; j++) s->item[j].waits -= *after_of(s, i, j) == which;
}

// Places the next launch; returns its number of items. Of the items that become ready by it, only those that continue a sum are
// part of it.
static int place_next(struct search *s, int most)
{
    int next = choose_next(s), kind = s->item[next].kind, count = 0, *now = zalloc((size_t)s->items * sizeof *now);
    for (int i = 0; i < s->items && count < most; i++) {
        if (i != next && (!kind || s->item[i].kind != kind || !is_ready(&s->item[i]))) continue;
        now[count++] = i;
        place_task(s->into, s->item[i].task);
        s->item[i].placed = true;
        end_waits(s, i, NEXT);
    }
    for (int i = 0; i < count; i++) end_waits(s, now[i], LATER);
    end_batch(s->into);
    free(now);
    return count;
}

void cuda_merge_find(const struct cuda_task *task, const int *kind, int tasks, int from, int most, struct cuda_merge *m,
                     struct arena *arena)
{
    struct search s = {.item = zalloc((size_t)(tasks + 1) * sizeof *s.item), .into = m};
    m->task = arena_alloc(arena, (size_t)(tasks + 1) * sizeof *m->task);
    m->batch = arena_alloc(arena, (size_t)(tasks + 1) * sizeof *m->batch);
    m->batches = 0;
    for (int t = 0; t < tasks; t++) {
        if (!task[t].touches) continue;
        BUG_IF(kind[t] < 0 || kind[t] >= CUDA_MERGE_KINDS);
        if (t < from) place_task(m, t), end_batch(m);
        else s.item[s.items++] = (struct item){.task = t, .kind = kind[t]};
    }
    s.after = zalloc((size_t)(s.items + 1) * (size_t)(s.items + 1) * sizeof *s.after);
    find_dependencies(&s, task);
    for (int placed = 0; placed < s.items;) placed += place_next(&s, most);
    free(s.after);
    free(s.item);
}
