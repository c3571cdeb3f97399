// SPDX-License-Identifier: Apache-2.0
// A recipe: everything about a training that is not code, as a small JSON file. Every key stands in one table
// (recipe.c) with its bounds and its meaning; an unknown key, a missing bound or a wrong type is an error that names it.
#ifndef DAWN_RECIPE_H
#define DAWN_RECIPE_H

#include "runtime/base/arena.h"
#include "tasks/train/schedule.h"

enum { RECIPE_LIST_MAX = 16, RECIPE_TEXT_MAX = 160 };
struct recipe_list {
    int count;
    double at[RECIPE_LIST_MAX];
};

enum recipe_precision { PRECISION_AUTO, PRECISION_F32, PRECISION_BF16, PRECISION_F16 };
enum recipe_optimiser { OPTIMISER_MUON, OPTIMISER_SGD, OPTIMISER_ADAMW };
enum recipe_pool { POOL_GLOBAL, POOL_WINDOW };
enum recipe_renormalise { RENORMALISE_ALWAYS, RENORMALISE_SELDOM, RENORMALISE_NEVER };

struct recipe {
    char name[RECIPE_TEXT_MAX], about[RECIPE_TEXT_MAX], model[RECIPE_TEXT_MAX];
    // schedule
    double epochs;
    int64_t batch;
    int precision;                      // enum recipe_precision
    struct recipe_list resolution;      // side of the training images, over equal parts of the schedule
    double warmup_epochs, tail_epochs, lr_floor;
    double evaluate_from, evaluate_every;
    int64_t views;
    // network
    struct recipe_list widths;
    int first_activation, activation;   // enum act
    int pool;                           // enum recipe_pool
    double norm_momentum;
    double whiten_bias_epochs;
    // samples and loss
    int flip;                           // enum flip
    int64_t crop;
    double brightness, contrast, label_smoothing;
    // updates
    int optimiser;                      // enum recipe_optimiser, of the filters
    double filter_lr, filter_momentum, filter_decay;
    double adam_beta1, adam_beta2, adam_epsilon;
    int renormalise;                    // enum recipe_renormalise
    int64_t newton_schulz_steps;
    struct recipe_list newton_schulz, newton_schulz_norm;
    double bias_lr, head_lr, momentum, weight_decay;
    int64_t lookahead_every, lookahead_before;
    double lookahead_decay;
};

// The embedded ones, by name ("cifar10", "synthetic", "airbench94", ...); an unknown name names the nearest.
int recipe_embedded(const char *name, struct recipe *) MUST_CHECK;
int recipe_file(const char *path, struct recipe *) MUST_CHECK;
// The parser itself: JSON bytes from outside. `where` names them in errors. Keys that are not given keep a default.
int recipe_parse(const char *where, const char *bytes, size_t count, struct recipe *) MUST_CHECK;
int recipe_set(struct recipe *, const char *key_is_value) MUST_CHECK;  // "epochs=10", "resolution=24,28,32"
int recipe_set_key(const char *where, struct recipe *, const char *key, const char *value) MUST_CHECK;
int recipe_check(const struct recipe *) MUST_CHECK;  // what no single key tells; after the last recipe_set
char *recipe_json(const struct recipe *);  // every key, in the order of the table; free() it
// Calls row(name, about) for each embedded recipe.
int recipe_each(int (*row)(void *, const struct recipe *), void *) MUST_CHECK;
// Calls row(key, meaning, value as text) for each key.
void recipe_keys(const struct recipe *, void (*row)(void *, const char *key, const char *about, const char *value), void *);
// What a key may be, for people: "0.01 to 10000", "muon, sgd or adamw"; free() it. NULL when there is no such key.
char *recipe_range(const char *key);

// Steps of the whole schedule when an epoch has `a` steps.
int64_t recipe_steps(const struct recipe *, int64_t steps_an_epoch);
double recipe_decay_end(const struct recipe *, int64_t steps_an_epoch);  // in steps: where the rates' decay ends
// Share of the full learning rates over the steps: warm-up, decay, floor.
struct schedule recipe_rate(const struct recipe *, int64_t steps_an_epoch);
int64_t recipe_side(const struct recipe *, int64_t step, int64_t steps, int64_t full_side);

#endif
