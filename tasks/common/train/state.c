// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/train/state.h"

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/common/base/build.h"
#include "runtime/common/base/text.h"
#include "runtime/common/base/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct state {
    char *path;
    int fd;
    uint64_t bytes;
    struct state_view view;
};

const char *state_program(void)
{
    static char text[128];
    if (!*text)
        snprintf(text, sizeof text, "%s%s%s%s", build_version(), *build_commit() ? " " : "", build_commit(),
                 build_dirty() ? "+" : "");
    return text;
}

// A state leaves out folded filters and uploaded slots without a role: the data, the order and the key of an epoch, tables of
// schedules and of words. All of it is made again, and an order read from a file would be an unchecked index.
static bool belongs(const struct slot *slot)
{
    return slot->role != ROLE_DERIVED && !(slot->role == ROLE_PLAIN && slot->init.kind == INIT_UPLOAD);
}

static int threads_of(const struct trainer *t, int64_t *threads)
{
    struct device_facts facts;
    TRY(t->choice.device->type->facts(t->choice.device, &facts));
    *threads = facts.threads;
    return 0;
}

// ---- saving

struct writing {
    struct whole whole;
    crypto_hash_sha256_state sum;
};

static int put(struct writing *w, const void *bytes, size_t count)
{
    crypto_hash_sha256_update(&w->sum, bytes, count);
    return whole_write(&w->whole, bytes, count);
}

static int put_u64(struct writing *w, uint64_t n)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(n >> 8 * i);
    return put(w, bytes, sizeof bytes);
}

// The bytes of host code follow the slots, as one more: no slot has its name, which ends with a space.
static const char HOST[] = "host ";

static bool has_host_state(const struct trainer *t)
{
    const struct host *host = t->choice.task->host;
    return host && host->save;
}

static json_t *describe_slots(const struct trainer *t, const struct text *host)
{
    const struct slot_store *store = t->session->store;
    json_t *slots = json_array();
    for (int i = 0; i < store->count; i++) {
        const struct slot *slot = store->slot[i];
        if (!belongs(slot)) continue;
        json_t *dims = json_array();
        for (int d = 0; d < slot->shape.rank; d++) json_array_append_new(dims, json_integer(slot->shape.dim[d]));
        json_array_append_new(slots, json_pack("[sso]", slot->name, checkpoint_type_name(slot->dtype), dims));
    }
    if (has_host_state(t))
        json_array_append_new(slots, json_pack("[ss[I]]", HOST, checkpoint_type_name(U8), (json_int_t)host->length));
    return slots;
}

static int make_header(const struct trainer *t, const struct state_run *run, const struct text *host, char **text)
{
    int64_t threads;
    char layout[DIGEST_HEX];
    TRY(threads_of(t, &threads));
    TRY(dataset_layout(t->choice.data, layout));
    char *recipe = recipe_line(&t->choice.recipe);
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
        "program", state_program(), "task", t->choice.task->name, "model", t->choice.recipe.model, "recipe", recipe,
        "precision", dtype_name(t->setting.dtype), "device", t->choice.device->type->name, "data", t->facts->name,
        "train_digest", run->digest[SPLIT_TRAIN], "test_digest", run->digest[SPLIT_TEST], "layout", layout,
        "note", run->note, "threads", (json_int_t)threads, "seed", (json_int_t)t->seed, "step", (json_int_t)t->at,
        "samples", (json_int_t)t->samples, "epoch", (json_int_t)(t->at / t->steps_per_epoch),
        "batch", (json_int_t)(t->at % t->steps_per_epoch), "slots", describe_slots(t, host));
    *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    free(recipe);
    if (!*text) return fail(ERR_INPUT, "a text of the run is not UTF-8: its state cannot be written");
    if (strlen(*text) <= STATE_HEADER_LIMIT) return 0;
    free(*text);
    return fail(ERR_UNSUPPORTED, "the header of the state would be larger than %zu bytes", STATE_HEADER_LIMIT);
}

static int put_slots(struct writing *w, struct trainer *t, void *piece)
{
    const struct slot_store *store = t->session->store;
    for (int i = 0; i < store->count; i++) {
        const struct slot *slot = store->slot[i];
        size_t size = belongs(slot) ? slot_bytes(slot) : 0;
        for (size_t at = 0; at < size; at += STATE_PIECE) {
            size_t n = size - at < STATE_PIECE ? size - at : STATE_PIECE;
            TRY(session_read_at(t->session, slot, piece, at, n));
            TRY(put(w, piece, n));
        }
    }
    return 0;
}

static int put_all(struct writing *w, struct trainer *t, const char *header, const struct text *host, void *piece)
{
    unsigned char digest[STATE_DIGEST];
    _Static_assert(STATE_DIGEST == crypto_hash_sha256_BYTES, "SHA-256");
    crypto_hash_sha256_init(&w->sum);
    TRY(put(w, "DAWNstat", 8));
    TRY(put_u64(w, STATE_VERSION));
    TRY(put_u64(w, strlen(header)));
    TRY(put(w, header, strlen(header)));
    TRY(put_slots(w, t, piece));
    TRY(put(w, host->length ? host->at : "", host->length));
    crypto_hash_sha256_final(&w->sum, digest);
    return whole_write(&w->whole, digest, sizeof digest);
}

int state_save(const char *path, struct trainer *t, const struct state_run *run)
{
    struct writing w;
    struct text host = {0};
    char *header = NULL;
    if (has_host_state(t)) t->choice.task->host->save(&t->setting, &host);
    int rc = make_header(t, run, &host, &header);
    if (rc == 0) rc = whole_open(&w.whole, path);
    if (rc == 0) {
        void *piece = zalloc(STATE_PIECE);
        rc = put_all(&w, t, header, &host, piece);
        free(piece);
        if (rc == 0) rc = whole_close(&w.whole);
        if (rc == 0) rc = whole_commit(&w.whole);
        whole_end(&w.whole);
    }
    free(header);
    text_free(&host);
    return rc;
}

// ---- opening

static int read_exactly(const struct state *s, uint64_t at, void *into, size_t count)
{
    for (char *to = into; count > 0;) {
        ssize_t n = pread(s->fd, to, count, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return fail_errno(ERR_IO, errno, "cannot read %s", s->path);
        if (n == 0) return fail(ERR_INPUT, "%s became shorter while it was read", s->path);
        to += n, at += (uint64_t)n, count -= (size_t)n;
    }
    return 0;
}

static int open_file(struct state *s)
{
    struct stat st;
    s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->fd < 0) return fail_errno(errno == ENOENT ? ERR_MISSING : ERR_IO, errno, "cannot open %s", s->path);
    if (fstat(s->fd, &st) != 0) return fail_errno(ERR_IO, errno, "cannot examine %s", s->path);
    if (!S_ISREG(st.st_mode)) return fail(ERR_INPUT, "%s is not a regular file", s->path);
    s->bytes = (uint64_t)st.st_size;
    return 0;
}

static int read_state_header(struct state *s)
{
    unsigned char prefix[STATE_PREFIX] = {0};
    size_t length;
    TRY(read_exactly(s, 0, prefix, s->bytes < sizeof prefix ? (size_t)s->bytes : sizeof prefix));
    TRY(state_parse_prefix(s->path, prefix, s->bytes, &length));
    char *header = zalloc(length + 1);
    int rc = read_exactly(s, STATE_PREFIX, header, length);
    if (rc == 0) rc = state_parse(s->path, header, length, s->bytes, &s->view);
    free(header);
    return rc;
}

static int check_digest(const struct state *s)
{
    unsigned char is[STATE_DIGEST], said[STATE_DIGEST];
    crypto_hash_sha256_state sum;
    crypto_hash_sha256_init(&sum);
    uint64_t end = s->bytes - STATE_DIGEST;
    void *piece = zalloc(STATE_PIECE);
    int rc = 0;
    for (uint64_t at = 0; at < end && rc == 0; at += STATE_PIECE) {
        size_t n = end - at < STATE_PIECE ? (size_t)(end - at) : STATE_PIECE;
        rc = read_exactly(s, at, piece, n);
        if (rc == 0) crypto_hash_sha256_update(&sum, piece, n);
    }
    free(piece);
    TRY(rc);
    crypto_hash_sha256_final(&sum, is);
    TRY(read_exactly(s, end, said, sizeof said));
    return memcmp(is, said, sizeof is) ? fail(ERR_INPUT, "%s is corrupt: its bytes do not match its digest", s->path) : 0;
}

int state_open(const char *path, struct state **into)
{
    struct state *s = zalloc(sizeof *s);
    *s = (struct state){.path = copy_text(path), .fd = -1};
    int rc = open_file(s);
    if (rc == 0) rc = read_state_header(s);
    if (rc == 0) rc = check_digest(s);
    if (rc < 0) {
        state_close(s);
        s = NULL;
    }
    *into = s;
    return rc;
}

const struct state_facts *state_facts(const struct state *s)
{
    return &s->view.facts;
}

void state_close(struct state *s)
{
    if (!s) return;
    state_view_free(&s->view);
    if (s->fd >= 0) close(s->fd);
    free(s->path);
    free(s);
}

// ---- is it the same training?

static int compare_text(const struct state *s, const char *what, const char *state, const char *here)
{
    if (!strcmp(state, here)) return 0;
    return fail(ERR_INPUT, "%s is of another %s: %s, not %s", s->path, what, state, here);
}

// Recipes must be equal except for the precision, which describe_difference compares.
static int check_recipe(const struct state *s, const struct recipe *here)
{
    struct recipe there;
    const char *text = s->view.facts.recipe;
    TRY(recipe_parse(s->path, text, strlen(text), &there));
    there.precision = here->precision;
    char *a = recipe_canonical(&there), *b = recipe_canonical(here);
    bool same = !strcmp(a, b);
    free(a), free(b);
    if (same) return 0;
    return fail(ERR_INPUT, "%s is of another recipe: \"%s\" with other settings than \"%s\" has here", s->path, there.name,
                here->name);
}

static int check_training(const struct state *s, const struct trainer *t, const struct state_run *run)
{
    const struct state_facts *f = &s->view.facts;
    char layout[DIGEST_HEX];
    TRY(compare_text(s, "task", f->task, t->choice.task->name));
    TRY(compare_text(s, "model", f->model, t->choice.recipe.model));
    TRY(check_recipe(s, &t->choice.recipe));
    TRY(compare_text(s, "data set", f->data, t->facts->name));
    for (int split = 0; split < SPLIT_COUNT; split++)
        if (strcmp(f->digest[split], run->digest[split]))
            return fail(ERR_INPUT, "%s is of other data: the %s split of %s has another digest here", s->path,
                        split_name((enum split)split), f->data);
    TRY(dataset_layout(t->choice.data, layout));
    if (strcmp(f->layout, layout))
        return fail(ERR_INPUT, "%s is of another copy of %s, which holds the same samples in another order or size: continue "
                    "with the copy that the run began with (--data)", s->path, f->data);
    if (f->step > t->steps || f->epoch != f->step / t->steps_per_epoch || f->batch != f->step % t->steps_per_epoch)
        return fail(ERR_INPUT, "%s is at step %lld, batch %lld of epoch %lld, which the schedule of %lld steps does not have",
                    s->path, (long long)f->step, (long long)f->batch, (long long)f->epoch, (long long)t->steps);
    return 0;
}

// Makes a sentence about the first difference between the trainer's place and the state's; NULL: none. free() ends it.
static int describe_difference(const struct state *s, struct trainer *t, char **difference)
{
    const struct state_facts *f = &s->view.facts;
    struct text text = {0};
    int64_t threads;
    *difference = NULL;
    TRY(threads_of(t, &threads));
    const char *device = t->choice.device->type->name, *precision = dtype_name(t->setting.dtype);
    if (strcmp(f->device, device)) text_add(&text, "the device \"%s\" instead of \"%s\"", device, f->device);
    else if (f->threads != threads) text_add(&text, "%lld threads instead of %lld", (long long)threads, (long long)f->threads);
    else if (strcmp(f->precision, precision)) text_add(&text, "the precision %s instead of %s", precision, f->precision);
    else if (strcmp(f->program, state_program())) text_add(&text, "the program %s instead of %s", state_program(), f->program);
    *difference = text.at;
    return 0;
}

static int check_match(const struct state *s, struct trainer *t)
{
    char *difference;
    TRY(describe_difference(s, t, &difference));
    if (!difference) return 0;
    fail(ERR_INPUT, "%s would continue with %s, and the bytes may differ", s->path, difference);
    free(difference);
    return ERR_INPUT;
}

// ---- slots

static int check_slot(const struct state *s, const struct trainer *t, const struct state_slot *from, bool *seen)
{
    char have[SHAPE_TEXT], want[SHAPE_TEXT];
    const struct slot *slot = slot_find(t->session->store, from->name);
    if (!slot || !belongs(slot))
        return fail(ERR_INPUT, "%s has a slot \"%s\" that this training does not have", s->path, from->name);
    if (seen[slot->number]) return fail(ERR_INPUT, "%s has the slot \"%s\" twice", s->path, from->name);
    seen[slot->number] = true;
    if (slot->dtype == from->dtype && shape_equal(&slot->shape, &from->shape)) return 0;
    return fail(ERR_INPUT, "%s has the slot \"%s\" as %s [%s]; this training needs %s [%s]", s->path, from->name,
                dtype_name(from->dtype), shape_text(have, &from->shape), dtype_name(slot->dtype),
                shape_text(want, &slot->shape));
}

// The state must hold each slot of the training once, and no others.
static int check_slots(const struct state *s, const struct trainer *t)
{
    const struct slot_store *store = t->session->store;
    int slots = s->view.slots - has_host_state(t), rc = 0;
    if (slots < s->view.slots && (slots < 0 || strcmp(s->view.slot[slots].name, HOST) || s->view.slot[slots].dtype != U8))
        return fail(ERR_INPUT, "%s has no state of the host", s->path);
    bool *seen = zalloc((size_t)store->count + 1);
    for (int i = 0; i < slots && rc == 0; i++) rc = check_slot(s, t, &s->view.slot[i], seen);
    for (int i = 0; i < store->count && rc == 0; i++)
        if (belongs(store->slot[i]) && !seen[i])
            rc = fail(ERR_INPUT, "%s has no slot \"%s\"", s->path, store->slot[i]->name);
    free(seen);
    return rc;
}

// Slots that no state has begin as in a new training; uploaded slots come from elsewhere.
static int begin_others(struct trainer *t, uint64_t seed)
{
    const struct slot_store *store = t->session->store;
    int rc = 0;
    for (int i = 0; i < store->count && rc == 0; i++) {
        struct slot *slot = store->slot[i];
        if (belongs(slot) || slot->init.kind == INIT_UPLOAD) continue;
        void *bytes = zalloc(slot_bytes(slot));
        slot_initial(slot, seed, bytes);
        rc = session_write(t->session, slot, bytes, 0, slot_bytes(slot));
        free(bytes);
    }
    return rc;
}

static int load_slots(const struct state *s, struct trainer *t, void *piece)
{
    for (int i = 0; i < s->view.slots - has_host_state(t); i++) {
        const struct state_slot *from = &s->view.slot[i];
        struct slot *slot = slot_find(t->session->store, from->name);
        for (uint64_t at = 0; at < from->size; at += STATE_PIECE) {
            size_t n = from->size - at < STATE_PIECE ? (size_t)(from->size - at) : STATE_PIECE;
            TRY(read_exactly(s, from->offset + at, piece, n));
            TRY(session_write(t->session, slot, piece, (size_t)at, n));
        }
    }
    return 0;
}

static int load_host(const struct state *s, struct trainer *t)
{
    const struct state_slot *from = &s->view.slot[s->view.slots - 1];
    char *bytes = zalloc((size_t)from->size + 1);
    int rc = read_exactly(s, from->offset, bytes, (size_t)from->size);
    if (rc == 0) rc = t->choice.task->host->load(&t->drive, bytes, (size_t)from->size);
    free(bytes);
    return rc;
}

// The device's counter of steps is an index into the schedules. It is set to the checked number.
static int set_step(struct trainer *t, int64_t at)
{
    struct slot *slot = slot_find(t->session->store, "step");
    int32_t step = (int32_t)at;
    return slot ? session_write(t->session, slot, &step, 0, sizeof step) : 0;
}

int state_load(struct state *s, struct trainer *t, const struct state_run *run, enum state_match match)
{
    const struct state_facts *f = &s->view.facts;
    TRY(check_training(s, t, run));
    if (match == STATE_SAME) TRY(check_match(s, t));
    TRY(check_slots(s, t));
    TRY(begin_others(t, f->seed));
    TRY(trainer_constants(t));
    void *piece = zalloc(STATE_PIECE);
    int rc = load_slots(s, t, piece);
    free(piece);
    TRY(rc);
    TRY(set_step(t, f->step));
    TRY(trainer_resume(t, f->seed, f->step, f->samples));
    return has_host_state(t) ? load_host(s, t) : 0;
}
