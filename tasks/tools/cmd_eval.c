// SPDX-License-Identifier: Apache-2.0
// dawn eval: scores the predictions of any program by the published evaluation of a task.
#include <stdio.h>
#include <string.h>

#include "runtime/common/base/text.h"
#include "runtime/common/cli/options.h"
#include "runtime/common/cli/program.h"
#include "tasks/commands.h"
#include "tasks/tasks.h"

// Evaluations of files that belong to no task.
static const struct {
    const char *name;
    int (*command)(int argc, char **argv);
} metrics[] = {{"bleu", cmd_eval_bleu}, {"coco", cmd_eval_coco}, {"wer", cmd_eval_wer}, {"frechet", cmd_eval_frechet},
             {"baselines", cmd_eval_baselines}};
enum { METRICS = sizeof metrics / sizeof *metrics };

static int find_judge(const char *name, const struct judge **judge)
{
    enum { MOST = 64 };
    const char *names[MOST + METRICS + 1] = {0};
    int count = 0;
    for (int i = 0; task_at(i) && count < MOST; i++) {
        *judge = task_at(i)->judge;
        if (!*judge || !(*judge)->evaluate) continue;
        if (strcmp(task_at(i)->name, name) == 0) return 0;
        names[count++] = task_at(i)->name;
    }
    for (size_t i = 0; i < METRICS; i++) names[count++] = metrics[i].name;
    return fail_unknown(ERR_USAGE, "evaluation", name, names, NULL);
}

int cmd_eval(int argc, char **argv)
{
    for (size_t i = 0; i < METRICS && argc > 1; i++)
        if (!strcmp(argv[1], metrics[i].name)) return metrics[i].command(argc - 1, argv + 1);
    bool json = false;
    const struct option options[] = {
        {OPTION_FLAG, 'j', "json", NULL, "print the JSON of the published evaluation", &json, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    struct text about = {0}, scores = {0};
    const struct judge *judge = NULL;
    text_add(&about, "Scores the answers of any program as the published evaluation of a task does.");
    for (int i = 0; task_at(i); i++) {
        judge = task_at(i)->judge;
        bool again = i > 0 && judge == task_at(i - 1)->judge;
        if (judge && judge->evaluate && !again) text_add(&about, "\n\n%s: %s", task_at(i)->name, judge->files);
    }
    text_add(&about, "\n\nbleu: translations, coco: boxes or masks, wer: transcripts, frechet: features of made "
                     "samples, baselines: what counting alone scores; \"dawn eval bleu -h\" and so on say more.");
    const struct usage usage = {"eval", "TASK TRUTH ANSWERS [OPTIONS]", about.at, options,
                                "Example:\n  dawn eval squad dev-v1.1.json predictions.json\n"};
    int rc = options_parse(&usage, &argc, argv);
    text_free(&about);
    if (rc != 0) return rc;
    if (argc < 2)
        return fail(ERR_USAGE, "expected a task whose answers are to be scored, squad, bleu, coco, wer, frechet or baselines");
    TRY(find_judge(argv[1], &judge));
    if (argc < 4) return fail(ERR_USAGE, "expected two files, TRUTH and ANSWERS: \"dawn eval -h\" says which");
    if (argc > 4) return fail(ERR_USAGE, "eval does not take \"%.60s\"", argv[4]);
    program_status("scoring %s", argv[3]);
    rc = judge->evaluate(argv[2], argv[3], json, &scores);
    program_status_end();
    if (rc == 0) fputs(scores.at, stdout);
    text_free(&scores);
    return rc;
}
