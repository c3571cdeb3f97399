// SPDX-License-Identifier: Apache-2.0
// Shared by tests of networks: their parameters and gradients, and what holds them to PyTorch's figures: parameters that both
// compute from their names, and sums of gradients.
#pragma once

#include "test/unit/fixture_graph.h"

#include "runtime/grad.h"

enum { PARAMETERS_MOST = 512 };

// A row ends a table if its slot is NULL.
struct golden {
    const char *slot;  // a name that ends with a point names a layer
    double along;      // the sum of gradient[i] cos(i)
};

// Element k of a parameter is amplitude sin(angle (k + 1) + phase), and 1 more in the scales of a norm. The phase is the sum of
// the characters of its name.
struct waves {
    const char *norm;  // scales of norms have this and "weight" in their names
    const char *also;  // or this; NULL: nothing else
    double scale, weight, rest;  // amplitudes: of such scales, of other weights, of all else
    double angle, shift;         // the angle of an element, and a number added to all
    bool square;                 // the angle grows by the square of k + 1
};

static inline void put_waves(struct session *s, const struct waves *w)
{
    for (int i = 0; i < s->store->count; i++) {
        const struct slot *slot = s->store->slot[i];
        if (!role_is_parameter(slot->role)) continue;
        float *v = zalloc(slot_bytes(slot));
        double phase = w->shift;
        for (const char *c = slot->name; *c; c++) phase += *c;
        bool weight = strstr(slot->name, "weight"), also = w->also && strstr(slot->name, w->also);
        bool norm = weight && (also || strstr(slot->name, w->norm));
        double amplitude = norm ? w->scale : weight ? w->weight : w->rest;
        for (int64_t k = 0; k < shape_count(&slot->shape); k++) {
            double x = (double)(k + 1);
            v[k] = (float)(norm + amplitude * sin(w->angle * (w->square ? x * x : x) + phase));
        }
        OK(session_put(s, slot->name, v, 0, slot_bytes(slot)));
        free(v);
    }
}

static inline int64_t count_parameters(const struct slot_store *store)
{
    int64_t n = 0;
    for (int i = 0; i < store->count; i++)
        if (role_is_parameter(store->slot[i]->role)) n += shape_count(&store->slot[i]->shape);
    return n;
}

// Differentiates the loss to all parameters of the graph; returns their number.
static inline int differentiate(struct graph *g, int loss, int params[PARAMETERS_MOST], int grads[PARAMETERS_MOST])
{
    int count = 0;
    for (int v = 0; v < g->values; v++)
        if (g->value[v].slot && g->value[v].trains) {
            assert_in_range(count, 0, PARAMETERS_MOST - 1);
            params[count++] = v;
        }
    OK(grad_of(g, loss, params, count, grads));
    return count;
}

// Keeps the gradient of each parameter NAME in "d.NAME"; returns the number of parameters.
static inline int keep_gradients(struct graph *g, int loss)
{
    int params[PARAMETERS_MOST] = {0}, grads[PARAMETERS_MOST], count = differentiate(g, loss, params, grads);
    for (int i = 0; i < count; i++)
        if (grads[i] != NONE) keep(g, arena_text(&g->arena, "d.%s", g->value[params[i]].slot->name), grads[i]);
    return count;
}

// The row's slots must have its gradient: but for `part` of the sum, or of the sum of absolute values (`absolute`). Returns their
// number.
static inline int compare_gradient(struct session *s, const struct golden *row, double part, bool absolute)
{
    size_t length = strlen(row->slot);
    bool layer = row->slot[length - 1] == '.';
    double sum = 0, size = 0;
    int slots = 0;
    for (int i = 0; i < s->store->count; i++) {
        const struct slot *slot = s->store->slot[i];
        char name[96];
        if (layer ? strncmp(slot->name, row->slot, length) != 0 : strcmp(slot->name, row->slot) != 0) continue;
        if (!role_is_parameter(slot->role)) continue;
        snprintf(name, sizeof name, "d.%s", slot->name);
        if (!slot_find(s->store, name)) fail_msg("%s gets no gradient", slot->name);
        float *g = read_slot(s, name);
        for (int64_t k = 0; k < shape_count(&slot->shape); k++) sum += (double)g[k] * cos((double)k), size += fabs((double)g[k]);
        free(g);
        slots++;
    }
    if (!(size > 0)) fail_msg("%s gets no gradient", row->slot);
    double slack = part * (absolute ? size : fabs(row->along));
    if (!(fabs(sum - row->along) < 2e-6 + slack)) fail_msg("%s: %.9g, not %.9g", row->slot, sum, row->along);
    return slots;
}

static inline int compare_gradients(struct session *s, const struct golden *row, double part, bool absolute)
{
    int slots = 0;
    for (; row->slot; row++) slots += compare_gradient(s, row, part, absolute);
    return slots;
}
