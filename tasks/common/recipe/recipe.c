// SPDX-License-Identifier: Apache-2.0
// Reads and changes recipes. Cost: some hundred string comparisons a key, outside the measured time.
#include "tasks/common/recipe/recipe.h"

#include "runtime/common/base/embed.h"
#include "runtime/common/base/file.h"
#include "tasks/common/recipe/recipe_keys.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Checks the rules that involve several keys.
static int check_whole(const char *where, const struct recipe *r)
{
    const struct recipe_table *t;
    TRY(recipe_find_table(where, r->model, &t));
    if (r->newton_schulz.count != 3)
        return fail(ERR_USAGE, "%s: \"optimiser.muon.newton_schulz\" must be three numbers", where);
    if (r->newton_schulz_norm.count != 2)
        return fail(ERR_USAGE, "%s: \"optimiser.muon.newton_schulz_norm\" must be two numbers", where);
    if (r->warmup_epochs > 0 && r->warmup_epochs >= fmax(r->epochs - r->tail_epochs, r->epochs / 2))
        return fail(ERR_USAGE, "%s: \"schedule.warmup_epochs\" must be below %g, the epoch at which the decay ends (of %g, "
                    "with a tail of %g); got %g: add --set warmup_epochs=%g", where,
                    fmax(r->epochs - r->tail_epochs, r->epochs / 2), r->epochs, r->tail_epochs, r->warmup_epochs,
                    fmax(r->epochs - r->tail_epochs, r->epochs / 2) / 5);
    if (r->ema_decay > 0 && r->lookahead_every > 0)
        return fail(ERR_USAGE, "%s: \"schedule.ema\" and \"schedule.lookahead\" average the same weights: choose one", where);
    if (r->resolution_parts.count && r->resolution_parts.count != r->resolution.count)
        return fail(ERR_USAGE, "%s: \"data.resolution_parts\" has %d numbers for the %d of \"data.resolution\"", where,
                    r->resolution_parts.count, r->resolution.count);
    for (int i = 1; i < r->step_at.count; i++)
        if (!(r->step_at.at[i] > r->step_at.at[i - 1]))
            return fail(ERR_USAGE, "%s: the numbers of \"schedule.step.at\" must rise; %g follows %g", where, r->step_at.at[i],
                        r->step_at.at[i - 1]);
    return t->check ? t->check(where, r) : 0;
}

int recipe_check(const struct recipe *r)
{
    return check_whole("recipe", r);
}

const char *recipe_task(const struct recipe *r)
{
    const struct recipe_table *t = recipe_table_of(r->model);
    return t ? t->task : NULL;
}

bool recipe_trains(const struct recipe *r, const char *task)
{
    const struct recipe_table *t = recipe_table_of(r->model);
    bool trains = t && !strcmp(t->task, task);
    for (const char *const *also = t ? t->also : NULL; also && *also; also++) trains = trains || !strcmp(*also, task);
    return trains;
}

// ---- parsing

// The keys that a text gives: all of one table, in the order of the text.
struct given {
    const char *where;
    const struct recipe_table *table;
    int count;
    const struct recipe_key *key[RECIPE_KEYS_MAX];
    const json_t *value[RECIPE_KEYS_MAX];
};

static const struct recipe_key *find_given(const struct given *g, const char *path)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    for (int i = recipe_keys(g->table, keys) - 1; i >= 0; i--)
        if (!strcmp(keys[i]->path, path)) return keys[i];
    return NULL;
}

static int refuse_key(const struct given *g, const char *path)
{
    const struct recipe_key *k;
    if (recipe_is_section(g->table, path))
        return fail(ERR_USAGE, "%s: \"%s\" is a section: it must be an object", g->where, path);
    TRY(recipe_find_key(g->where, g->table, path, &k));
    return fail(ERR_USAGE, "%s: \"%.60s\" must be in its section (%s)", g->where, path, k->path);
}

// Collects the members of an object whose path is `section` ("" or "schedule."). Depth is bounded: only objects that the
// table has as sections are entered.
static int collect_given(struct given *g, const json_t *object, const char *section)
{
    const char *name;
    json_t *v;
    json_object_foreach((json_t *)object, name, v) {
        char path[RECIPE_TEXT_MAX];
        bool whole = snprintf(path, sizeof path - 1, "%s%s", section, name) < (int)sizeof path - 1;
        const struct recipe_key *k = whole && !strchr(name, '.') ? find_given(g, path) : NULL;
        if (k) {
            g->key[g->count] = k;  // JSON names no member twice
            g->value[g->count++] = v;
        } else if (!json_is_object(v) || !whole) {
            return refuse_key(g, path);
        } else if (!recipe_is_section(g->table, path)) {
            return recipe_no_section(g->where, g->table, path);
        } else {
            strcat(path, ".");
            TRY(collect_given(g, v, path));
        }
    }
    return 0;
}

// The model selects the table; it, the optimiser's rule and the shape of the decay select the keys that apply.
static bool is_selector(const struct recipe_key *k)
{
    return k->offset == RECIPE_AT(model) || k->offset == RECIPE_AT(optimiser) || k->offset == RECIPE_AT(shape);
}

static int set_one_given(const struct given *g, struct recipe *r, int i)
{
    return recipe_set_value(g->where, g->key[i]->path, r, g->key[i], g->value[i]);
}

static int set_given(const struct given *g, struct recipe *r)
{
    for (int i = 0; i < g->count; i++)
        if (is_selector(g->key[i])) TRY(set_one_given(g, r, i));
    for (int i = 0; i < g->count; i++) {
        if (!recipe_applies(r, g->key[i])) return recipe_refuse(g->where, r, g->key[i]);
        TRY(set_one_given(g, r, i));
    }
    return check_whole(g->where, r);
}

static int parse_root(const char *where, const json_t *root, struct recipe *into)
{
    struct given g = {.where = where};
    struct recipe r;
    if (!json_is_object(root)) return fail(ERR_USAGE, "%s: a recipe is a JSON object", where);
    recipe_defaults(NULL, &r);
    const char *name = json_string_value(json_object_get(json_object_get(root, "model"), "name"));
    TRY(recipe_find_table(where, name ? name : r.model, &g.table));
    recipe_defaults(g.table, &r);
    TRY(collect_given(&g, root, ""));
    TRY(set_given(&g, &r));
    *into = r;
    return 0;
}

int recipe_parse(const char *where, const char *bytes, size_t count, struct recipe *into)
{
    json_error_t error;
    json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
    if (!root) return fail(ERR_USAGE, "%s, line %d: not JSON: %s", where, error.line, error.text);
    int rc = parse_root(where, root, into);
    json_decref(root);
    return rc;
}

int recipe_file(const char *path, struct recipe *into)
{
    char *bytes;
    size_t count;
    TRY(file_read(path, 1 << 16, &bytes, &count));
    int rc = recipe_parse(path, bytes, count, into);
    free(bytes);
    return rc;
}

// ---- changing

static int change_key(const char *where, struct recipe *r, const char *name, const char *value)
{
    const struct recipe_table *was, *is;
    const struct recipe_key *k;
    TRY(recipe_find_table(where, r->model, &was));
    TRY(recipe_find_key(where, was, name, &k));
    json_t *v = recipe_value_from_text(k, value);
    int rc = recipe_set_value(where, name, r, k, v);
    json_decref(v);
    TRY(rc);
    TRY(recipe_find_table(where, r->model, &is));
    if (is == was) return 0;
    return fail(ERR_USAGE, "%s: model %s belongs to task %s, this recipe to task %s", where, r->model, is->task, was->task);
}

static int check_applies(const char *where, const struct recipe *r, const char *name)
{
    const struct recipe_key *k;
    TRY(recipe_find_key(where, recipe_table_of(r->model), name, &k));
    return recipe_applies(r, k) ? 0 : recipe_refuse(where, r, k);
}

// The origin that a recipe states is its own network's.
static void take(struct recipe *r, struct recipe *changed)
{
    if (strcmp(r->model, changed->model) != 0 && strcmp(r->about, changed->about) == 0)
        snprintf(changed->about, sizeof changed->about, "the recipe %.60s with another network, %.60s", r->name, changed->model);
    *r = *changed;
}

int recipe_set_key(const char *where, struct recipe *r, const char *name, const char *value)
{
    struct recipe changed = *r;
    TRY(change_key(where, &changed, name, value));
    TRY(check_applies(where, &changed, name));
    take(r, &changed);
    return 0;
}

void recipe_set_batch(struct recipe *r, int64_t batch)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    for (int i = recipe_keys(recipe_table_of(r->model), keys) - 1; i >= 0; i--) {
        if (!keys[i]->batch) continue;
        int64_t *measure = (int64_t *)((char *)r + keys[i]->offset);
        const double exact = (double)*measure * (double)batch / (double)r->batch;
        if (*measure > 0) *measure = (int64_t)fmin(fmax(floor(exact), 1), keys[i]->high);
    }
    r->batch = batch;
}

enum { NAME_MAX_BYTES = 64 };
static int split_assignment(const char *assignment, char name[NAME_MAX_BYTES], const char **value)
{
    const char *equals = strchr(assignment, '=');
    if (!equals || equals - assignment >= NAME_MAX_BYTES)
        return fail(ERR_USAGE, "--set must be key=value; got \"%s\"", assignment);
    memcpy(name, assignment, (size_t)(equals - assignment));
    name[equals - assignment] = 0;
    *value = equals + 1;
    return 0;
}

int recipe_set_all(struct recipe *r, const char *const *assignments, int count)
{
    struct recipe changed = *r;
    char name[NAME_MAX_BYTES];
    const char *value;
    for (int i = 0; i < count; i++) {
        TRY(split_assignment(assignments[i], name, &value));
        TRY(change_key("--set", &changed, name, value));
    }
    for (int i = 0; i < count; i++) {
        TRY(split_assignment(assignments[i], name, &value));
        TRY(check_applies("--set", &changed, name));
    }
    take(r, &changed);
    return 0;
}

int recipe_set(struct recipe *r, const char *assignment)
{
    return recipe_set_all(r, &assignment, 1);
}

// ---- embedded recipes

// The file name of an embedded recipe ("cifar10.json"), or NULL for another file.
static const char *recipe_file_name(const struct embedded *e)
{
    static const char folder[] = "/recipes/";
    const char *at = strncmp(e->path, "tasks/", 6) ? NULL : strstr(e->path, folder);
    return at ? at + sizeof folder - 1 : NULL;
}

int recipe_each(int (*row)(void *, const struct recipe *), void *context)
{
    for (const struct embedded *e = embedded_files; e->path; e++) {
        struct recipe r;
        if (!recipe_file_name(e)) continue;
        TRY(recipe_parse(e->path, e->at, e->size, &r));
        TRY(row(context, &r));
    }
    return 0;
}

int recipe_embedded(const char *name, struct recipe *into)
{
    enum { MOST = 64 };
    char name_of[MOST][RECIPE_TEXT_MAX];
    const char *names[MOST + 1] = {0};
    int count = 0;
    for (const struct embedded *e = embedded_files; e->path && count < MOST; e++) {
        const char *file = recipe_file_name(e);
        if (!file) continue;
        snprintf(name_of[count], sizeof *name_of, "%.*s", (int)(strlen(file) - strlen(".json")), file);
        if (!strcmp(name_of[count], name)) return recipe_parse(e->path, e->at, e->size, into);
        names[count] = name_of[count];
        count++;
    }
    return fail_unknown(ERR_USAGE, "recipe", name, names, "\"dawn recipe\" lists them");
}

bool recipe_is_published(const char *name, const struct recipe *r)
{
    struct recipe published, same_type = *r;
    if (recipe_embedded(name, &published) < 0) return false;
    same_type.precision = published.precision;
    char *ours = recipe_canonical(&published), *theirs = recipe_canonical(&same_type);
    bool same = strcmp(ours, theirs) == 0;
    free(ours);
    free(theirs);
    return same;
}

// ---- schedule

int64_t recipe_whole_steps(double epochs, int64_t steps_per_epoch)
{
    return (int64_t)ceil(epochs * (double)steps_per_epoch - 1e-9);
}

int64_t recipe_steps(const struct recipe *r, int64_t steps_per_epoch)
{
    int64_t steps = recipe_whole_steps(r->epochs, steps_per_epoch);
    return steps < 1 ? 1 : steps;
}

int recipe_part(const struct recipe *r, double share)
{
    int count = r->resolution.count;
    double sum = 0, end = 0;
    for (int i = 0; i < count; i++) sum += r->resolution_parts.count ? r->resolution_parts.at[i] : 1;
    for (int i = 0; i < count; i++) {
        end += r->resolution_parts.count ? r->resolution_parts.at[i] : 1;
        if (share * sum < end) return i;
    }
    return count - 1;
}

int64_t recipe_side(const struct recipe *r, int64_t step, int64_t steps, int64_t full_side)
{
    if (!r->resolution.count) return full_side;
    return (int64_t)r->resolution.at[recipe_part(r, ((double)step + 0.5) / (double)steps)];
}

int64_t recipe_decay_end(const struct recipe *r, int64_t steps_per_epoch)
{
    return recipe_whole_steps(fmax(r->epochs - r->tail_epochs, r->epochs / 2), steps_per_epoch);
}

// ---- the shapes of the decay: each adds pieces of `steps` steps in all, which begin at 1 after a warm-up of `up` steps

struct decay {
    const struct recipe *recipe;
    double up, steps, steps_per_epoch;
};

static void add_linear(struct schedule *s, const struct decay *d)
{
    schedule_add(s, d->steps, 1, 0, CURVE_LINEAR);
}

static void add_cosine(struct schedule *s, const struct decay *d)
{
    schedule_add(s, d->steps, 1, 0, CURVE_COSINE);
}

static void add_steps(struct schedule *s, const struct decay *d)
{
    const struct recipe_list *at = &d->recipe->step_at;
    double done = 0, value = 1;
    for (int i = 0; i <= at->count; i++) {
        double end = i < at->count ? fmin(fmax(at->at[i] * d->steps_per_epoch - d->up, 0), d->steps) : d->steps;
        schedule_add(s, end - done, value, value, CURVE_LINEAR);
        done = end, value *= d->recipe->step_factor;
    }
}

static void add_exponential(struct schedule *s, const struct decay *d)
{
    schedule_add(s, d->steps, 1, pow(d->recipe->exponential_factor, d->steps / d->steps_per_epoch), CURVE_EXPONENTIAL);
}

static void add_inverse_root(struct schedule *s, const struct decay *d)
{
    double up = fmax(d->up, 1);
    schedule_add(s, d->steps, 1, sqrt(up / (up + d->steps)), CURVE_INVERSE_ROOT);
}

static void (*const shapes[])(struct schedule *, const struct decay *) = {
    [SHAPE_LINEAR] = add_linear, [SHAPE_COSINE] = add_cosine, [SHAPE_STEP] = add_steps, [SHAPE_EXPONENTIAL] = add_exponential,
    [SHAPE_INVERSE_ROOT] = add_inverse_root,
};

struct schedule recipe_rate(const struct recipe *r, int64_t steps_per_epoch)
{
    struct schedule s = {.least = r->lr_floor};
    double up = r->warmup_epochs * (double)steps_per_epoch;
    schedule_add(&s, up, r->warmup_from > 0 ? r->warmup_from : 1 / (up + 1), 1, CURVE_LINEAR);
    struct decay d = {r, up, (double)recipe_decay_end(r, steps_per_epoch) - up, (double)steps_per_epoch};
    shapes[r->shape](&s, &d);
    return s;
}
