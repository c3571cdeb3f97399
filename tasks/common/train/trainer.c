// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/train/trainer.h"

#include "runtime/fuse.h"
#include "runtime/ranks/ranks.h"
#include "tasks/common/step/update.h"

#include <math.h>
#include <stdlib.h>

enum dtype trainer_auto(const struct device_facts *facts, const struct model *model)
{
    return facts->fast[BF16] ? BF16 : facts->fast[F16] && model->half ? F16 : F32;
}

int trainer_dtype(const struct recipe *r, const struct model *model, struct device *device, enum dtype *into)
{
    static const enum dtype asked[] = {[PRECISION_F32] = F32, [PRECISION_BF16] = BF16, [PRECISION_F16] = F16};
    struct device_facts facts;
    TRY(device->type->facts(device, &facts));
    *into = r->precision == PRECISION_AUTO ? trainer_auto(&facts, model) : asked[r->precision];
    return 0;
}

// ---- building

static bool same_variant(const struct variant *a, const struct variant *b)
{
    return a->batch == b->batch && a->part == b->part && a->slice == b->slice && a->bucket == b->bucket &&
           a->height == b->height && a->width == b->width &&
           a->length == b->length && a->trains == b->trains && a->renormalises == b->renormalises;
}

// The number of a variant. Builds the variant at its first use.
static int variant_number(struct trainer *t, struct variant *is, int turn)
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

// True if a batch of this bucket can come in a step: any bucket if they go by length, else that of the epoch.
static bool bucket_comes(const struct trainer *t, int64_t step, int bucket)
{
    const struct feed_choice *feed = &t->supply[SPLIT_TRAIN].choice;
    if (feed->order.lengths) return true;
    uint32_t epoch = (uint32_t)(step / t->steps_per_epoch);
    return bucket == (feed->bucket_of_epoch ? feed->bucket_of_epoch(feed->context, epoch) : 0);
}

static bool is_sliced(const struct trainer *t)
{
    return !slices_whole(&t->setting.slices);
}

// One kind for a whole batch, or three: first, middle and last part. Slices have kinds of their own.
static int part_kinds(const struct trainer *t)
{
    if (is_sliced(t)) return slices_kinds(&t->setting.slices);
    return t->parts > 1 ? PART_LAST - PART_FIRST + 1 : 1;
}

static int part_kind(const struct trainer *t, int part)
{
    if (is_sliced(t)) return slices_kind(&t->setting.slices, part);
    return part == 0 ? 0 : part == t->parts - 1 ? PART_LAST - PART_FIRST : PART_MIDDLE - PART_FIRST;
}

static int build_variant(struct trainer *t, int64_t step, int bucket, int turn, int kind, bool renormalises, uint8_t *of)
{
    enum step_part part = t->parts > 1 && !is_sliced(t) ? (enum step_part)(PART_FIRST + kind) : PART_WHOLE;
    if (part == PART_MIDDLE && t->parts == 2) return 0;
    bool updates = kind == part_kinds(t) - 1;
    struct variant is = {.batch = t->supply[SPLIT_TRAIN].choice.order.batch[bucket], .part = part,
                         .slice = is_sliced(t) ? kind : 0, .bucket = bucket, .trains = ANY,
                         .renormalises = renormalises && updates};
    t->choice.task->variant(&t->setting, step, turn, &is);
    int number = variant_number(t, &is, turn);
    TRY(number);
    *of = (uint8_t)number;
    return 0;
}

// One program for each variant that the schedule can meet.
static int build_steps(struct trainer *t)
{
    int64_t renormalised = 0;
    bool muon = update_uses_muon(&t->setting);
    uint8_t *of = t->of_step = zalloc((size_t)(t->steps * t->buckets * t->turns * part_kinds(t)));
    for (int64_t step = 0; step < t->steps; step++) {
        bool renormalises = muon && update_renormalises(&t->setting, step, &renormalised);
        for (int bucket = 0; bucket < t->buckets; bucket++)
            for (int turn = 0; turn < t->turns; turn++)
                for (int kind = 0; kind < part_kinds(t); kind++, of++)
                    if (bucket_comes(t, step, bucket)) TRY(build_variant(t, step, bucket, turn, kind, renormalises, of));
    }
    return 0;
}

// Whether a batch is computed in parts or slices, and how many of them this process computes.
static int choose_parts(struct trainer *t)
{
    const struct recipe *r = &t->choice.recipe;
    const struct task *task = t->choice.task;
    const char *device = t->choice.device->type->name;
    struct slices *slices = &t->setting.slices;
    TRY(slices_share(r->slices, ranks_size(), ranks_rank(), slices));
    if (ranks_size() > 1 && !t->choice.device->type->joins)
        return fail(ERR_UNSUPPORTED, "device %s cannot train together with other processes", device);
    if (r->accumulate > 1 && r->slices > 1)
        return fail(ERR_USAGE, "data.accumulate and data.slices both cut a batch: set one of them to 1");
    t->turns = task->turns > 1 ? task->turns : 1;
    t->parts = r->slices > 1 ? slices->count : r->accumulate > 1 ? (int)r->accumulate : 1;
    if (t->turns > 1 && (r->slices > 1 || r->accumulate > 1))
        return fail(ERR_UNSUPPORTED, "data.%s: %s trains several sets in turn on a whole batch",
                    r->slices > 1 ? "slices" : "accumulate", task->title);
    return 0;
}

// The data set to train on.
static struct dataset *data_of(const struct trainer *t)
{
    return t->view ? t->view : t->choice.data;
}

static int build(struct trainer *t)
{
    const struct recipe *r = &t->choice.recipe;
    const struct task *task = t->choice.task;
    struct setting *s = &t->setting;
    TRY(recipe_check(r));
    TRY(model_find(task, r->model, &s->model));
    TRY(trainer_dtype(r, s->model, t->choice.device, &s->dtype));
    s->task = task, s->recipe = r, s->data = t->facts, s->files = t->choice.files, s->fuse = t->choice.fuse;
    TRY(choose_parts(t));
    if (task->view) TRY(task->view(s, t->choice.data, &t->view));
    s->data = dataset_facts(data_of(t));
    for (enum split split = SPLIT_TRAIN; split < SPLIT_COUNT; split++) {
        TRY(supply_new(&t->supply[split], s, data_of(t), split));
        s->feed[split] = &t->supply[split].choice;
    }
    t->buckets = t->supply[SPLIT_TRAIN].choice.order.buckets;
    t->steps_per_epoch = supply_batches(&t->supply[SPLIT_TRAIN]) / t->parts;
    if (t->steps_per_epoch < 1) return fail(ERR_USAGE, "data.accumulate: an epoch has fewer batches than %d parts", t->parts);
    t->steps = recipe_steps(r, t->steps_per_epoch);
    s->steps = t->steps, s->steps_per_epoch = t->steps_per_epoch;
    TRY(session_new(t->choice.device, &t->session));
    TRY(build_steps(t));
    TRY(lookahead_build(&t->lookahead, t->session, r, recipe_decay_end(r, t->steps_per_epoch)));
    TRY(average_build(&t->average, t->session, r, t->steps_per_epoch));
    t->evaluation = (struct evaluation){.setting = s, .stored = t->choice.data, .view = data_of(t), .session = t->session,
                                        .slots = &t->slots, .supply = &t->supply[SPLIT_TEST]};
    TRY(evaluation_build(&t->evaluation));
    return session_plan(t->session);
}

int trainer_new(const struct trainer_choice *choice, struct trainer **into)
{
    struct trainer *t = zalloc(sizeof *t);
    t->choice = *choice;
    t->facts = dataset_facts(choice->data);
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
    for (enum split split = SPLIT_TRAIN; split < SPLIT_COUNT; split++) supply_free(&t->supply[split]);
    session_free(t->session);
    dataset_close(t->view);
    free(t->of_step);
    free(t);
}

int trainer_ready(struct trainer *t)
{
    return session_ready(t->session);
}

const struct trainer_variant *trainer_variant(const struct trainer *t, int64_t step, int bucket, int turn, int part)
{
    return &t->variant[t->of_step[((step * t->buckets + bucket) * t->turns + turn) * part_kinds(t) + part_kind(t, part)]];
}

int trainer_load(struct trainer *t)
{
    for (enum split split = SPLIT_TRAIN; split < SPLIT_COUNT; split++)
        TRY(supply_load(&t->supply[split], t->session, &t->slots.split[split]));
    return 0;
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

// Slices are numbered through the whole training, so that each has draws of its own, whichever process computes it.
static int number_slices(struct trainer *t)
{
    struct slot *slot = store_find(t->session->store, "slices");
    int32_t number = (int32_t)(t->at * t->setting.slices.all + t->setting.slices.first);
    return slot ? session_write(t->session, slot, &number, 0, sizeof number) : 0;
}

static int load_weights(struct trainer *t)
{
    const struct checkpoint_import how = {t->setting.model->prefixes, t->setting.model->fresh};
    struct checkpoint *c;
    TRY(checkpoint_open(t->setting.files.weights, &c));
    int rc = checkpoint_import(c, t->session, &how, &t->imported);
    checkpoint_close(c);
    return rc;
}

int trainer_constants(struct trainer *t)
{
    const struct model *m = t->setting.model;
    TRY(put_tables(t));
    return m->begin ? m->begin(&t->setting, t->session, data_of(t)) : 0;
}

int trainer_begin(struct trainer *t, uint64_t seed)
{
    t->seed = seed;
    t->at = t->samples = t->terms = 0;
    TRY(session_reset(t->session, seed));
    TRY(trainer_constants(t));
    TRY(number_slices(t));
    return t->setting.files.weights ? load_weights(t) : 0;
}

static int clear_counts(struct trainer *t)
{
    const struct feed_slots *feed = &t->slots.split[SPLIT_TRAIN];
    for (int i = 0; i < 2 * METRICS_MAX; i++) {
        struct slot *slot = i % 2 ? feed->tries[i / 2] : feed->hits[i / 2];
        int32_t none = 0;
        if (slot) TRY(session_write(t->session, slot, &none, 0, sizeof none));
    }
    return 0;
}

// At the beginning of an epoch nothing needs to be done: trainer_step begins the epoch.
int trainer_resume(struct trainer *t, uint64_t seed, int64_t at, int64_t samples)
{
    BUG_IF(at < 0 || at > t->steps);
    t->seed = seed;
    t->at = at;
    t->samples = samples;
    TRY(number_slices(t));
    if (ranks_rank() > 0) TRY(clear_counts(t));  // the first process goes on with those of all
    int64_t batch = at % t->steps_per_epoch * t->parts;
    return batch ? supply_begin(&t->supply[SPLIT_TRAIN], seed, at / t->steps_per_epoch, batch) : 0;
}

// ---- steps

static int run_part(struct trainer *t, int part)
{
    struct order_batch batch;
    TRY(supply_next(&t->supply[SPLIT_TRAIN], &batch));
    for (int turn = 0; turn < t->turns; turn++) {
        const struct trainer_variant *v = trainer_variant(t, t->at, batch.bucket, turn, part);
        TRY(session_run(t->session, v->program));
        t->terms += v->is.terms * ranks_size();
    }
    t->samples += batch.count * ranks_size();
    return 0;
}

int trainer_step(struct trainer *t)
{
    BUG_IF(t->at >= t->steps);
    if (t->at % t->steps_per_epoch == 0) TRY(supply_begin(&t->supply[SPLIT_TRAIN], t->seed, t->at / t->steps_per_epoch, 0));
    for (int part = 0; part < t->parts; part++) TRY(run_part(t, part));
    t->at++;
    if (t->at % t->steps_per_epoch == 0 && t->at < t->steps)
        supply_draw_ahead(&t->supply[SPLIT_TRAIN], t->seed, t->at / t->steps_per_epoch);
    TRY(lookahead_after(&t->lookahead, t->session, t->at));
    return average_after(&t->average, t->session, t->at);
}

// ---- sums and scores

static int read_counter(struct trainer *t, struct slot *slot, bool reset, int64_t *into)
{
    int32_t count = 0, zero = 0;
    TRY(session_read(t->session, slot, &count, sizeof count));
    *into = count;
    return reset ? session_write(t->session, slot, &zero, 0, sizeof zero) : 0;
}

static int count_together(const struct feed_slots *feed, struct trainer *t, int64_t count[2 * METRICS_MAX])
{
    for (int m = 0; m < METRICS_MAX; m++) {
        count[2 * m] = count[2 * m + 1] = 0;
        if (feed->hits[m]) TRY(read_counter(t, feed->hits[m], false, &count[2 * m]));
        if (feed->tries[m]) TRY(read_counter(t, feed->tries[m], false, &count[2 * m + 1]));
    }
    return ranks_add(count, 2 * METRICS_MAX);
}

int trainer_join_counts(struct trainer *t)
{
    const struct feed_slots *feed = &t->slots.split[SPLIT_TRAIN];
    int64_t count[2 * METRICS_MAX];
    if (ranks_size() == 1) return 0;
    TRY(count_together(feed, t, count));
    if (ranks_rank() > 0) return clear_counts(t);
    for (int i = 0; i < 2 * METRICS_MAX; i++) {
        struct slot *slot = i % 2 ? feed->tries[i / 2] : feed->hits[i / 2];
        int32_t value = (int32_t)count[i];
        if (slot) TRY(session_write(t->session, slot, &value, 0, sizeof value));
    }
    return 0;
}

int trainer_sums(struct trainer *t, bool reset, struct trainer_sums *sums)
{
    const struct feed_slots *feed = &t->slots.split[SPLIT_TRAIN];
    float loss, none = 0;
    TRY(session_read(t->session, feed->loss, &loss, sizeof loss));
    if (reset) TRY(session_write(t->session, feed->loss, &none, 0, sizeof none));
    *sums = (struct trainer_sums){loss, -1};
    const struct metric *board = &t->choice.task->metrics[0];
    int64_t hits, tries;
    if (feed->hits[0]) TRY(read_counter(t, feed->hits[0], reset, &hits));
    if (feed->tries[0]) TRY(read_counter(t, feed->tries[0], reset, &tries));
    if (!feed->hits[0] || board->kind != METRIC_COUNT) return 0;
    if (ranks_size() > 1 && !reset) return 0;  // only the first process reads in between
    TRY(ranks_add(&hits, 1));
    sums->hits = hits;
    return 0;
}

int trainer_scale(struct trainer *t, struct trainer_scale *into)
{
    const struct slot *counts = store_find(t->session->store, OPTIM_SCALE_COUNTS);
    const struct slot *slot = store_find(t->session->store, OPTIM_SCALE);
    float scale;
    int32_t count[2];
    *into = (struct trainer_scale){0, 0};
    if (!counts || !slot) return 0;
    TRY(session_read(t->session, slot, &scale, sizeof scale));
    TRY(session_read(t->session, counts, count, sizeof count));
    *into = (struct trainer_scale){(double)scale, count[1]};
    return 0;
}

int trainer_evaluate(struct trainer *t, int64_t score[METRICS_MAX])
{
    TRY(average_swap(&t->average, t->session, t->at));
    TRY(evaluation_run(&t->evaluation, NULL, score));
    return average_swap(&t->average, t->session, t->at);
}

int trainer_settle(struct trainer *t)
{
    return average_swap(&t->average, t->session, t->at);
}

// True after the last step and after the steps nearest to multiples of `evaluate_every` epochs from `evaluate_from`.
bool trainer_evaluates_after(const struct trainer *t, int64_t at)
{
    const struct recipe *r = &t->choice.recipe;
    if (at == t->steps) return true;
    double epoch = (double)at / (double)t->steps_per_epoch, since = epoch - r->evaluate_from;
    if (r->evaluate_every <= 0 || since < -0.5 / (double)t->steps_per_epoch) return false;
    double nearest = round(since / r->evaluate_every) * r->evaluate_every + r->evaluate_from;
    return nearest > 0 && llround(nearest * (double)t->steps_per_epoch) == at;
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

int64_t trainer_views(const struct trainer *t)
{
    return t->choice.recipe.views > 0 ? t->choice.recipe.views : 1;  // 0: the task has no such key
}
