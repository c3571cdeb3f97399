// SPDX-License-Identifier: Apache-2.0
// Libraries are never unloaded: their threads and exit handlers would outlive their code.
#include "runtime/cuda/cuda_library.h"

#include <dlfcn.h>
#include <string.h>

static void *open_first(const struct cuda_library *l)
{
    for (int i = 0; l->files[i]; i++) {
        void *handle = dlopen(l->files[i], RTLD_NOW | RTLD_LOCAL);
        if (handle) return handle;
    }
    return NULL;
}

int cuda_library_load(const struct cuda_library *l, void *into)
{
    int count = 0;
    while (l->functions[count]) count++;
    memset(into, 0, (size_t)count * sizeof(void *));
    void *handle = open_first(l);
    if (!handle) {
        const char *why = dlerror();
        return fail(ERR_MISSING, "%s cannot be loaded (%s); install %s", l->title, why ? why : l->files[0], l->package);
    }
    for (int i = 0; i < count; i++) {
        void *function = dlsym(handle, l->functions[i]);
        if (!function) {
            memset(into, 0, (size_t)count * sizeof(void *));
            return fail(ERR_MISSING, "the installed %s has no function %s: its version is wrong; install %s", l->title,
                        l->functions[i], l->package);
        }
        memcpy((char *)into + (size_t)i * sizeof function, &function, sizeof function);
    }
    return 0;
}
