// SPDX-License-Identifier: Apache-2.0
// How slots begin: each kind of draw, keyed by the seed and the slot's name and by nothing else.
#include "runtime/common/base/clock.h"
#include "test/unit/test.h"
#include "test/unit/fixture_graph.h"

static struct slot *slot_of(struct slot_store *s, const char *name, struct shape shape, struct init init)
{
    struct slot *slot;
    OK(slot_make(s, name, shape, F32, MEMORY_WEIGHTS, init, &slot));
    return slot;
}

static float *initial(const struct slot *slot, uint64_t seed)
{
    float *x = malloc(slot_bytes(slot));
    assert_non_null(x);
    memset(x, 0xff, slot_bytes(slot));
    slot_initial(slot, seed, x);
    return x;
}

struct spread {
    double mean, deviation, least, most;
};

static struct spread spread_of(const float *x, int64_t n)
{
    struct spread s = {0, 0, INFINITY, -INFINITY};
    for (int64_t i = 0; i < n; i++) {
        s.mean += x[i] / (double)n;
        s.least = fmin(s.least, x[i]), s.most = fmax(s.most, x[i]);
    }
    for (int64_t i = 0; i < n; i++) s.deviation += (x[i] - s.mean) * (x[i] - s.mean) / (double)(n - 1);
    s.deviation = sqrt(s.deviation);
    return s;
}

TEST(test_plain)
{
    struct slot_store *s = slot_store_new();
    float *zero = initial(slot_of(s, "zero", SHAPE(7), (struct init){INIT_ZERO, 3}), 1);
    float *upload = initial(slot_of(s, "upload", SHAPE(7), (struct init){INIT_UPLOAD, 3}), 1);
    float *three = initial(slot_of(s, "three", SHAPE(7), (struct init){INIT_CONSTANT, 3}), 1);
    for (int i = 0; i < 7; i++) assert_true(zero[i] == 0 && upload[i] == 0 && three[i] == 3);
    float *thirds = initial(slot_of(s, "thirds", SHAPE(7), (struct init){INIT_COUNT, 3}), 1);
    for (int i = 0; i < 7; i++) assert_true(thirds[i] == (float)(i / 3));
    free(thirds);
    struct slot *whole;
    int32_t n;
    OK(slot_make(s, "whole", SHAPE(1), I32, MEMORY_STATE, (struct init){INIT_CONSTANT, 5}, &whole));
    slot_initial(whole, 1, &n);
    assert_int_equal(n, 5);
    free(zero);
    free(upload);
    free(three);
    slot_store_free(s);
}

TEST(test_spreads)
{
    enum { MANY = 40000 };
    struct slot_store *s = slot_store_new();
    float *x = initial(slot_of(s, "uniform", SHAPE(MANY), (struct init){INIT_UNIFORM, 0.5f}), 3);
    struct spread u = spread_of(x, MANY);
    free(x);
    assert_float_equal(u.mean, 0, 0.006);  // four standard errors
    assert_float_equal(u.deviation, 0.5 / sqrt(3), 0.004);
    assert_true(u.least >= -0.5 && u.most < 0.5 && u.least < -0.499 && u.most > 0.499);
    x = initial(slot_of(s, "normal", SHAPE(MANY), (struct init){INIT_NORMAL, 0.2f}), 3);
    struct spread n = spread_of(x, MANY);
    double within = 0;
    for (int i = 0; i < MANY; i++) within += fabsf(x[i]) < 0.2f;
    free(x);
    assert_float_equal(n.mean, 0, 0.004);
    assert_float_equal(n.deviation, 0.2, 0.003);
    assert_float_equal(within / MANY, 0.6827, 0.01);
    assert_true(n.most > 0.65 && n.least < -0.65);
    x = initial(slot_of(s, "unit", SHAPE(10, 256), (struct init){INIT_UNIT_UNIFORM, 1}), 3);
    assert_float_equal(spread_of(x, 2560).deviation, 1, 1e-5);
    free(x);
    slot_store_free(s);
}

TEST(test_dirac)
{
    struct slot_store *s = slot_store_new();
    float *x = initial(slot_of(s, "w", SHAPE(6, 3, 3, 4), (struct init){INIT_DIRAC, 0.25f}), 1);
    int zeros = 0;
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 36; i++) {
            float v = x[k * 36 + i];
            if (k < 4)  // the middle of the window, channel k
                assert_true(v == (i == 16 + k ? 1 : 0));
            else
                assert_true(fabsf(v) <= 0.25f), zeros += v == 0;
        }
    assert_true(zeros < 3);
    free(x);
    x = initial(slot_of(s, "few", SHAPE(2, 3, 3, 4), (struct init){INIT_DIRAC, 0.25f}), 1);  // fewer filters than channels
    for (int i = 0; i < 72; i++) assert_true(x[i] == (i == 16 || i == 36 + 17 ? 1 : 0));
    free(x);
    slot_store_free(s);
}

static bool same(const float *a, const float *b, int64_t n)
{
    bool equal = memcmp(a, b, (size_t)n * sizeof *a) == 0;
    return equal;
}

TEST(test_keyed_by_name)
{
    struct slot_store *s = slot_store_new(), *t = slot_store_new();
    struct init normal = {INIT_NORMAL, 1};
    struct slot *a = slot_of(s, "a", SHAPE(64), normal), *b = slot_of(s, "b", SHAPE(64), normal);
    struct slot *b2 = slot_of(t, "b", SHAPE(64), normal), *a2 = slot_of(t, "a", SHAPE(8, 8), normal);  // built in another order
    float *xa = initial(a, 1), *xb = initial(b, 1), *ya = initial(a2, 1), *yb = initial(b2, 1), *za = initial(a, 2);
    assert_true(same(xa, ya, 64));
    assert_true(same(xb, yb, 64));
    assert_false(same(xa, xb, 64));
    assert_false(same(xa, za, 64));
    free(xa), free(xb), free(ya), free(yb), free(za);
    slot_store_free(s);
    slot_store_free(t);
}

TEST(test_slots_stay)
{
    struct slot_store *s = slot_store_new();
    struct slot *first = slot_of(s, "first", SHAPE(2), (struct init){INIT_ZERO, 0});
    for (int i = 0; i < 500; i++) {
        char name[24];
        snprintf(name, sizeof name, "slot %d", i);
        slot_of(s, name, SHAPE(i + 1), (struct init){INIT_ZERO, 0});
    }
    assert_ptr_equal(slot_find(s, "first"), first);
    assert_int_equal(s->count, 501);
    assert_int_equal(slot_bytes(slot_find(s, "slot 499")), 2000);
    assert_null(slot_find(s, "slot 500"));
    slot_store_free(s);
}

// A recurrence asks for its weights at every step, so a name is found without a walk over all slots, and so is its value.
TEST(test_many_slots)
{
    enum { MANY = 30000 };
    struct slot_store *s = slot_store_new();
    struct graph *g = graph_new(s, "many");
    assert_null(slot_find(s, "slot7"));
    char name[24];
    int64_t began = clock_cpu_ns();
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "slot%d", i);
            assert_int_equal(weight(g, name, SHAPE(3)), i);
        }
    assert_int_equal(s->count, MANY);
    assert_int_equal(g->values, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "slot%d", i);
        assert_ptr_equal(slot_find(s, name), s->slot[i]);
        assert_int_equal(s->slot[i]->number, i);
    }
    assert_null(slot_find(s, "slot30000"));
    assert_null(slot_find(s, ""));
    assert_true(clock_cpu_ns() - began < 5000000000);  // takes about 20 ms
    graph_free(g);
    slot_store_free(s);
}
