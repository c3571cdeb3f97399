// SPDX-License-Identifier: Apache-2.0
// A training that is saved and loaded into a new trainer ends with the bytes of one that was never interrupted. A file that is
// damaged, or of another training, is refused with a sentence before anything is uploaded.
#include "tasks/common/train/state.h"
#include "test/unit/test.h"
#include "test/unit/fixture_folder.h"
#include "test/unit/fixture_trainer.h"

#include <sodium.h>
#include <sys/stat.h>

static char path[96];
static const struct state_run RUN = {.digest = {"aa", "bb"}, .note = "{\"chain\":\"00\"}\n"};

static int enter_with_path(void **state)
{
    int rc = enter(state);
    snprintf(path, sizeof path, "%s/run-1.state", folder);
    return rc;
}

// ---- going on

// Which training, and after which of its steps there is an evaluation.
struct course {
    const char *device, *settings[12];
    int64_t train, test, steps, evaluated;
};

static void open_trainer(struct bench *b, const struct course *p)
{
    bench_open(b, p->device, 2, p->train, p->test, "cifar10", p->settings);
    bench_ready(b);
}

static void walk(struct trainer *t, const struct course *p, int64_t until)
{
    struct trainer_sums sums;
    int64_t score[METRICS_MAX];
    while (t->at < until) {
        OK(trainer_step(t));
        if (t->at % t->steps_per_epoch == 0) OK(trainer_sums(t, true, &sums));
        if (t->at == p->evaluated) OK(trainer_evaluate(t, score));
    }
}

// To the end of the course; then an evaluation, so that folded filters are there in any case.
static uint8_t *finish(struct bench *b, const struct course *p, size_t *count, int64_t score[METRICS_MAX])
{
    walk(b->trainer, p, p->steps);
    OK(trainer_evaluate(b->trainer, score));
    return bench_bytes(b, count);
}

static void load_into(struct bench *b, const struct course *p)
{
    struct state *s;
    open_trainer(b, p);
    OK(state_open(path, &s));
    assert_string_equal(state_facts(s)->note, RUN.note);
    OK(state_load(s, b->trainer, &RUN, STATE_SAME));
    state_close(s);
}

static void goes_on_from(const struct course *p, int64_t k, const uint8_t *straight, size_t count, int64_t score)
{
    struct bench a, b;
    size_t n;
    int64_t scores[METRICS_MAX];
    open_trainer(&a, p);
    OK(trainer_begin(a.trainer, 7));
    walk(a.trainer, p, k);
    OK(state_save(path, a.trainer, &RUN));
    int64_t samples = a.trainer->samples;
    bench_close(&a);
    load_into(&b, p);
    assert_int_equal(b.trainer->at, k);
    assert_int_equal(b.trainer->samples, samples);
    uint8_t *bytes = finish(&b, p, &n, scores);
    const struct slot_store *s = b.trainer->session->store;
    assert_int_equal(n, count);
    size_t at = 0;
    for (int i = 0; i < s->count; at += slot_bytes(s->slot[i++]))
        if (memcmp(bytes + at, straight + at, slot_bytes(s->slot[i])))
            fail_msg("\"%s\" differs after a restart at step %lld", s->slot[i]->name, (long long)k);
    assert_int_equal(scores[0], score);
    free(bytes);
    bench_close(&b);
}

static void goes_on(const struct course *p, const int64_t *at)
{
    struct bench b;
    size_t count;
    int64_t score[METRICS_MAX];
    open_trainer(&b, p);
    OK(trainer_begin(b.trainer, 7));
    uint8_t *straight = finish(&b, p, &count, score);
    bench_close(&b);
    for (; *at >= 0; at++) goes_on_from(p, *at, straight, count, score[0]);
    free(straight);
}

// 6 steps per epoch; the average begins after step 7 and pulls every two.
TEST(test_f32)
{
    goes_on(&(struct course){"cpu", {"widths=16,16,32", "batch=20", "epochs=2", "precision=f32", "lookahead_every=2",
                                   "lookahead_before=6"}, 125, 30, 12, 10},
            (const int64_t[]){1, 6, 7, 8, 10, -1});
}

TEST(test_bf16)
{
    struct device *device;
    struct device_facts facts;
    OK(device_open("cpu", 1, &device));
    OK(device->type->facts(device, &facts));
    device_close(device);
    if (!facts.fast[BF16]) skip();
    goes_on(&(struct course){"cpu", {"widths=64,64,64", "batch=20", "epochs=2", "precision=bf16", "resolution=24,32"},
                           120, 30, 9, 6},
            (const int64_t[]){4, 6, -1});
}

// The first scale overflows: steps are skipped before the restart and after it.
TEST(test_f16)
{
    goes_on(&(struct course){"cpu", {"widths=8,8,8", "batch=10", "epochs=5", "precision=f16", "resolution=16",
                                   "optimiser.loss_scale=16777216"}, 50, 10, 20, -1},
            (const int64_t[]){4, 17, -1});
}

TEST(test_ref)
{
    goes_on(&(struct course){"ref", {"widths=2,2,2", "batch=2", "epochs=2", "precision=f32", "resolution=16", "lookahead_every=1",
                                   "lookahead_before=4"}, 6, 2, 6, 4},
            (const int64_t[]){2, 3, 4, -1});
}

static const struct course SMALL = {"cpu", {"widths=8,8,8", "batch=10", "epochs=2", "precision=f32"}, 50, 10, 4, -1};

// The state of a training that was loaded and not stepped is the file it was loaded from.
TEST(test_same_file_again)
{
    struct course p = SMALL;
    struct bench b;
    char again[128], first[DIGEST_HEX], second[DIGEST_HEX];
    p.settings[0] = "widths=8,8,400";  // the largest slot takes several pieces
    open_trainer(&b, &p);
    OK(trainer_begin(b.trainer, UINT64_MAX));
    walk(b.trainer, &p, 2);
    OK(state_save(path, b.trainer, &RUN));
    bench_close(&b);
    load_into(&b, &p);
    assert_true(b.trainer->seed == UINT64_MAX);
    snprintf(again, sizeof again, "%s/again", folder);
    OK(state_save(again, b.trainer, &RUN));
    OK(digest_file(path, first));
    OK(digest_file(again, second));
    assert_string_equal(first, second);
    struct stat st;
    OK(stat(path, &st));
    assert_true(st.st_size > 2 * (off_t)STATE_PIECE);
    bench_close(&b);
}

// ---- files that are refused

static char *file;
static size_t file_bytes;

static void put_file(const void *bytes, size_t count)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, count, f), count);
    assert_int_equal(fclose(f), 0);
}

static int opens(void)
{
    struct state *s;
    int rc = state_open(path, &s);
    state_close(s);
    return rc;
}

static size_t header_bytes(void)
{
    size_t n = 0;
    for (int i = 7; i >= 0; i--) n = n << 8 | (unsigned char)file[16 + i];
    return n;
}

// The good file with one text of its header replaced, and a length and a digest that fit.
static void put_edited(const char *from, const char *to)
{
    size_t header = header_bytes(), old = strlen(from), new = strlen(to), count = file_bytes - old + new;
    char *at = memmem(file + STATE_PREFIX, header, from, old);
    if (!at) fail_msg("%s is not in the header", from);
    size_t before = (size_t)(at - file);
    char *bytes = zalloc(count);
    memcpy(bytes, file, before);
    memcpy(bytes + before, to, new);
    memcpy(bytes + before + new, at + old, file_bytes - before - old);
    for (int i = 0; i < 8; i++) bytes[16 + i] = (char)((header - old + new) >> 8 * i);
    crypto_hash_sha256((unsigned char *)bytes + count - STATE_DIGEST, (unsigned char *)bytes, count - STATE_DIGEST);
    put_file(bytes, count);
    free(bytes);
}

static void make_small(struct bench *b)
{
    open_trainer(b, &SMALL);
    OK(trainer_begin(b->trainer, 7));
    walk(b->trainer, &SMALL, 3);
    OK(state_save(path, b->trainer, &RUN));
    OK(file_read(path, SIZE_MAX, &file, &file_bytes));
}

TEST(test_damaged)
{
    struct bench b;
    make_small(&b);
    bench_close(&b);
    size_t header = header_bytes();
    const size_t cuts[] = {0, 7, STATE_PREFIX, STATE_PREFIX + STATE_DIGEST - 1, STATE_PREFIX + header / 2,
                           STATE_PREFIX + header + 100, file_bytes - STATE_DIGEST, file_bytes - 1};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        put_file(file, cuts[i]);
        REFUSED(opens(), "cut short");
    }
    char *bytes = zalloc(file_bytes + 1);
    memcpy(bytes, file, file_bytes);
    put_file(bytes, file_bytes + 1);
    REFUSED(opens(), "1 bytes more than its header says");
    const size_t flips[] = {STATE_PREFIX + header, file_bytes / 2, file_bytes - 1};
    for (size_t i = 0; i < sizeof flips / sizeof *flips; i++) {
        bytes[flips[i]] ^= 16;
        put_file(bytes, file_bytes);
        REFUSED(opens(), "is corrupt");
        bytes[flips[i]] ^= 16;
    }
    bytes[0] = 'd';
    put_file(bytes, file_bytes);
    REFUSED(opens(), "not the state of a training");
    bytes[0] = 'D', bytes[8] = 2;
    put_file(bytes, file_bytes);
    REFUSED(opens(), "of version 2; this program reads version 1");
    bytes[8] = 1, bytes[20] = 1;
    put_file(bytes, file_bytes);
    REFUSED(opens(), "more than the 16777216 allowed");
    free(bytes), free(file);
    unlink(path);
    assert_int_equal(opens(), ERR_MISSING);
    REFUSED(mkdir(path, 0700) == 0 ? opens() : 0, "not a regular file");
    assert_int_equal(rmdir(path), 0);
}

TEST(test_header)
{
    struct bench b;
    make_small(&b);
    bench_close(&b);
    const char *const edits[][3] = {
        {"{\"program\"", "[\"program\"", "not a JSON object"},
        {"\"task\":", "\"tusk\":", "no text \"task\""},
        {"\"task\":\"cifar10\"", "\"task\":\"ci\\u001bfar10\"", "control character"},
        {"\"step\":3", "\"step\":-3", "no count \"step\""},
        {"\"samples\":30", "\"samples\":\"30\"", "no count \"samples\""},
        {"\"seed\":7", "\"seed\":true", "no \"seed\""},
        {"\"slots\":[[", "\"slats\":[[", "no list \"slots\""},
        {"\"F32\"", "\"F99\"", "no known type"},
        {"\"F32\",[", "\"F32\",[-1,", "is not a positive whole number"},
        {"\"F32\",[", "\"F32\",[4611686018427387904,", "is not a positive whole number"},
        {"\"F32\",[", "\"F32\",[1,1,1,1,1,1,1,1,1,", "no shape of at most"},
        {"\"F32\",[", "\"F32\",0,[", "not described by name, type and shape"},
        {"\"slots\":[[\"", "\"slots\":[[\"\\u0007", "not plain text"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        put_edited(edits[i][0], edits[i][1]);
        REFUSED(opens(), edits[i][2]);
    }
    free(file);
}

static int load(struct bench *b, enum state_match match)
{
    struct state *s;
    OK(state_open(path, &s));
    int rc = state_load(s, b->trainer, &RUN, match);
    state_close(s);
    return rc;
}

// A slot of the training that begins with a number, as one that is computed again.
static struct slot *derive_constant(struct bench *b)
{
    const struct slot_store *s = b->trainer->session->store;
    for (int i = 0; i < s->count; i++)
        if (s->slot[i]->init.kind == INIT_CONSTANT && s->slot[i]->init.a > 0) {
            s->slot[i]->role = ROLE_DERIVED;
            return s->slot[i];
        }
    fail_msg("no slot begins with a number");
    return NULL;
}

TEST(test_what_no_state_has_begins_anew)
{
    struct bench b;
    float first;
    open_trainer(&b, &SMALL);
    derive_constant(&b);
    OK(trainer_begin(b.trainer, 7));
    OK(state_save(path, b.trainer, &RUN));
    bench_close(&b);
    open_trainer(&b, &SMALL);
    const struct slot *slot = derive_constant(&b);
    OK(load(&b, STATE_SAME));
    OK(session_get(b.trainer->session, slot->name, &first, sizeof first));
    assert_float_equal(first, slot->init.a, 0);
    bench_close(&b);
}

TEST(test_other_training)
{
    struct bench b;
    size_t n;
    make_small(&b);
    uint8_t *before = bench_bytes(&b, &n);
    const char *const edits[][3] = {
        {"\"task\":\"cifar10\"", "\"task\":\"chess\"", "another task: chess, not cifar10"},
        {"\"data\":\"synthetic\"", "\"data\":\"cifar10\"", "another data set: cifar10, not synthetic"},
        {"\"test_digest\":\"bb\"", "\"test_digest\":\"bc\"", "other data: the test split of synthetic"},
        {"\"step\":3", "\"step\":4", "which the schedule of 10 steps does not have"},
        {"\"step\":3,\"samples\":30,\"epoch\":0,\"batch\":3", "\"step\":11,\"samples\":30,\"epoch\":2,\"batch\":1",
         "is at step 11, batch 1 of epoch 2"},
        {"\"head.weight\"", "\"tail.weight\"", "slot \"tail.weight\" that this training does not have"},
        {"\"head.weight\"", "\"train.images\"", "slot \"train.images\" that this training does not have"},
        {"\"head.weight\",\"F32\",[10,8]", "\"head.weight\",\"F32\",[8,10]", "needs f32 [10x8]"},
        {"\"step\",\"I32\"", "\"step\",\"F32\"", "needs i32 [1]"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        put_edited(edits[i][0], edits[i][1]);
        REFUSED(load(&b, STATE_OTHER), edits[i][2]);
    }
    put_edited("\"device\":\"cpu\"", "\"device\":\"cuda\"");
    REFUSED(load(&b, STATE_SAME), "with the device \"cpu\" instead of \"cuda\", and the bytes may differ");
    put_edited("\"threads\":2", "\"threads\":3");
    REFUSED(load(&b, STATE_SAME), "with 2 threads instead of 3");
    put_edited("\"precision\":\"f32\"", "\"precision\":\"bf16\"");
    REFUSED(load(&b, STATE_SAME), "the precision f32 instead of bf16");
    put_edited("\"program\":\"", "\"program\":\"0");
    REFUSED(load(&b, STATE_SAME), "instead of 0");
    uint8_t *after = bench_bytes(&b, &n);
    assert_memory_equal(before, after, n);
    OK(load(&b, STATE_OTHER));
    free(before), free(after), free(file);
    bench_close(&b);
}

TEST(test_other_recipe)
{
    struct course p = SMALL;
    struct bench b;
    make_small(&b);
    bench_close(&b);
    free(file);
    p.settings[2] = "epochs=3";
    open_trainer(&b, &p);
    REFUSED(load(&b, STATE_OTHER), "is of another recipe");
    bench_close(&b);
}

// Files made by hand: slots that are missing or there twice, and sizes that no test writes.
static int parse(const char *slots, uint64_t data, struct state_view *view)
{
    char header[1024];
    snprintf(header, sizeof header,
             "{\"program\":\"\",\"task\":\"t\",\"model\":\"m\",\"recipe\":\"{}\",\"precision\":\"f32\",\"device\":\"cpu\","
             "\"data\":\"d\",\"train_digest\":\"\",\"test_digest\":\"\",\"note\":\"\",\"layout\":\"\",\"threads\":1,"
             "\"seed\":-1,\"step\":0,\"samples\":0,\"epoch\":0,\"batch\":0,\"slots\":%s}", slots);
    size_t count = strlen(header);
    char *exact = zalloc(count);  // so that the sanitizers see a byte read too far
    memcpy(exact, header, count);
    int rc = state_parse("hand", exact, count, STATE_PREFIX + count + data + STATE_DIGEST, view);
    free(exact);
    return rc;
}

TEST(test_large)
{
    struct state_view view;
    OK(parse("[[\"a\",\"F32\",[2000000000,2]],[\"b\",\"U8\",[]],[\"c\",\"BF16\",[0]]]", 16000000001, &view));
    assert_int_equal(view.slots, 3);
    assert_int_equal(view.slot[1].offset - view.slot[0].offset, 16000000000);
    assert_true(view.facts.seed == UINT64_MAX);
    state_view_free(&view);
    REFUSED(parse("[[\"a\",\"F32\",[2000000000,2]]]", 16000000001, &view), "1 bytes more");
    REFUSED(parse("[[\"a\",\"F32\",[2000000000,2]]]", 15999999999, &view), "ends within slot \"a\": it was cut short");
}

// The first slot's entry and bytes, left out or twice.
static void put_without_or_twice(bool twice)
{
    struct state_view view;
    size_t header = header_bytes();
    OK(state_parse("file", file + STATE_PREFIX, header, file_bytes, &view));
    char *from = strstr(file + STATE_PREFIX, "\"slots\":[") + 9, *to = strstr(from, "]],") + 3;
    size_t entry = (size_t)(to - from), data = (size_t)view.slot[0].size, head = STATE_PREFIX + header;
    char *bytes = zalloc(file_bytes + entry + data), *at = bytes;
    at = mempcpy(at, file, (size_t)(from - file));
    for (int i = 0; i < 2 * twice; i++) at = mempcpy(at, from, entry);
    at = mempcpy(at, to, (size_t)(file + head - to));
    size_t length = (size_t)(at - bytes) - STATE_PREFIX;
    for (int i = 0; i < 2 * twice; i++) at = mempcpy(at, file + head, data);
    at = mempcpy(at, file + head + data, file_bytes - head - data - STATE_DIGEST);
    for (int i = 0; i < 8; i++) bytes[16 + i] = (char)(length >> 8 * i);
    crypto_hash_sha256((unsigned char *)at, (unsigned char *)bytes, (size_t)(at - bytes));
    put_file(bytes, (size_t)(at - bytes) + STATE_DIGEST);
    state_view_free(&view);
    free(bytes);
}

TEST(test_slots_once)
{
    struct bench b;
    make_small(&b);
    put_without_or_twice(false);
    REFUSED(load(&b, STATE_SAME), "has no slot \"");
    put_without_or_twice(true);
    REFUSED(load(&b, STATE_SAME), "twice");
    free(file);
    bench_close(&b);
}

// The counter of steps indexes the schedules: what the slot's bytes say of it does not count.
TEST(test_counter_is_not_trusted)
{
    struct bench b;
    struct state_view view;
    int32_t step = 0x7fffffff;
    make_small(&b);
    OK(state_parse("file", file + STATE_PREFIX, header_bytes(), file_bytes, &view));
    for (int i = 0; i < view.slots; i++)
        if (!strcmp(view.slot[i].name, "step")) memcpy(file + view.slot[i].offset, &step, sizeof step);
    state_view_free(&view);
    put_edited("\"program\"", "\"program\"");  // with a digest that fits
    OK(load(&b, STATE_SAME));
    OK(session_get(b.trainer->session, "step", &step, sizeof step));
    assert_int_equal(step, 3);
    free(file);
    bench_close(&b);
}

TEST(test_nowhere_to_write)
{
    struct bench b;
    char nowhere[128];
    struct state_run bad = RUN;
    make_small(&b);
    free(file);
    snprintf(nowhere, sizeof nowhere, "%s/none/run-1.state", folder);
    REFUSED(state_save(nowhere, b.trainer, &RUN), nowhere);
    bad.note = "\xff";
    REFUSED(state_save(path, b.trainer, &bad), "not UTF-8");
    OK(load(&b, STATE_SAME));  // the file from before is still there
    bench_close(&b);
}

TEST_GROUP(enter_with_path, leave)
