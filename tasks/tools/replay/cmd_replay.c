// SPDX-License-Identifier: Apache-2.0
// dawn replay: trains a recorded run once more and compares the figures. Invariant: recipe, seed, target and
// data are the original's; the replay has a record of its own that names the original. Cost: the training's.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/threads.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/options.h"
#include "submit/format/canonical.h"
#include "submit/format/score/curve.h"
#include "submit/format/score/replay.h"
#include "submit/original.h"
#include "submit/results/record.h"
#include "submit/results/stated.h"
#include "tasks/commands.h"
#include "tasks/common/train/train.h"
#include "tasks/tools/choose.h"

struct choice {
    struct choose where;  // device, threads and files alone
    const char *database, *data, *save, *instance;
    double cost;
    int64_t epochs;
    bool json, quiet;
};

static bool on_host(const char *device)
{
    return strcmp(device, "cpu") == 0 || strcmp(device, "ref") == 0;
}

// Uses the original's number of threads if this machine has them. With another number the figures may differ.
static int choose_same_threads(const struct choice *c, const json_t *run, const char *device)
{
    int64_t threads = canonical_int(run, "threads");
    if (c->where.threads > 0) return (int)c->where.threads;
    return on_host(device) && threads > 0 && threads <= threads_available() ? (int)threads : 0;
}

// Drops blanks at both ends, as statements do.
static char *trim(char *text)
{
    while (*text == ' ') text++;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ') text[--length] = 0;
    return text;
}

// Says what differs from the original before anything is opened: program, processor, device or threads.
static int tell_start(const struct choice *c, const struct original *o, const char *device, int threads)
{
    struct software_facts software;
    struct machine_facts machine;
    struct text t = {0}, differs = {0};
    char type[32];
    snprintf(type, sizeof type, "%.*s", (int)strcspn(device, ":"), device);  // "cuda:1" is a cuda
    TRY(machine_software(&software));
    machine_read(&machine);
    json_t *own = json_pack("{s:s, s:{s:s, s:s}, s:{s:s, s:s}}", "device", type, "software", "binary_digest",
                            software.binary_digest, "commit", software.commit, "hardware", "cpu", trim(machine.cpu),
                            "cpu_flags", trim(machine.cpu_flags));
    if (own == NULL) return fail(ERR_INPUT, "the name of the device or of the processor is not valid UTF-8");
    if (on_host(device)) json_object_set_new(own, "threads", json_integer(threads > 0 ? threads : threads_available()));
    int settings = replay_settings(o->run, own, &differs);
    json_decref(own);
    text_entry(&t, "repeats", "%s: %s, recipe %s, seed %lld", o->name.at, canonical_text(o->run, "task"),
               canonical_text(o->run, "recipe.name"), (long long)canonical_int(o->run, "seed"));
    if (settings > 0) text_entry(&t, "differs", "%.*s", (int)differs.length - 1, differs.at);
    const char *interval = c->epochs > 0                        ? "the same figures, which such a machine does not owe"
                           : o->group.finished >= GROUP_MINIMUM ? "the interval of its group"
                                                                : "the interval of one evaluation";
    text_entry(&t, "held to", "%s", settings == 0 ? "the same figures, bit for bit" : interval);
    if (!c->json && !c->quiet) fputs(t.at, stdout);
    text_free(&t);
    text_free(&differs);
    return 0;
}

static int train_again(const struct choice *c, const struct original *o)
{
    const json_t *run = o->run;
    const char *text = canonical_text(run, "recipe.text"), *device = canonical_text(run, "device");
    bool cut = false;
    struct train_replay replay = {.head = o->head, .recipe = text, .run = run, .epochs = c->epochs, .cut = &cut};
    struct price price;
    bool known;
    if (c->where.device != NULL) device = c->where.device;
    struct train_options options = {
        .data_name = canonical_text(json_array_get(json_object_get(run, "data"), 0), "name"), .data_folder = c->data,
        .files = c->where.files, .device = device, .threads = choose_same_threads(c, run, device),
        .target = (double)canonical_int(run, "target_micro") * 1e-6, .stop = canonical_int(run, "stop_at_target") != 0,
        .runs = 1, .seed = canonical_int(run, "seed"), .database = c->database, .save = c->save, .replay = &replay,
        .progress = c->json ? PROGRESS_JSON : c->quiet ? PROGRESS_QUIET : PROGRESS_AUTO,
    };
    if (strcmp(device, "null") == 0) return fail(ERR_USAGE, "the null device computes nothing and cannot train");
    TRY(choose_threads(&c->where));
    TRY(task_find(canonical_text(run, "task"), &options.task));
    TRY(task_files_check(&c->where.files, options.task->name, options.task->takes));
    TRY(recipe_parse("the recipe of the run", text, strlen(text), &options.recipe));
    TRY(price_choose(c->instance, c->cost, &price, &known));
    options.price = known ? &price : NULL;
    TRY(tell_start(c, o, device, options.threads));
    int rc = train(&options);
    if (rc == ERR_INTERRUPTED && cut) rc = 0;
    return rc == ERR_TARGET ? 0 : rc;  // below the target it agrees with a run that missed it
}

// ---- the comparison

static int read_own(const struct choice *c, const struct original *o, int64_t *id, json_t **run, struct text *operand)
{
    struct results *r;
    json_t *rows = NULL, *record = NULL;
    TRY(results_open(c->database, RESULTS_READ, &r));
    text_add(operand, "%s", result_operand(r));
    int rc = record_rows(r, "SELECT run, head FROM replays ORDER BY run DESC LIMIT 1", 0, &rows);
    const json_t *row = json_array_get(rows, 0);
    *id = record_int(row, "run");
    if (rc == 0 && strcmp(record_text(row, "head"), o->head) != 0)
        rc = fail(ERR_DATABASE, "the record has lost the replay: another program writes to it");
    if (rc == 0) rc = record_read(r, *id, &record);
    if (rc == 0) {
        *run = stated_run(record);  // its recipe is the original's, word for word
        json_object_set_new(json_object_get(*run, "recipe"), "text", json_string(record_text(record, "recipe_json")));
    }
    json_decref(record);
    json_decref(rows);
    results_close(r);
    return rc;
}

static const json_t *last_point(const json_t *run)
{
    const json_t *points = json_object_get(run, "points");
    return json_array_get(points, json_array_size(points) > 0 ? json_array_size(points) - 1 : 0);
}

static void add_row(struct text *t, const char *what, const char *own, const char *other)
{
    text_add(t, "  %-22s%18s%18s\n", what, own, other);
}

static void add_span(struct text *t, const char *what, const json_t *run, const json_t *own, const char *clock)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    text_span(a, (double)canonical_int(last_point(run), clock) * 1e-9);
    text_span(b, (double)canonical_int(last_point(own), clock) * 1e-9);
    add_row(t, what, a, b);
}

static void add_weights(struct text *t, const json_t *run, const json_t *own)
{
    char a[16], b[16];
    snprintf(a, sizeof a, "%.12s", canonical_text(run, "model.weights_digest"));
    snprintf(b, sizeof b, "%.12s", canonical_text(own, "model.weights_digest"));
    add_row(t, "weights (SHA-256)", *a ? a : "-", *b ? b : "-");
}

static void add_table(struct text *t, const json_t *run, const json_t *own, const struct replay_judged *j)
{
    char a[TEXT_FIGURE], b[TEXT_FIGURE];
    text_add(t, "\n");
    add_row(t, "", "original", "replay");
    snprintf(a, sizeof a, "%zu", j->points);
    snprintf(b, sizeof b, "%zu of them equal", j->equal);
    add_row(t, "points", a, b);
    if (j->score[0] != RUN_SCORE_NONE)
        add_row(t, "last common score", run_metric_text(&j->board, j->score[0], a), run_metric_text(&j->board, j->score[1], b));
    snprintf(a, sizeof a, "%.6f", (double)canonical_int(last_point(run), "loss") * 1e-6);
    snprintf(b, sizeof b, "%.6f", (double)canonical_int(last_point(own), "loss") * 1e-6);
    add_row(t, "last loss", a, b);
    add_span(t, "end to end", run, own, "t_ns");
    add_span(t, "classic clock", run, own, "classic_ns");
    add_weights(t, run, own);
    text_add(t, "\n");
}

static void add_verdict(struct text *t, const struct replay_judged *j)
{
    char low[TEXT_FIGURE], high[TEXT_FIGURE];
    bool agrees = j->verdict == REPLAY_EXACT || j->verdict == REPLAY_WITHIN;
    if (j->differs.at != NULL) text_entry(t, "differs", "%.*s", (int)j->differs.length - 1, j->differs.at);  // its last is \n
    if (!isnan(j->low))
        text_entry(t, "interval", "%s to %s, 95%%%s", run_metric_value_text(&j->board, j->low, low),
                   run_metric_value_text(&j->board, j->high, high),
                   j->runs > 0 ? ", for one more run of its group" : ", for two evaluations of so many items");
    text_entry(t, "verdict", "%s: %s", agrees ? "agrees" : "DIFFERS", replay_what(j->verdict));
}

// With what an audit says of the machine.
static int print_json(const struct original *o, int64_t id, const json_t *own, const struct replay_judged *j)
{
    const char *device = canonical_text(own, "device");
    json_t *said = json_pack("{s:I, s:s, s:s, s:s, s:I, s:I, s:i}", "replay", (json_int_t)id, "of", o->name.at, "head", o->head,
                             "verdict", replay_word(j->verdict), "points", (json_int_t)j->points, "equal",
                             (json_int_t)j->equal, "settings", j->settings);
    json_t *where = json_pack("{s:I, s:s, s:s, s:s}", "epoch_micro", (json_int_t)curve_epoch_micro(last_point(own)), "device",
                              device, "hardware", canonical_text(own, on_host(device) ? "hardware.cpu" : "hardware.gpu"),
                              "binary_digest", canonical_text(own, "software.binary_digest"));
    if (said != NULL) json_object_update(said, where);
    json_decref(where);
    return json_text_line(said);
}

static int compare(const struct choice *c, const struct original *o)
{
    struct replay_judged j;
    struct text t = {0}, operand = {0};
    int64_t id;
    json_t *own = NULL;
    TRY(read_own(c, o, &id, &own, &operand));
    if (c->epochs > 0) replay_judge_first(o->run, own, c->epochs * 1000000, &j);
    else replay_judge(o->run, own, &o->group, &j);
    add_table(&t, o->run, own, &j);
    add_verdict(&t, &j);
    int rc = c->json ? print_json(o, id, own, &j) : 0;
    if (!c->json) fputs(t.at, stdout);
    bool agrees = j.verdict == REPLAY_EXACT || j.verdict == REPLAY_WITHIN;
    if (agrees && c->epochs == 0 && !c->json && !c->quiet)
        printf("  \"dawn submit%s --run %lld\" publishes it as a replay of that run\n", operand.at, (long long)id);
    if (!agrees)
        rc = fail(ERR_DIFFERS, "run %lld does not agree with %s: %s", (long long)id, o->name.at, replay_what(j.verdict));
    text_free(&t), text_free(&operand);
    replay_free(&j);
    json_decref(own);
    return rc;
}

int cmd_replay(int argc, char **argv)
{
    struct choice c = {.cost = NAN};
    const struct option options[] = {
        {OPTION_PATH, 0, "data", "DIR", "the folder that holds the data set", &c.data, 0, 0},
        {OPTION_TEXT, 0, "device", "NAME", "cuda, cuda:1, cpu or ref; default: the run's", &c.where.device, 0, 0},
        {OPTION_INT, 0, "threads", "N", "threads of the cpu device; 0: as many as the run had", &c.where.threads, 0, 1024},
        {OPTION_FLAG, 0, "oversubscribe", NULL, "allow more threads than processors", &c.where.oversubscribe, 0, 0},
        CHOOSE_FILES(c.where.files),
        {OPTION_INT, 0, "epochs", "N", "train and compare the first N epochs of the schedule alone", &c.epochs, 1, 1000000},
        {OPTION_PATH, 0, "db", "FILE", "the record (default: $DAWN_RESULTS, else results.db)", &c.database, 0, 0},
        {OPTION_TEXT, 0, "save", "FILE", "file of the weights (default: run-N.safetensors); \"\": none", &c.save, 0, 0},
        {OPTION_FLOAT, 0, "cost-per-hour", "USD", "price of this machine", &c.cost, 0, 0},
        {OPTION_TEXT, 0, "instance", "NAME", "take the price of this instance from the table", &c.instance, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object per line instead of text", &c.json, 0, 0},
        {OPTION_FLAG, 'q', "quiet", NULL, "print the comparison alone", &c.quiet, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "replay",
        .operands = "RUN|URL|FILE [OPTIONS]",
        .about = "Trains a recorded run once more, with its recipe, seed and data, and compares the figures.\n\n"
                 "RUN is a number, a name or \"last\", URL is the page of a run on a scoreboard, FILE is a statement, or such "
                 "a page in a static copy of a board. With the same program, kind of device, threads and libraries the figures "
                 "must be the same, bit for bit; else the last score must lie in the 95% interval of the run's group, or of one "
                 "evaluation. The replay is recorded as a run of its own.",
        .options = options,
        .more = "Exit status: 0 agrees, 3 differs, 130 interrupted, 2 wrong usage, 1 failed.\n"
                "Examples:\n"
                "  dawn replay last\n"
                "  dawn replay 3 --db other.db --data data/cifar-10\n"
                "  dawn replay https://board.example/runs/12\n"
                "  dawn replay signed/run-3.json --device cpu --threads 4",
    };
    struct original original;
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc != 2) return fail(ERR_USAGE, "replay takes one run, address or file; \"dawn replay -h\" shows them");
    rc = original_open(argv[1], c.database, &original);
    if (rc == 0) rc = train_again(&c, &original);
    if (rc == 0) rc = compare(&c, &original);
    original_close(&original);
    return rc;
}
