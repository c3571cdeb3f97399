// SPDX-License-Identifier: Apache-2.0
// dawn record: runs a trainer of any framework.
#include "tasks/commands.h"

#include "runtime/common/base/clock.h"
#include "runtime/common/base/embed.h"
#include "runtime/common/cli/options.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "submit/results/group_text.h"
#include "submit/results/record.h"
#include "tasks/tools/outside/command.h"
#include "tasks/tools/outside/outside.h"
#include "tasks/tools/outside/recorder.h"
#include "tasks/tasks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

struct arguments {
    double target, cost;
    int64_t runs, seed, devices;
    bool stop, quiet, module, json;
    const char *task, *database, *instance, *model, *framework, *gpu;
    struct run_labels labels;
    struct option_list tags;
    const char *events, *score, *loss;
};

static const char *span_text(char into[TEXT_FIGURE], int64_t ns)
{
    return text_span(into, (double)ns / 1e9);
}

// Prints to standard error, because standard output belongs to the command.
static void print_run_end(const struct recorder_options *o, const struct recorder_end *e)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    const struct run_metric *board = &o->contest->board;
    fprintf(stderr, "dawn record: run %lld in %s: %s, %lld epoch%s", (long long)e->run, results_path(o->database), e->status,
            (long long)e->epochs, e->epochs == 1 ? "" : "s");
    if (e->epochs > 0) fprintf(stderr, " in %s", span_text(a, e->last.end_to_end_ns));
    if (e->k >= 0) fprintf(stderr, "; %s %s", o->contest->metric_title, run_metric_text(board, e->k, a));
    if (e->k >= 0 && board->items > 0) fprintf(stderr, " (%s of %s)", text_count(a, e->k), text_count(b, board->items));
    if (e->reached_epoch > 0)
        fprintf(stderr, "; %s met in epoch %lld after %s",
                run_metric_value_text(board, (double)o->target_micro / 1e6, b), (long long)e->reached_epoch,
                span_text(a, e->reached.end_to_end_ns));
    fprintf(stderr, "; self-evaluated\n");
}

// Nanoseconds, as in the record. What the run did not reach is left out.
static void print_run_json(const struct recorder_options *o, const struct recorder_end *e)
{
    json_t *line = json_pack("{ss sI ss sI}", "event", "end", "run", (json_int_t)e->run, "status", e->status, "epochs",
                             (json_int_t)e->epochs);
    if (e->epochs > 0) json_object_set_new(line, "end_to_end_ns", json_integer(e->last.end_to_end_ns));
    if (e->k >= 0) json_object_set_new(line, "score", json_real(run_metric_value(&o->contest->board, e->k)));
    if (e->reached_epoch > 0) json_object_set_new(line, "reached_ns", json_integer(e->reached.end_to_end_ns));
    json_text_error(line);
}

// Only a terminal shows epochs, between the lines of the command. A log has the command's own lines.
static void print_epoch(const struct recorder_options *o, const struct recorder_end *e)
{
    static int64_t began_ns;  // of the whole group
    char score[TEXT_FIGURE], time[TEXT_FIGURE], left[TEXT_FIGURE];
    if (began_ns == 0) began_ns = clock_ns() - e->last.end_to_end_ns;
    fprintf(stderr, "dawn record: run %lld", (long long)e->run);
    if (e->planned > 1) fprintf(stderr, " (%lld of %lld)", (long long)e->index, (long long)e->planned);
    fprintf(stderr, ", epoch %lld", (long long)e->epochs);
    if (e->k >= 0) fprintf(stderr, ", %s", run_metric_text(&o->contest->board, e->k, score));
    fprintf(stderr, ", %s", span_text(time, e->last.end_to_end_ns));
    if (e->index > 1) {
        int64_t whole_ns = clock_ns() - began_ns - e->last.end_to_end_ns, runs = e->index - 1;  // of the runs before
        int64_t left_ns = whole_ns / runs * (e->planned - runs) - e->last.end_to_end_ns;
        if (left_ns > 0) fprintf(stderr, "; group about %s left", span_text(left, left_ns));
    }
    fprintf(stderr, "\n");
}

static void print_group_end(const struct recorder_options *o, int64_t group, bool json)
{
    struct results *results;
    json_t *runs;
    struct group_facts f;
    char mean[TEXT_FIGURE], time[TEXT_FIGURE];
    if (results_open(o->database, RESULTS_READ, &results) < 0) return;
    const bool found = record_group(results, group, &runs, &f) == 0;
    if (found && json) {
        json_t *line = json_pack("{ss sI}", "event", "group", "group", (json_int_t)group);
        json_object_update_new(line, group_text_json(&f));
        json_text_error(line);
    } else if (found) {
        fprintf(stderr, "dawn record: group %lld: %d of %d runs", (long long)group, f.finished, f.planned);
        if (f.finished > 0)
            fprintf(stderr, "; mean %s, mean time %s", run_metric_value_text(&o->contest->board, f.accuracy.mean, mean),
                    text_span(time, f.seconds.mean));
        int left = f.planned - (int)json_array_size(runs);
        if (left > 0) fprintf(stderr, "; %d %s not begun, so the group stays unfinished", left, left == 1 ? "was" : "were");
        fprintf(stderr, "; self-evaluated\n");
    }
    if (found) json_decref(runs);
    results_close(results);
}

static int find_contest(const char *name, const struct contest **contest)
{
    const char *names[CONTESTS_MAX + 1];
    contest_names(names);
    *contest = contest_find(name);
    if (*contest != NULL && (*contest)->synthetic)
        return fail(ERR_USAGE, "the board \"%s\" is for synthetic data, which only \"dawn train\" can use", name);
    if (*contest != NULL) return 0;
    return fail_unknown(ERR_USAGE, "task", name, names, "\"dawn models\" lists them");
}

static int check_target(const struct contest *c, double target)
{
    if (outside_most(c) > 1 && target >= 1e-6 && target <= outside_most(c)) return 0;
    if (target >= 2 && target <= 100)
        return fail(ERR_USAGE, "--target is a share: write %g as %g", target, target / 100);
    if (!(target >= 1e-6 && target <= 1)) return fail(ERR_USAGE, "--target must be between 0 and 1; got %g", target);
    return 0;
}

// Looks before a group is begun, because a group without a run would stay in the record.
static int check_command(const char *name)
{
    for (int i = 0; task_at(i); i++)
        if (strcmp(name, task_at(i)->name) == 0 && command_find(name) < 0)
            return fail(ERR_USAGE, "\"%s\" is a task, not a command: write \"dawn record --task %s -- COMMAND\"", name, name);
    return command_find(name);
}

static int record_command(const struct arguments *a, char *const *command)
{
    struct recorder_options o = {
        .stop = a->stop, .runs = a->runs, .seed = a->seed, .devices = a->devices, .database = a->database, .model = a->model,
        .framework = a->framework, .labels = a->labels, .events = a->events, .score_tag = a->score,
        .loss_tag = a->loss, .gpu = a->gpu, .command = command, .onto = {STDOUT_FILENO, STDERR_FILENO},
        .tell = a->quiet ? NULL : a->json ? print_run_json : print_run_end,
        .tell_epoch = !a->quiet && !a->json && isatty(STDERR_FILENO) ? print_epoch : NULL,
    };
    struct price price;
    bool known;
    int64_t group;
    TRY(find_contest(a->task, &o.contest));
    if (!isnan(a->target)) TRY(check_target(o.contest, a->target));
    o.target_micro = isnan(a->target) ? o.contest->target_micro[0] : llround(a->target * 1e6);
    if (a->runs > 1 && a->stop) return fail(ERR_USAGE, "--stop is for a single run; each run of a group goes to its end");
    TRY(check_command(command[0]));
    TRY(price_choose(a->instance, a->cost, &price, &known));
    o.price = known ? &price : NULL;
    int rc = recorder_run(&o, &group);
    if (group == 0 || a->quiet) return rc;
    char why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", error_text());
    print_group_end(&o, group, a->json);
    return rc < 0 ? fail(rc, "%s", why) : 0;
}

static int print_module(int argc)
{
    const struct embedded *module = embedded_find("tasks/tools/outside/dawn.py");
    if (argc > 1) return fail(ERR_USAGE, "--module prints a file and runs no command");
    if (module == NULL) BUG("dawn.py is not in the program");
    fwrite(module->at, 1, module->size, stdout);
    return 0;
}

int cmd_record(int argc, char **argv)
{
    struct arguments a = {.target = NAN, .cost = NAN, .runs = 1, .seed = 1, .devices = 1, .task = TASK_USUAL,
                          .model = "unknown", .framework = "unknown"};
    const struct option options[] = {
        {OPTION_TEXT, 0, "task", "TASK", "the contest that the command takes part in", &a.task, 0, 0},
        {OPTION_FLOAT, 't', "target", "SHARE", "score to reach, 0 to 1; default: the contest's", &a.target, 0, 0},
        {OPTION_TEXT, 0, "model", "NAME", "the network that is trained", &a.model, 0, 0},
        {OPTION_TEXT, 0, "framework", "TEXT", "what trains it, such as \"PyTorch 2.4\"", &a.framework, 0, 0},
        {OPTION_INT, 's', "seed", "N", "given to the command as $DAWN_SEED and for {seed}", &a.seed, 0, 1e15},
        {OPTION_INT, 'n', "runs", "N", "a group: N runs with seeds from --seed on, each to its end", &a.runs, 1, 1000},
        {OPTION_FLAG, 0, "stop", NULL, "end the command (SIGTERM) once the target is met", &a.stop, 0, 0},
        {OPTION_INT, 0, "devices", "N", "accelerators that the command uses; 1 if it uses the CPU", &a.devices, 1, 1 << 20},
        {OPTION_TEXT, 0, "gpu", "TEXT", "GPUs of the command that this machine does not report", &a.gpu, 0, 0},
        {OPTION_PATH, 0, "db", "FILE", "the record (default: $DAWN_RESULTS, else results.db)", &a.database, 0, 0},
        {OPTION_PATH, 0, "tensorboard", "FOLDER", "read the epochs from event files of TensorBoard below it", &a.events, 0, 0},
        {OPTION_TEXT, 0, "score", "TAG", "with --tensorboard: the scalar that is the score, for each epoch", &a.score, 0, 0},
        {OPTION_TEXT, 0, "loss", "TAG", "with --tensorboard: the scalar that is the training loss", &a.loss, 0, 0},
        LABEL_OPTIONS(a.labels, a.tags),
        {OPTION_FLOAT, 0, "cost-per-hour", "USD", "price of all machines that the command uses", &a.cost, 0, 0},
        {OPTION_TEXT, 0, "instance", "NAME", "take the price of this instance from the table", &a.instance, 0, 0},
        {OPTION_FLAG, 0, "module", NULL, "print dawn.py, which Python programs import to report their epochs", &a.module, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "the summaries as one JSON object per line, on standard error", &a.json, 0, 0},
        {OPTION_FLAG, 'q', "quiet", NULL, "print no summary, only errors", &a.quiet, 0, 0},
        {0},
    };
    const struct usage usage = {
        "record", "[OPTIONS] -- COMMAND [ARGUMENTS]",
        "Runs any training program, times it from its start, reads the epochs that it reports on its output, and records the "
        "run in results.db, marked as self-evaluated.",
        options,
        "The program prints a line for each epoch (see docs/record.md):\n"
        "  {\"dawn\":\"epoch\",\"epoch\":1,\"samples\":50000,\"correct\":7312,\"items\":10000}\n"
        "or MLPerf's :::MLLOG lines with eval_accuracy. In Python, dawn.py prints them.\n"
        "With --tensorboard it need not print anything.\n"
        "Exit status: 0 reached, 3 missed, 130 interrupted, 2 wrong usage, 1 failed.\n"
        "Examples:\n"
        "  dawn record --module >dawn.py\n"
        "  dawn record -- python train.py\n"
        "  dawn record --tensorboard runs --score val/accuracy -- python train.py\n"
        "  dawn record --runs 5 --framework \"PyTorch 2.4\" -- python train.py {seed}\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (a.module) return print_module(argc);
    a.labels.tags = a.tags.word, a.labels.tag_count = a.tags.count;
    TRY(labels_check(&a.labels));
    if ((a.events == NULL) != (a.score == NULL) || (a.loss != NULL && a.events == NULL))
        return fail(ERR_USAGE, "--tensorboard FOLDER needs --score TAG, and --score and --loss need --tensorboard");
    struct stat st;
    if (a.events != NULL && stat(a.events, &st) == 0 && !S_ISDIR(st.st_mode))
        return fail(ERR_USAGE, "--tensorboard needs a folder; %s is a file", a.events);
    if (argc < 2) return fail(ERR_USAGE, "expected a command after --, such as \"dawn record -- python train.py\"");
    return record_command(&a, argv + 1);
}
