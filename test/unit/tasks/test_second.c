// SPDX-License-Identifier: Apache-2.0
// The second task (test/second) trains through the same step, supply, metrics and trainer as the tasks of the program.
#include "test/unit/test.h"
#include "test/second/second.h"

#include "runtime/common/base/file.h"
#include "tasks/cifar10/cifar10_keys.h"
#include "tasks/common/step/drive.h"
#include "tasks/common/train/state.h"

#include <signal.h>
#include <sys/wait.h>

const struct recipe_table *const recipe_tables[] = {&recipe_table_cifar10, &second_recipes, NULL};

TEST(trains_on_ref)
{
    second_reaches_its_target("ref");
}

TEST(keeps_an_average_on_ref)
{
    second_keeps_an_average("ref");
}

TEST(trains_on_cpu)
{
    second_reaches_its_target("cpu");
}

// Every sample is evaluated once, in full and short batches of each bucket; the same seed gives the same score.
TEST(evaluates_every_sample)
{
    struct bench a, b;
    second_open(&a, "cpu", 1, "precision=f32");
    second_open(&b, "cpu", 2, "precision=f32");
    int64_t samples = 0;
    for (int64_t i = 0; i < supply_batches(&a.trainer->supply[FEED_TEST]); i++)
        samples += order_batch(a.trainer->supply[FEED_TEST].order, i).count;
    assert_int_equal(samples, 130);
    assert_true(a.trainer->evaluation.programs > 3);  // short batches have programs of their own
    assert_int_equal(second_train(&a, 5), second_train(&a, 5));
    assert_true(llabs(second_train(&a, 5) - second_train(&b, 5)) <= 20000);  // another number of threads rounds differently
    bench_close(&a);
    bench_close(&b);
}

// A sample longer than the last bucket is refused by its number, and nothing is freed twice.
TEST(a_long_sample_is_refused)
{
    struct bench b;
    struct trainer *none = NULL;
    second_limit = 17;
    b = (struct bench){.choice = {.task = &task_second, .fuse = FUSE_ALL}};
    static const char recipe[] = "{\"model\": {\"name\": \"two-bags\"}}";
    assert_int_equal(recipe_parse("second", recipe, sizeof recipe - 1, &b.choice.recipe), 0);
    assert_int_equal(device_open("ref", 1, &b.device), 0);
    b.choice.data = b.data = second_data(600, 130);
    b.choice.device = b.device;
    REFUSED(trainer_new(&b.choice, &none), "sample");
    second_limit = SECOND_LONGEST;
    bench_close(&b);
}

// Streamed batches go on in the middle of an epoch: the bytes equal an uninterrupted training's.
TEST(goes_on_to_the_same_bytes)
{
    static const struct state_run run = {.digest = {"aa", "bb"}, .note = "{}"};
    char path[] = "/tmp/dawn-second-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    for (int64_t stop = 7; stop < 50; stop += 24) {  // 31 is in the second epoch
        struct bench straight, first, second;
        size_t n, m;
        second_open(&straight, "cpu", 2, "precision=f32");
        uint8_t *want = bench_train(&straight, 4, 55, &n);
        second_open(&first, "cpu", 2, "precision=f32");
        free(bench_train(&first, 4, (int)stop, &m));
        if (state_save(path, first.trainer, &run) < 0) fail_msg("%s", error_text());
        bench_close(&first);
        second_open(&second, "cpu", 2, "precision=f32");
        struct state *from;
        if (state_open(path, &from) < 0 || state_load(from, second.trainer, &run, STATE_SAME) < 0) fail_msg("%s", error_text());
        state_close(from);
        while (second.trainer->at < 55) assert_int_equal(trainer_step(second.trainer), 0);
        uint8_t *got = bench_bytes(&second, &m);
        assert_int_equal(n, m);
        // Inputs of a bucket that was not used since may hold anything: only trained slots are compared.
        const struct slot_store *a = straight.trainer->session->store, *b = second.trainer->session->store;
        size_t at = 0;
        for (int i = 0; i < a->count; i++) {
            assert_string_equal(a->slot[i]->name, b->slot[i]->name);
            bool trained = role_is_parameter(a->slot[i]->role) || a->slot[i]->memory == MEMORY_OPTIMISER;
            if (trained) assert_memory_equal(want + at, got + at, slot_bytes(a->slot[i]));
            at += slot_bytes(a->slot[i]);
        }
        free(want), free(got);
        bench_close(&straight);
        bench_close(&second);
    }
    unlink(path);
}

// The host computes from the outputs what the device counts, batch by batch and bucket by bucket: with initial weights, and with
// trained ones.
static struct task one_answer;
static struct task_program three[4];
static struct task_program *programs_of(struct task *task)
{
    for (int i = 0; i < 3; i++) three[i] = task_second.programs[i];
    task->programs = three;
    return three;
}

static void forward_b(struct step *s)
{
    task_second.programs[2].forward(s);
    int right = graph_state(s->g, "right b", SHAPE(1), I32, MEMORY_DATA, (struct init){INIT_ZERO, 0});
    g_correct(s->g, graph_slot(s->g, s->is.output[1]), step_input(s, "label b"), right, 1);
}

TEST(the_judge_sees_every_output)
{
    struct bench b;
    one_answer = task_second;
    programs_of(&one_answer)[2].forward = forward_b;
    for (int viewed = 0; viewed < 2; viewed++) {
        one_answer.view = viewed ? second_view : NULL;
        second_open_task(&b, &one_answer, "cpu", 2, "precision=f32");
        for (int trained = 0; trained < 2; trained++) {
            int64_t score[METRICS_MAX];
            int32_t right, zero = 0;
            assert_int_equal(trainer_begin(b.trainer, 3), 0);
            while (trained && b.trainer->at < b.trainer->steps) assert_int_equal(trainer_step(b.trainer), 0);
            assert_int_equal(session_put(b.trainer->session, "right b", &zero, 0, sizeof zero), 0);
            if (trainer_evaluate(b.trainer, score) < 0) fail_msg("%s", error_text());
            assert_int_equal(session_get(b.trainer->session, "right b", &right, sizeof right), 0);
            assert_int_equal(score[1], (int64_t)right * 1000000 / 130);
            assert_true(trained ? right > 110 : right < 110);
        }
        assert_int_equal(b.trainer->setting.data->count[SPLIT_TRAIN], viewed ? 300 : 600);
        assert_int_equal(b.trainer->facts->count[SPLIT_TRAIN], 600);
        bench_close(&b);
    }
}

// A training may begin with the weights of another one, also of a file that names them otherwise.
static const char *const prefixes[] = {"other.", NULL}, *const fresh[] = {"b.head", NULL};
static struct model begun[2];
TEST(begins_with_given_weights)
{
    char path[] = "/tmp/dawn-second-XXXXXX", digest[DIGEST_HEX];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct bench first, second;
    struct task task = task_second;
    begun[0] = task.models[0];
    begun[0].prefixes = prefixes, begun[0].fresh = fresh;
    task.models = begun;
    second_open(&first, "cpu", 2, "precision=f32");
    int64_t score[METRICS_MAX], trained = second_train(&first, 1);
    assert_int_equal(checkpoint_save(path, first.trainer->session, NULL, digest), 0);
    second_open_task(&second, &task, "cpu", 2, "precision=f32");
    second.trainer->setting.files.weights = path;
    if (trainer_begin(second.trainer, 2) < 0) fail_msg("%s", error_text());
    assert_int_equal(second.trainer->imported.taken, 4);
    assert_int_equal(trainer_evaluate(second.trainer, score), 0);
    assert_int_equal(score[0], trained);
    assert_int_equal(trainer_step(second.trainer), 0);
    second.trainer->setting.files.weights = "/nowhere";
    REFUSED(trainer_begin(second.trainer, 2), "/nowhere");
    unlink(path);
    bench_close(&first);
    bench_close(&second);
}

// ---- batches in parts

static const char table_name[] = "a.embedding";
enum { TABLE = SECOND_WORDS * 8 };

static void read_table(struct bench *b, float into[TABLE])
{
    assert_int_equal(session_get(b->trainer->session, table_name, into, TABLE * sizeof *into), 0);
}

static int one_bucket(const struct setting *c, int feed, struct feed_choice *f)
{
    TRY(task_second.feed(c, feed, f));
    for (int i = 0; i < f->fields; i++) f->field[i].shape[0] = f->field[i].shape[2];
    f->order.buckets = 1, f->order.limit[0] = SECOND_LONGEST;
    return 0;
}

static struct task in_parts;
static void open_in_parts(struct bench *b, const char *parts)
{
    const char *const settings[] = {"precision=f32", parts, "optimiser.clip=0.05", NULL};
    in_parts = task_second;
    in_parts.step = NULL, in_parts.feed = one_bucket;  // set 0 alone trains
    second_open_with(b, &in_parts, "cpu", 2, settings);
}

static float *train_in_parts(const char *parts, int64_t *count)
{
    struct bench b;
    open_in_parts(&b, parts);
    assert_int_equal(trainer_begin(b.trainer, 3), 0);
    for (int i = 0; i < 40; i++)  // into the second epoch
        if (trainer_step(b.trainer) < 0) fail_msg("%s", error_text());
    assert_int_equal(b.trainer->samples, 40 * 20);
    assert_int_equal(b.trainer->steps_per_epoch, 30);
    struct trainer_sums sums;
    assert_int_equal(trainer_sums(b.trainer, true, &sums), 0);
    float *weights = calloc(TABLE + 1, sizeof *weights);
    assert_int_equal(session_get(b.trainer->session, table_name, weights, TABLE * sizeof *weights), 0);
    weights[TABLE] = (float)(sums.loss / (double)b.trainer->terms);
    *count = b.trainer->variants;
    bench_close(&b);
    return weights;
}

// The gradients of the parts add up to the batch's, so the weights after some steps are the same up to rounding.
TEST(parts_are_the_batch)
{
    int64_t variants;
    float *whole = train_in_parts("data.accumulate=1", &variants);
    assert_int_equal(variants, 1);
    for (int parts = 2; parts <= 10; parts += parts == 2 ? 3 : 5) {
        char setting[32];
        snprintf(setting, sizeof setting, "data.accumulate=%d", parts);
        float *got = train_in_parts(setting, &variants);
        assert_int_equal(variants, parts == 2 ? 2 : 3);
        for (int i = 0; i <= TABLE; i++) assert_true(fabsf(got[i] - whole[i]) < 2e-4f * (1 + fabsf(whole[i])));
        free(got);
    }
    free(whole);
}

// A state stands between steps, never between parts.
TEST(parts_go_on_to_the_same_bytes)
{
    static const struct state_run run = {.digest = {"aa", "bb"}, .note = "{}"};
    char path[] = "/tmp/dawn-second-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    struct bench first, second;
    float want[TABLE], got[TABLE];
    open_in_parts(&first, "data.accumulate=5");
    assert_int_equal(trainer_begin(first.trainer, 3), 0);
    while (first.trainer->at < 47) {
        if (first.trainer->at == 37 && state_save(path, first.trainer, &run) < 0) fail_msg("%s", error_text());
        assert_int_equal(trainer_step(first.trainer), 0);
    }
    read_table(&first, want);
    bench_close(&first);
    open_in_parts(&second, "data.accumulate=5");
    struct state *from;
    if (state_open(path, &from) < 0 || state_load(from, second.trainer, &run, STATE_SAME) < 0) fail_msg("%s", error_text());
    state_close(from);
    while (second.trainer->at < 47) assert_int_equal(trainer_step(second.trainer), 0);
    read_table(&second, got);
    assert_memory_equal(got, want, sizeof got);
    bench_close(&second);
    unlink(path);
}

TEST(parts_that_are_no_parts_are_refused)
{
    struct bench b;
    struct trainer *none = NULL;
    struct task task = task_second;
    second_open(&b, "cpu", 1, "precision=f32");
    assert_int_equal(recipe_set(&b.choice.recipe, "data.accumulate=2"), 0);
    REFUSED(trainer_new(&b.choice, &none), "another program has used");
    b.choice.task = &task;
    task.step = NULL;
    assert_int_equal(recipe_set(&b.choice.recipe, "data.accumulate=3"), 0);
    REFUSED(trainer_new(&b.choice, &none), "a batch of 20 is not 3 equal parts");
    assert_int_equal(recipe_set(&b.choice.recipe, "data.accumulate=20"), 0);
    assert_true(trainer_new(&b.choice, &none) < 0);
    bench_close(&b);
}

// ---- the average of the weights

// The average equals the mean of the weights after each step, which is computed here. Evaluating changes nothing, and the saved
// weights are the evaluated ones.
static void check_average(const char *decay)
{
    struct bench b;
    float want[TABLE], now[TABLE], got[TABLE];
    int64_t score[METRICS_MAX], again[METRICS_MAX];
    const char *const settings[] = {"precision=f32", decay, "schedule.ema.every=3", "schedule.ema.from=0.5", NULL};
    bool mean = strcmp(decay, "schedule.ema.decay=1") == 0;
    second_open_with(&b, &task_second, "cpu", 2, settings);
    struct trainer *t = b.trainer;
    int64_t first = (t->steps_per_epoch + 1) / 2;
    assert_int_equal(trainer_begin(t, 3), 0);
    for (int64_t done = 1; done <= t->steps; done++) {
        assert_int_equal(trainer_step(t), 0);
        read_table(&b, now);
        for (int i = 0; i < TABLE; i++) {
            if (done <= first) want[i] = now[i];
            else if ((done - first) % 3 == 0)
                want[i] += (mean ? 1 / (float)((done - first) / 3 + 1) : (float)(1 - 0.9)) * (now[i] - want[i]);
        }
        if (done != 2 && done != 40) continue;
        assert_int_equal(trainer_evaluate(t, score), 0);
        read_table(&b, got);
        assert_memory_equal(got, now, sizeof got);
    }
    assert_int_equal(trainer_evaluate(t, score), 0);
    assert_int_equal(trainer_settle(t), 0);
    read_table(&b, got);
    for (int i = 0; i < TABLE; i++) assert_true(fabsf(got[i] - want[i]) < 1e-5f);
    assert_memory_not_equal(got, now, sizeof got);
    assert_int_equal(evaluation_run(&t->evaluation, NULL, again), 0);
    assert_int_equal(score[0], again[0]);
    assert_true(score[0] > 800000);
    bench_close(&b);
    struct recipe r = b.choice.recipe;
    assert_int_equal(recipe_set(&r, "schedule.lookahead.every=5"), 0);
    assert_true(recipe_check(&r) < 0);
}

TEST(the_average_is_evaluated)
{
    check_average("schedule.ema.decay=0.9");
    check_average("schedule.ema.decay=1");  // the plain mean
}

// A judge or a view that fails ends the evaluation, or the building, with its sentence.
static int ended;
static int fail_batch(void *state, const struct judged *b)
{
    (void)state, (void)b;
    return fail(ERR_INPUT, "this cannot be judged");
}
static int count_end(void *state, int64_t score[METRICS_MAX])
{
    ended += score == NULL;
    return task_second.judge->end(state, score);
}
static int no_view(const struct setting *c, struct dataset *stored, struct dataset **into)
{
    (void)c, (void)stored, (void)into;
    return fail(ERR_INPUT, "this cannot be viewed");
}

static int no_feed(const struct setting *c, int feed, struct feed_choice *f)
{
    (void)c, (void)feed, (void)f;
    return fail(ERR_INPUT, "this cannot be read");
}

TEST(a_failure_is_told)
{
    struct bench b;
    int64_t score[METRICS_MAX];
    struct task task = task_second;
    const struct judge judge = {.begin = task.judge->begin, .batch = fail_batch, .end = count_end};
    task.judge = &judge;
    second_open_task(&b, &task, "cpu", 1, "precision=f32");
    assert_int_equal(trainer_begin(b.trainer, 3), 0);
    assert_int_equal(trainer_evaluate(b.trainer, score), ERR_INPUT);
    assert_string_equal(error_text(), "this cannot be judged");
    assert_int_equal(ended, 1);
    struct trainer *none = NULL;
    task.view = no_view;
    assert_int_equal(trainer_new(&b.choice, &none), ERR_INPUT);
    assert_string_equal(error_text(), "this cannot be viewed");
    task.view = NULL, task.feed = no_feed;
    assert_int_equal(trainer_new(&b.choice, &none), ERR_INPUT);
    assert_string_equal(error_text(), "this cannot be read");
    bench_close(&b);
}

// A judge that stays is begun once, empties its state with each score, and is freed with the trainer.
static int begins, frees;
static int64_t judged;
static int begin_to_stay(const struct setting *c, struct dataset *stored, struct dataset *view, void **state)
{
    (void)c, (void)stored, (void)view;
    begins++, judged = 0;
    *state = &judged;
    return 0;
}
static int count_batch(void *state, const struct judged *b)
{
    *(int64_t *)state += b->count;
    return 0;
}
static int end_to_stay(void *state, int64_t score[METRICS_MAX])
{
    if (!score) frees++;
    else score[1] = *(int64_t *)state, *(int64_t *)state = 0;
    return 0;
}

TEST(a_judge_may_stay)
{
    struct bench b;
    int64_t score[METRICS_MAX];
    struct task task = task_second;
    struct judge judge = {.begin = begin_to_stay, .batch = count_batch, .end = end_to_stay, .stays = true};
    task.judge = &judge;
    second_open_task(&b, &task, "cpu", 1, "precision=f32");
    assert_int_equal(trainer_begin(b.trainer, 3), 0);
    assert_int_equal(evaluation_check(&b.trainer->evaluation), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(trainer_evaluate(b.trainer, score), 0);
        assert_int_equal(score[1], dataset_facts(b.trainer->evaluation.view)->count[SPLIT_TEST]);
    }
    assert_true(begins == 1 && frees == 0);
    judge.batch = fail_batch;
    assert_int_equal(trainer_evaluate(b.trainer, score), ERR_INPUT);  // frees what it judged with
    assert_true(begins == 1 && frees == 1);
    judge.batch = count_batch;
    assert_int_equal(trainer_evaluate(b.trainer, score), 0);
    assert_true(begins == 2 && frees == 1);
    bench_close(&b);
    assert_int_equal(frees, 2);
}

TEST(figures_are_finite)
{
    struct bench b;
    second_open(&b, "ref", 1, "precision=f32");
    double flops = trainer_forward_flops(b.trainer);  // it has no key for views
    assert_true(isfinite(flops) && flops > 0);
    // Every sample costs the same on average over an epoch: about three forward passes, of each of the two sets.
    struct run_part work[RUN_PARTS_MAX];
    struct trainer *t = b.trainer;
    assert_int_equal(trainer_work(t, work, RUN_PARTS_MAX), 1);
    assert_int_equal(work[0].samples, t->steps * 20);
    assert_true((double)work[0].flops_per_sample > flops && (double)work[0].flops_per_sample < 20 * flops);
    bench_close(&b);
}

// The figure of a run with buckets is the mean over the samples of the evaluation, not the shortest bucket's.
TEST(flops_are_those_of_all_buckets)
{
    struct bench b;
    second_open(&b, "null", 1, "precision=f32");
    const struct trainer *t = b.trainer;
    double sum = 0, least = INFINITY, mean;
    int64_t samples = 0;
    for (int64_t i = 0; i < order_all_batches(t->supply[FEED_TEST].order); i++) {
        struct order_batch batch = order_all_batch(t->supply[FEED_TEST].order, i);
        const struct graph *g = t->session->graph[evaluation_find(&t->evaluation, &batch)->program[2]];
        double flops = 0;
        for (int n = 0; n < g->nodes; n++) flops += node_cost(g, &g->node[n]).flops;
        sum += flops, samples += batch.count;
        least = fmin(least, flops / (double)batch.count);
    }
    mean = sum / (double)samples;
    assert_int_equal(samples, dataset_facts(b.data)->count[FEED_TEST]);
    assert_true(mean > 1.1 * least);
    assert_true(fabs(trainer_forward_flops(t) - mean) < 0.01 * mean);  // short batches cost a little more for each sample
    bench_close(&b);
}

// What a task has to say fits on one page: if it grows, something that all tasks share is missing.
TEST(is_one_page)
{
    char *text;
    size_t size;
    int lines = 0;
    if (file_read("test/second/second.c", 1 << 16, &text, &size) < 0) fail_msg("%s", error_text());
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    assert_in_range(lines, 50, 150);
    free(text);
}

// Set 1 trains from this step on.
enum { LATE = 6 };
static int late_step(struct drive *d)
{
    if (d->step >= LATE) return task_second.step(d);
    TRY(drive_next(d, FEED_TRAIN));
    return drive_run(d, 0);
}

enum { HEAD = SECOND_CLASSES * 16 };
static void read_head(const struct trainer *t, float head[HEAD])
{
    assert_int_equal(session_get(t->session, "b.head", head, HEAD * sizeof *head), 0);
}

// Adam's first update of a parameter moves each weight by the learning rate, however many steps others have made.
TEST(a_late_set_begins_as_others_do)
{
    struct task task = task_second;
    struct bench b;
    float before[HEAD], after[HEAD];
    struct rule rule[RULES_MAX];
    task.step = late_step;
    second_open_task(&b, &task, "ref", 1, "precision=f32");
    struct trainer *t = b.trainer;
    assert_int_equal(trainer_begin(t, 3), 0);
    read_head(t, before);
    for (int i = 0; i < LATE; i++) assert_int_equal(trainer_step(t), 0);
    read_head(t, after);
    assert_memory_equal(before, after, sizeof before);
    assert_int_equal(trainer_step(t), 0);
    read_head(t, after);
    assert_int_equal(task.rules(&t->setting, rule), 2);
    double rate = rule[1].rate * schedule_at(&rule[1].share, LATE);
    for (int i = 0; i < HEAD; i++) {
        double moved = fabs((double)after[i] - (double)before[i]);
        if (fabs(moved - rate) > 0.01 * rate) fail_msg("a weight moved by %g at a rate of %g", moved, rate);
    }
    bench_close(&b);
}

// A task whose head begins with uploaded weights, and whose evaluation states a loss.
static void uploading_forward(struct step *s)
{
    graph_group(s->g, 0);
    graph_param(s->g, "a.head", SHAPE(SECOND_CLASSES, 8), (struct init){INIT_UPLOAD, 0}, ROLE_MATRIX);
    task_second.programs[s->number].forward(s);
    if (!step_trains(s)) step_loss(s, graph_state(s->g, "none", SHAPE(1), F32, MEMORY_DATA, (struct init){INIT_ZERO, 0}), 1);
}

static void open_uploading(struct bench *b, struct task *task)
{
    static const char *const settings[] = {"precision=f32", "schedule.ema.decay=0.9", "schedule.ema.from=0.5", NULL};
    *task = task_second;
    programs_of(task);
    for (int i = 0; i < 3; i++) three[i].forward = uploading_forward;
    second_open_with(b, task, "null", 1, settings);
}

// Trained weights are averaged, with any initial values.
TEST(uploaded_weights_are_averaged)
{
    struct task task;
    struct bench b;
    open_uploading(&b, &task);
    assert_int_equal(slot_find(b.trainer->session->store, "a.head")->init.kind, INIT_UPLOAD);
    assert_non_null(slot_find(b.trainer->session->store, "ema.a.head"));
    bench_close(&b);
}

// Nobody reads the loss of an evaluation, so none is computed.
TEST(an_evaluation_has_no_loss)
{
    struct task task;
    struct bench b;
    open_uploading(&b, &task);
    assert_non_null(slot_find(b.trainer->session->store, "train.loss"));
    assert_null(slot_find(b.trainer->session->store, "test.loss"));
    bench_close(&b);
}

// Two schedules of one name, equal at every quarter of the training and nowhere else.
static int disagreeing_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    int rules = task_second.rules(c, rule);
    rule[1].name = rule[0].name, rule[1].rate = rule[0].rate;
    rule[0].share = schedule_constant(1);
    rule[1].share = (struct schedule){0};
    for (int i = 0; i < 8; i++) schedule_add(&rule[1].share, (double)c->steps / 8, !(i % 2), i % 2, CURVE_LINEAR);
    return rules;
}

TEST(schedules_of_one_name_agree)
{
    struct task task = task_second;
    struct bench b;
    task.rules = disagreeing_rules;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        fclose(stderr);
        second_open_task(&b, &task, "null", 1, "precision=f32");
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
