// SPDX-License-Identifier: Apache-2.0
// dawn infer: what trained weights answer on the test set: the score, and with --latency the time of one request.
#include "runtime/base/file.h"
#include "runtime/base/text.h"
#include "tasks/choose.h"
#include "tasks/commands.h"
#include "submit/format/contest.h"
#include "tasks/train/digests.h"
#include "tasks/measure/infer.h"
#include "tasks/record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct arguments {
    struct choose choose;  // files.weights: instead of a run's
    const char *run, *database, *instance, *answers, *question, *text;
    int64_t items, warmup;
    double cost, target;
    bool latency, json;
};

// A run took these files besides its data: another vocabulary would give other numbers to the words.
static int check_files_of_run(const struct task_files *files, const json_t *record, int64_t run)
{
    size_t at;
    json_t *row;
    json_array_foreach(json_object_get(record, "files"), at, row)
    {
        char digest[DIGEST_HEX];
        const char *kind = record_text(row, "kind");
        int i = 0;
        while (i < TASK_FILES && strcmp(task_files_name(i), kind)) i++;
        if (i == TASK_FILES || !strcmp(kind, "weights")) continue;  // it ended with others
        const char *path = task_files_path(files, i);
        if (!path)
            return fail(ERR_USAGE, "run %lld was trained with %s: name that file with --%s", (long long)run,
                        record_text(row, "name"), kind);
        TRY(digest_file(path, digest));
        if (strcmp(digest, record_text(row, "digest")))
            return fail(ERR_INPUT, "--%s: %s is not the file that run %lld was trained with: the digests differ", kind, path,
                        (long long)run);
    }
    return 0;
}

static int check_weights_of_run(const char *path, const json_t *record, int64_t run)
{
    char digest[DIGEST_HEX];
    TRY(digest_file(path, digest));
    if (!strcmp(digest, record_text(record, "weights_digest"))) return 0;
    return fail(ERR_INPUT, "%s does not have the weights that run %lld ended with: the digests differ", path, (long long)run);
}

// The checkpoint of a run is next to the database unless the record names another folder.
static int weights_of_run(const struct arguments *a, struct results *results, int64_t *run, char **path)
{
    json_t *record;
    TRY(record_find(results, a->run ? a->run : "last", run));
    TRY(record_read(results, *run, &record));
    const char *name = record_text(record, "checkpoint"), *file = result_file(results), *slash = strrchr(file, '/');
    int rc = 0;
    if (!*name)
        rc = fail(ERR_INPUT, "run %lld has no weights: it did not finish, or was trained with --save \"\"", (long long)*run);
    int folder = slash && name[0] != '/' ? (int)(slash - file + 1) : 0;
    if (rc == 0 && asprintf(path, "%.*s%s", folder, file, name) < 0) BUG("out of memory");
    if (rc == 0) rc = check_weights_of_run(*path, record, *run);
    if (rc == 0) rc = check_files_of_run(&a->choose.files, record, *run);
    json_decref(record);
    return rc;
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
    bool priced, eligible, synthetic;
    double target;
};

static struct latency_facts latency_facts_of(const struct measured *m, const struct run_data *test)
{
    const struct infer_figures *f = &m->figures;
    double board = m->chosen->task->target;  // a lower --target is shown but does not make a run eligible
    return (struct latency_facts){
        .run = m->a->choose.files.weights ? 0 : m->run, .weights_digest = f->digest,
        .task = m->chosen->task->name, .model = f->recipe.model,
        .precision = dtype_name(f->dtype), .device = f->device_type,
        .target_micro = llround(fmax(m->target, board) * 1e6), .threads = f->threads, .items = f->items,
        .warmup_items = f->warmup, .model_ns = f->model_ns, .whole_ns = f->whole_ns, .k = f->score[0],
        .views = m->chosen->task->prepare || f->recipe.views < 1 ? 1 : (int)f->recipe.views,
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
    if (rc == 0) {
        const struct dataset_facts *d = dataset_facts(data);
        struct run_data test = {d->name, split_name(SPLIT_TEST), digests_hex(digests, SPLIT_TEST), d->count[SPLIT_TEST],
                                d->official, d->synthetic};
        struct latency_facts facts = latency_facts_of(m, &test);
        struct machine_facts machine;
        struct software_facts software;
        m->eligible = result_eligible(&facts);
        m->synthetic = d->synthetic;
        rc = machine_with(&m->figures.device, &machine, &software);
        facts.machine = &machine, facts.software = &software;
        if (rc == 0 && m->a->latency) rc = result_latency(m->results, &facts, &id);
    }
    digests_free(digests);
    dataset_close(data);
    return rc;
}

static void print_times(const char *what, const struct latency_times *t)
{
    printf("  %-22s mean %.3f ms   p50 %.3f   p90 %.3f   p99 %.3f\n", what, (double)t->mean * 1e-6, (double)t->p50 * 1e-6,
           (double)t->p90 * 1e-6, (double)t->p99 * 1e-6);
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

static void print_json(const struct measured *m)
{
    const struct infer_figures *f = &m->figures;
    const struct metric *metrics = m->chosen->task->metrics;
    json_t *o = json_pack("{sI ss ss sI ss si sb sb}", "run", (json_int_t)(m->a->choose.files.weights ? 0 : m->run), "model",
                          f->recipe.model, "weights_digest", f->digest, "items", (json_int_t)f->items, "precision",
                          dtype_name(f->dtype), "threads", f->threads, "eligible", m->eligible, "synthetic", m->synthetic);
    json_t *scores = json_object();
    for (int i = 0; metrics[i].name; i++) json_object_set_new(scores, metrics[i].name, json_integer(f->score[i]));
    json_object_set_new(o, "scores", scores);
    if (metrics[0].kind == METRIC_COUNT) json_object_set_new(o, "correct", json_integer(f->score[0]));
    if (o && m->a->latency) {
        json_object_set_new(o, "model_ns", json_times(&f->model_ns));
        json_object_set_new(o, "whole_ns", json_times(&f->whole_ns));
        if (m->priced) json_object_set_new(o, "cost_of_10000_micro_usd", json_integer(cost_of(m)));
    }
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    puts(text ? text : "{}");
    free(text);
    json_decref(o);
}

// One metric of the pass; the first has the target.
static void print_score(const struct measured *m, int number)
{
    const struct infer_figures *f = &m->figures;
    const struct task *task = m->chosen->task;
    const struct metric *is = &task->metrics[number];
    const struct run_metric metric = {is->name, is->unit, is->lower_is_better, is->kind == METRIC_COUNT ? f->items : 0};
    char items[TEXT_FIGURE], score[TEXT_FIGURE], label[64] = "accuracy of this pass";
    bool met = number > 0 || run_metric_meets(&metric, f->score[0], llround(m->target * 1e6));
    run_metric_text(&metric, f->score[number], score);
    if (metric.items) snprintf(score, sizeof score, "%.2f%%", floor(1e4 * (double)f->score[number] / (double)f->items) / 100);
    if (number > 0 || !metric.items) snprintf(label, sizeof label, "%s of this pass", is->name);
    printf("  %-22s %s of %s test %s%s\n", label, score, text_count(items, f->items), task_samples(task),
           met ? "" : is->lower_is_better ? ", above the target" : ", below the target");
}

static void print_text(const struct measured *m)
{
    const struct infer_figures *f = &m->figures;
    char cost[COST_TEXT];
    printf("%s, %s, %d thread%s\n", f->recipe.model, dtype_name(f->dtype), f->threads, f->threads == 1 ? "" : "s");
    if (*f->imported) printf("  %-22s %s\n", "taken of the weights", f->imported);
    for (int i = 0; m->chosen->task->metrics[i].name; i++) print_score(m, i);
    if (m->a->latency) {
        print_times("with preprocessing", &f->whole_ns);
        print_times("model alone", &f->model_ns);
        char label[64];
        snprintf(label, sizeof label, "10,000 %s cost", task_samples(m->chosen->task));
        if (m->priced) printf("  %-22s %s\n", label, cost_text(cost, cost_of(m)));
        if (!m->eligible && !m->synthetic) puts("  not eligible: this requires the whole published test set, and the target");
    }
    if (m->synthetic) puts("  SYNTHETIC data: its latency is listed on no board");
}

// ---- a question from the terminal

enum { TEXT_LIMIT = 16 << 20 };

// All of standard input, or of a file.
static int read_text(const char *path, char **bytes, size_t *count)
{
    struct text text = {0};
    char piece[4096];
    if (path && strcmp(path, "-")) return file_read(path, TEXT_LIMIT, bytes, count);
    for (size_t n; (n = fread(piece, 1, sizeof piece, stdin)) > 0 && text.length <= TEXT_LIMIT;) text_bytes(&text, piece, n);
    *bytes = text.at ? text.at : zalloc(1);
    *count = text.length;
    if (text.length <= TEXT_LIMIT) return 0;
    free(*bytes);
    return fail(ERR_INPUT, "a text of more than %d MiB is too long", TEXT_LIMIT >> 20);
}

static int print_told(const struct measured *m, const char *told)
{
    if (!m->a->json) {
        puts(*told ? told : "(no answer)");
        return 0;
    }
    json_t *o = json_pack("{ss ss}", "question", m->a->question, "answer", told);
    char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
    puts(text ? text : "{}");
    free(text);
    json_decref(o);
    return 0;
}

// The training texts may belong to what the weights mean (a vocabulary made of them), but most weights do without.
static int ask_question(struct measured *m, struct infer_options *o)
{
    const struct arguments *a = m->a;
    struct dataset *like = NULL;
    char *text, *told = NULL;
    size_t count;
    if (!o->task->ask) return fail(ERR_USAGE, "task %s answers no questions", o->task->name);
    TRY(read_text(a->text, &text, &count));
    int rc = dataset_open(o->data_name, o->data_folder, &like);
    if (rc == ERR_MISSING) rc = 0, like = NULL;
    if (rc == 0) rc = o->task->ask(like, text, count, a->question, &o->data);
    o->told = &told, o->singles = false, o->answers = NULL;
    if (rc == 0) rc = infer_measure(o, &m->figures);
    if (rc == 0) rc = print_told(m, told);
    dataset_close(o->data);
    dataset_close(like);
    free(told);
    free(text);
    return rc;
}

static int measure_and_print(struct measured *m, const char *weights)
{
    const struct arguments *a = m->a;
    const struct choose *c = &a->choose;
    m->options = (struct infer_options){
        .task = m->chosen->task, .data_name = m->chosen->data_name, .data_folder = m->chosen->data_folder,
        .files = {weights, c->files.vocab, c->files.vectors}, .recipe = &m->chosen->recipe,
        .device = c->device, .threads = (int)c->threads, .precision = (enum recipe_precision)m->chosen->recipe.precision,
        .items = a->items, .warmup = a->warmup, .singles = a->latency || a->items, .answers = a->answers};
    m->target = isnan(a->target) ? m->chosen->task->target : a->target;
    if (a->question) return ask_question(m, &m->options);
    TRY(price_choose(a->instance, a->cost, &m->price, &m->priced));
    TRY(infer_tune(&m->options));
    TRY(infer_measure(&m->options, &m->figures));
    TRY(judge_and_record(m));
    if (a->json) print_json(m);
    else print_text(m);
    return 0;
}

// Without --data, the weights of a run are tested on the data set that it was trained on.
static const char *data_of_run(const struct arguments *a, const struct task *task, struct results *results, int64_t run,
                               char name[64])
{
    json_t *record;
    const struct choose *c = &a->choose;
    if (c->data || c->files.weights || record_read(results, run, &record) < 0) return c->data;
    const json_t *first = json_array_get(json_object_get(record, "data_sets"), 0);
    snprintf(name, 64, "%s", record_text(first, "name"));
    json_decref(record);
    for (int i = 1; task->data_sets[i]; i++)
        if (!strcmp(name, task->data_sets[i])) return name;
    return NULL;
}

static int infer_task(const struct arguments *a, const char *name_of_task)
{
    const struct task *task;
    const char *weights = a->choose.files.weights;
    TRY(task_find(name_of_task, &task));
    struct results *results = NULL;  // --weights needs no record, unless the figures are recorded
    int64_t id = 0;
    char *path = NULL, name[64];
    // A run's weights cannot come from a new record, so none is created for them.
    bool writes = a->latency && (weights || file_exists(results_path(a->database)));
    if (writes || !weights) TRY(results_open(a->database, writes ? RESULTS_WRITE : RESULTS_READ, &results));
    int rc = weights ? 0 : weights_of_run(a, results, &id, &path);
    struct choose choice = a->choose;
    choice.files.weights = NULL;  // any task is inferred with weights, whether it begins with some or not
    if (rc == 0) choice.data = data_of_run(a, task, results, id, name);
    struct chosen chosen;
    if (rc == 0) rc = choose(&choice, task->name, &chosen);
    struct measured m = {.a = a, .chosen = &chosen, .results = results, .run = id};
    if (rc == 0) rc = measure_and_print(&m, weights ? weights : path);
    free(path);
    if (results) results_close(results);
    return rc;
}

int cmd_infer(int argc, char **argv)
{
    struct arguments a = {.cost = NAN, .warmup = 200, .target = NAN};
    const struct option options[] = {
        {OPTION_FLAG, 'l', "latency", NULL, "measure latency at batch 1 and record it", &a.latency, 0, 0},
        {OPTION_INT, 0, "items", "N", "test samples, one at a time; 0: all", &a.items, 0, 1e9},
        {OPTION_TEXT, 0, "run", "ID", "the run whose weights are used; default: the last", &a.run, 0, 0},
        {OPTION_TEXT, 0, "weights", "FILE", "instead of a run's: a checkpoint, or a safetensors file of another program",
         &a.choose.files.weights, 0, 0},
        {OPTION_TEXT, 0, "model", "NAME", "the network, where the weights do not name it; default: the task's",
         &a.choose.model, 0, 0},
        {OPTION_TEXT, 0, "recipe", "NAME|FILE", "its settings, likewise; default: the data set's", &a.choose.recipe, 0, 0},
        {OPTION_LIST, 0, "set", "KEY=VALUE", "change one key of that recipe", &a.choose.set, 0, 0},
        {OPTION_TEXT, 0, "vocab", "FILE", "the vocabulary of the tokenizer", &a.choose.files.vocab, 0, 0},
        {OPTION_TEXT, 0, "vectors", "FILE", "vectors of words", &a.choose.files.vectors, 0, 0},
        {OPTION_TEXT, 0, "predictions", "FILE", "write the answers, where the task has a form for them", &a.answers, 0, 0},
        {OPTION_TEXT, 0, "ask", "QUESTION", "answer this question about a text, and nothing else", &a.question, 0, 0},
        {OPTION_TEXT, 0, "text", "FILE", "that text; default, and \"-\": standard input", &a.text, 0, 0},
        {OPTION_TEXT, 0, "data", "NAME|DIR", "a data set of the task, or the folder that holds it", &a.choose.data, 0, 0},
        {OPTION_FLOAT, 't', "target", "SHARE", "score that a model needs to be eligible", &a.target, 0, 1},
        {OPTION_TEXT, 0, "device", "NAME", "cuda, cuda:1, cpu, ref or null", &a.choose.device, 0, 0},
        {OPTION_INT, 0, "threads", "N", "0: one or all, whichever is faster", &a.choose.threads, 0, 1024},
        {OPTION_TEXT, 0, "precision", "P", "auto (whichever is faster), f32, bf16 or f16", &a.choose.precision, 0, 0},
        {OPTION_INT, 0, "warmup", "N", "requests before the measurement", &a.warmup, 0, 1e6},
        {OPTION_TEXT, 0, "db", "FILE", "the record that has the run and gets the figures", &a.database, 0, 0},
        {OPTION_FLOAT, 0, "cost-per-hour", "USD", "price of this machine", &a.cost, 0, 0},
        {OPTION_TEXT, 0, "instance", "NAME", "take the price of this instance from the table", &a.instance, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object instead of text", &a.json, 0, 0},
        {0},
    };
    const struct usage usage = {"infer", "TASK [OPTIONS]",
                                "Runs trained weights over the test set: the score, and with --latency the time\n"
                                "of a request at batch 1, which is recorded.",
                                options,
                                "Examples:\n"
                                "  dawn infer cifar10 --latency\n"
                                "  dawn infer cifar10 --latency --run 3 --threads 1 --precision f32\n"
                                "  dawn infer squad --ask 'Who wrote it?' --text page.txt --vocab vocab.txt\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc) return rc > 0 ? 0 : rc;
    if (argc != 2) return task_wanted("");
    if (a.text && !a.question) return fail(ERR_USAGE, "--text is the text that --ask asks about");
    if (a.question && (a.latency || a.items || a.answers))
        return fail(ERR_USAGE, "--ask answers one question: --latency, --items and --predictions do not go with it");
    return infer_task(&a, argv[1]);
}
