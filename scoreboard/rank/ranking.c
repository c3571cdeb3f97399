// SPDX-License-Identifier: Apache-2.0
// Derives rows from statements by docs/rules.md. Invariant: a row depends on signed bytes alone; money and time are multiplied
// as integers and converted to double once, by one division. Cost: a pass over the points, microseconds.
#include "scoreboard/rank/ranking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/common/base/hash.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/curve.h"

#define NS_PER_SECOND 1e9
#define UJ_PER_JOULE 1e6
#define NS_PER_MILLISECOND 1e6
#define NS_MICRO_PER_HOUR 3.6e18  // nanoseconds of an hour x millionths of a dollar; exact as a double

static double dollars(__int128 ns, int64_t micro_per_hour)
{
    return (double)(ns * micro_per_hour) / NS_MICRO_PER_HOUR;
}

// A machine with a GPU may have computed on its processor.
const char *ranking_hardware(const json_t *of, struct arena *arena)
{
    const char *gpu = canonical_text(of, "hardware.gpu"), *cpu = canonical_text(of, "hardware.cpu"),
               *device = canonical_text(of, "device");
    int64_t devices = canonical_int(of, "hardware.devices"), threads = canonical_int(of, "threads");
    const char *count = devices > 1 ? arena_text(arena, "%lld x ", (long long)devices) : "";
    if (*gpu != 0 && strcmp(device, "cpu") != 0 && strcmp(device, "ref") != 0) {
        size_t digits = strspn(gpu, "0123456789");  // "8 x NAME" counts installed GPUs, `devices` those in use
        if (digits > 0 && strncmp(gpu + digits, " x ", 3) == 0) gpu += digits + 3;
        return arena_text(arena, "%s%s", count, gpu);
    }
    if (*cpu == 0) cpu = "unknown processor";
    if (threads == 0) return arena_text(arena, "%s%s", count, cpu);
    return arena_text(arena, "%s%s, %lld thread%s", count, cpu, (long long)threads, threads == 1 ? "" : "s");
}

// The name in such a text: without the number of devices before it and the number of threads behind it.
static const char *bare_name(const char *hardware, size_t *length)
{
    size_t digits = strspn(hardware, "0123456789");
    if (digits > 0 && strncmp(hardware + digits, " x ", 3) == 0) hardware += digits + 3;
    *length = strlen(hardware);
    const char *comma = strrchr(hardware, ',');
    const char *number = comma != NULL ? comma + strspn(comma, ", ") : "";
    digits = strspn(number, "0123456789");
    if (digits > 0 && (strcmp(number + digits, " thread") == 0 || strcmp(number + digits, " threads") == 0))
        *length = (size_t)(comma - hardware);
    return hardware;
}

char *ranking_machine_name(const char *hardware, char into[RANKING_MACHINE_NAME])
{
    size_t length;
    hardware = bare_name(hardware, &length);
    snprintf(into, RANKING_MACHINE_NAME, "%.*s", (int)length, hardware);
    return into;
}

static char lower_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter_or_digit(char c)
{
    c = lower_letter(c);
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// Letters and digits of ASCII in lower case, a hyphen for everything between them. Returns what did not fit.
static const char *write_letters(const char *name, char into[RANKING_MACHINE], size_t *used)
{
    const size_t most = RANKING_MACHINE - 19;  // a hyphen and 16 digits may follow
    for (*used = 0; *name != 0 && *used < most; name++) {
        if (is_letter_or_digit(*name)) into[(*used)++] = lower_letter(*name);
        else if (*used > 0 && into[*used - 1] != '-') into[(*used)++] = '-';
    }
    while (*used > 0 && into[*used - 1] == '-') --*used;
    into[*used] = 0;
    return name;
}

char *ranking_machine_plain(const char *hardware, char into[RANKING_MACHINE])
{
    char name[RANKING_MACHINE_NAME];
    size_t used;
    const char *rest = write_letters(ranking_machine_name(hardware, name), into, &used);
    if (used < 2 || *rest != 0)
        snprintf(into + used, RANKING_MACHINE - used, "%s%016llx", used > 0 ? "-" : "", (unsigned long long)hash_text64(name));
    return into;
}

// True if the letters say all of the name: blanks alone became hyphens, each a single one between two letters or digits.
static bool letters_say_all(const char *name)
{
    for (size_t i = 0; name[i] != 0; i++) {
        if (is_letter_or_digit(name[i])) continue;
        if (name[i] != ' ' || i == 0 || !is_letter_or_digit(name[i + 1])) return false;
    }
    return true;
}

// Folded first, as the dictionary of the boards folds its texts (shelf.h).
char *ranking_machine(const char *hardware, char into[RANKING_MACHINE])
{
    char *folded = copy_text(hardware), hex[DIGEST_HEX];
    size_t length, used;
    for (char *c = folded; *c != 0; c++) *c = lower_letter(*c);
    const char *name = bare_name(folded, &length);
    folded[(size_t)(name - folded) + length] = 0;
    const char *rest = write_letters(name, into, &used);
    if (used < 2 || *rest != 0 || !letters_say_all(name)) {
        digest_bytes(name, length, hex);
        snprintf(into + used, RANKING_MACHINE - used, "--%.12s", hex);  // letters alone never give two hyphens
    }
    free(folded);
    return into;
}

static const char *day_of(int64_t ms, struct arena *arena)
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm day;
    char text[16];
    if (gmtime_r(&seconds, &day) == NULL || strftime(text, sizeof text, "%Y-%m-%d", &day) == 0) text[0] = 0;
    return arena_text(arena, "%s", text);
}

const struct contest *ranking_contest(const json_t *run)
{
    return contest_of(canonical_text(run, "task"), canonical_int(run, "synthetic") != 0);
}

static bool is_self(const json_t *run)
{
    return strcmp(canonical_text(run, "evaluated_by"), "self") == 0;
}

// The members that all rows of a run share.
static struct entry entry_of(const json_t *run, struct arena *arena)
{
    const struct contest *contest = ranking_contest(run);
    return (struct entry){
        .cost = -1, .energy = -1, .p = -1, .runs = 1, .trust = TRUST_SIGNED, .source = "",
        .contest = contest != NULL ? contest->name : "",
        .devices = canonical_int(run, "hardware.devices"), .views = canonical_int(run, "views"),
        .group = canonical_text(run, "group.nonce"), .author = canonical_text(run, "handle"), .team = "",
        .model = canonical_text(run, "model.name"), .framework = canonical_text(run, "software.framework"),
        .hardware = ranking_hardware(run, arena), .precision = canonical_text(run, "precision"),
        .division = canonical_text(run, "division"), .date = day_of(canonical_int(run, "ended_ms"), arena),
        .code_url = "", .tags = "", .self = is_self(run),
    };
}

// Copies texts, because the statement is freed before the rows.
static void keep_texts(struct entry *e, struct arena *arena)
{
    const char **texts[] = {&e->group, &e->author, &e->model, &e->framework, &e->precision, &e->division};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) *texts[i] = arena_text(arena, "%s", *texts[i]);
}

static void add_row(struct ranked rows[BOARDS], int *count, enum board board, enum rank rank, struct entry entry, double value)
{
    entry.value = entry.low = entry.high = value;
    rows[(*count)++] = (struct ranked){board, rank, entry, false};
}

static const json_t *crossing(const json_t *run, int64_t target_micro)
{
    const struct run_metric board = curve_board(run);
    size_t i;
    json_t *point;
    json_array_foreach((json_t *)canonical_at(run, "points"), i, point)
        if (run_metric_meets(&board, curve_score(point, &board), target_micro)) return point;
    return NULL;
}

// True if a target is harder than another.
bool ranking_is_harder(const json_t *run, int64_t target_micro, int64_t than_micro)
{
    return curve_board(run).lower_is_better ? target_micro < than_micro : target_micro > than_micro;
}

static double score_of(const json_t *run, const json_t *point)
{
    const struct run_metric board = curve_board(run);
    int64_t score = curve_score(point, &board);
    return score != RUN_SCORE_NONE ? run_metric_value(&board, score) : 0;
}

// Joules up to the target, at that point. What a program that scored itself used is not known: the recorder reads no GPU.
static double energy_until(const json_t *run, const json_t *point)
{
    int64_t energy = canonical_int(run, "reached.energy_uj");
    bool there = canonical_int(run, "reached.t_ns") == canonical_int(point, "t_ns");
    return energy > 0 && there && !is_self(run) ? (double)energy / UJ_PER_JOULE : -1;
}

// Mean joules of the whole runs. A run that met its target must state the energy until then, too: only such statements leave the
// energy out if a part of it could not be read.
static double energy_of_group(const struct statement *const *runs, int count)
{
    double sum = 0;
    int reached = 0;
    for (int i = 0; i < count; i++) {
        const json_t *run = runs[i]->json;
        int64_t energy = canonical_int(run, "energy_uj");
        bool met = canonical_at(run, "reached") != NULL;
        if (energy <= 0 || is_self(run) || (met && canonical_int(run, "reached.energy_uj") <= 0)) return -1;
        sum += (double)energy / UJ_PER_JOULE;
        reached += met;
    }
    return reached > 0 ? sum / count : -1;
}

static double latency_score(const json_t *run, const json_t *latency)
{
    int64_t items = contest_items(ranking_contest(run), canonical_int(latency, "items"));
    return items > 0 ? (double)canonical_int(latency, "k") / (double)items : 0;
}

static int64_t price_of(const json_t *of)
{
    return canonical_int(of, "price.micro_usd_per_hour");
}

// A price of an instance was compared with the table of prices.
static bool is_listed(const json_t *of)
{
    return *canonical_text(of, "price.instance") != 0;
}

// The best eligible latency: the quickest, or with `priced` the cheapest, by a listed price if there is one. A lower target asks
// no less of a latency.
static const json_t *best_latency(const json_t *run, bool priced)
{
    const json_t *best = NULL;
    __int128 best_product = 0;
    size_t i;
    json_t *latency;
    json_array_foreach((json_t *)canonical_at(run, "latencies"), i, latency)
    {
        if (canonical_int(latency, "eligible") == 0 || canonical_int(latency, "synthetic") != 0) continue;
        if (priced && price_of(latency) == 0) continue;
        __int128 product = (__int128)canonical_int(latency, "whole_mean_ns") * (priced ? price_of(latency) : 1);
        const bool less_known = priced && best != NULL && is_listed(latency) != is_listed(best);
        if (less_known ? is_listed(best) : best != NULL && product >= best_product) continue;
        best = latency;
        best_product = product;
    }
    return best;
}

static struct entry entry_of_latency(const json_t *run, const json_t *latency, struct arena *arena)
{
    struct entry entry = entry_of(run, arena);
    keep_texts(&entry, arena);
    entry.hardware = ranking_hardware(latency, arena);
    entry.precision = arena_text(arena, "%s", canonical_text(latency, "precision"));
    entry.devices = canonical_int(latency, "hardware.devices");
    entry.views = canonical_int(latency, "views");
    entry.accuracy = latency_score(run, latency);
    if (price_of(latency) > 0) entry.cost = dollars(canonical_int(latency, "whole_mean_ns"), price_of(latency));
    return entry;
}

int ranking_of_run(const struct statement *s, int64_t target_micro, struct arena *arena, struct ranked rows[BOARDS])
{
    const json_t *run = s->json;
    const struct contest *contest = s->type == STATEMENT_RUN ? ranking_contest(run) : NULL;
    int count = 0;
    if (contest == NULL || !curve_ended(run)) return 0;
    if (contest->synthetic) target_micro = contest->target_micro[0];  // a run of the demonstration may name any other
    if (ranking_is_harder(run, target_micro, canonical_int(run, "target_micro"))) return 0;
    const json_t *point = crossing(run, target_micro);
    if (point != NULL) {
        struct entry entry = entry_of(run, arena);
        keep_texts(&entry, arena);
        int64_t classic = canonical_int(point, "classic_ns");
        entry.accuracy = score_of(run, point);
        entry.energy = energy_until(run, point);
        if (price_of(run) > 0) entry.cost = dollars(classic, price_of(run));
        add_row(rows, &count, BOARD_TRAINING_TIME, RANK_CLASSIC, entry, (double)classic / NS_PER_SECOND);
        if (price_of(run) > 0) {
            add_row(rows, &count, BOARD_TRAINING_COST, RANK_CLASSIC, entry, entry.cost);
            rows[count - 1].stated = !is_listed(run);
        }
    }
    const json_t *quickest = best_latency(run, false), *cheapest = best_latency(run, true);
    if (quickest != NULL)
        add_row(rows, &count, BOARD_INFERENCE_LATENCY, RANK_CLASSIC, entry_of_latency(run, quickest, arena),
            (double)canonical_int(quickest, "whole_mean_ns") / NS_PER_MILLISECOND);
    if (cheapest != NULL) {
        struct entry entry = entry_of_latency(run, cheapest, arena);
        add_row(rows, &count, BOARD_INFERENCE_COST, RANK_CLASSIC, entry, entry.cost);
        rows[count - 1].stated = !is_listed(cheapest);
    }
    return count;
}

static const json_t *last_point(const json_t *run, bool evaluated)
{
    const struct run_metric board = curve_board(run);
    const json_t *points = canonical_at(run, "points");
    for (size_t i = json_array_size(points); i-- > 0;) {
        const json_t *point = json_array_get(points, i);
        if (!evaluated || curve_score(point, &board) != RUN_SCORE_NONE) return point;
    }
    return NULL;
}

// True if the data are known not to be the published set. An outside program's statement claims nothing of its data (record.c
// judges groups in results.db alike).
static bool is_custom(const json_t *run)
{
    bool silent = is_self(run) && json_array_size(canonical_at(run, "data")) == 0;
    return canonical_int(run, "official") == 0 && !silent;
}

static struct group_run group_run_of(const json_t *run)
{
    const json_t *last = last_point(run, false), *score = last_point(run, true);
    const struct run_metric board = curve_board(run);
    return (struct group_run){
        .seed = canonical_int(run, "seed"), .ns = canonical_int(last, "t_ns"),
        .k = score != NULL ? curve_score(score, &board) : 0, .items = board.items, .lower = board.lower_is_better,
        .finished = score != NULL && curve_ended(run),
        .synthetic = canonical_int(run, "synthetic") != 0, .custom = is_custom(run),
        .stopped_at_target = canonical_int(run, "stop_at_target") != 0,
    };
}

static struct entry entry_of_group(const struct statement *const *runs, int count, const struct group_facts *facts,
                                   struct arena *arena)
{
    struct entry entry = entry_of(runs[0]->json, arena);
    keep_texts(&entry, arena);
    entry.runs = count;
    entry.p = facts->p;
    entry.accuracy = facts->accuracy.mean;
    for (int i = 1; i < count; i++) {
        const json_t *run = runs[i]->json;
        const char *hardware = ranking_hardware(run, arena),
                   *date = day_of(canonical_int(run, "ended_ms"), arena);
        if (strcmp(hardware, entry.hardware) != 0) entry.hardware = "several machines";
        if (strcmp(date, entry.date) > 0) entry.date = date;
        if (strcmp(canonical_text(run, "precision"), entry.precision) != 0) entry.precision = "several";
        if (strcmp(canonical_text(run, "division"), entry.division) != 0) entry.division = "open";
        if (strcmp(canonical_text(run, "software.framework"), entry.framework) != 0) entry.framework = "several";
        if (canonical_int(run, "hardware.devices") > entry.devices) entry.devices = canonical_int(run, "hardware.devices");
        if (is_self(run)) entry.self = 1;
        if (canonical_int(run, "views") > entry.views) entry.views = canonical_int(run, "views");
    }
    return entry;
}

static void add_mean(struct ranked rows[BOARDS], int *count, enum board board, const struct entry *entry,
                     const struct group_mean *mean, double factor)
{
    add_row(rows, count, board, RANK_GROUP, *entry, mean->mean * factor);
    rows[*count - 1].entry.low = mean->low * factor;
    rows[*count - 1].entry.high = mean->high * factor;
}

static void add_group_training(const struct statement *const *runs, int count, struct entry entry,
                               const struct group_facts *facts, struct ranked rows[BOARDS], int *rows_count)
{
    int64_t price = price_of(runs[0]->json);
    bool listed = true;
    for (int i = 0; i < count; i++) {
        if (price_of(runs[i]->json) != price) price = 0;
        listed = listed && is_listed(runs[i]->json);
    }
    double an_hour = (double)price / 1e6 / 3600;  // USD per second
    entry.energy = energy_of_group(runs, count);
    if (price > 0) entry.cost = facts->seconds.mean * an_hour;
    add_mean(rows, rows_count, BOARD_TRAINING_TIME, &entry, &facts->seconds, 1);
    if (price == 0) return;
    add_mean(rows, rows_count, BOARD_TRAINING_COST, &entry, &facts->seconds, an_hour);
    rows[*rows_count - 1].stated = !listed;
}

// Latencies count when every run has one; costs, when every run has one at the same price.
static void add_group_inference(const struct statement *const *runs, int count, struct entry entry, enum board board,
                                struct arena *arena, struct ranked rows[BOARDS], int *rows_count)
{
    bool priced = board == BOARD_INFERENCE_COST, one_price = true, listed = true;
    double *values = zalloc((size_t)count * sizeof *values), accuracy = 0;
    const json_t *first = best_latency(runs[0]->json, priced);
    int found = 0;
    for (; found < count; found++) {
        const json_t *latency = best_latency(runs[found]->json, priced);
        if (latency == NULL) break;
        if (price_of(latency) != price_of(first)) one_price = false;
        listed = listed && is_listed(latency);
        double ns = (double)canonical_int(latency, "whole_mean_ns");
        values[found] = priced ? dollars(canonical_int(latency, "whole_mean_ns"), price_of(latency)) : ns / NS_PER_MILLISECOND;
        accuracy += latency_score(runs[found]->json, latency) / count;
    }
    if (found == count && (one_price || !priced)) {
        const struct entry of_first = entry_of_latency(runs[0]->json, first, arena);
        struct group_mean mean;
        group_mean(values, count, &mean);
        entry.accuracy = accuracy;
        entry.views = of_first.views;
        entry.devices = of_first.devices;
        entry.precision = of_first.precision;
        entry.hardware = of_first.hardware;
        entry.cost = priced ? mean.mean : -1;
        if (!priced && one_price && price_of(first) > 0)
            entry.cost = mean.mean * NS_PER_MILLISECOND * (double)price_of(first) / NS_MICRO_PER_HOUR;
        add_mean(rows, rows_count, board, &entry, &mean, 1);
        rows[*rows_count - 1].stated = priced && !listed;
    }
    free(values);
}

int ranking_of_group_at(const struct statement *const *runs, int count, int planned, int64_t target_micro, struct arena *arena,
                        struct group_facts *facts, struct ranked rows[BOARDS])
{
    struct group_run *list = zalloc((size_t)(count + 1) * sizeof *list);
    for (int i = 0; i < count; i++) list[i] = group_run_of(runs[i]->json);
    int found = 0;
    group_judge(list, count, planned, target_micro, facts);
    free(list);
    const struct contest *contest = count > 0 ? ranking_contest(runs[0]->json) : NULL;
    const bool tried = facts->verdict == GROUP_SYNTHETIC;  // as an official group, on the demonstration's board
    if (contest == NULL || contest->synthetic != tried || (!tried && !facts->official)) return 0;
    const struct entry entry = entry_of_group(runs, count, facts, arena);
    add_group_training(runs, count, entry, facts, rows, &found);
    add_group_inference(runs, count, entry, BOARD_INFERENCE_LATENCY, arena, rows, &found);
    add_group_inference(runs, count, entry, BOARD_INFERENCE_COST, arena, rows, &found);
    return found;
}

int ranking_of_group(const struct statement *const *runs, int count, int planned, struct arena *arena,
                     struct group_facts *facts, struct ranked rows[BOARDS])
{
    int64_t target = count > 0 ? canonical_int(runs[0]->json, "target_micro") : 0;
    return ranking_of_group_at(runs, count, planned, target, arena, facts, rows);
}

static void append_brief(json_t *list, const json_t *item)
{
    if (item != NULL) json_array_append(list, (json_t *)item);
}

json_t *ranking_brief(const json_t *run)
{
    json_t *brief = json_copy((json_t *)run), *points = json_array(), *segments = json_array(), *latencies = json_array();
    const json_t *last = last_point(run, false), *evaluated = last_point(run, true), *quickest = best_latency(run, false),
                 *cheapest = best_latency(run, true), *list = canonical_at(run, "segments");
    if (evaluated != last) append_brief(points, evaluated);
    append_brief(points, last);
    append_brief(segments, json_array_get(list, json_array_size(list) > 0 ? json_array_size(list) - 1 : 0));
    append_brief(latencies, quickest);
    if (cheapest != quickest) append_brief(latencies, cheapest);
    json_object_set_new(brief, "points", points);
    json_object_set_new(brief, "segments", segments);
    json_object_set_new(brief, "latencies", latencies);
    json_object_del(brief, "recipe");
    return brief;
}

static int by_digest_text(const void *a, const void *b)
{
    char *x = json_dumps(*(json_t *const *)a, JSON_COMPACT | JSON_SORT_KEYS),
         *y = json_dumps(*(json_t *const *)b, JSON_COMPACT | JSON_SORT_KEYS);
    int sign = x != NULL && y != NULL ? strcmp(x, y) : 0;
    free(x);
    free(y);
    return sign;
}

// A new list in one order, independent of the order in which its items were sent.
static json_t *sorted_list(const json_t *list)
{
    size_t count = json_array_size(list);
    json_t **items = zalloc((count + 1) * sizeof *items), *sorted = json_array();
    for (size_t i = 0; i < count; i++) items[i] = json_array_get(list, i);
    qsort(items, count, sizeof *items, by_digest_text);
    for (size_t i = 0; i < count; i++) json_array_append(sorted, items[i]);
    free(items);
    return sorted;
}

static json_t *row_of(const json_t *point)
{
    static const char *const members[] = {"step", "epoch_micro", "samples", "scores", "loss"};
    json_t *row = json_object();
    for (size_t m = 0; m < sizeof members / sizeof members[0]; m++)
        if (json_object_get(point, members[m]) != NULL) json_object_set(row, members[m], json_object_get(point, members[m]));
    if (json_object_get(point, "scores") != NULL)
        json_object_set_new(row, "scores", sorted_list(json_object_get(point, "scores")));
    return row;
}

static json_t *curve_of(const json_t *run)
{
    json_t *points = json_array(), *point;
    size_t i;
    json_array_foreach((json_t *)canonical_at(run, "points"), i, point) json_array_append_new(points, row_of(point));
    return points;
}

int ranking_opening(const json_t *run, char hex[DIGEST_HEX])
{
    const json_t *first = json_array_get(canonical_at(run, "points"), 0);
    return canonical_digest(json_pack("{s:s, s:o}", "task", canonical_text(run, "task"), "point", row_of(first)), hex);
}

int ranking_curve(const struct statement *s, char hex[DIGEST_HEX])
{
    const json_t *run = s->json;
    json_t *digests = json_array(), *data = sorted_list(canonical_at(run, "data")), *set;
    size_t i;
    json_array_foreach(data, i, set)
        json_array_append_new(digests, json_pack("[s, s]", canonical_text(set, "split"), canonical_text(set, "digest")));
    json_t *value = json_pack("{s:s, s:s, s:s, s:I, s:o, s:o}", "task", canonical_text(run, "task_digest"), "recipe",
                              canonical_text(run, "recipe.digest"), "binary", canonical_text(run, "software.binary_digest"),
                              "seed", (json_int_t)canonical_int(run, "seed"), "data", digests, "points", curve_of(run));
    json_decref(data);
    return canonical_digest(value, hex);
}
