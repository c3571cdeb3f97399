// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/profile/profile_layers.h"

#include <stdlib.h>
#include <string.h>

static const char data[] = "(data, tables, counters)", rest[] = "(others)", slack[] = "(not in use at the peak)";

// ---- owners of bytes

static void find_layers(const struct graph *g, const char **layer)
{
    for (int n = 0; n < g->nodes; n++)
        for (int i = 0; i < MAX_IN; i++) {
            const struct value *v = node_in(g, &g->node[n], i);
            if (!v || !v->slot || !role_is_parameter(v->slot->role) || layer[v->slot->number]) continue;
            if (g->node[n].phase == PHASE_FORWARD && *g->node[n].scope) layer[v->slot->number] = g->node[n].scope;
        }
}

// The layer of each slot: the scope of the first node that reads a parameter. Steps come before the other programs.
static const char **layers_of_parameters(const struct session *s)
{
    const char **layer = zalloc((size_t)(s->store->count + 1) * sizeof *layer);
    for (int i = 0; i < s->programs; i++) find_layers(s->graph[i], layer);
    return layer;
}

// The layer of a parameter, of its state (NAME.momentum) and of its update (whose scope is its name); NULL: none of these.
static const char *layer_of_name(const struct session *s, const char *const *layer, const char *name)
{
    const char *best = NULL;
    size_t longest = 0;
    for (int i = 0; i < s->store->count; i++) {
        const char *parameter = s->store->slot[i]->name;
        size_t n = strlen(parameter);
        if (!layer[i] || n < longest || strncmp(name, parameter, n) != 0 || (name[n] && name[n] != '.')) continue;
        best = layer[i], longest = n;
    }
    return best;
}

static const char *layer_of_slot(const struct session *s, const char *const *layer, const struct slot *slot)
{
    if (slot->memory == MEMORY_DATA) return data;
    const char *found = layer_of_name(s, layer, slot->name);
    return found ? found : rest;
}

static const char *layer_of_node(const struct session *s, const char *const *layer, const struct node *n)
{
    const char *found = n->phase == PHASE_UPDATE ? layer_of_name(s, layer, n->scope) : NULL;
    return found ? found : *n->scope ? n->scope : rest;
}

// ---- sums

static void add_bytes(struct profile_layers *l, const char *name, enum memory_class class, size_t bytes)
{
    if (!bytes) return;
    int i = 0;
    while (i < l->rows && strcmp(l->row[i].name, name) != 0) i++;
    if (i == l->rows) {
        l->row = grow(l->row, (size_t)(l->rows + 1) * sizeof *l->row);
        l->row[l->rows++] = (struct profile_layers_row){.name = name};
    }
    l->row[i].bytes[class] += bytes, l->row[i].all += bytes;
    l->sum.bytes[class] += bytes, l->sum.all += bytes;
}

static void add_peak(const struct session *s, const char *const *layer, const struct plan *p, struct profile_layers *l)
{
    const struct graph *g = p->graph;
    size_t live = 0;
    for (int v = 0; v < g->values; v++) {
        const struct placement *placement = &p->placement[v];
        if (!placement->bytes || placement->first > p->peak_at || placement->last < p->peak_at) continue;
        add_bytes(l, layer_of_node(s, layer, &g->node[p->order[placement->first]]), placement->memory, placement->bytes);
        live += placement->bytes;
    }
    if (p->count) {
        add_bytes(l, layer_of_node(s, layer, &g->node[p->order[p->peak_at]]), MEMORY_WORKSPACE, p->work_bytes[p->peak_at]);
        live += p->work_bytes[p->peak_at];
    }
    add_bytes(l, slack, MEMORY_SLACK, p->slab_bytes - live);
}

// Adds the bytes that nodes keep between runs.
static void add_kept(const struct session *s, const char *const *layer, const struct plan *p, struct profile_layers *l)
{
    for (int at = 0; at < p->count; at++) {
        size_t end = at + 1 < p->count ? p->kept_offset[at + 1] : p->kept_bytes;
        add_bytes(l, layer_of_node(s, layer, &p->graph->node[p->order[at]]), MEMORY_WORKSPACE, end - p->kept_offset[at]);
    }
}

static int largest_first(const void *x, const void *y)
{
    const struct profile_layers_row *a = x, *b = y;
    if (a->all != b->all) return a->all < b->all ? 1 : -1;
    return strcmp(a->name, b->name);
}

void profile_layers_of(const struct session *s, int program, struct profile_layers *l)
{
    const struct plan *p = s->plan[program];
    const char **layer = layers_of_parameters(s);
    *l = (struct profile_layers){.sum = {.name = "all"}};
    for (int i = 0; i < s->store->count; i++) {
        const struct slot *slot = s->store->slot[i];
        add_bytes(l, layer_of_slot(s, layer, slot), slot->memory, plan_round_up(slot_bytes(slot)));
    }
    add_peak(s, layer, p, l);
    add_kept(s, layer, p, l);
    free(layer);
    qsort(l->row, (size_t)l->rows, sizeof *l->row, largest_first);
}

void profile_layers_free(struct profile_layers *l)
{
    free(l->row);
    *l = (struct profile_layers){0};
}

void profile_layers_shorten(struct profile_layers *l, int rows)
{
    if (l->rows <= rows || rows < 1) return;
    struct profile_layers_row *others = &l->row[rows - 1];
    for (int i = rows; i < l->rows; i++) {
        for (int c = 0; c < MEMORY_CLASSES; c++) others->bytes[c] += l->row[i].bytes[c];
        others->all += l->row[i].all;
    }
    others->name = "others";
    l->rows = rows;
}
