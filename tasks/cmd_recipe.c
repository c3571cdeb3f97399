// SPDX-License-Identifier: Apache-2.0
// `dawn recipe`: prints recipes, changes included, so that what it prints can be edited and given back to
// `dawn train --recipe FILE`.
#include "runtime/base/options.h"
#include "runtime/base/text.h"
#include "tasks/commands.h"
#include "tasks/tasks.h"

#include <stdio.h>
#include <stdlib.h>

static const char *file;
static struct option_list set;
static bool keys;

static const struct option OPTIONS[] = {
    {OPTION_TEXT, 'f', "file", "FILE", "read the recipe from this JSON file", &file, 0, 0},
    {OPTION_LIST, 's', "set", "KEY=VALUE", "change one key", &set, 0, 0},
    {OPTION_FLAG, 'k', "keys", NULL, "explain every key: meaning, bounds and value", &keys, 0, 0},
    {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
};
static const struct usage USAGE = {
    "recipe", "[NAME] [OPTIONS]",
    "Prints a recipe, everything a training run can be told, as JSON. NAME is an embedded recipe or a task; "
    "without one, the embedded recipes are listed.",
    OPTIONS,
    "Examples:\n"
    "  dawn recipe cifar10 > mine.json    and after editing it:\n"
    "  dawn train cifar10 --recipe mine.json\n"
    "  dawn recipe cifar10 --set epochs=12 --set resolution=24,28,32\n"
    "  dawn recipe --keys\n",
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

static int list_row(void *none, const struct recipe *r)
{
    (void)none;
    print_wrapped(r->name, 14, r->about);
    return 0;
}

static int list(void)
{
    TRY(recipe_each(list_row, NULL));
    printf("\n\"dawn recipe NAME\" prints one, \"dawn recipe --keys\" explains what it says.\n");
    return 0;
}

static void key_row(void *none, const char *key, const char *about, const char *value)
{
    (void)none;
    char *range = recipe_range(key);
    struct text right = {0};
    text_add(&right, "%s", about);
    if (strcmp(range, "text")) text_add(&right, "\n%s", range);
    text_add(&right, "\nnow: %s", *value ? value : "empty");
    print_wrapped(key, 21, right.at);
    text_free(&right);
    free(range);
}

// A name that is no recipe but a task means the recipe of the task's real data set.
static int named(const char *name, struct recipe *into)
{
    for (int i = 0; task_table[i]; i++) {
        if (strcmp(task_table[i]->name, name)) continue;
        return recipe_embedded(task_table[i]->recipes[0], into);
    }
    return recipe_embedded(name, into);
}

static int wanted(int argc, char **argv, struct recipe *into)
{
    if (argc > 2) return fail(ERR_USAGE, "one recipe at a time: \"%.60s\" is too much", argv[2]);
    if (argc == 2 && file) return fail(ERR_USAGE, "give a NAME or --file, not both");
    TRY(file ? recipe_file(file, into) : argc == 2 ? named(argv[1], into) : named(task_table[0]->name, into));
    for (int i = 0; i < set.count; i++) TRY(recipe_set(into, set.word[i]));
    return recipe_check(into);
}

int cmd_recipe(int argc, char **argv)
{
    file = NULL, set.count = 0, keys = false;
    int rc = options_parse(&USAGE, &argc, argv);
    if (rc != 0) return rc < 0 ? rc : 0;
    if (argc == 1 && !file && !keys) {
        if (set.count) return fail(ERR_USAGE, "--set wants a recipe to change: dawn recipe NAME --set %s", set.word[0]);
        return list();
    }
    struct recipe recipe;
    TRY(wanted(argc, argv, &recipe));
    if (keys) {
        recipe_keys(&recipe, key_row, NULL);
        return 0;
    }
    char *json = recipe_json(&recipe);
    fputs(json, stdout);
    free(json);
    return 0;
}
