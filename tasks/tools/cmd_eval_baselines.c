// SPDX-License-Identifier: Apache-2.0
// dawn eval baselines: what counting alone scores on a task's data, so that a score can be judged.
#include <stdio.h>
#include <string.h>

#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/program.h"
#include "submit/format/score/contest.h"
#include "tasks/commands.h"
#include "tasks/tools/choose.h"

static int check_task(const struct task *task)
{
    const char *names[16] = {0};
    int count = 0;
    for (int i = 0; task_at(i) && count < 15; i++)
        if (task_at(i)->baselines) names[count++] = task_at(i)->name;
    struct text known = {0};
    text_list(&known, names, count, " and ");
    int rc = task->baselines ? 0 : fail(ERR_USAGE, "nothing is counted for %s; %s have baselines", task->name, known.at);
    text_free(&known);
    return rc;
}

static json_t *row_json(const char *name, const struct metric *m, const struct baseline *b)
{
    return json_pack("{ss ss ss sf}", "baseline", b->what, "metric", name, "unit", m->unit, "score", b->score);
}

static int count_and_print(const struct chosen *c, struct dataset *stored, bool json)
{
    struct setting setting = {.task = c->task, .recipe = &c->recipe, .data = dataset_facts(stored), .files = c->files};
    struct dataset *view = NULL;
    struct baseline row[BASELINES_MAX];
    TRY(task_find_model(c->task, c->recipe.model, &setting.model));
    if (c->task->view) TRY(c->task->view(&setting, stored, &view));
    if (view) setting.data = dataset_facts(view);
    program_status("counting for %s", c->task->name);
    int count = c->task->baselines(&setting, stored, view, row);
    program_status_end();
    json_t *rows = json_array();
    for (int i = 0; i < count; i++) {
        const struct metric *m = &c->task->metrics[row[i].metric];
        const char *name = task_metric_name(c->task, row[i].metric, dataset_facts(stored)->synthetic);
        if (json) json_text_row(&rows, row_json(name, m, &row[i]));
        else printf("%8.4f %s %s: %s\n", row[i].score, *m->unit ? m->unit : " ", contest_metric_title(name), row[i].what);
    }
    if (count >= 0 && json) count = json_text_print(rows);
    else json_decref(rows);
    dataset_close(view);
    return count < 0 ? count : 0;
}

int cmd_eval_baselines(int argc, char **argv)
{
    struct choose choose_from = {0};
    struct chosen chosen;
    struct dataset *data;
    bool json = false;
    const struct option options[] = {
        CHOOSE_WHAT(choose_from),
        CHOOSE_FILES(choose_from.files),
        {OPTION_FLAG, 'j', "json", NULL, "one JSON array instead of text", &json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {"eval baselines", "TASK [OPTIONS]",
                                "Scores counting in the training data, without learning: the most frequent answer, tables "
                                "of the characters that follow others. A network is worth what it scores beyond that.", options,
                                "Example:\n  dawn eval baselines gpt-char\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc != 2) return fail(ERR_USAGE, "expected one task, such as gpt-char");
    TRY(choose(&choose_from, argv[1], &chosen));
    TRY(check_task(chosen.task));
    TRY(dataset_open(chosen.data_name, chosen.data_folder, &data));
    rc = count_and_print(&chosen, data, json);
    dataset_close(data);
    return rc;
}
