// SPDX-License-Identifier: Apache-2.0
// dawn train: trains until the target is reached and records the run.
#include "runtime/common/cli/program.h"
#include "runtime/common/base/file.h"
#include "runtime/ranks/ranks.h"
#include "tasks/tools/choose.h"
#include "tasks/commands.h"
#include "tasks/tools/cmd_finish.h"
#include "tasks/tools/show/cmd_chain.h"
#include "submit/results/record.h"
#include "tasks/common/train/train.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct arguments {
    struct choose choose;
    double target, cost, warm_up;
    int64_t runs, seed;
    bool whole, json, quiet;
    const char *database, *save, *instance, *pace, *resume, *ticket;
    struct run_labels labels;
    struct option_list tags;
};

static enum progress_mode progress_of(const struct arguments *a)
{
    return a->json ? PROGRESS_JSON : a->quiet ? PROGRESS_QUIET : PROGRESS_AUTO;
}

static int open_run(const struct arguments *a, enum results_mode mode, struct resume *from)
{
    struct results *results;
    if (!file_exists(results_path(a->database)))  // opening a missing file to write would create it
        return fail(ERR_MISSING, "there is no %s, so there is no run to resume", results_path(a->database));
    TRY(results_open(a->database, mode, &results));
    int64_t run;
    int rc = strcmp(a->resume, "last") ? cmd_chain_find(results, a->resume, &run) : resume_last(results, &run);
    if (rc == 0) rc = resume_open(results, run, from);
    results_close(results);
    return rc;
}

// The first process opens the record to write: a run whose process is gone is then marked as interrupted. The others read it.
static int open_run_together(const struct arguments *a, struct resume *from)
{
    bool first = ranks_rank() == 0;
    TRY(ranks_agree(first ? open_run(a, RESULTS_WRITE, from) : 0));
    return ranks_agree(first ? 0 : open_run(a, RESULTS_READ, from));
}

// Copies all options except the folder of the data and the pace, which the command line may set.
static int take_options(const struct resume *from, struct train_options *o)
{
    const struct state_facts *f = state_facts(from->state);
    const struct resume_note *note = &from->note;
    TRY(task_find(f->task, &o->task));
    TRY(recipe_parse("the recipe of the state", f->recipe, strlen(f->recipe), &o->recipe));
    o->data_name = f->data;
    if (!o->data_folder) o->data_folder = note->folder;
    if (!o->pace.steps && !o->pace.ns) o->pace = note->pace;
    o->device = *note->device ? note->device : f->device;
    o->threads = (int)f->threads;
    o->target = (double)from->target_micro * 1e-6;
    o->seed = (int64_t)f->seed;
    o->runs = 1, o->stop = from->stop, o->save = note->save, o->files = note->files;
    o->price = from->priced ? &from->price : NULL;
    return 0;
}

// The options of a training come from the run. Other options would be ignored, so they are refused.
static int resume_run(const struct arguments *a)
{
    const struct choose *c = &a->choose;
    if (c->recipe || c->oversubscribe || c->model || c->precision || c->device || c->set.count || c->batch || c->threads ||
        a->runs != 1 || a->seed != 1 || !isnan(a->target) || !isnan(a->cost) || a->instance || a->save || a->whole ||
        a->warm_up > 0 || task_files_any(&c->files) || a->ticket || a->labels.name || a->labels.note || a->tags.count)
        return fail(ERR_USAGE, "a resumed run keeps its task, options and place: --resume takes only --data FOLDER, --db, "
                               "--checkpoint-every, --json and --quiet");
    struct resume from = {0};
    struct train_options o = {.data_folder = c->data, .database = a->database, .progress = progress_of(a), .resume = &from};
    if (a->pace) TRY(resume_pace_read(a->pace, &o.pace));
    TRY(open_run_together(a, &from));
    int rc = take_options(&from, &o);
    if (rc == 0) rc = train(&o);
    resume_close(&from);
    return rc;
}

// The seed of an announced run comes from its ticket: a seed of one's own could have been tried before.
static int train_announced(const struct arguments *a, const struct announce_type *type, struct train_options *o)
{
    if (!a->ticket) return train(o);
    if (a->seed != 1) return fail(ERR_USAGE, "--seed cannot be chosen with --ticket: the ticket gives the seed");
    TRY(type->open(a->ticket, &o->announcer));
    o->announce = type;
    int rc = train(o);
    type->close(o->announcer);
    return rc;
}

static int train_task(const struct arguments *a, const char *name, const struct announce_type *type)
{
    struct chosen chosen = {0};
    struct price price;
    bool known;
    TRY(choose(&a->choose, name, &chosen));
    double target;
    TRY(choose_target(chosen.task, a->target, &target));
    if (a->choose.device && !strcmp(a->choose.device, "null"))
        return fail(ERR_USAGE, "the null device computes nothing and cannot train (\"dawn plan\" works on it)");
    if (a->runs > 1 && a->save && *a->save) return fail(ERR_USAGE, "--save names one file, but a group writes one for each run");
    // What host code plays or draws in a step is not undone by a reset, and processes would end at different steps.
    if (a->warm_up > 0 && (chosen.task->host || ranks_size() > 1))
        return fail(ERR_USAGE, "--warm-up is for one process, and for tasks whose steps the device computes alone");
    TRY(price_choose(a->instance, a->cost, &price, &known));
    struct resume_pace pace = {0};
    if (a->pace && a->runs > 1) return fail(ERR_USAGE, "--checkpoint-every is for one run: a run of a group cannot be resumed");
    if (a->pace) TRY(resume_pace_read(a->pace, &pace));
    // Each process takes one slice, if the recipe does not say how many there are.
    if (ranks_size() > 1 && chosen.recipe.slices == 1) chosen.recipe.slices = ranks_size();
    struct train_options o = {
        .task = chosen.task, .recipe = chosen.recipe, .data_name = chosen.data_name, .data_folder = chosen.data_folder,
        .files = chosen.files, .device = a->choose.device,
        .threads = (int)a->choose.threads, .target = target, .stop = !a->whole, .runs = a->runs,
        .seed = a->seed, .warm_up = a->warm_up, .database = a->database, .save = a->save, .price = known ? &price : NULL,
        .pace = pace, .progress = progress_of(a), .labels = a->labels,
    };
    return train_announced(a, type, &o);
}

static int run_command(int argc, char **argv, const struct announce_type *type)
{
    struct arguments a = {.target = NAN, .cost = NAN, .runs = 1, .seed = 1};
    const struct option options[] = {
        {OPTION_FLOAT, 't', "target", "SCORE", "score to reach; default: the board's", &a.target, 0, 0},
        CHOOSE_OPTIONS(a.choose),
        {OPTION_INT, 's', "seed", "N", "seed of weights, order and augmentation", &a.seed, 0, 1e15},
        {OPTION_INT, 'n', "runs", "N", "a group: N runs with seeds from --seed on, each to its end", &a.runs, 1, 1000},
        {OPTION_FLOAT, 0, "warm-up", "SECONDS", "steps before the reset, so that a GPU has raised its clocks", &a.warm_up, 0, 60},
        {OPTION_FLAG, 0, "no-stop", NULL, "train on to the end of the schedule after the target is met", &a.whole, 0, 0},
        {OPTION_PATH, 0, "db", "FILE", "the record (default: $DAWN_RESULTS, else results.db)", &a.database, 0, 0},
        {OPTION_TEXT, 0, "save", "FILE", "file of the weights (default: run-N.safetensors); \"\": none", &a.save, 0, 0},
        LABEL_OPTIONS(a.labels, a.tags),
        {OPTION_TEXT, 0, "ticket", "URL", "announce each run to this scoreboard: it can become witnessed", &a.ticket,
         0, 0},
        {OPTION_TEXT, 0, "checkpoint-every", "TIME|N", "write a state for --resume, every 30s, 10min or N steps", &a.pace, 0, 0},
        {OPTION_TEXT, 0, "resume", "RUN", "continue an interrupted run (a number, a name, or last) from its last checkpoint",
         &a.resume, 0, 0},
        {OPTION_FLOAT, 0, "cost-per-hour", "USD", "price of this machine", &a.cost, 0, 0},
        {OPTION_TEXT, 0, "instance", "NAME", "take the price of this instance from the table", &a.instance, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object per line instead of text", &a.json, 0, 0},
        {OPTION_FLAG, 'q', "quiet", NULL, "print nothing but errors", &a.quiet, 0, 0},
        {0},
    };
    const struct usage usage = {
        "train", "TASK [OPTIONS] | --resume RUN", "Trains until the target is reached and records the run in results.db.",
        options,
        "Exit status: 0 reached, 3 missed, 130 interrupted, 2 wrong usage, 1 failed.\n"
        "Examples:\n"
        "  dawn train cifar10 --target 0.94\n"
        "  dawn train cifar10 --data synthetic\n"
        "  dawn train cifar10 --runs 5\n"
        "  dawn train cifar10 --recipe airbench94 --set epochs=9\n"
        "  dawn train cifar10 --checkpoint-every 10min\n"
        "  dawn train cifar10 --set optimiser.filters.lr=0.2 --name slow --tag lr\n"
        "  dawn train --resume last\n"
        "  dawn train cifar10 --ticket https://board.example\n"
        "  mpirun -n 4 dawn train cifar10\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    a.labels.tags = a.tags.word, a.labels.tag_count = a.tags.count;
    TRY(labels_check(&a.labels));
    if (a.resume && argc == 1) return resume_run(&a);
    if (a.resume) return fail(ERR_USAGE, "--resume takes the task from the run: do not name one");
    if (argc != 2) return task_wanted("");
    return train_task(&a, argv[1], type);
}

int cmd_train(int argc, char **argv, const struct announce_type *type)
{
    int rc = ranks_open();
    if (ranks_size() > 1) program_draw_nothing();
    if (rc == 0) rc = run_command(argc, argv, type);
    return cmd_finish("train", rc);
}
