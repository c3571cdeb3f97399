// SPDX-License-Identifier: Apache-2.0
// Weights of another program: names, prefixes, layouts and types, what may be missing, and files that do not fit.
#include "test/unit/test.h"
#include "test/unit/runtime/fixture_checkpoint.h"

static void import(struct session *s, const char *path, const char *const *prefixes, const char *const *fresh, int want,
                   struct checkpoint_imported *done)
{
    struct checkpoint *c;
    assert_int_equal(checkpoint_open(path, &c), 0);
    static const char *const older[][2] = {{"fc.", "last."}, {"norm.", "scale."}, {"norm.", "batch_norm."}, {NULL, NULL}};
    const struct checkpoint_import how = {.prefixes = prefixes, .fresh = fresh, .older = older};
    if (checkpoint_import(c, s, &how, done) != want) fail_msg("%s", error_text());
    checkpoint_close(c);
}

static struct session *classifier(struct device *d)
{
    struct session *s;
    assert_int_equal(session_new(d, &s), 0);
    static const struct {
        const char *name;
        struct shape shape;
        enum role role;
        enum init_kind init;
    } slots[] = {
        {"conv.weight", {4, {2, 1, 3, 2}}, ROLE_FILTER, INIT_ZERO},  // [K,R,S,C]
        {"norm.weight", {1, {2}}, ROLE_SCALE, INIT_CONSTANT},
        {"norm.running_mean", {1, {2}}, ROLE_STATISTIC, INIT_ZERO},
        {"fc.weight", {2, {2, 2}}, ROLE_MATRIX, INIT_CONSTANT},
        {"fc.bias", {1, {2}}, ROLE_BIAS, INIT_CONSTANT},
        {"computed", {1, {1}}, ROLE_BIAS, INIT_UPLOAD},
        {"table", {1, {1}}, ROLE_PLAIN, INIT_CONSTANT},
    };
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        struct slot *slot;
        assert_int_equal(slot_make(s->store, slots[i].name, slots[i].shape, F32, MEMORY_WEIGHTS,
                                   (struct init){slots[i].init, 5}, &slot), 0);
        slot->role = slots[i].role;
    }
    assert_int_equal(session_ready(s), 0);
    assert_int_equal(session_reset(s, 1), 0);
    return s;
}

// 12 numbers of a filter [2,2,1,3], two of a norm in bf16 and f16, a counter, a head for three classes.
#define CONV(shape) T("m.conv.weight", "F32", shape, "[0,48]")
#define FOREIGN(conv, mean)                                                                                            \
    "{" conv "," T("m.norm.weight", "BF16", "[2]", "[48,52]") "," T("norm.running_mean", mean, "[2]", "[52,56]") ","      \
    T("m.norm.num_batches_tracked", "I64", "[]", "[56,64]") "," T("m.fc.weight", "F32", "[3,2]", "[64,88]") "}"

static void put_foreign(const char *name, const char *header)
{
    struct block b = make(header, strlen(header), 88);
    unsigned char *data = b.at + 8 + strlen(header);
    for (int i = 0; i < 12; i++) memcpy(data + 4 * i, &(float){(float)i}, sizeof(float));
    memcpy(data + 48, (uint16_t[]){0x3f80, 0xc000}, 4);  // 1 and -2
    memcpy(data + 52, (uint16_t[]){0x3800, 0x3c00}, 4);  // 0.5 and 1
    put_file(in(name), b.at, b.count);
    free(b.at);
}

TEST_WITH(test_import, enter, leave)
{
    static const char *const prefixes[] = {"n.", "m.", NULL}, *const fresh[] = {"fc.", NULL};
    struct checkpoint_imported done;
    struct device *d = ref_device();
    struct session *s = classifier(d);
    float got[12];
    put_foreign("f", FOREIGN(CONV("[2,2,1,3]"), "F16"));
    import(s, in("f"), prefixes, fresh, 0, &done);
    assert_int_equal(done.taken, 3);
    assert_int_equal(done.fresh, 3);
    assert_int_equal(done.unused, 1);
    assert_string_equal(done.text, "3 tensors; 3 parameters start from random values (fc.weight, fc.bias, computed); "
                                   "1 not used (m.norm.num_batches_tracked)");
    static const float filter[] = {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11};
    assert_int_equal(session_get(s, "conv.weight", got, sizeof filter), 0);
    assert_memory_equal(got, filter, sizeof filter);
    assert_int_equal(session_get(s, "norm.weight", got, 8), 0);
    assert_true(got[0] == 1 && got[1] == -2);
    assert_int_equal(session_get(s, "norm.running_mean", got, 8), 0);
    assert_true(got[0] == 0.5f && got[1] == 1);
    assert_int_equal(session_get(s, "fc.weight", got, 16), 0);
    assert_true(got[0] == 5 && got[3] == 5);
    session_free(s);
    device_close(d);
}

// All that does not fit is counted and named in one sentence, and nothing is uploaded.
TEST_WITH(test_import_refuses, enter, leave)
{
    static const char *const prefixes[] = {"m.", NULL}, *const fresh[] = {"fc.", NULL};
    static const struct {
        const char *header, *says;
        bool prefixes, fresh;
    } cases[] = {
        {FOREIGN(CONV("[2,2,1,3]"), "F16"), "1 tensor is missing (fc.bias); 1 of another shape or type (m.fc.weight F32 [3x2] "
                                            "instead of F32 [2x2]); 1 that the model does not know", true, false},
        {FOREIGN(CONV("[2,2,1,3]"), "F16"), "2 tensors are missing (conv.weight, norm.weight)", false, true},
        {FOREIGN(CONV("[2,1,3,2]"), "F16"), "(m.conv.weight F32 [2x1x3x2] instead of F32 [2x2x1x3])", true, true},
        {FOREIGN(CONV("[12]"), "F16"), "(m.conv.weight F32 [12] instead of F32 [2x2x1x3])", true, true},
        {FOREIGN(CONV("[2,2,1,3]"), "I16"), "(norm.running_mean I16 [2] instead of F32 [2])", true, true},
    };
    struct checkpoint_imported done;
    struct device *d = ref_device();
    struct session *s = classifier(d);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float got[2];
        put_foreign("f", cases[i].header);
        import(s, in("f"), cases[i].prefixes ? prefixes : NULL, cases[i].fresh ? fresh : NULL, ERR_INPUT, &done);
        assert_said("does not fit the model: ");
        assert_said(cases[i].says);
        assert_int_equal(session_get(s, "norm.weight", got, sizeof got), 0);
        assert_true(got[0] == 5 && got[1] == 5);
    }
    session_free(s);
    device_close(d);
}

// A layer behind a flattened picture is a matrix in the file.
TEST_WITH(test_import_flattened, enter, leave)
{
    static const char *const prefixes[] = {"m.", NULL}, *const fresh[] = {"fc.", NULL};
    static const float filter[] = {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11};
    struct checkpoint_imported done;
    struct device *d = ref_device();
    struct session *s = classifier(d);
    float got[12];
    put_foreign("f", FOREIGN(CONV("[2,6]"), "F16"));
    import(s, in("f"), prefixes, fresh, 0, &done);
    assert_int_equal(session_get(s, "conv.weight", got, sizeof filter), 0);
    assert_memory_equal(got, filter, sizeof filter);
    session_free(s);
    device_close(d);
}

// Names that older files have; a prefix may be before them.
TEST_WITH(test_import_older, enter, leave)
{
    static const char *const prefixes[] = {"m.", NULL}, *const fresh[] = {"fc.bias", NULL};
    struct checkpoint_imported done;
    struct device *d = ref_device();
    struct session *s = classifier(d);
    float got[4];
    put_foreign("f", "{" CONV("[2,2,1,3]") "," T("m.batch_norm.weight", "BF16", "[2]", "[48,52]") ","
                     T("batch_norm.running_mean", "F16", "[2]", "[52,56]") "," T("m.last.weight", "F32", "[2,2]", "[56,72]") ","
                     T("unknown", "F32", "[4]", "[72,88]") "}");
    import(s, in("f"), prefixes, fresh, 0, &done);
    assert_string_equal(done.text, "4 tensors; 2 parameters start from random values (fc.bias, computed); 1 not used (unknown)");
    assert_int_equal(session_get(s, "norm.weight", got, 8), 0);
    assert_true(got[0] == 1 && got[1] == -2);
    assert_int_equal(session_get(s, "norm.running_mean", got, 8), 0);
    assert_true(got[0] == 0.5f && got[1] == 1);
    assert_int_equal(session_get(s, "fc.weight", got, 16), 0);
    assert_true(got[0] != 5 && got[3] != 5);
    session_free(s);
    device_close(d);
}

// Weights that DAWN wrote are in its own layout.
TEST_WITH(test_import_own, enter, leave)
{
    struct checkpoint_imported done;
    struct device *d = ref_device();
    struct session *s = classifier(d);
    char digest[DIGEST_HEX];
    float filter[12], got[12];
    for (int i = 0; i < 12; i++) filter[i] = (float)i;
    assert_int_equal(session_put(s, "conv.weight", filter, 0, sizeof filter), 0);
    assert_int_equal(checkpoint_save(in("own"), s, (struct checkpoint_meta[]){{"recipe", "{}"}, {NULL, NULL}}, digest), 0);
    assert_int_equal(session_reset(s, 2), 0);
    import(s, in("own"), NULL, NULL, 0, &done);
    assert_int_equal(done.taken, 6);
    assert_int_equal(session_get(s, "conv.weight", got, sizeof got), 0);
    assert_memory_equal(got, filter, sizeof filter);
    session_free(s);
    device_close(d);
}
