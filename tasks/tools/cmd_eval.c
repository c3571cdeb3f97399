// SPDX-License-Identifier: Apache-2.0
// dawn eval: scores the predictions of any program by the published evaluation of a task.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/read/squad/squad.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/options.h"
#include "tasks/commands.h"
#include "tasks/squad/predictions.h"

static bool as_json;
static const struct option OPTIONS[] = {
    {OPTION_FLAG, 'j', "json", NULL, "print what evaluate-v1.1.py prints: {\"exact_match\": 80.8, \"f1\": 88.1}", &as_json, 0, 0},
    {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
};
static const struct usage USAGE = {
    "eval", "squad|bleu FILE PREDICTIONS [OPTIONS]",
    "\"bleu\" scores translations; \"dawn eval bleu -h\" tells more. "
    "\"squad\" scores answers to the questions of SQuAD 1.1 as its published evaluation does: F1 of the words shared with "
    "the best of a question's answers, and exact matches, both in percent of all questions. FILE is dev-v1.1.json, or any file "
    "of that form; PREDICTIONS is {\"ID\": \"TEXT\", ...}. A question without a prediction scores 0.",
    OPTIONS,
    "Example:\n  dawn eval squad dev-v1.1.json predictions.json\n",
};

// The shortest digits that parse to the number, as Python prints it.
static const char *shortest(double value, char into[32])
{
    for (int digits = 3; digits <= 17; digits++) {
        snprintf(into, 32, "%.*g", digits, value);
        if (strtod(into, NULL) == value) break;
    }
    if (strpbrk(into, ".e") == NULL) strcat(into, ".0");
    return into;
}

static void print_scores(const struct evaluate_total *total, const struct squad *squad, int64_t predictions)
{
    char f1[32], exact[32], figure[TEXT_FIGURE];
    if (as_json) {
        printf("{\"exact_match\": %s, \"f1\": %s}\n", shortest(evaluate_exact(total), exact), shortest(evaluate_f1(total), f1));
        return;
    }
    printf("F1           %.4f%%\n", evaluate_f1(total));
    printf("exact match  %.4f%%  (%s", evaluate_exact(total), text_count(figure, total->exact));
    printf(" of %s questions)\n", text_count(figure, total->questions));
    if (total->missing > 0) printf("%s have no prediction and score 0\n", text_count(figure, total->missing));
    int64_t strange = predictions - (total->questions - total->missing);
    if (strange > 0)
        printf("%s prediction%s no question of the file\n", text_count(figure, strange),
               strange == 1 ? " belongs to" : "s belong to");
    if (squad->lost > 0)
        printf("%s answer%s in %s context, which does not change the scores; the first: %s\n", text_count(figure, squad->lost),
               squad->lost == 1 ? " is not" : "s are not", squad->lost == 1 ? "its" : "their", squad->lost_first);
}

static int evaluate_files(const char *file, const char *path)
{
    struct squad squad;
    struct arena arena = {0};
    struct predictions *predictions = NULL;
    int rc = squad_read_file(file, &arena, &squad);
    if (rc == 0) rc = predictions_open(path, &predictions);
    if (rc == 0) {
        struct evaluate_total total = predictions_score(predictions, &squad);
        print_scores(&total, &squad, predictions_count(predictions));
    }
    predictions_free(predictions);
    arena_free(&arena);
    return rc;
}

int cmd_eval(int argc, char **argv)
{
    static const char *const tasks[] = {"squad", "bleu", NULL};
    if (argc > 1 && !strcmp(argv[1], "bleu")) return cmd_eval_bleu(argc - 1, argv + 1);
    as_json = false;
    int rc = options_parse(&USAGE, &argc, argv);
    if (rc != 0) return rc == OPTIONS_HELPED ? 0 : rc;
    if (argc < 2) return fail(ERR_USAGE, "expected a task with predictions to score, squad or bleu");
    if (strcmp(argv[1], tasks[0]) != 0) return fail_unknown(ERR_USAGE, "evaluation", argv[1], tasks, NULL);
    if (argc < 4) return fail(ERR_USAGE, "expected a file of questions and a file of predictions");
    if (argc > 4) return fail(ERR_USAGE, "eval does not take \"%.60s\"", argv[4]);
    return evaluate_files(argv[2], argv[3]);
}
