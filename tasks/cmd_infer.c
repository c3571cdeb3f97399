// SPDX-License-Identifier: Apache-2.0
// dawn infer: classifies test images one at a time with trained weights.
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
    const char *data, *weights, *run, *database, *device, *instance, *precision;
    int64_t items, threads, warmup;
    double cost, target;
    bool latency, json;
};

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
        .run = m->a->weights ? 0 : m->run, .weights_digest = f->digest, .task = m->chosen->task->name, .model = f->recipe.model,
        .precision = dtype_name(f->dtype), .device = f->device_type,
        .target_micro = llround(fmax(m->target, board) * 1e6), .threads = f->threads, .items = f->items,
        .warmup_items = f->warmup, .model_ns = f->model_ns, .whole_ns = f->whole_ns, .k = f->correct, .views = 1,
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

static int64_t cost_of(const struct measured *m)  // of 10,000 images
{
    return cost_inference_micro(m->figures.whole_ns.mean, 10000, m->price.micro_per_hour);
}

static void print_json(const struct measured *m)
{
    const struct infer_figures *f = &m->figures;
    json_t *o = json_pack("{sI ss ss sI sI ss si sb sb}", "run", (json_int_t)(m->a->weights ? 0 : m->run), "model",
                          f->recipe.model, "weights_digest", f->digest, "items", (json_int_t)f->items, "correct",
                          (json_int_t)f->correct, "precision", dtype_name(f->dtype), "threads", f->threads, "eligible",
                          m->eligible, "synthetic", m->synthetic);
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

static void print_text(const struct measured *m)
{
    const struct infer_figures *f = &m->figures;
    char items[TEXT_FIGURE], cost[COST_TEXT];
    bool met = contest_meets(f->correct, f->items, llround(m->target * 1e6));
    printf("%s, %s, %d thread%s\n", f->recipe.model, dtype_name(f->dtype), f->threads, f->threads == 1 ? "" : "s");
    double percent = floor(1e4 * (double)f->correct / (double)f->items) / 100;
    printf("  %-22s %.2f%% of %s test images%s\n", "accuracy of this pass", percent, text_count(items, f->items),
           met ? "" : ", below the target");
    if (m->a->latency) {
        print_times("with preprocessing", &f->whole_ns);
        print_times("model alone", &f->model_ns);
        if (m->priced) printf("  %-22s %s\n", "10,000 images cost", cost_text(cost, cost_of(m)));
        if (!m->eligible && !m->synthetic) puts("  not eligible: this requires the whole published test set, and the target");
    }
    if (m->synthetic) puts("  SYNTHETIC data: its latency is listed on no board");
}

static int measure_and_print(struct measured *m, const char *weights)
{
    const struct arguments *a = m->a;
    m->options = (struct infer_options){
        .task = m->chosen->task, .data_name = m->chosen->data_name, .data_folder = m->chosen->data_folder, .weights = weights,
        .device = a->device, .threads = (int)a->threads, .precision = (enum recipe_precision)m->chosen->recipe.precision,
        .items = a->items, .warmup = a->warmup};
    m->target = isnan(a->target) ? m->chosen->task->target : a->target;
    TRY(price_choose(a->instance, a->cost, &m->price, &m->priced));
    TRY(infer_tune(&m->options));
    TRY(infer_measure(&m->options, &m->figures));
    TRY(judge_and_record(m));
    if (a->json) print_json(m);
    else print_text(m);
    return 0;
}

// Without --data, the weights of a run are tested on the data set that it was trained on.
static const char *data_of_run(const struct arguments *a, struct results *results, int64_t run, char name[64])
{
    json_t *record;
    if (a->data || a->weights || record_read(results, run, &record) < 0) return a->data;
    const json_t *first = json_array_get(json_object_get(record, "data_sets"), 0);
    snprintf(name, 64, "%s", record_text(first, "name"));
    json_decref(record);
    return !strcmp(name, "synthetic") ? name : NULL;
}

static int infer_task(const struct arguments *a, const char *task)
{
    struct results *results = NULL;  // --weights needs no record, unless the figures are recorded
    int64_t id = 0;
    char *path = NULL, name[64];
    // A run's weights cannot come from a new record, so none is created for them.
    bool writes = a->latency && (a->weights || file_exists(results_path(a->database)));
    if (writes || !a->weights) TRY(results_open(a->database, writes ? RESULTS_WRITE : RESULTS_READ, &results));
    int rc = a->weights ? 0 : weights_of_run(a, results, &id, &path);
    struct choose choice = {.data = rc < 0 ? NULL : data_of_run(a, results, id, name), .precision = a->precision};
    struct chosen chosen;
    if (rc == 0) rc = choose(&choice, task, &chosen);
    struct measured m = {.a = a, .chosen = &chosen, .results = results, .run = id};
    if (rc == 0) rc = measure_and_print(&m, a->weights ? a->weights : path);
    free(path);
    if (results) results_close(results);
    return rc;
}

int cmd_infer(int argc, char **argv)
{
    struct arguments a = {.cost = NAN, .warmup = 200, .target = NAN};
    const struct option options[] = {
        {OPTION_FLAG, 'l', "latency", NULL, "measure latency at batch 1 and record it", &a.latency, 0, 0},
        {OPTION_INT, 0, "items", "N", "test images; 0: all", &a.items, 0, 1e9},
        {OPTION_TEXT, 0, "run", "ID", "the run whose weights are used; default: the last", &a.run, 0, 0},
        {OPTION_TEXT, 0, "weights", "FILE", "a checkpoint, instead of a run's", &a.weights, 0, 0},
        {OPTION_TEXT, 0, "data", "NAME|DIR", "a data set of the task, or the folder that holds it", &a.data, 0, 0},
        {OPTION_FLOAT, 't', "target", "SHARE", "accuracy that a model needs to be eligible", &a.target, 0, 1},
        {OPTION_TEXT, 0, "device", "NAME", "cuda, cuda:1, cpu, ref or null", &a.device, 0, 0},
        {OPTION_INT, 0, "threads", "N", "0: one or all, whichever is faster", &a.threads, 0, 1024},
        {OPTION_TEXT, 0, "precision", "P", "auto (whichever is faster), f32, bf16 or f16", &a.precision, 0, 0},
        {OPTION_INT, 0, "warmup", "N", "images before the measurement", &a.warmup, 0, 1e6},
        {OPTION_TEXT, 0, "db", "FILE", "the record that has the run and gets the figures", &a.database, 0, 0},
        {OPTION_FLOAT, 0, "cost-per-hour", "USD", "price of this machine", &a.cost, 0, 0},
        {OPTION_TEXT, 0, "instance", "NAME", "take the price of this instance from the table", &a.instance, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON object instead of text", &a.json, 0, 0},
        {0},
    };
    const struct usage usage = {"infer", "TASK [OPTIONS]",
                                "Classifies test images one at a time with trained weights: accuracy, and with\n"
                                "--latency the time of a request at batch 1, which is recorded.",
                                options,
                                "Examples:\n"
                                "  dawn infer cifar10 --latency\n"
                                "  dawn infer cifar10 --latency --run 3 --threads 1 --precision f32\n"};
    int rc = options_parse(&usage, &argc, argv);
    if (rc) return rc > 0 ? 0 : rc;
    if (argc != 2) return task_wanted("");
    return infer_task(&a, argv[1]);
}
