// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/task_files.h"

#include "runtime/common/base/file.h"

const char *task_files_name(int number)
{
    static const char *const names[TASK_FILES] = {"weights", "vocab", "vectors"};
    return names[number];
}

const char *task_files_path(const struct task_files *f, int number)
{
    const char *const paths[TASK_FILES] = {f->weights, f->vocab, f->vectors};
    return paths[number];
}

int task_files_check(const struct task_files *f, const char *task, unsigned takes)
{
    for (int i = 0; i < TASK_FILES; i++) {
        const char *path = task_files_path(f, i), *name = task_files_name(i);
        if (!path) continue;
        if (!(takes >> i & 1)) return fail(ERR_USAGE, "--%s: task %s does not use such a file", name, task);
        if (!file_exists(path)) return fail(ERR_MISSING, "--%s: there is no file %s", name, path);
    }
    return 0;
}

bool task_files_any(const struct task_files *f)
{
    return f->weights || f->vocab || f->vectors;
}
