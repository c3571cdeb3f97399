// SPDX-License-Identifier: Apache-2.0
// The request is a stored sample, or one that the task made of them all. Preprocessing is the feed's fill on the host (decoding,
// cropping, padding) and the copy to the device. If a view makes several samples of a request, its time is the sum of theirs. The
// programs come from the task's inference, or from its evaluation, at batch 1, so the score comes from the task's own metrics
// and judge. Invariant: the time of a request covers all of its work, and the mean is over all requests except the warm-up.
#include "tasks/tools/infer/infer_inside.h"

#include "runtime/common/base/clock.h"
#include "runtime/common/base/sort.h"
#include "runtime/common/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// The nearest rank: the smallest of the sorted times that at least `percent` of them do not exceed.
static int64_t percentile_of(const int64_t *sorted, int64_t n, int percent)
{
    return sorted[(n * percent + 99) / 100 - 1];
}

struct latency_times infer_summarise(int64_t *ns, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)ns[i];
    qsort(ns, (size_t)n, sizeof *ns, sort_i64);
    return (struct latency_times){(int64_t)(sum / (double)n + 0.5), percentile_of(ns, n, 50), percentile_of(ns, n, 90),
                                  percentile_of(ns, n, 99)};
}

bool infer_late(const struct serving *s, double share)
{
    return s->options->limit_ns > 0 && (double)(clock_ns() - s->begun_ns) > share * (double)s->options->limit_ns;
}

void infer_tell(struct serving *s, const char *what, int64_t done, int64_t all)
{
    enum { EVERY_NS = 1000000000 };
    const struct infer_options *o = s->options;
    if (o->progress == NULL || clock_ns() - s->told_ns < EVERY_NS) return;
    o->progress(o->context, what, done, all);
    s->told_ns = clock_ns();
}

// Implied for resident data, which an inference does not load.
bool infer_singles(const struct infer_options *o)
{
    return o->singles || !o->task->feed;
}

int infer_serve_build(struct serving *s, const struct infer_options *o)
{
    const struct task *task = o->task;
    if (task->view) TRY(task->view(&s->setting, s->data, &s->view));
    struct dataset *data = s->view ? s->view : s->data;
    s->setting.data = dataset_facts(data);
    s->setting.single = infer_singles(o), s->setting.shows = o->drawn || o->exhibit;
    if (o->drawn && (!task->judge || !task->judge->draw))
        return fail(ERR_USAGE, "task %s has no attention to draw", task->name);
    TRY(supply_new(&s->supply, &s->setting, data, FEED_TEST));
    s->setting.feed[FEED_TEST] = &s->supply.choice;
    if (o->answers && (!task->judge || !task->judge->write))
        return fail(ERR_USAGE, "task %s writes no file of predictions", task->name);
    s->evaluation = (struct evaluation){.setting = &s->setting, .stored = s->data, .view = data, .session = s->session,
                                        .slots = &s->slots, .supply = &s->supply, .last = true,
                                        .lines = o->lines, .drawn = o->drawn, .exhibit = o->exhibit};
    return evaluation_build(&s->evaluation);
}

// ---- one request

static int fill_sample(struct serving *s, const struct order_batch *batch)
{
    const struct feed_choice *c = &s->supply.choice;
    struct feed_slots *slots = &s->slots.feed[FEED_TEST];
    struct feed_item item = {.split = c->split, .index = order_samples(s->supply.order)[batch->first], .bucket = batch->bucket};
    TRY(feed_one(c, s->worker, &item, s->field));
    for (int f = 0; f < c->fields; f++) {
        struct slot *slot = slots->input[f][batch->bucket];
        if (slot) TRY(session_write(s->session, slot, s->field[f], 0, slot_bytes(slot)));
    }
    return 0;
}

// A task without outputs has counters, which are read instead.
static int read_answer(struct serving *s, const struct variant *is)
{
    const struct slot *hits = s->slots.test.hits[0];
    int32_t count;
    if (is->output[0]) return evaluation_read(&s->evaluation, is, s->outputs);
    return hits ? session_read(s->session, hits, &count, sizeof count) : session_sync(s->session);
}

static bool are_numbers(const struct variant *is, const char *outputs)
{
    for (int i = 0; i < OUTPUTS_MAX; i++) {
        const struct slot *slot = is->output[i];
        if (!slot) continue;
        const float *x = (const float *)outputs;
        for (int64_t at = 0, n = slot->dtype == F32 ? shape_count(&slot->shape) : 0; at < n; at++)
            if (isnan(x[at])) return false;
        outputs += arena_round_up(slot_bytes(slot), 8);
    }
    return true;
}

// Reads the clock before preparing, between preparing and computing, and after computing. Adds to both times. Waits for the
// device only at the end, so on a device with a queue the copy of the sample counts as time of the model.
static int serve_sample(struct serving *s, const struct order_batch *batch, int64_t *model, int64_t *whole)
{
    const struct evaluation_program *p = evaluation_find(&s->evaluation, batch);
    BUG_IF(!p);
    int64_t begin = clock_ns();
    TRY(fill_sample(s, batch));
    int64_t ready = clock_ns();
    TRY(evaluation_answer(&s->evaluation, batch));
    TRY(read_answer(s, &p->is));
    int64_t end = clock_ns();
    if (!are_numbers(&p->is, s->outputs))
        return fail(ERR_INPUT, "the network's output is not a number: the weights are damaged");
    *model += end - ready, *whole += end - begin;
    return 0;
}

// ---- all of them

static void take_memory(struct serving *s, int64_t items)
{
    const struct feed_choice *c = &s->supply.choice;
    for (int f = 0; f < c->fields; f++) {
        size_t most = 0;
        for (int b = 0; b < c->order.buckets; b++) most = feed_bytes(&c->field[f], b) > most ? feed_bytes(&c->field[f], b) : most;
        s->field[f] = zalloc(most + 1);
    }
    s->outputs = zalloc(evaluation_output_bytes(&s->evaluation) + 1);
    s->model_ns = zalloc((size_t)items * sizeof *s->model_ns);
    s->whole_ns = zalloc((size_t)items * sizeof *s->whole_ns);
    if (c->worker_new) s->worker = c->worker_new(c->context);
}

// Stored samples, of which a view may make several, or the view's own.
static int64_t count_requests(const struct serving *s)
{
    const struct dataset *of = s->setting.task->request ? s->data : s->evaluation.view;
    return dataset_facts(of)->count[s->supply.choice.split];
}

// The number of the request to which a batch of one sample belongs.
static int64_t request_of(const struct serving *s, int64_t number)
{
    const struct task *task = s->setting.task;
    int32_t sample = order_samples(s->supply.order)[order_batch(s->supply.order, number).first];
    return task->request ? task->request(&s->setting, s->evaluation.view, sample) : number;
}

static int serve_items(struct serving *s, int64_t items, void *judging)
{
    for (int64_t i = 0, all = supply_batches(&s->supply), served = 0; i < all && (served == 0 || !infer_late(s, 1)); i++) {
        struct order_batch batch = order_batch(s->supply.order, i);
        int64_t request = request_of(s, i);
        if (request >= items) continue;
        served++;
        TRY(serve_sample(s, &batch, &s->model_ns[request], &s->whole_ns[request]));
        const struct evaluation_program *p = evaluation_find(&s->evaluation, &batch);
        TRY(evaluation_judge(&s->evaluation, judging, &p->is, &batch, s->outputs));
        infer_tell(s, s->options->trial ? s->options->trial : "measuring", request + 1, items);
    }
    return 0;
}

// Drops the requests that a trial did not come to.
static void keep_served(struct serving *s, int64_t *items)
{
    int64_t served = 0;
    for (int64_t i = 0; i < *items; i++)
        if (s->whole_ns[i] > 0) s->model_ns[served] = s->model_ns[i], s->whole_ns[served++] = s->whole_ns[i];
    *items = served;
}

static int tell_batches(void *context, int64_t done, int64_t all)
{
    infer_tell(context, "evaluating", done, all);
    return 0;
}

static int measure_singles(struct serving *s, const struct infer_options *o, struct infer_figures *f)
{
    struct evaluation *e = &s->evaluation;
    void *judging;
    int64_t requests = count_requests(s), samples = supply_batches(&s->supply), spent[2] = {0};
    f->items = o->items && o->items < requests ? o->items : requests;
    take_memory(s, f->items);
    if (e->fold != NONE) TRY(session_run(s->session, e->fold));
    for (int64_t i = 0; i < o->warmup && !infer_late(s, 0.5); i++) {  // spread over all buckets
        struct order_batch batch = order_batch(s->supply.order, (int64_t)((double)i / (double)o->warmup * (double)samples));
        TRY(serve_sample(s, &batch, &spent[0], &spent[1]));
        infer_tell(s, o->trial ? o->trial : "warming up", i + 1, o->warmup);
    }
    TRY(evaluation_begin(e, &judging));
    int rc = serve_items(s, f->items, judging);
    TRY(evaluation_end(e, judging, rc, o->answers, f->score));
    if (o->limit_ns > 0) keep_served(s, &f->items);
    f->model_ns = infer_summarise(s->model_ns, f->items);
    f->whole_ns = infer_summarise(s->whole_ns, f->items);
    return 0;
}

static int measure_batches(struct serving *s, const struct infer_options *o, struct infer_figures *f)
{
    f->items = count_requests(s);
    s->evaluation.between = tell_batches, s->evaluation.context = s;
    TRY(supply_load(&s->supply, s->session, &s->slots.feed[FEED_TEST]));
    return evaluation_run(&s->evaluation, o->answers, f->score);
}

int infer_serve(struct serving *s, const struct infer_options *o, struct infer_figures *f)
{
    struct damage_report damage;
    struct text text = {0};
    TRY(infer_singles(o) ? measure_singles(s, o, f) : measure_batches(s, o, f));
    f->counts_damaged = supply_damaged(&s->supply, &damage);
    f->damaged = f->counts_damaged ? damage.count : 0;
    supply_damaged_text(&s->supply, &text);
    snprintf(f->damaged_text, sizeof f->damaged_text, "%s", text.at ? text.at : "");
    text_free(&text);
    return 0;
}

void infer_serve_close(struct serving *s)
{
    const struct feed_choice *c = &s->supply.choice;
    evaluation_close(&s->evaluation);
    if (s->worker && c->worker_free) c->worker_free(s->worker);
    for (int f = 0; f < FEED_FIELDS; f++) free(s->field[f]);
    free(s->outputs);
    supply_free(&s->supply);
}
