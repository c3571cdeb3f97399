// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/choose.h"

#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "runtime/common/base/threads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse_data(const struct task *task, const char *data)
{
    int count = 0;
    struct text names = {0};
    while (task->data_sets[count]) count++;
    text_list(&names, task->data_sets, count, " or ");
    int rc = fail(ERR_USAGE, "--data: there is no folder \"%s\", and the data set must be %s", data, names.at);
    text_free(&names);
    return rc;
}

// Takes the name of a data set of the task, or else a folder that holds the task's first data set. $DAWN_DATA may be such a
// name, too; if it is a folder, it holds all data sets (data/dataset.h).
static int choose_data(const struct task *task, const char *data, struct chosen *into)
{
    const char *variable = getenv("DAWN_DATA");
    for (int i = 0; !data && variable && task->data_sets[i]; i++)
        if (!strcmp(variable, task->data_sets[i])) data = variable;
    into->data_name = task->data_sets[0];
    into->data_folder = NULL;
    for (int i = 0; data && task->data_sets[i]; i++)
        if (!strcmp(data, task->data_sets[i])) {
            into->data_name = task->data_sets[i];
            return 0;
        }
    into->data_folder = data;
    return data && !file_exists(data) ? refuse_data(task, data) : 0;
}

// A model whose recipe differs from the data set's default names its own.
static const char *default_recipe(const struct chosen *c, const struct model *model)
{
    if (model && model->recipe) return model->recipe;
    for (int i = 0; c->task->data_sets[i]; i++)
        if (!strcmp(c->task->data_sets[i], c->data_name)) return c->task->recipes[i];
    BUG("a data set without a recipe");
}

int choose_threads(const struct choose *c)
{
    int usable = threads_available();
    if (c->threads <= usable || c->oversubscribe) return 0;
    return fail(ERR_USAGE, "--threads must be at most %d, the processors that this process may use; got %lld (--oversubscribe "
                           "allows it)", usable, (long long)c->threads);
}

int choose(const struct choose *c, const char *task, struct chosen *into)
{
    const struct model *model = NULL;
    TRY(task_find(task, &into->task));
    TRY(choose_threads(c));
    TRY(task_files_check(&c->files, into->task->name, into->task->takes));
    into->files = c->files;
    TRY(choose_data(into->task, c->data, into));
    if (c->model) TRY(task_find_model(into->task, c->model, &model));
    const char *recipe = c->recipe ? c->recipe : default_recipe(into, model);
    TRY(strpbrk(recipe, "./") || (c->recipe && file_exists(recipe)) ? recipe_file(recipe, &into->recipe)
                                                                  : recipe_embedded(recipe, &into->recipe));
    char batch[32];
    snprintf(batch, sizeof batch, "%lld", (long long)c->batch);
    if (c->model) TRY(recipe_set_key("--model", &into->recipe, "model", c->model));
    if (c->precision) TRY(recipe_set_key("--precision", &into->recipe, "precision", c->precision));
    if (c->batch) {
        struct recipe allowed = into->recipe;
        TRY(recipe_set_key("--batch", &allowed, "batch", batch));
        recipe_set_batch(&into->recipe, c->batch);
    }
    TRY(recipe_set_all(&into->recipe, c->set.word, c->set.count));
    TRY(recipe_check(&into->recipe));
    if (!recipe_trains(&into->recipe, into->task->name))
        return fail(ERR_USAGE, "recipe %s trains model %s, which belongs to task %s, not to %s", into->recipe.name,
                    into->recipe.model, recipe_task(&into->recipe), into->task->name);
    return task_find_model(into->task, into->recipe.model, &model);
}

static bool is_share(const struct metric *m)
{
    return m->kind == METRIC_COUNT || (m->kind == METRIC_RATIO && (!*m->unit || !strcmp(m->unit, "%")));
}

int choose_target(const struct task *task, double given, double *target)
{
    *target = isnan(given) ? task->target : given;
    const double least = 1e-6, most = is_share(&task->metrics[0]) ? 1 : 1e6;  // kept in millionths
    if (most == 1 && *target >= 2 && *target <= 100)
        return fail(ERR_USAGE, "--target is a share: write %g as %g", *target, *target / 100);
    if (!(*target >= least && *target <= most))
        return fail(ERR_USAGE, "--target must be a number between 0.000001 and %.f; got %g", most, *target);
    return 0;
}

double choose_harder(const struct task *task, double a, double b)
{
    return task->metrics[0].lower_is_better ? fmin(a, b) : fmax(a, b);
}

int choose_open(const struct chosen *c, bool noise, bool *is_noise, struct dataset **into)
{
    *is_noise = noise;
    if (!noise) {
        int rc = dataset_open(c->data_name, c->data_folder, into);
        if (rc != ERR_MISSING || c->data_folder) return rc;  // a data set that is there but damaged is an error
        *is_noise = true;
    }
    return dataset_open_noise(c->data_name, into);
}
