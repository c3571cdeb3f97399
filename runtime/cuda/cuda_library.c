// SPDX-License-Identifier: Apache-2.0
// Libraries are never unloaded: their threads and exit handlers would outlive their code.
#include "runtime/cuda/cuda_library.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The folders of CUDA's libraries if the loader does not find them: toolkits, and the packages of Python. Of a pattern, the last
// name in the order of text is tried first. A folder that begins with a variable's name is skipped if the variable is not set.
static const struct {
    const char *variable, *pattern;
} places[] = {
    {"CUDA_HOME", "%s/lib64/"},
    {"VIRTUAL_ENV", "%s/lib/python3*/site-packages/nvidia/*/lib/"},
    {"CONDA_PREFIX", "%s/lib/"},
    {"CONDA_PREFIX", "%s/lib/python3*/site-packages/nvidia/*/lib/"},
    {NULL, "/usr/local/cuda/lib64/"},
    {NULL, "/usr/local/cuda-*/lib64/"},
    {NULL, "/usr/local/nvidia/lib64/"},
    {NULL, "/usr/local/lib/python3*/*-packages/nvidia/*/lib/"},
    {NULL, "/usr/lib/python3*/*-packages/nvidia/*/lib/"},
    {NULL, "/opt/*/lib/python3*/site-packages/nvidia/*/lib/"},
    {NULL, "/opt/*/.venv/lib/python3*/site-packages/nvidia/*/lib/"},
    {"HOME", "%s/.local/lib/python3*/site-packages/nvidia/*/lib/"},
};

static void *open_in(const char *pattern, const char *file)
{
    char path[1024];
    glob_t found;
    void *handle = NULL;
    if (snprintf(path, sizeof path, "%s%s", pattern, file) >= (int)sizeof path || glob(path, 0, NULL, &found) != 0) return NULL;
    for (size_t i = found.gl_pathc; i-- > 0 && !handle;) handle = dlopen(found.gl_pathv[i], RTLD_NOW | RTLD_LOCAL);
    globfree(&found);
    return handle;
}

static void *look_for(const char *file)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char pattern[512];
        const char *value = places[i].variable ? getenv(places[i].variable) : NULL;
        if (places[i].variable && (!value || !*value)) continue;
        int length = value ? snprintf(pattern, sizeof pattern, places[i].pattern, value)
                           : snprintf(pattern, sizeof pattern, "%s", places[i].pattern);
        void *handle = length < (int)sizeof pattern ? open_in(pattern, file) : NULL;
        if (handle) return handle;
    }
    return NULL;
}

static void *open_first(const struct cuda_library *l)
{
    for (int i = 0; l->files[i]; i++) {
        void *handle = dlopen(l->files[i], RTLD_NOW | RTLD_LOCAL);
        if (!handle) handle = look_for(l->files[i]);
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
