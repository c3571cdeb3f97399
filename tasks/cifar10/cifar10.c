// SPDX-License-Identifier: Apache-2.0
// CIFAR10: ten classes of 32 x 32 images; top-1 of 94% on the 10,000 test images. Read from top to bottom: the data on
// the device, a training step, an evaluation, an inference.
#include "runtime/fuse.h"
#include "runtime/grad.h"
#include "runtime/optim.h"
#include "tasks/task.h"

static const struct init ZERO = {INIT_ZERO, 0}, UPLOAD = {INIT_UPLOAD, 0};

// ---- data: the whole set lies on the device as u8

struct samples {
    int images, labels, index;
};

static struct samples window(struct graph *g, const char *split, int64_t count, int64_t batch, const struct dataset_facts *d)
{
    const char *s = split;
    int images = graph_state(g, arena_text(&g->arena, "%s.images", s), SHAPE(count, d->height, d->width, d->channels), U8,
                             MEMORY_DATA, UPLOAD);
    int labels = graph_state(g, arena_text(&g->arena, "%s.labels", s), SHAPE(count), U8, MEMORY_DATA, UPLOAD);
    int order = graph_state(g, arena_text(&g->arena, "%s.order", s), SHAPE(count), I32, MEMORY_DATA, UPLOAD);
    int cursor = graph_state(g, arena_text(&g->arena, "%s.cursor", s), SHAPE(1), I32, MEMORY_DATA, ZERO);
    int index = g_window(g, order, cursor, batch);
    return (struct samples){images, g_gather(g, labels, index), index};
}

static void normalise(struct augment_attr *a, const struct task_build *b)
{
    for (int c = 0; c < b->data->channels; c++) a->mean[c] = b->data->mean[c], a->std[c] = b->data->std[c];
    a->to = b->dtype;
}

static void advance(struct graph *g, const char *split, int64_t batch)
{
    g->phase = PHASE_UPDATE;
    int cursor = graph_state(g, arena_text(&g->arena, "%s.cursor", split), SHAPE(1), I32, MEMORY_DATA, ZERO);
    g_tick(g, cursor, (int32_t)batch);
}

static int logits_of(struct graph *g, int x, const struct task_build *b, bool training, bool first_trains)
{
    struct model_build m = {b->recipe, training, first_trains, b->data->classes};
    return b->model->logits(g, x, &m);
}

// ---- updates

static int counter(struct graph *g, const char *name, enum dtype dtype)
{
    return graph_state(g, name, SHAPE(1), dtype, MEMORY_DATA, ZERO);
}

static int scheduled(struct graph *g, const char *what, int step, const struct task_build *b)
{
    return g_pick(g, graph_state(g, arena_text(&g->arena, "schedule.%s", what), SHAPE(b->steps), F32, MEMORY_DATA, UPLOAD), step);
}

static struct optim_settings filter_settings(struct graph *g, int step, const struct task_build *b, bool renormalises)
{
    const struct recipe *r = b->recipe;
    struct optim_settings o = {
        .momentum = (float)r->filter_momentum, .nesterov = true, .decay = (float)r->filter_decay,
        .beta1 = (float)r->adam_beta1, .beta2 = (float)r->adam_beta2, .eps = (float)r->adam_epsilon,
        .ns_steps = (int)r->newton_schulz_steps, .renormalise = NONE, .ns_norm = NONE,
    };
    for (int i = 0; i < 3; i++) o.ns[i] = (float)r->newton_schulz.at[i];
    if (r->optimiser != OPTIMISER_MUON) return o;
    if (renormalises) o.renormalise = graph_state(g, "one", SHAPE(1), F32, MEMORY_DATA, (struct init){INIT_CONSTANT, 1});
    o.ns_norm = scheduled(g, "ns_norm", step, b);
    return o;
}

// Filters have rank 4, the head rank 2, biases and scales rank 1: each kind has its rate and its rule.
static void update(struct graph *g, const struct task_build *b, bool renormalises, const int *params, const int *grads,
                   int count, int step)
{
    const struct recipe *r = b->recipe;
    int filter_lr = scheduled(g, "filter_lr", step, b), head_lr = scheduled(g, "head_lr", step, b);
    int bias_lr = scheduled(g, "bias_lr", step, b), first_lr = scheduled(g, "first_lr", step, b);
    struct optim_settings filter = filter_settings(g, step, b, renormalises), other = filter;
    other.momentum = (float)r->momentum;
    double decay = r->weight_decay * (double)r->batch;  // divided by the rate: the step decays alike for all
    for (int i = 0; i < count; i++) {
        int p = params[i], rank = g->value[p].shape.rank;
        if (grads[i] == NONE) continue;
        graph_scope(g, "%s", g->value[p].slot->name);
        bool first = !strcmp(g->value[p].slot->name, "whiten.bias");
        int lr = rank == 4 ? filter_lr : rank == 2 ? head_lr : first ? first_lr : bias_lr;
        double rate = rank == 2 ? r->head_lr : r->bias_lr;
        other.decay = rate > 0 ? (float)(decay / rate) : 0;
        if (r->optimiser == OPTIMISER_ADAMW)
            optim_adamw(g, p, grads[i], lr, step, rank == 4 ? &filter : &other);
        else if (rank == 4 && r->optimiser == OPTIMISER_MUON)
            optim_muon(g, p, grads[i], lr, &filter);
        else
            optim_sgd(g, p, grads[i], lr, rank == 4 ? &filter : &other);
    }
}

// ---- one training step

enum { MOST_PARAMS = 1024 };

static int trained(const struct graph *g, int params[MOST_PARAMS])
{
    int count = 0;
    for (int v = 0; v < g->values; v++)
        if (g->value[v].slot && g->value[v].slot->memory == MEMORY_WEIGHTS && g->value[v].trains) {
            BUG_IF(count == MOST_PARAMS);
            params[count++] = v;
        }
    return count;
}

static int cifar10_train(struct session *s, const struct task_build *b, const struct step_variant *v, int *step_program)
{
    const struct recipe *r = b->recipe;
    static const char *const names[2][2] = {{"train", "train, renormalising"},
                                            {"train, first layer too", "train, first layer too, renormalising"}};
    struct graph *g = graph_new(s->store, names[v->first_trains][v->renormalises]);
    graph_scope(g, "samples");
    struct samples t = window(g, "train", b->data->count[SPLIT_TRAIN], r->batch, b->data);
    int key = graph_state(g, "train.key", SHAPE(4), I32, MEMORY_DATA, UPLOAD);
    struct augment_attr a = {.flip = (enum flip)r->flip, .pad = (int)r->crop, .brightness = (float)r->brightness,
                             .contrast = (float)r->contrast};
    normalise(&a, b);
    int x = g_resize(g, g_augment(g, t.images, t.index, key, &a), v->side, v->side);
    int logits = logits_of(g, x, b, true, v->first_trains);
    graph_scope(g, "loss");
    int loss = g_xent(g, logits, t.labels, (float)r->label_smoothing, false);
    g_accumulate(g, counter(g, "train.loss", F32), loss);
    g_correct(g, logits, t.labels, counter(g, "train.correct", I32), 1);

    int params[MOST_PARAMS], grads[MOST_PARAMS], rc = fuse_graph(g, b->fuse);
    int count = rc < 0 ? 0 : trained(g, params);
    if (rc == 0) rc = grad_of(g, loss, params, count, grads);
    if (rc == 0) {
        g->phase = PHASE_UPDATE;
        int step = counter(g, "step", I32);
        update(g, b, v->renormalises, params, grads, count, step);
        graph_scope(g, "counters");
        g_tick(g, step, 1);
        advance(g, "train", r->batch);
    }
    return *step_program = session_add(s, g);  // reports the graph's sticky error
}

// ---- evaluation: views of an image are averaged before the answer is taken

struct view {
    bool mirror;
    int dy, dx;
    float weight;
};
static const struct view views1[] = {{false, 0, 0, 1}};
static const struct view views2[] = {{false, 0, 0, .5f}, {true, 0, 0, .5f}};
// Plain and mirrored count half, one pixel up-left and down-right, mirrored too, the other half (airbench's).
static const struct view views6[] = {{false, 0, 0, .25f}, {true, 0, 0, .25f}, {false, -1, -1, .125f},
                                     {true, -1, 1, .125f}, {false, 1, 1, .125f}, {true, 1, -1, .125f}};

// Fuses an inference graph; its folded filters are made by program *fold, which is added once.
static int fold_into(struct session *s, struct graph *g, const struct task_build *b, int *fold)
{
    int rc = fuse_graph(g, b->fuse);
    if (rc < 0 || !b->fuse) return rc;
    struct graph *prepare = graph_new(s->store, "fold");
    rc = fuse_fold(g, prepare);
    if (rc == 0 && *fold < 0 && prepare->nodes) rc = *fold = session_add(s, prepare);
    else graph_free(prepare);
    return rc < 0 ? rc : 0;
}

static int finish(struct session *s, struct graph *g, int rc, int *program)
{
    if (rc < 0) {
        graph_free(g);
        return rc;
    }
    return *program = session_add(s, g);
}

static int cifar10_evaluate(struct session *s, const struct task_build *b, int64_t batch, int *fold, int *program)
{
    const struct view *view = b->recipe->views == 6 ? views6 : b->recipe->views == 2 ? views2 : views1;
    struct graph *g = graph_new(s->store, "evaluate");
    struct samples t = window(g, "test", b->data->count[SPLIT_TEST], batch, b->data);
    int sum = NONE;
    for (int i = 0; i < b->recipe->views; i++) {
        graph_scope(g, "view %d", i + 1);
        struct augment_attr a = {.view_flip = view[i].mirror, .view_dy = view[i].dy, .view_dx = view[i].dx};
        normalise(&a, b);
        int logits = logits_of(g, g_augment(g, t.images, t.index, NONE, &a), b, false, false);
        logits = g_scale(g, logits, view[i].weight);
        sum = sum == NONE ? logits : g_add(g, sum, logits);
    }
    g_correct(g, sum, t.labels, counter(g, "test.correct", I32), 1);
    advance(g, "test", batch);
    return finish(s, g, fold_into(s, g, b, fold), program);
}

// ---- inference: one image, raw to prepared, prepared to answered

static int cifar10_infer(struct session *s, const struct task_build *b, int *fold, int *preprocess, int *forward)
{
    const struct dataset_facts *d = b->data;
    struct shape one = SHAPE(1, d->height, d->width, d->channels);
    struct graph *g = graph_new(s->store, "preprocess");
    int image = graph_state(g, "infer.image", one, U8, MEMORY_DATA, UPLOAD);
    int index = graph_state(g, "infer.index", SHAPE(1), I32, MEMORY_DATA, ZERO);
    int x = graph_state(g, "infer.x", one, b->dtype, MEMORY_DATA, ZERO);
    struct augment_attr a = {0};
    normalise(&a, b);
    graph_node_over(g, OP_ASSIGN, (int[]){x, g_augment(g, image, index, NONE, &a)}, 2, NULL, &x, NULL);
    TRY(finish(s, g, 0, preprocess));

    g = graph_new(s->store, "infer");
    x = graph_state(g, "infer.x", one, b->dtype, MEMORY_DATA, ZERO);
    int logits = graph_state(g, "infer.logits", SHAPE(1, d->classes), F32, MEMORY_DATA, ZERO);
    graph_node_over(g, OP_ASSIGN, (int[]){logits, logits_of(g, x, b, false, false)}, 2, NULL, &logits, NULL);
    return finish(s, g, fold_into(s, g, b, fold), forward);
}

static const char *const data_sets[] = {"cifar10", "synthetic", NULL};
static const char *const recipes[] = {"cifar10", "synthetic", NULL};

const struct task task_cifar10 = {
    .name = "cifar10", .title = "CIFAR10", .metric = "top1", .target = 0.94, .data_sets = data_sets, .recipes = recipes,
    .train = cifar10_train, .evaluate = cifar10_evaluate, .infer = cifar10_infer,
};
