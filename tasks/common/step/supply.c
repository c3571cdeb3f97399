// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/step/supply.h"

#include "runtime/common/base/text.h"
#include "runtime/ranks/ranks.h"

#include <math.h>
#include <stdlib.h>

enum { EVALUATE_BATCH = 1000, LOAD_CHUNK = 2000 };

static bool is_growing(const struct supply *s)
{
    return s->choice.order.kind == ORDER_GROWING;
}

// ---- the task's choice

static void choose_plain(const struct setting *c, bool evaluates, struct order_choice *order)
{
    order->buckets = 1;
    order->batch[0] = !evaluates ? c->recipe->batch : order->count < EVALUATE_BATCH ? order->count : EVALUATE_BATCH;
}

// The fields of the data set, for a request of a task whose batches are resident.
static void stream_fields(const struct setting *c, struct feed_choice *choice)
{
    for (int i = 0; i < c->data->fields && choice->fields < FEED_FIELDS; i++) {
        const struct field *f = &c->data->field[i];
        if (f->ragged != FIELD_FIXED) continue;
        choice->field[choice->fields++] = (struct feed_field){.name = f->name, .dtype = f->dtype, .shape = {f->shape},
                                                              .classes = f->classes};
    }
}

static int read_lengths(struct supply *s, const struct setting *c, int32_t **lengths)
{
    const struct order_choice *order = &s->choice.order;
    const char *field = c->task->length_field;
    bool by_sample = c->task->buckets && order->buckets > 1 && !s->choice.bucket_of_epoch;
    *lengths = NULL;
    if (!field && !by_sample) return 0;
    *lengths = zalloc((size_t)order->count * sizeof **lengths);
    return field ? dataset_lengths(s->data, s->choice.split, field, *lengths)
                 : c->task->buckets(c, s->data, s->choice.split, *lengths);
}

// A batch that is computed in parts or slices is supplied so. A part of one sample is refused: its loss could be a mean or a sum
// (step_loss).
static int cut_batches(const struct setting *c, struct supply *s)
{
    const struct slices *slices = &c->slices;
    bool sliced = !slices_whole(slices);
    int64_t parts = sliced ? slices->all : c->recipe->accumulate;
    if (sliced)
        s->choice.order.share = (struct order_share){.slices = slices->all, .first = slices->first, .taken = slices->count};
    else if (s->choice.order.kind == ORDER_STREAMS && parts > 1)  // its parts are rows of one batch, not successive batches
        s->choice.order.share = (struct order_share){.slices = (int)parts, .taken = (int)parts};
    for (int b = 0; b < s->choice.order.buckets && parts > 1; b++) {
        int64_t *batch = &s->choice.order.batch[b];
        if (*batch % parts || *batch / parts < 2)
            return fail(ERR_USAGE, "data.%s: a batch of %lld is not %lld equal parts of two samples or more",
                        sliced ? "slices" : "accumulate", (long long)*batch, (long long)parts);
        *batch /= parts;
    }
    return 0;
}

static int check_batches(const struct setting *c, const struct supply *s)
{
    if (order_all_batches(s->order) > 0) return 0;
    return fail(ERR_USAGE, "a batch of %lld is larger than the data set of %lld samples", (long long)s->choice.order.batch[0],
                (long long)c->data->count[s->choice.split]);
}

int supply_new(struct supply *s, const struct setting *c, struct dataset *data, int feed)
{
    enum split split = task_feed(c->task, feed)->split;
    bool evaluates = feed == FEED_TEST;
    int32_t *lengths;
    *s = (struct supply){.data = data, .choice = {.data = data, .split = split}, .next_epoch = NONE};
    s->placed = evaluates ? c->task->answer != NULL : c->task->step != NULL;
    s->choice.order = (struct order_choice){.count = c->data->count[split], .short_batches = evaluates,
                                            .kind = task_feed(c->task, feed)->order};
    choose_plain(c, evaluates, &s->choice.order);
    if (c->task->feed) TRY(c->task->feed(c, feed, &s->choice));
    if (c->single && !s->choice.fields) stream_fields(c, &s->choice);
    BUG_IF(is_growing(s) && !s->choice.fields);
    if (!is_growing(s)) TRY(feed_resolve(&s->choice));
    for (int b = 0; b < s->choice.order.buckets && c->single; b++) s->choice.order.batch[b] = 1;
    if (!evaluates) TRY(cut_batches(c, s));
    if (evaluates && ranks_size() > 1 && s->choice.order.kind == ORDER_STREAMS)
        return fail(ERR_UNSUPPORTED, "%s: an evaluation over streams runs in one process, because each batch continues the one"
                    " before", c->task->title);
    // An evaluation is shared batch by batch.
    if (evaluates && ranks_size() > 1) s->choice.order.share = (struct order_share){.every = ranks_size(), .at = ranks_rank()};
    s->placed |= s->choice.order.share.every > 0;
    if (!s->choice.fields && s->choice.order.buckets > 1)
        return fail(ERR_UNSUPPORTED, "%s: a resident data set has only one bucket", c->task->title);
    if (!evaluates) s->choice.epochs = (uint32_t)ceil(c->recipe->epochs);
    int rc = read_lengths(s, c, &lengths);
    s->choice.order.lengths = lengths;  // freed by supply_free
    if (rc == 0) rc = order_new(&s->choice.order, &s->order);
    if (rc == 0 && !evaluates && !s->choice.fields) rc = order_new(&s->choice.order, &s->next_order);
    TRY(rc);
    if (order_is_fixed(&s->choice.order)) order_draw(s->order, 0, 0, 0);  // drawn once, because it never changes
    return check_batches(c, s);
}

int64_t supply_batches(const struct supply *s)
{
    return order_batches(s->order);
}

// ---- data to the device

// Uploads one resident field in pieces, so the host never holds the whole field.
static int load_field(struct supply *s, const struct field *field, struct slot *slot)
{
    size_t bytes = (size_t)field_bytes(field, 0);
    int64_t count = s->choice.order.count;
    void *piece = zalloc(LOAD_CHUNK * bytes);
    int rc = 0;
    for (int64_t at = 0; at < count && rc == 0; at += LOAD_CHUNK) {
        int64_t n = count - at < LOAD_CHUNK ? count - at : LOAD_CHUNK;
        rc = dataset_read(s->data, s->choice.split, field->name, at, n, piece);
        if (rc == 0) rc = session_write(s->session, slot, piece, (size_t)at * bytes, (size_t)n * bytes);
    }
    free(piece);
    return rc;
}

static bool is_drawn_ahead(const struct supply *s, uint64_t seed, int64_t epoch)
{
    return s->next_epoch == epoch && s->next_seed == seed;
}

void supply_draw_ahead(struct supply *s, uint64_t seed, int64_t epoch)
{
    if (!s->next_order || is_drawn_ahead(s, seed, epoch)) return;
    order_draw(s->next_order, seed, (uint32_t)epoch, 0);
    s->next_seed = seed, s->next_epoch = epoch;
}

static int upload_order(struct supply *s, uint64_t seed, int64_t epoch)
{
    if (is_drawn_ahead(s, seed, epoch)) {
        struct order *now = s->next_order;
        s->next_order = s->order, s->order = now, s->next_epoch = NONE;
    } else {
        order_draw(s->order, seed, (uint32_t)epoch, 0);
    }
    if (!s->slots->order) return 0;  // no program reads the feed
    size_t bytes = (size_t)s->choice.order.count * sizeof(int32_t);
    return session_write(s->session, s->slots->order, order_samples(s->order), 0, bytes);
}

static int host_alloc(void *device, size_t bytes, void **into)
{
    struct device *d = device;
    return d->type->host_alloc(d, bytes, into);
}

static void host_free(void *device, void *at)
{
    struct device *d = device;
    d->type->host_free(d, at);
}

static int start_feed(struct supply *s)
{
    struct device_facts facts;
    TRY(s->session->device->type->facts(s->session->device, &facts));
    s->choice.alloc = host_alloc;
    s->choice.free = host_free;
    s->choice.memory = s->session->device;
    if (!s->choice.threads) s->choice.threads = feed_threads(facts.threads);
    if (s->choice.begin) TRY(s->choice.begin(s->choice.context));
    return feed_new(&s->choice, &s->feed);
}

static int make_grown_batch(struct supply *s)
{
    for (int f = 0; f < s->choice.fields; f++)
        s->grown_field[f] = zalloc(feed_bytes(&s->choice.field[f], 0) * (size_t)s->choice.order.batch[0]);
    return 0;
}

int supply_grow(struct supply *s, int64_t count)
{
    BUG_IF(!is_growing(s));
    if (count < 1 || count > s->choice.order.count)
        return fail(ERR_INPUT, "a growing set of 1 to %lld samples cannot have %lld", (long long)s->choice.order.count,
                    (long long)count);
    s->grown = count;
    return 0;
}

int supply_keeps(const struct supply *s, int64_t *bytes)
{
    *bytes = 0;
    return s->choice.keeps ? s->choice.keeps(s->choice.context, bytes) : 0;
}

int supply_load(struct supply *s, struct session *session, struct feed_slots *slots)
{
    const struct dataset_facts *facts = dataset_facts(s->data);
    s->session = session;
    s->slots = slots;
    if (is_growing(s)) return make_grown_batch(s);
    if (s->choice.fields) return start_feed(s);
    for (int f = 0; f < facts->fields; f++)
        if (slots->field[f]) TRY(load_field(s, &facts->field[f], slots->field[f]));
    return order_is_fixed(&s->choice.order) ? upload_order(s, 0, 0) : 0;  // uploaded once
}

// ---- epochs and batches

// Returns the batch's host memory to the feed after its copies are done.
static int let_go(struct supply *s)
{
    if (!s->holds) return 0;
    s->holds = false;
    TRY(session_stage_done(s->session));
    feed_give_back(s->feed, &s->held);
    return 0;
}

static int put_cursor(struct supply *s, int32_t cursor)
{
    return s->slots->cursor ? session_write(s->session, s->slots->cursor, &cursor, 0, sizeof cursor) : 0;
}

int supply_begin(struct supply *s, uint64_t seed, int64_t epoch, int64_t batch)
{
    int32_t key[4] = {(int32_t)(uint32_t)seed, (int32_t)(uint32_t)(seed >> 32), (int32_t)epoch, 0};
    s->next = batch;
    s->draw.seed = seed, s->draw.epoch = (uint32_t)epoch;
    TRY(let_go(s));
    if (s->slots->key) TRY(session_write(s->session, s->slots->key, key, 0, sizeof key));
    if (s->feed) return feed_seek(s->feed, seed, (uint32_t)epoch, batch);
    if (is_growing(s)) return 0;
    if (!order_is_fixed(&s->choice.order)) TRY(upload_order(s, seed, epoch));
    int32_t cursor = batch < order_batches(s->order) ? (int32_t)order_batch(s->order, batch).first : 0;
    return put_cursor(s, cursor);
}

static int stage_batch(struct supply *s)
{
    const struct feed_batch *b = &s->held;
    for (int f = 0; f < s->choice.fields; f++) {
        struct slot *slot = s->slots->input[f][b->bucket];
        if (slot) TRY(session_stage(s->session, slot, b->field[f], b->bytes[f]));
    }
    return 0;
}

// The device copies the batch before session_write returns.
static int draw_grown(struct supply *s, int64_t number, struct order_batch *batch)
{
    const struct feed_choice *c = &s->choice;
    *batch = (struct order_batch){.count = c->order.batch[0]};
    if (s->grown < 1) return fail(ERR_INPUT, "a batch was asked for before the growing set had a sample");
    int32_t *samples = zalloc((size_t)batch->count * sizeof *samples);
    const struct feed_samples list = {samples, batch->count, s->draw.seed, s->draw.epoch, 0, NULL};
    s->draw.batch = number, s->draw.count = s->grown;
    order_draw_grown(s->order, &s->draw, samples);
    int rc = feed_list(c, &list, s->grown_field);
    free(samples);
    for (int f = 0; f < c->fields && rc == 0; f++) {
        struct slot *slot = s->slots->input[f][0];
        if (slot) rc = session_write(s->session, slot, s->grown_field[f], 0, slot_bytes(slot));
    }
    return rc;
}

int supply_next(struct supply *s, struct order_batch *batch)
{
    int64_t number = s->next++;
    if (is_growing(s)) return draw_grown(s, number, batch);
    if (!s->feed) {
        *batch = order_batch(s->order, number);
        return s->placed ? put_cursor(s, (int32_t)batch->first) : 0;
    }
    TRY(let_go(s));
    TRY(feed_take(s->feed, &s->held));
    BUG_IF(s->held.count == 0 || s->held.number != number);
    s->holds = true;
    *batch = (struct order_batch){.count = s->held.count, .bucket = s->held.bucket};
    if (order_is_fixed(&s->choice.order)) batch->first = order_batch(s->order, number).first;
    return stage_batch(s);
}

void supply_free(struct supply *s)
{
    int rc = s->session ? let_go(s) : 0;  // a pending copy may still read the batch
    (void)rc;
    feed_free(s->feed);
    for (int f = 0; f < FEED_FIELDS; f++) free(s->grown_field[f]);
    order_free(s->order);
    order_free(s->next_order);
    free((void *)s->choice.order.lengths);
    if (s->choice.end) s->choice.end(s->choice.context);
}

bool supply_damaged(const struct supply *s, struct damage_report *report)
{
    if (s->choice.damage) damage_report(s->choice.damage, report);
    return s->choice.damage != NULL;
}

void supply_damaged_text(const struct supply *s, struct text *text)
{
    struct damage_report r;
    char n[TEXT_FIGURE], all[TEXT_FIGURE];
    const struct dataset_facts *facts = dataset_facts(s->data);
    if (!supply_damaged(s, &r) || r.count == 0) return;
    text_add(text, "%s: %s of %s pictures %s used as far as %s can be decoded; the first is number %lld",
             facts->split_name[s->choice.split], text_count(n, r.count), text_count(all, facts->count[s->choice.split]),
             r.count == 1 ? "is damaged and was" : "are damaged and were", r.count == 1 ? "it" : "they", (long long)r.first);
    if (*r.words) text_add(text, " (%s)", r.words);
}

int64_t supply_stalled_ns(const struct supply *s)
{
    return s->feed ? feed_stalled_ns(s->feed) : 0;
}
