// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/average.h"

#include <math.h>

static const char SHARE[] = "ema.share";

static bool slot_trains(const struct session *session, const struct slot *slot)
{
    for (int p = 0; p < session->programs; p++) {
        const struct graph *g = session->graph[p];
        int v = slot->number < g->value_ofs ? g->value_of[slot->number] - 1 : NONE;
        if (v >= 0 && g->value[v].trains) return true;
    }
    return false;
}

bool average_has(const struct session *session, const struct slot *slot)
{
    return slot->role == ROLE_STATISTIC || (role_is_parameter(slot->role) && slot_trains(session, slot));
}

// Adds a program that moves the average of one slot towards the weights by `share`.
static int add_moving(struct session *session, const char *name, const char *slot, float share)
{
    struct slot_store *store = session->store;
    struct graph *g = graph_new(store, name);
    g->phase = PHASE_UPDATE;
    int t = graph_state(g, slot, SHAPE(1), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, share});
    for (int i = 0, count = store->count; i < count; i++)
        if (average_has(session, store->slot[i])) optim_ema(g, graph_slot(g, store->slot[i]), t);
    return session_add(session, g);
}

static int add_swap(struct session *session)
{
    struct slot_store *store = session->store;
    struct graph *g = graph_new(store, "average for weights");
    g->phase = PHASE_UPDATE;
    for (int i = 0, count = store->count; i < count; i++) {
        if (!average_has(session, store->slot[i])) continue;
        char *name = arena_text(&g->arena, "ema.%s", store->slot[i]->name);
        int p = graph_slot(g, store->slot[i]), e = graph_slot(g, slot_find(store, name)), old = g_scale(g, p, 1);
        graph_node_over(g, OP_ASSIGN, (int[]){p, e}, 2, NULL, &p, NULL);
        graph_node_over(g, OP_ASSIGN, (int[]){e, old}, 2, NULL, &e, NULL);
    }
    return session_add(session, g);
}

int average_build(struct average *a, struct session *session, const struct recipe *r, int64_t steps_per_epoch)
{
    *a = (struct average){.begin = NONE, .update = NONE, .swap = NONE, .every = r->ema_every};
    if (r->ema_decay <= 0) return 0;
    a->mean = r->ema_decay >= 1;
    a->first = llround(r->ema_from * (double)steps_per_epoch);
    if (a->first < 1) a->first = 1;
    TRY(a->begin = add_moving(session, "average begins", "one", 1));
    TRY(a->update = add_moving(session, "average", SHARE, (float)(1 - r->ema_decay)));
    return a->swap = add_swap(session);
}

static bool has_begun(const struct average *a, int64_t done)
{
    return a->begin != NONE && done >= a->first;
}

// Moves the average. The share of its update n that makes it the mean of n + 1 weights is 1 / (n + 1).
static int move_average(const struct average *a, struct session *session, int64_t n)
{
    float share = 1 / (float)(n + 1);
    if (a->mean) TRY(session_write(session, slot_find(session->store, SHARE), &share, 0, sizeof share));
    return session_run(session, a->update);
}

int average_after(const struct average *a, struct session *session, int64_t done)
{
    if (!has_begun(a, done)) return 0;
    if (done == a->first) return session_run(session, a->begin);
    return (done - a->first) % a->every == 0 ? move_average(a, session, (done - a->first) / a->every) : 0;
}

int average_swap(const struct average *a, struct session *session, int64_t done)
{
    return has_begun(a, done) ? session_run(session, a->swap) : 0;
}
