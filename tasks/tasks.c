// SPDX-License-Identifier: Apache-2.0
#include "tasks/tasks.h"

#include "runtime/common/base/text.h"
#include "tasks/cifar10/cifar10.h"
#include "tasks/imagenet/imagenet.h"
#include "tasks/squad/squad.h"

enum { TASKS_MAX = 16 };
const struct task *const task_table[] = {&task_cifar10,    &task_imagenet, &task_imagenette, &task_squad,
                                         &task_squad_split, NULL};

int task_find(const char *name, const struct task **into)
{
    const char *names[TASKS_MAX + 1] = {0};
    for (int i = 0; task_table[i]; i++) {
        BUG_IF(i == TASKS_MAX);
        names[i] = task_table[i]->name;
        if (!strcmp(names[i], name)) {
            *into = task_table[i];
            return 0;
        }
    }
    return fail_unknown(ERR_USAGE, "task", name, names, NULL);
}

int task_wanted(const char *more)
{
    const char *names[TASKS_MAX + 1] = {0};
    int count = 0;
    struct text list = {0};
    while (task_table[count]) names[count] = task_table[count]->name, count++;
    text_list(&list, names, count, " or ");
    int rc = fail(ERR_USAGE, "expected one task (%s)%s", list.at, more);
    text_free(&list);
    return rc;
}
