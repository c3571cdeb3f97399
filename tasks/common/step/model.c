// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/base/text.h"
#include "tasks/common/step/task.h"

int model_find(const struct task *task, const char *name, const struct model **into)
{
    enum { MOST = 64 };
    const char *names[MOST + 1] = {0};
    for (int i = 0; task->models[i].name; i++) {
        BUG_IF(i == MOST);
        names[i] = task->models[i].name;
        if (!strcmp(names[i], name)) {
            *into = &task->models[i];
            return 0;
        }
    }
    fail_unknown(ERR_USAGE, "model", name, names, "\"dawn models\" lists them");
    return fail_prefix(ERR_USAGE, "%s: ", task->title);
}
