// SPDX-License-Identifier: Apache-2.0
#include "tasks/train/recipe.h"

#include "runtime/base/embed.h"
#include "runtime/base/file.h"
#include "runtime/base/text.h"

#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, NUMBER, WHOLE, CHOICE, LIST };
struct key {
    const char *name;
    enum kind kind;
    size_t offset;
    double low, high;             // of a number, or of each of a list
    const char *const *choices;   // CHOICE; NULL-terminated, in the order of the enum
    const char *about;
};

static const char *const precisions[] = {"auto", "f32", "bf16", "f16", NULL};
static const char *const activations[] = {"none", "relu", "gelu", "silu", NULL};
static const char *const pools[] = {"global", "window", NULL};
static const char *const flips[] = {"never", "random", "alternate", NULL};
static const char *const optimisers[] = {"muon", "sgd", "adamw", NULL};
static const char *const renormalise[] = {"always", "seldom", "never", NULL};

#define AT(field) offsetof(struct recipe, field)
static const struct key keys[] = {
    {"name", TEXT, AT(name), 0, 0, NULL, "what the recipe is called"},
    {"about", TEXT, AT(about), 0, 0, NULL, "where it comes from, in a sentence"},
    {"model", TEXT, AT(model), 0, 0, NULL, "the network (dawn models)"},
    {"epochs", NUMBER, AT(epochs), 0.01, 10000, NULL, "length of the whole schedule"},
    {"batch", WHOLE, AT(batch), 1, 1 << 20, NULL, "samples a step"},
    {"precision", CHOICE, AT(precision), 0, 0, precisions, "of activations; weights, statistics and updates are f32"},
    {"resolution", LIST, AT(resolution), 8, 1024, NULL,
     "side of the training images over equal parts of the schedule; empty: as stored"},
    {"warmup_epochs", NUMBER, AT(warmup_epochs), 0, 1000, NULL, "learning rates rise linearly this long"},
    {"tail_epochs", NUMBER, AT(tail_epochs), 0, 10000, NULL,
     "then fall linearly, to 0 so long before the end (at most half the schedule)"},
    {"lr_floor", NUMBER, AT(lr_floor), 0, 1, NULL, "but not below this share"},
    {"evaluate_from", NUMBER, AT(evaluate_from), 0, 10000, NULL,
     "first epoch after which accuracy is measured; the last always is"},
    {"evaluate_every", NUMBER, AT(evaluate_every), 0, 10000, NULL, "epochs between evaluations; 0: only the last"},
    {"views", WHOLE, AT(views), 1, 6, NULL,
     "forward passes an image when accuracy is measured: 1 plain, 2 with its mirror, 6 with shifts"},
    {"widths", LIST, AT(widths), 1, 4096, NULL, "channels of the groups of the network; empty: its own"},
    {"first_activation", CHOICE, AT(first_activation), 0, 0, activations, "behind the first layer"},
    {"activation", CHOICE, AT(activation), 0, 0, activations, "everywhere else"},
    {"pool", CHOICE, AT(pool), 0, 0, pools, "before the head: the whole image, or a window of 3"},
    {"norm_momentum", NUMBER, AT(norm_momentum), 0, 1, NULL, "share of the old running statistics that is kept"},
    {"whiten_bias_epochs", NUMBER, AT(whiten_bias_epochs), 0, 10000, NULL, "how long the bias of the whitening layer trains"},
    {"flip", CHOICE, AT(flip), 0, 0, flips, "mirroring; alternate: decided once an image, turned every epoch"},
    {"crop", WHOLE, AT(crop), 0, 16, NULL, "random shift by up to so many pixels, borders reflected"},
    {"brightness", NUMBER, AT(brightness), 0, 4, NULL, "amplitude of a random shift of the normalised pixels"},
    {"contrast", NUMBER, AT(contrast), 0, 1, NULL, "amplitude of a random gain"},
    {"label_smoothing", NUMBER, AT(label_smoothing), 0, 0.99, NULL, "share of the target spread over all classes"},
    {"optimiser", CHOICE, AT(optimiser), 0, 0, optimisers, "of the filters; biases and head: SGD (all AdamW with adamw)"},
    {"filter_lr", NUMBER, AT(filter_lr), 0, 100, NULL, "learning rate of the filters"},
    {"filter_momentum", NUMBER, AT(filter_momentum), 0, 0.9999, NULL, "their momentum"},
    {"filter_decay", NUMBER, AT(filter_decay), 0, 1, NULL, "their weight decay"},
    {"adam_beta1", NUMBER, AT(adam_beta1), 0, 0.9999, NULL, "adamw: of the first moment"},
    {"adam_beta2", NUMBER, AT(adam_beta2), 0, 0.99999, NULL, "adamw: of the second moment"},
    {"adam_epsilon", NUMBER, AT(adam_epsilon), 1e-16, 1, NULL, "adamw: added to the root of the second moment"},
    {"renormalise", CHOICE, AT(renormalise), 0, 0, renormalise,
     "muon: filters back to norm sqrt(out); seldom: every 2 + 15 x progress steps"},
    {"newton_schulz_steps", WHOLE, AT(newton_schulz_steps), 1, 10, NULL, "muon: iterations"},
    {"newton_schulz", LIST, AT(newton_schulz), -100, 100, NULL, "muon: the three coefficients"},
    {"newton_schulz_norm", LIST, AT(newton_schulz_norm), 1e-6, 100, NULL, "muon: norm they start from, first and last step"},
    {"bias_lr", NUMBER, AT(bias_lr), 0, 100, NULL, "learning rate of the biases"},
    {"head_lr", NUMBER, AT(head_lr), 0, 100, NULL, "learning rate of the head"},
    {"momentum", NUMBER, AT(momentum), 0, 0.9999, NULL, "SGD's (Nesterov) for biases and head"},
    {"weight_decay", NUMBER, AT(weight_decay), 0, 1, NULL, "of biases and head, times batch / learning rate"},
    {"lookahead_every", WHOLE, AT(lookahead_every), 0, 100000, NULL,
     "steps between pulls of the weights to their average; 0: never"},
    {"lookahead_before", WHOLE, AT(lookahead_before), 0, 100000, NULL, "the average begins so many steps before the decay ends"},
    {"lookahead_decay", NUMBER, AT(lookahead_decay), 0, 1, NULL, "share of the old average that is kept"},
};
enum { KEYS = sizeof keys / sizeof *keys };

static const struct recipe defaults = {
    .name = "unnamed", .model = "record", .epochs = 8, .batch = 1000, .evaluate_every = 1, .views = 1,
    .first_activation = 2, .activation = 2, .norm_momentum = 0.6, .flip = 2, .crop = 2, .optimiser = OPTIMISER_MUON,
    .filter_lr = 0.24, .filter_momentum = 0.6,
    .adam_beta1 = 0.9, .adam_beta2 = 0.999, .adam_epsilon = 1e-8,  // Kingma and Ba 2015
    .newton_schulz_steps = 3, .newton_schulz = {3, {3.4445, -4.7750, 2.0315}},
    .newton_schulz_norm = {2, {1, 1}}, .bias_lr = 0.053, .head_lr = 0.67, .momentum = 0.85, .weight_decay = 2e-6,
};

static const struct key *find_key(const char *name)
{
    for (int i = 0; i < KEYS; i++)
        if (!strcmp(keys[i].name, name)) return &keys[i];
    return NULL;
}

static int unknown(const char *where, const char *name, const char *const *names, const char *what)
{
    const char *near = text_nearest(name, names);
    return fail(ERR_USAGE, "%s: there is no %s \"%.60s\"%s%s%s", where, what, name, near ? "; did you mean \"" : "",
                near ? near : "", near ? "\"?" : "");
}

static int unknown_key(const char *where, const char *name)
{
    const char *names[KEYS + 1] = {0};
    for (int i = 0; i < KEYS; i++) names[i] = keys[i].name;
    if (!text_nearest(name, names))
        return fail(ERR_USAGE, "%s: there is no recipe key \"%.60s\" (dawn recipe --keys lists them)", where, name);
    return unknown(where, name, names, "recipe key");
}

// ---- setting one key from JSON

static int number(const char *where, const struct key *k, const json_t *v, double *into)
{
    if (!json_is_number(v)) return fail(ERR_USAGE, "%s: \"%s\" wants a number", where, k->name);
    double x = json_number_value(v);
    if (!(x >= k->low && x <= k->high))
        return fail(ERR_USAGE, "%s: \"%s\" lies between %g and %g, not at %g", where, k->name, k->low, k->high, x);
    *into = x;
    return 0;
}

static int set_choice(const char *where, const struct key *k, const json_t *v, int *into)
{
    if (!json_is_string(v)) return fail(ERR_USAGE, "%s: \"%s\" wants a word", where, k->name);
    for (int i = 0; k->choices[i]; i++)
        if (!strcmp(k->choices[i], json_string_value(v))) {
            *into = i;
            return 0;
        }
    if (text_nearest(json_string_value(v), k->choices)) return unknown(where, json_string_value(v), k->choices, k->name);
    char *range = recipe_range(k->name);
    int rc = fail(ERR_USAGE, "%s: there is no %s \"%.60s\"; it is %s", where, k->name, json_string_value(v), range);
    free(range);
    return rc;
}

static int set_list(const char *where, const struct key *k, const json_t *v, struct recipe_list *into)
{
    if (!json_is_array(v) || json_array_size(v) > RECIPE_LIST_MAX)
        return fail(ERR_USAGE, "%s: \"%s\" wants a list of at most %d numbers", where, k->name, RECIPE_LIST_MAX);
    struct recipe_list list = {.count = (int)json_array_size(v)};
    for (int i = 0; i < list.count; i++) TRY(number(where, k, json_array_get(v, (size_t)i), &list.at[i]));
    *into = list;
    return 0;
}

static int set_key(const char *where, struct recipe *r, const struct key *k, const json_t *v)
{
    void *at = (char *)r + k->offset;
    double x = 0;
    switch (k->kind) {
    case TEXT:
        if (!json_is_string(v) || json_string_length(v) >= RECIPE_TEXT_MAX)
            return fail(ERR_USAGE, "%s: \"%s\" wants text of fewer than %d bytes", where, k->name, RECIPE_TEXT_MAX);
        memcpy(at, json_string_value(v), json_string_length(v) + 1);
        return 0;
    case NUMBER: return number(where, k, v, at);
    case WHOLE:
        TRY(number(where, k, v, &x));
        if (x != floor(x)) return fail(ERR_USAGE, "%s: \"%s\" wants a whole number, not %g", where, k->name, x);
        *(int64_t *)at = (int64_t)x;
        return 0;
    case CHOICE: return set_choice(where, k, v, at);
    case LIST: return set_list(where, k, v, at);
    }
    BUG("no such kind of key");
}

// What no single key can tell.
static int check_whole(const char *where, const struct recipe *r)
{
    if (r->newton_schulz.count != 3) return fail(ERR_USAGE, "%s: \"newton_schulz\" wants three numbers", where);
    if (r->newton_schulz_norm.count != 2) return fail(ERR_USAGE, "%s: \"newton_schulz_norm\" wants two numbers", where);
    if (r->views != 1 && r->views != 2 && r->views != 6) return fail(ERR_USAGE, "%s: \"views\" is 1, 2 or 6", where);
    if (r->warmup_epochs > 0 && r->warmup_epochs >= fmax(r->epochs - r->tail_epochs, r->epochs / 2))
        return fail(ERR_USAGE, "%s: \"warmup_epochs\" leaves no time for the decay", where);
    for (int i = 0; i < r->resolution.count; i++)
        if (r->resolution.at[i] != floor(r->resolution.at[i]))
            return fail(ERR_USAGE, "%s: \"resolution\" wants whole numbers", where);
    for (int i = 0; i < r->widths.count; i++)
        if (r->widths.at[i] != floor(r->widths.at[i])) return fail(ERR_USAGE, "%s: \"widths\" wants whole numbers", where);
    return 0;
}

int recipe_parse(const char *where, const char *bytes, size_t count, struct recipe *into)
{
    json_error_t error;
    json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
    if (!root) return fail(ERR_USAGE, "%s, line %d: not JSON: %s", where, error.line, error.text);
    struct recipe r = defaults;
    int rc = json_is_object(root) ? 0 : fail(ERR_USAGE, "%s: a recipe is a JSON object", where);
    const char *name;
    json_t *v;
    json_object_foreach(root, name, v) {
        if (rc < 0) break;
        const struct key *k = find_key(name);
        rc = k ? set_key(where, &r, k, v) : unknown_key(where, name);
    }
    json_decref(root);
    TRY(rc);
    TRY(check_whole(where, &r));
    *into = r;
    return 0;
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

// "24,28,32" as a list, a number or a word as they are.
static json_t *value_from_text(const struct key *k, const char *text)
{
    if (k->kind == TEXT || k->kind == CHOICE) return json_string(text);
    json_error_t error;
    char *json = NULL;
    if (asprintf(&json, k->kind == LIST ? "[%s]" : "%s", text) < 0) BUG("out of memory");
    json_t *v = json_loads(json, JSON_DECODE_ANY, &error);
    free(json);
    return v ? v : json_null();
}

int recipe_set_key(const char *where, struct recipe *r, const char *name, const char *value)
{
    const struct key *k = find_key(name);
    if (!k) return unknown_key(where, name);
    json_t *v = value_from_text(k, value);
    struct recipe changed = *r;
    int rc = set_key(where, &changed, k, v);
    json_decref(v);
    TRY(rc);
    *r = changed;
    return 0;
}

int recipe_set(struct recipe *r, const char *assignment)
{
    const char *equals = strchr(assignment, '=');
    char name[64];
    if (!equals || (size_t)(equals - assignment) >= sizeof name)
        return fail(ERR_USAGE, "--set wants key=value, not \"%s\"", assignment);
    memcpy(name, assignment, (size_t)(equals - assignment));
    name[equals - assignment] = 0;
    return recipe_set_key("--set", r, name, equals + 1);
}

int recipe_check(const struct recipe *r)
{
    return check_whole("recipe", r);
}

// ---- printing

static void add_value(struct text *t, const struct recipe *r, const struct key *k, bool quoted)
{
    const void *at = (const char *)r + k->offset;
    const char *q = quoted ? "\"" : "";
    const struct recipe_list *list = at;
    if (k->kind == TEXT && quoted) {
        json_t *s = json_string(at);
        char *json = s ? json_dumps(s, JSON_ENCODE_ANY) : NULL;
        text_add(t, "%s", json ? json : "\"\"");
        free(json);
        json_decref(s);
    } else if (k->kind == TEXT)
        text_add(t, "%s", (const char *)at);
    else if (k->kind == NUMBER)
        text_add(t, "%.10g", *(const double *)at);
    else if (k->kind == WHOLE)
        text_add(t, "%lld", (long long)*(const int64_t *)at);
    else if (k->kind == CHOICE)
        text_add(t, "%s%s%s", q, k->choices[*(const int *)at], q);
    else {
        text_add(t, quoted ? "[" : "");
        for (int i = 0; i < list->count; i++) text_add(t, i ? (quoted ? ", %.10g" : ",%.10g") : "%.10g", list->at[i]);
        text_add(t, quoted ? "]" : "");
    }
}

char *recipe_json(const struct recipe *r)
{
    struct text t = {0};
    text_add(&t, "{\n");
    for (int i = 0; i < KEYS; i++) {
        text_add(&t, "    \"%s\": ", keys[i].name);
        add_value(&t, r, &keys[i], true);
        text_add(&t, i + 1 < KEYS ? ",\n" : "\n}\n");
    }
    return t.at;
}

void recipe_keys(const struct recipe *r, void (*row)(void *, const char *, const char *, const char *), void *context)
{
    for (int i = 0; i < KEYS; i++) {
        struct text t = {0};
        add_value(&t, r, &keys[i], false);
        row(context, keys[i].name, keys[i].about, t.at ? t.at : "");
        text_free(&t);
    }
}

char *recipe_range(const char *name)
{
    const struct key *k = find_key(name);
    if (!k) return NULL;
    struct text t = {0};
    switch (k->kind) {
    case TEXT: text_add(&t, "text"); break;
    case NUMBER: text_add(&t, "%.10g to %.10g", k->low, k->high); break;
    case WHOLE: text_add(&t, "a whole number, %.10g to %.10g", k->low, k->high); break;
    case LIST: text_add(&t, "a list of numbers, each %.10g to %.10g", k->low, k->high); break;
    case CHOICE:
        for (int i = 0; k->choices[i]; i++)
            text_add(&t, "%s%s", i == 0 ? "" : k->choices[i + 1] ? ", " : " or ", k->choices[i]);
        break;
    }
    return t.at;
}

// ---- the embedded ones

// Its file's name, "cifar10.json"; NULL where the embedded file is no recipe.
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
    const char *names[64] = {0};
    int count = 0;
    char file[64];
    snprintf(file, sizeof file, "%s.json", name);
    for (const struct embedded *e = embedded_files; e->path && count < 63; e++) {
        if (!recipe_file_name(e)) continue;
        if (!strcmp(recipe_file_name(e), file)) return recipe_parse(e->path, e->at, e->size, into);
        names[count++] = recipe_file_name(e);
    }
    const char *near = text_nearest(file, names);
    return fail(ERR_USAGE, "there is no recipe \"%.40s\"%s%.*s%s (dawn recipe lists them)", name,
                near ? "; did you mean \"" : "", near ? (int)strlen(near) - 5 : 0, near ? near : "", near ? "\"?" : "");
}

// ---- schedule

int64_t recipe_steps(const struct recipe *r, int64_t steps_an_epoch)
{
    int64_t steps = (int64_t)ceil(r->epochs * (double)steps_an_epoch - 1e-9);
    return steps < 1 ? 1 : steps;
}

int64_t recipe_side(const struct recipe *r, int64_t step, int64_t steps, int64_t full_side)
{
    if (!r->resolution.count) return full_side;
    return (int64_t)r->resolution.at[step * r->resolution.count / steps];
}

double recipe_decay_end(const struct recipe *r, int64_t steps_an_epoch)
{
    return fmax(r->epochs - r->tail_epochs, r->epochs / 2) * (double)steps_an_epoch;
}

struct schedule recipe_rate(const struct recipe *r, int64_t steps_an_epoch)
{
    struct schedule s = {.least = r->lr_floor};
    double up = r->warmup_epochs * (double)steps_an_epoch;
    schedule_add(&s, up, 1 / (up + 1), 1, CURVE_LINEAR);
    schedule_add(&s, recipe_decay_end(r, steps_an_epoch) - up, 1, 0, CURVE_LINEAR);
    return s;
}
