// SPDX-License-Identifier: Apache-2.0
#include "tasks/train/trainer.h"

#include "runtime/base/rng.h"
#include "runtime/fuse.h"
#include "tasks/train/update.h"

#include <math.h>
#include <stdlib.h>

enum { EVALUATE_BATCH = 1000, LOAD_CHUNK = 2000 };

int trainer_dtype(const struct recipe *r, struct device *device, enum dtype *into)
{
    static const enum dtype asked[] = {[PRECISION_F32] = F32, [PRECISION_BF16] = BF16, [PRECISION_F16] = F16};
    struct device_facts facts;
    TRY(device->type->facts(device, &facts));
    // Of two fast types the one with more digits, as all published speedruns of this network use.
    *into = r->precision != PRECISION_AUTO ? asked[r->precision] : facts.fast[F16] ? F16 : facts.fast[BF16] ? BF16 : F32;
    return 0;
}

// ---- building

static bool same_variant(const struct variant *a, const struct variant *b)
{
    return a->batch == b->batch && a->height == b->height && a->width == b->width && a->length == b->length &&
           a->trains == b->trains && a->renormalises == b->renormalises;
}

// The number of a variant, which is built when it is met for the first time.
static int variant_number(struct trainer *t, const struct variant *is, int turn)
{
    for (int v = 0; v < t->variants; v++)
        if (t->variant[v].turn == turn && same_variant(&t->variant[v].is, is)) return v;
    if (t->variants == TRAINER_VARIANTS)
        return fail(ERR_USAGE, "the schedule needs more than %d variants of the step", TRAINER_VARIANTS);
    int program = step_train(t->session, &t->setting, &t->slots, is, turn);
    TRY(program);
    t->variant[t->variants] = (struct trainer_variant){*is, turn, program};
    return t->variants++;
}

// One program for each variant that the schedule meets.
static int build_steps(struct trainer *t)
{
    const struct recipe *r = &t->choice.recipe;
    int64_t renormalised = 0;
    t->of_step = zalloc((size_t)(t->steps * t->turns));
    for (int64_t step = 0; step < t->steps; step++) {
        bool renormalises = update_renormalises(r, step, t->steps, &renormalised);
        for (int turn = 0; turn < t->turns; turn++) {
            struct variant is = {.batch = r->batch, .trains = ANY, .renormalises = renormalises};
            t->choice.task->variant(&t->setting, step, turn, &is);
            int number = variant_number(t, &is, turn);
            TRY(number);
            t->of_step[step * t->turns + turn] = (uint8_t)number;
        }
    }
    return 0;
}

static int build_evaluation(struct trainer *t)
{
    int64_t count = t->facts->count[SPLIT_TEST];
    t->evaluate_batch = count < EVALUATE_BATCH ? count : EVALUATE_BATCH;
    t->evaluation = (struct variant){.batch = t->evaluate_batch};
    t->choice.task->evaluation(&t->setting, &t->evaluation);
    TRY(t->evaluate = step_evaluate(t->session, &t->setting, &t->slots, &t->evaluation, &t->fold));
    struct variant rest = t->evaluation;
    rest.batch = count % t->evaluate_batch;
    if (rest.batch) TRY(t->evaluate_rest = step_evaluate(t->session, &t->setting, &t->slots, &rest, &t->fold));
    return 0;
}

static int build(struct trainer *t)
{
    const struct recipe *r = &t->choice.recipe;
    const struct task *task = t->choice.task;
    struct setting *s = &t->setting;
    int64_t count = t->facts->count[SPLIT_TRAIN];
    TRY(recipe_check(r));
    TRY(model_find(task, r->model, &s->model));
    TRY(trainer_dtype(r, t->choice.device, &s->dtype));
    if (r->batch > count)
        return fail(ERR_USAGE, "a batch of %lld is larger than the data set of %lld samples", (long long)r->batch,
                    (long long)count);
    t->turns = task->turns > 1 ? task->turns : 1;
    t->steps_an_epoch = count / r->batch;
    t->steps = recipe_steps(r, t->steps_an_epoch);
    t->order = zalloc((size_t)count * sizeof *t->order);
    s->task = task, s->recipe = r, s->data = t->facts, s->fuse = t->choice.fuse;
    s->steps = t->steps, s->steps_an_epoch = t->steps_an_epoch;
    TRY(session_new(t->choice.device, &t->session));
    TRY(build_steps(t));
    TRY(lookahead_build(&t->lookahead, t->session, r, recipe_decay_end(r, t->steps_an_epoch)));
    TRY(build_evaluation(t));
    return session_plan(t->session);
}

int trainer_new(const struct trainer_choice *choice, struct trainer **into)
{
    struct trainer *t = zalloc(sizeof *t);
    t->choice = *choice;
    t->facts = dataset_facts(choice->data);
    t->fold = t->evaluate = t->evaluate_rest = NONE;
    int rc = build(t);
    if (rc < 0) {
        trainer_free(t);
        return rc;
    }
    *into = t;
    return 0;
}

void trainer_free(struct trainer *t)
{
    if (!t) return;
    session_free(t->session);
    free(t->of_step);
    free(t->order);
    free(t);
}

int trainer_ready(struct trainer *t)
{
    return session_ready(t->session);
}

const struct trainer_variant *trainer_variant(const struct trainer *t, int64_t step, int turn)
{
    return &t->variant[t->of_step[step * t->turns + turn]];
}

// ---- data

// One resident field of a split, in pieces: the host never holds it whole.
static int load_field(struct trainer *t, enum split split, const struct field *field, struct slot *slot)
{
    size_t bytes = (size_t)field_bytes(field, 0);
    int64_t count = t->facts->count[split];
    void *piece = zalloc(LOAD_CHUNK * bytes);
    int rc = 0;
    for (int64_t at = 0; at < count && rc == 0; at += LOAD_CHUNK) {
        int64_t n = count - at < LOAD_CHUNK ? count - at : LOAD_CHUNK;
        rc = dataset_read(t->choice.data, split, field->name, at, n, piece);
        if (rc == 0) rc = session_write(t->session, slot, piece, (size_t)at * bytes, (size_t)n * bytes);
    }
    free(piece);
    return rc;
}

static int load_split(struct trainer *t, enum split split)
{
    struct slot *const *slot = t->slots.split[split].field;
    for (int f = 0; f < t->facts->fields; f++)
        if (slot[f]) TRY(load_field(t, split, &t->facts->field[f], slot[f]));
    return 0;
}

static int load_identity(struct trainer *t)  // the test set is walked in the order of the files
{
    int64_t n = t->facts->count[SPLIT_TEST];
    int32_t *order = zalloc((size_t)n * sizeof *order);
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    int rc = session_write(t->session, t->slots.split[SPLIT_TEST].order, order, 0, (size_t)n * sizeof *order);
    free(order);
    return rc;
}

int trainer_load(struct trainer *t)
{
    TRY(load_split(t, SPLIT_TRAIN));
    TRY(load_split(t, SPLIT_TEST));
    return load_identity(t);
}

// ---- the beginning of a run

static int put_tables(struct trainer *t)
{
    float *value = zalloc((size_t)t->steps * sizeof *value);
    int rc = 0;
    for (int i = 0; i < t->slots.tables && rc == 0; i++) {
        const struct step_table *table = &t->slots.table[i];
        for (int64_t step = 0; step < t->steps; step++)
            value[step] = (float)(table->factor * schedule_at(&table->schedule, (double)step + table->offset));
        rc = session_write(t->session, table->slot, value, 0, (size_t)t->steps * sizeof *value);
    }
    free(value);
    return rc;
}

int trainer_begin(struct trainer *t, uint64_t seed)
{
    t->seed = seed;
    t->at = 0;
    TRY(session_reset(t->session, seed));
    TRY(put_tables(t));
    const struct model *m = t->setting.model;
    return m->begin ? m->begin(&t->setting, t->session, t->choice.data) : 0;
}

// ---- steps

// A permutation of the training set, a function of (seed, epoch) alone.
static int begin_epoch(struct trainer *t, int32_t epoch)
{
    int64_t n = t->facts->count[SPLIT_TRAIN];
    int32_t *order = t->order, zero = 0;
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        struct rng4 r = rng_draw(t->seed, RNG_ORDER, (uint32_t)epoch, (uint32_t)i, 0);
        int64_t j = rng_below(r.v[0], (uint32_t)(i + 1));
        int32_t swap = order[i];
        order[i] = order[j], order[j] = swap;
    }
    int32_t key[4] = {(int32_t)(uint32_t)t->seed, (int32_t)(uint32_t)(t->seed >> 32), epoch, 0};
    const struct feed_slots *feed = &t->slots.split[SPLIT_TRAIN];
    TRY(session_sync(t->session));
    TRY(session_write(t->session, feed->order, order, 0, (size_t)n * sizeof *order));
    if (feed->key) TRY(session_write(t->session, feed->key, key, 0, sizeof key));
    return session_write(t->session, feed->cursor, &zero, 0, sizeof zero);
}

int trainer_step(struct trainer *t)
{
    BUG_IF(t->at >= t->steps);
    if (t->at % t->steps_an_epoch == 0) TRY(begin_epoch(t, (int32_t)(t->at / t->steps_an_epoch)));
    for (int turn = 0; turn < t->turns; turn++) TRY(session_run(t->session, trainer_variant(t, t->at, turn)->program));
    t->at++;
    return lookahead_after(&t->lookahead, t->session, t->at);
}

// ---- sums and scores

static int read_counter(struct trainer *t, struct slot *slot, bool reset, int64_t *into)
{
    int32_t count = 0, zero = 0;
    TRY(session_read(t->session, slot, &count, sizeof count));
    *into = count;
    return reset ? session_write(t->session, slot, &zero, 0, sizeof zero) : 0;
}

int trainer_sums(struct trainer *t, bool reset, struct trainer_sums *sums)
{
    const struct feed_slots *feed = &t->slots.split[SPLIT_TRAIN];
    float loss, none = 0;
    TRY(session_read(t->session, feed->loss, &loss, sizeof loss));
    if (reset) TRY(session_write(t->session, feed->loss, &none, 0, sizeof none));
    *sums = (struct trainer_sums){loss, -1};
    return feed->hits[0] ? read_counter(t, feed->hits[0], reset, &sums->hits) : 0;
}

static int reset_counters(struct trainer *t, const struct feed_slots *feed)
{
    int32_t zero = 0;
    float none = 0;
    TRY(session_sync(t->session));
    TRY(session_write(t->session, feed->cursor, &zero, 0, sizeof zero));
    if (feed->loss) TRY(session_write(t->session, feed->loss, &none, 0, sizeof none));
    for (int m = 0; m < METRICS_MAX; m++) {
        if (feed->hits[m]) TRY(session_write(t->session, feed->hits[m], &zero, 0, sizeof zero));
        if (feed->tries[m]) TRY(session_write(t->session, feed->tries[m], &zero, 0, sizeof zero));
    }
    return 0;
}

static int read_scores(struct trainer *t, const struct feed_slots *feed, int64_t score[METRICS_MAX])
{
    const struct metric *metrics = t->choice.task->metrics;
    for (int m = 0; metrics[m].name; m++) {
        int64_t tries = 0;
        TRY(read_counter(t, feed->hits[m], false, &score[m]));
        if (metrics[m].kind == METRIC_COUNT) continue;
        TRY(read_counter(t, feed->tries[m], false, &tries));
        score[m] = tries ? llround(1e6 * (double)score[m] / (double)tries) : 0;
    }
    return 0;
}

int trainer_evaluate(struct trainer *t, int64_t score[METRICS_MAX])
{
    const struct feed_slots *feed = &t->slots.split[SPLIT_TEST];
    TRY(reset_counters(t, feed));
    if (t->fold != NONE) TRY(session_run(t->session, t->fold));
    for (int64_t i = 0; i < t->facts->count[SPLIT_TEST] / t->evaluate_batch; i++)
        TRY(session_run(t->session, t->evaluate));
    if (t->evaluate_rest != NONE) TRY(session_run(t->session, t->evaluate_rest));
    return read_scores(t, feed, score);
}

// After the last step, and after the steps that are nearest to multiples of `evaluate_every` epochs from `evaluate_from`.
bool trainer_evaluates_after(const struct trainer *t, int64_t at)
{
    const struct recipe *r = &t->choice.recipe;
    if (at == t->steps) return true;
    double epoch = (double)at / (double)t->steps_an_epoch, since = epoch - r->evaluate_from;
    if (r->evaluate_every <= 0 || since < -0.5 / (double)t->steps_an_epoch) return false;
    double nearest = round(since / r->evaluate_every) * r->evaluate_every + r->evaluate_from;
    return nearest > 0 && llround(nearest * (double)t->steps_an_epoch) == at;
}

// ---- figures

int64_t trainer_parameters(const struct trainer *t)
{
    int64_t n = 0;
    const struct store *s = t->session->store;
    for (int i = 0; i < s->count; i++)
        if (role_is_parameter(s->slot[i]->role)) n += shape_count(&s->slot[i]->shape);
    return n;
}

double trainer_forward_flops(const struct trainer *t)
{
    const struct graph *g = t->session->graph[t->evaluate];
    double flops = 0;
    for (int i = 0; i < g->nodes; i++) flops += node_cost(g, &g->node[i]).flops;
    return flops / (double)(t->evaluate_batch * t->choice.recipe.views);
}
