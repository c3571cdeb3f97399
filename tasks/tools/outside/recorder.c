// SPDX-License-Identifier: Apache-2.0
// Turns the lines of a child into the rows of a run. Invariants: all times come from this process, are taken when bytes
// arrive, and only grow. The run is in the record as soon as the command runs, so a killed run leaves a trace. A line with
// an impossible figure ends the run as failed. Cost: two fsyncs per epoch; the child runs on meanwhile.
//
// Segments: `init` from exec on, until the program reports a segment. If it reports an epoch first, the end of its
// preparation is unknown. Then all time so far counts as `train`, so no clock is too short. The end of an evaluation always
// opens `train`, so no time is left out of a clock unless the program says so. Reported segments are not verified: a program
// that calls its training `evaluate` is believed (docs/threats.md).
#include "tasks/tools/outside/recorder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "submit/results/machine/instance.h"
#include "submit/results/record.h"
#include "tasks/tools/outside/command.h"
#include "tasks/tools/outside/events.h"
#include "tasks/tools/outside/outside.h"

enum { GRACE_MS = 10000, AGAIN_MS = 100, QUIET_MS = 60000, POLL_MS = 200 };
enum { COMMAND_MOST = 65536 };  // submit/format/fields.c
#define MS ((int64_t)1000000)

struct recorder {
    const struct recorder_options *o;
    struct results *results;
    struct machine_facts machine;
    struct software_facts software;
    char *recipe, *words;  // the command as JSON, and quoted for a shell
};

// A run in progress.
struct recording {
    const struct recorder *all;
    struct stopwatch watch;
    struct child child;
    struct run *run;
    struct outside_stream lines[CHILD_STREAMS];
    int stream;              // the stream of the current line
    int64_t at_ns;           // when its bytes were read
    int64_t now_ns;          // its time, later than the last epoch's
    bool placed;             // the program reported a segment
    int64_t shift;           // 1 if MLPerf's epochs, or TensorBoard's steps, count from 0
    int64_t epoch, epoch_micro, step, samples;  // values of the last point
    bool steps;              // the program counts its steps
    struct events_folder *events;  // NULL: none are read
    int64_t polled_ns;
    double loss;             // the last one in them; NaN: none
    struct recorder_end end;
    char weights[DIGEST_HEX];
    struct machine_meter meter;
    int64_t energy_uj;
    int failed;              // the first error; `why` has its sentence
    char why[ERROR_TEXT_MAX];
    int signals;             // received by us
    bool stopping;           // the target was met, and the command has to end
    int64_t deadline_ns;     // time to kill the command; 0: never
};

// ---- lines

static int64_t in_micro(int64_t epochs)
{
    return epochs < INT64_MAX / 1000000 ? epochs * 1000000 : INT64_MAX;
}

static int take_epoch(struct recording *g, struct outside_epoch e)
{
    const struct recorder_options *o = g->all->o;
    if (e.from_zero && g->end.epochs == 0 && e.epoch == 0) g->shift = 1;
    if (e.epoch < 0) e.epoch = g->epoch + 1;
    else if (e.from_zero) e.epoch += g->shift;
    if (g->end.epochs == 0) g->steps = e.step >= 0;
    if (g->steps != (e.step >= 0))
        return fail(ERR_INPUT, "either every line has a \"step\", or none");
    if (!g->steps && e.epoch <= g->epoch)
        return fail(ERR_INPUT, "epoch %lld comes after epoch %lld", (long long)e.epoch, (long long)g->epoch);
    if (g->steps && e.step <= g->step)
        return fail(ERR_INPUT, "step %lld comes after step %lld", (long long)e.step, (long long)g->step);
    if (!g->steps) e.step = e.epoch;  // it counts epochs
    if (e.epoch_micro < 0) e.epoch_micro = in_micro(e.epoch);
    if (e.epoch_micro < g->epoch_micro)
        return fail(ERR_INPUT, "epoch %g comes after epoch %g", (double)e.epoch_micro / 1e6, (double)g->epoch_micro / 1e6);
    if (e.samples < 0) e.samples = g->samples;
    if (e.samples < g->samples)
        return fail(ERR_INPUT, "%lld samples come after %lld; they are counted from the start", (long long)e.samples,
                    (long long)g->samples);
    if (!g->placed) g->watch.open = SEGMENT_TRAIN;
    g->placed = true;
    stopwatch_enter_at(&g->watch, SEGMENT_IDLE, g->now_ns);  // closes the segment, so that it is stored with the point
    struct run_point point = {.step = e.step, .epoch_micro = e.epoch_micro, .samples = e.samples, .loss = e.loss,
                              .score = {e.k < 0 ? RUN_SCORE_NONE : e.k},
                              .clocks = stopwatch_enter_at(&g->watch, SEGMENT_TRAIN, g->now_ns)};
    machine_energy_uj(&g->meter, &g->energy_uj);
    point.energy_uj = g->energy_uj;
    TRY(result_point(g->run, &point));
    g->epoch = e.epoch, g->epoch_micro = e.epoch_micro, g->step = e.step, g->samples = e.samples;
    g->end.epochs++;
    g->end.last = point.clocks;
    if (e.k >= 0) g->end.k = e.k;
    if (o->tell_epoch != NULL) o->tell_epoch(o, &g->end);
    if (e.k < 0) return 0;
    if (g->end.reached_epoch != 0 || !run_metric_meets(&o->contest->board, e.k, o->target_micro)) return 0;
    g->end.reached = point.clocks;
    g->end.reached_epoch = e.epoch;
    if (o->stop && o->runs == 1) {
        g->stopping = true;
        g->deadline_ns = clock_ns() + GRACE_MS * MS;
        child_signal(&g->child, SIGTERM);
    }
    return 0;
}

static int take_about(struct recording *g, const struct outside_about *a)
{
    if (a->has_seed && a->seed != g->end.seed)
        return fail(ERR_INPUT, "\"seed\" must be %lld, the seed of this run (--seed, $DAWN_SEED); got %lld",
                    (long long)g->end.seed, (long long)a->seed);
    if (*a->weights) memcpy(g->weights, a->weights, sizeof g->weights);
    bool more = *a->model || *a->precision || *a->framework || a->parameters >= 0 || a->flops_per_sample >= 0 || a->batch >= 0 ||
                a->views >= 0 || a->input_size >= 0;
    if (!more) return 0;  // a line with nothing but weights, which are stored at the end
    return result_about(g->run,
                        &(struct run_about){.model = a->model, .precision = a->precision, .framework = a->framework,
                                            .parameters = a->parameters, .flops_per_sample = a->flops_per_sample,
                                            .batch = a->batch, .views = a->views, .input_size = a->input_size});
}

static void take_time(struct recording *g)
{
    int64_t after = g->watch.start_ns + g->end.last.end_to_end_ns + 1;
    g->now_ns = g->at_ns > after ? g->at_ns : after;
}

// Bytes that arrive together get one time. A second epoch among them is a nanosecond later, which the checks of a submission
// notice, because buffered output has no times of its own.
static int take_report(void *context, const char *line, size_t count, int64_t number)
{
    struct recording *g = context;
    struct outside_line said;
    if (g->stopping) return 0;  // the run has ended
    take_time(g);
    int rc = outside_read(line, count, g->all->o->contest, &said);
    if (rc == 0 && said.kind == OUTSIDE_EPOCH) rc = take_epoch(g, said.epoch);
    if (rc == 0 && said.kind == OUTSIDE_ABOUT) rc = take_about(g, &said.about);
    if (rc == 0 && said.kind == OUTSIDE_SEGMENT) {
        g->placed = true;
        stopwatch_enter_at(&g->watch, said.segment, g->now_ns);
    }
    if (rc != ERR_INPUT) return rc;
    return fail_prefix(rc, "line %lld of the command's standard %s: ", (long long)number,
                       g->stream == CHILD_OUT ? "output" : "error");
}

// Each score is an epoch, at the moment when it was found in the file: the writer's own clock proves nothing.
static int take_scalar(void *context, const struct events_scalar *s)
{
    struct recording *g = context;
    const struct recorder_options *o = g->all->o;
    if (o->loss_tag != NULL && strcmp(s->tag, o->loss_tag) == 0) g->loss = s->value;
    if (g->stopping || strcmp(s->tag, o->score_tag) != 0) return 0;
    if (g->end.epochs == 0 && s->step == 0) g->shift = 1;
    if (s->step < 0 || s->step >= INT64_MAX - 1) return fail(ERR_INPUT, "%s has the step %lld", s->tag, (long long)s->step);
    struct outside_epoch e = {.epoch = -1, .step = s->step + g->shift, .epoch_micro = -1, .samples = -1, .loss = g->loss};
    TRY(outside_share(s->tag, s->value, o->contest, &e.k));
    take_time(g);
    return take_epoch(g, e);
}

// ---- the child

// The sentence may quote the program and be cut within a letter. The record must stay valid UTF-8, and a terminal must not
// receive control characters.
static void note_failure(struct recording *g, int rc)
{
    if (rc >= 0 || g->failed < 0) return;
    g->failed = rc;
    snprintf(g->why, sizeof g->why, "%s", error_text());
    for (char *c = g->why; *c != 0; c++)
        if (*c < 0x20 || *c > 0x7e) *c = '?';
    g->deadline_ns = clock_ns() + GRACE_MS * MS;
    child_signal(&g->child, SIGTERM);
}

static void take_bytes(struct recording *g, const struct child_event *e, bool last)
{
    if (g->failed < 0) return;
    g->stream = e->stream;
    g->at_ns = e->at_ns;
    struct outside_stream *lines = &g->lines[e->stream];
    note_failure(g, last ? outside_finish(lines, take_report, g) : outside_feed(lines, g->child.bytes, e->count, take_report, g));
}

static void poll_events(struct recording *g, bool last)
{
    g->at_ns = clock_ns();
    if (g->events == NULL || g->failed < 0 || (!last && g->at_ns - g->polled_ns < POLL_MS * MS)) return;
    g->polled_ns = g->at_ns;
    note_failure(g, events_folder_poll(g->events, take_scalar, g));
}

static void pass_signal(struct recording *g, int number)
{
    child_signal(&g->child, g->signals++ == 0 ? number : SIGKILL);
}

static int time_to_wait_ms(const struct recording *g)
{
    if (g->deadline_ns == 0) return g->events != NULL ? POLL_MS : QUIET_MS;
    int64_t left = (g->deadline_ns - clock_ns()) / MS;
    return left > 0 ? (int)left + 1 : 0;
}

static void follow_child(struct recording *g)
{
    struct child_event e;
    for (;;) {
        child_next(&g->child, time_to_wait_ms(g), &e);
        poll_events(g, e.kind == CHILD_ENDED);
        if (g->deadline_ns != 0 && clock_ns() > g->deadline_ns) {
            child_signal(&g->child, SIGKILL);
            g->deadline_ns = clock_ns() + AGAIN_MS * MS;  // exiting takes a while; do not spin until then
        }
        if (e.kind == CHILD_BYTES) take_bytes(g, &e, false);
        if (e.kind == CHILD_CLOSED) take_bytes(g, &e, true);
        if (e.kind == CHILD_SIGNAL) pass_signal(g, e.signal);
        if (e.kind == CHILD_ENDED) break;
    }
    for (int i = 0; i < CHILD_STREAMS; i++)  // a pipe that another process still holds open
        take_bytes(g, &(struct child_event){.stream = i, .at_ns = clock_ns()}, true);
}

static int start_child(struct recording *g)
{
    const struct recorder_options *o = g->all->o;
    char **words = command_with_seed(o->command, g->end.seed), **environment = command_environment(g->end.seed);
    machine_meter_start(&g->meter);
    stopwatch_start_at(&g->watch, clock_ns(), SEGMENT_INIT);
    int rc = child_start(&g->child, words, environment, o->onto);
    command_free(words);
    command_free(environment);
    return rc;
}

// ---- the record

static int begin_record(struct recording *g, int64_t group)
{
    const struct recorder *all = g->all;
    const struct recorder_options *o = all->o;
    struct run_facts facts = {
        .task = o->contest->name, .metrics = &o->contest->board, .metric_count = 1, .target_micro = o->target_micro,
        .model = o->model,
        .recipe = "outside", .recipe_json = all->recipe, .precision = "unknown", .device = "outside", .seed = g->end.seed,
        .stop_at_target = o->stop && o->runs == 1, .machine = &all->machine,
        .software = &all->software, .price = o->price, .stopwatch = &g->watch, .group = group,
        .group_index = group ? g->end.index : 0, .labels = o->labels,
    };
    TRY(result_begin(all->results, &facts, &g->run));
    g->end.run = result_id(g->run);
    return result_outside(g->run, all->words, o->framework, o->devices);
}

static int judge_run(struct recording *g, const struct child_end *child)
{
    if (g->failed < 0) return fail(g->failed, "%s", g->why);
    if (g->signals > 0)
        return fail(ERR_INTERRUPTED, "stopped by a signal after %lld epoch%s; the record so far is kept",
                    (long long)g->end.epochs, g->end.epochs == 1 ? "" : "s");
    if (g->stopping) return 0;
    if (child->signal) return fail(ERR_INPUT, "the command was ended by signal %d (%s)", child->signal, strsignal(child->signal));
    if (child->status != 0) return fail(ERR_INPUT, "the command ended with exit status %d", child->status);
    const struct recorder_options *o = g->all->o;
    if (g->end.epochs == 0 && o->events != NULL)
        return fail(ERR_MISSING, "no event file with a scalar \"%s\" was written below %s", o->score_tag, o->events);
    if (g->end.epochs == 0)
        return fail(ERR_MISSING, "the command reported no epoch; docs/record.md shows the line that it must print");
    return 0;
}

static int end_record(struct recording *g, int rc, const struct child_end *child)
{
    char why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", rc < 0 ? error_text() : "");
    machine_energy_uj(&g->meter, &g->energy_uj);
    struct run_end end = {.peak_memory_bytes = child->peak_memory, .energy_uj = g->energy_uj,
                          .weights_digest = *g->weights ? g->weights : NULL, .message = rc < 0 ? why : NULL};
    enum run_status status = rc == ERR_INTERRUPTED ? RUN_INTERRUPTED : rc < 0 ? RUN_FAILED : RUN_DONE;
    int ended = result_end(g->run, status, &end, &status);
    g->end.status = run_status_name(status);
    if (g->all->o->tell != NULL) g->all->o->tell(g->all->o, &g->end);
    return rc < 0 ? fail(rc, "%s", why) : ended;
}

// Fails if output was lost, or if a run outside a group did not meet the target.
static int check_score(const struct recording *g)
{
    const struct recorder_options *o = g->all->o;
    if (g->child.write_errno != 0) return fail_errno(ERR_IO, g->child.write_errno, "cannot pass on all of the command's output");
    if (o->runs > 1) return 0;
    if (g->end.k < 0) return fail(ERR_TARGET, "the command reported no evaluation");
    const struct run_metric *board = &o->contest->board;
    char score[TEXT_FIGURE], target[TEXT_FIGURE];
    if (run_metric_meets(board, g->end.k, o->target_micro)) return 0;
    return fail(ERR_TARGET, "the score of %s is %s the target of %s", run_metric_text(board, g->end.k, score),
                board->lower_is_better ? "above" : "below",
                run_metric_value_text(board, (double)o->target_micro / 1e6, target));
}

static int record_one(const struct recorder *all, int64_t group, int64_t index)
{
    struct recording *g = zalloc(sizeof *g);
    struct child_end child;
    g->all = all, g->loss = NAN;
    if (all->o->events != NULL) g->events = events_folder_new(all->o->events);
    g->end = (struct recorder_end){.index = index, .planned = all->o->runs, .seed = all->o->seed + index - 1, .k = -1};
    int rc = start_child(g);
    if (rc == 0) {
        note_failure(g, begin_record(g, group));
        follow_child(g);
        child_reap(&g->child, g->failed < 0 || g->signals > 0 || g->stopping, &child);
        rc = judge_run(g, &child);
        if (g->run != NULL) rc = end_record(g, rc, &child);
        if (rc == 0) rc = check_score(g);
    }
    for (int i = 0; i < CHILD_STREAMS; i++) outside_free(&g->lines[i]);
    events_folder_free(g->events);
    stopwatch_free(&g->watch);
    machine_meter_stop(&g->meter);
    free(g);
    return rc;
}

static int record_all(const struct recorder *all, int64_t *id)
{
    const struct recorder_options *o = all->o;
    struct group_plan plan = {o->contest->name, o->model, "outside", o->target_micro, o->runs, NULL};
    TRY(result_group_begin(all->results, &plan, id));
    int rc = 0;
    for (int64_t i = 1; i <= o->runs && rc == 0; i++) rc = record_one(all, *id, i);
    char why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", error_text());
    int closed = result_group_end(all->results, *id);
    if (rc < 0) return fail(rc, "%s", why);
    TRY(closed);
    struct group_facts facts;
    json_t *runs;
    TRY(record_group(all->results, *id, &runs, &facts));
    json_decref(runs);
    if (facts.meets) return 0;
    const struct run_metric *board = &o->contest->board;
    char mean[TEXT_FIGURE], target[TEXT_FIGURE];
    return fail(ERR_TARGET, "the mean score of %s is %s the target of %s",
                run_metric_value_text(board, facts.accuracy.mean, mean), board->lower_is_better ? "above" : "below",
                run_metric_value_text(board, (double)o->target_micro / 1e6, target));
}

static int check_option(const char *name, const char *value, size_t most)
{
    return outside_check_words(name, value, most) < 0 ? ERR_USAGE : 0;  // with the same sentence
}

static int check_and_open(struct recorder *all)
{
    const struct recorder_options *o = all->o;
    TRY(check_option("--model", o->model, 96));
    TRY(check_option("--framework", o->framework, 64));
    TRY(command_write(o->command, COMMAND_MOST, &all->recipe, &all->words));
    machine_read(&all->machine);
    if (o->gpu != NULL) {
        TRY(check_option("--gpu", o->gpu, MACHINE_TEXT - 1));
        if (*all->machine.gpu && strcmp(all->machine.gpu, o->gpu) != 0)
            return fail(ERR_USAGE, "this machine reports \"%s\"; --gpu is for GPUs that it does not report", all->machine.gpu);
        snprintf(all->machine.gpu, sizeof all->machine.gpu, "%s", o->gpu);
    }
    if (o->price != NULL) TRY(instance_check(o->price, &all->machine));
    TRY(machine_software(&all->software));
    return results_open(o->database, RESULTS_WRITE, &all->results);
}

int recorder_run(const struct recorder_options *o, int64_t *group)
{
    BUG_IF(o->command == NULL || o->command[0] == NULL || o->runs < 1);
    struct recorder all = {.o = o};
    *group = 0;
    int rc = check_and_open(&all);
    if (rc == 0) rc = o->runs > 1 ? record_all(&all, group) : record_one(&all, 0, 1);
    results_close(all.results);
    free(all.recipe);
    free(all.words);
    return rc;
}
