// SPDX-License-Identifier: Apache-2.0
#include "runtime/common/base/text.h"
#include "tasks/common/step/task.h"

int task_find_model(const struct task *task, const char *name, const struct model **into)
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

const struct task_feed *task_feed(const struct task *task, int feed)
{
    static const struct task_feed usual[] = {{"train", SPLIT_TRAIN, ORDER_SHUFFLED}, {"test", SPLIT_TEST, ORDER_FILE}, {0}};
    const struct task_feed *feeds = task->feeds ? task->feeds : usual;
    for (int i = 0; feeds[i].name; i++)
        if (i == feed) return &feeds[i];
    return NULL;
}

const struct task_program *task_program(const struct setting *c, int program)
{
    const struct task_program *p = c->model->programs ? c->model->programs : c->task->programs;
    for (int i = 0; p[i].name; i++)
        if (i == program) return &p[i];
    return NULL;
}

int task_find_program(const struct setting *c, enum program_kind kind)
{
    const struct task_program *p;
    for (int i = 0; (p = task_program(c, i)); i++)
        if (p->kind == kind && p->feed != FEED_NONE) return i;
    return kind == PROGRAM_INFER ? task_find_program(c, PROGRAM_EVALUATE) : NONE;
}
