// SPDX-License-Identifier: Apache-2.0
// The table of contests against what the task and the data set of this program say themselves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <string.h>

#include "data/fetch/source.h"
#include "runtime/common/base/embed.h"
#include "runtime/fuse.h"
#include "submit/format/canonical.h"
#include "data/read/imagenet/imagenet.h"
#include "submit/format/score/contest.h"
#include "tasks/tasks.h"
#include "tasks/common/train/trainer.h"

#include <cmocka.h>

static void cifar10_is_this_programs_cifar10(void **state)
{
    (void)state;
    const struct contest *c = contest_find("cifar10");
    const struct source *source = source_find("cifar10");
    const struct task *task;
    assert_int_equal(task_find("cifar10", &task), 0);
    assert_non_null(c);
    assert_string_equal(c->train_digest, source->content[SPLIT_TRAIN]);
    assert_string_equal(c->test_digest, source->content[SPLIT_TEST]);
    assert_int_equal(c->target_micro[0], llround(task->target * 1e6));
    assert_string_equal(c->metric, task->metrics[0].name);
}

static void published_data_are_known(void **state)
{
    (void)state;
    const struct contest *c = contest_find("cifar10"), *demo = contest_find("demo");
    assert_true(contest_knows_data(c, "train", c->train_digest));
    assert_true(contest_knows_data(c, "test", c->test_digest));
    assert_false(contest_knows_data(c, "train", c->test_digest));
    assert_false(contest_knows_data(c, "test", c->train_digest));
    assert_false(contest_knows_data(c, "train", "0000000000000000000000000000000000000000000000000000000000000000"));
    assert_false(contest_knows_data(demo, "test", "whatever"));  // nothing to compare with
    assert_true(contest_has_digests(c));
    assert_false(contest_has_digests(demo));
}

// The boards accept as official the digest of a pack of the published archives.
static void packs_of_the_archives_are_official(void **state)
{
    (void)state;
    static const char *const names[] = {"imagenet", "imagenette"};
    for (int i = 0; i < 2; i++) {
        const struct contest *c = contest_find(names[i]);
        const struct imagenet_flavour *flavour = imagenet_flavour(names[i]);
        const struct task *task;
        assert_int_equal(task_find(names[i], &task), 0);
        assert_true(contest_knows_data(c, "train", flavour->official[SPLIT_TRAIN]));
        assert_true(contest_knows_data(c, "test", flavour->official[SPLIT_TEST]));
        assert_int_equal(c->test_items, flavour->count[SPLIT_TEST]);
        assert_int_equal(c->target_micro[0], llround(task->target * 1e6));
        assert_string_equal(c->metric, task->metrics[0].name);
    }
    assert_non_null(contest_find("imagenet")->dawnbench_column);
    assert_null(contest_find("imagenette")->dawnbench_column);  // DAWNBench had none
}

static void synthetic_data_have_a_board_of_their_own(void **state)
{
    (void)state;
    int count;
    const struct contest *table = contest_table(&count);
    for (int i = 0; i < count; i++) {
        assert_ptr_equal(contest_find(table[i].name), &table[i]);
        assert_true(contest_of(table[i].name, true)->synthetic);
        const struct task *task;
        assert_int_equal(task_find(table[i].name, &task) == 0, table[i].harness);
        assert_true(table[i].target_micro[0] >= 1000 && table[i].target_micro[0] <= 1000000);
    }
    assert_ptr_equal(contest_of("cifar10", false), contest_find("cifar10"));
    assert_null(contest_find("mnist"));
    assert_null(contest_of("mnist", false));
}

static void a_share_is_no_count_of_items(void **state)
{
    (void)state;
    assert_true(contest_is_share(contest_find("squad")));
    assert_false(contest_is_share(contest_find("cifar10")) || contest_is_share(contest_find("demo")) || contest_is_share(NULL));
    assert_int_equal(contest_items(contest_find("squad"), 10570), 1000000);
    assert_int_equal(contest_items(contest_find("cifar10"), 50), 50);
}

static void exactly_at_the_target_meets_it(void **state)
{
    (void)state;
    assert_true(contest_meets(9400, 10000, 940000));
    assert_false(contest_meets(9399, 10000, 940000));
    assert_true(contest_meets(750000, 1000000, 750000));
    assert_false(contest_meets(0, 0, 1));
    assert_true(contest_meets((int64_t)1 << 50, (int64_t)1 << 50, 1000000));
}

// The figures that a statement may name for a model without a flag are those that the program computes.
static bool model_is_listed(const json_t *models, const struct trainer *t)
{
    const json_t *list = json_object_get(json_object_get(models, t->setting.task->name), t->setting.model->name);
    int64_t parameters = trainer_parameters(t), flops = llround(trainer_forward_flops(t));
    for (size_t i = 0; i < json_array_size(list); i++)
        if (canonical_int(json_array_get(list, i), "parameters") == parameters &&
            canonical_int(json_array_get(list, i), "flops_per_sample") == flops)
            return true;
    print_message("%s %s: {\"parameters\": %lld, \"flops_per_sample\": %lld}\n", t->setting.task->name,
                  t->setting.model->name, (long long)parameters, (long long)flops);
    return false;
}

static bool build_and_look(const json_t *models, const struct recipe *recipe, struct dataset *data, struct device *device,
                           const struct task *task)
{
    struct trainer_choice choice = {.task = task, .recipe = *recipe, .data = data, .device = device, .fuse = FUSE_ALL};
    struct trainer *t;
    if (trainer_new(&choice, &t) < 0) fail_msg("%s: %s", recipe->name, error_text());
    bool listed = model_is_listed(models, t);
    trainer_free(t);
    return listed;
}

struct figures_listed {
    const json_t *models;
    const struct task *task;
    struct dataset *data;
    struct device *device;
    bool all;
};

// Recipes of drawn data are for no board on which a model's arithmetic is asked.
static int recipe_is_listed(void *context, const struct recipe *recipe)
{
    struct figures_listed *l = context;
    for (int i = 1; l->task->data_sets[i]; i++)
        if (strcmp(recipe->name, l->task->recipes[i]) == 0) return 0;
    if (recipe_trains(recipe, l->task->name))
        l->all = build_and_look(l->models, recipe, l->data, l->device, l->task) && l->all;
    return 0;
}

static bool models_of_task_are_listed(const json_t *models, const struct task *task, struct device *device)
{
    struct dataset *data;
    struct recipe recipe;
    bool all = true;
    if (dataset_open_noise(task->data_sets[0], &data) < 0) fail_msg("%s", error_text());
    for (const struct model *m = task->models; m->name; m++) {
        assert_int_equal(recipe_embedded(m->recipe ? m->recipe : task->recipes[0], &recipe), 0);
        assert_int_equal(recipe_set_key("the test", &recipe, "model.name", m->name), 0);
        all = build_and_look(models, &recipe, data, device, task) && all;
    }
    struct figures_listed l = {models, task, data, device, all};
    assert_int_equal(recipe_each(recipe_is_listed, &l), 0);
    dataset_close(data);
    return l.all;
}

static void the_models_of_published_recipes_are_listed(void **state)
{
    (void)state;
    const struct embedded *file = embedded_find("submit/format/check/models.json");
    json_t *models = json_loadb(file->at, file->size, JSON_REJECT_DUPLICATES, NULL);
    struct device *device;
    bool all = true;
    assert_non_null(models);
    assert_int_equal(device_open("cpu", 1, &device), 0);
    for (int i = 0; task_table[i]; i++) all = models_of_task_are_listed(models, task_table[i], device) && all;
    assert_true(all);
    device_close(device);
    json_decref(models);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_models_of_published_recipes_are_listed),
        cmocka_unit_test(cifar10_is_this_programs_cifar10),
        cmocka_unit_test(published_data_are_known),
        cmocka_unit_test(packs_of_the_archives_are_official),
        cmocka_unit_test(synthetic_data_have_a_board_of_their_own),
        cmocka_unit_test(a_share_is_no_count_of_items),
        cmocka_unit_test(exactly_at_the_target_meets_it),
    };
    return cmocka_run_group_tests_name("contest", tests, NULL, NULL);
}
