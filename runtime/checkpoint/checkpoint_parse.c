// SPDX-License-Identifier: Apache-2.0
// The pure parser of safetensors: from any bytes, a view of checked tensors or a sentence. Invariant: the tensors of a view
// cover the data exactly once, in order, without a gap. Cost: one entry per tensor and, while it runs, the JSON library's tree
// of the header. A malicious header makes that tree up to eighty times as large (measured: 1.2 GB for 16 MiB of empty
// objects), so the header has its own limit.
#include "runtime/checkpoint/checkpoint_inside.h"

#include <jansson.h>
#include <stdlib.h>

enum { LENGTH_BYTES = 8 };  // the little-endian header length that a file begins with

// Types from DTYPE_COUNT on are skipped: exports of other programs hold counters and positions in them.
enum { TYPES = DTYPE_COUNT + 8 };
static const char *const type_names[TYPES] = {
    [F32] = "F32", [BF16] = "BF16", [F16] = "F16", [U8] = "U8", [I32] = "I32",
    [DTYPE_COUNT] = "F64", "I64", "U64", "U32", "I16", "U16", "I8", "BOOL",
};

const char *checkpoint_type_name(enum dtype t)
{
    return type_names[t];
}

size_t checkpoint_type_size(enum dtype t)
{
    static const size_t others[TYPES - DTYPE_COUNT] = {8, 8, 8, 4, 2, 2, 1, 1};
    return (int)t < DTYPE_COUNT ? dtype_size(t) : others[(int)t - DTYPE_COUNT];
}

// Names are printed in sentences on terminals, so they must not have control characters (C0, DEL, or C1 as UTF-8).
int checkpoint_check_name(const char *where, const char *name)
{
    if (!*name) return fail(ERR_INPUT, "%s: a tensor has an empty name", where);
    if (strlen(name) > CHECKPOINT_NAME_LIMIT)
        return fail(ERR_INPUT, "%s: the name of a tensor has %zu bytes, more than the %d allowed", where, strlen(name),
                    CHECKPOINT_NAME_LIMIT);
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
            return fail(ERR_INPUT, "%s: the name of a tensor has a control character at its byte %td", where,
                        c - (const unsigned char *)name);
    return 0;
}

static int read_type(const char *where, const char *name, json_t *entry, enum dtype *into)
{
    const char *type = json_string_value(json_object_get(entry, "dtype"));
    if (!type) return fail(ERR_INPUT, "%s: tensor \"%s\" has no \"dtype\" that is a text", where, name);
    for (int t = 0; t < TYPES; t++) {
        if (!strcmp(type, type_names[t])) {
            *into = (enum dtype)t;
            return 0;
        }
    }
    if (checkpoint_check_name(where, type) < 0 || strlen(type) > 16)
        return fail(ERR_INPUT, "%s: tensor \"%s\" has an unknown dtype", where, name);
    return fail(ERR_INPUT, "%s: tensor \"%s\" has the dtype %s, which is not known here", where, name, type);
}

// Reads the shape and computes the bytes that it needs.
static int read_shape(const char *where, const char *name, json_t *entry, struct safetensor *t)
{
    json_t *dims = json_object_get(entry, "shape");
    if (!json_is_array(dims)) return fail(ERR_INPUT, "%s: tensor \"%s\" has no \"shape\" that is a list", where, name);
    if (json_array_size(dims) > MAX_RANK)
        return fail(ERR_INPUT, "%s: tensor \"%s\" has %zu dimensions, more than the %d allowed", where, name,
                    json_array_size(dims), MAX_RANK);
    t->shape = (struct shape){.rank = (int)json_array_size(dims)};
    t->size = checkpoint_type_size(t->dtype);
    for (int i = 0; i < t->shape.rank; i++) {
        json_t *dim = json_array_get(dims, (size_t)i);
        if (!json_is_integer(dim))
            return fail(ERR_INPUT, "%s: dimension %d of tensor \"%s\" is not a whole number", where, i, name);
        t->shape.dim[i] = json_integer_value(dim);
        if (t->shape.dim[i] < 0)
            return fail(ERR_INPUT, "%s: dimension %d of tensor \"%s\" is negative (%lld)", where, i, name,
                        (long long)t->shape.dim[i]);
        if (__builtin_mul_overflow(t->size, (size_t)t->shape.dim[i], &t->size))
            return fail(ERR_INPUT, "%s: the shape of tensor \"%s\" is larger than any memory", where, name);
    }
    return 0;
}

static int read_offsets(const char *where, const char *name, json_t *entry, size_t data_bytes, struct safetensor *t)
{
    json_t *pair = json_object_get(entry, "data_offsets");
    json_t *first = json_array_get(pair, 0), *last = json_array_get(pair, 1);
    if (json_array_size(pair) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return fail(ERR_INPUT, "%s: tensor \"%s\" has no \"data_offsets\" of two whole numbers", where, name);
    long long begin = json_integer_value(first), end = json_integer_value(last);
    if (begin < 0 || end < begin)
        return fail(ERR_INPUT, "%s: tensor \"%s\" goes from offset %lld to %lld", where, name, begin, end);
    if ((unsigned long long)end > data_bytes)
        return fail(ERR_INPUT, "%s: tensor \"%s\" ends at offset %lld of the data, which has only %zu bytes", where,
                    name, end, data_bytes);
    if ((size_t)(end - begin) != t->size) {
        char text[SHAPE_TEXT];
        return fail(ERR_INPUT, "%s: tensor \"%s\" at offset %lld has %lld bytes; %s [%s] needs %zu", where, name, begin,
                    end - begin, type_names[t->dtype], shape_text(text, &t->shape), t->size);
    }
    t->offset = (size_t)begin;
    return 0;
}

static int read_tensor(const char *where, const char *name, json_t *entry, const char *data, size_t data_bytes,
                       struct arena *arena, struct safetensor *t)
{
    TRY(checkpoint_check_name(where, name));
    // A fourth key could change the meaning of the other three.
    if (json_object_size(entry) != 3)
        return fail(ERR_INPUT, "%s: tensor \"%s\" is not described by dtype, shape and data_offsets alone", where,
                    name);
    TRY(read_type(where, name, entry, &t->dtype));
    TRY(read_shape(where, name, entry, t));
    TRY(read_offsets(where, name, entry, data_bytes, t));
    t->name = arena_text(arena, "%s", name);
    t->bytes = data + t->offset;
    return 0;
}

static int read_meta(const char *where, json_t *texts, struct safetensors_view *view)
{
    const char *key;
    json_t *value;
    if (!json_is_object(texts)) return fail(ERR_INPUT, "%s: __metadata__ is not an object", where);
    view->meta = arena_alloc(&view->arena, (json_object_size(texts) + 1) * sizeof *view->meta);
    json_object_foreach(texts, key, value)
    {
        if (!json_is_string(value)) return fail(ERR_INPUT, "%s: __metadata__ has a value that is not a text", where);
        view->meta[view->metas++] = (struct checkpoint_meta){arena_text(&view->arena, "%s", key),
                                                             arena_text(&view->arena, "%s", json_string_value(value))};
    }
    return 0;
}

static int by_offset(const void *a, const void *b)
{
    const struct safetensor *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;  // an empty tensor comes before the one at the same offset
    return strcmp(x->name, y->name);
}

// Each byte of the data belongs to exactly one tensor, so a file can hide nothing and nothing is read twice.
static int check_cover(const char *where, const struct safetensors_view *view, size_t data_bytes)
{
    size_t at = 0;
    for (int i = 0; i < view->tensors; i++) {
        const struct safetensor *t = &view->tensor[i];
        if (t->offset < at)
            return fail(ERR_INPUT, "%s: tensor \"%s\" begins at offset %zu, within tensor \"%s\" that ends at %zu",
                        where, t->name, t->offset, t[-1].name, at);
        if (t->offset > at)
            return fail(ERR_INPUT, "%s: nothing owns the bytes from offset %zu to %zu, before tensor \"%s\"", where, at,
                        t->offset, t->name);
        at += t->size;
    }
    if (at != data_bytes)
        return fail(ERR_INPUT, "%s: %zu bytes from offset %zu on belong to no tensor", where, data_bytes - at, at);
    return 0;
}

static int read_header(const char *where, json_t *header, const char *data, size_t data_bytes,
                       struct safetensors_view *view)
{
    const char *name;
    json_t *entry;
    view->tensor = arena_alloc(&view->arena, (json_object_size(header) + 1) * sizeof *view->tensor);
    json_object_foreach(header, name, entry)
    {
        if (!strcmp(name, "__metadata__")) {
            TRY(read_meta(where, entry, view));
        } else {
            struct safetensor *t = &view->tensor[view->tensors];
            TRY(read_tensor(where, name, entry, data, data_bytes, &view->arena, t));
            view->tensors++;
        }
    }
    qsort(view->tensor, (size_t)view->tensors, sizeof *view->tensor, by_offset);
    return check_cover(where, view, data_bytes);
}

// The library quotes the faulty text. Only plain ASCII of it is printed.
static int fail_json(const char *where, json_error_t *error)
{
    for (char *c = error->text; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
    return fail(ERR_INPUT, "%s: the header is not valid JSON at byte %d of the file: %s", where,
                LENGTH_BYTES + error->position, error->text);
}

int checkpoint_parse(const char *where, const void *bytes, size_t count, struct safetensors_view *view)
{
    const unsigned char *at = bytes;
    uint64_t length = 0;
    if (count < LENGTH_BYTES)
        return fail(ERR_INPUT, "%s has %zu %s; a safetensors file begins with %d bytes that give the length of its header",
                    where, count, count == 1 ? "byte" : "bytes", LENGTH_BYTES);
    if (memcmp(bytes, "PK\3\4", 4) == 0)
        return fail(ERR_INPUT, "%s is a zip file, as torch.save writes; safetensors.torch.save_file(model.state_dict(), NAME) "
                    "writes a file that can be read", where);
    for (int i = LENGTH_BYTES - 1; i >= 0; i--) length = length << 8 | at[i];
    if (length > CHECKPOINT_HEADER_LIMIT)
        return fail(ERR_INPUT, "%s: the header is said to have %llu bytes, %zu are allowed; is it a safetensors file?",
                    where, (unsigned long long)length, CHECKPOINT_HEADER_LIMIT);
    if (length > count - LENGTH_BYTES)
        return fail(ERR_INPUT, "%s is cut short: its header ends at byte %llu and the file at %zu", where,
                    (unsigned long long)length + LENGTH_BYTES, count);
    const char *text = (const char *)at + LENGTH_BYTES, *data = text + length;
    if (!length || *text != '{')
        return fail(ERR_INPUT, "%s: the header does not begin with { at byte %d of the file", where, LENGTH_BYTES);
    json_error_t error;
    json_t *header = json_loadb(text, (size_t)length, JSON_REJECT_DUPLICATES, &error);
    if (!header) return fail_json(where, &error);
    *view = (struct safetensors_view){0};
    int rc = read_header(where, header, data, count - LENGTH_BYTES - (size_t)length, view);
    json_decref(header);
    if (rc < 0) checkpoint_view_free(view);
    return rc;
}

void checkpoint_view_free(struct safetensors_view *view)
{
    arena_free(&view->arena);
    *view = (struct safetensors_view){0};
}
