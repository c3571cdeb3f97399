// SPDX-License-Identifier: Apache-2.0
// The keys of recipes. Keys that every task has stand in recipe_keys.c. A task brings its own rows (tasks/NAME/keys.c) in
// a recipe_table, which tasks/recipe_tables.c registers. The model's name tells which table a recipe uses.
#ifndef DAWN_RECIPE_KEYS_H
#define DAWN_RECIPE_KEYS_H

#include "runtime/base/text.h"
#include "tasks/recipe/recipe.h"

#include <jansson.h>
#include <stddef.h>

enum recipe_kind { KEY_TEXT, KEY_NUMBER, KEY_WHOLE, KEY_CHOICE, KEY_LIST };

// Rules of the optimiser, for recipe_key.rules.
enum {
    FOR_MUON = 1 << OPTIMISER_MUON,
    FOR_SGD = 1 << OPTIMISER_SGD,
    FOR_ADAM = 1 << OPTIMISER_ADAMW | 1 << OPTIMISER_ADAMAX,
};

struct recipe_key {
    const char *path;             // its sections and its name: "optimiser.filters.lr"
    const char *old;              // its name in the flat form, short on the command line; NULL: younger than that form
    enum recipe_kind kind;
    size_t offset;                // in struct recipe: RECIPE_AT, RECIPE_OWN
    double low, high;             // of a number, or of each of a list
    const char *const *choices;   // KEY_CHOICE; NULL-terminated, in the order of the enum
    // The default, as --set takes it. It never changes, because canonical forms leave it out. For a new key it is the
    // value at which the program behaves as it did before.
    const char *absent;
    const char *about;            // its meaning, in one clause
    unsigned rules;               // optimisers it applies to; 0: all
    unsigned part;                // bit of the part that the model must have; 0: every model
    const char *like;             // flat form: a value equal to that key's may stand where this key does not apply
};
#define RECIPE_AT(field) offsetof(struct recipe, field)
#define RECIPE_OWN(number, member) (offsetof(struct recipe, own) + (number) * sizeof(union recipe_own))

struct recipe_model {
    const char *name;
    unsigned parts;  // bits of recipe_table.parts
};

struct recipe_table {
    const char *task;
    const char *also;                   // another task that trains these models by these keys; NULL: none
    const struct recipe_model *models;  // ends with name NULL
    const struct recipe_key *keys;      // ends with path NULL
    const char *const *parts;           // what bit i means, as in "resnet9 has no ..."; NULL: no key needs a part
    int (*check)(const char *where, const struct recipe *);  // rules that involve several keys; may be NULL
};
extern const struct recipe_table *const recipe_tables[];  // ends with NULL

enum { RECIPE_KEYS_MAX = 128 };
const struct recipe_table *recipe_table_of(const char *model);  // NULL: no task has such a model
int recipe_find_table(const char *where, const char *model, const struct recipe_table **) MUST_CHECK;

// All keys of a table, the common ones too, sections together. Returns how many.
int recipe_keys(const struct recipe_table *, const struct recipe_key *into[RECIPE_KEYS_MAX]);
int recipe_keys_applying(const struct recipe *, const struct recipe_key *into[RECIPE_KEYS_MAX]);
// By path, by old name, or by the end of a path ("filters.lr") if no other path ends so.
int recipe_find_key(const char *where, const struct recipe_table *, const char *name, const struct recipe_key **) MUST_CHECK;
bool recipe_is_section(const struct recipe_table *, const char *path);
int recipe_no_section(const char *where, const struct recipe_table *, const char *path);  // fails with the sentence

bool recipe_applies(const struct recipe *, const struct recipe_key *);
int recipe_refuse(const char *where, const struct recipe *, const struct recipe_key *);  // fails, saying why it does not apply

// ---- values (recipe_values.c)

// Every key of the table at its default.
void recipe_defaults(const struct recipe_table *, struct recipe *);
// Sets one key, without asking whether it applies. `name` is what the user called it.
int recipe_set_value(const char *where, const char *name, struct recipe *, const struct recipe_key *, const json_t *) MUST_CHECK;
json_t *recipe_value_from_text(const struct recipe_key *, const char *text);  // as --set takes it: "24,28,32", ".5"
void recipe_add_value(struct text *, const struct recipe *, const struct recipe_key *, bool json);  // else as --set takes it
bool recipe_is_default(const struct recipe *, const struct recipe_key *);
// What a key may be, for people: "0.01 to 10000", "linear or cosine".
void recipe_add_range(struct text *, const struct recipe_key *);

#endif
