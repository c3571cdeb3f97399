// SPDX-License-Identifier: Apache-2.0
// TensorBoard's event files: scalars in each form that programs write, and records that are cut, flipped and too long. Each file
// of TensorBoard begins with a record of 24 bytes, so the checksum of that length is known.
#include "runtime/common/base/crc32c.h"
#include "tasks/tools/outside/events.h"
#include "test/unit/test.h"

enum { MOST = 1024, HEAD = 12, TAIL = 4 };

struct seen {
    struct events_scalar last;
    int count;
};

static int take(void *context, const struct events_scalar *s)
{
    struct seen *seen = context;
    seen->last = *s, seen->count++;
    return 0;
}

static void put_crc(unsigned char *at, const unsigned char *of, size_t count)
{
    uint32_t crc = crc32c_add(0, of, count);
    crc = (crc >> 15 | crc << 17) + 0xa282ead8u;
    for (int i = 0; i < 4; i++) at[i] = (unsigned char)(crc >> 8 * i);
}

static size_t put_record(unsigned char *at, const char *event, size_t count)
{
    memset(at, 0, 8);
    at[0] = (unsigned char)count, at[1] = (unsigned char)(count >> 8);
    put_crc(at + 8, at, 8);
    memcpy(at + HEAD, event, count);
    put_crc(at + HEAD + count, at + HEAD, count);
    return HEAD + count + TAIL;
}

// Fields of an event: its time 1.5 and its step 3; a summary of one value; its bytes and the value's bytes are counted.
#define AT "\x09\0\0\0\0\0\0\xf8?\x10\x03"
#define HALF "\0\0\0?"
#define MORE "\0\0\0\0\0\0\xe8?"
#define LONG "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
static const struct {
    const char *event;
    size_t size;
    int64_t step;
    double value;  // 0: no scalar is found
} cases[] = {
#define CASE(event, step, value) {event, sizeof event - 1, step, value}
    CASE(AT "\x2a\x0d\x0a\x0b\x0a\x04loss\x15" HALF, 3, 0.5),                                       // simple_value
    CASE("\x2a\x0d\x0a\x0b\x0a\x04loss\x15" HALF AT, 3, 0.5),                                       // in any order
    CASE("\x4a\x02hi\x2a\x11\x0a\x0f\x1a\x02me\x0a\x04loss\x15" HALF AT, 3, 0.5),                   // unknown fields
    CASE("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x2a\x0d\x0a\x0b\x0a\x04loss\x15" HALF, -1, 0.5),
    CASE(AT "\x2a\x16\x0a\x14\x0a\x04loss\x42\x0c\x08\x02\x22\x08" MORE, 3, 0.75),                  // tensor_content, of doubles
    CASE(AT "\x2a\x12\x0a\x10\x0a\x04loss\x42\x08\x08\x01\x22\x04" HALF, 3, 0.5),                   // and of floats
    CASE(AT "\x2a\x12\x0a\x10\x0a\x04loss\x42\x08\x08\x01\x2a\x04" HALF, 3, 0.5),                   // float_val
    CASE(AT "\x2a\x16\x0a\x14\x0a\x04loss\x42\x0c\x08\x02\x32\x08" MORE, 3, 0.75),                  // double_val
    CASE(AT "\x2a\x12\x0a\x10\x0a\x04loss\x42\x08\x08\x02\x22\x04" HALF, 3, 0),                     // a double of four bytes
    CASE(AT "\x2a\x08\x0a\x06\x0a\x04loss", 3, 0),                                                  // no number
    CASE(AT "\x2a\x07\x0a\x05\x15" HALF, 3, 0),                                                     // no tag
    CASE(AT "\x2a\x8b\x01\x0a\x88\x01\x0a\x80\x01" LONG LONG "\x15" HALF, 3, 0),                    // a tag that is too long
};

TEST(scalars_of_every_form_are_taken)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char bytes[MOST];
        struct seen seen = {0};
        size_t used, count = put_record(bytes, cases[i].event, cases[i].size);
        OK(events_read(bytes, count, &used, take, &seen));
        assert_int_equal(used, count);
        assert_int_equal(seen.count, cases[i].value != 0);
        if (seen.count == 0) continue;
        assert_string_equal(seen.last.tag, "loss");
        assert_int_equal(seen.last.step, cases[i].step);
        assert_true(seen.last.value == cases[i].value);
    }
    unsigned char bytes[MOST];
    assert_int_equal(put_record(bytes, AT "\x1a\x0b" "brain.Event", 24), HEAD + 24 + TAIL);
    assert_memory_equal(bytes, "\x18\0\0\0\0\0\0\0\xa3\x7fK\"", HEAD);
}

// A record that is being written waits for its rest.
TEST(a_cut_file_gives_its_whole_records)
{
    unsigned char bytes[MOST];
    const size_t first = put_record(bytes, cases[0].event, cases[0].size);
    const size_t count = first + put_record(bytes + first, cases[4].event, cases[4].size);
    for (size_t cut = 0; cut <= count; cut++) {
        unsigned char *copy = malloc(cut + 1);  // a byte that is read behind the end is outside of it
        struct seen seen = {0};
        size_t used;
        memcpy(copy + 1, bytes, cut);
        OK(events_read(copy + 1, cut, &used, take, &seen));
        assert_int_equal(used, cut == count ? count : cut >= first ? first : 0);
        assert_int_equal(seen.count, (cut >= first) + (cut == count));
        free(copy);
    }
}

TEST(wrong_records_are_refused)
{
    unsigned char bytes[MOST];
    struct seen seen = {0};
    size_t used, count = put_record(bytes, cases[0].event, cases[0].size);
    for (size_t bit = 0; bit < 8 * count; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(events_read(bytes, count, &used, take, &seen), ERR_INPUT);
        assert_int_equal(used, 0);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    memset(bytes, 0, 8);
    bytes[3] = 1, bytes[0] = 1;  // one byte more than a record has
    put_crc(bytes + 8, bytes, 8);
    assert_fails(events_read(bytes, sizeof bytes, &used, take, &seen), ERR_INPUT, "16777217 bytes");
    count = put_record(bytes, "\x2a\x0d\x0a", 3);  // a length beyond the event
    assert_fails(events_read(bytes, count, &used, take, &seen), ERR_INPUT, "no event of TensorBoard");
    assert_int_equal(seen.count, 0);
}
