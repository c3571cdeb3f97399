// SPDX-License-Identifier: Apache-2.0
#include "tasks/tasks.h"

#include "runtime/common/base/text.h"
enum { TASKS_MAX = 64 };

const struct task *task_at(int i)
{
    for (int f = 0; task_folders[f]; f++)
        for (const struct task *const *t = task_folders[f]; *t; t++)
            if (i-- == 0) return *t;
    return NULL;
}

static int list_tasks(const char *names[TASKS_MAX + 1])
{
    int count = 0;
    for (const struct task *t; (t = task_at(count)); names[count++] = t->name) BUG_IF(count == TASKS_MAX);
    return count;
}

int task_find(const char *name, const struct task **into)
{
    const char *names[TASKS_MAX + 1] = {0};
    for (int i = 0; (*into = task_at(i)); i++)
        if (!strcmp((*into)->name, name)) return 0;
    list_tasks(names);
    return fail_unknown(ERR_USAGE, "task", name, names, "\"dawn models\" lists them");
}

int task_wanted(const char *more)
{
    const char *names[TASKS_MAX + 1] = {0};
    struct text list = {0};
    text_list(&list, names, list_tasks(names), " or ");
    int rc = fail(ERR_USAGE, "expected one task (%s)%s", list.at, more);
    text_free(&list);
    return rc;
}
