// SPDX-License-Identifier: Apache-2.0
// dawn infer: evaluates trained weights on the test set, and with --latency measures the time of one request.
#include "data/progress_bar.h"
#include "runtime/common/cli/program.h"
#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/checkpoint/checkpoint.h"
#include "tasks/tools/choose.h"
#include "tasks/commands.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/curve.h"
#include "tasks/common/train/digests.h"
#include "tasks/common/train/facts.h"
#include "tasks/tools/infer/infer.h"
#include "tasks/tools/infer/infer_run.h"
#include "tasks/tools/infer/cmd_infer_terminal.h"
#include "tasks/tools/show/cmd_chain.h"
#include "submit/results/machine/instance.h"
#include "submit/results/machine/others.h"
#include "submit/results/record.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct arguments {
    struct choose choose;  // files.weights: used instead of a run's
    const char *task;      // NULL: the task of the run
    const char *run, *database, *instance, *answers, *question, *text, *attention, *picture, *drawn;
    struct infer_writing writing;  // its prompt NULL: none
    int64_t items, warmup, views, match;
    double cost, target;
    bool latency, json, quiet, plays;
};

// The origin of the weights: a run or a file.
struct source {
    const struct task *task;
    struct results *results;  // NULL: no record is used
    json_t *record;           // NULL: weights from a file
    int64_t run;              // 0: weights from a file
    char *path;
    const char *data;         // the data set that the run trained on; NULL: the default one
    char *folder;             // where its data were, if the user named a place; NULL: the usual folder
};

static void source_close(struct source *s)
{
    json_decref(s->record);
    free(s->path);
    free(s->folder);
    if (s->results) results_close(s->results);
}

// Reads the task's name from a file that DAWN wrote.
static int find_task_of_file(const char *path, struct source *s)
{
    struct checkpoint *c;
    TRY(checkpoint_open(path, &c));
    const char *task = checkpoint_meta(c, "task");
    int rc = task ? task_find(task, &s->task)
                  : fail(ERR_USAGE, "%s does not name its task: name it (\"dawn infer TASK --weights FILE\")", path);
    checkpoint_close(c);
    return rc;
}

// True if the task accepts the given options: --ask, --text or both.
static bool takes_words(const struct task *task, const struct arguments *a)
{
    if (!task->ask || task->asks >= ASKS_PICTURE) return false;
    return task->asks == ASKS_ABOUT_TEXT ? a->question != NULL : !a->question || !a->text;
}

// The newest run with weights of a task that takes the question or the text: a run of another task would be refused.
static int find_answering_run(const struct arguments *a, struct results *r, int64_t *run)
{
    *run = 0;
    for (int i = 0; task_at(i); i++) {
        int64_t id;
        if (takes_words(task_at(i), a) && record_find_weights(r, task_at(i)->name, &id) == 0 && id > *run) *run = id;
    }
    return *run > 0 ? 0 : fail(ERR_DATABASE, "no run in %s has weights of a task that %s", result_file(r),
                               a->question ? "answers questions, as squad does" : "translates lines, as multi30k does");
}

// Selects the newest run with weights if --run is absent.
static int find_run(const struct arguments *a, const char *task, struct source *s)
{
    if (a->run) TRY(cmd_chain_find(s->results, a->run, &s->run));
    else if ((a->question || a->text) && !task) TRY(find_answering_run(a, s->results, &s->run));
    else TRY(record_find_weights(s->results, task, &s->run));
    TRY(record_read(s->results, s->run, &s->record));
    const char *trained = record_text(s->record, "task");
    if (task && strcmp(task, trained))
        return fail(ERR_INPUT, "run %lld has weights of task %s, not of %s", (long long)s->run, trained, task);
    TRY(task_find(trained, &s->task));
    s->path = record_weights(s->results, s->record);
    if (!s->path)
        return fail(ERR_INPUT, "run %lld has no weights: it did not finish, or was trained with --save \"\"", (long long)s->run);
    TRY(infer_run_weights(s->path, s->record, s->run));
    return infer_run_files(&a->choose.files, s->record, s->run);
}

static int source_open(const struct arguments *a, const char *task, struct source *s)
{
    const char *weights = a->choose.files.weights;
    if (task) TRY(task_find(task, &s->task));
    if (weights && !task) TRY(find_task_of_file(weights, s));
    // Weights of a run cannot come from a new record, so none is created for them.
    bool writes = a->latency && (weights || file_exists(results_path(a->database)));
    if (writes || !weights) TRY(results_open(a->database, writes ? RESULTS_WRITE : RESULTS_READ, &s->results));
    if (weights) {
        s->path = copy_text(weights);
        return 0;
    }
    TRY(find_run(a, task, s));
    s->data = infer_run_data(s->task, s->record);
    return record_folder(s->results, s->run, &s->folder);
}

// Says which run was selected if none was named. Standard output carries only the answers to questions.
static void print_choice(const struct arguments *a, const struct source *s)
{
    char score[TEXT_FIGURE];
    bool asks = a->question || a->text || a->picture || a->writing.prompt || a->plays;
    if (a->run || !s->record || a->json || (asks && a->task)) return;  // the JSON names the run
    const struct run_metric board = curve_board(s->record);
    FILE *to = asks ? stderr : stdout;
    fprintf(to, "run %lld of %s, the newest%s%s with weights: %s, %s\n", (long long)s->run, result_file(s->results),
            a->task ? " of task " : "", a->task ? a->task : "", record_text(s->record, "task"),
            run_metric_text(&board, curve_last(s->record, &board), score));
    fflush(to);
}

// Weights may be scored on other data than they were trained on, but not unknowingly.
static void say_other_data(const struct source *s, const struct chosen *chosen)
{
    const char *trained = s->data ? s->data : s->task->data_sets[0];
    if (s->record && strcmp(trained, chosen->data_name))
        fprintf(stderr, "dawn infer: run %lld was trained on %s, and its weights are scored on %s\n", (long long)s->run, trained,
                chosen->data_name);
}

// One measurement, from the options to the verdict.
struct measured {
    const struct arguments *a;
    const struct chosen *chosen;
    struct results *results;
    int64_t run;
    struct infer_options options;
    struct infer_figures figures;
    struct price price;
    struct others_share machine;  // while the figures were measured
    bool priced, eligible, synthetic;
    double target;
};

static int64_t views_of(const struct infer_figures *f)
{
    return f->recipe.views < 1 ? 1 : f->recipe.views;  // 0: the task has no such key
}

static struct latency_facts latency_facts_of(const struct measured *m, const struct run_data *test)
{
    const struct infer_figures *f = &m->figures;
    double board = m->chosen->task->target;  // an easier --target is shown but does not make a run eligible
    return (struct latency_facts){
        .run = m->a->choose.files.weights ? 0 : m->run, .weights_digest = f->digest,
        .task = m->chosen->task->name, .model = f->recipe.model,
        .precision = dtype_name(f->dtype), .device = f->device_type,
        .target_micro = llround(choose_harder(m->chosen->task, m->target, board) * 1e6), .threads = f->threads, .items = f->items,
        .warmup_items = f->warmup, .model_ns = f->model_ns, .whole_ns = f->whole_ns, .k = f->score[0],
        .views = views_of(f), .decoding = f->decoding,
        .data = test, .price = m->priced ? &m->price : NULL,
    };
}

// Decides whether the measurement is eligible, and records it with --latency.
static int judge_and_record(struct measured *m)
{
    struct dataset *data;
    struct digests *digests = NULL;
    int64_t id;
    TRY(dataset_open(m->options.data_name, m->options.data_folder, &data));
    int rc = digests_start(data, &(struct task_files){0}, &digests);
    if (rc == 0) rc = digests_wait(digests);
    if (rc == 0) rc = digests_check_scored(m->chosen->task, dataset_facts(data), m->figures.scored);
    if (rc == 0) {
        const struct dataset_facts *d = dataset_facts(data);
        struct run_data test = {.name = d->name, .split = split_name(SPLIT_TEST), .digest = digests_hex(digests, SPLIT_TEST),
                                .items = d->count[SPLIT_TEST], .official = d->official, .synthetic = d->synthetic};
        struct latency_facts facts = latency_facts_of(m, &test);
        struct machine_facts machine;
        struct software_facts software;
        m->eligible = result_eligible(&facts), m->synthetic = d->synthetic;
        rc = facts_read(&m->figures.device, &machine, &software);
        facts.machine = &machine, facts.software = &software;
        if (rc == 0 && m->a->latency && facts.k == METRIC_NONE)
            rc = fail(ERR_USAGE, "%lld %s are too few for a score, without which no latency is recorded",
                      (long long)m->figures.items, task_samples(m->chosen->task));
        if (rc == 0 && m->a->latency) rc = result_latency(m->results, &facts, &id);
    }
    if (digests_end(digests)) dataset_close(data);
    return rc;
}

static json_t *json_times(const struct latency_times *t)
{
    return json_pack("{sI sI sI sI}", "mean", (json_int_t)t->mean, "p50", (json_int_t)t->p50, "p90", (json_int_t)t->p90,
                     "p99", (json_int_t)t->p99);
}

static int64_t cost_of(const struct measured *m)  // of 10,000 samples
{
    return cost_inference_micro(m->figures.whole_ns.mean, 10000, m->price.micro_per_hour);
}

static int print_measured_json(const struct measured *m)
{
    const struct infer_figures *f = &m->figures;
    const struct task *task = m->chosen->task;
    json_t *o = json_pack("{sI ss ss sI ss si sI sb sb}", "run", (json_int_t)(m->a->choose.files.weights ? 0 : m->run), "model",
                          f->recipe.model, "weights_digest", f->digest, "items", (json_int_t)f->items, "precision",
                          dtype_name(f->dtype), "threads", f->threads, "views", (json_int_t)views_of(f),
                          "eligible", m->eligible, "synthetic", m->synthetic);
    json_t *scores = json_object();
    for (int i = 0; task->metrics[i].name; i++)
        if (f->score[i] != METRIC_NONE)
            json_object_set_new(scores, task_metric_name(task, i, m->synthetic), json_integer(f->score[i]));
    json_object_set_new(o, "scores", scores);
    if (task->metrics[0].kind == METRIC_COUNT) json_object_set_new(o, "correct", json_integer(f->score[0]));
    if (f->counts_damaged) json_object_set_new(o, "damaged", json_integer(f->damaged));
    if (*f->decoding) json_object_set_new(o, "decoding", json_string(f->decoding));
    if (o && m->a->latency) {
        json_object_set_new(o, "model_ns", json_times(&f->model_ns));
        json_object_set_new(o, "whole_ns", json_times(&f->whole_ns));
        if (m->priced) json_object_set_new(o, "cost_of_10000_micro_usd", json_integer(cost_of(m)));
    }
    return json_text_line(o);
}

// Adds one metric of the pass. The first metric has the target.
static void add_metric(const struct measured *m, int number, struct text *into)
{
    const struct infer_figures *f = &m->figures;
    const struct task *task = m->chosen->task;
    const struct metric *is = &task->metrics[number];
    const struct run_metric metric = {task_metric_name(task, number, m->synthetic), is->unit, is->lower_is_better,
                                      is->kind == METRIC_COUNT ? f->items : 0};
    char items[TEXT_FIGURE], score[TEXT_FIGURE];
    bool met = number > 0 || run_metric_meets(&metric, f->score[0], llround(m->target * 1e6));
    text_entry(into, number == 0 ? "score" : "", "%s %s of %s test %s%s", run_metric_text(&metric, f->score[number], score),
               contest_metric_title(metric.name), text_count(items, f->items), task_samples(task),
               met ? "" : is->lower_is_better ? ", above the target" : ", below the target");
}

// Adds the four figures that "dawn results show" has of a measurement.
static void add_times(const char *what, const struct latency_times *t, struct text *into)
{
    const int64_t ns[] = {t->mean, t->p50, t->p90, t->p99};
    text_add(into, "    %-22s", what);
    for (int i = 0; i < 4; i++) text_add(into, "%11.3f", text_up((double)ns[i] * 1e-3) * 1e-3);
    text_add(into, "\n");
}

static void add_latency(const struct measured *m, struct text *into)
{
    const struct infer_figures *f = &m->figures;
    char cost[COST_TEXT], busy[OTHERS_TEXT];
    text_add(into, "    %-22s%11s%11s%11s%11s\n", "ms per item", "mean", "p50", "p90", "p99");
    add_times("network alone", &f->model_ns, into);
    add_times("with preprocessing", &f->whole_ns, into);
    if (others_text(&m->machine, "these latencies are too high", busy)) text_entry(into, "disturbed", "%s", busy);
    if (m->priced) text_entry(into, "cost", "%s for 10,000 %s", cost_text(cost, cost_of(m)), task_samples(m->chosen->task));
    if (m->synthetic) return;
    text_entry(into, "eligible", "%s", m->eligible ? "yes" : "no: this requires the whole published test set, the target, and "
                                                             "the decoding of the recipe");
}

static void print_text(const struct measured *m)
{
    const struct infer_figures *f = &m->figures;
    struct text text = {0};
    long long views = (long long)views_of(f);
    text_add(&text, "%s, %s, %d thread%s, %lld view%s per item\n", f->recipe.model, dtype_name(f->dtype), f->threads,
             f->threads == 1 ? "" : "s", views, views == 1 ? "" : "s");
    if (*f->imported) text_entry(&text, "weights", "%s", f->imported);
    if (*f->decoding) text_entry(&text, "decoding", "%s, unlike the recipe of the weights", f->decoding);
    for (int i = 0; m->chosen->task->metrics[i].name; i++)
        if (f->score[i] != METRIC_NONE) add_metric(m, i, &text);
    if (m->a->latency) add_latency(m, &text);
    if (*f->damaged_text) text_entry(&text, "damaged", "%s", f->damaged_text);
    if (m->synthetic) text_entry(&text, "SYNTHETIC", "synthetic data: no board lists its latency");
    fputs(text.at, stdout);
    text_free(&text);
}

// ---- a question from the terminal

// An answer is a part of a text and may itself have ends of lines. A failed write is reported when the program ends.
static int print_lines(const struct measured *m, struct text *lines)
{
    const char *asked = m->a->question ? m->a->question : m->chosen->task->asks == ASKS_SOUND ? m->a->picture : NULL;
    if (m->a->picture && !asked && lines->length == 1) puts("nothing found");
    else if (!asked) fputs(lines->at, stdout);
    if (!asked) return 0;
    if (lines->length > 0 && lines->at[lines->length - 1] == '\n') lines->at[--lines->length] = '\0';
    if (!m->a->json) {
        puts(lines->length > 0 ? lines->at : "(no answer)");
        return 0;
    }
    return json_text_line(json_pack("{ss ss}", "question", asked, "answer", lines->at));
}

static int write_drawn(const char *path, const struct text *drawn, const char *what)
{
    TRY(file_write(path, drawn->at, drawn->length));
    fprintf(stderr, "%s in %s\n", what, path);
    return 0;
}

static int check_question(const struct task *task, const struct arguments *a)
{
    bool picture = task->ask && task->asks == ASKS_PICTURE, sound = task->ask && task->asks == ASKS_SOUND;
    if (a->picture && !picture && !sound) return fail(ERR_USAGE, "task %s takes no photograph or recording", task->name);
    if ((picture || sound) && !a->picture)
        return fail(ERR_USAGE, "task %s takes a %s: \"dawn infer %s %s\"", task->name, picture ? "photograph" : "recording",
                    task->name, picture ? "photo.jpg" : "hello.wav");
    if (sound && a->drawn) return fail(ERR_USAGE, "task %s draws nothing: --out is for photographs", task->name);
    if (!task->ask) return fail(ERR_USAGE, "task %s answers no questions", task->name);
    if (task->asks == ASKS_ABOUT_TEXT && !a->question) return fail(ERR_USAGE, "--text is the text that --ask asks about");
    if (task->asks == ASKS_LINES && a->question && a->text)
        return fail(ERR_USAGE, "--ask and --text both name the %s: give one of them", task_samples(task));
    if (a->json && !a->question && !sound)
        return fail(ERR_USAGE, "--json is for one answer; %s",
                    picture ? "a photograph has a line per box" : "--text writes one line per line");
    return 0;
}

// The weights may depend on the training texts (a vocabulary made of them), but most weights do not.
static int ask_question(struct measured *m, struct infer_options *o)
{
    const struct arguments *a = m->a;
    struct dataset *like = NULL;
    struct text lines = {0}, drawn = {0};
    char *text = NULL;
    size_t count = 0;
    TRY(check_question(o->task, a));
    if (a->picture) TRY(file_read(a->picture, 64 << 20, &text, &count));
    else if (o->task->asks == ASKS_ABOUT_TEXT || !a->question) TRY(file_read_or_input(a->text, 16 << 20, &text, &count));
    int rc = dataset_open(o->data_name, o->data_folder, &like);
    if (rc == ERR_MISSING) rc = 0, like = NULL;
    if (rc == 0) rc = o->task->ask(like, text, count, a->picture ? a->picture : a->question, &o->data);
    o->lines = &lines, o->singles = false, o->answers = NULL;
    if (a->attention || a->drawn) o->drawn = &drawn;
    if (rc == 0) rc = infer_measure(o, &m->figures);
    if (rc == 0) rc = print_lines(m, &lines);
    if (rc == 0 && a->attention) rc = write_drawn(a->attention, &drawn, "attention");
    if (rc == 0 && a->drawn) rc = write_drawn(a->drawn, &drawn, "boxes");
    dataset_close(o->data);
    dataset_close(like);
    text_free(&lines);
    text_free(&drawn);
    free(text);
    return rc;
}

// ---- pictures that a network makes

static int measure_all(struct measured *m)
{
    struct text drawn = {0};
    if (m->a->drawn) m->options.drawn = &drawn;
    int rc = infer_measure(&m->options, &m->figures);
    if (rc == 0 && m->a->drawn) rc = write_drawn(m->a->drawn, &drawn, "pictures");
    text_free(&drawn);
    return rc;
}

// Checks the price before the measurement: a price of other hardware would make the measurement worthless.
static int choose_price(struct measured *m)
{
    struct device *device;
    struct device_facts facts;
    struct machine_facts machine;
    struct software_facts software;
    TRY(price_choose(m->a->instance, m->a->cost, &m->price, &m->priced));
    if (!m->priced) return 0;
    TRY(device_open(m->options.device, m->options.threads, &device));
    int rc = device->type->facts(device, &facts);
    device_close(device);
    if (rc == 0) rc = facts_read(&facts, &machine, &software);
    return rc == 0 ? instance_check_here(&m->price, &machine) : rc;
}

struct watched {
    struct progress_bar bar;
    char what[64];
};

// Shows a progress bar for each part of the work, or in a pipe a line every tenth.
static void show_progress(void *context, const char *what, int64_t done, int64_t all)
{
    struct watched *w = context;
    if (strcmp(w->what, what)) {
        progress_bar_erase(&w->bar);
        snprintf(w->what, sizeof w->what, "%s", what);
        w->bar = progress_bar_start(w->what, false);
    }
    progress_bar_show(&w->bar, done, all);
}

static int measure_and_print(struct measured *m, const char *weights)
{
    const struct arguments *a = m->a;
    const struct choose *c = &a->choose;
    m->options = (struct infer_options){
        .task = m->chosen->task, .data_name = m->chosen->data_name, .data_folder = m->chosen->data_folder,
        .files = {weights, c->files.vocab, c->files.vectors}, .recipe = &m->chosen->recipe,
        .recipe_option = c->recipe ? "recipe" : c->model ? "model" : NULL, .set = c->set.word, .sets = c->set.count,
        .device = c->device, .threads = (int)c->threads, .precision = (enum recipe_precision)m->chosen->recipe.precision,
        .items = a->items, .warmup = a->warmup, .views = a->views, .singles = a->latency || a->items, .answers = a->answers};
    TRY(choose_target(m->chosen->task, a->target, &m->target));
    if (a->plays) return infer_terminal_plays(&m->options, a->match, a->json);
    if (a->writing.prompt) return infer_terminal_writes(&m->options, &a->writing, a->json);
    if (a->question || a->text || a->picture) return ask_question(m, &m->options);
    if (a->drawn && !(m->chosen->task->judge && m->chosen->task->judge->keeps))
        return fail(ERR_USAGE, "--out draws the boxes of a photograph, which follows the task");
    TRY(choose_price(m));
    struct watched watched = {.what = ""};
    m->options.progress = a->quiet ? NULL : show_progress, m->options.context = &watched;
    struct others others;
    int rc = infer_tune(&m->options);
    others_begin(&others);
    if (rc == 0) rc = measure_all(m);
    m->machine = others_end(&others);
    progress_bar_erase(&watched.bar);
    TRY(rc);
    TRY(judge_and_record(m));
    if (a->json) return print_measured_json(m);
    print_text(m);
    return 0;
}

// The place that the training took its data from, if it is still there.
static void choose_folder_of_run(const struct source *s, struct chosen *chosen)
{
    if (s->folder && file_exists(s->folder)) chosen->data_folder = s->folder;
}

static int fail_without_data(const struct source *s, int rc)
{
    if (rc != ERR_MISSING || !s->folder || file_exists(s->folder)) return rc;
    return fail_prefix(rc, "run %lld was trained with --data %s, which is gone: ", (long long)s->run, s->folder);
}

static int infer_task(const struct arguments *a)
{
    struct source s = {0};
    struct chosen chosen;
    int rc = source_open(a, a->task, &s);
    if (rc == 0) {
        struct choose choice = a->choose;
        choice.files.weights = NULL;  // every task is inferred with weights, even if its training takes none
        if (!choice.data) choice.data = s.data;
        rc = choose(&choice, s.task->name, &chosen);
    }
    if (rc == 0) {
        struct measured m = {.a = a, .chosen = &chosen, .results = s.results, .run = s.run};
        if (!a->choose.data) choose_folder_of_run(&s, &chosen);
        print_choice(a, &s);
        if (!a->question && !a->text && !a->picture && !a->writing.prompt && !a->plays) say_other_data(&s, &chosen);
        rc = measure_and_print(&m, s.path);
        if (!a->choose.data) rc = fail_without_data(&s, rc);
    }
    source_close(&s);
    return rc;
}

static int complete_writing(struct arguments *a, int64_t seed)
{
    if (a->attention && !a->question) return fail(ERR_USAGE, "--attention draws the answer to --ask");
    if (a->drawn && fnmatch("*.png", a->drawn, 0)) return fail(ERR_USAGE, "--out writes a PNG, so %s must end in .png", a->drawn);
    if (a->picture && (a->question || a->text || a->writing.prompt || a->latency || a->items || a->answers))
        return fail(ERR_USAGE, "a photograph or recording is taken alone; it excludes --ask, --text, --prompt, --latency, "
                    "--items and --predictions");
    struct infer_writing *w = &a->writing;
    bool how = w->length >= 0 || w->top >= 0 || !isnan(w->temperature) || seed >= 0;
    if (how && !w->prompt) return fail(ERR_USAGE, "--length, --temperature, --top-k and --seed say how --prompt is written on");
    if (w->prompt && (a->question || a->text || a->latency || a->items || a->answers))
        return fail(ERR_USAGE, "--prompt writes alone; it excludes --ask, --text, --latency, --items and --predictions");
    if (w->length < 0) w->length = 500;
    if (w->top < 0) w->top = 0;
    if (isnan(w->temperature)) w->temperature = 0.8;
    w->seed = seed < 0 ? 0 : (uint64_t)seed;
    return 0;
}

static int complete_playing(struct arguments *a)
{
    if (a->plays && a->match) return fail(ERR_USAGE, "--play is for a person and --match for a program: give one of them");
    a->plays |= a->match > 0;
    const bool asks = a->question || a->text || a->picture || a->writing.prompt;
    if (a->plays && (asks || a->latency || a->items || a->answers || a->drawn))
        return fail(ERR_USAGE, "--play and --match play alone; they exclude files, --ask, --text, --prompt, --latency, --items, "
                    "--predictions and --out");
    return 0;
}

int cmd_infer(int argc, char **argv)
{
    struct arguments a = {.cost = NAN, .warmup = 200, .target = NAN, .writing = {.length = -1, .top = -1, .temperature = NAN}};
    int64_t seed = -1;
    const struct option options[] = {
        {OPTION_FLAG, 'l', "latency", NULL, "measure latency at batch 1 and record it", &a.latency, 0, 0},
        {OPTION_INT, 0, "items", "N", "number of test samples, one at a time; 0: all", &a.items, 0, 1e9},
        {OPTION_TEXT, 0, "run", "RUN", "the run whose weights are used: a number, a name, or last", &a.run, 0, 0},
        {OPTION_INT, 0, "views", "N", "forward passes per item; default: as many as the recipe has", &a.views, 1, 64},
        {OPTION_PATH, 0, "weights", "FILE", "use this file: a checkpoint of DAWN, or safetensors of another program",
         &a.choose.files.weights, 0, 0},
        {OPTION_TEXT, 0, "model", "NAME", "the network, if the weights do not name it; default: the task's",
         &a.choose.model, 0, 0},
        {OPTION_PATH, 0, "recipe", "NAME|FILE", "the recipe, if the weights do not hold it; default: the data set's",
         &a.choose.recipe, 0, 0},
        {OPTION_LIST, 0, "set", "KEY=VALUE", "change one key of that recipe, or how weights that hold theirs decode (search.*)",
         &a.choose.set, 0, 0},
        {OPTION_PATH, 0, "vocab", "FILE", "the vocabulary of the tokenizer", &a.choose.files.vocab, 0, 0},
        {OPTION_PATH, 0, "vectors", "FILE", "vectors of words", &a.choose.files.vectors, 0, 0},
        {OPTION_PATH, 0, "predictions", "FILE", "write the answers to this file, if the task has a format for them",
         &a.answers, 0, 0},
        {OPTION_TEXT, 0, "ask", "WORDS", "answer this question about a text, translate this sentence or fill in its [MASK]",
         &a.question, 0, 0},
        {OPTION_PATH, 0, "text", "FILE", "the file with that text, or with lines to translate; \"-\": standard input", &a.text,
         0, 0},
        {OPTION_PATH, 0, "attention", "FILE", "draw which words of the question each word of the answer looked at, as SVG",
         &a.attention, 0, 0},
        {OPTION_PATH, 'o', "out", "FILE", "the PNG to write: the photograph with the boxes found, or a grid of made pictures",
         &a.drawn, 0, 0},
        {OPTION_TEXT, 0, "prompt", "WORDS", "write this text on", &a.writing.prompt, 0, 0},
        {OPTION_INT, 0, "length", "N", "with --prompt: characters to write; default: 500", &a.writing.length, 1, 1e6},
        {OPTION_FLOAT, 0, "temperature", "T", "with --prompt: divides the logits; 0: always the most likely; default: 0.8",
         &a.writing.temperature, 0, 100},
        {OPTION_INT, 0, "top-k", "N", "with --prompt: draw from the N most likely; default and 0: from all", &a.writing.top, 0,
         1e6},
        {OPTION_INT, 0, "seed", "N", "with --prompt: of the draws; default: 0", &seed, 0, 1e15},
        {OPTION_FLAG, 0, "play", NULL, "play against the network in the terminal", &a.plays, 0, 0},
        {OPTION_INT, 0, "match", "N", "let the network play N games against a search without a network", &a.match, 1, 10000},
        {OPTION_PATH, 0, "data", "NAME|DIR", "a data set of the task, or the folder that holds it", &a.choose.data, 0, 0},
        {OPTION_FLOAT, 't', "target", "SCORE", "score that a model needs to be eligible", &a.target, 0, 0},
        {OPTION_TEXT, 0, "device", "NAME", "cuda, cuda:1, cpu, ref or null", &a.choose.device, 0, 0},
        {OPTION_INT, 0, "threads", "N", "0: one or all, the faster of the two", &a.choose.threads, 0, 1024},
        {OPTION_FLAG, 0, "oversubscribe", NULL, "allow more threads than processors", &a.choose.oversubscribe, 0, 0},
        {OPTION_TEXT, 0, "precision", "P", "auto (the fastest), f32, bf16 or f16", &a.choose.precision, 0, 0},
        {OPTION_INT, 0, "warmup", "N", "requests before the measurement", &a.warmup, 0, 1e6},
        {OPTION_PATH, 0, "db", "FILE", "the record with the run, to which the figures are added", &a.database, 0, 0},
        {OPTION_FLOAT, 0, "cost-per-hour", "USD", "price of this machine", &a.cost, 0, 0},
        {OPTION_TEXT, 0, "instance", "NAME", "take the price of this instance from the table", &a.instance, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object instead of text", &a.json, 0, 0},
        {OPTION_FLAG, 'q', "quiet", NULL, "show no progress", &a.quiet, 0, 0},
        {0},
    };
    const struct usage usage = {"infer", "[TASK [FILE]] [OPTIONS]",
                                "Runs trained weights over the test set: shows their score and, with --latency, measures and "
                                "records the time of a request at batch 1. Without --run and --weights, takes the newest run "
                                "of the task that has weights; without TASK, the newest of any task. FILE is a photograph for "
                                "tasks that find things in it, JPEG or PNG, or a recording of speech: WAV, FLAC or sphere.",
                                options,
                                "Examples:\n"
                                "  dawn infer --latency\n"
                                "  dawn infer cifar10 --latency --run 3 --threads 1 --precision f32\n"
                                "  dawn infer squad --ask 'Who wrote it?' --text page.txt --vocab vocab.txt\n"
                                "  dawn infer multi30k --ask 'A dog runs.'\n"
                                "  dawn infer bccd photo.jpg -o boxes.png\n  dawn infer wgan-mnist -o grid.png\n"
                                "  dawn infer an4 hello.wav\n  dawn infer gpt-char --prompt 'ROMEO:'\n"
                                "  dawn infer connect4 --play\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc > 3) return fail(ERR_USAGE, "expected a task and one file at most; \"%.60s\" is one too many", argv[3]);
    a.task = argc >= 2 ? argv[1] : NULL;
    a.picture = argc == 3 ? argv[2] : NULL;
    if ((a.question || a.text) && (a.latency || a.items || a.answers))
        return fail(ERR_USAGE, "--ask and --text give answers alone; they exclude --latency, --items and --predictions");
    TRY(complete_writing(&a, seed));
    TRY(complete_playing(&a));
    return infer_task(&a);
}
