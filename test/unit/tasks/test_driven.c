// SPDX-License-Identifier: Apache-2.0
// Tasks that decide which programs run in a step.
#include "test/second/second.h"

#include "tasks/cifar10/keys.h"

const struct recipe_table *const recipe_tables[] = {&recipe_table_cifar10, &second_recipes, NULL};

// Each program trains its own set and leaves the other as it was.
static void programs_train_their_own_set(void **state)
{
    (void)state;
    struct bench b;
    second_open(&b, "ref", 1, "precision=f32");
    struct trainer *t = b.trainer;
    assert_int_equal(trainer_begin(t, 3), 0);
    for (int p = 0; p < 2; p++) {
        const struct graph *g = t->session->graph[trainer_variant(t, 0, 0, p, 0)->program];
        for (int i = 0; i < g->nodes; i++)
            for (int o = 0; o < MAX_OUT; o++) {
                const struct value *v = node_out(g, &g->node[i], o);
                if (v && v->slot && role_is_parameter(v->slot->role)) assert_int_equal(v->slot->group, p);
            }
    }
    bench_close(&b);
}

// Programs of a step may have made equally many runs, so their draws differ by site.
static void programs_draw_apart(void **state)
{
    (void)state;
    const struct setting setting = {.task = &task_second};
    struct step step[2] = {{.setting = &setting, .program = &task_second.programs[0], .number = 0},
                           {.setting = &setting, .program = &task_second.programs[1], .number = 1}};
    bool seen[8 * PROGRAMS_MAX] = {0};
    for (int i = 0; i < 16; i++) {
        int site = step_site(&step[i % 2]);
        assert_in_range(site, 0, 8 * PROGRAMS_MAX - 1);
        assert_false(seen[site]);
        seen[site] = true;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_train_their_own_set),
        cmocka_unit_test(programs_draw_apart),
    };
    return cmocka_run_group_tests_name("driven tasks", tests, NULL, NULL);
}
