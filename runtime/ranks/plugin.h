// SPDX-License-Identifier: Apache-2.0
// The functions of the plug-in. Each returns 0 or an error number of MPI, which `error_text` explains.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct ranks_world {
    int rank, size, local, locals, leader, machines;
    char library[96];
};

enum { RANKS_PLUGIN = 1 };  // the version of this struct
struct ranks_plugin {
    int version;
    int (*open)(struct ranks_world *);
    int (*gather)(const void *mine, size_t bytes, void *all);
    int (*exchange)(const void *from, void *to, size_t each);  // part r of `from` becomes part `rank` of `to` on rank r
    int (*broadcast)(void *at, size_t bytes, int from);
    int (*most_begin)(int *mine);  // stays in use until most_end
    int (*most_end)(int *most);
    int (*arrive)(void);           // says to the others that this rank ends
    int (*arrived)(bool *all);     // true if all ranks have called arrive()
    int (*close)(void);
    void (*end_all)(int status);
    void (*error_text)(int error, char *into, size_t capacity);
};

#define RANKS_PLUGIN_NAME "dawn_ranks_plugin"
extern const struct ranks_plugin dawn_ranks_plugin;
