// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/train/trainer.h"

#include "runtime/fuse.h"
#include "runtime/ranks/ranks.h"

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

// Whether a batch is computed in parts or slices, and how many of them this process computes.
static int choose_parts(struct trainer *t)
{
    const struct recipe *r = &t->choice.recipe;
    const char *device = t->choice.device->type->name;
    struct slices *slices = &t->setting.slices;
    TRY(slices_share(r->slices, ranks_size(), ranks_rank(), slices));
    if (ranks_size() > 1 && !t->choice.device->type->joins)
        return fail(ERR_UNSUPPORTED, "device %s cannot train together with other processes", device);
    if (r->accumulate > 1 && r->slices > 1)
        return fail(ERR_USAGE, "data.accumulate and data.slices both cut a batch: set one of them to 1");
    t->cuts = r->slices > 1 ? r->slices : r->accumulate > 1 ? r->accumulate : 1;
    t->parts = r->slices > 1 ? slices->count : r->accumulate > 1 ? (int)r->accumulate : 1;
    return 0;
}

// The training programs: all of them if the task decides which ones run, else the first.
static void list_programs(struct trainer *t)
{
    const struct task_program *p;
    for (int i = 0; (p = task_program(&t->setting, i)); i++) {
        BUG_IF(i == PROGRAMS_MAX);
        if (p->kind == PROGRAM_TRAIN && (t->programs == 0 || t->choice.task->step)) t->of[t->programs++] = i;
    }
    BUG_IF(t->programs == 0);
}

// What host code runs, and the end of a step.
static int build_driven(struct trainer *t)
{
    const struct task_program *p;
    t->fold = NONE;
    for (int i = 0; (p = task_program(&t->setting, i)); i++) {
        if (p->kind == PROGRAM_TRAIN || p->feed != FEED_NONE) continue;
        struct variant is = {.batch = t->choice.recipe.batch};
        if (t->choice.task->variant) t->choice.task->variant(&t->setting, 0, i, &is);
        TRY(t->own[i] = step_evaluate(t->session, &t->setting, &t->slots, &is, i, &t->fold));
    }
    return t->choice.task->step ? t->advance = step_advance(t->session) : 0;
}

// Batches of the feed for training that a step takes; a task of its own feeds alone has epochs as if it took one.
static int count_steps(struct trainer *t)
{
    struct trainer_calls calls = {0};
    TRY(trainer_count_calls(t, 0, &calls));
    int64_t batches = calls.batches[FEED_TRAIN] > 1 ? calls.batches[FEED_TRAIN] : 1;
    t->steps_per_epoch = supply_batches(&t->supply[FEED_TRAIN]) / (t->parts * batches);
    if (t->steps_per_epoch < 1)
        return fail(ERR_USAGE, "an epoch has %lld batches, and a step takes %lld",
                    (long long)supply_batches(&t->supply[FEED_TRAIN]), (long long)(t->parts * batches));
    t->steps = recipe_steps(&t->choice.recipe, t->steps_per_epoch);
    t->setting.steps = t->steps, t->setting.steps_per_epoch = t->steps_per_epoch;
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
    TRY(task_find_model(task, r->model, &s->model));
    TRY(trainer_dtype(r, s->model, t->choice.device, &s->dtype));
    s->task = task, s->recipe = r, s->data = t->facts, s->files = t->choice.files, s->fuse = t->choice.fuse;
    s->device = t->choice.device;
    TRY(choose_parts(t));
    if (task->view) TRY(task->view(s, t->choice.data, &t->view));
    s->data = dataset_facts(data_of(t));
    if (task->host) TRY(task->host->open(s, &s->host));
    t->buckets = 1;
    while (task_feed(task, t->feeds)) {
        int feed = t->feeds++, *most = &t->buckets;
        TRY(supply_new(&t->supply[feed], s, data_of(t), feed));
        const struct feed_choice *choice = s->feed[feed] = &t->supply[feed].choice;
        if (feed != FEED_TEST && choice->order.buckets > *most) *most = choice->order.buckets;
    }
    list_programs(t);
    TRY(count_steps(t));
    TRY(session_new(t->choice.device, &t->session));
    TRY(trainer_build_steps(t));
    TRY(build_driven(t));
    TRY(lookahead_build(&t->lookahead, t->session, r, recipe_decay_end(r, t->steps_per_epoch)));
    TRY(average_build(&t->average, t->session, r, t->steps_per_epoch));
    t->evaluation = (struct evaluation){.setting = s, .stored = t->choice.data, .view = data_of(t), .session = t->session,
                                        .slots = &t->slots, .supply = &t->supply[FEED_TEST]};
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
    evaluation_close(&t->evaluation);
    for (int feed = 0; feed < t->feeds; feed++) supply_free(&t->supply[feed]);
    if (t->setting.host) t->choice.task->host->close(t->setting.host);
    session_free(t->session);
    dataset_close(t->view);
    free(t->of_step);
    free(t);
}

int trainer_ready(struct trainer *t)
{
    return session_ready(t->session);
}

int trainer_load(struct trainer *t)
{
    for (int feed = 0; feed < t->feeds; feed++)
        TRY(supply_load(&t->supply[feed], t->session, &t->slots.feed[feed]));
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

static int load_weights(struct trainer *t)
{
    const struct model *m = t->setting.model;
    const struct checkpoint_import how = {m->prefixes, m->fresh, m->inside, m->older};
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
    TRY(trainer_seek(t));
    if (t->setting.files.weights) TRY(load_weights(t));
    const struct host *host = t->choice.task->host;
    return host && host->begin ? host->begin(&t->drive) : 0;
}

static int clear_counts(struct trainer *t)
{
    const struct step_counts *counts = &t->slots.train;
    for (int i = 0; i < 2 * METRICS_MAX; i++) {
        struct slot *slot = i % 2 ? counts->tries[i / 2] : counts->hits[i / 2];
        int32_t none = 0;
        if (slot) TRY(session_write(t->session, slot, &none, 0, sizeof none));
    }
    return 0;
}

int trainer_resume(struct trainer *t, uint64_t seed, int64_t at, int64_t samples)
{
    BUG_IF(at < 0 || at > t->steps);
    t->seed = seed;
    t->at = at;
    t->samples = samples;
    if (ranks_rank() > 0) TRY(clear_counts(t));  // the first process continues with the sums of all
    return trainer_seek(t);
}

// ---- sums and scores

static int read_counter(struct trainer *t, struct slot *slot, bool reset, int64_t *into)
{
    int32_t count = 0, zero = 0;
    TRY(session_read(t->session, slot, &count, sizeof count));
    *into = count;
    return reset ? session_write(t->session, slot, &zero, 0, sizeof zero) : 0;
}

static int read_sum(struct trainer *t, struct slot *slot, bool reset, double *into)
{
    float sum, none = 0;
    TRY(session_read(t->session, slot, &sum, sizeof sum));
    *into = (double)sum;
    return reset ? session_write(t->session, slot, &none, 0, sizeof none) : 0;
}

static int count_together(const struct step_counts *counts, struct trainer *t, int64_t count[2 * METRICS_MAX])
{
    for (int m = 0; m < METRICS_MAX; m++) {
        count[2 * m] = count[2 * m + 1] = 0;
        if (counts->hits[m]) TRY(read_counter(t, counts->hits[m], false, &count[2 * m]));
        if (counts->tries[m]) TRY(read_counter(t, counts->tries[m], false, &count[2 * m + 1]));
    }
    return ranks_add(count, 2 * METRICS_MAX);
}

int trainer_join_counts(struct trainer *t)
{
    const struct step_counts *counts = &t->slots.train;
    int64_t count[2 * METRICS_MAX];
    if (ranks_size() == 1) return 0;
    TRY(count_together(counts, t, count));
    if (ranks_rank() > 0) return clear_counts(t);
    for (int i = 0; i < 2 * METRICS_MAX; i++) {
        struct slot *slot = i % 2 ? counts->tries[i / 2] : counts->hits[i / 2];
        int32_t value = (int32_t)count[i];
        if (slot) TRY(session_write(t->session, slot, &value, 0, sizeof value));
    }
    return 0;
}

int trainer_sums(struct trainer *t, bool reset, struct trainer_sums *sums)
{
    _Static_assert((int)LOSSES_MAX <= (int)RUN_LOSSES_MAX, "each is recorded");
    const struct step_counts *counts = &t->slots.train;
    *sums = (struct trainer_sums){.hits = -1};
    for (int i = 0; i < counts->means; i++) {
        double sum, rows;
        TRY(read_sum(t, counts->mean[i].sum, reset, &sum));
        TRY(read_sum(t, counts->mean[i].rows, reset, &rows));
        if (i == 0) sums->loss = sum, sums->rows = rows;  // shown, unless there is a loss without a name
        if (rows > 0 && (counts->means > 1 || counts->loss))
            sums->mean[sums->means++] = (struct run_loss){counts->mean[i].name, sum / rows};
    }
    if (counts->loss) sums->rows = 0;
    if (counts->loss) TRY(read_sum(t, counts->loss, reset, &sums->loss));
    const struct metric *board = &t->choice.task->metrics[0];
    int64_t hits, tries;
    if (counts->hits[0]) TRY(read_counter(t, counts->hits[0], reset, &hits));
    if (counts->tries[0]) TRY(read_counter(t, counts->tries[0], reset, &tries));
    if (!counts->hits[0] || board->kind != METRIC_COUNT) return 0;
    if (ranks_size() > 1 && !reset) return 0;  // only the first process reads in between
    TRY(ranks_add(&hits, 1));
    sums->hits = hits;
    return 0;
}

int trainer_scale(struct trainer *t, struct trainer_scale *into)
{
    const struct slot *counts = slot_find(t->session->store, OPTIM_SCALE_COUNTS);
    const struct slot *slot = slot_find(t->session->store, OPTIM_SCALE);
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
    t->evaluation.last = t->at == t->steps;
    t->folded = false;  // an evaluation folds the weights that it scores, which may be averaged ones
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
    const struct slot_store *s = t->session->store;
    for (int i = 0; i < s->count; i++)
        if (role_is_parameter(s->slot[i]->role)) n += shape_count(&s->slot[i]->shape);
    return n;
}

int64_t trainer_views(const struct trainer *t)
{
    return t->choice.recipe.views > 0 ? t->choice.recipe.views : 1;  // 0: the task has no such key
}
