// SPDX-License-Identifier: Apache-2.0
// What a run can count for, printed before it begins.

#include "tasks/common/train/standing.h"
#include "tasks/tasks.h"
#include "test/unit/test.h"

static const struct task *task;
static struct recipe recipe;

SETUP(setup)
{
    return task_find("cifar10", &task) < 0 ? -1 : recipe_embedded("cifar10", &recipe);
}

// A single run of the default recipe on the published data, after `change`.
static void says(void (*change)(struct standing *, struct dataset_facts *), bool eligible, const char *words)
{
    struct dataset_facts data = {.official = true};
    struct standing s = {.task = task, .recipe = &recipe, .data = &data, .target = task->target, .runs = 1, .views = 6};
    struct text text = {0};
    if (change) change(&s, &data);
    assert_int_equal(standing_text(&s, &text), eligible);
    assert_string_equal(text.at, words);
    text_free(&text);
}

static void of_a_group(struct standing *s, struct dataset_facts *data)
{
    (void)data;
    s->runs = 5, s->views = 1;
}

static void of_few(struct standing *s, struct dataset_facts *data)
{
    (void)data;
    s->runs = 3;
}

static void from_weights(struct standing *s, struct dataset_facts *data)
{
    (void)data;
    s->files = true;
}

static void harder(struct standing *s, struct dataset_facts *data)
{
    (void)data;
    s->target = 0.95;
}

TEST_WITH(results_that_count, setup, NULL)
{
#define SINGLE "yes, if it meets the target: for the boards of single runs, "
#define LATENCY "; a latency counts with the same 6 views"
    says(NULL, true, SINGLE "closed division" LATENCY);
    says(from_weights, true, SINGLE "open division" LATENCY);
    says(of_a_group, true, "yes, if it meets the target: for the boards of official groups, closed division");
    says(of_few, true, SINGLE "closed division; an official group has at least 5 runs" LATENCY);
    assert_int_equal(recipe_set(&recipe, "epochs=9"), 0);
    says(NULL, true, SINGLE "open division" LATENCY);
    assert_int_equal(recipe_embedded("cifar10", &recipe), 0);
    assert_int_equal(recipe_set(&recipe, "precision=f32"), 0);  // any number format is closed
    says(NULL, true, SINGLE "closed division" LATENCY);
}

static void drawn(struct standing *s, struct dataset_facts *data)
{
    (void)s;
    *data = (struct dataset_facts){.synthetic = true};
}

static void another(struct standing *s, struct dataset_facts *data)
{
    (void)s;
    data->official = false;
}

static void easier(struct standing *s, struct dataset_facts *data)
{
    (void)data;
    s->target = 0.9;
}

static void emulated(struct standing *s, struct dataset_facts *data)
{
    (void)data;
    s->emulated = true;
}

TEST_WITH(results_that_do_not, setup, NULL)
{
    says(drawn, false, "no: SYNTHETIC data is listed on the board \"demo\" alone");
    says(another, false, "no: the data is not the published data set");
    says(easier, false, "no: no board has this target; the board's is 94.00%");
    says(harder, false, "no: no board has this target; the board's is 94.00%");
    says(emulated, false, "no: the GPU is emulated");
}
