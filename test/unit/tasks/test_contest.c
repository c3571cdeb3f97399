// SPDX-License-Identifier: Apache-2.0
// The table of contests against what the task and the data set of this program say themselves.

#include "data/fetch/source.h"
#include "data/kind.h"
#include "runtime/fuse.h"
#include "submit/format/canonical.h"
#include "submit/format/check/check.h"
#include "data/read/imagenet/imagenet_kind.h"
#include "submit/format/score/contest.h"
#include "tasks/tasks.h"
#include "tasks/common/recipe/recipe.h"
#include "tasks/common/train/trainer.h"
#include "test/unit/test.h"

_Static_assert((int)CHECK_PARTS_MAX >= (int)RECIPE_LIST_MAX, "the checks of pace read every schedule of sides");

TEST(cifar10_is_this_programs_cifar10)
{
    const struct contest *c = contest_find("cifar10");
    const struct source *source = source_find("cifar10");
    assert_non_null(c);
    assert_string_equal(c->train_digest, source->content[SPLIT_TRAIN]);
    assert_string_equal(c->test_digest, source->content[SPLIT_TEST]);
}

static const struct source *source_of(const char *data)
{
    for (int i = 0; dataset_kind(i); i++)
        if (!strcmp(dataset_kind(i)->name, data)) return dataset_kind(i)->source;
    return NULL;
}

// A contest's file says again what its task's code says.
TEST(contests_agree_with_their_tasks)
{
    for (int i = 0; task_at(i); i++) {
        const struct contest *c = contest_find(task_at(i)->name);
        assert_non_null(c);
        assert_int_equal(c->target_micro[0], llround(task_at(i)->target * 1e6));
        assert_string_equal(c->metric, task_at(i)->metrics[0].name);
        assert_string_equal(c->board.unit, task_at(i)->metrics[0].unit);
        assert_int_equal(c->board.lower_is_better, task_at(i)->metrics[0].lower_is_better);
        assert_int_equal(contest_is_share(c), task_at(i)->metrics[0].kind != METRIC_COUNT);
        const struct source *source = source_of(task_at(i)->data_sets[0]);
        assert_string_equal(c->fetch ? c->fetch : "none", source ? source->name : "none");
    }
}

// The training data of some contests are free: a corpus of anybody's choice, or games that the program plays with itself.
TEST(training_data_may_be_free)
{
    const struct contest open = {.test_digest = "aa"}, unknown = {.test_digest = "aa", .train_items = 100}, none = {0};
    assert_false(contest_fixes_training(&open));
    assert_true(contest_has_digests(&open));
    assert_true(contest_knows_data(&open, "train", "whatever"));
    assert_true(contest_knows_data(&open, "test", "aa"));
    assert_false(contest_knows_data(&open, "test", "ab"));
    assert_true(contest_fixes_training(&unknown));
    assert_false(contest_has_digests(&unknown) || contest_knows_data(&unknown, "train", "whatever"));
    assert_false(contest_has_digests(&none) || contest_knows_data(&none, "train", "whatever"));
}

TEST(published_data_are_known)
{
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
TEST(packs_of_the_archives_are_official)
{
    static const char *const names[] = {"imagenet", "imagenette"};
    for (int i = 0; i < 2; i++) {
        const struct contest *c = contest_find(names[i]);
        const struct imagenet_flavour *flavour = imagenet_flavour(names[i]);
        assert_true(contest_knows_data(c, "train", flavour->official[SPLIT_TRAIN]));
        assert_true(contest_knows_data(c, "test", flavour->official[SPLIT_TEST]));
        assert_int_equal(c->test_items, flavour->count[SPLIT_TEST]);
    }
    assert_non_null(contest_find("imagenet")->dawnbench_column);
    assert_null(contest_find("imagenette")->dawnbench_column);  // DAWNBench had none
}

TEST(synthetic_data_have_a_board_of_their_own)
{
    int count;
    const struct contest *table = contest_table(&count);
    for (int i = 0; i < count; i++) {
        assert_ptr_equal(contest_find(table[i].name), &table[i]);
        assert_true(contest_of(table[i].name, true)->synthetic);
        const struct task *task;
        assert_int_equal(task_find(table[i].name, &task) == 0, table[i].models != NULL);
        bool share = *table[i].board.unit == 0 || strcmp(table[i].board.unit, "%") == 0;
        assert_true(table[i].target_micro[0] >= 1000 && table[i].target_micro[0] <= (share ? 1 : 100) * 1000000);
    }
    assert_ptr_equal(contest_of("cifar10", false), contest_find("cifar10"));
    assert_null(contest_find("mnist"));
    assert_null(contest_of("mnist", false));
}

// Otherwise any score would pass.
TEST(every_value_has_a_bound)
{
    int count;
    const struct contest *table = contest_table(&count);
    for (int i = 0; i < count; i++)
        if (contest_is_share(&table[i]) && !table[i].board.lower_is_better) assert_true(table[i].most_micro > 0);
}

TEST(a_share_is_no_count_of_items)
{
    assert_true(contest_is_share(contest_find("squad")));
    assert_false(contest_is_share(contest_find("cifar10")) || contest_is_share(contest_find("demo")) || contest_is_share(NULL));
    assert_int_equal(contest_items(contest_find("squad"), 10570), 1000000);
    assert_int_equal(contest_items(contest_find("cifar10"), 50), 50);
}

TEST(exactly_at_the_target_meets_it)
{
    assert_true(contest_meets(9400, 10000, 940000));
    assert_false(contest_meets(9399, 10000, 940000));
    assert_true(contest_meets(750000, 1000000, 750000));
    assert_false(contest_meets(0, 0, 1));
    assert_true(contest_meets((int64_t)1 << 50, (int64_t)1 << 50, 1000000));
}

// The figures that a statement may name for a model without a flag are those that the program computes.
static bool model_is_listed(const struct trainer *t)
{
    const json_t *list = json_object_get(contest_find(t->setting.task->name)->models, t->setting.model->name);
    int64_t parameters = trainer_parameters(t), flops = llround(trainer_forward_flops(t));
    for (size_t i = 0; i < json_array_size(list); i++)
        if (canonical_int(json_array_get(list, i), "parameters") == parameters &&
            canonical_int(json_array_get(list, i), "flops_per_sample") == flops)
            return true;
    print_message("%s %s: {\"parameters\": %lld, \"flops_per_sample\": %lld}\n", t->setting.task->name,
                  t->setting.model->name, (long long)parameters, (long long)flops);
    return false;
}

static bool build_and_look(const struct recipe *recipe, struct dataset *data, struct device *device, const struct task *task)
{
    struct trainer_choice choice = {.task = task, .recipe = *recipe, .data = data, .device = device, .fuse = FUSE_ALL};
    struct trainer *t;
    if (trainer_new(&choice, &t) < 0) fail_msg("%s: %s", recipe->name, error_text());
    bool listed = model_is_listed(t);
    trainer_free(t);
    return listed;
}

struct figures_listed {
    const struct task *task;
    struct dataset *data;
    struct device *device;
    bool all;
};

static const char *usual_recipe(const struct task *task, const struct model *m)
{
    return m->recipe ? m->recipe : task->recipes[0];
}

// Recipes of drawn data are for no board on which a model's arithmetic is asked. Usual recipes of the models have been looked at.
static int recipe_is_listed(void *context, const struct recipe *recipe)
{
    struct figures_listed *l = context;
    for (int i = 1; l->task->data_sets[i]; i++)
        if (strcmp(recipe->name, l->task->recipes[i]) == 0) return 0;
    for (const struct model *m = l->task->models; m->name; m++)
        if (strcmp(recipe->name, usual_recipe(l->task, m)) == 0 && strcmp(recipe->model, m->name) == 0) return 0;
    if (recipe_trains(recipe, l->task->name))
        l->all = build_and_look(recipe, l->data, l->device, l->task) && l->all;
    return 0;
}

static bool models_of_task_are_listed(const struct task *task, struct device *device)
{
    struct dataset *data;
    struct recipe recipe;
    bool all = true;
    if (dataset_open_noise(task->data_sets[0], &data) < 0) fail_msg("%s", error_text());
    for (const struct model *m = task->models; m->name; m++) {
        assert_int_equal(recipe_embedded(usual_recipe(task, m), &recipe), 0);
        assert_int_equal(recipe_set_key("the test", &recipe, "model.name", m->name), 0);
        all = build_and_look(&recipe, data, device, task) && all;
    }
    struct figures_listed l = {task, data, device, all};
    assert_int_equal(recipe_each(recipe_is_listed, &l), 0);
    dataset_close(data);
    return l.all;
}

TEST(the_models_of_published_recipes_are_listed)
{
    struct device *device;
    bool all = true;
    assert_int_equal(device_open("cpu", 1, &device), 0);
    for (int i = 0; task_at(i); i++) all = models_of_task_are_listed(task_at(i), device) && all;
    assert_true(all);
    device_close(device);
}
