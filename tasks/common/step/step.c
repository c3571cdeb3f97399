// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/step.h"

#include "runtime/fuse.h"
#include "tasks/common/step/losses.h"
#include "tasks/common/step/update.h"

static const struct init ZERO = {INIT_ZERO, 0}, UPLOAD = {INIT_UPLOAD, 0};

// ---- slots between host and graph

static int feed_state(struct step *s, struct slot **slot, const char *what, struct shape shape, enum dtype dtype,
                      struct init init)
{
    struct graph *g = s->g;
    const struct task_feed *feed = task_feed(s->setting->task, s->program->feed);
    const char *name = feed ? feed->name : "draw";
    int v = graph_state(g, arena_text(&g->arena, "%s.%s", name, what), shape, dtype, MEMORY_DATA, init);
    if (v != NONE) *slot = g->value[v].slot;
    return v;
}

static struct feed_slots *slots_of(struct step *s)
{
    BUG_IF(s->program->feed == FEED_NONE);
    return &s->slots->feed[s->program->feed];
}

static int count_state(struct step *s, struct slot **slot, const char *what, enum dtype dtype)
{
    struct graph *g = s->g;
    int v = graph_state(g, arena_text(&g->arena, "%s.%s", step_trains(s) ? "train" : "test", what), SHAPE(1), dtype,
                        MEMORY_DATA, ZERO);
    if (v != NONE) *slot = g->value[v].slot;
    return v;
}

static struct step_counts *counts_of(struct step *s)
{
    return step_trains(s) ? &s->slots->train : &s->slots->test;
}

// True if the task decides which programs run. Then no graph can tell if it is the last one on a batch or in a step.
static bool is_driven(const struct step *s)
{
    const struct task *task = s->setting->task;
    return step_trains(s) ? task->step != NULL : task->answer != NULL;
}

static int cursor_of(struct step *s)
{
    return feed_state(s, &slots_of(s)->cursor, "cursor", SHAPE(1), I32, ZERO);
}

static enum split split_of(const struct step *s)
{
    return task_feed(s->setting->task, s->program->feed)->split;
}

int step_index(struct step *s)
{
    if (s->index != NONE) return s->index;
    int64_t count = s->setting->data->count[split_of(s)];
    int order = feed_state(s, &slots_of(s)->order, "order", SHAPE(count), I32, UPLOAD);
    return s->index = g_window(s->g, order, cursor_of(s), s->is.batch);
}

int step_field(struct step *s, const char *name)
{
    const struct dataset_facts *d = s->setting->data;
    int f = 0;
    while (f < d->fields && strcmp(d->field[f].name, name)) f++;
    if (f == d->fields) return graph_fail(s->g, ERR_SHAPE, "%s has no field \"%s\"", d->name, name);
    const struct field *field = &d->field[f];
    BUG_IF(field->ragged != FIELD_FIXED);  // a ragged field is streamed
    struct shape shape = {.rank = field->shape.rank + 1, .dim = {d->count[split_of(s)]}};
    for (int i = 0; i < field->shape.rank; i++) shape.dim[i + 1] = field->shape.dim[i];
    return feed_state(s, &slots_of(s)->field[f], name, shape, field->dtype, UPLOAD);
}

// A streamed field has a slot with the shape of its bucket's full batch. A short batch reads the first rows.
static int streamed(struct step *s, const struct feed_choice *feed, const char *name)
{
    int f = 0, bucket = s->is.bucket;
    while (f < feed->fields && strcmp(feed->field[f].name, name)) f++;
    if (f == feed->fields) return graph_fail(s->g, ERR_SHAPE, "batches have no field \"%s\"", name);
    const struct shape *one = &feed->field[f].shape[bucket];
    struct shape shape = {.rank = one->rank + 1, .dim = {feed->order.batch[bucket]}};
    for (int i = 0; i < one->rank; i++) shape.dim[i + 1] = one->dim[i];
    char *slot = arena_text(&s->g->arena, "%s.%d", name, bucket);
    int v = feed_state(s, &slots_of(s)->input[f][bucket], slot, shape, feed->field[f].dtype, UPLOAD);
    return s->is.batch == shape.dim[0] ? v : g_slice(s->g, v, 0, 0, s->is.batch);
}

int step_input(struct step *s, const char *name)
{
    const struct feed_choice *feed = s->setting->feed[s->program->feed];
    if (feed && feed->fields) return streamed(s, feed, name);
    int field = step_field(s, name);
    return g_gather(s->g, field, step_index(s));
}

int step_key(struct step *s)
{
    struct slot **key = s->program->feed == FEED_NONE ? &s->slots->key : &slots_of(s)->key;
    return feed_state(s, key, "key", SHAPE(4), I32, UPLOAD);
}

int step_count(struct step *s)
{
    const char *name = s->is.part ? "parts" : step_is_sliced(s) ? "slices" : "step";
    if (step_trains(s) && is_driven(s)) name = arena_text(&s->g->arena, "runs.%s", s->program->name);
    return graph_state(s->g, name, SHAPE(1), I32, MEMORY_DATA, ZERO);
}

int step_site(struct step *s)
{
    return is_driven(s) ? s->sites++ * PROGRAMS_MAX + s->number : s->sites++;
}

static void count_loss(struct step *s, int loss)
{
    g_accumulate(s->g, count_state(s, &counts_of(s)->loss, "loss", F32), loss);
}

int step_forward(struct step *s, int x)
{
    int in[MODEL_VALUES] = {x}, out[MODEL_VALUES] = {NONE};
    s->setting->model->forward(s, in, out);
    return out[0];
}

static struct step_mean *mean_slots(struct step *s, const char *name)
{
    struct step_counts *counts = counts_of(s);
    for (int i = 0; i < counts->means; i++)
        if (!strcmp(counts->mean[i].name, name)) return &counts->mean[i];
    BUG_IF(counts->means == LOSSES_MAX);
    counts->mean[counts->means] = (struct step_mean){.name = name};
    return &counts->mean[counts->means++];
}

static void count_mean(struct step *s, int number, int sum, int rows)
{
    struct graph *g = s->g;
    const char *name = s->mean[number].name;
    struct step_mean *slots = mean_slots(s, name);
    g_accumulate(g, count_state(s, &slots->sum, arena_text(&g->arena, "%s.sum", name), F32), sum);
    g_accumulate(g, count_state(s, &slots->rows, arena_text(&g->arena, "%s.rows", name), F32), rows);
}

void step_mean_loss(struct step *s, const char *name, int sum, int rows, float factor)
{
    if (!step_trains(s)) return;
    BUG_IF(s->means == LOSSES_MAX);
    s->mean[s->means].name = name, s->mean[s->means].factor = factor;
    s->mean[s->means].sum = sum, s->mean[s->means++].rows = rows;
    if (!step_is_sliced(s)) count_mean(s, s->means - 1, sum, rows);
}

void step_loss(struct step *s, int loss, int64_t terms)
{
    if (!step_trains(s)) return;
    s->is.terms = terms;
    s->loss = loss;
    if (!step_is_sliced(s)) count_loss(s, loss);
}

int step_hits(struct step *s, int metric)
{
    char *name = arena_text(&s->g->arena, "%s.hits", s->setting->task->metrics[metric].name);
    return count_state(s, &counts_of(s)->hits[metric], name, I32);
}

int step_tries(struct step *s, int metric)
{
    char *name = arena_text(&s->g->arena, "%s.tries", s->setting->task->metrics[metric].name);
    return count_state(s, &counts_of(s)->tries[metric], name, I32);
}

int step_total(struct step *s, int metric)
{
    BUG_IF(step_trains(s));  // the loop neither clears nor joins totals of a training
    char *name = arena_text(&s->g->arena, "%s.total", s->setting->task->metrics[metric].name);
    return count_state(s, &counts_of(s)->total[metric], name, F32);
}

// Each program has its own host slot, because the shape depends on the size of the batch. The host reads the slot after every
// run, so a saved state leaves it out.
void step_output(struct step *s, int number, int v)
{
    struct graph *g = s->g;
    BUG_IF(number < 0 || number >= OUTPUTS_MAX);
    if (step_trains(s) || g->error || v == NONE) return;
    if (dtype_is_float(g->value[v].dtype) && g->value[v].dtype != F32) v = g_cast(g, v, F32);
    if (g->error) return;
    struct shape shape = g->value[v].shape;
    BUG_IF(shape.rank < 1 || shape.dim[0] != s->is.batch);
    char *name = arena_text(&g->arena, "output%d.%d.%lld", number, s->is.bucket, (long long)s->is.batch);
    int to = feed_state(s, &s->is.output[number], name, shape, g->value[v].dtype, ZERO);
    if (to == NONE) return;
    g->value[to].slot->role = ROLE_DERIVED;
    graph_node_over(g, OP_ASSIGN, (int[]){to, v}, 2, NULL, &to, NULL);
}

int step_slot(struct step *s, const char *name, struct shape shape, enum dtype dtype)
{
    struct graph *g = s->g;
    bool kept = step_trains(s) || s->program->feed == FEED_NONE;
    if (!kept) name = arena_text(&g->arena, "%s.%d.%lld", name, s->is.bucket, (long long)s->is.batch);
    int v = graph_state(g, name, shape, dtype, MEMORY_DATA, ZERO);
    if (v != NONE && !kept) g->value[v].slot->role = ROLE_DERIVED;
    return v;
}

void step_keep(struct step *s, int slot, int v)
{
    graph_node_over(s->g, OP_ASSIGN, (int[]){slot, v}, 2, NULL, &slot, NULL);
}

// Parts or slices of a batch that this process computes one after the other with the same slots.
static int64_t parts_of(const struct step *s)
{
    if (!step_trains(s)) return 1;
    return step_is_sliced(s) ? s->setting->slices.count : s->setting->recipe->accumulate;
}

void step_mark(struct step *s, const char *what, const char *digest)
{
    int v = graph_state(s->g, arena_text(&s->g->arena, "%s.%.16s", what, digest), SHAPE(1), F32, MEMORY_STATE, ZERO);
    if (v != NONE) s->g->value[v].slot->role = ROLE_STATISTIC;
}

// Programs of an evaluation share slots.
static void remember_carried(struct step *s, struct slot *slot)
{
    struct step_slots *of = s->slots;
    for (int i = 0; i < of->carries; i++)
        if (of->carried[i] == slot) return;
    if (of->carries < CARRIED_MAX) of->carried[of->carries++] = slot;
    else graph_fail(s->g, ERR_SHAPE, "the batches of an evaluation carry more than %d states", CARRIED_MAX);
}

int step_carry(struct step *s, const char *name, struct shape shape, enum dtype dtype, int *slot)
{
    int64_t rows = shape.dim[0];
    shape.dim[0] *= parts_of(s);
    *slot = step_slot(s, name, shape, dtype);
    if (s->program->kind == PROGRAM_EVALUATE && *slot != NONE) remember_carried(s, s->g->value[*slot].slot);
    return parts_of(s) == 1 || *slot == NONE ? *slot : g_slice(s->g, *slot, 0, 0, rows);
}

void step_carry_on(struct step *s, int slot, int v)
{
    if (s->g->error) return;
    int64_t rows = s->g->value[slot].shape.dim[0];
    if (parts_of(s) > 1) v = g_concat(s->g, (int[]){g_slice(s->g, slot, 0, rows / parts_of(s), rows), v}, 2, 0);
    if (!step_trains(s)) step_keep(s, slot, v);
    else if (s->carries == CARRIED_MAX) graph_fail(s->g, ERR_SHAPE, "a step carries more than %d states", CARRIED_MAX);
    else s->carried[s->carries].slot = slot, s->carried[s->carries++].value = v;
}

// How far counters of slices move: the last slice of a process passes over the others' slices.
static int32_t slices_passed(const struct step *s)
{
    const struct slices *of = &s->setting->slices;
    return step_is_sliced(s) && s->is.slice == slices_kinds(of) - 1 ? of->all - of->count + 1 : 1;
}

static void advance_cursor(struct step *s)
{
    if (s->index == NONE || is_driven(s)) return;  // streamed data has no index
    s->g->phase = PHASE_UPDATE;
    g_tick(s->g, cursor_of(s), (int32_t)s->is.batch * slices_passed(s));
}

// ---- one training step

// Collects the graph's parameters that train.
static int trained_of(const struct graph *g, int *params)
{
    int count = 0;
    for (int v = 0; v < g->values; v++)
        if (g->value[v].slot && g->value[v].trains && role_is_parameter(g->value[v].slot->role)) params[count++] = v;
    return count;
}

// Sums of slices are counted once they are joined.
static void count_joined(struct step *s, const struct losses *l)
{
    if (l->loss != NONE) count_loss(s, l->tally[l->loss].value);
    for (int j = 0; j < s->means; j++) count_mean(s, j, l->tally[l->sum[j]].value, l->tally[l->count[j]].value);
}

static int finish_train(struct step *s, int *params, int *grads, struct device *device)
{
    struct graph *g = s->g;
    TRY(fuse_graph(g, s->setting->fuse));
    TRY(fuse_device(g, s->setting->fuse, device));
    int count = trained_of(g, params);
    struct losses losses;
    TRY(losses_differentiate(s, params, count, &losses));
    g->phase = PHASE_UPDATE;
    for (int i = 0; i < s->carries; i++) step_keep(s, s->carried[i].slot, s->carried[i].value);
    if (s->is.part) TRY(update_accumulate(s, losses.tally, losses.tallies));
    if (step_is_sliced(s)) TRY(slices_join(s, losses.tally, losses.tallies));
    int step = graph_state(g, "step", SHAPE(1), I32, MEMORY_DATA, ZERO);
    bool updates = step_is_sliced(s) ? s->is.slice == slices_kinds(&s->setting->slices) - 1
                                : s->is.part == PART_WHOLE || s->is.part == PART_LAST;
    if (updates && step_is_sliced(s)) count_joined(s, &losses);
    if (updates) TRY(losses_finish(s, &losses, grads, count));
    if (updates) TRY(update_parameters(s, params, grads, count, step));
    graph_scope(g, "counters");
    if (s->is.part || step_is_sliced(s) || is_driven(s)) g_tick(g, step_count(s), slices_passed(s));
    if (updates && !is_driven(s)) g_tick(g, step, 1);
    advance_cursor(s);
    return 0;
}

// A name for people. Every view of it also shows the sizes.
static char *name_of(struct graph *g, const struct setting *setting, const struct variant *v, const char *program)
{
    char *name = arena_text(&g->arena, "%s", program);
    static const char *const parts[] = {"", ", first part", ", middle part", ", last part"};
    name = arena_text(&g->arena, "%s%s", name, parts[v->part]);
    int last = slices_kinds(&setting->slices) - 1;
    if (last > 0 && v->slice == last) name = arena_text(&g->arena, "%s, last slice", name);
    if (v->slice < last) name = arena_text(&g->arena, "%s, slice joined with %d", name, (1 << v->slice) - 1);
    if (v->note) name = arena_text(&g->arena, "%s, %s", name, v->note);
    return v->renormalises ? arena_text(&g->arena, "%s, renormalising", name) : name;
}

int step_train(struct session *session, const struct setting *setting, struct step_slots *slots, struct variant *v, int program)
{
    const struct task_program *p = task_program(setting, program);
    struct graph *g = graph_new(session->store, "train");
    struct step s = {.g = g, .setting = setting, .slots = slots, .program = p, .number = program, .is = *v, .index = NONE,
                     .loss = NONE};
    g->name = name_of(g, setting, v, p->name);
    g->trains = v->trains;
    g->sliced = step_is_sliced(&s);
    p->forward(&s);
    if (!g->error) {
        BUG_IF(s.loss == NONE && s.means == 0);
        v->terms = s.is.terms;
        size_t bytes = (size_t)(g->values + 1) * sizeof(int);
        int *params = arena_alloc(&g->arena, bytes), *grads = arena_alloc(&g->arena, bytes);
        int rc = finish_train(&s, params, grads, session->device);
        if (rc < 0 && !g->error) {
            graph_free(g);
            return rc;
        }
    }
    return session_add(session, g);  // reports the graph's sticky error
}

// ---- evaluation and inference

// Fuses an inference graph. Program *fold computes the folded filters and is added once.
static int fold_into(struct session *session, struct graph *g, unsigned fuse, int *fold)
{
    int rc = fuse_graph(g, fuse);
    if (rc < 0 || !fuse) return rc;
    struct graph *prepare = graph_new(session->store, "fold");
    rc = fuse_fold(g, prepare);
    if (rc == 0) rc = fuse_device(g, fuse, session->device);
    if (rc == 0 && *fold < 0 && prepare->nodes) rc = *fold = session_add(session, prepare);
    else graph_free(prepare);
    return rc < 0 ? rc : 0;
}

int step_evaluate(struct session *session, const struct setting *setting, struct step_slots *slots, struct variant *v,
                  int program, int *fold)
{
    const struct task_program *p = task_program(setting, program);
    struct graph *g = graph_new(session->store, "evaluate");
    struct step s = {.g = g, .setting = setting, .slots = slots, .program = p, .number = program, .is = *v, .index = NONE,
                     .loss = NONE};
    g->name = arena_text(&g->arena, "%s", p->name);
    p->forward(&s);
    memcpy(v->output, s.is.output, sizeof v->output);
    advance_cursor(&s);
    int rc = fold_into(session, g, setting->fuse, fold);
    if (rc >= 0) return session_add(session, g);
    graph_free(g);
    return rc;
}

int step_advance(struct session *session)
{
    struct graph *g = graph_new(session->store, "advance");
    g->phase = PHASE_UPDATE;
    g_tick(g, graph_state(g, "step", SHAPE(1), I32, MEMORY_DATA, ZERO), 1);
    return session_add(session, g);
}
