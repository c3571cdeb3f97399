// SPDX-License-Identifier: Apache-2.0
// dawn train: until the target is reached.
#include "tasks/choose.h"
#include "tasks/commands.h"
#include "tasks/train/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct arguments {
    struct choose choose;
    double target, cost;
    int64_t runs, seed;
    bool stop, json, quiet;
    const char *database, *save, *instance;
};

static int check_target(double target)
{
    if (target >= 2 && target <= 100)
        return fail(ERR_USAGE, "--target is a share: %g would be written %g", target, target / 100);
    if (!(target > 0 && target <= 1)) return fail(ERR_USAGE, "--target lies between 0 and 1, not at %g", target);
    return 0;
}

static int run(const struct arguments *a, const char *name)
{
    struct chosen chosen = {0};
    struct price price;
    bool known;
    TRY(choose(&a->choose, name, &chosen));
    double target = isnan(a->target) ? chosen.task->target : a->target;
    TRY(check_target(target));
    if (a->choose.device && !strcmp(a->choose.device, "null"))
        return fail(ERR_USAGE, "the null device computes nothing, so nothing can be trained on it (dawn plan shows its plan)");
    if (a->runs > 1 && a->save && *a->save) return fail(ERR_USAGE, "--save names one file; a group writes one for each run");
    TRY(price_choose(a->instance, a->cost, &price, &known));
    struct train_options o = {
        .task = chosen.task, .recipe = chosen.recipe, .data_name = chosen.data_name, .data_folder = chosen.data_folder,
        .device = a->choose.device, .threads = (int)a->choose.threads, .target = target, .stop = a->stop, .runs = a->runs,
        .seed = a->seed, .database = a->database, .save = a->save, .price = known ? &price : NULL,
        .progress = a->json ? PROGRESS_JSON : a->quiet ? PROGRESS_QUIET : PROGRESS_AUTO,
    };
    return train(&o);
}

int cmd_train(int argc, char **argv)
{
    struct arguments a = {.target = NAN, .cost = NAN, .runs = 1, .seed = 1, .stop = true};
    const struct option options[] = {
        {OPTION_FLOAT, 't', "target", "SHARE", "accuracy to reach, 0 to 1; the board's when not given", &a.target, 0, 0},
        CHOOSE_OPTIONS(a.choose),
        {OPTION_INT, 's', "seed", "N", "decides weights, order and augmentation", &a.seed, 0, 1e15},
        {OPTION_INT, 'n', "runs", "N", "a group: N runs with seeds from --seed on, each to its end", &a.runs, 1, 1000},
        {OPTION_FLAG, 0, "stop", NULL, "stop at the first evaluation that meets the target", &a.stop, 0, 0},
        {OPTION_TEXT, 0, "db", "FILE", "where the record goes ($DAWN_RESULTS, else results.db)", &a.database, 0, 0},
        {OPTION_TEXT, 0, "save", "FILE", "where the weights go; \"\": nowhere (run-N.safetensors)", &a.save, 0, 0},
        {OPTION_FLOAT, 0, "cost-per-hour", "USD", "price of this machine", &a.cost, 0, 0},
        {OPTION_TEXT, 0, "instance", "NAME", "its price from the dated table", &a.instance, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object a line instead of text", &a.json, 0, 0},
        {OPTION_FLAG, 'q', "quiet", NULL, "print nothing", &a.quiet, 0, 0},
        {0},
    };
    const struct usage usage = {
        "train", "TASK [OPTIONS]", "Trains until the target is reached and records the run in results.db.", options,
        "Exit status: 0 reached, 3 missed, 130 interrupted, 2 wrong usage, 1 failed.\n"
        "Examples:\n"
        "  dawn train cifar10 --target 0.94\n"
        "  dawn train cifar10 --data synthetic\n"
        "  dawn train cifar10 --runs 5 --no-stop\n"
        "  dawn train cifar10 --recipe airbench94 --set epochs=9\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc) return rc > 0 ? 0 : rc;
    if (argc != 2) return fail(ERR_USAGE, "wants one task, such as cifar10");
    return run(&a, argv[1]);
}
