// SPDX-License-Identifier: Apache-2.0
// dawn recipe: prints recipes with all changes made, so that its output can be edited and used with
// `dawn train --recipe FILE`.
#include "runtime/common/base/text.h"
#include "runtime/common/cli/options.h"
#include "tasks/commands.h"
#include "tasks/common/recipe/recipe_keys.h"
#include "tasks/tasks.h"

#include <stdio.h>
#include <stdlib.h>

static const char *file, *model;
static struct option_list set;
static bool keys, canonical;

static const struct option OPTIONS[] = {
    {OPTION_PATH, 'f', "file", "FILE", "read the recipe from this JSON file", &file, 0, 0},
    {OPTION_TEXT, 'm', "model", "NAME", "a network of the task (\"dawn models\" lists them)", &model, 0, 0},
    {OPTION_LIST, 's', "set", "KEY=VALUE", "change one key: schedule.epochs=10, or epochs=10", &set, 0, 0},
    {OPTION_FLAG, 'k', "keys", NULL, "explain every key that applies: meaning, bounds, default", &keys, 0, 0},
    {OPTION_FLAG, 'c', "canonical", NULL, "print the canonical form, by which recipes are compared", &canonical, 0, 0},
    {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
};
static const struct usage USAGE = {
    "recipe", "[NAME] [OPTIONS]",
    "Prints a recipe, which holds all settings of a training, as JSON in sections. NAME is an embedded "
    "recipe or a task; without it, the embedded recipes are listed. A key that does not apply to the model or the optimiser "
    "is not printed, and is refused if it is given.",
    OPTIONS,
    "Examples:\n"
    "  dawn recipe cifar10 > mine.json    and after editing it:\n"
    "  dawn train cifar10 --recipe mine.json\n"
    "  dawn recipe cifar10 --set epochs=12 --set data.resolution=24,28,32\n"
    "  dawn recipe --keys\n"
    "  dawn recipe resnet --keys\n"
    "A key may be named by its path (optimiser.filters.lr), by the end of the path\n"
    "(filters.lr) or by its short name (filter_lr); --keys shows them.\n",
};

static void print_wrapped(const char *left, int column, const char *right)
{
    struct text t = {0};
    int length = (int)strlen(left);
    text_add(&t, "%s", left);
    text_add(&t, length + 2 > column ? "\n%*s" : "%*s", length + 2 > column ? column : column - length, "");
    text_wrap(&t, right, column, column);
    puts(t.at);
    text_free(&t);
}

static int print_recipe_row(void *none, const struct recipe *r)
{
    (void)none;
    print_wrapped(r->name, 14, r->about);
    return 0;
}

static int list_recipes(void)
{
    TRY(recipe_each(print_recipe_row, NULL));
    printf("\n\"dawn recipe NAME\" prints one, \"dawn recipe --keys\" explains its keys.\n");
    return 0;
}

// ---- --keys

enum { KEY_COLUMN = 28 };

static void print_key(const struct recipe *r, const struct recipe_key *k, size_t section)
{
    struct text left = {0}, right = {0};
    text_add(&left, "%s%s", section ? "  " : "", k->path + section);
    text_add(&right, "%s\n", k->about);
    recipe_add_range(&right, k);
    if (*k->absent) text_add(&right, "; default %s", k->absent);
    if (!recipe_is_default(r, k)) {
        text_add(&right, "\nhere ");
        recipe_add_value(&right, r, k, false);
    }
    if (k->brief && strcmp(k->brief, k->path + section)) text_add(&right, "\nshort: %s", k->brief);
    print_wrapped(left.at, KEY_COLUMN, right.at);
    text_free(&left);
    text_free(&right);
}

// Prints a heading for each section, and below it the section's keys by their short paths.
static void print_keys(const struct recipe *r)
{
    const struct recipe_key *all[RECIPE_KEYS_MAX];
    int count = recipe_keys_applying(r, all);
    size_t length = 0;
    printf("Recipe %s: task %s, model %s. Keys that apply:\n\n", r->name, recipe_task(r), r->model);
    for (int i = 0; i < count; i++) {
        const char *path = all[i]->path, *dot = strchr(path, '.');
        size_t section = dot ? (size_t)(dot + 1 - path) : 0;
        bool same = i > 0 && section == length && !strncmp(path, all[i - 1]->path, section);
        if (section && !same) printf("\n%.*s\n", (int)section - 1, path);
        if (!section && length) printf("\n");
        length = section;
        print_key(r, all[i], section);
    }
}

// The name of a task means what "dawn train" takes: the recipe of --model if it has its own, else of the task's real data set.
static int find_named(const char *name, struct recipe *into)
{
    const struct model *m = NULL;
    for (int i = 0; task_at(i); i++) {
        if (strcmp(task_at(i)->name, name)) continue;
        const bool own = model && task_find_model(task_at(i), model, &m) == 0 && m->recipe;
        return recipe_embedded(own ? m->recipe : task_at(i)->recipes[0], into);
    }
    return recipe_embedded(name, into);
}

static int read_wanted(int argc, char **argv, struct recipe *into)
{
    if (argc > 2) return fail(ERR_USAGE, "expected one recipe; \"%.60s\" is one too many", argv[2]);
    if (argc == 2 && file) return fail(ERR_USAGE, "give a NAME or --file, not both");
    TRY(file ? recipe_file(file, into) : argc == 2 ? find_named(argv[1], into) : find_named(TASK_USUAL, into));
    if (model) TRY(recipe_set_key("--model", into, "model.name", model));
    TRY(recipe_set_all(into, set.word, set.count));
    return recipe_check(into);
}

int cmd_recipe(int argc, char **argv)
{
    file = model = NULL, set.count = 0, keys = canonical = false;
    int rc = options_parse(&USAGE, &argc, argv);
    if (rc != 0) return rc;
    if (argc == 1 && !file && !keys) {
        if (set.count) return fail(ERR_USAGE, "--set needs a recipe to change: \"dawn recipe NAME --set %s\"", set.word[0]);
        if (model || canonical)
            return fail(ERR_USAGE, "--%s needs a recipe: \"dawn recipe NAME\"", model ? "model" : "canonical");
        return list_recipes();
    }
    struct recipe recipe;
    TRY(read_wanted(argc, argv, &recipe));
    if (keys) {
        print_keys(&recipe);
        return 0;
    }
    char *json = canonical ? recipe_canonical(&recipe) : recipe_json(&recipe);
    fputs(json, stdout);
    if (canonical) putchar('\n');
    free(json);
    return 0;
}
