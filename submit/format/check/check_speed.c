// SPDX-License-Identifier: Apache-2.0
// Checks of pace: the hardware must be able to do the arithmetic in the time, and the intervals between points must look like
// a machine's. Fractions are allowed here, because every result is a comparison with wide margins.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "submit/format/check/check_inside.h"
#include "submit/format/score/curve.h"

// The cost of a sample may change along the schedule: smaller images at first, longer sequences later. The parts come from the
// run's own account of its work. Without one they come from the resolutions of an image recipe, which share the schedule equally
// and cost by their area. Otherwise all samples cost the same.
enum { PARTS_MAX = 64 };
struct part {
    double samples;
    double cost;  // of training on a sample, in FLOPs, or relative if the model's arithmetic is unknown
};
struct schedule {
    bool known;    // costs are FLOPs
    size_t count;  // at least 1; further samples belong to the last part
    struct part parts[PARTS_MAX];
};

// Samples of the whole schedule, even if the run was interrupted: whole batches of each epoch.
static double planned_samples(const struct subject *s)
{
    double epochs = check_recipe_number(s, "schedule", "epochs");
    int64_t batch = canonical_int(s->json, "batch"), items = curve_items(s->json, "train");
    if (batch > 0 && items >= batch && epochs > 0 && epochs <= 1e6) return ceil(epochs * (double)(items / batch)) * (double)batch;
    return s->count > 0 ? (double)s->points[s->count - 1].samples : 0;
}

// Forward and backward are three forward passes: a backward pass makes two products for each of the forward one.
static double usual_cost(const struct subject *s)
{
    return 3 * (double)canonical_int(s->json, "model.flops_per_sample");
}

static bool read_work(const struct subject *s, struct schedule *schedule)
{
    const json_t *work = json_object_get(s->json, "work");
    size_t count = json_array_size(work);
    if (count < 1 || count > PARTS_MAX) return false;
    for (size_t i = 0; i < count; i++) {
        const json_t *part = json_array_get(work, i);
        schedule->parts[i] =
            (struct part){(double)canonical_int(part, "samples"), (double)canonical_int(part, "flops_per_sample")};
    }
    schedule->count = count;
    schedule->known = true;
    return true;
}

static bool read_resolutions(const struct subject *s, struct schedule *schedule)
{
    const json_t *sides = json_object_get(json_object_get(s->recipe, "data"), "resolution");
    double full = (double)canonical_int(s->json, "input_size"), samples = planned_samples(s), cost = usual_cost(s);
    size_t count = json_is_array(sides) ? json_array_size(sides) : 0;
    if (count < 1 || count > CHECK_PARTS_MAX || !(full > 0) || !(samples > 0)) return false;
    for (size_t i = 0; i < count; i++) {
        double side = json_number_value(json_array_get(sides, i));
        if (!(side >= 1 && side <= 65536)) return false;
        schedule->parts[i] = (struct part){samples / (double)count, (cost > 0 ? cost : 1) * (side / full * (side / full))};
    }
    schedule->count = count;
    schedule->known = cost > 0;
    return true;
}

static struct schedule read_schedule(const struct subject *s)
{
    struct schedule schedule = {0};
    if (read_work(s, &schedule)) return schedule;
    if (!read_resolutions(s, &schedule)) {
        double cost = usual_cost(s);
        schedule = (struct schedule){.known = cost > 0, .count = 1, .parts = {{0, cost > 0 ? cost : 1}}};
    }
    return schedule;
}

// The work of samples from..to.
static double work_between(const struct schedule *s, double from, double to)
{
    double sum = 0, begin = 0;
    for (size_t i = 0; i < s->count; i++) {
        double end = begin + s->parts[i].samples;
        if (i + 1 == s->count && end < to) end = to;
        double overlap = fmin(to, end) - fmax(from, begin);
        if (overlap > 0) sum += overlap * s->parts[i].cost;
        begin = end;
    }
    return sum;
}

// ---- arithmetic

// Smaller images and shorter texts save much of three forward passes of the model, but not nine tenths. The highest rate over the
// warm clock from its start to any point counts. check_work reports samples in no time.
static void check_arithmetic(struct subject *s, const struct statement *whole, const struct schedule *schedule)
{
    double peak = check_peak(whole), rate = 0;
    if (!schedule->known) {
        finding_add(s->out, CHECK_SPEED_UNKNOWN, "the arithmetic of a sample is not known");
        return;
    }
    if (peak <= 0) {
        finding_add(s->out, CHECK_SPEED_UNKNOWN, "the peak arithmetic of the stated hardware is not known");
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        double work = work_between(schedule, 0, (double)s->points[i].samples);
        if (work > 0 && s->points[i].warm_ns > 0) rate = fmax(rate, work / ((double)s->points[i].warm_ns * 1e-9));
    }
    double trained = s->count > 0 ? (double)s->points[s->count - 1].samples : 0;
    if (!s->self && work_between(schedule, 0, trained) < 0.1 * usual_cost(s) * trained)
        finding_add(s->out, CHECK_SPEED_UNKNOWN, "its schedule takes less than a tenth of its model's arithmetic");
    if (s->self && !(trained > 0))
        finding_add(s->out, CHECK_SPEED_UNKNOWN, "it states no samples, so nothing bounds its speed");
    double share = 100 * rate / peak;
    if (rate > peak)
        finding_add(s->out, CHECK_SPEED, "%.4g TFLOP/s are %.4g%% of the stated hardware's peak", rate * 1e-12,
                    share);
    else if (share > 70)
        finding_add(s->out, CHECK_SPEED_HIGH, "%.4g TFLOP/s are %.3g%% of the stated hardware's peak",
                    rate * 1e-12, share);
}

// ---- what the classic clock leaves out

// Evaluations and checkpoints are in no classic clock, so training under their names would make a run faster. What they may take
// follows from their work: an evaluation computes at the pace of the training, and a checkpoint writes a row, or a state of some
// copies of the weights. In real records an evaluation took 0.4 to 1.3 times as long as training on as much arithmetic, for
// wiki-mlm on a busy machine 1.7 times, for answers made word by word 5 to 10 times; a row took 4 to 65 ms.
struct left_out {
    double evaluate, checkpoint;  // seconds up to the last point
    double evaluations, points, states;
};

// A segment that goes on beyond the last point counts up to there, as in the point's clocks.
static struct left_out left_out_of(const struct subject *s)
{
    struct left_out l = {.points = (double)s->count};
    const int64_t last_ns = s->points[s->count - 1].t_ns;
    int64_t writes = 0;
    for (size_t i = 0; i < s->span_count && s->spans[i].start_ns < last_ns; i++) {
        const int64_t end_ns = s->spans[i].end_ns < last_ns ? s->spans[i].end_ns : last_ns;
        const double seconds = (double)(end_ns - s->spans[i].start_ns) * 1e-9;
        if (s->spans[i].evaluate) l.evaluate += seconds;
        if (s->spans[i].checkpoint) l.checkpoint += seconds, writes++;
    }
    for (size_t i = 0; i < s->count; i++) l.evaluations += s->points[i].score[0] != RUN_SCORE_NONE;
    l.states = fmax(0, (double)writes - l.points);
    return l;
}

static bool has_own_samples(const struct contest *c)
{
    return c != NULL && c->requests != c->test_items;
}

// Arithmetic of the evaluations. DAWN's recipes have at most six views. A task that makes samples of its own of the test set
// evaluates as many as a latency measures. A game is a test item with a search for each move.
static double evaluation_work(const struct subject *s, const struct left_out *l)
{
    const double named = check_recipe_number(s, "evaluation", "views"), said = (double)canonical_int(s->json, "views");
    const double views = fmax(1, fmin(6, named >= 1 ? fmin(named, said) : said));
    const double forward = (double)canonical_int(s->json, "model.flops_per_sample");
    const double samples = has_own_samples(s->contest) ? (double)s->contest->requests : (double)curve_items(s->json, "test");
    const double passes = s->contest != NULL ? (double)s->contest->passes_per_item : 1;
    return l->evaluations * views * samples * passes * forward;
}

// How much longer than training on as much arithmetic an evaluation may take before it is a flag.
static double evaluation_slack(const struct subject *s)
{
    const struct contest *c = s->contest;
    if (c == NULL || c->steps_vary) return strcmp(canonical_text(s->json, "device"), "cuda") == 0 ? 100 : 25;
    return has_own_samples(c) ? 5 : c->samples_per_item > 1 ? 20 : 3;
}

static void check_left_out(struct subject *s, const struct schedule *schedule)
{
    if (s->self || s->synthetic || s->count == 0 || !schedule->known) return;
    const struct left_out l = left_out_of(s);
    const struct check_point *last = &s->points[s->count - 1];
    const double train = (double)last->warm_ns * 1e-9, rate = work_between(schedule, 0, (double)last->samples) / train;
    if (!(train > 0) || !(rate > 0)) return;  // reported by check_work
    const double evaluate = evaluation_slack(s) * evaluation_work(s, &l) / rate;
    const double state = 24 * (double)canonical_int(s->json, "model.parameters"), states = l.states * (0.2 + state / 100e6);
    const struct {
        const char *what;
        double took, usual, most;
    } parts[] = {
        {"evaluations", l.evaluate, 0.05 * l.evaluations + evaluate, 1 + 0.5 * l.evaluations + 4 * evaluate},
        {"checkpoints", l.checkpoint, 0.05 * (l.points + train) + fmin(states, 0.15 * train),
         2 + 0.5 * (l.points + train) + fmin(10 * states, train)},
    };
    for (int i = evaluate > 0 ? 0 : 1; i < 2; i++) {  // check_data reports a missing test set
        if (parts[i].took <= parts[i].usual) continue;
        finding_add(s->out, parts[i].took > parts[i].most ? CHECK_WORK : CHECK_LEFT_OUT,
                    "its %s took %.3g s and its training %.3g s; their work explains %.3g s", parts[i].what, parts[i].took,
                    train, parts[i].usual);
    }
}

// ---- intervals

// No clock of nanoseconds gives the same interval four times. An invented curve may.
static void check_even(struct subject *s)
{
    if (s->count < 5) return;
    int64_t first = s->points[1].t_ns - s->points[0].t_ns;
    for (size_t i = 2; i < s->count; i++)
        if (s->points[i].t_ns - s->points[i - 1].t_ns != first) return;
    finding_add(s->out, CHECK_EVEN, "all %zu intervals between points are exactly %lld ns", s->count - 1, (long long)first);
}

// The loss of no training stays the same to a millionth. One that is not a number may, while the target is missed.
static void check_constant(struct subject *s)
{
    const int64_t not_a_number = 1000000000000000;
    if (s->self || s->count < 3) return;
    for (size_t i = 1; i < s->count; i++)
        if (s->points[i].loss != s->points[0].loss) return;
    if (s->points[0].loss == not_a_number && strcmp(s->status, "done") != 0) return;
    finding_add(s->out, CHECK_CONSTANT, "the loss of all %zu points is %.6f", s->count, (double)s->points[0].loss * 1e-6);
}

struct pace {
    size_t point;
    double work;   // of the interval that ends at the point
    double share;  // work a sample
    double cost;   // seconds of warm clock for a unit of work
};

static int by_cost(const void *a, const void *b)
{
    double x = ((const struct pace *)a)->cost, y = ((const struct pace *)b)->cost;
    return (x > y) - (x < y);
}

// The first interval is left out, because it touches memory for the first time and computes the first layer. In real records (AMD
// EPYC, 2 threads, cifar10 recipe) it took up to 45% longer. The others, with the half epoch at the end, stay within 13% for
// their work. An interval that is far shorter than the rest (a short last part) is mostly overhead.
static size_t collect(const struct subject *s, const struct schedule *schedule, struct pace *pace)
{
    size_t count = 0, kept = 0;
    double most = 0;
    for (size_t i = 1; i < s->count; i++) {
        const struct check_point *before = &s->points[i - 1], *p = &s->points[i];
        double samples = (double)(p->samples - before->samples);
        double work = work_between(schedule, (double)before->samples, (double)p->samples);
        if (work <= 0) continue;
        pace[count++] = (struct pace){i, work, work / samples, (double)(p->warm_ns - before->warm_ns) * 1e-9 / work};
        most = fmax(most, work);
    }
    for (size_t i = 0; i < count; i++)
        if (pace[i].work >= most / 4) pace[kept++] = pace[i];
    return kept;
}

// Compares the seconds for a unit of work with their median over the intervals with the most work a sample. Smaller samples
// fill a device worse, so their work may cost more, up to the cost of a large sample.
static void check_cadence(struct subject *s, const struct schedule *schedule)
{
    struct pace *pace = zalloc((s->count + 1) * 2 * sizeof *pace), *largest = pace + s->count + 1;
    size_t count = collect(s, schedule, pace), full = 0;
    double share = 0;
    for (size_t i = 0; i < count; i++) share = fmax(share, pace[i].share);
    for (size_t i = 0; i < count; i++)
        if (pace[i].share > 0.98 * share) largest[full++] = pace[i];
    qsort(largest, full, sizeof *largest, by_cost);
    double median = full == 0 ? 0 : full % 2 ? largest[full / 2].cost : (largest[full / 2 - 1].cost + largest[full / 2].cost) / 2;
    for (size_t i = 0; count >= 3 && i < count; i++) {
        const struct pace *p = &pace[i];
        if (p->cost >= 0.75 * median && p->cost <= 1.25 * median * share / p->share) continue;
        finding_add(s->out, CHECK_CADENCE, "the interval before point %zu took %.0f%% of the usual time for its samples",
                    p->point, median > 0 ? 100 * p->cost / median : INFINITY);
        break;
    }
    free(pace);
}

void check_speed(struct subject *s, const struct statement *whole)
{
    struct schedule schedule = read_schedule(s);
    check_arithmetic(s, whole, &schedule);
    if (s->in_order) check_left_out(s, &schedule);
    check_even(s);
    check_constant(s);
    if (s->in_order) check_cadence(s, &schedule);
}
