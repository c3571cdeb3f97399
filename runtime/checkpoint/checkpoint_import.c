// SPDX-License-Identifier: Apache-2.0
// Assigns the tensors of a foreign file to slots and converts their numbers to DAWN's type and layout. All decisions come before
// the first upload. Cost: a comparison of names for each pair of tensor and slot, and one copy of the largest tensor.
#include "runtime/checkpoint/checkpoint_inside.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/common/base/text.h"

enum { NAMED = 3 };  // of each kind that is counted, the first are named

struct list {
    int count;
    struct text names;
};
struct match {
    const struct checkpoint *c;
    const struct checkpoint_import *how;
    const struct slot_store *store;
    bool own;                         // filters are in our layout already
    const struct safetensor **of;     // by slot; NULL: none
    bool *used;                       // by tensor
    struct list taken, fresh, missing, misshapen, unused;
};

static void add_name(struct list *l, const char *name, const char *more)
{
    if (l->count++ < NAMED) text_add(&l->names, "%s%s%s", l->count > 1 ? ", " : "", name, more);
}

static const char *names_of(const struct list *l)
{
    return l->names.at ? l->names.at : "";
}

bool checkpoint_is_own(const struct checkpoint *c)
{
    return checkpoint_meta(c, "recipe") != NULL;
}

// ---- which tensor

static bool begins_with_one_of(const char *const *beginnings, const char *name)
{
    for (; beginnings && *beginnings; beginnings++)
        if (!strncmp(name, *beginnings, strlen(*beginnings))) return true;
    return false;
}

// The whole name first; then each prefix in its order.
static int find_named(const struct match *m, const char *slot)
{
    const struct safetensors_view *view = &m->c->view;
    for (int i = 0; i < view->tensors; i++)
        if (!strcmp(view->tensor[i].name, slot)) return i;
    for (const char *const *p = m->how->prefixes; p && *p; p++) {
        size_t skip = strlen(*p);
        for (int i = 0; i < view->tensors; i++)
            if (!strncmp(view->tensor[i].name, *p, skip) && !strcmp(view->tensor[i].name + skip, slot)) return i;
    }
    return -1;
}

static int find_tensor(const struct match *m, const char *slot)
{
    const char *inside = m->how->inside, *const(*older)[2] = m->how->older;
    char name[CHECKPOINT_NAME_LIMIT];
    int at = find_named(m, slot);
    if (at < 0 && inside && !strncmp(slot, inside, strlen(inside))) at = find_named(m, slot + strlen(inside));
    for (; at < 0 && older && (*older)[0]; older++) {
        size_t skip = strlen((*older)[0]);
        if (strncmp(slot, (*older)[0], skip) != 0) continue;
        snprintf(name, sizeof name, "%s%s", (*older)[1], slot + skip);
        at = find_named(m, name);
    }
    return at;
}

static bool is_transposed(const struct match *m, const struct slot *slot)
{
    return !m->own && slot->role == ROLE_FILTER && slot->shape.rank == 4;
}

// The shape that the file has for a slot.
static struct shape shape_there(const struct match *m, const struct slot *slot)
{
    const int64_t *d = slot->shape.dim;
    return is_transposed(m, slot) ? SHAPE(d[0], d[3], d[1], d[2]) : slot->shape;
}

// A layer behind a flattened picture is a matrix there: [K,C R S].
static bool fits(const struct match *m, const struct safetensor *t, const struct slot *slot)
{
    struct shape shape = shape_there(m, slot), flat = SHAPE(shape.dim[0], shape_count(&shape) / shape.dim[0]);
    bool type = slot->dtype == F32 ? dtype_is_float(t->dtype) : t->dtype == slot->dtype;
    return type && (shape_equal(&t->shape, &shape) || (is_transposed(m, slot) && shape_equal(&t->shape, &flat)));
}

static void match_slot(struct match *m, const struct slot *slot)
{
    int i = find_tensor(m, slot->name);
    const struct safetensor *t = i < 0 ? NULL : &m->c->view.tensor[i];
    if (t && fits(m, t, slot)) {
        m->of[slot->number] = t, m->used[i] = true;
        m->taken.count++;
        return;
    }
    if (begins_with_one_of(m->how->fresh, slot->name) || (!t && slot->init.kind == INIT_UPLOAD)) {
        add_name(&m->fresh, slot->name, "");
        if (t) m->used[i] = true;
        return;
    }
    if (!t) {
        add_name(&m->missing, slot->name, "");
        return;
    }
    char have[SHAPE_TEXT], want[SHAPE_TEXT], more[2 * SHAPE_TEXT + 64];
    struct shape shape = shape_there(m, slot);
    snprintf(more, sizeof more, " %s [%s] instead of %s [%s]", checkpoint_type_name(t->dtype), shape_text(have, &t->shape),
             checkpoint_type_name(slot->dtype), shape_text(want, &shape));
    add_name(&m->misshapen, t->name, more);
    m->used[i] = true;
}

static void match_all(struct match *m)
{
    for (int i = 0; i < m->store->count; i++)
        if (checkpoint_has(m->store->slot[i])) match_slot(m, m->store->slot[i]);
    for (int i = 0; i < m->c->view.tensors; i++)
        if (!m->used[i]) add_name(&m->unused, m->c->view.tensor[i].name, "");
}

// ---- the report

static void add_group(struct text *t, const struct list *l, const char *what)
{
    if (l->count == 0) return;
    text_add(t, "%s%d %s (%s%s)", t->length ? "; " : "", l->count, what, names_of(l), l->count > NAMED ? ", ..." : "");
}

static int refuse_match(const struct match *m)
{
    struct text text = {0};
    add_group(&text, &m->missing, m->missing.count == 1 ? "tensor is missing" : "tensors are missing");
    add_group(&text, &m->misshapen, "of another shape or type");
    add_group(&text, &m->unused, "that the model does not know");
    int rc = fail(ERR_INPUT, "%s does not fit the model: %s", m->c->path, text.at);
    text_free(&text);
    return rc;
}

static void tell(const struct match *m, struct checkpoint_imported *into)
{
    struct text text = {0};
    text_add(&text, "%d tensors", m->taken.count);
    add_group(&text, &m->fresh,
              m->fresh.count == 1 ? "parameter starts from random values" : "parameters start from random values");
    add_group(&text, &m->unused, "not used");
    *into = (struct checkpoint_imported){m->taken.count, m->fresh.count, m->unused.count, ""};
    snprintf(into->text, sizeof into->text, "%s", text.at);
    text_free(&text);
}

// ---- numbers

static float number_at(const struct safetensor *t, int64_t i)
{
    const char *at = (const char *)t->bytes + (size_t)i * dtype_size(t->dtype);  // not aligned
    uint16_t half;
    float whole;
    if (t->dtype == F32) {
        memcpy(&whole, at, sizeof whole);
        return whole;
    }
    memcpy(&half, at, sizeof half);
    return t->dtype == BF16 ? bf16_to_f32(half) : f16_to_f32(half);
}

// [K,C,R,S] -> [K,R,S,C]
static void transpose(const struct safetensor *t, const struct slot *slot, float *into)
{
    const int64_t *d = slot->shape.dim, c = d[3], area = d[1] * d[2];
    for (int64_t k = 0; k < d[0]; k++)
        for (int64_t at = 0; at < area; at++)
            for (int64_t i = 0; i < c; i++) into[(k * area + at) * c + i] = number_at(t, (k * c + i) * area + at);
}

static int upload(const struct match *m, struct session *s, struct slot *slot)
{
    const struct safetensor *t = m->of[slot->number];
    if (slot->dtype != F32) return session_write(s, slot, t->bytes, 0, slot_bytes(slot));
    float *numbers = zalloc(slot_bytes(slot) + 1);
    if (is_transposed(m, slot)) transpose(t, slot, numbers);
    else
        for (int64_t i = 0, n = shape_count(&slot->shape); i < n; i++) numbers[i] = number_at(t, i);
    int rc = session_write(s, slot, numbers, 0, slot_bytes(slot));
    free(numbers);
    return rc;
}

int checkpoint_import(const struct checkpoint *c, struct session *s, const struct checkpoint_import *how,
                      struct checkpoint_imported *into)
{
    struct match m = {.c = c, .how = how, .store = s->store, .own = checkpoint_is_own(c)};
    m.of = zalloc(((size_t)m.store->count + 1) * sizeof *m.of);
    m.used = zalloc((size_t)c->view.tensors + 1);
    match_all(&m);
    int rc = m.missing.count || m.misshapen.count ? refuse_match(&m) : 0;
    if (rc == 0) tell(&m, into);
    for (int i = 0; i < m.store->count && rc == 0; i++)
        if (m.of[i]) rc = upload(&m, s, m.store->slot[i]);
    if (rc == 0) rc = session_sync(s);
    struct list *lists[] = {&m.taken, &m.fresh, &m.missing, &m.misshapen, &m.unused};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) text_free(&lists[i]->names);
    free(m.of);
    free(m.used);
    return rc;
}
