// SPDX-License-Identifier: Apache-2.0
// The list of runs: one line per run in 80 columns, each column as wide as its widest cell. Each run's chain is checked on the
// way. Cost: the whole record is read once.
#include "tasks/tools/show/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/cli/json_text.h"
#include "submit/format/score/curve.h"
#include "submit/results/export.h"
#include "submit/results/group_text.h"

enum { RUN, GROUP, NAME, SEED, STARTED, TASK, STATUS, SCORE, TIME, COLUMNS, CELL = 40, TASK_CUT = 8, SEED_CUT = 8, NAME_CUT = 12,
       MODEL_ROOM = 16, NAMES_MOST = 32 };
static const char *const titles[COLUMNS] = {"run", "grp", "name", "seed", "started", "task", "status", "score", "to target"};
static const bool right[COLUMNS] = {[RUN] = true, [SEED] = true, [SCORE] = true, [TIME] = true};

// A line below the table says what a mark means.
#define MARK_SYNTHETIC " *"
#define MARK_SELF " +"

struct row {
    char cell[COLUMNS][CELL];
    const char *model, *note;  // note, after the model: a mark, " BROKEN", both, or ""
};
struct list {
    json_t *runs;
    struct row *row;
    int count, broken, synthetic, self, width[COLUMNS];
};

const struct show_filter show_everything = {.seed = -1};

static bool has_tag(const json_t *run, const char *tag)
{
    const size_t length = strlen(tag);
    for (const char *at = record_text(run, "tags"); *at; at += strspn(at, " ")) {
        size_t here = strcspn(at, " ");
        if (here == length && memcmp(at, tag, length) == 0) return true;
        at += here;
    }
    return false;
}

static bool matches(const json_t *run, const struct show_filter *f)
{
    return (f->task == NULL || strcmp(record_text(run, "task"), f->task) == 0) &&
           (f->status == NULL || strcmp(record_text(run, "status"), f->status) == 0) &&
           (f->model == NULL || strcmp(record_text(run, "model"), f->model) == 0) &&
           (f->tag == NULL || has_tag(run, f->tag)) && (f->group <= 0 || record_int(run, "group_id") == f->group) &&
           (f->seed < 0 || record_int(run, "seed") == f->seed);
}

// Writes month and day for a run of the last ten months.
static void write_started(char into[CELL], int64_t unix_ms)
{
    const int64_t recent_ms = (int64_t)300 * 24 * 3600 * 1000;
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm day;
    gmtime_r(&seconds, &day);
    strftime(into, CELL, clock_unix_ms() - unix_ms < recent_ms ? "%m-%d %H:%M" : "%Y-%m-%d", &day);
}

static void write_name(char into[CELL], const char *name)
{
    snprintf(into, CELL, "%.*s", NAME_CUT, name);
    if (strlen(name) > NAME_CUT) strcpy(into + NAME_CUT - 2, "..");
}

static void write_row(const json_t *run, bool broken, struct row *row)
{
    char figure[TEXT_FIGURE] = "-";
    const struct run_metric board = curve_board(run);
    bool synthetic = record_int(run, "synthetic") != 0, self = record_is_outside(run);
    *row = (struct row){.model = record_text(run, "model")};
    if (synthetic) row->note = broken ? MARK_SYNTHETIC " BROKEN" : MARK_SYNTHETIC;
    else if (self) row->note = broken ? MARK_SELF " BROKEN" : MARK_SELF;
    else row->note = broken ? " BROKEN" : "";
    snprintf(row->cell[RUN], CELL, "%lld", (long long)record_int(run, "id"));
    if (record_has(run, "group_id")) snprintf(row->cell[GROUP], CELL, "g%lld", (long long)record_int(run, "group_id"));
    if (record_has(run, "name")) write_name(row->cell[NAME], record_text(run, "name"));
    snprintf(row->cell[SEED], CELL, "%lld", (long long)record_int(run, "seed"));
    write_started(row->cell[STARTED], record_int(run, "started_ms"));
    snprintf(row->cell[TASK], CELL, "%.39s", record_text(run, "task"));
    snprintf(row->cell[STATUS], CELL, "%.39s", record_text(run, "status"));
    if (record_has(run, "last_score")) run_metric_text(&board, record_int(run, "last_score"), figure);
    snprintf(row->cell[SCORE], CELL, "%s", figure);
    if (record_has(run, "reached_ns")) plain_span(figure, record_int(run, "reached_ns"));
    snprintf(row->cell[TIME], CELL, "%s", record_has(run, "reached_ns") ? figure : "-");
    for (int c = 0; c < COLUMNS; c++) plain_tame(row->cell[c]);
}

// Sets *broken if a hash of a run does not follow from its figures.
static int find_broken(struct results *r, json_t *run, bool *broken)
{
    json_t *whole;
    TRY(record_read(r, record_int(run, "id"), &whole));
    *broken = record_chain(whole) < 0;
    json_object_set_new(run, "broken", json_boolean(*broken));
    json_decref(whole);
    return 0;
}

static void list_free(struct list *l)
{
    json_decref(l->runs);
    free(l->row);
}

// ---- the order of a list

const char *const show_orders[] = {"run", "seed", "task", "model", "status", "score", "time", NULL};
static const char *const order_members[] = {"id", "seed", "task", "model", "status", "last_score", "reached_ns"};

struct ranked_run {
    json_t *run;
    double value;      // infinite: unknown, and last
    const char *word;  // NULL: ordered by value
};

static int by_value(const void *x, const void *y)
{
    const struct ranked_run *a = x, *b = y;
    int order = a->word ? strcmp(a->word, b->word) : 0;
    if (order == 0) order = (a->value > b->value) - (a->value < b->value);
    return order ? order : record_int(a->run, "id") < record_int(b->run, "id") ? -1 : 1;
}

// The best score comes first, as does the shortest time.
static struct ranked_run rank_run(json_t *run, const char *member)
{
    const struct run_metric board = curve_board(run);
    struct ranked_run r = {.run = run, .value = record_has(run, member) ? (double)record_int(run, member) : INFINITY};
    if (json_is_string(json_object_get(run, member))) r.word = record_text(run, member), r.value = 0;
    if (strcmp(member, "last_score") == 0 && record_has(run, member))
        r.value = run_metric_value(&board, record_int(run, member)) * (board.lower_is_better ? 1 : -1);
    return r;
}

// The runs that match, in the order of the filter. A limit leaves the first of an order, else the newest.
static json_t *choose_runs(const json_t *all, const struct show_filter *f)
{
    int count = 0, order = 0;
    struct ranked_run *list = zalloc((json_array_size(all) + 1) * sizeof *list);
    json_t *run, *chosen = json_array();
    size_t i;
    while (f->sort != NULL && strcmp(show_orders[order], f->sort) != 0) order++;
    json_array_foreach((json_t *)all, i, run)
        if (matches(run, f)) list[count++] = rank_run(run, order_members[order]);
    qsort(list, (size_t)count, sizeof *list, by_value);
    int most = f->limit > 0 && f->limit < count ? (int)f->limit : count, first = f->sort != NULL ? 0 : count - most;
    for (int k = first; k < first + most; k++) json_array_append(chosen, list[k].run);
    free(list);
    return chosen;
}

static int read_list(struct results *r, const struct show_filter *f, struct list *l)
{
    json_t *all, *run;
    size_t i;
    int rc = 0;
    *l = (struct list){0};
    TRY(record_list(r, &all));
    l->row = zalloc((json_array_size(all) + 1) * sizeof *l->row);
    l->runs = choose_runs(all, f);
    json_array_foreach(l->runs, i, run)
    {
        bool broken = false;
        if (rc == 0) rc = find_broken(r, run, &broken);
        write_row(run, broken, &l->row[l->count++]);
        l->broken += broken;
        l->synthetic += record_int(run, "synthetic") != 0;
        l->self += record_is_outside(run);
    }
    json_decref(all);
    return rc;
}

static int gap_after(int column)
{
    return column < NAME ? 1 : 2;
}

// The seed of a ticket has 14 digits. Returns the columns that are gained.
static int cut_seeds(struct list *l)
{
    int gained = l->width[SEED] - SEED_CUT;
    for (int i = 0; i < l->count; i++)
        if (strlen(l->row[i].cell[SEED]) > SEED_CUT) strcpy(l->row[i].cell[SEED] + SEED_CUT - 2, "..");
    l->width[SEED] = SEED_CUT;
    return gained;
}

// A column without cells is left out. Long seeds are shortened first, then names of tasks, then names of models.
static int fit_columns(struct list *l)
{
    int used = 0;
    for (int c = 0; c < COLUMNS; c++) {
        int widest = 0;
        for (int i = 0; i < l->count; i++) {
            int wide = plain_columns(l->row[i].cell[c]);
            widest = wide > widest ? wide : widest;
        }
        int title = (int)strlen(titles[c]);
        l->width[c] = widest == 0 && (c == GROUP || c == NAME) ? 0 : widest > title ? widest : title;
        used += l->width[c] ? l->width[c] + gap_after(c) : 0;
    }
    int models = 0;  // columns for the models, of each at most MODEL_ROOM, with their notes
    for (int i = 0; i < l->count; i++) {
        int model = plain_columns(l->row[i].model);
        int wide = (int)strlen(l->row[i].note) + (model < MODEL_ROOM ? model : MODEL_ROOM);
        models = wide > models ? wide : models;
    }
    if (used + models > PLAIN_WIDTH && l->width[SEED] > SEED_CUT) used -= cut_seeds(l);
    if (used + models <= PLAIN_WIDTH || l->width[TASK] <= TASK_CUT) return PLAIN_WIDTH - used;
    used -= l->width[TASK] - TASK_CUT;
    l->width[TASK] = TASK_CUT;
    return PLAIN_WIDTH - used;
}

static void add_cells(struct text *t, const struct list *l, const char *const cell[COLUMNS])
{
    for (int c = 0; c < COLUMNS; c++) {
        if (l->width[c] == 0) continue;
        int capacity = l->width[c], pad = capacity - plain_columns(cell[c]);
        if (right[c]) text_add(t, "%*s%s", pad > 0 ? pad : 0, "", cell[c]);
        else text_add(t, "%.*s%*s", pad < 0 ? capacity : CELL, cell[c], pad > 0 ? pad : 0, "");
        text_add(t, "%*s", gap_after(c), "");
    }
}

static void add_run(struct text *t, const struct list *l, const struct row *row, int left)
{
    const char *cell[COLUMNS];
    char model[CELL];
    for (int c = 0; c < COLUMNS; c++) cell[c] = row->cell[c];
    add_cells(t, l, cell);
    int capacity = left - (int)strlen(row->note);
    snprintf(model, sizeof model, "%.39s", row->model);
    plain_tame(model);
    text_add(t, "%.*s%s\n", capacity > 0 ? capacity : 0, model, row->note);
}

static bool lists_group(const json_t *runs, int64_t group)
{
    size_t i;
    json_t *run;
    json_array_foreach(runs, i, run) if (record_int(run, "group_id") == group) return true;
    return false;
}

// A sentence for each group of the listed runs, or for every group if `listed` is NULL; with its figures in a list of groups.
static int add_groups(struct results *r, const struct show_filter *f, const json_t *listed, struct text *t)
{
    json_t *groups, *group, *runs;
    TRY(record_rows(r, "SELECT id, task FROM groups ORDER BY id", 0, &groups));
    size_t i;
    int rc = 0;
    json_array_foreach(groups, i, group)
    {
        struct group_facts facts;
        int64_t id = record_int(group, "id");
        if (listed && !lists_group(listed, id)) continue;
        if ((f->group > 0 && id != f->group) || (f->task && strcmp(record_text(group, "task"), f->task))) continue;
        rc = record_group(r, id, &runs, &facts);
        if (rc < 0) break;
        size_t count = json_array_size(runs);
        long long first = (long long)record_int(json_array_get(runs, 0), "id");
        long long last = count > 0 ? (long long)record_int(json_array_get(runs, count - 1), "id") : 0;
        struct text words = {0};
        text_add(&words, "group %lld: %d of %d runs", (long long)id, facts.finished, facts.planned);
        if (count == 1) text_add(&words, " (run %lld)", first);
        if (count > 1) text_add(&words, " (%lld to %lld)", first, last);
        text_add(&words, "; %s%s", group_verdict_sentence(facts.verdict),
                 record_group_is_outside(runs) ? "; self-evaluated" : "");
        text_wrap(t, words.at, 0, 4);
        text_add(t, "\n");
        text_free(&words);
        const struct run_metric board = curve_board(json_array_get(runs, 0));
        if (f->groups && facts.finished > 0) group_text(t, &board, &facts);
        json_decref(runs);
    }
    json_decref(groups);
    return rc;
}

static bool is_filtered(const struct show_filter *f)
{
    return f->task || f->status || f->model || f->tag || f->group > 0 || f->seed >= 0;
}

static void add_empty(struct results *r, const struct show_filter *f, struct text *t)
{
    if (is_filtered(f)) text_add(t, "No run in %s matches these options.\n", result_file(r));
    else text_add(t, "No run has been recorded in %s yet.\n", result_file(r));
}

static int add_run_list(struct results *r, const struct show_filter *f, const struct plain_style *style, struct list *l,
                        struct text *t)
{
    TRY(read_list(r, f, l));
    int left = fit_columns(l);
    text_add(t, style->bold ? "\033[1m" : "");
    add_cells(t, l, titles);
    text_add(t, style->bold ? "model\033[0m\n" : "model\n");
    for (int i = 0; i < l->count; i++) add_run(t, l, &l->row[i], left);
    if (l->synthetic > 0) text_add(t, "* SYNTHETIC data: only the board \"demo\" lists such a run.\n");
    if (l->self > 0) text_add(t, "+ self-evaluated: an outside program gave the scores.\n");
    if (l->broken > 0)
        text_add(t, "%d run%s changed since the training wrote %s. For the fields:\n  dawn results verify%s\n", l->broken,
                 l->broken == 1 ? " was" : "s were", l->broken == 1 ? "it" : "them", result_option(r));
    if (l->count == 0) add_empty(r, f, t);
    return add_groups(r, f, is_filtered(f) ? l->runs : NULL, t);
}

static int list_measurements(struct results *r, struct text *t)
{
    json_t *rows;
    TRY(record_rows(r, "SELECT count(*) AS count FROM benches", 0, &rows));
    long long count = (long long)record_int(json_array_get(rows, 0), "count");
    json_decref(rows);
    if (count > 0)
        text_add(t, "%lld measurement%s: \"dawn bench --list%s\" shows %s.\n", count, count == 1 ? "" : "s", result_option(r),
                 count == 1 ? "it" : "them");
    return 0;
}

int show_list(struct results *r, const struct show_filter *f, const struct plain_style *style, struct text *t)
{
    struct list l = {0};
    if (f->groups) {
        TRY(add_groups(r, f, NULL, t));
        plain_page(t, style);
        return 0;
    }
    int rc = add_run_list(r, f, style, &l, t);
    list_free(&l);
    TRY(rc);
    plain_page(t, style);
    if (f->status || f->model || f->tag || f->group > 0 || f->seed >= 0) return 0;
    json_t *loose;
    TRY(record_rows(r, "SELECT * FROM latencies WHERE run IS NULL ORDER BY id", 0, &loose));
    for (size_t i = json_array_size(loose); i-- > 0;)
        if (f->task && strcmp(record_text(json_array_get(loose, i), "task"), f->task)) json_array_remove(loose, i);
    show_latencies(t, loose, style, "Inference that belongs to no run of this record");
    json_decref(loose);
    plain_page(t, style);
    return f->task ? 0 : list_measurements(r, t);
}

// ---- for programs

static const char *const columns[] = {"id", "group_id", "group_index", "seed", "task", "model", "recipe", "status", "precision",
                                      "device", "threads", "batch", "started_ms", "ended_ms", "metric", "items", "target_micro",
                                      "last_score", "reached_ns", "reached_classic_ns", "reached_warm_ns", "last_ns", "synthetic",
                                      "official", "broken", "name", "tags", NULL};

// The members above that the run has.
static json_t *summary_of(json_t *run)
{
    const json_t *board = json_array_get(json_object_get(run, "metrics"), 0);
    json_t *row = json_object();
    json_object_set(run, "metric", json_object_get(board, "name"));
    json_object_set(run, "items", json_object_get(board, "items"));
    for (int i = 0; columns[i] != NULL; i++)
        if (record_has(run, columns[i])) json_object_set(row, columns[i], json_object_get(run, columns[i]));
    return row;
}

static json_t *summaries_of(const struct list *l)
{
    json_t *all = json_array();
    for (size_t i = 0; i < json_array_size(l->runs); i++) json_array_append_new(all, summary_of(json_array_get(l->runs, i)));
    return all;
}

// Groups as rows for programs, with their figures.
static int read_groups(struct results *r, const struct show_filter *f, json_t **rows)
{
    TRY(export_groups(r, f->group > 0 ? f->group : 0, rows));
    for (size_t i = json_array_size(*rows); i-- > 0;)
        if (f->task && strcmp(record_text(json_array_get(*rows, i), "task"), f->task)) json_array_remove(*rows, i);
    return 0;
}

int show_list_json(struct results *r, const struct show_filter *f, struct text *t)
{
    struct list l;
    json_t *groups;
    if (f->groups) {
        TRY(read_groups(r, f, &groups));
        return json_text_add(t, groups);
    }
    int rc = read_list(r, f, &l);
    json_t *all = summaries_of(&l);
    list_free(&l);
    if (rc == 0) return json_text_add(t, all);
    json_decref(all);
    return rc;
}

static int add_groups_csv(struct results *r, const struct show_filter *f, struct text *t)
{
    const char *names[NAMES_MOST] = {"id", "task", "model", "recipe", "announced_ms", "planned"};
    json_t *groups;
    int count = 6;
    for (int i = 0; group_text_members[i] != NULL && count < NAMES_MOST - 1; i++) names[count++] = group_text_members[i];
    TRY(read_groups(r, f, &groups));
    export_rows(groups, names, t);
    json_decref(groups);
    return 0;
}

int show_list_csv(struct results *r, const struct show_filter *f, struct text *t)
{
    struct list l;
    if (f->groups) return add_groups_csv(r, f, t);
    int rc = read_list(r, f, &l);
    json_t *rows = summaries_of(&l);
    export_rows(rows, columns, t);
    json_decref(rows);
    list_free(&l);
    return rc;
}
