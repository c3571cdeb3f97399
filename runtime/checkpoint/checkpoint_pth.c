// SPDX-License-Identifier: Apache-2.0
// The pure parser of what torch.save wrote before PyTorch 1.6: three pickles that are the same in every file, one of a dictionary
// of tensors (a state_dict), one of the list of storages, and the storages' numbers. A pickle is a program for a machine with a
// stack; this machine knows the instructions of such files and makes nothing but numbers, texts and tensors. It calls no code.
// Entries of the dictionary that are no tensors are left out. Cost: at most 64 K objects of a pickle, whatever its bytes are.
#include "runtime/checkpoint/checkpoint_inside.h"

#include <stdlib.h>

enum { OBJECTS = 1 << 16, TENSORS = 1 << 12 };

// The magic number, version 1001 of the format, and that numbers are little-endian and as wide as in C on 64 bits.
static const char head[] = "\x80\x02\x8a\nl\xfc\x9c" "F\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."
    "\x80\x02}q\0(X\x10\0\0\0protocol_versionq\1M\xe9\3X\r\0\0\0little_endianq\2\x88X\n\0\0\0type_sizesq\3}"
    "q\4(X\5\0\0\0shortq\5K\2X\3\0\0\0intq\6K\4X\4\0\0\0longq\7K\4uu.";

enum kind { NOTHING, MARK, OTHER, NUMBER, TEXT, NAME, TUPLE, LIST, DICTIONARY, STORAGE, TENSOR };
struct object {
    enum kind kind;
    enum dtype dtype;           // STORAGE
    int64_t number;             // NUMBER; of a STORAGE its elements; of a TENSOR its position among the tensors
    const unsigned char *text;  // TEXT, NAME; of a STORAGE its key
    size_t length;
    int first, count;           // TUPLE: its members
};
struct tensor {
    struct safetensor is;
    struct object storage;
    int64_t first;              // element of the storage
    int64_t stride[MAX_RANK];   // in elements
};
struct machine {
    const char *where;
    const unsigned char *bytes;
    size_t at, end;
    struct object *stack, *memo, *member;  // [OBJECTS]
    int depth, members;
    struct tensor *tensor;                 // [TENSORS]
    int tensors;
    struct object *key;                    // [TENSORS] of storages, in their order
    int keys;
    size_t left;                           // bytes that copies of tensors may still take
    struct arena *arena;
};

static int refuse(const struct machine *m, const char *why)
{
    return fail(ERR_INPUT, "%s: byte %zu: %s", m->where, m->at, why);
}

static bool is_text(const struct object *o, const char *text)
{
    return (o->kind == TEXT || o->kind == NAME) && o->length == strlen(text) && memcmp(o->text, text, o->length) == 0;
}

static int take_bytes(struct machine *m, size_t n, const unsigned char **into)
{
    if (m->end - m->at < n) return refuse(m, "it ends within a pickle");
    *into = m->bytes + m->at;
    m->at += n;
    return 0;
}

static int take_number(struct machine *m, int n, int64_t *into)
{
    const unsigned char *b = NULL;
    uint64_t number = 0;
    TRY(take_bytes(m, (size_t)n, &b));
    for (int i = n - 1; i >= 0; i--) number = number << 8 | b[i];
    *into = n == 4 ? (int32_t)(uint32_t)number : (int64_t)number;
    return 0;
}

// ---- the stack

static int push(struct machine *m, struct object o)
{
    if (m->depth == OBJECTS) return refuse(m, "it has too many objects");
    m->stack[m->depth++] = o;
    return 0;
}

static int pop(struct machine *m, struct object *into)
{
    if (m->depth == 0 || m->stack[m->depth - 1].kind == MARK) return refuse(m, "an object is missing");
    *into = m->stack[--m->depth];
    return 0;
}

// How many objects lie above the last mark, which goes; they stay.
static int count_marked(struct machine *m, int *count)
{
    int at = m->depth - 1;
    while (at >= 0 && m->stack[at].kind != MARK) at--;
    if (at < 0) return refuse(m, "a mark is missing");
    *count = m->depth - 1 - at;
    memmove(m->stack + at, m->stack + at + 1, (size_t)*count * sizeof *m->stack);
    m->depth--;
    return 0;
}

static int push_tuple(struct machine *m, int count)
{
    if (count > m->depth || m->members + count > OBJECTS) return refuse(m, "a tuple has too many members");
    struct object tuple = {.kind = TUPLE, .first = m->members, .count = count};
    m->depth -= count;
    memcpy(m->member + m->members, m->stack + m->depth, (size_t)count * sizeof *m->member);
    m->members += count;
    return push(m, tuple);
}

static int push_text(struct machine *m)
{
    int64_t length = 0;
    struct object o = {.kind = TEXT};
    TRY(take_number(m, 4, &length));
    if (length < 0) return refuse(m, "a text is too long");
    o.length = (size_t)length;
    TRY(take_bytes(m, o.length, &o.text));
    return push(m, o);
}

// Two lines, a module and a name in it.
static int push_name(struct machine *m)
{
    struct object o = {.kind = NAME, .text = m->bytes + m->at};
    for (int lines = 0; lines < 2;) {
        const unsigned char *c = NULL;
        TRY(take_bytes(m, 1, &c));
        lines += *c == '\n';
        o.length++;
    }
    return push(m, o);
}

static int remember(struct machine *m, int bytes)
{
    int64_t at = 0;
    TRY(take_number(m, bytes, &at));
    if (m->depth == 0 || at < 0 || at >= OBJECTS) return refuse(m, "an object cannot be remembered");
    m->memo[at] = m->stack[m->depth - 1];
    return 0;
}

static int recall(struct machine *m, int bytes)
{
    int64_t at = 0;
    TRY(take_number(m, bytes, &at));
    if (at < 0 || at >= OBJECTS || m->memo[at].kind == NOTHING) return refuse(m, "an object was not remembered");
    return push(m, m->memo[at]);
}

// ---- storages and tensors

// ("storage", type, key, device, elements, ..)
static int push_storage(struct machine *m)
{
    static const struct {
        const char *name;
        int dtype;
    } types[] = {{"torch\nFloatStorage\n", F32}, {"torch\nHalfStorage\n", F16}, {"torch\nBFloat16Storage\n", BF16},
                 {"torch\nByteStorage\n", U8}, {"torch\nIntStorage\n", I32}, {"torch\nDoubleStorage\n", DTYPE_COUNT},
                 {"torch\nLongStorage\n", DTYPE_COUNT + 1}};
    struct object tuple = {0};
    TRY(pop(m, &tuple));
    const struct object *part = m->member + tuple.first;
    if (tuple.kind != TUPLE || tuple.count < 5 || !is_text(part, "storage") || part[2].kind != TEXT || part[4].kind != NUMBER ||
        part[4].number < 0)
        return refuse(m, "a storage is not described by its type, key and size");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_text(&part[1], types[i].name))
            return push(m, (struct object){.kind = STORAGE, .dtype = (enum dtype)types[i].dtype, .number = part[4].number,
                                           .text = part[2].text, .length = part[2].length});
    return refuse(m, "a storage has another type than float, half, bfloat16, byte, int, double or long");
}

static bool lies_by_rows(const struct tensor *t)
{
    int64_t count = 1;
    for (int i = t->is.shape.rank - 1; i >= 0; count *= t->is.shape.dim[i], i--)
        if (t->is.shape.dim[i] != 1 && t->stride[i] != count) return false;
    return true;
}

// True if the elements lie without a gap, with any of the dimensions as the outer one.
static bool lies_dense(const struct tensor *t)
{
    const int rank = t->is.shape.rank;
    int64_t count = 1;
    unsigned seen = 0;
    for (int step = 0; step < rank; step++) {
        int next = 0;
        while (next < rank && ((seen >> next & 1) || (t->is.shape.dim[next] != 1 && t->stride[next] != count))) next++;
        if (next == rank) return false;
        seen |= 1u << next, count *= t->is.shape.dim[next];
    }
    return true;
}

static int take_shape(struct machine *m, const struct object *sizes, const struct object *strides, struct tensor *t)
{
    const struct object *size = m->member + sizes->first, *stride = m->member + strides->first;
    int64_t count = 1;
    if (sizes->kind != TUPLE || strides->kind != TUPLE || sizes->count != strides->count || sizes->count > MAX_RANK)
        return refuse(m, "a tensor has no sizes and strides, or too many");
    t->is.shape = (struct shape){.rank = sizes->count};
    for (int i = 0; i < sizes->count; i++) {
        if (size[i].kind != NUMBER || stride[i].kind != NUMBER || size[i].number < 0)
            return refuse(m, "a size or a stride of a tensor is no number");
        t->is.shape.dim[i] = size[i].number, t->stride[i] = stride[i].number;
        if (__builtin_mul_overflow(count, size[i].number, &count)) return refuse(m, "a tensor is larger than any memory");
    }
    if (t->first < 0 || count > t->storage.number || t->first > t->storage.number - count)
        return refuse(m, "a tensor leaves its storage");
    if (count > 0 && !lies_dense(t)) return refuse(m, "the elements of a tensor lie apart or on each other");
    t->is.size = (size_t)count * checkpoint_type_size(t->is.dtype);
    return 0;
}

// (storage, first element, sizes, strides, ..)
static int push_tensor(struct machine *m, const struct object *arguments)
{
    const struct object *part = m->member + arguments->first;
    if (arguments->kind != TUPLE || arguments->count < 4 || part[0].kind != STORAGE || part[1].kind != NUMBER)
        return refuse(m, "a tensor is not made of a storage, an element, sizes and strides");
    if (m->tensors == TENSORS) return refuse(m, "it has too many tensors");
    struct tensor *t = &m->tensor[m->tensors];
    *t = (struct tensor){.is = {.dtype = part[0].dtype}, .storage = part[0], .first = part[1].number};
    TRY(take_shape(m, &part[2], &part[3], t));
    return push(m, (struct object){.kind = TENSOR, .number = m->tensors++});
}

static int push_result(struct machine *m)
{
    struct object name = {0}, arguments = {0};
    TRY(pop(m, &arguments));
    TRY(pop(m, &name));
    if (is_text(&name, "collections\nOrderedDict\n")) return push(m, (struct object){.kind = DICTIONARY});
    if (is_text(&name, "torch._utils\n_rebuild_tensor_v2\n")) return push_tensor(m, &arguments);
    return refuse(m, "it calls something else than what makes a dictionary or a tensor");
}

static int name_tensors(struct machine *m, int count)
{
    if (count % 2 != 0 || count >= m->depth || m->stack[m->depth - count - 1].kind != DICTIONARY)
        return refuse(m, "entries have no dictionary, or an odd number");
    for (int i = m->depth - count; i < m->depth; i += 2) {
        const struct object *key = &m->stack[i], *value = key + 1;
        if (value->kind != TENSOR) continue;
        struct safetensor *t = &m->tensor[value->number].is;
        if (key->kind != TEXT || t->name) return refuse(m, "a tensor has no name or two");
        t->name = arena_text(m->arena, "%.*s", (int)(key->length < 1000 ? key->length : 1000), (const char *)key->text);
        TRY(checkpoint_check_name(m->where, t->name));
    }
    m->depth -= count;
    return 0;
}

static int append_keys(struct machine *m, int count)
{
    if (count >= m->depth || m->stack[m->depth - count - 1].kind != LIST) return refuse(m, "there is no list");
    for (int i = m->depth - count; i < m->depth; i++) {
        if (m->stack[i].kind != TEXT || m->keys == TENSORS) return refuse(m, "a key is no text, or there are too many");
        m->key[m->keys++] = m->stack[i];
    }
    m->depth -= count;
    return 0;
}

// ---- a pickle

static int push_whole(struct machine *m, int bytes)
{
    struct object o = {.kind = NUMBER};
    TRY(take_number(m, bytes, &o.number));
    return push(m, o);
}

// Attributes of a dictionary.
static int drop_state(struct machine *m)
{
    if (m->depth < 2 || m->stack[m->depth - 2].kind != DICTIONARY) return refuse(m, "what has attributes is no dictionary");
    m->depth--;
    return 0;
}

static int run_marked(struct machine *m, int code)
{
    int count = 0;
    TRY(count_marked(m, &count));
    return code == 't' ? push_tuple(m, count) : code == 'u' ? name_tensors(m, count) : append_keys(m, count);
}

static int run_instruction(struct machine *m, int code)
{
    switch (code) {
    case '}': return push(m, (struct object){.kind = DICTIONARY});
    case ']': return push(m, (struct object){.kind = LIST});
    case '(': return push(m, (struct object){.kind = MARK});
    case 'N': case 0x88: case 0x89: return push(m, (struct object){.kind = OTHER});  // None, True, False
    case 'X': return push_text(m);
    case 'c': return push_name(m);
    case 'K': return push_whole(m, 1);
    case 'M': return push_whole(m, 2);
    case 'J': return push_whole(m, 4);
    case 'q': return remember(m, 1);
    case 'r': return remember(m, 4);
    case 'h': return recall(m, 1);
    case 'j': return recall(m, 4);
    case ')': return push_tuple(m, 0);
    case 0x85: case 0x86: case 0x87: return push_tuple(m, code - 0x84);
    case 't': case 'u': case 'e': return run_marked(m, code);
    case 's': return name_tensors(m, 2);
    case 'a': return append_keys(m, 1);
    case 'Q': return push_storage(m);
    case 'R': return push_result(m);
    case 'b': return drop_state(m);
    default: return refuse(m, "a pickle has an instruction that files of weights do not need");
    }
}

// What is left is one object of this kind.
static int run_pickle(struct machine *m, enum kind kind)
{
    const unsigned char *code = NULL;
    m->depth = 0;
    TRY(take_bytes(m, 2, &code));
    if (code[0] != 0x80 || code[1] != 2) return refuse(m, "a pickle of another protocol than 2");
    for (;;) {
        TRY(take_bytes(m, 1, &code));
        if (*code == '.') break;
        TRY(run_instruction(m, *code));
    }
    return m->depth == 1 && m->stack[0].kind == kind ? 0 : refuse(m, "a pickle is of something else than tensors and their keys");
}

// ---- the storages

static int place_storage(struct machine *m, const struct object *key, size_t data)
{
    int64_t elements = 0;
    size_t bytes = 0;
    bool used = false;
    TRY(take_number(m, 8, &elements));
    for (int i = 0; i < m->tensors; i++) {
        struct tensor *t = &m->tensor[i];
        if (t->storage.length != key->length || memcmp(t->storage.text, key->text, key->length) != 0) continue;
        const size_t each = checkpoint_type_size(t->is.dtype);
        if (t->is.bytes || t->storage.number != elements) return refuse(m, "a storage has another size, or comes twice");
        if ((size_t)elements > (m->end - m->at) / each) return refuse(m, "it ends within a storage");
        if (used && bytes != (size_t)elements * each) return refuse(m, "a storage has two types");
        used = true, bytes = (size_t)elements * each;
        t->is.bytes = m->bytes + m->at + (size_t)t->first * each;
        t->is.offset = m->at + (size_t)t->first * each - data;
    }
    if (!used) return refuse(m, "a storage belongs to no tensor");
    m->at += bytes;
    return 0;
}

static int place_storages(struct machine *m)
{
    m->keys = 0;
    TRY(run_pickle(m, LIST));
    const size_t data = m->at;
    for (int i = 0; i < m->keys; i++) TRY(place_storage(m, &m->key[i], data));
    return m->at == m->end ? 0 : refuse(m, "bytes after the last storage");
}

// Copies a tensor whose elements have another order, as in files converted from TensorFlow. All copies together are not larger
// than the file.
static int move_elements(struct machine *m, struct tensor *t)
{
    const struct shape *shape = &t->is.shape;
    const size_t each = checkpoint_type_size(t->is.dtype);
    if (t->is.size > m->left) return refuse(m, "its tensors share too much of their storages");
    m->left -= t->is.size;
    char *to = arena_alloc(m->arena, t->is.size + 1);
    for (int64_t i = 0, count = shape_count(shape); i < count; i++) {
        int64_t rest = i, from = 0;
        for (int k = shape->rank - 1; k >= 0; rest /= shape->dim[k], k--) from += rest % shape->dim[k] * t->stride[k];
        memcpy(to + (size_t)i * each, (const char *)t->is.bytes + (size_t)from * each, each);
    }
    t->is.bytes = to;
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct safetensor *)a)->name, ((const struct safetensor *)b)->name);
}

static int by_offset(const void *a, const void *b)
{
    const struct safetensor *x = a, *y = b;
    return x->offset != y->offset ? (x->offset < y->offset ? -1 : 1) : by_name(a, b);
}

static int list_tensors(struct machine *m, struct safetensors_view *view)
{
    view->tensor = arena_alloc(m->arena, ((size_t)m->tensors + 1) * sizeof *view->tensor);
    for (int i = 0; i < m->tensors; i++) {
        struct tensor *t = &m->tensor[i];
        if (!t->is.name || !t->is.bytes) return refuse(m, "a tensor has no name or no storage");
        if (t->is.size > 0 && !lies_by_rows(t)) TRY(move_elements(m, t));
        view->tensor[view->tensors++] = t->is;
    }
    qsort(view->tensor, (size_t)view->tensors, sizeof *view->tensor, by_name);
    for (int i = 1; i < view->tensors; i++)
        if (by_name(&view->tensor[i - 1], &view->tensor[i]) == 0)
            return fail(ERR_INPUT, "%s has tensor \"%s\" twice", m->where, view->tensor[i].name);
    qsort(view->tensor, (size_t)view->tensors, sizeof *view->tensor, by_offset);
    return 0;
}

bool checkpoint_is_pth(const void *bytes, size_t count)
{
    return count >= sizeof head - 1 && memcmp(bytes, head, sizeof head - 1) == 0;
}

int checkpoint_parse_pth(const char *where, const void *bytes, size_t count, struct safetensors_view *view)
{
    if (!checkpoint_is_pth(bytes, count))
        return fail(ERR_INPUT, "%s is not a file of torch.save before PyTorch 1.6: its first bytes differ", where);
    *view = (struct safetensors_view){0};
    struct machine m = {.where = where, .bytes = bytes, .at = sizeof head - 1, .end = count, .left = count,
                        .arena = &view->arena};
    m.stack = zalloc(3 * (size_t)OBJECTS * sizeof *m.stack);
    m.memo = m.stack + OBJECTS, m.member = m.memo + OBJECTS;
    m.tensor = zalloc((size_t)TENSORS * sizeof *m.tensor);
    m.key = zalloc((size_t)TENSORS * sizeof *m.key);
    int rc = run_pickle(&m, DICTIONARY);
    if (rc == 0) rc = place_storages(&m);
    if (rc == 0) rc = list_tensors(&m, view);
    free(m.stack);
    free(m.tensor);
    free(m.key);
    if (rc < 0) checkpoint_view_free(view);
    return rc;
}
