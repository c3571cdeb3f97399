// SPDX-License-Identifier: Apache-2.0
// The keys of all tasks, and the search for a key. A new key is one row here (or in the task's TASK_keys.c) and one field in
// recipe.h.
#include "tasks/common/recipe/recipe_keys.h"

#include <stdlib.h>
#include <math.h>
#include <string.h>

static const char *const precisions[] = {"auto", "f32", "bf16", "f16", NULL};
#define OPTIMISER_NAME(id, name, update) name,
static const char *const rules[] = {OPTIMISERS(OPTIMISER_NAME) NULL};
static const char *const shapes[] = {"linear", "cosine", "step", "exponential", "inverse-root", NULL};  // enum recipe_shape
static const char *const places[] = {"outside", "inside", NULL};
static const char *const choices[] = {"no", "yes", NULL};
static const char *const renormalise[] = {"always", "seldom", "never", NULL};

#define AT RECIPE_AT
#define WITH_MOMENTUM (FOR_MUON | FOR_SGD)
static const struct recipe_key common[] = {
    {"name", "name", KEY_TEXT, AT(name), 0, 0, NULL, "unnamed", .about = "the recipe's name"},
    {"about", "about", KEY_TEXT, AT(about), 0, 0, NULL, "", .about = "its origin, in a sentence"},

    {"data.batch", "batch", KEY_WHOLE, AT(batch), 1, 1 << 20, NULL, "1000", .about = "samples per step"},
    {"data.accumulate", NULL, KEY_WHOLE, AT(accumulate), 1, 1024, NULL, "1",
     .about = "number of parts in which a batch is computed in turn, to save memory"},
    {"data.slices", NULL, KEY_WHOLE, AT(slices), 1, 1024, NULL, "1",
     .about = "parts that several devices can compute side by side; a batch norm sees one of them"},

    {"model.name", "model", KEY_TEXT, AT(model), 0, 0, NULL, "airbench", .about = "the network (\"dawn models\" lists them)"},

    {"loss.label_smoothing", "label_smoothing", KEY_NUMBER, AT(label_smoothing), 0, 0.99, NULL, "0",
     .about = "share of the target that is spread over all classes"},

    {"optimiser.rule", "optimiser", KEY_CHOICE, AT(optimiser), 0, 0, rules, "muon",
     .about = "for filters; head and biases use the same, or SGD with muon"},
    {"optimiser.momentum", "momentum", KEY_NUMBER, AT(momentum), 0, 0.9999, NULL, "0.85",
     .about = "momentum of head and biases", .rules = WITH_MOMENTUM},
    {"optimiser.nesterov", NULL, KEY_CHOICE, AT(nesterov), 0, 0, choices, "yes",
     .about = "momentum looks a step ahead (Nesterov)", .rules = WITH_MOMENTUM},
    {"optimiser.weight_decay", "weight_decay", KEY_NUMBER, AT(weight_decay), 0, 1, NULL, "2e-06",
     .about = "of head and biases, multiplied by batch / learning rate"},
    {"optimiser.clip", NULL, KEY_NUMBER, AT(clip), 0, 1e6, NULL, "0",
     .about = "limit of the norm of all gradients together; 0: none"},
    {"optimiser.loss_scale", NULL, KEY_NUMBER, AT(loss_scale), 0, 1 << 24, NULL, "0",
     .about = "f16: factor of the loss before it is differentiated, halved where gradients overflow; 0: none"},
    {"optimiser.filters.lr", "filter_lr", KEY_NUMBER, AT(filter_lr), 0, 100, NULL, "0.24",
     .about = "learning rate of the filters"},
    {"optimiser.filters.momentum", "filter_momentum", KEY_NUMBER, AT(filter_momentum), 0, 0.9999, NULL, "0.6",
     .about = "momentum of the filters", .rules = WITH_MOMENTUM},
    {"optimiser.filters.decay", "filter_decay", KEY_NUMBER, AT(filter_decay), 0, 1, NULL, "0",
     .about = "weight decay of the filters"},
    {"optimiser.head.lr", "head_lr", KEY_NUMBER, AT(head_lr), 0, 100, NULL, "0.67", .about = "learning rate of the head"},
    {"optimiser.bias.lr", "bias_lr", KEY_NUMBER, AT(bias_lr), 0, 100, NULL, "0.053", .about = "learning rate of the biases"},
    {"optimiser.muon.renormalise", "renormalise", KEY_CHOICE, AT(renormalise), 0, 0, renormalise, "always",
     .about = "scale filters back to norm sqrt(out); seldom: every 2 + 15 x progress steps", .rules = FOR_MUON},
    {"optimiser.muon.newton_schulz_steps", "newton_schulz_steps", KEY_WHOLE, AT(newton_schulz_steps), 1, 10, NULL, "3",
     .about = "iterations", .rules = FOR_MUON},
    {"optimiser.muon.newton_schulz", "newton_schulz", KEY_LIST, AT(newton_schulz), -100, 100, NULL, "3.4445,-4.775,2.0315",
     .about = "the three coefficients of an iteration", .rules = FOR_MUON},
    {"optimiser.muon.newton_schulz_norm", "newton_schulz_norm", KEY_LIST, AT(newton_schulz_norm), 1e-6, 100, NULL, "1,1",
     .about = "norm before the iterations, at the first and at the last step", .rules = FOR_MUON},
    // Adamax and LAMB use these keys, too. Defaults: Kingma and Ba 2015.
    {"optimiser.adamw.beta1", "adam_beta1", KEY_NUMBER, AT(adam_beta1), 0, 0.9999, NULL, "0.9",
     .about = "decay of the first moment", .rules = FOR_ADAM},
    {"optimiser.adamw.beta2", "adam_beta2", KEY_NUMBER, AT(adam_beta2), 0, 0.99999, NULL, "0.999",
     .about = "decay of the second moment, with adamax of the largest gradient", .rules = FOR_ADAM},
    {"optimiser.adamw.epsilon", "adam_epsilon", KEY_NUMBER, AT(adam_epsilon), 1e-16, 1, NULL, "1e-08",
     .about = "added to the root of the second moment, or to the largest gradient", .rules = FOR_ADAM},
    {"optimiser.rmsprop.alpha", NULL, KEY_NUMBER, AT(rms_alpha), 0, 0.99999, NULL, "0.99",
     .about = "decay of the mean of the squared gradients", .rules = FOR_RMSPROP},
    {"optimiser.rmsprop.epsilon", NULL, KEY_NUMBER, AT(rms_epsilon), 1e-16, 10, NULL, "1e-08",
     .about = "keeps the divisor above 0", .rules = FOR_RMSPROP},
    {"optimiser.rmsprop.place", NULL, KEY_CHOICE, AT(rms_inside), 0, 0, places, "outside",
     .about = "of epsilon: added to the root (PyTorch), or inside to the mean below it (TensorFlow)", .rules = FOR_RMSPROP},
    {"optimiser.rmsprop.momentum", NULL, KEY_NUMBER, AT(rms_momentum), 0, 0.9999, NULL, "0",
     .about = "of the step", .rules = FOR_RMSPROP},

    {"schedule.epochs", "epochs", KEY_NUMBER, AT(epochs), 0.01, 10000, NULL, "8", .about = "length of the whole schedule"},
    {"schedule.warmup_epochs", "warmup_epochs", KEY_NUMBER, AT(warmup_epochs), 0, 1000, NULL, "0",
     .about = "epochs in which learning rates rise linearly, before they fall"},
    {"schedule.warmup_from", NULL, KEY_NUMBER, AT(warmup_from), 0, 1, NULL, "0",
     .about = "share of the full learning rates at which they begin to rise; 0: the rise of one step"},
    {"schedule.shape", NULL, KEY_CHOICE, AT(shape), 0, 0, shapes, "linear",
     .about = "form of the decay; inverse-root: of the steps over the warm-up's (Vaswani et al. 2017)"},
    {"schedule.step.at", NULL, KEY_LIST, AT(step_at), 0, 10000, NULL, "30,60,80",
     .about = "epochs after which the learning rates fall", .shapes = 1 << SHAPE_STEP},
    {"schedule.step.factor", NULL, KEY_NUMBER, AT(step_factor), 0, 1, NULL, "0.1", .about = "by which they fall each time",
     .shapes = 1 << SHAPE_STEP},
    {"schedule.exponential.factor", NULL, KEY_NUMBER, AT(exponential_factor), 1e-6, 1, NULL, "0.95",
     .about = "share of the learning rates that an epoch leaves", .shapes = 1 << SHAPE_EXPONENTIAL},
    {"schedule.tail_epochs", "tail_epochs", KEY_NUMBER, AT(tail_epochs), 0, 10000, NULL, "0",
     .about = "epochs between the end of the decay and the end of the schedule (at most half of the schedule)"},
    {"schedule.lr_floor", "lr_floor", KEY_NUMBER, AT(lr_floor), 0, 1, NULL, "0",
     .about = "smallest share of the full learning rates"},
    {"schedule.lookahead.every", "lookahead_every", KEY_WHOLE, AT(lookahead_every), 0, 100000, NULL, "0",
     .about = "steps between pulls of the weights to their average; 0: never"},
    {"schedule.lookahead.before", "lookahead_before", KEY_WHOLE, AT(lookahead_before), 0, 100000, NULL, "0",
     .about = "steps before the end of the decay at which the average begins"},
    {"schedule.lookahead.decay", "lookahead_decay", KEY_NUMBER, AT(lookahead_decay), 0, 1, NULL, "0",
     .about = "share of the old average that is kept"},
    {"schedule.ema.decay", NULL, KEY_NUMBER, AT(ema_decay), 0, 1, NULL, "0",
     .about = "share of the old average kept at each update; the average is evaluated and saved; 1: the mean; 0: no average"},
    {"schedule.ema.every", NULL, KEY_WHOLE, AT(ema_every), 1, 100000, NULL, "1", .about = "steps between updates of the average"},
    {"schedule.ema.from", NULL, KEY_NUMBER, AT(ema_from), 0, 10000, NULL, "0", .about = "epochs before the average begins"},

    {"evaluation.from", "evaluate_from", KEY_NUMBER, AT(evaluate_from), 0, 10000, NULL, "0",
     .about = "epochs before the first evaluation may happen; the last step is always evaluated"},
    {"evaluation.every", "evaluate_every", KEY_NUMBER, AT(evaluate_every), 0, 10000, NULL, "1",
     .about = "epochs between evaluations, fractions too; 0: only the last"},

    {"precision", "precision", KEY_CHOICE, AT(precision), 0, 0, precisions, "auto",
     .about = "of activations; weights, statistics and updates are f32"},
    {.path = NULL},
};

// ---- tables

static const struct model *find_model(const struct recipe_table *t, const char *name)
{
    for (const struct model *m = t->models; m->name; m++)
        if (!strcmp(m->name, name)) return m;
    return NULL;
}

const struct recipe_table *recipe_table_of(const char *model)
{
    for (int i = 0; recipe_tables[i]; i++)
        for (const struct recipe_table *t = recipe_tables[i]; t; t = t->next)
            if (find_model(t, model)) return t;
    return NULL;
}

int recipe_find_table(const char *where, const char *model, const struct recipe_table **into)
{
    const char *names[RECIPE_KEYS_MAX] = {0};
    int count = 0;
    *into = recipe_table_of(model);
    if (*into) return 0;
    for (int i = 0; recipe_tables[i]; i++)
        for (const struct recipe_table *t = recipe_tables[i]; t; t = t->next)
            for (const struct model *m = t->models; m->name && count + 1 < RECIPE_KEYS_MAX; m++) names[count++] = m->name;
    fail_unknown(ERR_USAGE, "model", model, names, "\"dawn models\" lists them");
    return fail_prefix(ERR_USAGE, "%s: ", where);
}

// Appends the keys of the section that the first `skip` bytes of `section` name. Each section is appended once, as a whole.
static void collect_section(const struct recipe_key *const *all, int n, const char *section, size_t skip,
                            const struct recipe_key **into, int *count)
{
    for (int i = 0; i < n; i++) {
        if (strncmp(all[i]->path, section, skip) != 0) continue;
        const char *dot = strchr(all[i]->path + skip, '.');
        if (!dot) {
            into[(*count)++] = all[i];
            continue;
        }
        size_t inner = (size_t)(dot + 1 - all[i]->path);
        int first = 0;
        while (strncmp(all[first]->path, all[i]->path, inner) != 0) first++;
        if (first == i) collect_section(all, n, all[i]->path, inner, into, count);
    }
}

int recipe_keys(const struct recipe_table *t, const struct recipe_key *into[RECIPE_KEYS_MAX])
{
    const struct recipe_key *all[RECIPE_KEYS_MAX];
    int n = 0, count = 0;
    for (const struct recipe_key *k = common; k->path; k++) all[n++] = k;
    for (const struct recipe_key *k = t ? t->keys : NULL; k && k->path; k++) {
        BUG_IF(n == RECIPE_KEYS_MAX);
        all[n++] = k;
    }
    collect_section(all, n, "", 0, into, &count);
    return count;
}

// ---- names

// True if `path` is `name` below some section.
static bool ends_with(const char *path, const char *name)
{
    size_t whole = strlen(path), length = strlen(name);
    return whole > length && path[whole - length - 1] == '.' && !strcmp(path + whole - length, name);
}

static const struct recipe_key *find_exact(const struct recipe_table *t, const char *name)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    int count = recipe_keys(t, keys);
    for (int i = 0; i < count; i++)
        if (!strcmp(keys[i]->path, name) || (keys[i]->brief && !strcmp(keys[i]->brief, name))) return keys[i];
    return NULL;
}

static int unknown_key(const char *where, const struct recipe_table *t, const char *name)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    const char *names[2 * RECIPE_KEYS_MAX + 1] = {0};
    int count = recipe_keys(t, keys), n = 0;
    for (int i = 0; recipe_tables[i]; i++)
        if (recipe_tables[i] != t && find_exact(recipe_tables[i], name))
            return fail(ERR_USAGE, "%s: task %s has no key \"%.60s\" (task %s has)", where, t->task, name,
                        recipe_tables[i]->task);
    for (int i = 0; i < count; i++)
        if (keys[i]->brief) names[n++] = keys[i]->brief;
    for (int i = 0; i < count; i++) names[n++] = keys[i]->path;
    fail_unknown(ERR_USAGE, "recipe key", name, names, "\"dawn recipe --keys\" lists them");
    return fail_prefix(ERR_USAGE, "%s: ", where);
}

int recipe_find_key(const char *where, const struct recipe_table *t, const char *name, const struct recipe_key **into)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    const char *paths[RECIPE_KEYS_MAX];
    int count = recipe_keys(t, keys), same = 0;
    *into = find_exact(t, name);
    if (*into) return 0;
    for (int i = 0; i < count; i++)
        if (ends_with(keys[i]->path, name)) *into = keys[i], paths[same++] = keys[i]->path;
    if (same == 1) return 0;
    if (same == 0) return unknown_key(where, t, name);
    struct text list = {0};
    text_list(&list, paths, same, " or ");
    int rc = fail(ERR_USAGE, "%s: \"%s\" is ambiguous: it may be %s", where, name, list.at);
    text_free(&list);
    return rc;
}

bool recipe_is_section(const struct recipe_table *t, const char *path)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    size_t length = strlen(path);
    for (int i = recipe_keys(t, keys) - 1; i >= 0; i--)
        if (!strncmp(keys[i]->path, path, length) && keys[i]->path[length] == '.') return length > 0;
    return false;
}

int recipe_no_section(const char *where, const struct recipe_table *t, const char *path)
{
    const struct recipe_key *keys[RECIPE_KEYS_MAX];
    char section[RECIPE_KEYS_MAX][RECIPE_TEXT_MAX];
    const char *names[RECIPE_KEYS_MAX + 1] = {0};
    int count = recipe_keys(t, keys), n = 0;
    for (int i = 0; i < count; i++) {
        const char *dot = strrchr(keys[i]->path, '.');
        if (!dot) continue;
        snprintf(section[n], sizeof section[n], "%.*s", (int)(dot - keys[i]->path), keys[i]->path);
        if (n > 0 && !strcmp(section[n], section[n - 1])) continue;  // keys of a section are adjacent
        names[n] = section[n];
        n++;
    }
    fail_unknown(ERR_USAGE, "section", path, names, NULL);
    return fail_prefix(ERR_USAGE, "%s: ", where);
}

// ---- what applies

static const struct model *model_of(const struct recipe *r)
{
    const struct recipe_table *t = recipe_table_of(r->model);
    return t ? find_model(t, r->model) : NULL;
}

bool recipe_has_part(const struct recipe *r, unsigned part)
{
    const struct model *m = model_of(r);
    return m && (m->parts & part) == part;
}

bool recipe_applies(const struct recipe *r, const struct recipe_key *k)
{
    const struct model *m = model_of(r);
    if (k->rules && !(k->rules & 1u << r->optimiser)) return false;
    if (k->shapes && !(k->shapes & 1u << r->shape)) return false;
    return !m || (m->parts & k->part) == k->part;
}

// Adds the names of the bits that are set: "muon or sgd".
static void add_choices(struct text *into, const char *const *names, unsigned bits)
{
    const char *words[OPTIMISER_COUNT];
    int count = 0;
    for (int i = 0; names[i]; i++)
        if (bits & 1u << i) words[count++] = names[i];
    text_list(into, words, count, " or ");
}

int recipe_refuse(const char *where, const struct recipe *r, const struct recipe_key *k)
{
    const struct recipe_table *t = recipe_table_of(r->model);
    const struct model *m = t ? find_model(t, r->model) : NULL;
    for (int i = 0; m && k->part >> i; i++)
        if (k->part & ~m->parts & 1u << i)
            return fail(ERR_USAGE, "%s: %s has no %s: \"%s\" does not apply", where, r->model, t->parts[i], k->path);
    struct text list = {0};
    bool shape = k->shapes && !(k->shapes & 1u << r->shape);
    add_choices(&list, shape ? shapes : rules, shape ? k->shapes : k->rules);
    int rc = fail(ERR_USAGE, "%s: the %s is %s, not %s: \"%s\" does not apply", where, shape ? "shape of the decay" : "optimiser",
                  shape ? shapes[r->shape] : rules[r->optimiser], list.at, k->path);
    text_free(&list);
    return rc;
}

int recipe_check_whole(const char *where, const char *key, const struct recipe_list *list)
{
    for (int i = 0; i < list->count; i++)
        if (list->at[i] != floor(list->at[i])) return fail(ERR_USAGE, "%s: \"%s\" must be whole numbers", where, key);
    return 0;
}

int recipe_keys_applying(const struct recipe *r, const struct recipe_key *into[RECIPE_KEYS_MAX])
{
    const struct recipe_key *all[RECIPE_KEYS_MAX];
    int n = recipe_keys(recipe_table_of(r->model), all), count = 0;
    for (int i = 0; i < n; i++)
        if (recipe_applies(r, all[i])) into[count++] = all[i];
    return count;
}
