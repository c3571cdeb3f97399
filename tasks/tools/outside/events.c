// SPDX-License-Identifier: Apache-2.0
// Invariant: every length is compared with the bytes that are left before it is used. Fields that are not known are skipped, as
// protocol buffers require. Workload: some scalars per epoch among pictures and graphs, which are skipped whole.
#include "tasks/tools/outside/events.h"

#include <string.h>

#include "runtime/common/base/crc32c.h"

struct span {
    const unsigned char *at, *end;
};
struct field {
    uint64_t number, value;  // value: of a number, and the bits of a fixed one
    int wire;
    struct span inside;      // of a text or a message
};
enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

// ---- records
static uint64_t little(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes; i-- > 0;) value = value << 8 | at[i];
    return value;
}

// The checksum, rotated and shifted as TFRecord stores it.
static uint32_t masked_crc(const unsigned char *at, size_t count)
{
    uint32_t crc = crc32c_add(0, at, count);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

// ---- fields
static bool read_varint(struct span *s, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 64 && s->at < s->end; shift += 7) {
        *value |= (uint64_t)(*s->at & 0x7f) << shift;
        if ((*s->at++ & 0x80) == 0) return true;
    }
    return false;
}

// False at the end and at bytes that are no field; then s->at is before the end.
static bool next_field(struct span *s, struct field *f)
{
    const unsigned char *before = s->at;
    uint64_t key, length = 0;
    *f = (struct field){0};
    if (s->at == s->end) return false;
    bool good = read_varint(s, &key);
    f->number = key >> 3, f->wire = (int)(key & 7);
    if (good && f->wire == WIRE_VARINT) good = read_varint(s, &f->value);
    else if (good && f->wire == WIRE_BYTES) good = read_varint(s, &length);
    else if (good) good = f->wire == WIRE_64 || f->wire == WIRE_32, length = f->wire == WIRE_64 ? 8 : 4;
    good = good && length <= (uint64_t)(s->end - s->at);
    if (!good) {
        s->at = before;
        return false;
    }
    if (f->wire == WIRE_64 || f->wire == WIRE_32) f->value = little(s->at, (int)length);
    f->inside = (struct span){s->at, s->at + length};
    s->at += length;
    return true;
}

static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double as_float(uint64_t bits)
{
    const uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    return value;
}

// The first number of a tensor of floats (1) or doubles (2): its content, or lists of floats (5) and doubles (6).
static bool read_tensor(struct span s, double *value)
{
    struct field f;
    uint64_t type = 0;
    bool found = false;
    while (next_field(&s, &f)) {
        const size_t count = (size_t)(f.inside.end - f.inside.at);
        if (f.number == 1 && f.wire == WIRE_VARINT) type = f.value;
        if (f.number == 4 && type == 1 && count == 4) *value = as_float(little(f.inside.at, 4)), found = true;
        if (f.number == 4 && type == 2 && count == 8) *value = as_double(little(f.inside.at, 8)), found = true;
        if (f.number == 5 && count == 4) *value = as_float(little(f.inside.at, 4)), found = true;
        if (f.number == 6 && count == 8) *value = as_double(little(f.inside.at, 8)), found = true;
    }
    return found;
}

// Reads a Summary.Value: its tag (1), and its simple_value (2) or its tensor (8).
static bool read_value(struct span s, struct events_scalar *scalar)
{
    struct field f;
    bool found = false, named = false;
    while (next_field(&s, &f)) {
        const size_t count = (size_t)(f.inside.end - f.inside.at);
        if (f.number == 1 && f.wire == WIRE_BYTES && count < EVENTS_TAG) {
            memcpy(scalar->tag, f.inside.at, count);
            scalar->tag[count] = 0;
            named = true;
        }
        if (f.number == 2 && f.wire == WIRE_32) scalar->value = as_float(f.value), found = true;
        if (f.number == 8 && f.wire == WIRE_BYTES) found = read_tensor(f.inside, &scalar->value) || found;
    }
    return named && found;
}

// Reads an Event: wall_time (1), step (2), and in its summary (5) the values (1).
static int read_event(struct span event, events_take *take, void *context)
{
    struct events_scalar scalar = {.step = 0};
    struct field f, value;
    struct span all = event;
    while (next_field(&event, &f)) {
        if (f.number == 1 && f.wire == WIRE_64) scalar.wall = as_double(f.value);
        if (f.number == 2 && f.wire == WIRE_VARINT) scalar.step = (int64_t)f.value;
    }
    if (event.at != event.end) return fail(ERR_INPUT, "a record is no event of TensorBoard");
    while (next_field(&all, &f)) {
        if (f.number != 5 || f.wire != WIRE_BYTES) continue;
        while (next_field(&f.inside, &value))
            if (value.number == 1 && value.wire == WIRE_BYTES && read_value(value.inside, &scalar)) TRY(take(context, &scalar));
    }
    return 0;
}

int events_read(const unsigned char *bytes, size_t count, size_t *used, events_take *take, void *context)
{
    enum { HEAD = 12, TAIL = 4 };
    for (*used = 0; count - *used >= HEAD;) {
        const unsigned char *at = bytes + *used;
        const uint64_t length = little(at, 8);
        if (masked_crc(at, 8) != little(at + 8, 4))
            return fail(ERR_INPUT, "a record's length does not have its checksum: not TensorBoard, or damaged");
        if (length > EVENTS_RECORD) return fail(ERR_INPUT, "a record has %llu bytes", (unsigned long long)length);
        if (count - *used < HEAD + length + TAIL) break;
        if (masked_crc(at + HEAD, length) != little(at + HEAD + length, 4))
            return fail(ERR_INPUT, "a record is damaged: its checksum differs");
        TRY(read_event((struct span){at + HEAD, at + HEAD + length}, take, context));
        *used += HEAD + length + TAIL;
    }
    return 0;
}
