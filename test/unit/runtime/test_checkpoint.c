// SPDX-License-Identifier: Apache-2.0
// Safetensors files made by hand, valid ones and every kind of invalid one, and a small model saved and loaded. Bytes are
// parsed in blocks of exactly their size, so that the sanitizers detect a read of one byte too many.
#include "runtime/graph.h"
#include "test/unit/test.h"
#include "test/unit/runtime/fixture_checkpoint.h"

static const char good[] = "{\"b\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[6,14]},"
                           "\"a\":{\"data_offsets\":[0,6],\"shape\":[3],\"dtype\":\"BF16\"},"
                           "\"__metadata__\":{\"recipe\":\"r1\",\"seed\":\"7\"},"
                           "\"scalar\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[14,15]},"
                           "\"zero\":{\"dtype\":\"F16\",\"shape\":[0,5],\"data_offsets\":[14,14]},"
                           "\"i\":{\"dtype\":\"I32\",\"shape\":[1],\"data_offsets\":[15,19]}}  ";

TEST(test_good)
{
    struct block b = make(good, strlen(good), 19);
    struct safetensors_view view;
    assert_int_equal(checkpoint_parse("m", b.at, b.count, &view), 0);
    static const struct safetensor want[] = {
        {"a", BF16, {1, {3}}, NULL, 0, 6},
        {"b", F32, {2, {2, 1}}, NULL, 6, 8},
        {"zero", F16, {2, {0, 5}}, NULL, 14, 0},
        {"scalar", U8, {0, {0}}, NULL, 14, 1},
        {"i", I32, {1, {1}}, NULL, 15, 4},
    };
    assert_int_equal(view.tensors, 5);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(view.tensor[i].name, want[i].name);
        assert_int_equal(view.tensor[i].dtype, want[i].dtype);
        assert_true(shape_equal(&view.tensor[i].shape, &want[i].shape));
        assert_int_equal(view.tensor[i].offset, want[i].offset);
        assert_int_equal(view.tensor[i].size, want[i].size);
        assert_ptr_equal(view.tensor[i].bytes, b.at + 8 + strlen(good) + want[i].offset);
    }
    assert_int_equal(view.metas, 2);
    assert_string_equal(view.meta[1].key, "seed");
    assert_string_equal(view.meta[1].value, "7");
    checkpoint_view_free(&view);
    free(b.at);
}

TEST(test_smallest)
{
    struct block b = make("{}", 2, 0);
    struct safetensors_view view;
    assert_int_equal(checkpoint_parse("m", b.at, b.count, &view), 0);
    assert_int_equal(view.tensors, 0);
    checkpoint_view_free(&view);
    free(b.at);
}

#define ONE(type, shape, offsets) "{" T("w", type, shape, offsets) "}"

// Header, bytes of data, and what the sentence must contain besides the file's name.
static const struct {
    const char *header;
    size_t data;
    const char *said;
} bad[] = {
    {"", 0, "does not begin with {"},
    {" {}", 0, "does not begin with { at byte 8"},
    {"[]", 0, "does not begin with {"},
    {"{", 0, "not valid JSON"},
    {"{}{}", 0, "not valid JSON at byte 11"},
    {"{\"w\":}", 0, "not valid JSON"},
    {"{\"\xff\":1}", 0, "not valid JSON"},
    {"{\"a\\u0000b\":1}", 0, "not valid JSON"},
    {"{" T("w", "F32", "[1]", "[0,4]") "," T("w", "F32", "[1]", "[4,8]") "}", 8, "duplicate object key"},
    {"{\"w\":{\"dtype\":\"F32\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "duplicate object key"},
    {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "duplicate object key"},
    {"{\"__metadata__\":[]}", 0, "__metadata__ is not an object"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "__metadata__ has a value that is not a text"},
    {"{\"w\":1}", 0, "\"w\" is not described by"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "\"w\" is not described by"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"scale\":2}}", 4, "\"w\" is not described by"},
    {"{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"offsets\":[0,4]}}", 4, "\"w\" has no \"data_offsets\""},
    {"{\"w\":{\"type\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "\"w\" has no \"dtype\""},
    {"{\"w\":{\"dtype\":5,\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "\"w\" has no \"dtype\""},
    {ONE("F8_E4M3", "[1]", "[0,1]"), 1, "\"w\" has the dtype F8_E4M3"},
    {ONE("f32", "[1]", "[0,4]"), 4, "\"w\" has the dtype f32"},
    {ONE("\\u001b[2J", "[1]", "[0,4]"), 4, "\"w\" has an unknown dtype"},
    {"{\"w\":{\"dtype\":\"F32\",\"form\":[1],\"data_offsets\":[0,4]}}", 4, "\"w\" has no \"shape\""},
    {ONE("F32", "4", "[0,4]"), 4, "\"w\" has no \"shape\""},
    {ONE("F32", "[1.0]", "[0,4]"), 4, "dimension 0 of tensor \"w\" is not a whole number"},
    {ONE("F32", "[1,\"1\"]", "[0,4]"), 4, "dimension 1 of tensor \"w\" is not a whole number"},
    {ONE("F32", "[2,-1]", "[0,4]"), 4, "dimension 1 of tensor \"w\" is negative (-1)"},
    {ONE("F32", "[-1,-1]", "[0,4]"), 4, "dimension 0 of tensor \"w\" is negative"},
    {ONE("U8", "[1,1,1,1,1,1]", "[0,1]"), 1, "\"w\" has 6 dimensions"},
    {ONE("F32", "[4611686018427387904,1]", "[0,0]"), 0, "shape of tensor \"w\" is larger"},
    {ONE("U8", "[4294967296,4294967296]", "[0,0]"), 0, "shape of tensor \"w\" is larger"},
    {ONE("U8", "[99999999999999999999]", "[0,0]"), 0, "not valid JSON"},
    {ONE("F32", "[1]", "[0]"), 4, "\"w\" has no \"data_offsets\" of two"},
    {ONE("F32", "[1]", "[0,4,8]"), 4, "\"w\" has no \"data_offsets\" of two"},
    {ONE("F32", "[1]", "[0.0,4.0]"), 4, "\"w\" has no \"data_offsets\" of two"},
    {ONE("F32", "[1]", "{\"0\":0,\"1\":4}"), 4, "\"w\" has no \"data_offsets\" of two"},
    {ONE("F32", "[1]", "[-4,0]"), 4, "\"w\" goes from offset -4 to 0"},
    {ONE("F32", "[1]", "[4,0]"), 4, "\"w\" goes from offset 4 to 0"},
    {ONE("F32", "[2]", "[0,8]"), 7, "\"w\" ends at offset 8 of the data, which has only 7"},
    {ONE("F32", "[1]", "[9223372036854775803,9223372036854775807]"), 4, "\"w\" ends at offset 9223372036854775807"},
    {ONE("F32", "[2]", "[0,4]"), 4, "\"w\" at offset 0 has 4 bytes; F32 [2] needs 8"},
    {ONE("BF16", "[3]", "[0,4]"), 4, "\"w\" at offset 0 has 4 bytes; BF16 [3] needs 6"},
    {ONE("U8", "[0]", "[0,4]"), 4, "\"w\" at offset 0 has 4 bytes"},
    {ONE("F32", "[1]", "[0,4]"), 5, "1 bytes from offset 4 on belong to no tensor"},
    {"{}", 3, "3 bytes from offset 0 on belong to no tensor"},
    {ONE("F32", "[1]", "[1,5]"), 5, "nothing owns the bytes from offset 0 to 1, before tensor \"w\""},
    {"{" T("v", "F32", "[1]", "[0,4]") "," T("w", "F32", "[1]", "[6,10]") "}", 10,
     "from offset 4 to 6, before tensor \"w\""},
    {"{" T("w", "F32", "[1]", "[2,6]") "," T("v", "F32", "[1]", "[0,4]") "}", 6,
     "\"w\" begins at offset 2, within tensor \"v\" that ends at 4"},
    {"{" T("v", "F32", "[1]", "[0,4]") "," T("w", "F32", "[1]", "[0,4]") "}", 4,
     "\"w\" begins at offset 0, within tensor \"v\""},
    {"{" T("v", "U8", "[0]", "[2,2]") "," T("w", "F32", "[1]", "[0,4]") "}", 4,
     "\"v\" begins at offset 2, within tensor \"w\""},
    {"{" T("", "F32", "[1]", "[0,4]") "}", 4, "empty name"},
    {"{" T("a\\u001b[2J", "F32", "[1]", "[0,4]") "}", 4, "control character at its byte 1"},
    {"{" T("a\\u009b2J", "F32", "[1]", "[0,4]") "}", 4, "control character at its byte 1"},
};

TEST(test_bad_headers)
{
    struct safetensors_view view;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct block b = make(bad[i].header, strlen(bad[i].header), bad[i].data);
        if (checkpoint_parse("some/file", b.at, b.count, &view) != ERR_INPUT) fail_msg("taken: %s", bad[i].header);
        assert_said("some/file");
        assert_said(bad[i].said);
        free(b.at);
    }
}

TEST(test_short_files)
{
    struct safetensors_view view;
    assert_int_equal(checkpoint_parse("one", "x", 1, &view), ERR_INPUT);
    assert_said("one has 1 byte; a safetensors file begins with 8 bytes that");
    assert_int_equal(checkpoint_parse("two", "xy", 2, &view), ERR_INPUT);
    assert_said("two has 2 bytes;");
}

TEST(test_long_name)
{
    char header[512], name[CHECKPOINT_NAME_LIMIT + 2];
    struct safetensors_view view;
    for (int bytes = CHECKPOINT_NAME_LIMIT; bytes <= CHECKPOINT_NAME_LIMIT + 1; bytes++) {
        memset(name, 'n', (size_t)bytes);
        name[bytes] = 0;
        snprintf(header, sizeof header, "{\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", name);
        struct block b = make(header, strlen(header), 1);
        int rc = checkpoint_parse("m", b.at, b.count, &view);
        if (bytes == CHECKPOINT_NAME_LIMIT) {
            assert_int_equal(rc, 0);
            checkpoint_view_free(&view);
        } else {
            assert_int_equal(rc, ERR_INPUT);
            assert_said("257 bytes");
        }
        free(b.at);
    }
}

TEST(test_header_length)
{
    struct safetensors_view view;
    struct block b = make("{}", 2, 0);
    b.at[0] = 3;  // one byte more than there is
    assert_int_equal(checkpoint_parse("m", b.at, b.count, &view), ERR_INPUT);
    assert_said("m is cut short: its header ends at byte 11 and the file at 10");
    b.at[0] = 1, b.at[3] = 1;  // one byte over the limit of 16 MiB
    assert_int_equal(checkpoint_parse("m", b.at, b.count, &view), ERR_INPUT);
    assert_said("16777217 bytes, 16777216 are allowed");
    b.at[0] = 0;  // the limit itself is only cut short
    assert_int_equal(checkpoint_parse("m", b.at, b.count, &view), ERR_INPUT);
    assert_said("cut short");
    memset(b.at, 0xff, 8);
    assert_int_equal(checkpoint_parse("m", b.at, b.count, &view), ERR_INPUT);
    assert_said("18446744073709551615");
    memcpy(b.at, "PK\3\4", 4);
    assert_int_equal(checkpoint_parse("m.pth", b.at, b.count, &view), ERR_INPUT);
    assert_said("m.pth is a zip file, as torch.save writes; safetensors.torch.save_file(");
    free(b.at);
}

// Truncates the file at every byte and flips every bit: it is refused, or at least no access is wrong.
TEST(test_cut_and_turned)
{
    struct safetensors_view view;
    struct block b = make(good, strlen(good), 19);
    for (size_t n = 0; n < b.count; n++) {
        unsigned char *part = malloc(n ? n : 1);
        memcpy(part, b.at, n);
        assert_int_equal(checkpoint_parse("m", part, n, &view), ERR_INPUT);
        free(part);
    }
    int taken = 0;
    for (size_t bit = 0; bit < 8 * (8 + strlen(good)); bit++) {
        b.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (checkpoint_parse("m", b.at, b.count, &view) == 0) {
            taken++;
            checkpoint_view_free(&view);
        }
        b.at[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    assert_in_range(taken, 1, 8 * strlen(good) / 4);  // other names and texts are fine, anything else is not
    free(b.at);
}

TEST_WITH(test_open, enter, leave)
{
    struct checkpoint *c = NULL;
    char digest[DIGEST_HEX];
    struct block b = make(good, strlen(good), 19);
    put_file(in("good"), b.at, b.count);
    put_file(in("short"), b.at, b.count - 1);
    assert_int_equal(checkpoint_open(in("good"), &c), 0);
    digest_bytes(b.at, b.count, digest);
    assert_string_equal(checkpoint_digest(c), digest);
    assert_string_equal(checkpoint_meta(c, "recipe"), "r1");
    assert_null(checkpoint_meta(c, "Recipe"));
    checkpoint_close(c);
    free(b.at);

    assert_int_equal(checkpoint_open(in("short"), &c), ERR_INPUT);
    assert_null(c);
    assert_said(in("short"));
    assert_int_equal(checkpoint_open(in("absent"), &c), ERR_IO);
    assert_int_equal(checkpoint_open(folder, &c), ERR_INPUT);
    put_file(in("huge"), "", 0);  // sparse: it takes no space
    assert_int_equal(truncate(in("huge"), (off_t)CHECKPOINT_FILE_LIMIT + 1), 0);
    assert_int_equal(checkpoint_open(in("huge"), &c), ERR_INPUT);
    assert_said("4294967297 bytes");
    checkpoint_close(NULL);
}

// ---- a small model

static void add(struct session *s, const char *name, struct shape shape, enum dtype type, enum memory_class memory,
                struct init init)
{
    struct slot *slot;
    assert_int_equal(slot_make(s->store, name, shape, type, memory, init, &slot), 0);
    if (memory == MEMORY_STATE && dtype_is_float(type)) slot->role = ROLE_STATISTIC;
    if (memory == MEMORY_WEIGHTS) slot->role = strncmp(name, "folded", 6) ? ROLE_MATRIX : ROLE_DERIVED;
}

// total += sum of x * weight^T, and slots that are not used for it. `extra` and `width` make another model.
static struct session *model(struct device *d, int64_t width, const char *extra)
{
    struct session *s;
    assert_int_equal(session_new(d, &s), 0);
    struct init random = {INIT_UNIFORM, 1}, two = {INIT_CONSTANT, 2}, zero = {INIT_ZERO, 0};
    struct graph *g = graph_new(s->store, "step");
    int x = graph_state(g, "input", SHAPE(2, width), F32, MEMORY_DATA, two);
    int w = graph_param(g, "layer.weight", SHAPE(3, width), random, ROLE_MATRIX);
    int total = graph_state(g, "a.total", SHAPE(1), F32, MEMORY_STATE, zero);
    g->value[total].slot->role = ROLE_STATISTIC;
    int sum = g_reduce(g, g_linear(g, x, w, NONE, F32), 3, false, F32);
    g_accumulate(g, total, g_reshape(g, sum, SHAPE(1)));
    assert_in_range(session_add(s, g), 0, 0);
    add(s, "half", SHAPE(3), BF16, MEMORY_STATE, two);
    add(s, "counter", SHAPE(1), I32, MEMORY_STATE, two);
    add(s, "one", SHAPE(1), F32, MEMORY_DATA, two);
    add(s, "folded.layer.weight", SHAPE(3, width), F32, MEMORY_WEIGHTS, two);
    add(s, "momentum", SHAPE(3, width), F32, MEMORY_OPTIMISER, two);
    if (extra) add(s, extra, SHAPE(2), F32, MEMORY_WEIGHTS, zero);
    assert_int_equal(session_ready(s), 0);
    assert_int_equal(session_reset(s, 1), 0);
    return s;
}

static float total_after_a_run(struct session *s)
{
    float total;
    assert_int_equal(session_run(s, 0), 0);
    assert_int_equal(session_get(s, "a.total", &total, sizeof total), 0);
    return total;
}

static void load(struct session *s, const char *path, int want)
{
    struct checkpoint *c;
    assert_int_equal(checkpoint_open(path, &c), 0);
    assert_int_equal(checkpoint_load(c, s, false), want);
    checkpoint_close(c);
}

TEST_WITH(test_round_trip, enter, leave)
{
    struct device *d = ref_device();
    struct session *a = model(d, 4, NULL), *b = model(d, 4, NULL);
    struct checkpoint_meta meta[] = {{"recipe", "test \"quoted\" \xc3\xa9"}, {NULL, NULL}};
    char digest[DIGEST_HEX], again[DIGEST_HEX];
    int32_t counter = 0;
    float momentum[12];
    float once = total_after_a_run(a);
    assert_int_equal(checkpoint_save(in("a"), a, meta, digest), 0);

    struct checkpoint *c;
    assert_int_equal(checkpoint_open(in("a"), &c), 0);
    assert_string_equal(checkpoint_digest(c), digest);
    assert_string_equal(checkpoint_meta(c, "recipe"), meta[0].value);
    assert_int_equal(session_reset(b, 2), 0);
    assert_true(total_after_a_run(b) != once);  // another seed, another model: else loading would show nothing
    counter = 77;
    memset(momentum, 0, sizeof momentum);
    momentum[5] = 3;
    assert_int_equal(session_put(b, "counter", &counter, 0, sizeof counter), 0);
    assert_int_equal(session_put(b, "momentum", momentum, 0, sizeof momentum), 0);
    assert_int_equal(checkpoint_load(c, b, false), 0);
    checkpoint_close(c);

    float twice_a = total_after_a_run(a), twice_b = total_after_a_run(b);
    assert_memory_equal(&twice_a, &twice_b, sizeof twice_a);
    assert_int_equal(session_get(b, "counter", &counter, sizeof counter), 0);
    assert_int_equal(session_get(b, "momentum", momentum, sizeof momentum), 0);
    assert_int_equal(counter, 77);  // slots that are no weights stay unchanged
    assert_true(momentum[5] == 3);

    // The same weights and texts, the same bytes; another weight, another digest.
    assert_int_equal(checkpoint_save(in("a2"), a, meta, digest), 0);
    assert_int_equal(checkpoint_save(in("b2"), b, meta, again), 0);
    assert_string_equal(digest, again);
    assert_int_equal(digest_file(in("a2"), again), 0);
    assert_string_equal(digest, again);
    (void)total_after_a_run(b);
    assert_int_equal(checkpoint_save(in("b3"), b, meta, again), 0);
    assert_string_not_equal(digest, again);
    session_free(a);
    session_free(b);
    device_close(d);
}

// The expected bytes are written out from the format's description, not read back by our parser.
TEST_WITH(test_exact_bytes, enter, leave)
{
    static const char header[] = "{\"__metadata__\":{\"seed\":\"7\"},"
                                 "\"a.total\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
                                 "\"layer.weight\":{\"dtype\":\"F32\",\"shape\":[3,1],\"data_offsets\":[4,16]},"
                                 "\"half\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[16,22]}}";
    struct device *d = ref_device();
    struct session *s = model(d, 1, NULL);
    float total = 0.5f, weight[3] = {1, -2, 3};
    char digest[DIGEST_HEX], *bytes;
    size_t count, padded = (strlen(header) + 7) / 8 * 8;
    assert_int_equal(session_put(s, "a.total", &total, 0, sizeof total), 0);
    assert_int_equal(session_put(s, "layer.weight", weight, 0, sizeof weight), 0);
    assert_int_equal(checkpoint_save(in("x"), s, (struct checkpoint_meta[]){{"seed", "7"}, {NULL, NULL}}, digest), 0);
    assert_int_equal(file_read(in("x"), 4096, &bytes, &count), 0);
    assert_true(padded != strlen(header));  // else this would not see the padding
    assert_int_equal(count, 8 + padded + 22);
    assert_int_equal((unsigned char)bytes[0] + 256 * (unsigned char)bytes[1], padded);
    assert_memory_equal(bytes + 2, "\0\0\0\0\0\0", 6);
    assert_memory_equal(bytes + 8, header, strlen(header));
    for (size_t i = strlen(header); i < padded; i++) assert_int_equal(bytes[8 + i], ' ');
    assert_memory_equal(bytes + 8 + padded,
                        "\x00\x00\x00\x3f\x00\x00\x80\x3f\x00\x00\x00\xc0\x00\x00\x40\x40\x00\x40\x00\x40\x00\x40", 22);
    free(bytes);
    session_free(s);
    device_close(d);
}

TEST_WITH(test_wrong_model, enter, leave)
{
    struct device *d = ref_device();
    struct session *a = model(d, 4, NULL), *wide = model(d, 5, NULL), *more = model(d, 4, "z.extra");
    char digest[DIGEST_HEX];
    float before[15], after[15];
    assert_int_equal(checkpoint_save(in("a"), a, NULL, digest), 0);
    assert_int_equal(checkpoint_save(in("more"), more, NULL, digest), 0);

    assert_int_equal(session_get(wide, "layer.weight", before, sizeof before), 0);
    load(wide, in("a"), ERR_INPUT);
    assert_said(in("a"));
    assert_said("\"layer.weight\" as F32 [3x4]; the model needs F32 [3x5]");
    assert_int_equal(session_get(wide, "layer.weight", after, sizeof after), 0);
    assert_memory_equal(before, after, sizeof before);

    load(more, in("a"), ERR_INPUT);
    assert_said("no tensor \"z.extra\", which the model needs as F32 [2]");

    // Refused as a whole: tensors that fit are not loaded either.
    assert_int_equal(session_reset(a, 9), 0);
    assert_int_equal(session_get(a, "layer.weight", before, 12 * sizeof(float)), 0);
    load(a, in("more"), ERR_INPUT);
    assert_said("a tensor \"z.extra\" at offset");
    assert_int_equal(session_get(a, "layer.weight", after, 12 * sizeof(float)), 0);
    assert_memory_equal(before, after, 12 * sizeof(float));
    session_free(a);
    session_free(wide);
    session_free(more);
    device_close(d);
}

// A file of another program: another order, another type, and tensors that we do not save.
TEST_WITH(test_foreign_files, enter, leave)
{
    static const char fine[] = "{" T("half", "BF16", "[3]", "[0,6]") "," T("layer.weight", "F32", "[3,1]", "[6,18]") ","
        T("folded.layer.weight", "U8", "[1]", "[18,19]") "," T("one", "F32", "[1]", "[19,23]") ","
        T("momentum", "U8", "[2]", "[23,25]") "," T("a.total", "F32", "[1]", "[25,29]") "}";
    static const char type[] = "{" T("half", "F16", "[3]", "[0,6]") "," T("layer.weight", "F32", "[3,1]", "[6,18]") ","
        T("a.total", "F32", "[1]", "[18,22]") "}";
    struct device *d = ref_device();
    struct session *s = model(d, 1, NULL);
    unsigned char half[6], one[4];
    struct block b = make(fine, strlen(fine), 29);
    put_file(in("fine"), b.at, b.count);
    load(s, in("fine"), 0);
    assert_int_equal(session_get(s, "half", half, sizeof half), 0);
    assert_memory_equal(half, "\1\2\3\4\5\6", 6);
    assert_int_equal(session_get(s, "one", one, sizeof one), 0);
    assert_memory_equal(one, "\0\0\0\x40", 4);
    free(b.at);
    b = make(type, strlen(type), 22);
    put_file(in("type"), b.at, b.count);
    load(s, in("type"), ERR_INPUT);
    assert_said("\"half\" as F16 [3]; the model needs BF16 [3]");
    free(b.at);
    session_free(s);
    device_close(d);
}

TEST_WITH(test_save_fails_whole, enter, leave)
{
    struct device *d = ref_device();
    struct session *s = model(d, 4, NULL), *odd = model(d, 4, "tab\there");
    struct checkpoint_meta wrong[] = {{"note", "\xff"}, {NULL, NULL}};
    char digest[DIGEST_HEX], was[DIGEST_HEX], is[DIGEST_HEX];
    assert_int_equal(checkpoint_save(in("kept"), s, NULL, was), 0);
    assert_int_equal(checkpoint_save(in("kept"), s, wrong, digest), ERR_INPUT);
    assert_said("\"note\"");
    assert_int_equal(checkpoint_save(in("kept"), odd, NULL, digest), ERR_INPUT);
    assert_said("control character");
    assert_int_equal(digest_file(in("kept"), is), 0);
    assert_string_equal(is, was);
    assert_int_equal(checkpoint_save(in("no/such/folder"), s, NULL, digest), ERR_IO);
    session_free(s);
    session_free(odd);
    device_close(d);
}

// The format's own reader, if it is installed.
TEST_WITH(test_other_reader, enter, leave)
{
    char command[1024], digest[DIGEST_HEX];
    if (system("python3 -c 'import safetensors.numpy' >/dev/null 2>&1") != 0) skip();
    struct device *d = ref_device();
    struct session *s = model(d, 4, NULL);
    float weight[12], three[3] = {0};
    for (int i = 0; i < 12; i++) weight[i] = (float)i / 4;
    assert_int_equal(session_put(s, "layer.weight", weight, 0, sizeof weight), 0);
    assert_int_equal(session_put(s, "half", three, 0, 6), 0);
    assert_int_equal(checkpoint_save(in("s"), s, (struct checkpoint_meta[]){{"seed", "7"}, {NULL, NULL}}, digest), 0);
    snprintf(command, sizeof command,
             "python3 -c 'from safetensors import safe_open\n"
             "f = safe_open(\"%s\", \"np\")\n"
             "assert f.metadata() == {\"seed\": \"7\"}\n"
             "assert sorted(f.keys()) == [\"a.total\", \"half\", \"layer.weight\"]\n"
             "assert f.get_tensor(\"layer.weight\").tolist() == [[i / 4 + r for i in range(4)] for r in range(3)]'",
             in("s"));
    assert_int_equal(system(command), 0);
    session_free(s);
    device_close(d);
}
