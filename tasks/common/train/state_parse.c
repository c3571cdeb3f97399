// SPDX-License-Identifier: Apache-2.0
// The pure parser of states. It trusts nothing and ends by checking that the slots fill the file exactly, from the header to
// the digest. Cost: one record per slot, and the JSON tree of the header while it runs.
#include "tasks/common/train/state.h"

#include "runtime/checkpoint/checkpoint.h"

#include <jansson.h>

static const char MAGIC[8] = {'D', 'A', 'W', 'N', 's', 't', 'a', 't'};

static uint64_t read_u64(const unsigned char *at)
{
    uint64_t n = 0;
    for (int i = 7; i >= 0; i--) n = n << 8 | at[i];
    return n;
}

int state_parse_prefix(const char *where, const void *prefix, uint64_t total, size_t *header)
{
    const unsigned char *at = prefix;
    if (total < STATE_PREFIX + STATE_DIGEST)
        return fail(ERR_INPUT, "%s has %llu bytes: it is not the state of a training, or it was cut short", where,
                    (unsigned long long)total);
    if (memcmp(at, MAGIC, sizeof MAGIC) != 0) return fail(ERR_INPUT, "%s is not the state of a training", where);
    uint64_t version = read_u64(at + 8), length = read_u64(at + 16);
    if (version != STATE_VERSION)
        return fail(ERR_INPUT, "%s is a state of version %llu; this program reads version %d", where,
                    (unsigned long long)version, STATE_VERSION);
    if (length > STATE_HEADER_LIMIT)
        return fail(ERR_INPUT, "%s: the header would have %llu bytes, more than the %zu allowed", where,
                    (unsigned long long)length, STATE_HEADER_LIMIT);
    if (length > total - STATE_PREFIX - STATE_DIGEST)
        return fail(ERR_INPUT, "%s has %llu bytes, too few for its header: it was cut short", where,
                    (unsigned long long)total);
    *header = (size_t)length;
    return 0;
}

// ---- facts

// Texts must be one line, because they appear in sentences on terminals. Only the caller's note may have more lines.
static int header_text(const char *where, json_t *from, const char *key, struct arena *arena, const char **into)
{
    const char *text = json_string_value(json_object_get(from, key));
    if (!text) return fail(ERR_INPUT, "%s: the header has no text \"%s\"", where, key);
    for (const unsigned char *c = (const unsigned char *)text; *c && strcmp(key, "note"); c++)
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
            return fail(ERR_INPUT, "%s: the text \"%s\" of the header has a control character", where, key);
    *into = arena_text(arena, "%s", text);
    return 0;
}

static int header_count(const char *where, json_t *from, const char *key, int64_t *into)
{
    json_t *n = json_object_get(from, key);
    if (!json_is_integer(n) || json_integer_value(n) < 0)
        return fail(ERR_INPUT, "%s: the header has no count \"%s\"", where, key);
    *into = json_integer_value(n);
    return 0;
}

static int read_facts(const char *where, json_t *root, struct state_view *view)
{
    struct state_facts *f = &view->facts;
    const struct { const char *key, **into; } texts[] = {
        {"program", &f->program}, {"task", &f->task}, {"model", &f->model}, {"recipe", &f->recipe},
        {"precision", &f->precision}, {"device", &f->device}, {"data", &f->data}, {"note", &f->note},
        {"train_digest", &f->digest[SPLIT_TRAIN]}, {"test_digest", &f->digest[SPLIT_TEST]}, {"layout", &f->layout},
    };
    const struct { const char *key; int64_t *into; } counts[] = {
        {"threads", &f->threads}, {"step", &f->step}, {"samples", &f->samples}, {"epoch", &f->epoch}, {"batch", &f->batch},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(header_text(where, root, texts[i].key, &view->arena, texts[i].into));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) TRY(header_count(where, root, counts[i].key, counts[i].into));
    json_t *seed = json_object_get(root, "seed");
    if (!json_is_integer(seed)) return fail(ERR_INPUT, "%s: the header has no \"seed\"", where);
    f->seed = (uint64_t)json_integer_value(seed);
    return 0;
}

// ---- slots

static int read_type(const char *where, const struct state_slot *slot, json_t *entry, enum dtype *into)
{
    const char *type = json_string_value(json_array_get(entry, 1));
    for (int t = 0; type && t < DTYPE_COUNT; t++) {
        if (strcmp(type, checkpoint_type_name((enum dtype)t))) continue;
        *into = (enum dtype)t;
        return 0;
    }
    return fail(ERR_INPUT, "%s: slot \"%s\" has no known type", where, slot->name);
}

static int read_shape(const char *where, json_t *dims, struct state_slot *slot)
{
    if (!json_is_array(dims) || json_array_size(dims) > MAX_RANK)
        return fail(ERR_INPUT, "%s: slot \"%s\" has no shape of at most %d dimensions", where, slot->name, MAX_RANK);
    slot->shape.rank = (int)json_array_size(dims);
    slot->size = dtype_size(slot->dtype);
    for (int i = 0; i < slot->shape.rank; i++) {
        json_t *dim = json_array_get(dims, (size_t)i);
        slot->shape.dim[i] = json_integer_value(dim);
        if (!json_is_integer(dim) || slot->shape.dim[i] < 0 ||
            __builtin_mul_overflow(slot->size, (uint64_t)slot->shape.dim[i], &slot->size))
            return fail(ERR_INPUT, "%s: dimension %d of slot \"%s\" is not a positive whole number", where, i, slot->name);
    }
    return 0;
}

// ["head.weight", "F32", [10, 64]]
static int read_slot(const char *where, json_t *entry, struct arena *arena, struct state_slot *slot)
{
    const char *name = json_string_value(json_array_get(entry, 0));
    if (json_array_size(entry) != 3 || !name || !*name || strlen(name) > STATE_NAME_LIMIT)
        return fail(ERR_INPUT, "%s: a slot is not described by name, type and shape", where);
    for (const char *c = name; *c; c++)
        if (*c < 0x20 || *c >= 0x7f) return fail(ERR_INPUT, "%s: the name of a slot is not plain text", where);
    slot->name = arena_text(arena, "%s", name);
    TRY(read_type(where, slot, entry, &slot->dtype));
    return read_shape(where, json_array_get(entry, 2), slot);
}

static int read_slots(const char *where, json_t *root, uint64_t at, uint64_t total, struct state_view *view)
{
    json_t *slots = json_object_get(root, "slots");
    if (!json_is_array(slots)) return fail(ERR_INPUT, "%s: the header has no list \"slots\"", where);
    size_t count = json_array_size(slots);
    uint64_t end = total - STATE_DIGEST;
    view->slot = arena_alloc(&view->arena, (count + 1) * sizeof *view->slot);
    for (size_t i = 0; i < count; i++) {
        struct state_slot *slot = &view->slot[i];
        TRY(read_slot(where, json_array_get(slots, i), &view->arena, slot));
        slot->offset = at;
        if (slot->size > end - at)
            return fail(ERR_INPUT, "%s has %llu bytes and ends within slot \"%s\": it was cut short", where,
                        (unsigned long long)total, slot->name);
        at += slot->size;
    }
    view->slots = (int)count;
    if (at != end)
        return fail(ERR_INPUT, "%s has %llu bytes more than its header says", where, (unsigned long long)(end - at));
    return 0;
}

// ---- together

int state_parse(const char *where, const char *header, size_t count, uint64_t total, struct state_view *view)
{
    json_error_t error;
    *view = (struct state_view){0};
    if (total < STATE_PREFIX + STATE_DIGEST || count > total - STATE_PREFIX - STATE_DIGEST)
        return fail(ERR_INPUT, "%s has %llu bytes, too few for its header: it was cut short", where,
                    (unsigned long long)total);
    json_t *root = json_loadb(header, count, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(root)) {
        json_decref(root);
        return fail(ERR_INPUT, "%s: the header is not a JSON object", where);
    }
    int rc = read_facts(where, root, view);
    if (rc == 0) rc = read_slots(where, root, STATE_PREFIX + count, total, view);
    json_decref(root);
    if (rc < 0) state_view_free(view);
    return rc;
}

void state_view_free(struct state_view *view)
{
    arena_free(&view->arena);
    *view = (struct state_view){0};
}
