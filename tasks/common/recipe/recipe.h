// SPDX-License-Identifier: Apache-2.0
// A recipe: everything about a training that is not code, as a small JSON file in sections. One table holds every key
// (recipe_keys.c and the task's own rows) with its bounds, its default and its meaning. An unknown key, a value out of
// bounds, a wrong type or a key that does not apply to the model or the optimiser is an error that names the key.
#pragma once

#include "runtime/common/base/arena.h"
#include "runtime/optim.h"
#include "tasks/common/recipe/schedule.h"

#include <stddef.h>

enum { RECIPE_LIST_MAX = 16, RECIPE_TEXT_MAX = 160, RECIPE_OWN_BYTES = 640 };
struct recipe_list {
    int count;
    double at[RECIPE_LIST_MAX];
};

enum recipe_precision { PRECISION_AUTO, PRECISION_F32, PRECISION_BF16, PRECISION_F16 };
#define OPTIMISER_ID(id, name, update) OPTIMISER_##id,
enum recipe_optimiser { OPTIMISERS(OPTIMISER_ID) OPTIMISER_COUNT };
// The optimiser of parameters that are not filters: the same, but Muon leaves the rest to SGD.
static inline enum recipe_optimiser recipe_other_rule(enum recipe_optimiser filters)
{
    return filters == OPTIMISER_MUON ? OPTIMISER_SGD : filters;
}
enum recipe_shape { SHAPE_LINEAR, SHAPE_COSINE, SHAPE_STEP, SHAPE_EXPONENTIAL, SHAPE_INVERSE_ROOT };
enum recipe_renormalise { RENORMALISE_ALWAYS, RENORMALISE_SELDOM, RENORMALISE_NEVER };

struct recipe {
    char name[RECIPE_TEXT_MAX], about[RECIPE_TEXT_MAX], model[RECIPE_TEXT_MAX];
    // schedule
    double epochs;
    int64_t batch, accumulate, slices;
    int precision;                      // enum recipe_precision
    struct recipe_list resolution;      // side of the training images, by default over equal parts of the schedule
    struct recipe_list resolution_parts;  // lengths of these parts, if the task has the key
    double warmup_epochs, warmup_from, tail_epochs, lr_floor;
    int shape;                          // enum recipe_shape of the decay
    struct recipe_list step_at;         // in epochs
    double step_factor, exponential_factor;
    double evaluate_from, evaluate_every;  // in epochs, may be fractions
    int64_t views;
    // network and loss
    struct recipe_list widths;          // of the network, if the task has the key
    double label_smoothing;
    // parameter updates
    int optimiser;                      // enum recipe_optimiser for filters
    double filter_lr, filter_momentum, filter_decay;
    double adam_beta1, adam_beta2, adam_epsilon;
    double rms_alpha, rms_epsilon, rms_momentum;
    int rms_inside;                     // 0 or 1
    int renormalise;                    // enum recipe_renormalise
    int64_t newton_schulz_steps;
    struct recipe_list newton_schulz, newton_schulz_norm;
    double bias_lr, head_lr, momentum, weight_decay;
    int nesterov;                       // 0 or 1
    double clip;                        // global norm; 0: none
    double loss_scale;                  // of f16, at the beginning; 0: none
    int64_t lookahead_every, lookahead_before;
    double lookahead_decay;
    double ema_decay, ema_from;         // in epochs
    int64_t ema_every;
    // Keys of a single task: a struct of the task (RECIPE_OWN_KEYS), whose members its table rows name (RECIPE_OWN).
    _Alignas(max_align_t) unsigned char own[RECIPE_OWN_BYTES];
};
#define RECIPE_OWN_KEYS(type, recipe) ((const type *)(const void *)(recipe)->own)

// An embedded recipe by name ("cifar10", "synthetic", "airbench94", ...). The error for an unknown name suggests the nearest.
int recipe_embedded(const char *name, struct recipe *) MUST_CHECK;
int recipe_file(const char *path, struct recipe *) MUST_CHECK;
// The pure parser. `where` names the text in errors. Absent keys take their defaults.
int recipe_parse(const char *where, const char *bytes, size_t count, struct recipe *) MUST_CHECK;

// Assigns "epochs=10", "schedule.epochs=10", "resolution=24,28,32". All changes are made together, and each key must apply
// to the resulting recipe. On failure the recipe is unchanged.
int recipe_set_all(struct recipe *, const char *const *assignments, int count) MUST_CHECK;
int recipe_set(struct recipe *, const char *assignment) MUST_CHECK;
int recipe_set_key(const char *where, struct recipe *, const char *key, const char *value) MUST_CHECK;
// Sets the samples of a step, and in proportion the task's own measures of them (data.tokens of translation).
void recipe_set_batch(struct recipe *, int64_t batch);
int recipe_check(const struct recipe *) MUST_CHECK;  // the rules that involve several keys; call it after the last change

const char *recipe_task(const struct recipe *);  // the task of its model; NULL if there is no such model
bool recipe_trains(const struct recipe *, const char *task);  // true if its model belongs to that task
char *recipe_json(const struct recipe *);        // all keys that apply, in sections; free() ends it
// The same text on one line without blanks, as records hold it. In a statement, recipe.digest is the SHA-256 of recipe.text.
char *recipe_line(const struct recipe *);
// The canonical form: one line of JSON with the keys that apply and differ from their defaults, sorted by path, each number
// in its shortest form; without name and about. Two recipes train alike if and only if their canonical forms are equal.
// A key that a later program adds with its default changes no canonical form.
char *recipe_canonical(const struct recipe *);
// True if the recipe trains like the embedded recipe of that name. Any number format is allowed (docs/rules.md).
bool recipe_is_published(const char *name, const struct recipe *);
// Calls row(context, recipe) for each embedded recipe until a row fails.
int recipe_each(int (*row)(void *, const struct recipe *), void *) MUST_CHECK;

// Number of steps in the whole schedule.
int64_t recipe_steps(const struct recipe *, int64_t steps_per_epoch);
int64_t recipe_whole_steps(double epochs, int64_t steps_per_epoch);       // rounded up
int64_t recipe_decay_end(const struct recipe *, int64_t steps_per_epoch);  // in steps: the end of the learning rates' decay
// Share of the full learning rates at each step: warm-up, decay, floor.
struct schedule recipe_rate(const struct recipe *, int64_t steps_per_epoch);
// The entry of data.resolution that is in force at this share of the schedule, 0 to 1.
int recipe_part(const struct recipe *, double share);
// Side of the training images in a step; `full_side` if the recipe names none.
int64_t recipe_side(const struct recipe *, int64_t step, int64_t steps, int64_t full_side);
