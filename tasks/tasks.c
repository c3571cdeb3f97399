// SPDX-License-Identifier: Apache-2.0
#include "tasks/tasks.h"

#include "runtime/base/text.h"
#include "tasks/cifar10/cifar10.h"

const struct task *const task_table[] = {&task_cifar10, NULL};

int task_find(const char *name, const struct task **into)
{
    const char *names[16] = {0};
    for (int i = 0; task_table[i]; i++) {
        names[i] = task_table[i]->name;
        if (!strcmp(names[i], name)) {
            *into = task_table[i];
            return 0;
        }
    }
    const char *near = text_nearest(name, names);
    return near ? fail(ERR_USAGE, "there is no task \"%.60s\"; did you mean \"%s\"?", name, near)
                : fail(ERR_USAGE, "there is no task \"%.60s\"; there is cifar10", name);
}
