// SPDX-License-Identifier: Apache-2.0
#include "tasks/common/train/progress.h"

#include "runtime/common/base/clock.h"
#include "runtime/common/base/text.h"
#include "runtime/common/cli/program.h"
#include "submit/format/score/contest.h"
#include "submit/results/group_text.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t LIVE_NS = 250000000, LINE_NS = 60000000000, TENTH_NS = 10000000000;
enum { BAR = 10 };

void progress_open(struct progress *p, enum progress_mode mode)
{
    *p = (struct progress){0};
    p->json = mode == PROGRESS_JSON;
    p->quiet = mode == PROGRESS_QUIET;
    p->live = mode == PROGRESS_AUTO && program_draws(STDOUT_FILENO);
}

static void erase_live(struct progress *p)
{
    if (p->live_width) printf("\r%*s\r", p->live_width, "");
    p->live_width = 0;
}

static void write_json(json_t *object)
{
    char *line = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    if (line) printf("%s\n", line);
    program_flush();
    free(line);
    json_decref(object);
}

// A single counted metric is called "test", next to "train". Other metrics keep their names.
static const char *column_name(const struct progress *p, int m)
{
    return p->metric_count == 1 && p->metrics[m].items ? "test" : p->metrics[m].name;
}

static int column_width(const struct progress *p, int m)
{
    const int least = 9, name = (int)strlen(column_name(p, m));
    return name > least ? name : least;
}

// A row that is too wide for the terminal loses columns: the rate, the training score, then metrics except the board's.
static void fit_columns(struct progress *p)
{
    enum { LEAST = 7 + 11 + 11, SCORE = 10, RATE = 13 };  // epoch, loss, time
    int capacity = p->live ? program_columns(STDOUT_FILENO) : INT_MAX;
    int width = LEAST + SCORE + RATE;
    for (int m = 0; m < p->metric_count; m++) width += 1 + column_width(p, m);
    p->shown = p->metric_count;
    p->rate = width <= capacity;
    if (!p->rate) width -= RATE;
    p->train = width <= capacity;
    if (!p->train) width -= SCORE;
    for (; p->shown > 1 && width > capacity; p->shown--) width -= 1 + column_width(p, p->shown - 1);
}

static void print_columns(struct progress *p, const char *samples)
{
    char rate[TEXT_FIGURE];
    snprintf(rate, sizeof rate, "%s/s", samples);
    printf("%7s %10s", "epoch", "loss");
    if (p->train) printf(" %9s", "train");
    for (int m = 0; m < p->shown; m++) printf(" %*s", column_width(p, m), column_name(p, m));
    if (p->rate) printf(" %12s", rate);
    printf(" %10s\n", "time");
    program_flush();
}

// The value of each evaluated metric: 0.9412.
static json_t *json_scores(const struct progress *p, const int64_t *score)
{
    json_t *scores = json_object();
    for (int m = 0; m < p->metric_count; m++)
        if (score[m] != RUN_SCORE_NONE)
            json_object_set_new(scores, p->metrics[m].name, json_real(run_metric_value(&p->metrics[m], score[m])));
    return scores;
}

// Older readers know counts only and read "accuracy".
static void add_accuracy(const struct progress *p, json_t *o, int64_t score)
{
    if (o && score != RUN_SCORE_NONE && p->metrics[0].items)
        json_object_set_new(o, "accuracy", json_real(run_metric_value(&p->metrics[0], score)));
}

static void print_head(struct progress *p, const struct progress_start *s)
{
    char a[TEXT_FIGURE];
    struct text head = {0};
    text_add(&head, "run %lld", (long long)s->run);
    if (s->from > 0) text_add(&head, " continues after step %lld of %lld", (long long)s->from, (long long)s->steps);
    if (s->planned > 1) text_add(&head, ", %lld of %lld of the group", (long long)s->index, (long long)s->planned);
    if (p->group_left >= 0) text_add(&head, ", about %s left", text_span(a, p->group_left));
    text_add(&head, "\n");
    text_entry(&head, "task", "%s on %s%s", s->task, s->data, s->synthetic ? " (SYNTHETIC)" : "");
    text_entry(&head, "model", "%s, %s parameters", s->model, text_count(a, s->parameters));
    text_entry(&head, "recipe", "%s: %g epoch%s of %lld step%s, batch %lld, seed %lld", s->recipe, s->epochs,
               s->epochs == 1 ? "" : "s", (long long)s->steps_per_epoch, s->steps_per_epoch == 1 ? "" : "s", (long long)s->batch,
               (long long)s->seed);
    text_entry(&head, "device", "%s, %s, %s planned", s->device, s->precision, text_size(a, (double)s->memory));
    text_entry(&head, "target", "%s", run_metric_value_text(&s->metrics[0], s->target, a));
    text_entry(&head, "eligible", "%s", s->standing);
    if (s->note) text_entry(&head, s->samples, "%s", s->note);
    printf("%s\n", head.at);
    text_free(&head);
}

void progress_start(struct progress *p, const struct progress_start *s)
{
    p->steps = s->steps, p->steps_per_epoch = s->steps_per_epoch, p->step_samples = (double)s->batch, p->run = s->run;
    p->target = s->target, p->epochs = s->epochs, p->metrics = s->metrics, p->metric_count = s->metric_count;
    p->began_ns = p->last_ns = clock_ns(), p->from = p->last_step = s->from;
    p->group_left = s->planned > 1 ? s->group_left : -1;
    if (p->quiet) return;
    if (p->json) {
        write_json(json_pack("{ss sI sI ss ss ss ss ss ss sI sf sf sI sI sb sb ss*}", "event", "start", "run",
                             (json_int_t)s->run,
                             "seed", (json_int_t)s->seed, "task", s->task, "data", s->data, "model", s->model, "recipe",
                             s->recipe, "precision", s->precision, "device", s->device, "batch", (json_int_t)s->batch,
                             "epochs", s->epochs, "target", s->target, "planned_memory_bytes", (json_int_t)s->memory,
                             "from_step", (json_int_t)s->from, "synthetic", s->synthetic, "eligible", s->eligible,
                             "note", s->note));
        return;
    }
    erase_live(p);
    print_head(p, s);
    fit_columns(p);
    print_columns(p, s->samples);
}

bool progress_wants(const struct progress *p, int64_t done, int64_t now_ns)
{
    int64_t since = now_ns - p->last_ns;
    if (p->live) return since >= LIVE_NS;
    if (p->quiet || p->json) return false;
    return since >= LINE_NS || (since >= TENTH_NS && 10 * (done - p->last_step) >= p->steps_per_epoch);
}

// "93.21%", or "-" if the task counts no correct answers.
static char *share_text(char into[TEXT_FIGURE], double share)
{
    if (share < 0) snprintf(into, TEXT_FIGURE, "-");
    else snprintf(into, TEXT_FIGURE, "%.2f%%", 100 * share);
    return into;
}

// The parts of the live line, from left to right.
enum { EPOCH, LOSS, TRAIN, BAR_OF_STEPS, STEPS, RATE, LEFT, GROUP_LEFT, PARTS };

// A wrapped line cannot be erased, so parts are dropped until the line fits. A figure is never cut.
static void draw_live(struct progress *p, char parts[PARTS][48])
{
    if (!p->live) {  // nothing is erased, and no line is too wide for a file
        for (int i = 0; i < PARTS; i++) fputs(parts[i], stdout);
        printf("\n");
        program_flush();
        return;
    }
    static const int dropped[] = {BAR_OF_STEPS, RATE, GROUP_LEFT, TRAIN, STEPS, LEFT, LOSS, EPOCH};
    int capacity = program_columns(STDOUT_FILENO) - 1, width = 0;
    for (int i = 0; i < PARTS; i++) width += (int)strlen(parts[i]);
    for (int i = 0; i < PARTS && width > capacity; i++) {
        width -= (int)strlen(parts[dropped[i]]);
        parts[dropped[i]][0] = 0;
    }
    erase_live(p);
    for (int i = 0; i < PARTS; i++) fputs(parts[i], stdout);
    p->live_width = width;
    program_flush();
}

void progress_step(struct progress *p, int64_t done, double loss, double accuracy)
{
    int64_t now = clock_ns();
    p->last_ns = now, p->last_step = done;
    double seconds = (double)(now - p->began_ns) * 1e-9, made = (double)(done - p->from);
    double left = made > 0 ? seconds / made * (double)(p->steps - done) : 0;
    char bar[BAR + 1] = "", time[TEXT_FIGURE], share[TEXT_FIGURE], parts[PARTS][48] = {""};
    for (int i = 0; i < BAR; i++) strcat(bar, i < BAR * done / p->steps ? "#" : ".");
    char figure[TEXT_FIGURE] = "-";
    if (isfinite(loss)) snprintf(figure, sizeof figure, "%.4f", loss);
    snprintf(parts[EPOCH], sizeof parts[0], "%7.2f", (double)done / (double)p->steps_per_epoch);
    snprintf(parts[LOSS], sizeof parts[0], " %10s", figure);
    snprintf(parts[TRAIN], sizeof parts[0], " %9s", share_text(share, accuracy));
    if (p->live) snprintf(parts[BAR_OF_STEPS], sizeof parts[0], "  [%s]", bar);
    snprintf(parts[STEPS], sizeof parts[0], "%s %lld/%lld", p->live ? "" : "  step", (long long)done, (long long)p->steps);
    snprintf(parts[RATE], sizeof parts[0], ", %.0f/s", fmin(made * p->step_samples / seconds, 1e30));
    snprintf(parts[LEFT], sizeof parts[0], ", %s left", text_span(time, left));
    if (p->group_left > seconds)
        snprintf(parts[GROUP_LEFT], sizeof parts[0], ", group %s", text_span(time, p->group_left - seconds));
    draw_live(p, parts);
}

void progress_weights(struct progress *p, const char *path, const char *taken)
{
    if (p->quiet) return;
    if (p->json) {
        write_json(json_pack("{ss sI ss ss}", "event", "weights", "run", (json_int_t)p->run, "file", path, "taken", taken));
        return;
    }
    printf("began with %s: %s\n", path, taken);
    program_flush();
}

void progress_unwitnessed(struct progress *p, int64_t run, const char *why)
{
    if (p->json)
        write_json(json_pack("{ss sI ss}", "event", "unwitnessed", "run", (json_int_t)run, "why", why));
    else fprintf(stderr, "run %lld cannot become witnessed: %s\n", (long long)run, why);
}

void progress_pictureless(struct progress *p, int64_t run, const char *why)
{
    erase_live(p);
    if (p->json) write_json(json_pack("{ss sI ss}", "event", "pictureless", "run", (json_int_t)run, "why", why));
    else fprintf(stderr, "no pictures of run %lld are kept: %s\n", (long long)run, why);
}

void progress_note(struct progress *p, const char *what)
{
    if (!p->live) return;
    char line[96];
    int capacity = program_columns(STDOUT_FILENO) - 1;
    int width = snprintf(line, sizeof line, "%s%.60s ...", p->steps ? "        " : "", what);
    if (width > capacity) width = snprintf(line, sizeof line, "%.*s ...", (int)strcspn(what, ","), what);  // "evaluating ..."
    erase_live(p);
    fputs(line, stdout);
    p->live_width = width;
    program_flush();
}

void progress_close(struct progress *p)
{
    erase_live(p);
    program_flush();
}

void progress_point(struct progress *p, const struct progress_point *at)
{
    if (p->quiet) return;
    if (p->json) {
        json_t *o = json_pack("{ss sI sf sf sI sI sf so}", "event", "epoch", "run", (json_int_t)p->run, "epoch", at->epoch,
                              "loss", at->loss, "elapsed_ns", (json_int_t)at->elapsed_ns, "samples",
                              (json_int_t)at->samples, "samples_per_second", at->samples_per_second,
                              "scores", json_scores(p, at->score));
        if (o && at->train_accuracy >= 0) json_object_set_new(o, "train_accuracy", json_real(at->train_accuracy));
        add_accuracy(p, o, at->score[0]);
        write_json(o);
        return;
    }
    erase_live(p);
    p->last_ns = clock_ns(), p->last_step = (int64_t)(at->epoch * (double)p->steps_per_epoch + 0.5);
    char figure[TEXT_FIGURE], time[TEXT_FIGURE];
    printf("%7.2f %10.4f", at->epoch, at->loss);
    if (p->train) printf(" %9s", share_text(figure, at->train_accuracy));
    for (int m = 0; m < p->shown; m++)
        printf(" %*s", column_width(p, m), run_metric_text(&p->metrics[m], at->score[m], figure));
    if (p->rate) printf(" %12s", text_count(figure, (int64_t)at->samples_per_second));
    printf(" %10s\n", text_span(time, (double)at->elapsed_ns * 1e-9));
    program_flush();
}

void progress_end(struct progress *p, const struct progress_end *e)
{
    const struct progress_moment *reported = &e->reported, *last = &e->last;
    const struct stopwatch_clocks *at = &reported->clocks;
    bool later = last->clocks.end_to_end_ns > at->end_to_end_ns;  // trained on after the target
    if (p->quiet) return;
    if (p->json) {
        json_t *o = json_pack("{ss sI ss sf sI sI sI sI sb}", "event", "end", "run", (json_int_t)p->run, "status", e->status,
                              "target", p->target, "end_to_end_ns", (json_int_t)at->end_to_end_ns, "classic_ns",
                              (json_int_t)at->classic_ns, "warm_ns", (json_int_t)at->warm_ns, "peak_memory_bytes",
                              (json_int_t)e->peak_memory, "synthetic", e->synthetic);
        if (o && reported->score != RUN_SCORE_NONE)
            json_object_set_new(o, "score", json_real(run_metric_value(&p->metrics[0], reported->score)));
        add_accuracy(p, o, reported->score);
        if (o && later)
            json_object_set_new(o, "last", json_pack("{sI sf}", "end_to_end_ns", (json_int_t)last->clocks.end_to_end_ns, "score",
                                                     run_metric_value(&p->metrics[0], last->score)));
        if (o && e->cost) json_object_set_new(o, "cost", json_string(e->cost));
        if (o && e->damaged_count)
            json_object_set_new(o, "damaged", json_pack("{sI sI}", "train", (json_int_t)e->damaged_count[0], "test",
                                                        (json_int_t)e->damaged_count[1]));
        if (o && *e->scale) json_object_set_new(o, "loss_scale", json_string(e->scale));
        if (o && e->disturbed) json_object_set_new(o, "disturbed", json_string(e->disturbed));
        if (o && e->checkpoint) json_object_set_new(o, "checkpoint", json_string(e->checkpoint));
        write_json(o);
        return;
    }
    erase_live(p);
    char whole[TEXT_FIGURE], classic[TEXT_FIGURE], warm[TEXT_FIGURE], memory[TEXT_FIGURE];
    printf("\n%s", e->status);
    if (reported->score != RUN_SCORE_NONE)
        printf(": %s %s (target %s)", run_metric_text(&p->metrics[0], reported->score, whole),
               contest_metric_title(p->metrics[0].name), run_metric_value_text(&p->metrics[0], p->target, classic));
    printf(" after %s end to end\n", text_span(whole, (double)at->end_to_end_ns * 1e-9));
    printf("classic clock %s, warm %s\n", text_span(classic, (double)at->classic_ns * 1e-9),
           text_span(warm, (double)at->warm_ns * 1e-9));
    if (later)
        printf("last evaluation: %s after %s end to end\n", run_metric_text(&p->metrics[0], last->score, classic),
               text_span(whole, (double)last->clocks.end_to_end_ns * 1e-9));
    printf("peak memory %s%s%s\n", text_size(memory, (double)e->peak_memory), e->cost ? "; cost " : "",
           e->cost ? e->cost : "");
    if (e->damaged) printf("%s\n", e->damaged);
    if (*e->scale) printf("%s\n", e->scale);
    if (e->disturbed) printf("%s\n", e->disturbed);
    if (e->synthetic) printf("SYNTHETIC data: only the board \"demo\" lists this result\n");
    if (e->checkpoint) printf("weights in %s\n", e->checkpoint);
    program_flush();
}

void progress_group(struct progress *p, int64_t id, const struct run_metric *metric,
                    const struct group_facts *f)
{
    if (p->quiet) return;
    if (p->json) {
        json_t *o = json_pack("{ss sI}", "event", "group", "group", (json_int_t)id);
        json_object_update_new(o, group_text_json(f));
        write_json(o);
        return;
    }
    struct text words = {0};
    group_text(&words, metric, f);
    printf("\ngroup %lld: %d of %d runs\n%s", (long long)id, f->finished, f->planned, words.at);
    text_free(&words);
    program_flush();
}
