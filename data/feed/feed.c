// SPDX-License-Identifier: Apache-2.0
// The ring. Batches are numbered through all epochs (sequence = epoch * batches per epoch + number), and batch `sequence`
// is stored in entry sequence % depth. Threads claim pieces of the batch at `claim`, in order. While its entry is still taken,
// they sleep. There are two orders, one for even and one for odd epochs, so that the next epoch is drawn while this one is
// in use.
//
// Invariant: everything in struct feed below `lock` changes only under the lock. A piece that is being filled belongs to its
// thread. An order is replaced only when no piece of its epoch is left: all batches of epoch e were taken before e + 1 is
// begun, and e + 2 is claimed only after that.
#include "data/feed/fill.h"
#include "data/feed/feed_pages.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/threads.h"

enum { FREE = -1, PIECE_MOST = 64, LINE = 64, DECODER_SHARE = 8 };

struct pending {
    int64_t sequence;  // FREE: the entry is empty
    int64_t left;      // samples not yet filled
    struct order_batch batch;
    void *field[FEED_FIELDS];
    int rc;            // error of the first sample, by its row, that failed
    int64_t failed;
    char text[ERROR_TEXT_MAX];
};

struct feed {
    struct feed_choice choice;
    int64_t batches;
    pthread_t *thread;
    int started;
    pthread_mutex_t lock;
    pthread_cond_t work, ready, idle;  // for threads; for feed_take; for feed_seek
    struct pending *pending;
    struct order *order[2];            // by epoch % 2
    int64_t drawn[2];                  // the epoch of each order; FREE: none
    bool drawing, running, stop, afresh;  // afresh: no sample has been announced since the ring was last discarded
    int busy;                          // threads that are filling a piece
    uint64_t seed;
    int64_t claim, claimed;            // the batch whose pieces are claimed; number of its claimed samples
    int64_t take, ends, end;           // the batch to hand out; end of its epoch; the first batch not to make
    int64_t generation;                // number of times that the ring was discarded
    int64_t stalled_ns;
};

int feed_threads(int device_threads)
{
    int cores = threads_available(), spare = cores - device_threads;
    return spare > 0 ? spare : cores > DECODER_SHARE ? cores / DECODER_SHARE : 1;
}

// ---- claiming, under the lock

static void draw_order(struct feed *f, int64_t epoch)
{
    struct order *order = f->order[epoch % 2];
    uint64_t seed = f->seed;
    int bucket = 0;
    f->drawing = true;
    pthread_mutex_unlock(&f->lock);
    if (f->choice.bucket_of_epoch != NULL) bucket = f->choice.bucket_of_epoch(f->choice.context, (uint32_t)epoch);
    order_draw(order, seed, (uint32_t)epoch, bucket);
    pthread_mutex_lock(&f->lock);
    f->drawn[epoch % 2] = epoch;
    f->drawing = false;
    pthread_cond_broadcast(&f->work);
    pthread_cond_broadcast(&f->idle);
}

// Announces samples before the first sample of a batch is read. The batch's epoch cannot be replaced meanwhile, because this
// thread holds a piece of it.
static void read_ahead(struct feed *f, const struct fill_piece *piece, int64_t sequence, bool afresh)
{
    const struct feed_choice *c = &f->choice;
    if (piece->begin == 0 && c->stored != NULL)
        feed_pages_want(c->data, c->split, c->stored, f->order[piece->epoch % 2], sequence % f->batches, c->order.window > 0,
                        afresh || sequence % f->batches == 0);
}

// Takes a piece or draws an order. Returns false if there was neither. Then the caller tries again, after sleeping if `wait`
// is set.
static bool claim_piece(struct feed *f, struct pending **of, struct fill_piece *piece, bool *wait)
{
    *wait = true;
    if (!f->running || f->claim >= f->end) return false;
    int64_t epoch = f->claim / f->batches;
    struct pending *pending = &f->pending[f->claim % f->choice.depth];
    if (f->claimed == 0 && pending->sequence != FREE) return false;
    if (f->drawn[epoch % 2] != epoch) {
        if (f->drawing) return false;
        draw_order(f, epoch);
        *wait = false;  // the state may have changed
        return false;
    }
    if (f->claimed == 0) {
        pending->sequence = f->claim;
        pending->batch = order_batch(f->order[epoch % 2], f->claim % f->batches);
        pending->left = pending->batch.count;
        pending->rc = 0;
    }
    int64_t size = pending->batch.count / (4 * f->choice.threads);
    size = size < 1 ? 1 : size > PIECE_MOST ? PIECE_MOST : size;
    *of = pending;
    *piece = (struct fill_piece){.batch = pending->batch, .field = pending->field, .begin = f->claimed, .end = f->claimed + size,
                                 .seed = f->seed, .epoch = (uint32_t)epoch,
                                 .samples = order_samples(f->order[epoch % 2])};
    if (piece->end > pending->batch.count) piece->end = pending->batch.count;
    f->claimed = piece->end;
    if (f->claimed == pending->batch.count) f->claim++, f->claimed = 0;
    return true;
}

static void finish_piece(struct feed *f, struct pending *pending, const struct fill_piece *piece,
                         const struct fill_failure *failure)
{
    if (failure->rc < 0 && (pending->rc == 0 || failure->at < pending->failed)) {
        pending->rc = failure->rc, pending->failed = failure->at;
        memcpy(pending->text, failure->text, sizeof pending->text);
    }
    pending->left -= piece->end - piece->begin;
    if (pending->left == 0) pthread_cond_broadcast(&f->ready);
}

static void *work(void *context)
{
    struct feed *f = context;
    struct pending *pending;
    struct fill_piece piece;
    struct fill_failure failure;
    void *worker = f->choice.worker_new != NULL ? f->choice.worker_new(f->choice.context) : NULL;
    bool wait;
    pthread_mutex_lock(&f->lock);
    while (!f->stop) {
        if (!claim_piece(f, &pending, &piece, &wait)) {
            if (wait && !f->stop) pthread_cond_wait(&f->work, &f->lock);
            continue;
        }
        f->busy++;
        int64_t sequence = pending->sequence;
        bool afresh = f->afresh;
        f->afresh = false;
        pthread_mutex_unlock(&f->lock);
        read_ahead(f, &piece, sequence, afresh);
        fill_piece(&f->choice, &piece, worker, &failure);
        pthread_mutex_lock(&f->lock);
        finish_piece(f, pending, &piece, &failure);
        if (--f->busy == 0) pthread_cond_broadcast(&f->idle);
    }
    pthread_mutex_unlock(&f->lock);
    if (f->choice.worker_free != NULL) f->choice.worker_free(worker);
    return NULL;
}

// ---- the owner's side

int64_t feed_batches(const struct feed *f) { return f->batches; }
int64_t feed_stalled_ns(const struct feed *f) { return f->stalled_ns; }

static void throw_away(struct feed *f, uint64_t seed, int64_t to)
{
    f->running = false;
    while (f->busy > 0 || f->drawing) pthread_cond_wait(&f->idle, &f->lock);
    for (int i = 0; i < f->choice.depth; i++) f->pending[i].sequence = FREE;
    if (f->seed != seed) f->drawn[0] = f->drawn[1] = FREE;
    f->seed = seed;
    f->claim = f->take = to;
    f->claimed = 0;
    f->generation++;
    f->running = f->afresh = true;
}

int feed_seek(struct feed *f, uint64_t seed, uint32_t epoch, int64_t batch)
{
    if (batch < 0 || batch > f->batches)
        return fail(ERR_USAGE, "an epoch has %lld batches: there is no batch %lld", (long long)f->batches, (long long)batch);
    if (f->batches == 0) return 0;
    int64_t to = (int64_t)epoch * f->batches + batch;
    pthread_mutex_lock(&f->lock);
    const struct pending *next = &f->pending[to % f->choice.depth];
    bool failed = next->sequence == to && next->rc < 0;  // the failed batch is made again
    if (!f->running || f->seed != seed || f->take != to || failed) throw_away(f, seed, to);
    bool reads_on = f->choice.epochs > 0 && epoch < f->choice.epochs - 1;
    f->end = ((int64_t)epoch + 1 + reads_on) * f->batches;
    f->ends = ((int64_t)epoch + 1) * f->batches;
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
    return 0;
}

int feed_begin(struct feed *f, uint64_t seed, uint32_t epoch)
{
    return feed_seek(f, seed, epoch, 0);
}

static void hand_out(struct feed *f, const struct pending *pending, struct feed_batch *batch)
{
    batch->number = pending->sequence % f->batches;
    batch->epoch = (uint32_t)(pending->sequence / f->batches);
    batch->count = pending->batch.count;
    batch->bucket = pending->batch.bucket;
    batch->ticket = f->generation;
    for (int i = 0; i < f->choice.fields; i++) {
        batch->field[i] = pending->field[i];
        batch->bytes[i] = (size_t)f->choice.order.batch[batch->bucket] * fill_sample_bytes(&f->choice.field[i], batch->bucket);
    }
    f->take++;
}

int feed_take(struct feed *f, struct feed_batch *batch)
{
    *batch = (struct feed_batch){0};
    if (f->batches == 0) return 0;
    pthread_mutex_lock(&f->lock);
    BUG_IF(!f->running);
    int rc = 0;
    if (f->take < f->ends) {
        struct pending *pending = &f->pending[f->take % f->choice.depth];
        BUG_IF(pending->sequence != FREE && pending->sequence < f->take);  // a batch still in use would block its entry for ever
        int64_t since = clock_ns();
        while (pending->sequence != f->take || pending->left > 0) pthread_cond_wait(&f->ready, &f->lock);
        f->stalled_ns += clock_ns() - since;
        if (pending->rc < 0) rc = fail(pending->rc, "%s", pending->text);
        else hand_out(f, pending, batch);
    }
    pthread_mutex_unlock(&f->lock);
    return rc;
}

void feed_give_back(struct feed *f, const struct feed_batch *batch)
{
    pthread_mutex_lock(&f->lock);
    if (batch->count > 0 && batch->ticket == f->generation) {
        int64_t sequence = (int64_t)batch->epoch * f->batches + batch->number;
        struct pending *pending = &f->pending[sequence % f->choice.depth];
        BUG_IF(pending->sequence != sequence);
        pending->sequence = FREE;
        pthread_cond_broadcast(&f->work);
    }
    pthread_mutex_unlock(&f->lock);
}

// ---- creation and end

static int plain_alloc(void *memory, size_t bytes, void **into)
{
    (void)memory;
    *into = aligned_alloc(LINE, (bytes + LINE) / LINE * LINE);
    return *into != NULL ? 0 : fail(ERR_MEMORY, "not enough memory for a batch of %zu bytes", bytes);
}

static void plain_free(void *memory, void *at)
{
    (void)memory;
    free(at);
}

static int take_memory(struct feed *f)
{
    const struct feed_choice *c = &f->choice;
    f->pending = zalloc((size_t)c->depth * sizeof *f->pending);
    for (int d = 0; d < c->depth; d++) {
        f->pending[d].sequence = FREE;
        for (int i = 0; i < c->fields; i++) {
            size_t most = 0;
            for (int b = 0; b < c->order.buckets; b++) {
                size_t bytes = (size_t)c->order.batch[b] * fill_sample_bytes(&f->choice.field[i], b);
                if (bytes > most) most = bytes;
            }
            TRY(c->alloc(c->memory, most, &f->pending[d].field[i]));
        }
    }
    return 0;
}

// Blocks signals, which the main thread handles.
static int start_threads(struct feed *f)
{
    sigset_t all, before;
    int error = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    f->thread = zalloc((size_t)f->choice.threads * sizeof *f->thread);
    while (f->started < f->choice.threads && error == 0) {
        error = pthread_create(&f->thread[f->started], NULL, work, f);
        f->started += error == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error == 0 ? 0 : fail_errno(ERR_IO, error, "thread %d of a feed could not be started", f->started + 1);
}

static int make_orders(struct feed *f)
{
    struct feed_choice *c = &f->choice;
    int64_t *page = NULL;
    if (c->order.kind != ORDER_SHUFFLED) c->window = 0;
    if (c->window > 0) {
        TRY(feed_pages_cut(c->data, c->split, c->stored, &page, &c->order.pages));
        c->order.page = page, c->order.window = c->order.pages > 0 ? c->window : 0;
    }
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++) rc = order_new(&c->order, &f->order[i]);
    free(page);
    c->order.page = NULL, c->order.lengths = NULL;  // borrowed only until here
    return rc;
}

static int build_feed(struct feed *f)
{
    struct feed_choice *c = &f->choice;
    BUG_IF(c->fields < 1 || c->fields > FEED_FIELDS || (c->window > 0 && c->stored == NULL));
    for (int i = 0; i < c->fields; i++) BUG_IF(c->field[i].classes > 0 && c->field[i].dtype != U8 && c->field[i].dtype != I32);
    c->order.count = dataset_facts(c->data)->count[c->split];
    if (c->threads <= 0) c->threads = feed_threads(1);
    if (c->depth <= 0) c->depth = FEED_DEPTH;
    if (c->alloc == NULL) c->alloc = plain_alloc, c->free = plain_free;
    TRY(make_orders(f));
    f->batches = order_batches(f->order[0]);
    TRY(feed_resolve(c));
    TRY(take_memory(f));
    return start_threads(f);
}

int feed_new(const struct feed_choice *choice, struct feed **into)
{
    *into = NULL;
    struct feed *f = zalloc(sizeof *f);
    f->choice = *choice;
    f->drawn[0] = f->drawn[1] = FREE;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->work, NULL);
    pthread_cond_init(&f->ready, NULL);
    pthread_cond_init(&f->idle, NULL);
    int rc = build_feed(f);
    if (rc < 0) {
        feed_free(f);
        return rc;
    }
    *into = f;
    return 0;
}

void feed_free(struct feed *f)
{
    if (f == NULL) return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_broadcast(&f->work);
    pthread_mutex_unlock(&f->lock);
    for (int i = 0; i < f->started; i++) pthread_join(f->thread[i], NULL);
    for (int d = 0; f->pending != NULL && d < f->choice.depth; d++)
        for (int i = 0; i < f->choice.fields; i++)
            if (f->pending[d].field[i] != NULL) f->choice.free(f->choice.memory, f->pending[d].field[i]);
    order_free(f->order[0]);
    order_free(f->order[1]);
    pthread_cond_destroy(&f->idle);
    pthread_cond_destroy(&f->ready);
    pthread_cond_destroy(&f->work);
    pthread_mutex_destroy(&f->lock);
    free(f->pending);
    free(f->thread);
    free(f);
}
