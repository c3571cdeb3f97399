// SPDX-License-Identifier: Apache-2.0
// One walk over all facts serves people and programs. Invariant: a fact that all runs share is left out.
#include "tasks/tools/show/differ.h"

#include <stdlib.h>
#include <string.h>

struct fact {
    const char *label, *key;
};
static const struct fact run_facts[] = {
    {"target", "target_micro"}, {"model", "model"}, {"parameters", "parameters"}, {"recipe", "recipe"},
    {"precision", "precision"}, {"device", "device"}, {"threads", "threads"}, {"batch", "batch"}, {"views", "views"},
    {"seed", "seed"}, {"resumed", "resumed"}, {"official", "official"}, {"synthetic", "synthetic"}, {NULL, NULL},
};
static const struct fact data_facts[] = {{"data", "name"}, {"digest", "digest"}, {"short side", "short_side"}, {NULL, NULL}};
static const struct fact machine_facts[] = {
    {"processor", "cpu"}, {"features", "cpu_flags"}, {"threads", "cores_usable"}, {"memory", "memory_bytes"}, {"GPU", "gpu"},
    {"driver", "driver"}, {"governor", "governor"}, {"host", "virtualised"}, {"system", "os"}, {"kernel", "kernel"}, {NULL, NULL},
};
static const struct fact program_facts[] = {
    {"source", "commit_name"}, {"compiler", "compiler"}, {"flags", "flags"}, {"libraries", "libraries"},
    {"program", "binary_digest"}, {NULL, NULL},
};

// ---- the walk

struct walk {
    int count;
    const char *of;
    void (*take)(struct walk *, const char *name, const char *label, json_t *const value[]);
    // for people
    struct text *into;
    const struct plain_style *style;
    const char *heading;  // that was printed last
    const int64_t *number;
    json_t *list;         // for programs
};

static bool same(const json_t *a, const json_t *b)
{
    return (a == NULL && b == NULL) || json_equal(a, b);
}

static void offer(struct walk *w, const char *name, const char *label, const json_t *const from[])
{
    json_t *value[DIFFER_MOST];
    bool differs = false;
    for (int i = 0; i < w->count; i++) {
        value[i] = json_object_get(from[i], name);
        differs = differs || !same(value[0], value[i]);
    }
    if (differs) w->take(w, name, label, value);
}

static void walk_facts(struct walk *w, const char *of, const struct fact *facts, const json_t *const from[])
{
    w->of = of;
    for (; facts->label != NULL; facts++) offer(w, facts->key, facts->label, from);
}

// Collects every value by its path: "optimiser.filters.lr".
static void flatten(const json_t *value, const char *path, json_t *into)
{
    const char *key;
    json_t *member;
    if (!json_is_object(value)) {
        json_object_set(into, path, (json_t *)value);
        return;
    }
    json_object_foreach((json_t *)value, key, member)
    {
        struct text below = {0};
        text_add(&below, "%s%s%s", path, *path ? "." : "", key);
        flatten(member, below.at, into);
        text_free(&below);
    }
}

static void walk_recipes(struct walk *w, const json_t *const recipe[])
{
    const json_t *flat[DIFFER_MOST];
    json_t *all = json_object(), *value;
    const char *key;
    for (int i = 0; i < w->count; i++) {
        json_t *own = json_object();
        flatten(recipe[i], "", own);
        json_object_update(all, own);
        flat[i] = own;
    }
    w->of = "recipe";
    json_object_foreach(all, key, value)
        if (strcmp(key, "about") != 0) offer(w, key, key, flat);
    for (int i = 0; i < w->count; i++) json_decref((json_t *)flat[i]);
    json_decref(all);
}

static void walk_data(struct walk *w, const json_t *const run[])
{
    size_t most = 0;
    for (int i = 0; i < w->count; i++) {
        size_t sets = json_array_size(json_object_get(run[i], "data_sets"));
        most = sets > most ? sets : most;
    }
    for (size_t k = 0; k < most; k++) {
        const json_t *set[DIFFER_MOST];
        for (int i = 0; i < w->count; i++) set[i] = json_array_get(json_object_get(run[i], "data_sets"), k);
        walk_facts(w, "data", data_facts, set);
    }
}

static void walk_all(struct walk *w, const json_t *const run[])
{
    const json_t *recipe[DIFFER_MOST], *machine[DIFFER_MOST], *program[DIFFER_MOST];
    for (int i = 0; i < w->count; i++) {
        recipe[i] = json_loads(record_text(run[i], "recipe_json"), 0, NULL);
        machine[i] = json_object_get(run[i], "machine_facts");
        program[i] = json_object_get(run[i], "software_facts");
    }
    walk_facts(w, "settings", run_facts, run);
    walk_data(w, run);
    walk_recipes(w, recipe);
    walk_facts(w, "machine", machine_facts, machine);
    walk_facts(w, "program", program_facts, program);
    for (int i = 0; i < w->count; i++) json_decref((json_t *)recipe[i]);
}

// ---- for people

static void add_value(struct text *t, const json_t *value)
{
    const bool empty = value == NULL || (json_is_string(value) && *json_string_value(value) == 0);
    char *words = empty || json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    text_add(t, "%s", empty ? "-" : words != NULL ? words : json_is_string(value) ? json_string_value(value) : "?");
    free(words);
}

// Each value once, with the numbers of the runs that have it.
static void add_values(struct walk *w, struct text *t, json_t *const value[])
{
    for (int i = 0; i < w->count; i++) {
        int first = 0;
        while (!same(value[first], value[i])) first++;
        if (first < i) continue;
        text_add(t, "%s", i > 0 ? ", " : "");
        add_value(t, value[i]);
        for (int k = i; k < w->count; k++)
            if (same(value[k], value[i])) text_add(t, "%s%lld", k > i ? ", " : " (", (long long)w->number[k]);
        text_add(t, ")");
    }
}

static const char *heading_of(const char *of)
{
    if (strcmp(of, "recipe") == 0) return "Recipe keys that differ";
    if (strcmp(of, "machine") == 0) return "Machine facts that differ";
    return strcmp(of, "program") == 0 ? "Program facts that differ" : "Settings that differ";
}

static void add_difference(struct walk *w, const char *name, const char *label, json_t *const value[])
{
    struct text words = {0};
    const char *heading = heading_of(w->of);
    (void)name;
    if (w->heading != heading) plain_heading(w->into, w->style, "%s", heading);
    w->heading = heading;
    if (w->count > 2) {
        add_values(w, &words, value);
    } else {
        add_value(&words, value[0]);
        text_add(&words, " %s ", w->style->unicode ? "→" : "->");
        add_value(&words, value[1]);
    }
    if ((int)strlen(label) < PLAIN_LABEL) plain_line(w->into, label, "%s", words.at);
    else plain_line(w->into, "", "%s: %s", label, words.at);
    text_free(&words);
}

void differ_text(struct text *t, const json_t *const run[], const int64_t *number, int count, const struct plain_style *style)
{
    struct walk w = {.count = count, .take = add_difference, .into = t, .style = style, .number = number};
    walk_all(&w, run);
    if (w.heading == NULL) text_add(t, "\nSettings, recipe, machine and program are the same.\n");
}

// ---- for programs

static void list_difference(struct walk *w, const char *name, const char *label, json_t *const value[])
{
    json_t *row = json_pack("{ss ss}", "of", w->of, "name", name), *values = json_array();
    (void)label;
    for (int i = 0; i < w->count; i++) json_array_append_new(values, value[i] != NULL ? json_incref(value[i]) : json_null());
    if (w->count == 2) {
        json_object_set(row, "first", json_array_get(values, 0));
        json_object_set(row, "second", json_array_get(values, 1));
    } else {
        json_object_set(row, "values", values);
    }
    json_decref(values);
    json_array_append_new(w->list, row);
}

json_t *differ_json(const json_t *const run[], int count)
{
    struct walk w = {.count = count, .take = list_difference, .list = json_array()};
    walk_all(&w, run);
    return w.list;
}
