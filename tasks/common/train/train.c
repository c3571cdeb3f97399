// SPDX-License-Identifier: Apache-2.0
// Each run of a group makes everything again (device, plan, memory, data), so that its end-to-end time is complete. Runs
// share only the process.
#include "tasks/common/train/train_inside.h"

#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"
#include "runtime/common/base/whole.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/fuse.h"
#include "runtime/ranks/ranks.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/group.h"
#include "tasks/common/train/digests.h"
#include "submit/results/record.h"
#include "tasks/common/train/resume.h"
#include "tasks/common/train/memory_fit.h"
#include "tasks/common/train/standing.h"
#include "tasks/common/train/trainer.h"

#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

// A second signal ends the process at once.
static void watch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    stopped = 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static bool is_stopped(void) { return stopped; }

static int check_stopped(void)
{
    return stopped ? fail(ERR_INTERRUPTED, "stopped by a signal before the training of this run began") : 0;
}

static struct run_metric board_metric(const struct training *r)
{
    struct run_metric metrics[METRICS_MAX];
    train_metrics(r, metrics);
    return metrics[0];
}

// ---- clocks and energy

static int64_t peak_memory(const struct training *r)
{
    return r->device && r->device->type->taken ? (int64_t)r->device->type->taken(r->device) : machine_peak_memory();
}

// ---- making ready

static bool read_device(void *context, int64_t *uj)
{
    struct device *device = context;
    return device->type->energy_uj(device, uj);
}

// A resident data set will be read whole.
static void want_all(struct dataset *data)
{
    const struct dataset_facts *f = dataset_facts(data);
    for (int s = 0; s < SPLIT_COUNT; s++)
        for (int i = 0; i < f->fields; i++) dataset_want(data, (enum split)s, f->field[i].name, 0, f->count[s]);
}

static int check_scored_set(const struct training *r)
{
    char scored[DIGEST_HEX] = "";
    if (r->o->task->scored_digest) r->o->task->scored_digest(r->trainer->view, scored);
    return digests_check_scored(r->o->task, dataset_facts(r->data), scored);
}

// Opening a GPU takes up to a second. Files are read and hashed meanwhile.
static int prepare(struct training *r)
{
    const struct train_options *o = r->o;
    stopwatch_enter(&r->watch, SEGMENT_INIT);
    TRY(dataset_open(o->data_name, o->data_folder, &r->data));
    TRY(digests_start(r->data, &o->files, &r->digests));
    if (!o->task->feed) want_all(r->data);
    TRY(device_open_shared(o->device, o->threads, &r->device));
    if (r->device->type->energy_uj) r->gpu = machine_counter_start(read_device, r->device);
    TRY(train_ticket_ask(r, is_stopped));
    TRY(check_stopped());
    progress_note(&r->progress, "planning");
    struct trainer_choice choice = {o->task, o->recipe, r->data, r->device, FUSE_ALL, o->files};
    TRY(trainer_new(&choice, &r->trainer));
    TRY(train_check_seed(r));
    TRY(memory_fit_check(r->trainer));
    stopwatch_enter(&r->watch, SEGMENT_COMPILE);
    TRY(check_stopped());
    progress_note(&r->progress, "compiling");
    TRY(trainer_ready(r->trainer));
    TRY(check_stopped());
    TRY(r->device->type->facts(r->device, &r->device_facts));  // the device loads its libraries only when it compiles
    stopwatch_enter(&r->watch, SEGMENT_DATA);
    progress_note(&r->progress, "loading the data");
    TRY(trainer_load(r->trainer));
    TRY(check_stopped());
    progress_note(&r->progress, "computing the digests of the data");
    TRY(digests_wait(r->digests));
    TRY(check_scored_set(r));
    TRY(evaluation_check(&r->trainer->evaluation));
    return check_stopped();
}

// Estimates the rest of the group from its finished runs. Unknown during the first run.
static double group_left(const struct training *r)
{
    int64_t done = r->index - 1, left = r->o->runs - done;
    if (done < 1) return -1;
    return (double)(clock_ns() - r->kept->began_ns) * 1e-9 / (double)done * (double)left;
}

static void announce(struct training *r)
{
    char devices[TRAIN_DEVICES];
    const struct trainer *t = r->trainer;
    struct text standing = {0}, note = {0};
    if (r->o->task->note) r->o->task->note(&t->setting, t->view ? t->view : r->data, &note);
    const struct standing counts = {.task = r->o->task, .recipe = &r->o->recipe, .data = dataset_facts(r->data),
                                    .target = r->o->target, .runs = r->o->runs, .views = trainer_views(t),
                                    .files = task_files_any(&r->o->files),
                                    .emulated = strstr(r->device_facts.gpu, "(emulated") != NULL};
    bool eligible = standing_text(&counts, &standing);
    struct progress_start start = {
        .task = r->o->task->title, .data = dataset_facts(r->data)->title, .model = t->setting.model->name,
        .recipe = r->o->recipe.name, .precision = dtype_name(t->setting.dtype), .device = train_devices_text(r, devices),
        .run = r->run ? result_id(r->run) : 0, .seed = r->seed,
        .parameters = trainer_parameters(t), .steps = t->steps, .steps_per_epoch = t->steps_per_epoch,
        .batch = r->o->recipe.batch, .memory = (int64_t)t->session->memory_total, .index = r->index,
        .planned = r->o->runs, .from = r->o->resume ? state_facts(r->o->resume->state)->step : 0,
        .epochs = r->o->recipe.epochs, .target = r->o->target, .synthetic = dataset_facts(r->data)->synthetic,
        .samples = task_samples(r->o->task), .metrics = r->metrics, .metric_count = train_metrics(r, r->metrics),
        .standing = standing.at, .eligible = eligible, .group_left = group_left(r), .note = note.at,
    };
    progress_start(&r->progress, &start);
    others_begin(&r->others);
    text_free(&standing), text_free(&note);
}

// ---- the loop

static bool target_met(const struct training *r)
{
    struct run_metric metric = board_metric(r);
    return r->evaluated && run_metric_meets(&metric, r->score[0], train_target_micro(r->o));
}

static int evaluate(struct training *r, struct run_point *point)
{
    struct trainer *t = r->trainer;
    _Static_assert(METRIC_NONE == RUN_SCORE_NONE, "task.h");
    for (int m = 0; m < RUN_METRICS_MAX; m++) point->score[m] = RUN_SCORE_NONE;
    if (!trainer_evaluates_after(t, t->at)) return 0;
    progress_note(&r->progress, "evaluating");
    stopwatch_enter(&r->watch, SEGMENT_EVALUATE);
    struct text picture = {0};
    t->evaluation.drawn = train_keeps_pictures(r) ? &picture : NULL;
    int rc = trainer_evaluate(t, r->score);
    if (rc == 0 && t->evaluation.drawn) train_keep_picture(r, &picture);
    t->evaluation.drawn = NULL;
    text_free(&picture);
    TRY(rc);
    r->evaluated = true;
    for (int m = 0; r->o->task->metrics[m].name; m++) point->score[m] = r->score[m];
    return 0;
}

static void show_point(struct training *r, const struct run_point *point, int64_t hits)
{
    const struct trainer *t = r->trainer;
    double samples = (double)(t->samples - r->point_samples);
    double seconds = (double)(stopwatch_warm_ns(&r->watch) - r->point_began_ns) * 1e-9;
    struct progress_point shown = {
        .epoch = (double)t->at / (double)t->steps_per_epoch, .loss = point->loss,
        .train_accuracy = hits < 0 ? -1 : (double)hits / samples,
        .score = point->score, .elapsed_ns = point->clocks.end_to_end_ns,
        .samples = t->samples, .samples_per_second = samples / seconds,
    };
    progress_point(&r->progress, &shown);
}

// Since the last point.
static double mean_loss(const struct training *r, const struct trainer_sums *sums)
{
    double terms = sums->rows > 0 ? sums->rows : (double)(r->trainer->terms - r->point_terms);
    return terms > 0 ? sums->loss / terms : 0;
}

// Records a point: at the end of an epoch, and at each evaluation.
static int record_point(struct training *r)
{
    struct trainer *t = r->trainer;
    struct trainer_sums sums;
    TRY(trainer_sums(t, true, &sums));
    struct run_point point = {.step = t->at, .epoch_micro = t->at * 1000000 / t->steps_per_epoch, .samples = t->samples,
                              .loss = mean_loss(r, &sums), .losses = sums.mean, .loss_count = sums.means,
                              .stall_ns = train_stalled_ns(r)};
    for (int i = 0; i < sums.means && isfinite(point.loss); i++)
        if (!isfinite(sums.mean[i].mean)) point.loss = NAN;
    r->alike = !isfinite(point.loss);  // all processes have the same sums
    if (r->alike)
        return fail(ERR_DEVICE, "the loss is not a number at step %lld (epoch %.2f): the learning rate may be too high",
                    (long long)t->at, (double)t->at / (double)t->steps_per_epoch);
    TRY(evaluate(r, &point));
    point.clocks = stopwatch_enter(&r->watch, SEGMENT_CHECKPOINT);
    if (point.score[0] != RUN_SCORE_NONE) r->reached = point.clocks;
    if (target_met(r) && !r->crossed.end_to_end_ns) r->crossed = point.clocks, r->crossed_score = r->score[0];
    TRY(train_energy(r, point.score[0] != RUN_SCORE_NONE));
    point.energy_uj = r->energy_uj;
    if (r->run) TRY(result_point(r->run, &point));
    train_ticket_beat(r);
    show_point(r, &point, sums.hits);
    stopwatch_enter(&r->watch, SEGMENT_TRAIN);
    r->point_began_ns = stopwatch_warm_ns(&r->watch);
    r->point_samples = t->samples, r->point_terms = t->terms;
    return 0;
}

static int show_step(struct training *r)
{
    struct trainer_sums sums;
    if (!progress_wants(&r->progress, r->trainer->at, clock_ns())) return 0;
    r->progress.step_samples = (double)r->trainer->samples / (double)r->trainer->at;  // a step may take several batches
    if (r->device->type->queues) {  // reading it would wait for it: a watched run would be slower
        if (!r->progress.live) progress_step(&r->progress, r->trainer->at, NAN, -1);
        return 0;
    }
    TRY(trainer_sums(r->trainer, false, &sums));
    double samples = (double)(r->trainer->samples - r->point_samples);
    progress_step(&r->progress, r->trainer->at, mean_loss(r, &sums), sums.hits < 0 ? -1 : (double)sums.hits / samples);
    return 0;
}

// ---- step by step

static int stop_here(struct training *r)
{
    const struct trainer *t = r->trainer;
    bool keeps = train_keeps_states(r);
    if (keeps) TRY(train_state_write(r));
    r->alike = true;
    if (!keeps)
        return fail(ERR_INTERRUPTED, "stopped by a signal at step %lld of %lld; the record so far is kept", (long long)t->at,
                    (long long)t->steps);
    if (!r->run) return fail(ERR_INTERRUPTED, "stopped by a signal");
    return fail(ERR_INTERRUPTED, "stopped by a signal at step %lld of %lld; \"dawn train --resume %lld%s\" continues it",
                (long long)t->at, (long long)t->steps, (long long)result_id(r->run), result_option(r->kept->results));
}

// A part of a replay stays in the record as an interrupted run, because it is none.
static bool is_cut(const struct training *r)
{
    const struct train_replay *replay = r->o->replay;
    return replay && replay->epochs > 0 && r->trainer->at >= replay->epochs * r->trainer->steps_per_epoch &&
           r->trainer->at < r->trainer->steps;
}

static int cut_here(struct training *r)
{
    *r->o->replay->cut = r->alike = true;
    return fail(ERR_INTERRUPTED, "ended after %lld epoch%s of the replay, as --epochs asks", (long long)r->o->replay->epochs,
                r->o->replay->epochs == 1 ? "" : "s");
}

static void show_part(struct training *r, const char *what, int64_t done, int64_t all)
{
    char words[96];
    if (!progress_wants(&r->progress, r->trainer->at, clock_ns())) return;
    snprintf(words, sizeof words, "%s %lld of %lld", what, (long long)done + 1, (long long)all);
    progress_note(&r->progress, words);
}

// An evaluation may take longer than many steps, so a signal ends it. A run that writes states finishes the evaluation,
// because a state cannot hold half of one, and so do several processes, which get the signal at different batches.
static int between_batches(void *context, int64_t done, int64_t all)
{
    struct training *r = context;
    const struct trainer *t = r->trainer;
    if (stopped && !train_keeps_states(r) && ranks_size() == 1)
        return fail(ERR_INTERRUPTED, "stopped by a signal in the evaluation after step %lld of %lld; the record so far is kept",
                    (long long)t->at, (long long)t->steps);
    if (!r->device->type->queues) show_part(r, "evaluating, batch", done, all);
    return 0;
}

// As between_batches, for host code between two steps. Before the first step there is nothing that a state could hold.
static int between_steps(void *context, const char *what, int64_t done, int64_t all)
{
    struct training *r = context;
    const int64_t at = r->trainer->at;
    if (stopped && (at == 0 || !train_keeps_states(r)) && ranks_size() == 1)
        return fail(ERR_INTERRUPTED, "stopped by a signal before step %lld; the record so far is kept", (long long)at + 1);
    show_part(r, what, done, all);
    return 0;
}

// A GPU lowers its clocks while it is idle. Steps that the reset undoes raise them again, in a segment of their own. Each is
// waited for: the queue would hold more of them than there is time for.
static int warm_up(struct training *r)
{
    struct trainer *t = r->trainer;
    const int64_t end = clock_ns() + (int64_t)(r->o->warm_up * 1e9);
    if (r->o->warm_up <= 0) return 0;
    stopwatch_enter(&r->watch, SEGMENT_WARMUP);
    TRY(trainer_begin(t, (uint64_t)r->seed));
    while (t->at < t->steps && clock_ns() < end && !stopped) {
        TRY(trainer_step(t));
        TRY(session_sync(t->session));
    }
    return 0;
}

static int loop(struct training *r)
{
    struct trainer *t = r->trainer;
    enum train_wish wish;
    t->evaluation.between = between_batches, t->drive.between = between_steps;
    t->evaluation.context = t->drive.context = r;
    TRY(warm_up(r));
    stopwatch_enter(&r->watch, SEGMENT_TRAIN);
    TRY(r->o->resume ? train_state_load(r) : trainer_begin(t, (uint64_t)r->seed));
    if (*t->imported.text) progress_weights(&r->progress, r->o->files.weights, t->imported.text);
    r->began = t->at;
    while (t->at < t->steps) {
        wish = stopped ? WISH_STOP : train_state_is_due(r) ? WISH_STATE : WISH_NOTHING;
        TRY(train_wish(r, wish, &wish));
        if (wish == WISH_STOP) return stop_here(r);
        if (wish == WISH_STATE) TRY(train_state_write(r));
        TRY(trainer_step(t));
        TRY(show_step(r));
        if (t->at % t->steps_per_epoch == 0 || trainer_evaluates_after(t, t->at)) {
            TRY(record_point(r));
            if (r->o->stop && r->o->runs == 1 && target_met(r)) break;
            if (is_cut(r)) return cut_here(r);
        }
    }
    TRY(train_wish_end(r, &wish));
    TRY(train_join(r));
    r->peak_of_all = peak_memory(r);
    TRY(ranks_add(&r->peak_of_all, 1));
    r->alike = true;
    return 0;
}

// ---- the end

static int save_weights(struct training *r)
{
    const char *save = r->o->save;
    if (!train_leads() || (save && !*save)) return 0;
    if (save) r->checkpoint = train_absolute_path(save);
    else r->checkpoint = resume_file(r->kept->results, result_id(r->run), "safetensors");
    TRY(trainer_settle(r->trainer));
    char *recipe = recipe_json(&r->o->recipe);
    struct checkpoint_meta meta[] = {{"task", r->o->task->name},
                                     {"model", r->o->recipe.model},
                                     {"data", dataset_facts(r->data)->name},
                                     {"precision", dtype_name(r->trainer->setting.dtype)},
                                     {"recipe", recipe},
                                     {NULL, NULL}};
    int rc = checkpoint_save(r->checkpoint, r->trainer->session, meta, r->weights_digest);
    free(recipe);
    return rc;
}

// Score and clocks to report: at the target, at the last evaluation if the target was missed, or now if there was no evaluation.
static struct progress_moment reported_moment(const struct training *r)
{
    if (r->crossed.end_to_end_ns) return (struct progress_moment){r->crossed_score, r->crossed};
    if (r->evaluated) return (struct progress_moment){r->score[0], r->reached};
    return (struct progress_moment){RUN_SCORE_NONE, stopwatch_read(&r->watch)};
}

enum { SCALE_WORDS = 96 };

// "" where the run has no loss scale, or the device cannot be read any more.
static const char *scale_words(const struct training *r, char into[SCALE_WORDS])
{
    struct trainer_scale s;
    *into = 0;
    if (trainer_scale(r->trainer, &s) < 0 || s.scale == 0) return into;
    snprintf(into, SCALE_WORDS, "loss scale %.9g at the end; %lld of %lld steps skipped", s.scale, (long long)s.skipped,
             (long long)r->trainer->at);
    return into;
}

static void tell_end(struct training *r, enum run_status status, const struct run_end *end)
{
    char cost[COST_TEXT], scale[SCALE_WORDS], busy[OTHERS_TEXT];
    struct text damaged = {0};
    struct others_share share = others_end(&r->others);
    train_damaged_text(r, &damaged);
    struct progress_end shown = {
        .status = run_status_name(status), .reported = reported_moment(r), .scale = scale_words(r, scale),
        .last = {r->score[0], r->reached}, .checkpoint = end->checkpoint ? r->checkpoint : NULL, .damaged = damaged.at,
        .peak_memory = end->peak_memory_bytes, .damaged_count = end->damaged, .synthetic = dataset_facts(r->data)->synthetic,
    };
    if (r->o->price)
        shown.cost = cost_text(cost, cost_training_micro(shown.reported.clocks.end_to_end_ns, r->price.micro_per_hour));
    if (ranks_locals() == 1) shown.disturbed = others_text(&share, "this run was slowed", busy);
    progress_end(&r->progress, &shown);
    text_free(&damaged);
}

static int end_record(struct training *r, int rc)
{
    char why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", rc < 0 ? error_text() : "");
    if (!r->run) return rc;  // the first process records
    struct run_end end = {.planned_memory_bytes = (int64_t)r->trainer->session->memory_total * ranks_size(),
                          .peak_memory_bytes = r->peak_of_all > 0 ? r->peak_of_all : peak_memory(r),
                          .energy_uj = r->energy_uj, .damaged = train_damaged(r),
                          .weights_digest = *r->weights_digest ? r->weights_digest : NULL,
                          .checkpoint = r->checkpoint, .message = rc < 0 ? why : NULL};
    const char *name = r->checkpoint ? strrchr(r->checkpoint, '/') : NULL;
    if (name && !r->o->save) end.checkpoint = name + 1;  // relative to the database
    enum run_status status = rc == ERR_INTERRUPTED ? RUN_INTERRUPTED : RUN_FAILED;
    if (rc >= 0) status = target_met(r) ? RUN_DONE : RUN_MISSED;
    int64_t id = result_id(r->run);
    int ended = result_end(r->run, status, &end, &status);
    r->run = NULL;
    tell_end(r, status, &end);
    train_ticket_end(r, id);
    return rc < 0 ? fail(rc, "%s", why) : ended;
}

// A GPU may wait for ever in a reduction that other processes never begin. Then nothing is freed before the process ends.
static void close_run(struct training *r)
{
    train_ticket_end(r, 0);
    if (r->alone && r->device->type->queues) return;
    trainer_free(r->trainer);
    if (digests_end(r->digests)) dataset_close(r->data);
    machine_counter_stop(r->gpu);
    device_close(r->device);
    stopwatch_free(&r->watch);
    machine_meter_stop(&r->meter);
    free(r->checkpoint);
    free(r->state);
    free(r->nonce);
    train_places_free(r);
    malloc_trim(0);  // returns memory, so that it does not count in the next run's peak
}

// Marks a resumed run as interrupted again if it could not be made ready.
static int put_down(struct training *r, int rc)
{
    char why[ERROR_TEXT_MAX];
    if (!r->run) return rc;
    snprintf(why, sizeof why, "%s", error_text());
    const struct run_end end = {.message = why};
    int ended = result_end(r->run, RUN_INTERRUPTED, &end, NULL);
    (void)ended;  // the first failure is reported
    r->run = NULL;
    return fail(rc, "%s", why);
}

static int take_up(struct training *r)
{
    const struct resume *from = r->o->resume;
    if (!train_leads()) return 0;
    stopwatch_free(&r->watch);
    TRY(train_record_open(r->o, r->kept));
    return result_resume(r->kept->results, from->run, state_facts(from->state)->step, &from->note.saved, &r->watch, &r->run);
}

// Opens the record first, so that the time to make ready counts in its segments.
static int make_ready(struct training *r)
{
    const struct resume *from = r->o->resume;
    TRY(train_compare_options(r));
    TRY(train_price(r));
    if (!from) {
        TRY(train_together(r, prepare(r)));
        int rc = train_record_begin(r);
        return ranks_agree(rc < 0 ? rc : train_states_open(r));
    }
    TRY(ranks_agree(take_up(r)));
    int rc = train_together(r, prepare(r));
    if (rc == 0) rc = train_check_match(r);
    if (rc == 0) rc = train_states_open(r);
    rc = ranks_agree(rc);
    return rc < 0 ? put_down(r, rc) : 0;
}

static int one_run(struct training *r)
{
    TRY(make_ready(r));
    announce(r);
    int rc = loop(r);
    r->alone = rc < 0 && !r->alike && ranks_size() > 1;
    stopwatch_enter(&r->watch, SEGMENT_CHECKPOINT);
    if (rc == 0) {
        rc = save_weights(r);
        if (rc < 0) free(r->checkpoint), r->checkpoint = NULL;  // no checkpoint was written
    }
    rc = end_record(r, rc);
    if (r->alike) rc = ranks_agree(rc);  // the others wait while the first process saves
    if (rc == 0 && r->state) unlink(r->state);  // a finished run cannot be resumed
    return rc;
}

static int fail_target(const struct training *r)
{
    const struct run_metric board = board_metric(r);
    char score[TEXT_FIGURE], target[TEXT_FIGURE];
    return fail(ERR_TARGET, "the score of %s is %s the target of %s", run_metric_text(&board, r->score[0], score),
                board.lower_is_better ? "above" : "below", run_metric_value_text(&board, r->o->target, target));
}

static int run_number(const struct train_options *o, struct kept_record *kept, int64_t index, struct group_run *out)
{
    struct training r = {.o = o, .kept = kept, .index = index, .seed = o->seed + index - 1};
    if (index == 1) stopwatch_from_process(&r.watch);
    else stopwatch_from_now(&r.watch);
    machine_peak_memory_reset();
    machine_meter_start(&r.meter);
    progress_open(&r.progress, train_leads() ? o->progress : PROGRESS_QUIET);
    int rc = one_run(&r);
    *out = (struct group_run){.seed = r.seed, .ns = r.reached.end_to_end_ns, .k = r.evaluated ? r.score[0] : -1,
                              .finished = rc == 0 && r.evaluated};
    if (r.data) {
        const struct dataset_facts *f = dataset_facts(r.data);
        struct run_metric board = board_metric(&r);
        out->items = board.items, out->lower = board.lower_is_better;
        kept->board = board;
        out->synthetic = f->synthetic, out->custom = !f->official && !f->synthetic;
    }
    if (rc == 0 && o->runs == 1 && !target_met(&r)) rc = fail_target(&r);
    progress_close(&r.progress);
    close_run(&r);
    return rc;
}

// Closes the group after success and after failure. The first failure is reported.
static int end_group(const struct train_options *o, const struct kept_record *kept, int rc, const struct group_facts *facts)
{
    if (kept->group == 0) return rc;  // the group was never announced
    char why[ERROR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", error_text());
    int closed = result_group_end(kept->results, kept->group);
    struct progress p;
    progress_open(&p, train_leads() ? o->progress : PROGRESS_QUIET);
    progress_group(&p, kept->group, &kept->board, facts);
    if (rc < 0) return fail(rc, "%s", why);
    TRY(closed);
    if (facts->meets) return 0;
    const struct run_metric *board = &kept->board;
    char mean[TEXT_FIGURE], target[TEXT_FIGURE];
    run_metric_value_text(board, facts->accuracy.mean, mean);
    return fail(ERR_TARGET, "the mean score of %s is %s the target of %s", mean, board->lower_is_better ? "above" : "below",
                run_metric_value_text(board, o->target, target));
}

static int run_group(const struct train_options *o, struct kept_record *kept)
{
    struct group_run *runs = zalloc((size_t)o->runs * sizeof *runs);
    int rc = 0;
    int64_t done = 0;
    while (done < o->runs && rc == 0) {
        if (stopped)
            rc = fail(ERR_INTERRUPTED, "stopped by a signal after %lld of %lld runs", (long long)done, (long long)o->runs);
        rc = ranks_agree(rc);
        if (rc == 0) rc = run_number(o, kept, done + 1, &runs[done]);
        if (rc == 0) done++;
    }
    struct group_facts facts;
    group_judge(runs, (int)done, (int)o->runs, train_target_micro(o), &facts);
    free(runs);
    return end_group(o, kept, rc, &facts);
}

int train(const struct train_options *o)
{
    struct kept_record kept = {.began_ns = clock_ns()};
    struct group_run only;
    TRY(train_ticket_check(o));
    if (o->save && *o->save) TRY(whole_check_target(o->save));
    watch_signals();
    int rc = o->runs > 1 ? run_group(o, &kept) : run_number(o, &kept, 1, &only);
    results_close(kept.results);
    return rc;
}
