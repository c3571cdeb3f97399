// SPDX-License-Identifier: Apache-2.0
// Recipe keys. recipe_keys.c holds the keys of all tasks. A task adds its own rows (tasks/NAME/NAME_keys.c) in a recipe_table,
// which the Makefile registers (recipe_table_NAME). The model's name selects the table of a recipe.
#pragma once

#include "runtime/common/base/text.h"
#include "tasks/common/recipe/model.h"
#include "tasks/common/recipe/recipe.h"

#include <jansson.h>
#include <stddef.h>

enum recipe_kind { KEY_TEXT, KEY_NUMBER, KEY_WHOLE, KEY_CHOICE, KEY_LIST };

// Bits of the optimisers, for recipe_key.rules.
enum {
    FOR_MUON = 1 << OPTIMISER_MUON,
    FOR_SGD = 1 << OPTIMISER_SGD,
    FOR_ADAM = 1 << OPTIMISER_ADAMW | 1 << OPTIMISER_ADAMAX | 1 << OPTIMISER_LAMB,
    FOR_RMSPROP = 1 << OPTIMISER_RMSPROP,
};

struct recipe_key {
    const char *path;             // its sections and its name: "optimiser.filters.lr"
    const char *brief;            // a short name, for --set and people; NULL: none
    enum recipe_kind kind;
    size_t offset;                // in struct recipe; RECIPE_AT, RECIPE_OWN
    double low, high;             // bounds of a number, or of each number of a list
    const char *const *choices;   // KEY_CHOICE; NULL-terminated, in the order of the enum
    // The default, in the form that --set takes. It never changes, because canonical forms leave it out. The default of a
    // new key is the value that keeps the program's earlier behaviour.
    const char *absent;
    const char *about;            // its meaning, in one clause
    unsigned rules;               // bits of the optimisers that use it; 0: all
    unsigned shapes;              // bits of the shapes of the decay (enum recipe_shape) that use it; 0: all
    unsigned part;                // bit of the part that the model must have; 0: every model
    bool decodes;                 // a setting of the decoding: `dawn infer` may set it, too
    bool batch;                   // another measure of a step's samples, which grows with them; KEY_WHOLE
};
#define RECIPE_AT(field) offsetof(struct recipe, field)
#define RECIPE_OWN(type, field) (offsetof(struct recipe, own) + offsetof(type, field))

struct recipe_table {
    const char *task;
    const char *const *also;            // other tasks that train the same models with these keys, ends with NULL; NULL: none
    const struct model *models;         // ends with name NULL
    const struct recipe_table *next;    // of another task of the same folder, which trains other models; NULL: none
    const struct recipe_key *keys;      // ends with path NULL
    const char *const *parts;           // the meaning of bit i, for "resnet9 has no ..."; NULL: no key needs a part
    int (*check)(const char *where, const struct recipe *);  // rules that involve several keys; may be NULL
};
extern const struct recipe_table *const recipe_tables[];  // ends with NULL

enum { RECIPE_KEYS_MAX = 128 };
const struct recipe_table *recipe_table_of(const char *model);  // NULL: no task has such a model
int recipe_find_table(const char *where, const char *model, const struct recipe_table **) MUST_CHECK;

// Collects all keys of a table and the common keys, each section together. Returns their number.
int recipe_keys(const struct recipe_table *, const struct recipe_key *into[RECIPE_KEYS_MAX]);
int recipe_keys_applying(const struct recipe *, const struct recipe_key *into[RECIPE_KEYS_MAX]);
// Finds a key by path, by short name, or by the end of its path ("filters.lr") if no other path ends so.
int recipe_find_key(const char *where, const struct recipe_table *, const char *name, const struct recipe_key **) MUST_CHECK;
bool recipe_is_section(const struct recipe_table *, const char *path);
// Always fails: `path` is no section, and the sentence says so.
int recipe_no_section(const char *where, const struct recipe_table *, const char *path);

bool recipe_applies(const struct recipe *, const struct recipe_key *);
bool recipe_has_part(const struct recipe *, unsigned part);  // its model has
// Fails with the reason why the key does not apply.
int recipe_refuse(const char *where, const struct recipe *, const struct recipe_key *);
// For recipe_table.check: fails if a number of the list is a fraction.
int recipe_check_whole(const char *where, const char *key, const struct recipe_list *) MUST_CHECK;

// ---- values (recipe_values.c)

// Sets every key of the table to its default.
void recipe_defaults(const struct recipe_table *, struct recipe *);
// Sets one key without checking that it applies. `name` is the key as the user wrote it.
int recipe_set_value(const char *where, const char *name, struct recipe *, const struct recipe_key *, const json_t *) MUST_CHECK;
json_t *recipe_value_from_text(const struct recipe_key *, const char *text);  // parses what --set takes: "24,28,32", ".5"
// Adds the value as JSON or in the form that --set takes.
void recipe_add_value(struct text *, const struct recipe *, const struct recipe_key *, bool json);
bool recipe_is_default(const struct recipe *, const struct recipe_key *);
// Adds the allowed values of a key as text: "0.01 to 10000", "linear or cosine".
void recipe_add_range(struct text *, const struct recipe_key *);
