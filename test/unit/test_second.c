// SPDX-License-Identifier: Apache-2.0
// The second task (test/second) trains through the same step, supply, metrics and trainer as the tasks of the program.
#include "test/second/second.h"

#include "tasks/cifar10/keys.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trains_on_ref),
        cmocka_unit_test(trains_on_cpu),
        cmocka_unit_test(turns_train_their_own_set),
        cmocka_unit_test(evaluates_every_sample),
    };
    return cmocka_run_group_tests_name("second task", tests, NULL, NULL);
}
