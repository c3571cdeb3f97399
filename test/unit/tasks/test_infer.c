// SPDX-License-Identifier: Apache-2.0
// Inference of a streamed task (test/second): one sample at a time and in batches, own weights and another program's,
// with the score that its training ended with.
#include "test/unit/test.h"
#include "test/second/second.h"

#include "tasks/cifar10/cifar10_keys.h"
#include "tasks/tools/choose.h"
#include "tasks/tools/infer/infer_inside.h"

const struct recipe_table *const recipe_tables[] = {&recipe_table_cifar10, &second_recipes, NULL};

static char path[32], written[64];

static int remember_answers(void *state, const char *file)
{
    (void)state;
    snprintf(written, sizeof written, "%s", file);
    return 0;
}

// Trains the task and saves its weights under `path`; says the scores.
static void save(const struct task *task, bool own, int64_t score[METRICS_MAX])
{
    struct bench b;
    char digest[DIGEST_HEX];
    second_open_task(&b, task, "cpu", 2, "precision=f32");
    score[0] = second_train_both(&b, 1, &score[1]);
    char *recipe = recipe_json(&b.choice.recipe);
    struct checkpoint_meta meta[] = {{"task", task->name}, {"recipe", recipe}, {NULL, NULL}};
    if (checkpoint_save(path, b.trainer->session, own ? meta : NULL, digest) < 0) fail_msg("%s", error_text());
    free(recipe);
    bench_close(&b);
}

static struct infer_options choice_of(const struct task *task, struct dataset *data)
{
    return (struct infer_options){.task = task, .data = data, .files = {.weights = path}, .device = "cpu", .threads = 1,
                                  .precision = PRECISION_F32};
}

static void measure(const struct infer_options *o, struct infer_figures *f)
{
    if (infer_measure(o, f) < 0) fail_msg("%s", error_text());
}

SETUP(enter)
{
    strcpy(path, "/tmp/dawn-infer-XXXXXX");
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

SETUP(leave)
{
    return unlink(path);
}

// Singles, batches and the training agree; times are there for singles.
TEST_WITH(scores_agree, enter, leave)
{
    struct task task = task_second;
    for (int viewed = 0; viewed < 2; viewed++) {
        int64_t want[METRICS_MAX];
        struct dataset *data = second_data(600, 130);
        task.view = viewed ? second_view : NULL;
        save(&task, true, want);
        struct infer_options o = choice_of(&task, data);
        o.threads = 2, o.warmup = 5, o.singles = true;
        struct infer_figures f;
        measure(&o, &f);
        assert_int_equal(f.items, 130);
        assert_int_equal(f.score[0], want[0]);
        assert_int_equal(f.score[1], want[1]);
        assert_true(f.whole_ns.p50 > f.model_ns.p50 && f.model_ns.p50 > 0 && f.model_ns.p99 >= f.model_ns.p50);
        assert_string_equal(f.recipe.model, "two-bags");
        o.singles = false;
        measure(&o, &f);
        assert_int_equal(f.items, 130);
        assert_int_equal(f.score[0], want[0]);
        assert_int_equal(f.score[1], want[1]);
        assert_int_equal(f.whole_ns.mean, 0);
        o.singles = true, o.items = 10;
        measure(&o, &f);
        assert_int_equal(f.items, 10);
        o.limit_ns = 1, o.warmup = 1000000000;  // the time of a trial is over at once
        measure(&o, &f);
        assert_true(f.items == 1 && f.whole_ns.p50 > 0);
        dataset_close(data);
    }
}

// Requests whose answers several programs compute.
TEST_WITH(answers_are_decoded, enter, leave)
{
    int64_t want[METRICS_MAX];
    struct infer_figures f;
    struct dataset *data = second_data(600, 130);
    save(&task_driven, true, want);
    struct infer_options o = choice_of(&task_driven, data);
    o.threads = 2, o.warmup = 5;
    for (int singles = 0; singles < 2; singles++) {
        o.singles = singles;
        measure(&o, &f);
        assert_true(f.items == 130 && f.score[0] == want[0] && llabs(f.score[1] - want[1]) < 10);
    }
    dataset_close(data);
}

TEST_WITH(other_weights_need_a_model, enter, leave)
{
    int64_t want[METRICS_MAX];
    struct recipe recipe;
    struct infer_figures f;
    static const char text[] = "{\"model\": {\"name\": \"two-bags\"}}";
    assert_int_equal(recipe_parse("second", text, sizeof text - 1, &recipe), 0);
    struct dataset *data = second_data(600, 130);
    save(&task_second, false, want);
    struct infer_options o = choice_of(&task_second, data);
    assert_fails(infer_measure(&o, &f), ERR_INPUT, "--model");
    o.recipe = &recipe;
    measure(&o, &f);
    assert_int_equal(f.score[0], want[0]);
    assert_string_equal(f.imported, "4 tensors");
    dataset_close(data);
}

TEST_WITH(answers_are_written, enter, leave)
{
    int64_t want[METRICS_MAX];
    struct infer_figures f;
    struct dataset *data = second_data(600, 130);
    struct task task = task_second;
    save(&task, true, want);
    struct infer_options o = choice_of(&task, data);
    o.answers = "answers.json";
    assert_fails(infer_measure(&o, &f), ERR_USAGE, "no file of predictions");
    struct judge judge = *task.judge;
    judge.write = remember_answers;
    task.judge = &judge;
    measure(&o, &f);
    assert_string_equal(written, "answers.json");
    dataset_close(data);
}

TEST_WITH(damaged_weights_are_told, enter, leave)
{
    int64_t want[METRICS_MAX];
    struct infer_figures f;
    struct dataset *data = second_data(600, 130);
    save(&task_second, true, want);
    char *bytes;
    size_t count;
    assert_int_equal(file_read(path, 1 << 20, &bytes, &count), 0);
    memset(bytes + count - 4, 0xff, 4);
    assert_int_equal(file_write(path, bytes, count), 0);
    free(bytes);
    struct infer_options o = choice_of(&task_second, data);
    o.singles = true;
    assert_fails(infer_measure(&o, &f), ERR_INPUT, "not a number");
    dataset_close(data);
}

// The smallest time that at least `percent` of a hundred items do not exceed, found by counting.
static int64_t count_percentile(const int64_t *ns, int64_t n, int percent)
{
    int64_t best = INT64_MAX;
    for (int64_t i = 0; i < n; i++) {
        int64_t within = 0;
        for (int64_t k = 0; k < n; k++) within += ns[k] <= ns[i];
        if (100 * within >= percent * n && ns[i] < best) best = ns[i];
    }
    return best;
}

TEST(percentiles_are_nearest_ranks)
{
    static const int64_t counts[] = {1, 2, 3, 4, 9, 10, 11, 99, 100, 101, 500};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        int64_t ns[500], n = counts[c], sum = 0;
        for (int64_t i = 0; i < n; i++) sum += ns[i] = 1000 + 10 * (i * 7919 % n);
        int64_t p50 = count_percentile(ns, n, 50), p90 = count_percentile(ns, n, 90), p99 = count_percentile(ns, n, 99);
        struct latency_times t = infer_summarise(ns, n);
        assert_true(t.p50 == p50 && t.p90 == p90 && t.p99 == p99);
        assert_int_equal(t.mean, (sum + n / 2) / n);
    }
}

// A share lies between 0 and 1, a score of another unit below a million. Of two targets the harder one counts.
TEST(a_target_has_the_range_of_its_metric)
{
    static const struct metric share[] = {{"f1", "", METRIC_RATIO, false}, {0}},
                               bleu[] = {{"bleu", "BLEU", METRIC_RATIO, false}, {0}},
                               loss[] = {{"loss", "nat", METRIC_MEAN, true}, {0}};
    struct task task = {.metrics = share, .target = 0.75};
    double target;
    assert_int_equal(choose_target(&task, NAN, &target), 0);
    assert_true(target == 0.75);
    assert_fails(choose_target(&task, 25, &target), ERR_USAGE, "write 25 as 0.25");
    assert_int_equal(choose_target(&task, 1.5, &target), ERR_USAGE);
    assert_true(choose_harder(&task, 0.5, 0.6) == 0.6);
    task.metrics = bleu;
    assert_int_equal(choose_target(&task, 25, &target), 0);
    assert_true(target == 25);
    task.metrics = loss;
    assert_fails(choose_target(&task, -1.5, &target), ERR_USAGE, "between 0.000001 and 1000000");
    assert_int_equal(choose_target(&task, INFINITY, &target), ERR_USAGE);
    assert_true(choose_harder(&task, 0.5, 0.6) == 0.5);
}
