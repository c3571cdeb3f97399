// SPDX-License-Identifier: Apache-2.0
// Checks against the rules and the published data: task, data, group, money, latencies, program. Integers only, so two programs
// agree to the last micro-dollar.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "submit/format/check/check_inside.h"
#include "submit/format/score/cost.h"
#include "submit/format/score/price_machine.h"

enum { PRICE_DAYS = 90, COST_ITEMS = 10000 };

// ---- task

static bool target_allowed(const struct contest *c, int64_t target_micro)
{
    for (int i = 0; i < CONTEST_TARGETS && c->target_micro[i] != 0; i++)
        if (c->target_micro[i] == target_micro) return true;
    return false;
}

// Writes a target with all its digits if it is no whole hundredth of a percent.
static const char *target_text(const struct run_metric *m, int64_t target_micro, char into[TEXT_FIGURE])
{
    if (strcmp(m->unit, "%") == 0)
        snprintf(into, TEXT_FIGURE, "%.*f%%", target_micro % 100 == 0 ? 2 : 4, (double)target_micro / 10000);
    else snprintf(into, TEXT_FIGURE, "%.6g", (double)target_micro / 1e6);
    return into;
}

static bool same_metric(const struct run_metric *a, const struct run_metric *b)
{
    return strcmp(a->name, b->name) == 0 && a->lower_is_better == b->lower_is_better;
}

static void check_task(struct subject *s)
{
    const char *task = canonical_text(s->json, "task");
    const struct run_metric *metric = &s->metrics[0];
    const struct contest *c = contest_find(task);
    if (c == NULL || c->synthetic) {
        finding_add(s->out, CHECK_TASK, "there is no task called %s", task);
        return;
    }
    char hex[DIGEST_HEX], target[TEXT_FIGURE], boards[TEXT_FIGURE];
    const char *said = canonical_text(s->json, "task_digest");
    int rc = contest_digest(task, metric, s->target_micro, hex);
    if (rc < 0 || strcmp(hex, said) != 0)
        finding_add(s->out, CHECK_TASK, "the task's digest is %.12s..., but its metric, items, target%s give %.12s...", said,
                    c->scored_set != NULL ? " and scored set" : "", rc < 0 ? "none" : hex);
    else if (s->synthetic) return;  // the demonstration takes any number of items
    else if (!same_metric(metric, &c->board))
        finding_add(s->out, CHECK_TASK, "%s is measured as %s, not as %s", task, c->metric, metric->name);
    else if (strcmp(metric->unit, c->board.unit) != 0)
        finding_add(s->out, CHECK_TASK, "%s is measured in \"%s\", not in \"%s\"", task, c->board.unit, metric->unit);
    else if (metric->items != c->board.items)
        finding_add(s->out, CHECK_TASK, "%s is measured over %lld items, not %lld", task, (long long)c->items,
                    (long long)s->items);
    else if (!target_allowed(c, s->target_micro))
        finding_add(s->out, CHECK_TARGET, "%s has no board for a target of %s; its board's target is %s", task,
                    target_text(metric, s->target_micro, target), target_text(metric, c->target_micro[0], boards));
}

// That the recipe is a published one is the signer's word. The same statement says if a program scored itself.
static void check_division(struct subject *s)
{
    if (strcmp(canonical_text(s->json, "division"), "closed") != 0) return;
    if (s->self) finding_add(s->out, CHECK_DIVISION, "a run that scored itself belongs in the open division");
    else if (canonical_int(s->json, "recipe.published") == 0)
        finding_add(s->out, CHECK_DIVISION, "a run whose recipe is not a published one belongs in the open division");
    else if (json_array_size(json_object_get(s->json, "files")) > 0)
        finding_add(s->out, CHECK_DIVISION, "a run that took files besides its data belongs in the open division");
}

// DAWN's recipes have no other names. "Schedule" next to "schedule" is the same member to a parser that ignores case, and so is
// "schedule.epochs" to one that uses paths.
static bool names_are_plain(const json_t *value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    const char *key;
    json_t *item;
    size_t i;
    json_object_foreach((json_t *)value, key, item)
        if (key[strspn(key, letters)] != 0 || !names_are_plain(item)) return false;
    json_array_foreach((json_t *)value, i, item)
        if (!names_are_plain(item)) return false;
    return true;
}

// Checks of the schedule read the recipe, so a text that hides it, or that another parser reads otherwise, is refused.
static void check_recipe(struct subject *s)
{
    if (s->self) return;
    if (isnan(check_recipe_number(s, "schedule", "epochs")) || isnan(check_recipe_number(s, "data", "batch")))
        finding_add(s->out, CHECK_RECIPE, "its text is no JSON, or lacks the number schedule.epochs or data.batch");
    else if (!names_are_plain(s->recipe))
        finding_add(s->out, CHECK_RECIPE, "a name in its text has other characters than a-z, 0-9 and _");
}

// ---- data

struct data_facts {
    size_t count, train, test;
    bool official, synthetic;  // all sets are official; one set is synthetic
};

static struct data_facts data_facts(const json_t *list)
{
    struct data_facts f = {.count = json_array_size(list), .official = json_array_size(list) > 0};
    for (size_t i = 0; i < f.count; i++) {
        const json_t *set = json_array_get(list, i);
        bool synthetic = canonical_int(set, "synthetic") != 0;
        *(strcmp(canonical_text(set, "split"), "test") == 0 ? &f.test : &f.train) += 1;
        f.synthetic = f.synthetic || synthetic;
        f.official = f.official && canonical_int(set, "official") != 0 && !synthetic;
    }
    return f;
}

// Reports faults of data that are called official. False if there is none.
static bool official_fault(struct subject *s, const json_t *list, const struct data_facts *f)
{
    bool fixed = s->contest == NULL || contest_fixes_training(s->contest);
    if ((fixed && f->train < 1) || f->test != 1) {
        finding_add(s->out, CHECK_DATA, "official data are %sone test set; got %zu for training and %zu for testing",
                    fixed ? "one training set and " : "", f->train, f->test);
        return true;
    }
    if (s->contest != NULL && !contest_has_digests(s->contest)) {
        finding_add(s->out, CHECK_DATA, "this scoreboard knows no published digests of %s, so no data can be official",
                    s->contest->name);
        return true;
    }
    for (size_t i = 0; s->contest != NULL && i < f->count; i++) {
        const json_t *set = json_array_get(list, i);
        const char *split = canonical_text(set, "split"), *digest = canonical_text(set, "digest");
        long long items = (long long)canonical_int(set, "items");
        bool test = strcmp(split, "test") == 0;
        if (!contest_knows_data(s->contest, split, digest))
            finding_add(s->out, CHECK_DATA, "the %s set called official is not the published one: its digest is %.12s...", split,
                        digest);
        else if (test && s->contest->test_items > 0 && items != s->contest->test_items)
            finding_add(s->out, CHECK_DATA, "the test set called official has %lld items instead of %lld", items,
                        (long long)s->contest->test_items);
        else if (!test && s->contest->train_items > 0 && items != s->contest->train_items)
            finding_add(s->out, CHECK_DATA, "the training set called official has %lld items instead of %lld", items,
                        (long long)s->contest->train_items);
        else continue;
        return true;
    }
    return false;
}

static void check_data(struct subject *s)
{
    const json_t *list = json_object_get(s->json, "data");
    struct data_facts f = data_facts(list);
    if (f.count == 0 && !s->self)
        finding_add(s->out, CHECK_DATA, "the harness evaluated, but no data set is named");
    else if (f.count > 0 && s->synthetic != f.synthetic)
        finding_add(s->out, CHECK_DATA, "the run says synthetic %d, and its data sets say %d", s->synthetic, f.synthetic);
    else if (s->official != (f.official && !s->synthetic))
        finding_add(s->out, CHECK_DATA, "the run says official %d, and its data sets say %d", s->official, f.official);
    else if (s->official && official_fault(s, list, &f)) return;
    else if (!s->self && !s->official && !s->synthetic)
        finding_add(s->out, CHECK_DATA, "the data are neither the published set nor synthetic: such data have no board");
}

// ---- group

static void check_group(struct subject *s)
{
    int64_t index = canonical_int(s->json, "group.index"), planned = canonical_int(s->json, "group.planned");
    int64_t late = canonical_int(s->json, "group.announced_ms") - canonical_int(s->json, "started_ms");
    if (json_object_get(s->json, "group") == NULL) return;
    const int64_t year_ms = (int64_t)366 * 24 * 3600 * 1000;
    if (index < 1 || index > planned)
        finding_add(s->out, CHECK_GROUP, "run %lld of a group of %lld", (long long)index, (long long)planned);
    else if (late > 0)
        finding_add(s->out, CHECK_GROUP, "the group was announced %lld ms after this run of it began", (long long)late);
    else if (-late > year_ms)
        finding_add(s->out, CHECK_GROUP, "the group was announced %lld days before this run of it began",
                    (long long)(-late / (year_ms / 366)));
}

// ---- money

// Days since 1970 of a date whose form has been checked (the proleptic Gregorian calendar, years from March on).
static int64_t days_of(const char *date)
{
    int year = 1970, month = 1, day = 1;
    if (sscanf(date, "%4d-%2d-%2d", &year, &month, &day) != 3) return 0;
    int64_t y = year - (month <= 2), in_march_years = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    return 365 * y + y / 4 - y / 100 + y / 400 + in_march_years - 719468;
}

// `used_ms` must not be the submitter's free choice: an older date would make an old price look fresh.
static void check_price_age(struct subject *s, const json_t *price, int64_t used_ms, const char *what)
{
    int64_t days = used_ms / ((int64_t)24 * 3600 * 1000) - days_of(canonical_text(price, "date"));
    if (days < -1)  // dates are local ones
        finding_add(s->out, CHECK_PRICE, "the price of %s is dated %lld days after its use", what, (long long)-days);
    if (days > PRICE_DAYS)
        finding_add(s->out, CHECK_PRICE_OLD, "the price of %s was %lld days old", what, (long long)days);
}

struct listed {
    const char *instance, *date;
    int64_t micro_per_hour;  // the table's last price, or the one of that date; -1: not in the table
    bool dated;              // the table's price is of that date
    struct price row;        // that row
};

static int look_up_price(void *context, const struct price *row)
{
    struct listed *listed = context;
    if (strcmp(row->instance, listed->instance) != 0 || listed->dated) return 0;
    listed->micro_per_hour = row->micro_per_hour;
    listed->row = *row;
    listed->dated = strcmp(row->date, listed->date) == 0;
    return 0;
}

// The machine of a run or of a latency must be one that the instance can be. A statement names the GPUs in use alone.
static void check_instance(struct subject *s, const json_t *of, const struct price *row, const char *what)
{
    char why[PRICE_MACHINE_WHY];
    const struct price_machine machine = {
        .cpu = canonical_text(of, "hardware.cpu"), .gpu = canonical_text(of, "hardware.gpu"),
        .product = canonical_text(of, "hardware.product"), .threads = canonical_int(of, "hardware.cores_online"),
        .memory_bytes = canonical_int(of, "hardware.memory_bytes"), .devices = canonical_int(of, "hardware.devices")};
    if (price_machine_differs(row, &machine, why))
        finding_add(s->out, CHECK_PRICE, "%s: %s has %s, but the machine %s", what, row->instance, row->what, why);
}

// A named instance must have the price of the table. Prices of other dates are unknown here, and are accepted between half and
// twice the price of the table.
static void check_listed(struct subject *s, const json_t *of, const char *what)
{
    const json_t *price = json_object_get(of, "price");
    struct listed listed = {.instance = canonical_text(price, "instance"), .date = canonical_text(price, "date"),
                            .micro_per_hour = -1};
    int64_t said = canonical_int(price, "micro_usd_per_hour");
    if (*listed.instance == 0) return;
    int rc = price_table(look_up_price, &listed);
    BUG_IF(rc < 0);  // it is embedded
    if (listed.micro_per_hour >= 0) check_instance(s, of, &listed.row, what);
    if (listed.micro_per_hour == said) return;
    if (listed.dated)
        finding_add(s->out, CHECK_PRICE, "%s: %s costs %lld micro-USD per hour, not %lld", what, listed.instance,
                    (long long)listed.micro_per_hour, (long long)said);
    else if (listed.micro_per_hour > 0 && (said > 2 * listed.micro_per_hour || said < listed.micro_per_hour / 2))
        finding_add(s->out, CHECK_PRICE,
                    "%s: %s costs %lld micro-USD per hour by the table, which %lld at another date cannot be",
                    what, listed.instance, (long long)listed.micro_per_hour, (long long)said);
    else
        finding_add(s->out, CHECK_PRICE_OLD, "%s: no price of %s of %s is known here", what, listed.instance, listed.date);
}

static void check_total(struct subject *s, const json_t *price, bool due, int64_t total, const char *what)
{
    const json_t *said = json_object_get(price, "total_micro_usd");
    if (!due && said != NULL) finding_add(s->out, CHECK_COST, "%s has a cost, though the target was not met", what);
    else if (due && said == NULL) finding_add(s->out, CHECK_COST, "%s has a price, but no cost", what);
    else if (due && json_integer_value(said) != total)
        finding_add(s->out, CHECK_COST, "%s costs %lld micro-USD by its time and price, but %lld are claimed", what,
                    (long long)total, (long long)json_integer_value(said));
}

static void check_cost(struct subject *s)
{
    const json_t *price = json_object_get(s->json, "price"), *reached = json_object_get(s->json, "reached");
    if (price == NULL) return;
    int64_t total = cost_training_micro(canonical_int(reached, "t_ns"), canonical_int(price, "micro_usd_per_hour"));
    check_total(s, price, reached != NULL, total, "the training");
    check_price_age(s, price, canonical_int(s->json, "ended_ms"), "the training");
    check_listed(s, s->json, "the training");
}

// ---- latencies

static int64_t time_of(const json_t *latency, const char *which, const char *figure)
{
    char name[32];
    snprintf(name, sizeof name, "%s_%s_ns", which, figure);
    return canonical_int(latency, name);
}

// Half of the items take at least p50, a tenth at least p90, a hundredth at least p99. This bounds the mean from below. Nothing
// bounds it from above, because the slowest item is not stated. One nanosecond is the mean's own rounding.
static const char *times_fault(const json_t *latency, const char *which)
{
    int64_t p50 = time_of(latency, which, "p50"), p90 = time_of(latency, which, "p90"), p99 = time_of(latency, which, "p99");
    if (p50 > p90) return "p50 is above p90";
    if (p90 > p99) return "p90 is above p99";
    int64_t mean = time_of(latency, which, "mean");
    if (100 * (mean + 1) < 40 * p50 + 9 * p90 + p99) return "the mean is below the least that the percentiles allow";
    return NULL;
}

static void check_times(struct subject *s, size_t i, const json_t *latency)
{
    static const char *const which[] = {"model", "whole"}, *const figures[] = {"mean", "p50", "p90", "p99"};
    for (int w = 0; w < 2; w++) {
        const char *fault = times_fault(latency, which[w]);
        if (fault == NULL) continue;
        finding_add(s->out, CHECK_LATENCY, "latency %zu, %s: %s", i, which[w], fault);
        return;
    }
    for (int f = 0; f < 4; f++) {
        if (time_of(latency, "model", figures[f]) <= time_of(latency, "whole", figures[f])) continue;
        finding_add(s->out, CHECK_LATENCY, "latency %zu: the forward pass alone has a larger %s than the whole", i, figures[f]);
        return;
    }
}

static int64_t latency_items(const struct subject *s, const json_t *latency)
{
    return contest_items(s->contest, canonical_int(latency, "items"));
}

// Another precision or number of views changes a score a little, but not by a hundredth of what there is; where that is a loss,
// not by a hundredth of itself. So a run that just missed the target may have an eligible latency, and one that was far from it
// may not.
static bool beats_run(const struct subject *s, const json_t *latency)
{
    const struct run_metric *m = &s->metrics[0];
    const double most = (double)check_most(s->contest, m), measured = m->items > 0 ? (double)latency_items(s, latency) : most;
    double best = NAN;  // it stays so if nothing was evaluated
    for (size_t i = 0; i < s->count; i++) {
        double score = (double)s->points[i].score[0];
        if (s->points[i].score[0] != RUN_SCORE_NONE) best = m->lower_is_better ? fmin(best, score) : fmax(best, score);
    }
    const double k = (double)canonical_int(latency, "k");
    return m->lower_is_better ? k < 0.99 * best : k / measured - best / most > 0.01;
}

static const char *eligible_fault(const struct subject *s, const json_t *latency)
{
    const struct contest *c = s->contest;
    if (s->synthetic || canonical_int(latency, "synthetic") != 0) return "its images are synthetic";
    if (c == NULL) return NULL;  // check_task reports the unknown task
    if (!contest_has_digests(c)) return "no digest of its test set is published here";
    if (canonical_int(latency, "items") != c->requests) return "it did not measure the whole test set";
    if (!contest_knows_data(c, "test", canonical_text(latency, "data_digest"))) return "its items are not the published test set";
    const char *own = canonical_text(latency, "weights_digest"), *run = canonical_text(s->json, "model.weights_digest");
    if (*own == 0 || strcmp(own, run) != 0) return "its weights are not known to be the run's";
    struct run_metric measured = c->board;
    measured.items = c->board.items > 0 ? canonical_int(latency, "items") : 0;
    if (!run_metric_meets(&measured, canonical_int(latency, "k"), s->target_micro))
        return "it does not meet the target";
    return beats_run(s, latency) ? "it scores more than its run does" : NULL;
}

static void check_latencies(struct subject *s)
{
    const json_t *list = json_object_get(s->json, "latencies");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *latency = json_array_get(list, i), *price = json_object_get(latency, "price");
        const char *fault = canonical_int(latency, "eligible") != 0 ? eligible_fault(s, latency) : NULL;
        int64_t k = canonical_int(latency, "k"), items = latency_items(s, latency);
        char what[32];
        snprintf(what, sizeof what, "latency %zu", i);
        check_times(s, i, latency);
        if (fault != NULL) finding_add(s->out, CHECK_ELIGIBLE, "latency %zu is called eligible, but %s", i, fault);
        bool count = s->contest == NULL || s->contest->board.items > 0;
        if (k < 0 || k > (count ? items : check_most(s->contest, &s->contest->board)))
            finding_add(s->out, CHECK_SCORE, count ? "latency %zu: %lld correct of %lld items"
                                                   : "latency %zu: a score of %lld millionths, and at most %lld are possible",
                        i, (long long)k, (long long)(count ? items : check_most(s->contest, &s->contest->board)));
        if (price == NULL) continue;
        int64_t hour = canonical_int(price, "micro_usd_per_hour"), mean = time_of(latency, "whole", "mean");
        check_total(s, price, true, cost_inference_micro(mean, COST_ITEMS, hour), what);
        int64_t measured = canonical_int(latency, "measured_ms"), ended = canonical_int(s->json, "ended_ms");
        check_price_age(s, price, measured > ended ? measured : ended, what);  // its weights exist from the run's end on
        check_listed(s, latency, what);
    }
}

// ---- the program

void check_program(const json_t *statement, struct findings *out)
{
    if (canonical_int(statement, "software.dirty") != 0)
        finding_add(out, CHECK_DIRTY, "the program was built from sources that differ from their commit");
    else if (*canonical_text(statement, "software.commit") == 0)
        finding_add(out, CHECK_SOURCES, "the program was built outside git, so it is not known which sources it has");
}

void check_rules(struct subject *s)
{
    check_task(s);
    check_division(s);
    check_recipe(s);
    check_data(s);
    check_group(s);
    check_cost(s);
    check_latencies(s);
    check_program(s->json, s->out);
    if (s->self) finding_add(s->out, CHECK_SELF, "the trained program scored itself");
}
