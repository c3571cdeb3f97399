// SPDX-License-Identifier: Apache-2.0
// A model: one row in the table of its task (NAME_networks.c), which recipes, graphs and samples read. Recipes name it.
#pragma once

#include <stdbool.h>

struct step;
struct setting;
struct session;
struct dataset;
struct task_program;

enum { MODEL_VALUES = 4 };
struct model {
    const char *name, *about;
    const char *recipe;  // the model's default recipe; NULL: the data set's
    unsigned parts;      // bits of recipe_table.parts: keys of other parts do not apply
    bool half;           // published in f16: "auto" selects it where f16 is fast and bf16, which has the range of f32, is not
    // The task defines the inputs and the outputs, which are graph values.
    void (*forward)(struct step *, const int in[MODEL_VALUES], int out[MODEL_VALUES]);
    const struct task_program *programs;  // NULL: the task's
    // Fills slots that are computed from the data (INIT_UPLOAD) before the first step. NULL: none.
    int (*begin)(const struct setting *, struct session *, struct dataset *);
    // For weights of another program (--weights): prefixes of its tensor names that the model's names lack ("bert."), and
    // the model's parameters that may be missing because they start from random values (a head: all names that begin with "fc.").
    // Both lists end with NULL; NULL: none.
    const char *const *prefixes, *const *fresh;
    const char *inside;  // a prefix of the model's names that its tensors' may lack ("backbone."); NULL: none
    const char *const (*older)[2];  // beginnings of its names, and what older files have instead; ends with NULL; NULL: none
    const void *own;     // what else the task keeps per model, such as the way to its samples; NULL: nothing
};
