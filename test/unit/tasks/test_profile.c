// SPDX-License-Identifier: Apache-2.0
// Trials, profiles and traces on devices whose figures do not matter: sums, shapes, and refusals.
#include "tasks/tools/profile/trace.h"
#include "test/unit/test.h"
#include "test/second/second.h"
#include "test/unit/fixture_record.h"

#include <jansson.h>

#include "tasks/cifar10/cifar10_keys.h"

// The second task has keys of its own; a test's table takes the place of the program's.
const struct recipe_table *const recipe_tables[] = {&recipe_table_cifar10, &second_recipes, NULL};

static struct trial_choice choice_of(const struct bench *b, int64_t side)
{
    return (struct trial_choice){.task = b->choice.task, .recipe = &b->choice.recipe, .data = b->data, .device = b->device,
                                 .fuse = FUSE_ALL, .side = side};
}

static void open_trial(struct trial *t, const struct bench *b, int64_t side)
{
    const struct trial_choice choice = choice_of(b, side);
    const struct device_facts facts = {.peak_flops = {[F32] = 1e12}, .peak_bytes = 1e11, .threads = 1, .name = "a test"};
    if (trial_open(t, &choice, &facts) < 0 || trial_ready(t) < 0) fail_msg("%s", error_text());
}

static void open_cifar(struct bench *b)
{
    static const char *const settings[] = {"widths=8,8,8", "batch=50", "precision=f32", NULL};
    bench_open(b, "null", 0, 600, 100, "cifar10", settings);
}

// Buckets go by length: the batch that is staged is one of the variant's.
TEST_WITH(test_batches_of_a_variant, setup, leave)
{
    struct bench b;
    second_open(&b, "null", 1, "precision=f32");
    trainer_free(b.trainer);
    b.trainer = NULL;
    const int64_t sides[] = {8, 16, SECOND_LONGEST};
    for (int i = 0; i < 3; i++) {
        struct trial t;
        int64_t samples, all = 0;
        open_trial(&t, &b, sides[i]);
        assert_int_equal(t.variant->side, sides[i]);
        assert_int_equal(t.bucket, i);
        for (int64_t step = 0; step <= t.trainer->steps_per_epoch; step++, all += samples) {  // past the end of the epoch
            assert_int_equal(trial_next(&t, &samples), 0);
            assert_int_equal(trial_step(&t), 0);
        }
        assert_int_equal(all, (t.trainer->steps_per_epoch + 1) * 20);
        trial_close(&t);
    }
    struct trial t;
    const struct trial_choice wrong = choice_of(&b, 7);
    const struct device_facts none = {0};
    assert_int_equal(trial_open(&t, &wrong, &none), ERR_USAGE);
    trial_close(&t);
    bench_close(&b);
}

// ---- memory

static void check_layers(const struct session *s, int program)
{
    const struct plan *p = s->plan[program];
    struct profile_layers l;
    size_t all = 0;
    profile_layers_of(s, program, &l);
    for (int c = 0; c < MEMORY_CLASSES; c++) assert_int_equal(l.sum.bytes[c], p->memory[c]);
    assert_int_equal(l.sum.all, p->total);
    for (int i = 0; i < l.rows; i++) {
        assert_true(i == 0 || l.row[i - 1].all >= l.row[i].all);
        all += l.row[i].all;
    }
    assert_int_equal(all, p->total);
    profile_layers_shorten(&l, 3);
    assert_true(l.rows <= 3);
    assert_int_equal(l.row[0].all + (l.rows > 1 ? l.row[1].all : 0) + (l.rows > 2 ? l.row[2].all : 0), p->total);
    profile_layers_free(&l);
}

static const struct profile_layers_row *find_layer(const struct profile_layers *l, const char *name)
{
    for (int i = 0; i < l->rows; i++)
        if (!strcmp(l->row[i].name, name)) return &l->row[i];
    fail_msg("there is no layer %s", name);
    return NULL;
}

TEST_WITH(test_layers_sum_to_the_plan, setup, leave)
{
    const char *const devices[] = {"null", "cpu"};  // the cpu keeps packed filters and requires workspace
    for (int i = 0; i < 2; i++) {
        static const char *const settings[] = {"widths=8,8,8", "batch=50", "precision=f32", NULL};
        struct bench b;
        struct profile_layers l;
        bench_open(&b, devices[i], 1, 600, 100, "cifar10", settings);
        assert_int_equal(trainer_new(&b.choice, &b.trainer), 0);
        for (int program = 0; program < b.trainer->session->programs; program++) check_layers(b.trainer->session, program);
        profile_layers_of(b.trainer->session, b.trainer->variant[0].program, &l);
        const struct profile_layers_row *group = find_layer(&l, "group2.2");  // 3 x 3 filters of 8 x 8 channels, and a bias
        assert_int_equal(group->bytes[MEMORY_WEIGHTS], 9 * 8 * 8 * 4 + PLAN_ALIGN);
        assert_true(group->bytes[MEMORY_OPTIMISER] >= 9 * 8 * 8 * 4);
        profile_layers_free(&l);
        bench_close(&b);
    }
    struct bench b;
    second_open(&b, "null", 1, "precision=f32");
    for (int program = 0; program < b.trainer->session->programs; program++) check_layers(b.trainer->session, program);
    bench_close(&b);
}

// ---- a profile

TEST_WITH(test_profile_and_its_tables, setup, leave)
{
    struct bench b;
    struct trial t;
    struct profile *p = zalloc(sizeof *p);
    open_cifar(&b);
    open_trial(&t, &b, 0);
    if (profile_run(&t, 0.05, NULL, p) < 0) fail_msg("%s", error_text());
    double flops = 0;
    int nodes = 0;
    for (int i = 0; i < p->passes.rows; i++) flops += p->passes.row[i].flops, nodes += p->passes.row[i].nodes;
    assert_int_equal(nodes, trial_plan(&t)->count);
    assert_int_equal(p->nodes.rows, nodes);
    assert_true(p->flops == flops && p->model_flops > 0 && p->model_flops < p->flops);  // Muon's products are not the model's
    assert_true(p->steps >= 5 && p->samples == (int64_t)p->steps * 50);
    for (int i = 0; i < p->steps; i++)
        assert_true(p->step[i].begin_ns <= p->step[i].fed_ns && p->step[i].fed_ns <= p->step[i].end_ns);
    struct text text = {0};
    profile_text(&t, p, 8, 30, &text);
    assert_null(strstr(text.at, "nan"));
    assert_null(strstr(text.at, "inf"));
    assert_non_null(strstr(text.at, "conv "));
    assert_non_null(strstr(text.at, "backward"));
    assert_non_null(strstr(text.at, "group2.2"));
    for (char *line = text.at; line; line = strchr(line, '\n'), line += line != NULL)
        if (strcspn(line, "\n") > TEXT_WIDTH) fail_msg("too wide: %s", line);
    text_free(&text);
    json_t *o = profile_json(&t, p);
    assert_int_equal(json_array_size(json_object_get(o, "nodes")), nodes);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(o, "memory"), "total_bytes")),
                     trial_plan(&t)->total);
    json_decref(o);
    profile_free(p);
    free(p);
    trial_close(&t);
    bench_close(&b);
}

// ---- the trace

// What a trace says of a process (thread 0) or of a thread. Its spans and counters end by `end`, in nanoseconds as Perfetto
// computes them; `bytes` is the last sum of the counters.
struct track {
    int64_t process, thread, end, bytes;
    bool named;
};
struct tracks {
    struct track at[16];
    int count, spans;
};

static struct track *find_track(struct tracks *t, int64_t process, int64_t thread)
{
    for (int i = 0; i < t->count; i++)
        if (t->at[i].process == process && t->at[i].thread == thread) return &t->at[i];
    assert_in_range(t->count, 0, 15);
    t->at[t->count] = (struct track){.process = process, .thread = thread};
    return &t->at[t->count++];
}

static int64_t perfetto_ns(const json_t *e, const char *member)
{
    const json_t *time = json_object_get(e, member);
    assert_true(json_is_number(time) && json_number_value(time) >= 0);
    return (int64_t)(json_number_value(time) * 1000.0);
}

static void check_members(const json_t *e, const char *const *members)
{
    size_t count = 0;
    for (; members[count]; count++)
        if (!json_object_get(e, members[count])) fail_msg("an event without \"%s\"", members[count]);
    assert_int_equal(json_object_size(e), count + (json_object_get(e, "args") && strcmp(members[count - 1], "args")));
}

// Name of a process or a thread. Perfetto requires it before the events that it names.
static void check_name(const json_t *e, struct tracks *t)
{
    static const char *const members[] = {"name", "ph", "pid", "tid", "args", NULL};
    const char *name = json_string_value(json_object_get(e, "name"));
    bool process = !strcmp(name, "process_name");
    check_members(e, members);
    assert_true(process || !strcmp(name, "thread_name"));
    int64_t thread = json_integer_value(json_object_get(e, "tid"));
    struct track *track = find_track(t, json_integer_value(json_object_get(e, "pid")), process ? 0 : thread);
    assert_false(track->named);
    assert_true(process || thread > 0);
    assert_true(process || thread != track->process);  // Perfetto would call it the main thread
    assert_true(json_string_length(json_object_get(json_object_get(e, "args"), "name")) > 0);
    track->named = true;
}

static void check_counter(const json_t *e, struct tracks *t)
{
    static const char *const members[] = {"name", "ph", "pid", "ts", "args", NULL};
    const char *key;
    json_t *value;
    check_members(e, members);
    struct track *process = find_track(t, json_integer_value(json_object_get(e, "pid")), 0);
    int64_t at = perfetto_ns(e, "ts");
    assert_true(process->named && at >= process->end);
    process->end = at;
    process->bytes = 0;
    assert_true(json_object_size(json_object_get(e, "args")) > 0);
    json_object_foreach(json_object_get(e, "args"), key, value)
    {
        assert_true(json_is_integer(value) && json_integer_value(value) >= 0);
        process->bytes += json_integer_value(value);
    }
}

// Spans of a thread follow each other: those that overlap without one inside the other are dropped by Perfetto.
static void check_span(const json_t *e, struct tracks *t)
{
    static const char *const members[] = {"name", "cat", "ph", "pid", "tid", "ts", "dur", NULL};
    int64_t process = json_integer_value(json_object_get(e, "pid")), thread = json_integer_value(json_object_get(e, "tid"));
    check_members(e, members);
    assert_true(json_string_length(json_object_get(e, "name")) > 0 && json_is_string(json_object_get(e, "cat")));
    assert_true(find_track(t, process, 0)->named);
    struct track *track = find_track(t, process, thread);
    int64_t from = perfetto_ns(e, "ts");
    assert_true(track->named && thread > 0);
    if (from < track->end) fail_msg("a span at %lld ns overlaps one until %lld", (long long)from, (long long)track->end);
    track->end = from + perfetto_ns(e, "dur");
    t->spans++;
}

// What the Trace Event Format demands of each kind of event.
static void check_event(const json_t *e, struct tracks *t)
{
    const char *phase = json_string_value(json_object_get(e, "ph"));
    assert_non_null(phase);
    assert_true(json_is_string(json_object_get(e, "name")) && json_is_integer(json_object_get(e, "pid")));
    if (!strcmp(phase, "M")) check_name(e, t);
    else if (!strcmp(phase, "C")) check_counter(e, t);
    else if (!strcmp(phase, "X")) check_span(e, t);
    else fail_msg("an event of kind %s", phase);
}

// Times of which the nearest number of microseconds loses one: 1000 * 1.001 is less than 1001. Returns their sum.
static int64_t set_times(struct trial *t)
{
    int64_t sum = 0, lost = 0;
    for (int at = 0; at < trial_plan(t)->count; at++) {
        t->ns[at] = at % 5 ? 1001 : 12345678 + at;
        lost += (int64_t)((double)sum / 1000 * 1000) < sum || (int64_t)((double)t->ns[at] / 1000 * 1000) < t->ns[at];
        sum += t->ns[at];
    }
    assert_true(lost > 10);
    return sum;
}

TEST_WITH(test_trace, setup, leave)
{
    struct bench b;
    struct trial t;
    struct profile *p = zalloc(sizeof *p);
    struct tracks tracks = {0};
    char path[128];
    json_error_t error;
    size_t i;
    json_t *e;
    int64_t end = 0;
    open_cifar(&b);
    open_trial(&t, &b, 0);
    assert_int_equal(profile_run(&t, 0.01, NULL, p), 0);
    int64_t sum = set_times(&t);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    assert_int_equal(trace_write(&t, p, path), 0);
    json_t *o = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (!o) fail_msg("%s", error.text);
    assert_int_equal(json_object_size(o), 3);
    assert_string_equal(json_string_value(json_object_get(o, "displayTimeUnit")), "ms");
    assert_true(json_is_object(json_object_get(o, "otherData")) && json_is_array(json_object_get(o, "traceEvents")));
    json_array_foreach(json_object_get(o, "traceEvents"), i, e) check_event(e, &tracks);
    assert_int_equal(tracks.spans, trial_plan(&t)->count + 2 * p->steps);
    assert_int_equal(tracks.count, 2 + 3 + 2);  // processes, passes, feed and steps
    for (int k = 0; k < tracks.count; k++)
        if (tracks.at[k].process == 10 && tracks.at[k].thread && tracks.at[k].end > end) end = tracks.at[k].end;
    assert_int_equal(end, sum);  // nothing was lost by rounding
    assert_int_equal(find_track(&tracks, 10, 0)->end, sum);
    assert_int_equal(find_track(&tracks, 10, 0)->bytes, 0);  // the slab is empty when the step has ended
    json_decref(o);
    snprintf(path, sizeof path, "%s/none/trace.json", folder);
    assert_int_equal(trace_write(&t, p, path), ERR_IO);
    profile_free(p);
    free(p);
    trial_close(&t);
    bench_close(&b);
}
