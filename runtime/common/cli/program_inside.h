// SPDX-License-Identifier: Apache-2.0
// The parts of a program's "help" that need its tables: man pages and completion.
#pragma once

#include "runtime/common/cli/program.h"

#include <string.h>

// Finds the command of that name in a table that ends with name NULL; NULL: there is none.
static inline const struct program_command *program_find(const struct program_command *commands, const char *name)
{
    for (const struct program_command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

// The sub-commands of a command that have tables of their own, or NULL.
static inline const struct program_command *program_subs(const struct program *program, const char *command)
{
    for (const struct program_group *g = program->groups; g != NULL && g->name != NULL; g++)
        if (strcmp(g->name, command) == 0) return g->subs;
    return NULL;
}

// The man page of a command that there is, or of the program (NULL).
int program_man(const struct program *, const char *command, struct text *into) MUST_CHECK;
// One candidate per line: the word, a tab, its explanation. The lines ":files" and ":folders" ask the shell for its own.
int program_complete(const struct program *, int argc, char **argv, struct text *into) MUST_CHECK;
