// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/evaluation.h"

#include "runtime/common/base/text.h"
#include "runtime/ranks/ranks.h"

#include <math.h>
#include <stdlib.h>

// ---- programs

const struct evaluation_program *evaluation_find(const struct evaluation *e, const struct order_batch *batch)
{
    for (int i = 0; i < e->programs; i++)
        if (e->program[i].is.bucket == batch->bucket && e->program[i].is.batch == batch->count) return &e->program[i];
    return NULL;
}

static bool is_part(const struct task_program *p, enum program_kind kind)
{
    return p->feed == FEED_TEST && (p->kind == kind || (kind == PROGRAM_EVALUATE && p->kind > PROGRAM_INFER));
}

// One program, or all of the kind if the task decides which ones run. `begins`: the batch comes from the feed.
static int add_programs(struct evaluation *e, bool begins, struct evaluation_program *into)
{
    const struct setting *c = e->setting;
    const struct task_program *p;
    int first = task_find_program(c, c->single ? PROGRAM_INFER : PROGRAM_EVALUATE);
    BUG_IF(first == NONE);
    enum program_kind kind = task_program(c, first)->kind;
    into->first = NONE;
    for (int i = 0; i < PROGRAMS_MAX; i++) into->program[i] = NONE;
    for (int i = first; (p = task_program(c, i)); i++) {
        if (!is_part(p, kind) || (!begins && p->kind == kind)) continue;
        if (p->kind == PROGRAM_SHRINK && !drive_shrunk(into->is.batch)) continue;
        TRY(into->program[i] = step_evaluate(e->session, c, e->slots, &into->is, i, &e->fold));
        if (into->first == NONE) into->first = i;
        if (!c->task->answer) break;
    }
    return 0;
}

static int add_size(struct evaluation *e, const struct order_batch *batch, bool begins)
{
    if (evaluation_find(e, batch)) return 0;
    BUG_IF(e->programs == EVALUATION_PROGRAMS);
    struct evaluation_program *into = &e->program[e->programs];
    into->is = (struct variant){.batch = batch->count, .bucket = batch->bucket};
    if (e->setting->task->evaluation) e->setting->task->evaluation(e->setting, &into->is);
    TRY(add_programs(e, begins, into));
    e->programs++;
    return 0;
}

static bool shrinks(const struct setting *c)
{
    const struct task_program *p;
    for (int i = 0; (p = task_program(c, i)); i++)
        if (p->kind == PROGRAM_SHRINK) return !c->single;
    return false;
}

// Programs for the full batches of each bucket and for the short batch at its end, also of other processes, because this
// process judges their outputs, too. Then those for the batches that these shrink to.
int evaluation_build(struct evaluation *e)
{
    e->programs = 0, e->fold = NONE;
    for (int64_t i = 0; i < order_all_batches(e->supply->order); i++) {
        struct order_batch batch = order_all_batch(e->supply->order, i);
        TRY(add_size(e, &batch, true));
    }
    for (int i = 0; i < e->programs && shrinks(e->setting); i++) {
        struct order_batch fewer = {.bucket = e->program[i].is.bucket, .count = drive_shrunk(e->program[i].is.batch)};
        if (fewer.count) TRY(add_size(e, &fewer, false));
    }
    return 0;
}

// ---- counters

static int reset_counters(struct evaluation *e)
{
    const struct step_counts *counts = &e->slots->test;
    int32_t zero = 0;
    for (int m = 0; m < METRICS_MAX; m++) {
        if (counts->hits[m]) TRY(session_write(e->session, counts->hits[m], &zero, 0, sizeof zero));
        if (counts->tries[m]) TRY(session_write(e->session, counts->tries[m], &zero, 0, sizeof zero));
        if (counts->total[m]) TRY(session_write(e->session, counts->total[m], &zero, 0, sizeof zero));
    }
    int rc = 0;
    for (int i = 0; i < e->slots->carries && rc == 0; i++) {
        void *zeros = zalloc(slot_bytes(e->slots->carried[i]));
        rc = session_write(e->session, e->slots->carried[i], zeros, 0, slot_bytes(e->slots->carried[i]));
        free(zeros);
    }
    return rc;
}

// Sums over all processes.
static int read_counters(struct evaluation *e, int64_t hits[METRICS_MAX], int64_t tries[METRICS_MAX])
{
    const struct step_counts *counts = &e->slots->test;
    int64_t count[2 * METRICS_MAX] = {0};
    for (int i = 0; i < 2 * METRICS_MAX; i++) {
        struct slot *slot = i % 2 ? counts->tries[i / 2] : counts->hits[i / 2];
        int32_t value;
        if (!slot) continue;
        TRY(session_read(e->session, slot, &value, sizeof value));
        count[i] = value;
    }
    TRY(ranks_add(count, 2 * METRICS_MAX));
    for (int m = 0; m < METRICS_MAX; m++) hits[m] = count[2 * m], tries[m] = count[2 * m + 1];
    return 0;
}

// Of all processes, added in their order.
static int read_total(struct evaluation *e, struct slot *slot, double *total)
{
    float mine, *all = zalloc((size_t)ranks_size() * sizeof *all);
    int rc = session_read(e->session, slot, &mine, sizeof mine);
    if (rc == 0) rc = ranks_gather(&mine, sizeof mine, all);
    *total = 0;
    for (int i = 0; i < ranks_size() && rc == 0; i++) *total += (double)all[i];
    free(all);
    return rc;
}

// Reads the metrics that the graph counts. The judge computes the others.
static int read_scores(struct evaluation *e, int64_t score[METRICS_MAX])
{
    const struct step_counts *counts = &e->slots->test;
    const struct metric *metrics = e->setting->task->metrics;
    int64_t hits[METRICS_MAX], tries[METRICS_MAX];
    TRY(read_counters(e, hits, tries));
    for (int m = 0; metrics[m].name; m++) {
        double total;
        if (counts->total[m]) {
            TRY(read_total(e, counts->total[m], &total));
            if (!isfinite(total)) return fail(ERR_INPUT, "the %s is not a number", metrics[m].name);
            score[m] = tries[m] ? llround(1e6 * total / (double)tries[m]) : 0;
        }
        if (!counts->hits[m]) continue;
        score[m] = hits[m];
        if (metrics[m].kind == METRIC_COUNT) continue;
        score[m] = tries[m] ? llround(1e6 * (double)hits[m] / (double)tries[m]) : 0;
    }
    return 0;
}

// ---- outputs

// Each output begins at a multiple of 8 bytes.
static size_t output_bytes(const struct variant *is)
{
    size_t bytes = 0;
    for (int i = 0; i < OUTPUTS_MAX; i++)
        if (is->output[i]) bytes += arena_round_up(slot_bytes(is->output[i]), 8);
    return bytes;
}

size_t evaluation_output_bytes(const struct evaluation *e)
{
    size_t most = 0;
    for (int i = 0; i < e->programs; i++) {
        size_t bytes = output_bytes(&e->program[i].is);
        most = bytes > most ? bytes : most;
    }
    return most;
}

int evaluation_read(struct evaluation *e, const struct variant *is, char *outputs)
{
    for (int i = 0; i < OUTPUTS_MAX; i++) {
        const struct slot *slot = is->output[i];
        if (!slot) continue;
        TRY(session_read(e->session, slot, outputs, slot_bytes(slot)));
        outputs += arena_round_up(slot_bytes(slot), 8);
    }
    return 0;
}

int evaluation_judge(struct evaluation *e, void *judging, const struct variant *is, const struct order_batch *batch,
                     const char *outputs)
{
    const struct judge *judge = e->setting->task->judge;
    struct judged shown = {.sample = order_samples(e->supply->order) + batch->first, .count = batch->count,
                           .bucket = batch->bucket, .last = e->last};
    for (int i = 0; i < OUTPUTS_MAX; i++) {
        if (!is->output[i]) continue;
        shown.output[i] = outputs, shown.shape[i] = is->output[i]->shape;
        outputs += arena_round_up(slot_bytes(is->output[i]), 8);
    }
    return judge ? judge->batch(judging, &shown) : 0;
}

// ---- one batch

static int next_of_evaluation(struct drive *d, int feed)
{
    (void)d, (void)feed;
    BUG("an answer has its batch already");
}

static int run_of_evaluation(struct drive *d, int program)
{
    struct evaluation *e = d->owner;
    const struct evaluation_program *p = evaluation_find(e, &d->batch[FEED_TEST]);
    BUG_IF(!p || p->program[program] == NONE);
    return session_run(e->session, p->program[program]);
}

int evaluation_answer(struct evaluation *e, const struct order_batch *batch)
{
    const struct evaluation_program *p = evaluation_find(e, batch);
    BUG_IF(!p);  // the order was the same when the programs were built
    if (!e->setting->task->answer) return session_run(e->session, p->program[p->first]);
    struct drive d = {.setting = e->setting, .session = e->session, .next = next_of_evaluation, .run = run_of_evaluation,
                      .last = e->last, .owner = e};
    d.batch[FEED_TEST] = *batch;
    drive_resize(&d, batch->count);
    return e->setting->task->answer(&d);
}

// ---- one evaluation

int evaluation_check(struct evaluation *e)
{
    const struct judge *judge = e->setting->task->judge;
    void *judging;
    if (!judge || e->kept) return 0;
    TRY(judge->begin(e->setting, e->stored, e->view, &judging));
    if (!judge->stays) return judge->end(judging, NULL);
    e->kept = judging;
    return 0;
}

void evaluation_close(struct evaluation *e)
{
    if (e->kept && e->setting->task->judge->end(e->kept, NULL) < 0) BUG("a judge that judged nothing cannot end");
    e->kept = NULL;
}

int evaluation_begin(struct evaluation *e, void **judging)
{
    const struct judge *judge = e->setting->task->judge;
    *judging = NULL;
    TRY(reset_counters(e));
    if (e->fold != NONE) TRY(session_run(e->session, e->fold));
    *judging = e->kept, e->kept = NULL;
    return judge && !*judging ? judge->begin(e->setting, e->stored, e->view, judging) : 0;
}

static void tell_answers(const struct evaluation *e, void *judging)
{
    for (int64_t i = 0; i < dataset_facts(e->stored)->count[SPLIT_TEST]; i++) {
        char *answer = e->setting->task->judge->tell(judging, i);
        text_add(e->lines, "%s\n", answer);
        free(answer);
    }
}

int evaluation_end(struct evaluation *e, void *judging, int rc, const char *answers, int64_t score[METRICS_MAX])
{
    const struct judge *judge = e->setting->task->judge;
    if (rc == 0) rc = read_scores(e, score);
    if (!judge) return rc;
    if (rc == 0 && answers) {
        BUG_IF(!judge->write);
        rc = judge->write(judging, answers);
    }
    if (rc == 0 && e->lines) tell_answers(e, judging);
    if (rc == 0 && e->drawn) rc = judge->draw(judging, 0, e->drawn);
    if (rc == 0 && e->exhibit) rc = judge->exhibit(judging, e->exhibit);
    int ended = judge->end(judging, rc == 0 ? score : NULL);
    if (rc == 0 && ended == 0 && judge->stays) e->kept = judging;
    return rc < 0 ? rc : ended;
}

static int run_next(struct evaluation *e)
{
    struct order_batch batch;
    TRY(supply_next(e->supply, &batch));
    return evaluation_answer(e, &batch);
}

// The judge of every process sees the outputs of all of them, in the order of the batches.
static int judge_batch(struct evaluation *e, void *judging, int64_t number, char *outputs)
{
    struct order_batch batch = order_all_batch(e->supply->order, number);
    const struct evaluation_program *p = evaluation_find(e, &batch);
    int owner = (int)(number % ranks_size());
    if (owner == ranks_rank()) TRY(evaluation_read(e, &p->is, outputs));
    TRY(ranks_broadcast(outputs, output_bytes(&p->is), owner));
    return evaluation_judge(e, judging, &p->is, &batch, outputs);
}

// Each process runs one batch of a round, as order_share deals them out.
static int run_batches(struct evaluation *e, void *judging, char *outputs)
{
    int64_t all = order_all_batches(e->supply->order);
    for (int64_t i = 0; i < all; i += ranks_size()) {
        if (e->between) TRY(e->between(e->context, i, all));
        if (i + ranks_rank() < all) TRY(run_next(e));
        for (int64_t k = i; k < all && k < i + ranks_size() && e->setting->task->judge; k++)
            TRY(judge_batch(e, judging, k, outputs));
    }
    return 0;
}

int evaluation_run(struct evaluation *e, const char *answers, int64_t score[METRICS_MAX])
{
    void *judging;
    TRY(supply_begin(e->supply, 0, 0, 0));
    TRY(evaluation_begin(e, &judging));
    char *outputs = zalloc(evaluation_output_bytes(e) + 1);
    int rc = run_batches(e, judging, outputs);
    free(outputs);
    return evaluation_end(e, judging, rc, answers, score);
}
