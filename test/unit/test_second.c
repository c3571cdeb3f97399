// SPDX-License-Identifier: Apache-2.0
// The second task (test/second) trains through the same step, supply, metrics and trainer as the tasks of the program.
#include "test/second/second.h"

#include "tasks/cifar10/keys.h"
#include "tasks/train/state.h"

#include <math.h>
#include <unistd.h>

const struct recipe_table *const recipe_tables[] = {&recipe_table_cifar10, &second_recipes, NULL};

static void trains_on_ref(void **state)
{
    (void)state;
    second_reaches_its_target("ref");
}

static void trains_on_cpu(void **state)
{
    (void)state;
    second_reaches_its_target("cpu");
}

// Each turn trains its own set and leaves the other as it was.
static void turns_train_their_own_set(void **state)
{
    (void)state;
    struct bench b;
    second_open(&b, "ref", 1, "precision=f32");
    struct trainer *t = b.trainer;
    assert_int_equal(trainer_begin(t, 3), 0);
    for (int turn = 0; turn < 2; turn++) {
        const struct graph *g = t->session->graph[trainer_variant(t, 0, 0, turn)->program];
        for (int i = 0; i < g->nodes; i++)
            for (int o = 0; o < MAX_OUT; o++) {
                const struct value *v = node_out(g, &g->node[i], o);
                if (v && v->slot && role_is_parameter(v->slot->role)) assert_int_equal(v->slot->group, turn);
            }
    }
    bench_close(&b);
}

// Every sample is evaluated once, in full and short batches of each bucket; the same seed gives the same score.
static void evaluates_every_sample(void **state)
{
    (void)state;
    struct bench a, b;
    second_open(&a, "cpu", 1, "precision=f32");
    second_open(&b, "cpu", 2, "precision=f32");
    int64_t samples = 0;
    for (int64_t i = 0; i < supply_batches(&a.trainer->supply[SPLIT_TEST]); i++)
        samples += order_batch(a.trainer->supply[SPLIT_TEST].order, i).count;
    assert_int_equal(samples, 130);
    assert_true(a.trainer->evaluations > 3);  // short batches have programs of their own
    assert_int_equal(second_train(&a, 5), second_train(&a, 5));
    assert_true(llabs(second_train(&a, 5) - second_train(&b, 5)) <= 20000);  // another number of threads rounds differently
    bench_close(&a);
    bench_close(&b);
}

// A sample longer than the last bucket is refused by its number, and nothing is freed twice.
static void a_long_sample_is_refused(void **state)
{
    (void)state;
    struct bench b;
    struct trainer *none = NULL;
    second_limit = 17;
    b = (struct bench){.choice = {.task = &task_second, .fuse = FUSE_ALL}};
    static const char recipe[] = "{\"model\": {\"name\": \"two-bags\"}}";
    assert_int_equal(recipe_parse("second", recipe, sizeof recipe - 1, &b.choice.recipe), 0);
    assert_int_equal(device_open("ref", 1, &b.device), 0);
    b.choice.data = b.data = second_data(600, 130);
    b.choice.device = b.device;
    assert_true(trainer_new(&b.choice, &none) < 0);
    assert_non_null(strstr(error_text(), "sample"));
    second_limit = SECOND_LONGEST;
    bench_close(&b);
}

// Streamed batches go on in the middle of an epoch: the bytes are those of a training that was never stopped.
static void goes_on_to_the_same_bytes(void **state)
{
    (void)state;
    static const struct state_run run = {.digest = {"aa", "bb"}, .note = "{}"};
    char path[] = "/tmp/dawn-second-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (int64_t stop = 7; stop < 50; stop += 24) {  // 31 is in the second epoch
        struct bench straight, first, second;
        size_t n, m;
        second_open(&straight, "cpu", 2, "precision=f32");
        uint8_t *want = bench_train(&straight, 4, 55, &n);
        second_open(&first, "cpu", 2, "precision=f32");
        free(bench_train(&first, 4, (int)stop, &m));
        if (state_save(path, first.trainer, &run) < 0) fail_msg("%s", error_text());
        bench_close(&first);
        second_open(&second, "cpu", 2, "precision=f32");
        struct state *from;
        if (state_open(path, &from) < 0 || state_load(from, second.trainer, &run, STATE_SAME) < 0) fail_msg("%s", error_text());
        state_close(from);
        while (second.trainer->at < 55) assert_int_equal(trainer_step(second.trainer), 0);
        uint8_t *got = bench_bytes(&second, &m);
        assert_int_equal(n, m);
        // Inputs of a bucket that has not come since are whatever they were: only what was trained is compared.
        const struct store *a = straight.trainer->session->store, *b = second.trainer->session->store;
        size_t at = 0;
        for (int i = 0; i < a->count; i++) {
            assert_string_equal(a->slot[i]->name, b->slot[i]->name);
            bool trained = role_is_parameter(a->slot[i]->role) || a->slot[i]->memory == MEMORY_OPTIMISER;
            if (trained) assert_memory_equal(want + at, got + at, slot_bytes(a->slot[i]));
            at += slot_bytes(a->slot[i]);
        }
        free(want), free(got);
        bench_close(&straight);
        bench_close(&second);
    }
    unlink(path);
}

static void figures_are_finite(void **state)
{
    (void)state;
    struct bench b;
    second_open(&b, "ref", 1, "precision=f32");
    double flops = trainer_forward_flops(b.trainer);  // it has no key for views
    assert_true(isfinite(flops) && flops > 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trains_on_ref),
        cmocka_unit_test(trains_on_cpu),
        cmocka_unit_test(turns_train_their_own_set),
        cmocka_unit_test(evaluates_every_sample),
        cmocka_unit_test(a_long_sample_is_refused),
        cmocka_unit_test(goes_on_to_the_same_bytes),
        cmocka_unit_test(figures_are_finite),
    };
    return cmocka_run_group_tests_name("second task", tests, NULL, NULL);
}
