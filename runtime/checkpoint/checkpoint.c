// SPDX-License-Identifier: Apache-2.0
// Saves and loads weights as safetensors. The file is built and read as one block of memory, so the same bytes are digested,
// checked and used. Cost: the size of the weights once more while saving or loading.
// checkpoint_parse.c parses the bytes.
#include "runtime/checkpoint/checkpoint_inside.h"

#include <jansson.h>
#include <stdlib.h>

enum { LENGTH_BYTES = 8 };  // the little-endian header length that a file begins with

// ---- saving

// Wider types first, so that every tensor is aligned to its element's size; then by name.
static int by_width_and_name(const void *a, const void *b)
{
    const struct slot *x = *(struct slot *const *)a, *y = *(struct slot *const *)b;
    if (dtype_size(x->dtype) != dtype_size(y->dtype)) return dtype_size(x->dtype) > dtype_size(y->dtype) ? -1 : 1;
    return strcmp(x->name, y->name);
}

static struct slot **list_slots(const struct slot_store *store, int *count)
{
    struct slot **list = zalloc(((size_t)store->count + 1) * sizeof(struct slot *));
    *count = 0;
    for (int i = 0; i < store->count; i++)
        if (checkpoint_has(store->slot[i])) list[(*count)++] = store->slot[i];
    qsort(list, (size_t)*count, sizeof(struct slot *), by_width_and_name);
    return list;
}

static int add_meta(json_t *header, const struct checkpoint_meta *meta)
{
    json_t *texts = json_object();
    if (json_object_set_new(header, "__metadata__", texts) != 0)
        return fail(ERR_MEMORY, "not enough memory for the header of a checkpoint");
    for (; meta->key; meta++) {
        BUG_IF(!meta->value || json_object_get(texts, meta->key));
        if (json_object_set_new(texts, meta->key, json_string(meta->value)) != 0)
            return fail(ERR_INPUT, "a checkpoint cannot note the text of \"%s\": it is not UTF-8", meta->key);
    }
    return 0;
}

static int describe(json_t *header, const struct slot *slot, size_t offset)
{
    json_t *dims = json_array();
    for (int i = 0; i < slot->shape.rank; i++) json_array_append_new(dims, json_integer(slot->shape.dim[i]));
    json_t *entry = json_pack("{s:s,s:o,s:[I,I]}", "dtype", checkpoint_type_name(slot->dtype), "shape", dims,
                              "data_offsets", (json_int_t)offset, (json_int_t)(offset + slot_bytes(slot)));
    if (json_object_set_new(header, slot->name, entry) != 0)
        return fail(ERR_INPUT, "a checkpoint cannot hold a tensor of the name \"%s\"", slot->name);
    return 0;
}

// The header as text, and the number of data bytes that follow it.
static int write_header(struct slot *const *list, int count, const struct checkpoint_meta *meta, char **text,
                        size_t *data_bytes)
{
    json_t *header = json_object();
    int rc = meta && meta->key ? add_meta(header, meta) : 0;
    *data_bytes = 0;
    for (int i = 0; i < count && rc == 0; i++) {
        rc = describe(header, list[i], *data_bytes);
        *data_bytes += slot_bytes(list[i]);
    }
    *text = rc == 0 ? json_dumps(header, JSON_COMPACT) : NULL;
    json_decref(header);
    if (rc == 0 && !*text) rc = fail(ERR_MEMORY, "not enough memory for the header of a checkpoint");
    return rc;
}

// Writes length, header and spaces up to a multiple of eight, and returns the offset of the data, which the caller writes.
static size_t put_header(char *file, const char *text, size_t length)
{
    size_t padded = (length + 7) / 8 * 8;
    for (int i = 0; i < LENGTH_BYTES; i++) file[i] = (char)(unsigned char)(padded >> 8 * i);
    memcpy(file + LENGTH_BYTES, text, length);
    memset(file + LENGTH_BYTES + length, ' ', padded - length);
    return LENGTH_BYTES + padded;
}

static int fill(const char *path, struct session *s, struct slot *const *list, int count, char *file, size_t at,
                size_t bytes)
{
    for (int i = 0; i < count; i++) {
        TRY(session_get(s, list[i]->name, file + at, slot_bytes(list[i])));
        at += slot_bytes(list[i]);
    }
    // The parser checks the file before it is written, so that it can be read again.
    struct safetensors_view view;
    TRY(checkpoint_parse(path, file, bytes, &view));
    checkpoint_view_free(&view);
    return 0;
}

int checkpoint_save(const char *path, struct session *s, const struct checkpoint_meta *meta, char digest[DIGEST_HEX])
{
    int count, rc;
    size_t data_bytes;
    char *text, *file = NULL;
    struct slot **list = list_slots(s->store, &count);
    rc = write_header(list, count, meta, &text, &data_bytes);
    if (rc == 0) {
        size_t length = strlen(text), bytes = LENGTH_BYTES + (length + 7) / 8 * 8 + data_bytes;
        if (bytes > CHECKPOINT_FILE_LIMIT) {
            rc = fail(ERR_UNSUPPORTED, "%s would have %zu bytes, more than the %zu a checkpoint may have", path, bytes,
                      CHECKPOINT_FILE_LIMIT);
        } else if (!(file = malloc(bytes))) {
            rc = fail(ERR_MEMORY, "not enough memory to gather %s (%zu bytes)", path, bytes);
        } else {
            rc = fill(path, s, list, count, file, put_header(file, text, length), bytes);
        }
        if (rc == 0) rc = file_write(path, file, bytes);
        if (rc == 0) digest_bytes(file, bytes, digest);
    }
    free(file);
    free(text);
    free(list);
    return rc;
}

// ---- loading

int checkpoint_open(const char *path, struct checkpoint **into)
{
    char *bytes;
    size_t count;
    struct safetensors_view view;
    *into = NULL;
    TRY(file_read(path, CHECKPOINT_FILE_LIMIT, &bytes, &count));
    int rc = checkpoint_is_pth(bytes, count) ? checkpoint_parse_pth(path, bytes, count, &view)
                                             : checkpoint_parse(path, bytes, count, &view);
    if (rc < 0) {
        free(bytes);
        return rc;
    }
    struct checkpoint *c = zalloc(sizeof *c);
    *c = (struct checkpoint){.path = copy_text(path), .bytes = bytes, .view = view};
    digest_bytes(bytes, count, c->digest);
    *into = c;
    return 0;
}

const char *checkpoint_meta(const struct checkpoint *c, const char *key)
{
    for (int i = 0; i < c->view.metas; i++)
        if (!strcmp(c->view.meta[i].key, key)) return c->view.meta[i].value;
    return NULL;
}

const char *checkpoint_digest(const struct checkpoint *c)
{
    return c->digest;
}

static const struct safetensor *find_tensor(const struct checkpoint *c, const char *name)
{
    for (int i = 0; i < c->view.tensors; i++)
        if (!strcmp(c->view.tensor[i].name, name)) return &c->view.tensor[i];
    return NULL;
}

static int check_slot(const struct checkpoint *c, const struct slot *slot)
{
    char have[SHAPE_TEXT], want[SHAPE_TEXT];
    const struct safetensor *t = find_tensor(c, slot->name);
    if (!t)
        return fail(ERR_INPUT, "%s has no tensor \"%s\", which the model needs as %s [%s]", c->path, slot->name,
                    checkpoint_type_name(slot->dtype), shape_text(want, &slot->shape));
    if (t->dtype != slot->dtype || !shape_equal(&t->shape, &slot->shape))
        return fail(ERR_INPUT, "%s has tensor \"%s\" as %s [%s]; the model needs %s [%s]", c->path, slot->name,
                    checkpoint_type_name(t->dtype), shape_text(have, &t->shape), checkpoint_type_name(slot->dtype),
                    shape_text(want, &slot->shape));
    return 0;
}

int checkpoint_load(const struct checkpoint *c, struct session *s, bool partly)
{
    const struct slot_store *store = s->store;
    for (int i = 0; i < store->count; i++)
        if (checkpoint_has(store->slot[i])) TRY(check_slot(c, store->slot[i]));
    for (int i = 0; i < c->view.tensors && !partly; i++) {
        const struct safetensor *t = &c->view.tensor[i];
        if (!slot_find(store, t->name))
            return fail(ERR_INPUT, "%s has a tensor \"%s\" at offset %zu that the model does not know", c->path,
                        t->name, t->offset);
    }
    for (int i = 0; i < store->count; i++) {
        const struct slot *slot = store->slot[i];
        if (checkpoint_has(slot)) TRY(session_write(s, store->slot[i], find_tensor(c, slot->name)->bytes, 0, slot_bytes(slot)));
    }
    return session_sync(s);
}

void checkpoint_close(struct checkpoint *c)
{
    if (!c) return;
    checkpoint_view_free(&c->view);
    free(c->bytes);
    free(c->path);
    free(c);
}
