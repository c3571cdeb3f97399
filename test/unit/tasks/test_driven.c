// SPDX-License-Identifier: Apache-2.0
// Tasks that decide which programs run in a step.
#define TEST_HAS_MAIN
#include "test/unit/test.h"
#include "test/second/second.h"

#include "runtime/common/base/file.h"
#include "runtime/ranks/ranks.h"
#include "tasks/cifar10/cifar10_keys.h"
#include "tasks/common/step/drive.h"
#include "tasks/common/train/state.h"
#include "tasks/tools/report/report.h"
#include "tasks/tools/show/document.h"
#include "tasks/tools/show/show.h"
#include "test/unit/fixture_record.h"

#include <signal.h>
#include <sys/wait.h>

const struct recipe_table *const recipe_tables[] = {&recipe_table_cifar10, &second_recipes, NULL};

// Each program trains its own set and leaves the other as it was.
TEST(programs_train_their_own_set)
{
    struct bench b;
    second_open(&b, "ref", 1, "precision=f32");
    struct trainer *t = b.trainer;
    assert_int_equal(trainer_begin(t, 3), 0);
    for (int p = 0; p < 2; p++) {
        const struct graph *g = t->session->graph[trainer_variant(t, 0, 0, p, 0)->program];
        for (int i = 0; i < g->nodes; i++)
            for (int o = 0; o < MAX_OUT; o++) {
                const struct value *v = node_out(g, &g->node[i], o);
                if (v && v->slot && role_is_parameter(v->slot->role)) assert_int_equal(v->slot->group, p);
            }
    }
    bench_close(&b);
}

// Programs of a step may have made equally many runs, so their draws differ by site.
TEST(programs_draw_apart)
{
    const struct setting setting = {.task = &task_second};
    struct step step[2] = {{.setting = &setting, .program = &task_second.programs[0], .number = 0},
                           {.setting = &setting, .program = &task_second.programs[1], .number = 1}};
    bool seen[8 * PROGRAMS_MAX] = {0};
    for (int i = 0; i < 16; i++) {
        int site = step_site(&step[i % 2]);
        assert_in_range(site, 0, 8 * PROGRAMS_MAX - 1);
        assert_false(seen[site]);
        seen[site] = true;
    }
}

// As batches by tokens: longer texts, fewer of them.
static int feed_by_tokens(const struct setting *c, int feed, struct feed_choice *f)
{
    TRY(task_second.feed(c, feed, f));
    if (feed == FEED_TRAIN) f->order.batch[1] /= 2, f->order.batch[2] /= 5;
    return 0;
}

static int two_batches(struct drive *d)
{
    for (int i = 0; i < 2; i++) {
        TRY(drive_next(d, FEED_TRAIN));
        TRY(drive_run(d, i));
    }
    return 0;
}

TEST(samples_of_a_step_vary)
{
    for (int times = 1; times <= 2; times++) {
        struct task task = task_second;
        struct bench b;
        int64_t least, most, samples = 0, inside[ORDER_BUCKETS] = {0};
        task.feed = feed_by_tokens;
        if (times == 2) task.step = two_batches;
        second_open_task(&b, &task, "cpu", 1, "precision=f32");
        struct trainer *t = b.trainer;
        trainer_step_samples(t, &least, &most);
        assert_int_equal(least, 4 * times);
        assert_int_equal(most, 20 * times);
        int64_t batches = supply_batches(&t->supply[FEED_TRAIN]);
        for (int64_t i = 0; i < batches; i++) {
            struct order_batch batch = order_batch(t->supply[FEED_TRAIN].order, i);
            samples += batch.count, inside[batch.bucket]++;
        }
        assert_true(inside[0] && inside[1] && inside[2]);
        struct run_part work[RUN_PARTS_MAX];
        assert_int_equal(trainer_work(t, work, RUN_PARTS_MAX), 1);
        double mean = (double)samples / (double)batches;
        assert_int_equal(work[0].samples, llround(mean * (double)(t->steps * times)));
        assert_int_equal(trainer_begin(t, 1), 0);
        for (int64_t before = 0; t->at < t->steps_per_epoch; before = t->samples) {
            assert_int_equal(trainer_step(t), 0);
            assert_true(t->samples - before >= least && t->samples - before <= most);
        }
        if (times == 1) assert_int_equal(t->samples, samples);
        bench_close(&b);
    }
}

// ---- the driven task

static const struct state_run state_run = {.digest = {"aa", "bb"}, .note = "{}"};

static void open_driven(struct bench *b, const char *device, const char *setting)
{
    const char *const settings[] = {"precision=f32", setting, NULL};
    second_open_with(b, &task_driven, device, 2, settings);
}

static void take_steps(struct bench *b, int64_t to)
{
    while (b->trainer->at < to)
        if (trainer_step(b->trainer) < 0) fail_msg("%s", error_text());
}

static int32_t runs_of(struct bench *b, const char *name)
{
    int32_t runs;
    assert_int_equal(session_get(b->trainer->session, name, &runs, sizeof runs), 0);
    return runs;
}

TEST(a_step_runs_what_the_task_says)
{
    struct bench b;
    struct trainer_calls calls = {0};
    open_driven(&b, "cpu", "schedule.epochs=2");
    struct trainer *t = b.trainer;
    assert_int_equal(trainer_count_calls(t, 0, &calls), 0);
    assert_true(calls.batches[FEED_TRAIN] == 5 && calls.batches[FEED_TEST] == 0 && calls.batches[2] == 1);
    assert_true(calls.runs[0] == 5 && calls.runs[1] == 1 && calls.runs[2] == 1);
    assert_int_equal(t->steps_per_epoch, 600 / 20 / 5);
    assert_int_equal(t->steps, 12);
    assert_int_equal(trainer_begin(t, 1), 0);
    take_steps(&b, 12);
    assert_true(runs_of(&b, "runs.critic") == 60 && runs_of(&b, "runs.generator") == 12 && runs_of(&b, "runs.player") == 12);
    assert_int_equal(runs_of(&b, "step"), 12);
    assert_int_equal(t->samples, 60 * 20);
    bench_close(&b);
}

TEST(reaches_its_target)
{
    driven_reaches_its_target("ref");
    driven_reaches_its_target("cpu");
}

enum { TESTS = 130 };
// The mean cross entropy with label 0; every fourth row is not valid and counts as 0.
static double surprise_of(const float cache[3 * TESTS])
{
    double sum = 0;
    for (int i = 0; i < TESTS; i++) {
        const float *x = cache + 3 * i;
        if (i % 4) sum += log(exp((double)x[0]) + exp((double)x[1]) + exp((double)x[2])) - (double)x[0];
    }
    return sum / TESTS;
}

// A decoder's cache and its state live from run to run: after some runs the state is as many caches. The mean of a metric is that
// of the samples.
TEST(a_cache_lives_from_run_to_run)
{
    struct bench b;
    int64_t score[METRICS_MAX];
    float cache[3 * TESTS], sum[3 * TESTS];
    open_driven(&b, "cpu", "schedule.epochs=1");
    assert_int_equal(trainer_begin(b.trainer, 1), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(trainer_evaluate(b.trainer, score), 0);
        assert_int_equal(session_get(b.trainer->session, "cache.0.130", cache, sizeof cache), 0);
        assert_int_equal(session_get(b.trainer->session, "sum.0.130", sum, sizeof sum), 0);
        double mean = surprise_of(cache);
        assert_true(mean > 0.1 && llabs(score[1] - llround(mean * 1e6)) < 10);
        for (int k = 0; k < 3 * TESTS; k++) assert_true(cache[k] != 0 && fabsf(sum[k] - DRIVEN_WORDS * cache[k]) < 1e-5f);
    }
    bench_close(&b);
}

static uint8_t *weights_of(struct bench *b, size_t *count)
{
    const struct slot_store *s = b->trainer->session->store;
    uint8_t *bytes = zalloc(1 << 16), *at = bytes;
    for (int i = 0; i < s->count; i++) {
        bool optimiser = s->slot[i]->memory == MEMORY_OPTIMISER && s->slot[i]->role != ROLE_DERIVED;  // no sums of slices
        if (!role_is_parameter(s->slot[i]->role) && !optimiser) continue;
        assert_int_equal(session_get(b->trainer->session, s->slot[i]->name, at, slot_bytes(s->slot[i])), 0);
        at += slot_bytes(s->slot[i]);
    }
    *count = (size_t)(at - bytes);
    return bytes;
}

// A process that is killed leaves a state. Feeds, draws and the host's games go on from it to the same bytes.
TEST(goes_on_after_kill)
{
    static const char *const settings[] = {"data.slices=1", "data.slices=2", "data.accumulate=4"};
    for (int i = 0; i < 3; i++) {
        char path[] = "/tmp/dawn-driven-XXXXXX";
        int fd = mkstemp(path), status;
        size_t n, m;
        assert_true(fd >= 0);
        close(fd);
        pid_t child = fork();
        if (child == 0) {
            struct bench killed;
            open_driven(&killed, "ref", settings[i]);
            assert_int_equal(trainer_begin(killed.trainer, 3), 0);
            take_steps(&killed, 7);  // in the middle of an epoch of each feed
            assert_int_equal(state_save(path, killed.trainer, &state_run), 0);
            take_steps(&killed, 9);
            raise(SIGKILL);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        struct bench straight, resumed;
        open_driven(&straight, "ref", settings[i]);
        assert_int_equal(trainer_begin(straight.trainer, 3), 0);
        take_steps(&straight, 15);
        uint8_t *want = weights_of(&straight, &n);
        bench_close(&straight);
        struct state *from;
        open_driven(&resumed, "ref", settings[i]);
        if (state_open(path, &from) < 0 || state_load(from, resumed.trainer, &state_run, STATE_SAME) < 0)
            fail_msg("%s", error_text());
        state_close(from);
        take_steps(&resumed, 15);
        uint8_t *got = weights_of(&resumed, &m);
        assert_int_equal(n, m);
        assert_memory_equal(want, got, n);
        free(want), free(got);
        bench_close(&resumed);
        unlink(path);
    }
}

enum { PLAYER_WEIGHTS = 2 * 3 * 4 };
static void train_player(const char *setting, float weights[PLAYER_WEIGHTS], struct trainer_sums *sums)
{
    struct bench b;
    open_driven(&b, "cpu", setting);
    assert_int_equal(trainer_begin(b.trainer, 3), 0);
    take_steps(&b, 10);
    const size_t half = PLAYER_WEIGHTS / 2;
    assert_int_equal(session_get(b.trainer->session, "move", weights, half * sizeof *weights), 0);
    assert_int_equal(session_get(b.trainer->session, "reply", weights + half, half * sizeof *weights), 0);
    assert_int_equal(trainer_sums(b.trainer, true, sums), 0);
    bench_close(&b);
}

// The valid rows of a batch are spread unevenly over its parts. A mean over them does not depend on how the batch is cut.
TEST(means_are_over_the_rows_of_the_batch)
{
    static const char *const settings[] = {"data.accumulate=2", "data.accumulate=10", "data.slices=2", "data.slices=10"};
    float want[PLAYER_WEIGHTS], got[PLAYER_WEIGHTS];
    struct trainer_sums whole, cut;
    train_player("data.slices=1", want, &whole);
    assert_int_equal(whole.means, 4);
    assert_string_equal(whole.mean[0].name, "real");
    assert_string_equal(whole.mean[3].name, "reply");
    for (int i = 0; i < 4; i++) {
        train_player(settings[i], got, &cut);
        for (int k = 0; k < PLAYER_WEIGHTS; k++) assert_true(fabsf(got[k] - want[k]) < 1e-5f);
        for (int k = 2; k < 4; k++) assert_true(fabs(cut.mean[k].mean - whole.mean[k].mean) < 1e-5);
    }
}

// Named losses are columns of the curve: in the record, in `dawn show`, and bound by its chain.
TEST_WITH(losses_are_recorded, setup, leave)
{
    struct results *r = open_db(RESULTS_WRITE);
    struct run_facts facts = fixture_facts(7, NULL);
    struct bench b;
    struct run *run;
    struct trainer_sums sums;
    struct text text = {0};
    json_t *record;
    assert_int_equal(result_begin(r, &facts, &run), 0);
    int64_t id = result_id(run);
    open_driven(&b, "cpu", "schedule.epochs=2");
    assert_int_equal(trainer_begin(b.trainer, 3), 0);
    for (int i = 1; i <= 2; i++) {
        take_steps(&b, 5 * i);
        assert_int_equal(trainer_sums(b.trainer, true, &sums), 0);
        struct run_point point = fixture_point(i, 5000);
        point.losses = sums.mean, point.loss_count = sums.means;
        assert_int_equal(result_point(run, &point), 0);
    }
    bench_close(&b);
    assert_int_equal(result_end(run, RUN_DONE, NULL, NULL), 0);
    assert_int_equal(number(r, "SELECT count(*) FROM losses WHERE loss > 10000 AND loss < 10000000"), 8);
    assert_int_equal(record_read(r, id, &record), 0);
    assert_int_equal(record_chain(record), 0);
    json_decref(record);
    assert_int_equal(show_run(r, id, &(struct plain_style){0}, &text), 0);
    const char *line = strstr(text.at, "losses"), *at = line;
    static const char *const names[] = {"real", "fake", "move", "reply"};
    for (int i = 0; i < 4; i++) assert_true(at && (at = strstr(at, names[i])) && at < line + strcspn(line, "\n"));
    text_free(&text);
    assert_int_equal(report_write(r, SHEET_HTML, NULL, &text), 0);
    assert_non_null(strstr(text.at, "reply training loss over end-to-end time"));
    text_free(&text);
    assert_int_equal(document_page(r, id, SHEET_HTML, &text), 0);
    assert_non_null(strstr(text.at, ">loss move<"));
    text_free(&text);
    results_close(r);
    sql_from_outside("UPDATE losses SET name = 'a b' WHERE number = 3");
    r = open_db(RESULTS_READ);
    assert_int_equal(record_read(r, id, &record), 0);
    assert_int_equal(record_chain(record), ERR_INPUT);
    json_decref(record);
    results_close(r);
}

// ---- a recurrent state that follows streams: two characters of every row in each batch

enum { UNITS = 4, ROWS = 20 };
static bool copies_state;
static int more_states[2];  // carried besides the layer's: by a training step, by an evaluation
static double stream_rate;

static int stream_feed(const struct setting *c, int number, struct feed_choice *f)
{
    (void)number;
    f->fields = 2;
    f->order.batch[0] = ROWS, f->order.short_batches = false;
    for (int i = 0; i < 2; i++)
        f->field[i] = (struct feed_field){.name = c->data->field[2 + i].name, .dtype = I32, .classes = SECOND_CLASSES};
    return 0;
}

static void stream_forward(struct step *s)
{
    struct graph *g = s->g;
    int slot[2], label = step_input(s, "label a"), words[] = {label, step_input(s, "label b")};
    if (g->error) return;
    for (int i = 0; i < 2; i++) words[i] = g_reshape(g, words[i], SHAPE(s->is.batch, 1));
    int table = graph_param(g, "table", SHAPE(SECOND_CLASSES, UNITS), (struct init){INIT_NORMAL, 1}, ROLE_EMBEDDING);
    int x = g_gather(g, table, g_reshape(g, g_concat(g, words, 2, 1), SHAPE(s->is.batch * 2)));
    struct lstm_states states = {.h = step_carry(s, "h", SHAPE(s->is.batch, UNITS), F32, &slot[0]),
                                 .c = step_carry(s, "c", SHAPE(s->is.batch, UNITS), F32, &slot[1])};
    if (copies_state) states.h = g_scale(g, states.h, 1), states.c = g_scale(g, states.c, 1);
    const struct lstm how = {.lengths = NONE, .directions = 1, .states = &states, .hidden = UNITS};
    int h = g_lstm_layer(g, "rnn", 0, g_reshape(g, x, SHAPE(s->is.batch, 2, UNITS)), &how);
    step_carry_on(s, slot[0], states.h), step_carry_on(s, slot[1], states.c);
    for (int i = 0; i < more_states[!step_trains(s)]; i++) {
        int v = step_carry(s, arena_text(&g->arena, "more.%d", i), SHAPE(s->is.batch, 1), F32, &slot[0]);
        step_carry_on(s, slot[0], g_scale(g, v, 2));
    }
    int w = graph_param(g, "head", SHAPE(SECOND_CLASSES, 2 * UNITS), (struct init){INIT_NORMAL, 1}, ROLE_MATRIX);
    int logits = g_linear(g, g_reshape(g, h, SHAPE(s->is.batch, 2 * UNITS)), w, NONE, F32);
    step_loss(s, g_xent(g, logits, label, 0, true), 1);
    g_correct(g, logits, label, step_hits(s, 0), 1);
    g_tick(g, step_tries(s, 0), (int32_t)s->is.batch);
}

static int stream_rules(const struct setting *c, struct rule rule[RULES_MAX])
{
    (void)c;
    const struct schedule one = schedule_constant(1);
    rule[0] = (struct rule){"all", ANY, ANY, OPTIMISER_SGD, (struct optim_settings){.momentum = 0.5f}, stream_rate, one, one};
    return 1;
}

static float sigmoid_of(float x) { return 1 / (1 + expf(-x)); }

// The layer over the whole sequence of each row at once, as its formula says.
static void is_whole_sequence(struct bench *b, enum split split, int64_t steps, const float *h, float w[4][4 * UNITS * UNITS])
{
    const int64_t length = (split == SPLIT_TRAIN ? 600 : 130) / ROWS;
    float table[SECOND_CLASSES * UNITS];
    assert_int_equal(session_get(b->trainer->session, "table", table, sizeof table), 0);
    for (int64_t row = 0; row < ROWS; row++) {
        float now[UNITS] = {0}, cell[UNITS] = {0}, gate[4 * UNITS];
        for (int64_t t = 0; t < 2 * steps; t++) {
            int32_t word;
            const char *name = t % 2 ? "label b" : "label a";
            assert_int_equal(dataset_read(b->data, split, name, row * length + t / 2, 1, &word), 0);
            for (int k = 0; k < 4 * UNITS; k++) {
                gate[k] = w[2][k] + w[3][k];
                for (int i = 0; i < UNITS; i++)
                    gate[k] += w[0][k * UNITS + i] * table[word * UNITS + i] + w[1][k * UNITS + i] * now[i];
            }
            for (int i = 0; i < UNITS; i++) {
                cell[i] = sigmoid_of(gate[UNITS + i]) * cell[i] + sigmoid_of(gate[i]) * tanhf(gate[2 * UNITS + i]);
                now[i] = sigmoid_of(gate[3 * UNITS + i]) * tanhf(cell[i]);
            }
        }
        for (int i = 0; i < UNITS; i++)
            if (!(fabsf(now[i] - h[row * UNITS + i]) < 1e-5f)) fail_msg("row %d: unit %d of the state differs", (int)row, i);
    }
}

static const struct task_program stream_programs[] = {{"train", PROGRAM_TRAIN, FEED_TRAIN, 1, stream_forward},
                                                      {"evaluate", PROGRAM_EVALUATE, FEED_TEST, 0, stream_forward}, {0}};

static struct task stream_task(const struct task_program *programs)
{
    static const struct task_feed feeds[] = {{"train", SPLIT_TRAIN, ORDER_STREAMS}, {"test", SPLIT_TEST, ORDER_STREAMS}, {0}};
    static const struct metric metrics[] = {{"right", "%", METRIC_RATIO, false}, {0}};
    return (struct task){.name = "second", .title = "Streams", .metrics = metrics, .target = 0.9, .models = task_second.models,
                         .feeds = feeds, .feed = stream_feed, .programs = programs, .rules = stream_rules};
}

// Trains for so many batches; fills in the state of every row, and the weights of the layer.
static void train_streams(const char *setting, int64_t steps, float h[ROWS * UNITS], float w[4][4 * UNITS * UNITS])
{
    static const char *const names[] = {"weight_ih", "weight_hh", "bias_ih", "bias_hh"};
    struct task task = stream_task(stream_programs);
    struct bench b;
    second_open_with(&b, &task, "ref", 1, (const char *const[]){"precision=f32", setting, NULL});
    assert_int_equal(trainer_begin(b.trainer, 3), 0);
    take_steps(&b, steps);
    assert_int_equal(session_get(b.trainer->session, "h", h, ROWS * UNITS * sizeof *h), 0);
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "rnn.%s_l0", names[i]);
        assert_int_equal(session_get(b.trainer->session, name, w[i], (i < 2 ? UNITS : 1) * 4 * UNITS * sizeof **w), 0);
    }
    if (stream_rate == 0) is_whole_sequence(&b, SPLIT_TRAIN, steps, h, w);
    for (int i = 0; i < 2; i++) {  // each evaluation starts from the beginning
        float tested[ROWS * UNITS];
        int64_t score[METRICS_MAX];
        assert_int_equal(trainer_evaluate(b.trainer, score), 0);
        assert_int_equal(session_get(b.trainer->session, "h.0.20", tested, sizeof tested), 0);
        is_whole_sequence(&b, SPLIT_TEST, 130 / ROWS, tested, w);
    }
    bench_close(&b);
}

static const char *const stream_settings[] = {"data.slices=1", "data.slices=2", "data.slices=10", "data.accumulate=5"};

// Weights that stay: after 7 batches the state equals the whole sequence's, with any cuts of batches.
TEST(a_state_follows_its_stream)
{
    float h[2][ROWS * UNITS], w[4][4 * UNITS * UNITS], differs = 0;
    stream_rate = 0;
    for (int i = 0; i < 4; i++) train_streams(stream_settings[i], 7, h[0], w);
    train_streams("data.slices=1", 1, h[1], w);  // and not a batch's alone
    for (int k = 0; k < ROWS * UNITS; k++) differs = fmaxf(differs, fabsf(h[1][k] - h[0][k]));
    assert_true(differs > 0.01f);
}

// The gradient belongs to the state before the batch, though the state is overwritten in the same step.
TEST(a_carried_state_trains)
{
    float h[ROWS * UNITS], want[4][4 * UNITS * UNITS] = {0}, got[4][4 * UNITS * UNITS] = {0};
    stream_rate = 0.5;
    copies_state = true;
    train_streams("data.slices=1", 7, h, want);
    copies_state = false;
    for (int i = 0; i < 4; i++) {
        train_streams(stream_settings[i], 7, h, got);
        for (int k = 0; k < 4 * UNITS * UNITS; k++)
            if (!(fabsf(got[1][k] - want[1][k]) < 1e-5f)) fail_msg("%s: weight %d differs", stream_settings[i], k);
    }
}

// A state file has the rows of all parts, as far as they have turned.
TEST(a_carried_state_is_resumed)
{
    struct task task = stream_task(stream_programs);
    for (int i = 0; i < 4; i++) {
        struct bench b[3];
        struct state *from;
        float h[2][ROWS * UNITS];
        char path[] = "/tmp/dawn-streams-XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0 && close(fd) == 0);
        for (int k = 0; k < 3; k++)  // without a stop, until a stop, and after it
            second_open_with(&b[k], &task, "ref", 1, (const char *const[]){"precision=f32", stream_settings[i], NULL});
        for (int k = 0; k < 2; k++) assert_int_equal(trainer_begin(b[k].trainer, 3), 0);
        take_steps(&b[0], 7);
        take_steps(&b[1], 3);
        assert_int_equal(state_save(path, b[1].trainer, &state_run), 0);
        OK(state_open(path, &from));
        OK(state_load(from, b[2].trainer, &state_run, STATE_SAME));
        state_close(from);
        take_steps(&b[2], 7);
        for (int k = 0; k < 2; k++)
            assert_int_equal(session_get(b[2 * k].trainer->session, "h", h[k], sizeof h[k]), 0);
        assert_memory_equal(h[0], h[1], sizeof h[0]);
        for (int k = 0; k < 3; k++) bench_close(&b[k]);
        unlink(path);
    }
}

// Opens a task with the number of evaluating programs that share their states; returns trainer_new's code.
static int open_streams(int evaluations)
{
    static const char recipe[] = "{\"model\": {\"name\": \"two-bags\"}, \"data\": {\"batch\": 20}}";
    struct task_program programs[PROGRAMS_MAX + 1] = {stream_programs[0]};
    struct task task = stream_task(programs);
    struct bench b = {.choice = {.task = &task}};
    for (int i = 1; i <= evaluations; i++)
        programs[i] = stream_programs[1];
    assert_int_equal(recipe_parse("second", recipe, sizeof recipe - 1, &b.choice.recipe), 0);
    assert_int_equal(device_open("null", 1, &b.device), 0);
    b.choice.data = b.data = second_data(600, 130), b.choice.device = b.device;
    int rc = trainer_new(&b.choice, &b.trainer);
    bench_close(&b);
    return rc;
}

// Programs that share a slot count it once. A state too many is an error, not the end of the program.
TEST(carried_states_are_counted)
{
    assert_int_equal(open_streams(CARRIED_MAX / 2 + 1), 0);
    for (int i = 0; i < 2; i++) {
        more_states[i] = CARRIED_MAX - 2;
        assert_int_equal(open_streams(1), 0);
        more_states[i]++;
        assert_int_equal(open_streams(1), ERR_SHAPE);
        assert_non_null(strstr(error_text(), i ? "evaluation carry more than 8 states" : "a step carries more than 8 states"));
        more_states[i] = 0;
    }
}

TEST(broken_games_are_refused)
{
    struct bench b;
    open_driven(&b, "null", "schedule.epochs=1");
    const struct host *host = task_driven.host;
    const int32_t wrong[6] = {0, 0, 0, 0, 3, 0};
    assert_int_equal(trainer_begin(b.trainer, 1), 0);
    assert_int_equal(host->load(&b.trainer->drive, (const char *)wrong, 5), ERR_INPUT);
    assert_int_equal(host->load(&b.trainer->drive, (const char *)wrong, sizeof wrong), ERR_INPUT);
    assert_int_equal(host->load(&b.trainer->drive, "", 0), ERR_INPUT);
    bench_close(&b);
}

// A state with games and one without are no states of each other's training.
TEST(a_state_has_the_games)
{
    struct task bare = task_driven;
    struct host forgetful = *task_driven.host;
    const struct task *const tasks[] = {&task_driven, &bare};
    static const char *const says[] = {"no state of the host", "a slot \"host \""};
    char path[] = "/tmp/dawn-driven-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    forgetful.save = NULL, bare.host = &forgetful;
    for (int i = 0; i < 2; i++) {
        struct bench from, to;
        struct state *saved;
        second_open_task(&from, tasks[!i], "null", 1, "precision=f32");
        assert_int_equal(trainer_begin(from.trainer, 1), 0);
        assert_int_equal(state_save(path, from.trainer, &state_run), 0);
        bench_close(&from);
        second_open_task(&to, tasks[i], "null", 1, "precision=f32");
        assert_int_equal(state_open(path, &saved), 0);
        assert_int_equal(state_load(saved, to.trainer, &state_run, STATE_SAME), ERR_INPUT);
        assert_non_null(strstr(error_text(), says[i]));
        state_close(saved);
        bench_close(&to);
    }
    unlink(path);
}

static void print_reason(void *context)
{
    (void)context;
    fprintf(stderr, "%s\n", error_text());
}

// With a file's name: trains in two slices, on as many processes as there are, and writes what it learned (cli/ranks_tasks).
static int train_together(const char *path)
{
    struct bench b;
    int64_t score[METRICS_MAX];
    size_t count;
    if (ranks_open() < 0) return 1;
    open_driven(&b, "cpu", "data.slices=2");
    assert_int_equal(trainer_begin(b.trainer, 3), 0);
    take_steps(&b, 15);
    assert_int_equal(trainer_evaluate(b.trainer, score), 0);
    uint8_t *bytes = weights_of(&b, &count);
    memcpy(bytes + count, score, sizeof *score);
    int rc = ranks_rank() == 0 ? file_write(path, bytes, count + sizeof *score) : 0;
    free(bytes);
    bench_close(&b);
    return ranks_close(rc, print_reason, NULL) == RANKS_ALONE || rc < 0;
}

int main(int argc, char **argv)
{
    if (argc == 2) return train_together(argv[1]);
    return run_listed();
}
