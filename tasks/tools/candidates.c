// SPDX-License-Identifier: Apache-2.0
// Words come from the tables that the commands use. After a failure (no record here) the words are left out, because a
// message would disturb the line that the user is typing.
#include "tasks/tools/candidates.h"

#include "data/dataset.h"
#include "runtime/device.h"
#include "submit/format/score/price.h"
#include "submit/results/record.h"
#include "tasks/common/recipe/recipe.h"
#include "tasks/tasks.h"

static void add_tasks(struct text *into)
{
    for (int i = 0; task_at(i); i++) text_add(into, "%s\n", task_at(i)->name);
}

// Two tasks may share models. Each name is added once.
static void add_models(struct text *into)
{
    for (int i = 0; task_at(i); i++) {
        bool known = false;
        for (int before = 0; before < i; before++) known = known || task_at(before)->models == task_at(i)->models;
        for (const struct model *m = task_at(i)->models; m->name && !known; m++) text_add(into, "%s\n", m->name);
    }
}

static int add_recipe(void *into, const struct recipe *r)
{
    text_add(into, "%s\n", r->name);
    return 0;
}

static void add_recipes(struct text *into)
{
    if (recipe_each(add_recipe, into) < 0) return;
}

static void add_tasks_and_recipes(struct text *into)
{
    add_tasks(into);
    add_recipes(into);
}

static void add_data_sets(struct text *into)
{
    for (int i = 0; dataset_name(i) != NULL; i++) text_add(into, "%s\n", dataset_name(i));
}

static void add_devices(struct text *into)
{
    for (int i = 0; device_types[i]; i++) text_add(into, "%s\n", device_types[i]->name);
}

static int add_instance(void *into, const struct price *price)
{
    text_add(into, "%s\n", price->instance);
    return 0;
}

static void add_instances(struct text *into)
{
    if (price_table(add_instance, into) < 0) return;
}

// Uses the record that commands read by default: $DAWN_RESULTS, else results.db.
static void add_runs(struct text *into)
{
    struct results *r;
    json_t *rows = NULL;
    if (results_open(NULL, RESULTS_READ, &r) < 0) return;
    if (record_rows(r, "SELECT id FROM runs ORDER BY id DESC LIMIT 100", 0, &rows) == 0) {
        if (json_array_size(rows) > 0) text_add(into, "last\n");
        for (size_t i = 0; i < json_array_size(rows); i++)
            text_add(into, "%lld\n", (long long)json_integer_value(json_object_get(json_array_get(rows, i), "id")));
        json_decref(rows);
    }
    results_close(r);
}

const struct program_words candidates[] = {
    {"TASK", add_tasks},
    {"MODEL", add_models},
    {"--model", add_models},
    {"--recipe", add_recipes},
    {"recipe NAME", add_tasks_and_recipes},
    {"--data", add_data_sets},
    {"data NAME", add_data_sets},
    {"--device", add_devices},
    {"--instance", add_instances},
    {"RUN", add_runs},
    {"--run", add_runs},
    {NULL, NULL},
};
