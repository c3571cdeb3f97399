// SPDX-License-Identifier: Apache-2.0
#include "tasks/train/trainer.h"

#include "runtime/base/rng.h"
#include "runtime/fuse.h"
#include "runtime/optim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EVALUATE_BATCH = 1000, LOAD_CHUNK = 2000, WHITEN_IMAGES = 5000 };

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

static double decay_end(const struct trainer *t)  // in steps
{
    const struct recipe *r = &t->choice.recipe;
    return fmax(r->epochs - r->tail_epochs, r->epochs / 2) * (double)t->steps_an_epoch;
}

static bool first_trains(const struct trainer *t, int64_t step)
{
    return t->build.model->whitens && (double)step < t->choice.recipe.whiten_bias_epochs * (double)t->steps_an_epoch;
}

// Whether filters are renormalised in a step; `last` is the step of the last time, counted from 1.
static bool renormalises(const struct trainer *t, int64_t step, int64_t *last)
{
    const struct recipe *r = &t->choice.recipe;
    double progress = (double)(step + 1) / (double)t->steps;
    bool due = r->renormalise == RENORMALISE_ALWAYS || step + 1 - *last >= 2 + (int64_t)(15 * progress);
    if (due) *last = step + 1;
    return due && r->renormalise != RENORMALISE_NEVER && r->optimiser == OPTIMISER_MUON;
}

static bool alike(const struct step_variant *a, const struct step_variant *b)
{
    return a->side == b->side && a->first_trains == b->first_trains && a->renormalises == b->renormalises;
}

// One program for each variant that the schedule meets.
static int build_steps(struct trainer *t)
{
    struct step_variant made[4 * RECIPE_LIST_MAX];
    int program[4 * RECIPE_LIST_MAX], count = 0;
    int64_t last = 0;
    t->program = zalloc((size_t)t->steps * sizeof *t->program);
    for (int64_t i = 0; i < t->steps; i++) {
        struct step_variant is = {recipe_side(&t->choice.recipe, i, t->steps, t->facts->height), first_trains(t, i),
                                  renormalises(t, i, &last)};
        int v = 0;
        while (v < count && !alike(&made[v], &is)) v++;
        if (v == count) {
            made[count++] = is;
            TRY(t->choice.task->train(t->session, &t->build, &is, &program[v]));
        }
        t->program[i] = program[v];
    }
    return 0;
}

static bool averaged(const struct slot *slot)  // what the lookahead averages: trained weights, running statistics
{
    size_t length = strlen(slot->name);
    bool statistics = length > 13 && !strcmp(slot->name + length - 13, ".running_mean");
    statistics |= length > 12 && !strcmp(slot->name + length - 12, ".running_var");
    return slot->dtype == F32 && (slot->memory == MEMORY_WEIGHTS || statistics) && slot->init.kind != INIT_UPLOAD;
}

// begin: average = weights. pull: average moves towards the weights, the weights become the average.
static int build_lookahead(struct trainer *t)
{
    const struct recipe *r = &t->choice.recipe;
    if (!r->lookahead_every) return 0;
    struct store *store = t->session->store;
    struct graph *begin = graph_new(store, "lookahead begins"), *pull = graph_new(store, "lookahead");
    struct init share = {INIT_CONSTANT, (float)(1 - r->lookahead_decay)}, one = {INIT_CONSTANT, 1};
    int all = graph_state(begin, "one", SHAPE(1), F32, MEMORY_DATA, one);
    int some = graph_state(pull, "lookahead.share", SHAPE(1), F32, MEMORY_DATA, share);
    for (int i = 0, count = store->count; i < count; i++) {
        if (!averaged(store->slot[i])) continue;
        optim_ema(begin, graph_slot(begin, store->slot[i]), all);
        int p = graph_slot(pull, store->slot[i]), e = optim_ema(pull, p, some);
        graph_node_over(pull, OP_ASSIGN, (int[]){p, e}, 2, NULL, &p, NULL);
    }
    TRY(t->average_begin = session_add(t->session, begin));
    return t->average_pull = session_add(t->session, pull);
}

static int build_evaluation(struct trainer *t)
{
    int64_t count = t->facts->count[SPLIT_TEST];
    t->evaluate_batch = count < EVALUATE_BATCH ? count : EVALUATE_BATCH;
    const struct task *task = t->choice.task;
    TRY(task->evaluate(t->session, &t->build, t->evaluate_batch, &t->fold, &t->evaluate));
    int64_t rest = count % t->evaluate_batch;
    return rest ? task->evaluate(t->session, &t->build, rest, &t->fold, &t->evaluate_rest) : 0;
}

static int build(struct trainer *t)
{
    const struct recipe *r = &t->choice.recipe;
    int64_t count = t->facts->count[SPLIT_TRAIN];
    TRY(recipe_check(r));
    TRY(model_find(r->model, &t->build.model));
    TRY(trainer_dtype(r, t->choice.device, &t->build.dtype));
    if (r->batch > count)
        return fail(ERR_USAGE, "a batch of %lld is larger than the data set of %lld samples", (long long)r->batch,
                    (long long)count);
    t->steps_an_epoch = count / r->batch;
    t->steps = recipe_steps(r, t->steps_an_epoch);
    t->order = zalloc((size_t)count * sizeof *t->order);
    t->build.recipe = r;
    t->build.data = t->facts;
    t->build.steps = t->steps;
    t->build.fuse = t->choice.fuse;
    TRY(session_new(t->choice.device, &t->session));
    TRY(build_steps(t));
    TRY(build_lookahead(t));
    TRY(build_evaluation(t));
    return session_plan(t->session);
}

int trainer_new(const struct trainer_choice *choice, struct trainer **into)
{
    struct trainer *t = zalloc(sizeof *t);
    t->choice = *choice;
    t->facts = dataset_facts(choice->data);
    t->fold = t->evaluate = t->evaluate_rest = t->average_begin = t->average_pull = NONE;
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
    free(t->program);
    free(t->order);
    free(t);
}

int trainer_ready(struct trainer *t)
{
    return session_ready(t->session);
}

// ---- data

static int load_split(struct trainer *t, enum split split, const char *images_slot, const char *labels_slot)
{
    const struct dataset_facts *f = t->facts;
    size_t image = (size_t)f->height * (size_t)f->width * (size_t)f->channels;
    uint8_t *images = zalloc(LOAD_CHUNK * image), *labels = zalloc(LOAD_CHUNK);
    int rc = 0;
    for (int64_t at = 0; at < f->count[split] && rc == 0; at += LOAD_CHUNK) {
        int64_t n = f->count[split] - at < LOAD_CHUNK ? f->count[split] - at : LOAD_CHUNK;
        rc = dataset_read(t->choice.data, split, at, n, images, labels);
        if (rc == 0) rc = session_put(t->session, images_slot, images, (size_t)at * image, (size_t)n * image);
        if (rc == 0) rc = session_put(t->session, labels_slot, labels, (size_t)at, (size_t)n);
    }
    free(images);
    free(labels);
    return rc;
}

static int load_identity(struct trainer *t)  // the test set is walked in the order of the files
{
    int64_t n = t->facts->count[SPLIT_TEST];
    int32_t *order = zalloc((size_t)n * sizeof *order);
    for (int64_t i = 0; i < n; i++) order[i] = (int32_t)i;
    int rc = session_put(t->session, "test.order", order, 0, (size_t)n * sizeof *order);
    free(order);
    return rc;
}

int trainer_load(struct trainer *t)
{
    TRY(load_split(t, SPLIT_TRAIN, "train.images", "train.labels"));
    TRY(load_split(t, SPLIT_TEST, "test.images", "test.labels"));
    return load_identity(t);
}

// ---- the beginning of a run

static double rate(const struct trainer *t, int64_t step)  // share of the full learning rate
{
    const struct recipe *r = &t->choice.recipe;
    double s = (double)step, up = r->warmup_epochs * (double)t->steps_an_epoch;
    double f = s < up ? (s + 1) / (up + 1) : 1 - (s - up) / (decay_end(t) - up);
    return f < r->lr_floor ? r->lr_floor : f;
}

static int put_table(struct trainer *t, const char *slot, const float *table)
{
    if (!store_find(t->session->store, slot)) return 0;  // this recipe has no use for it
    return session_put(t->session, slot, table, 0, (size_t)t->steps * sizeof *table);
}

static int put_schedules(struct trainer *t)
{
    const struct recipe *r = &t->choice.recipe;
    float *table = zalloc((size_t)(5 * t->steps) * sizeof *table), *filter = table, *head = filter + t->steps;
    float *bias = head + t->steps, *first = bias + t->steps, *norm = first + t->steps;
    double first_steps = r->whiten_bias_epochs * (double)t->steps_an_epoch;
    for (int64_t i = 0; i < t->steps; i++) {
        double f = rate(t, i), progress = (double)(i + 1) / (double)t->steps;
        filter[i] = (float)(r->filter_lr * f), head[i] = (float)(r->head_lr * f), bias[i] = (float)(r->bias_lr * f);
        first[i] = first_trains(t, i) ? (float)(r->bias_lr * (1 - (double)i / first_steps)) : 0;
        norm[i] = (float)(r->newton_schulz_norm.at[0] + (r->newton_schulz_norm.at[1] - r->newton_schulz_norm.at[0]) * progress);
    }
    static const char *const slots[] = {"filter_lr", "head_lr", "bias_lr", "first_lr", "ns_norm"};
    int rc = 0;
    for (int i = 0; i < 5 && rc == 0; i++) {
        char slot[64];
        snprintf(slot, sizeof slot, "schedule.%s", slots[i]);
        rc = put_table(t, slot, table + i * t->steps);
    }
    free(table);
    return rc;
}

static int put_whitening(struct trainer *t)
{
    const struct dataset_facts *f = t->facts;
    const struct model *m = t->build.model;
    if (!m->whitens) return 0;
    int64_t n = f->count[SPLIT_TRAIN] < WHITEN_IMAGES ? f->count[SPLIT_TRAIN] : WHITEN_IMAGES;
    size_t image = (size_t)f->height * (size_t)f->width * (size_t)f->channels;
    size_t patch = (size_t)(m->whiten_side * m->whiten_side * f->channels), bytes = 2 * patch * patch * sizeof(float);
    uint8_t *images = zalloc((size_t)n * image);
    float *weight = zalloc(bytes);
    int rc = dataset_read(t->choice.data, SPLIT_TRAIN, 0, n, images, NULL);
    if (rc == 0) {
        model_whiten(images, n, f->height, f->width, f->channels, f->mean, f->std, m->whiten_side, weight);
        rc = session_put(t->session, "whiten.weight", weight, 0, bytes);
    }
    free(images);
    free(weight);
    return rc;
}

int trainer_begin(struct trainer *t, uint64_t seed)
{
    t->seed = seed;
    t->at = 0;
    TRY(session_reset(t->session, seed));
    TRY(put_schedules(t));
    return put_whitening(t);
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
    int rc = session_sync(t->session);
    if (rc == 0) rc = session_put(t->session, "train.order", order, 0, (size_t)n * sizeof *order);
    if (rc == 0) rc = session_put(t->session, "train.key", key, 0, sizeof key);
    if (rc == 0) rc = session_put(t->session, "train.cursor", &zero, 0, sizeof zero);
    return rc;
}

// Before the decay ends an average of the weights is begun; from then on the weights are pulled to it now and again.
static int lookahead(struct trainer *t)
{
    const struct recipe *r = &t->choice.recipe;
    if (t->average_begin == NONE) return 0;
    int64_t begins = (int64_t)decay_end(t) - r->lookahead_before, since = t->at - 1 - (begins > 0 ? begins : 0);
    if (since == 0) return session_run(t->session, t->average_begin);
    return since > 0 && since % r->lookahead_every == 0 ? session_run(t->session, t->average_pull) : 0;
}

int trainer_step(struct trainer *t)
{
    BUG_IF(t->at >= t->steps);
    if (t->at % t->steps_an_epoch == 0) TRY(begin_epoch(t, (int32_t)(t->at / t->steps_an_epoch)));
    TRY(session_run(t->session, t->program[t->at]));
    t->at++;
    return lookahead(t);
}

int trainer_sums(struct trainer *t, bool reset, struct trainer_sums *sums)
{
    float loss, none = 0;
    int32_t correct, zero = 0;
    TRY(session_get(t->session, "train.loss", &loss, sizeof loss));
    TRY(session_get(t->session, "train.correct", &correct, sizeof correct));
    sums->loss = loss, sums->correct = correct;
    if (!reset) return 0;
    TRY(session_put(t->session, "train.loss", &none, 0, sizeof none));
    return session_put(t->session, "train.correct", &zero, 0, sizeof zero);
}

int trainer_evaluate(struct trainer *t, int64_t *correct)
{
    int32_t zero = 0, hits;
    TRY(session_sync(t->session));
    TRY(session_put(t->session, "test.cursor", &zero, 0, sizeof zero));
    TRY(session_put(t->session, "test.correct", &zero, 0, sizeof zero));
    if (t->fold != NONE) TRY(session_run(t->session, t->fold));
    for (int64_t i = 0; i < t->facts->count[SPLIT_TEST] / t->evaluate_batch; i++)
        TRY(session_run(t->session, t->evaluate));
    if (t->evaluate_rest != NONE) TRY(session_run(t->session, t->evaluate_rest));
    TRY(session_get(t->session, "test.correct", &hits, sizeof hits));
    *correct = hits;
    return 0;
}

bool trainer_evaluates_after(const struct trainer *t, int64_t at)
{
    const struct recipe *r = &t->choice.recipe;
    if (at == t->steps) return true;
    if (at % t->steps_an_epoch) return false;
    double epoch = (double)at / (double)t->steps_an_epoch, since = epoch - r->evaluate_from;
    return r->evaluate_every > 0 && since >= 0 && fabs(remainder(since, r->evaluate_every)) < 1e-9;
}

// ---- figures

int64_t trainer_parameters(const struct trainer *t)
{
    int64_t n = 0;
    const struct store *s = t->session->store;
    for (int i = 0; i < s->count; i++)
        if (s->slot[i]->memory == MEMORY_WEIGHTS && strncmp(s->slot[i]->name, "folded.", 7))
            n += shape_count(&s->slot[i]->shape);
    return n;
}

double trainer_forward_flops(const struct trainer *t)
{
    const struct graph *g = t->session->graph[t->evaluate];
    double flops = 0;
    for (int i = 0; i < g->nodes; i++) flops += node_cost(g, &g->node[i]).flops;
    return flops / (double)(t->evaluate_batch * t->choice.recipe.views);
}
