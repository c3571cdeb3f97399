// SPDX-License-Identifier: Apache-2.0
// dawn results: lists and shows the recorded runs and exports them for other programs. It only reads the record.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/base/file.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/options.h"
#include "runtime/common/cli/program.h"
#include "submit/format/score/contest.h"
#include "submit/format/score/curve.h"
#include "submit/results/export.h"
#include "submit/results/mllog.h"
#include "tasks/commands.h"
#include "tasks/tools/show/cmd_chain.h"
#include "tasks/tools/show/compare.h"
#include "tasks/tools/show/document.h"
#include "tasks/tools/show/show.h"

struct choice {
    const char *db, *format, *to, *author, *code_url;
    struct show_filter filter;
    bool ascii, json, follow, yes;
};

static bool says_utf8(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && (strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL || strstr(value, "UTF8") != NULL);
}

// The first variable that is set decides, as in the C library.
static bool terminal_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++)
        if (getenv(names[i]) != NULL && *getenv(names[i]) != 0) return says_utf8(names[i]);
    return false;
}

static struct plain_style style_of(const struct choice *choice)
{
    bool terminal = isatty(STDOUT_FILENO) != 0;
    const char *no_color = getenv("NO_COLOR");
    return (struct plain_style){.unicode = terminal && terminal_utf8() && !choice->ascii,
                                .bold = terminal && !choice->ascii && (no_color == NULL || *no_color == 0)};
}

static int print_and_free(struct text *text)  // dawn.c checks standard output once, at the end
{
    if (text->length > 0) fwrite(text->at, 1, text->length, stdout);
    text_free(text);
    return 0;
}

// Writes to a file, or to standard output if `to` is NULL or "-".
static int write_and_free(struct text *text, const char *to)
{
    if (to == NULL || strcmp(to, "-") == 0) return print_and_free(text);
    int rc = file_write(to, text->at != NULL ? text->at : "", text->length);
    text_free(text);
    if (rc == 0) printf("%s\n", to);
    return rc;
}

// All tables as files need a folder. One table needs a file.
static bool is_csv_file(const char *path)
{
    size_t length = strlen(path);
    return strcmp(path, "-") == 0 || (length > 4 && strcmp(path + length - 4, ".csv") == 0);
}

static int export_tables_to(struct results *r, int64_t id, const char *folder)
{
    int length = (int)strlen(folder);
    while (length > 1 && folder[length - 1] == '/') length--;
    TRY(file_make_folder(folder));
    for (int i = 0; export_tables[i] != NULL; i++) {
        struct text text = {0};
        char path[4096];
        snprintf(path, sizeof path, "%.*s/%s.csv", length, folder, export_tables[i]);
        int rc = export_csv(r, export_tables[i], id, &text);
        if (rc == 0 && text.at != NULL) rc = write_and_free(&text, path);
        else text_free(&text);
        TRY(rc);
    }
    return 0;
}

static json_t *chains;  // with --json: the verdicts

static void tell_chain_json(const json_t *run, const char *broken)
{
    struct text better = {0};
    if (broken == NULL) (void)show_better(run, &better);
    json_int_t id = (json_int_t)record_int(run, "id"), points = (json_int_t)json_array_size(json_object_get(run, "points"));
    json_text_row(&chains, json_pack("{sI sb sI ss* ss*}", "run", id, "good", broken == NULL, "points", points, "broken", broken,
                                     "flag", better.at));
    text_free(&better);
}

static void tell_chain(const json_t *run, const char *broken)
{
    size_t points = json_array_size(json_object_get(run, "points"));
    if (broken != NULL) printf("run %lld  BROKEN: %s\n", (long long)record_int(run, "id"), broken);
    else printf("run %lld  good: root and %zu point%s; all that is submitted is bound\n", (long long)record_int(run, "id"),
                points, points == 1 ? "" : "s");
    struct text better = {0};
    if (broken == NULL && show_better(run, &better)) printf("run %lld  flag: %s\n", (long long)record_int(run, "id"), better.at);
    text_free(&better);
}

static int verify_runs(struct results *r, const char *word, bool json)
{
    int64_t id = 0;
    if (word != NULL && strcmp(word, "all") != 0) TRY(cmd_chain_find(r, word, &id));
    struct text gaps = {0};
    json_t *deleted = NULL;
    chains = json ? json_array() : NULL;
    int missing = 0, broken = cmd_chain_each(r, id, json ? tell_chain_json : tell_chain), rc = broken < 0 ? broken : 0;
    if (rc == 0 && id == 0) missing = cmd_chain_missing(r, &gaps), rc = missing < 0 ? missing : 0;
    if (rc == 0 && id == 0) rc = cmd_chain_deleted(r, &deleted, &gaps);
    if (rc == 0 && json)
        rc = json_text_print(json_pack("{sO sb si si sO*}", "runs", chains, "good", broken == 0 && missing == 0, "broken", broken,
                                       "missing", missing, "deleted", deleted));
    else if (gaps.at != NULL) fputs(gaps.at, stdout);
    text_free(&gaps);
    json_decref(deleted);
    json_decref(chains);
    TRY(rc);
    if (broken == 0 && missing == 0) return 0;
    if (broken == 0)
        return fail(ERR_INPUT, "%d run%s missing; \"dawn results delete\" would have noted it", missing,
                    missing == 1 ? " is" : "s are");
    return fail(ERR_INPUT, "%d run%s changed since the training wrote %s", broken, broken == 1 ? " was" : "s were",
                broken == 1 ? "it" : "them");
}

// "g3" is a group; every other word is a run.
static int find_side(struct results *r, const char *word, bool *group, int64_t *id)
{
    *group = word[0] == 'g' && text_to_int(word + 1, 1, INT64_MAX, id) == 0;
    return *group ? 0 : cmd_chain_find(r, word, id);
}

static int export_dawnbench_of(struct results *r, const char *word, const struct choice *c)
{
    int64_t id;
    struct text text = {0};
    const struct export_entry entry = {.author = c->author, .code_url = c->code_url};
    TRY(cmd_chain_find(r, word != NULL ? word : "last", &id));
    int rc = export_dawnbench(r, id, c->to != NULL ? c->to : "dawnbench", &entry, &text);
    if (rc == 0) return print_and_free(&text);
    text_free(&text);
    return rc;
}

static int refuse_group(int64_t id)
{
    return fail(ERR_USAGE, "a group is exported as html or md; \"dawn results show g%lld --json\" is for programs",
                (long long)id);
}

// Exports one of the formats for a single run.
static int export_document(struct results *r, const char *word, const struct choice *c)
{
    int64_t id;
    struct text text = {0};
    if (word && !strcmp(word, "all"))
        return fail(ERR_USAGE, "%s shows one run: name it by its number or \"last\"", c->format);
    bool group, html = strcmp(c->format, "html") == 0;
    TRY(find_side(r, word != NULL ? word : "last", &group, &id));
    if (group && !html && strcmp(c->format, "md") != 0) return refuse_group(id);
    TRY(group ? cmd_chain_warn_group("results", r, id) : cmd_chain_warn("results", r, id));
    int rc = 0;
    if (group) rc = document_group(r, id, html ? SHEET_HTML : SHEET_MARKDOWN, &text);
    else if (html) rc = document_page(r, id, SHEET_HTML, &text);
    else if (strcmp(c->format, "svg") == 0) rc = document_svg(r, id, &text);
    else if (strcmp(c->format, "mllog") == 0) rc = mllog_export(r, id, c->author, &text);
    else rc = document_page(r, id, SHEET_MARKDOWN, &text);
    if (rc == 0) return write_and_free(&text, c->to);
    text_free(&text);
    return rc;
}

static int export_run(struct results *r, const char *word, const struct choice *c)
{
    struct text text = {0};
    int64_t id = 0;
    if (strcmp(c->format, "dawnbench") == 0) return export_dawnbench_of(r, word, c);
    bool csv = strcmp(c->format, "csv") == 0, reference = strcmp(c->format, "reference") == 0;
    if (strcmp(c->format, "json") != 0 && !csv && !reference) return export_document(r, word, c);
    bool group = false;
    if (word != NULL && strcmp(word, "all") != 0) TRY(find_side(r, word, &group, &id));
    if (group) return refuse_group(id);
    TRY(cmd_chain_warn("results", r, id));
    if (csv && c->to != NULL && !is_csv_file(c->to)) return export_tables_to(r, id, c->to);
    int rc = csv ? export_csv(r, "runs", id, &text) : reference ? show_reference(r, id, &text) : export_json(r, id, &text);
    if (rc == 0) return write_and_free(&text, c->to);
    text_free(&text);
    return rc;
}

// A run with everything that the record has of it; a group with its figures and the numbers of its runs.
static int print_run_json(struct results *r, bool group, int64_t id)
{
    json_t *o, *rows = NULL, *runs;
    if (!group) {
        TRY(record_read(r, id, &o));
        json_object_set_new(o, "broken", json_boolean(record_chain(o) < 0));
        return json_text_print(o);
    }
    TRY(record_rows(r, "SELECT id, seed, status FROM runs WHERE group_id = ?1 ORDER BY group_index", id, &runs));
    int rc = export_groups(r, id, &rows);
    if (rc == 0 && json_array_size(rows) == 0)
        rc = fail(ERR_USAGE, "there is no group g%lld in %s", (long long)id, result_file(r));
    o = json_incref(json_array_get(rows, 0));
    json_object_set(o, "runs", runs);
    json_decref(runs);
    json_decref(rows);
    return rc < 0 ? rc : json_text_print(o);
}

static int print_run(struct results *r, const char *word, const struct choice *c)
{
    const struct plain_style style = style_of(c);
    struct text text = {0};
    int64_t id;
    bool group;
    TRY(find_side(r, word != NULL ? word : "last", &group, &id));
    if (c->json) return print_run_json(r, group, id);
    int rc = group ? show_group(r, id, &style, &text) : show_run(r, id, &style, &text);
    if (rc == 0) return print_and_free(&text);
    text_free(&text);
    return rc;
}

static int print_list(struct results *r, const struct choice *c)
{
    const struct plain_style style = style_of(c);
    struct text text = {0};
    int rc = 0;
    if (strcmp(c->format, "json") == 0) rc = show_list_json(r, &c->filter, &text);
    else if (strcmp(c->format, "csv") == 0) rc = show_list_csv(r, &c->filter, &text);
    else rc = show_list(r, &c->filter, &style, &text);
    if (rc == 0) return print_and_free(&text);
    text_free(&text);
    return rc;
}

static int print_comparison(struct results *r, char *const *word, int count, const struct choice *c)
{
    const struct plain_style style = style_of(c);
    struct text text = {0};
    int64_t id[DIFFER_MOST];
    bool groups = false, other = false;
    for (int i = 0; i < count; i++) {
        TRY(find_side(r, word[i], i == 0 ? &groups : &other, &id[i]));
        if (i > 0 && groups != other) return fail(ERR_USAGE, "compare runs, or groups (g1 g2), not a run with a group");
        bool again = false;
        for (int k = 0; k < i; k++) again = again || id[k] == id[i];
        if (!again) TRY(groups ? cmd_chain_warn_group("results", r, id[i]) : cmd_chain_warn("results", r, id[i]));
    }
    int rc = c->json ? compare_json(r, groups, id, count, &text)
             : groups ? compare_groups(r, id, count, &style, &text) : compare_runs(r, id, count, &style, &text);
    if (rc == 0) return print_and_free(&text);
    text_free(&text);
    return rc;
}

// Deletes after --yes alone. The weights stay.
static int delete_run(struct results *r, const char *word, bool yes)
{
    int64_t id;
    bool group;
    TRY(find_side(r, word, &group, &id));
    if (!yes)
        return fail(ERR_USAGE, "nothing was deleted: --yes deletes %s %lld from %s", group ? "group" : "run", (long long)id,
                    result_file(r));
    TRY(result_delete(r, group, id));
    printf("%s %lld is deleted; verify says so, and files of weights stay\n", group ? "group" : "run", (long long)id);
    return 0;
}

// ---- a run in progress

enum { LOOK_US = 500000 };

static void print_point(const json_t *run, const json_t *point, const char *epochs)
{
    const struct run_metric board = curve_board(run);
    char epoch[CURVE_MOMENT], loss[TEXT_FIGURE], score[TEXT_FIGURE], time[TEXT_FIGURE];
    int64_t k = curve_score(point, &board);
    printf("epoch %s%s%s  loss %s%s%s  %s\n", curve_epoch(point, epoch), *epochs ? " of " : "", epochs,
           plain_loss(loss, point, NULL), k == RUN_SCORE_NONE ? "" : "  score ",
           k == RUN_SCORE_NONE ? "" : run_metric_text(&board, k, score),
           plain_span(time, record_int(point, "t_ns")));
}

// Prints the new points and the end of the run. Returns true once the run has ended.
static bool print_news(const json_t *run, size_t *shown, bool live)
{
    const json_t *points = json_object_get(run, "points");
    char epochs[TEXT_FIGURE], since[TEXT_FIGURE];
    show_epochs(run, epochs);
    for (; *shown < json_array_size(points); ++*shown) {
        if (live) printf("\r\033[K");
        print_point(run, json_array_get(points, *shown), epochs);
    }
    bool ended = strcmp(record_text(run, "status"), "running") != 0;
    text_span(since, (double)(clock_unix_ms() - record_int(run, "started_ms")) / 1e3);
    if (live) printf(ended ? "\r\033[K" : "\r\033[Krunning for %s", since);
    struct text end = {0};
    plain_add(&end, "run %lld: %s", (long long)record_int(run, "id"), record_text(run, "status"));
    if (ended) printf("%s\n", end.at);
    text_free(&end);
    return ended;
}

static int find_running(struct results *r, int64_t *id)
{
    json_t *runs, *run;
    size_t i;
    TRY(record_list(r, &runs));
    *id = 0;
    json_array_foreach(runs, i, run)
        if (strcmp(record_text(run, "status"), "running") == 0) *id = record_int(run, "id");
    json_decref(runs);
    return *id > 0 ? 0 : record_find(r, "last", id);
}

// Without a name, follows the newest run in progress. Ends with the run, or when the reader of the output has left.
static int follow_run(struct results *r, const char *word)
{
    int64_t id;
    size_t shown = 0;
    bool live = program_draws(STDOUT_FILENO), ended = false;
    TRY(word != NULL ? cmd_chain_find(r, word, &id) : find_running(r, &id));
    printf("run %lld of %s\n", (long long)id, result_file(r));
    while (!ended) {
        json_t *run;
        TRY(record_read(r, id, &run));
        ended = print_news(run, &shown, live);
        json_decref(run);
        if (program_flush() != 0) return 0;  // program_main reports the failed write
        if (!ended) usleep(LOOK_US);
    }
    return 0;
}

// ---- the command

static const char *const actions[] = {"list", "show", "compare", "export", "verify", "delete", NULL};

// The format that a file's name ends in; NULL: none.
static const char *format_of(const char *path, const char *const *formats)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot != NULL && formats[i] != NULL; i++)
        if (strcmp(dot + 1, formats[i]) == 0) return formats[i];
    return NULL;
}

static int check_format(const char *action, struct choice *c)
{
    static const char *const of_list[] = {"text", "json", "csv", NULL};
    static const char *const of_export[] = {"json", "csv", "html", "svg", "md", "dawnbench", "mllog", "reference", NULL};
    bool list = strcmp(action, "list") == 0, export = strcmp(action, "export") == 0;
    const char *const *formats = list ? of_list : of_export;
    if (c->json && c->format != NULL && strcmp(c->format, "json") != 0)
        return fail(ERR_USAGE, "--json and --format exclude each other");
    if (c->format != NULL && !list && !export) return fail(ERR_USAGE, "--format is an option of results list and results export");
    if (!list && !export) return 0;
    if (c->format == NULL && export && c->to != NULL && !c->json) c->format = format_of(c->to, formats);
    if (c->format == NULL) c->format = c->json || export ? "json" : "text";
    for (int i = 0; formats[i] != NULL; i++)
        if (strcmp(formats[i], c->format) == 0) return 0;
    struct text names = {0};
    int count = 0;
    while (formats[count] != NULL) count++;
    text_list(&names, formats, count, " or ");
    int rc = fail(ERR_USAGE, "--format must be %s; got \"%.60s\"", names.at, c->format);
    text_free(&names);
    return rc;
}

static int check_word(const char *what, const char *word, const char *const names[])
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], word) == 0) return 0;
    return fail_unknown(ERR_USAGE, what, word, names, NULL);
}

// Tasks and states of a run are closed lists: an unknown word would select nothing.
static int check_filter(const struct show_filter *f)
{
    const char *tasks[CONTESTS_MAX + 1], *states[RUN_STATUS_END + 1] = {NULL};
    contest_names(tasks);
    for (int i = 0; i < RUN_STATUS_END; i++) states[i] = run_status_name((enum run_status)i);
    if (f->task != NULL) TRY(check_word("task", f->task, tasks));
    if (f->sort != NULL) TRY(check_word("order", f->sort, show_orders));
    return f->status != NULL ? check_word("status", f->status, states) : 0;
}

// True for a run or a group instead of an action: "dawn results 3" shows run 3.
static bool is_run(const char *word)
{
    int64_t id;
    return strcmp(word, "last") == 0 || text_to_int(word + (*word == 'g'), INT64_MIN, INT64_MAX, &id) == 0;
}

// Refuses options that the action would ignore.
static int check_words(int argc, char **argv, struct choice *c)
{
    const char *action = argc > 1 ? argv[1] : "list";
    const struct show_filter *f = &c->filter;
    bool known = false, list = strcmp(action, "list") == 0, compare = strcmp(action, "compare") == 0;
    for (int i = 0; actions[i] != NULL; i++) known = known || strcmp(actions[i], action) == 0;
    if (!known && is_run(action))
        return fail(ERR_USAGE, "results shows one run; \"dawn results compare %.20s %.20s\" compares two", action, argv[2]);
    if (!known) return fail_unknown(ERR_USAGE, "results command", action, actions, NULL);
    if (compare && argc > 2 + DIFFER_MOST) return fail(ERR_USAGE, "compare takes at most %d; got %d", DIFFER_MOST, argc - 2);
    if (argc > (list ? 2 : compare ? argc : 3))
        return fail(ERR_USAGE, "results %s does not take \"%s\"", action, argv[argc - 1]);
    if (compare && argc < 4) return fail(ERR_USAGE, "compare needs two runs, or two groups (g1 g2), or more");
    if (!list && (f->task || f->status || f->model || f->tag || f->group || f->seed >= 0 || f->sort || f->limit))
        return fail(ERR_USAGE, "--task, --status, --model, --tag, --group, --seed, --sort, --limit are for results list");
    if (f->groups && (!list || f->status || f->model || f->tag || f->seed >= 0 || f->sort || f->limit))
        return fail(ERR_USAGE, "--groups is an option of results list, where --task and --group may choose among groups");
    TRY(check_filter(f));
    if (strcmp(action, "export") != 0 && (c->to != NULL || c->author != NULL || c->code_url != NULL))
        return fail(ERR_USAGE, "--to, --author and --code-url are options of results export");
    if (c->json && strcmp(action, "delete") == 0) return fail(ERR_USAGE, "delete has no --json");
    if (c->yes && strcmp(action, "delete") != 0) return fail(ERR_USAGE, "--yes is an option of results delete");
    if (c->follow && (c->json || strcmp(action, "show") != 0))
        return fail(ERR_USAGE, "--follow is an option of results show, without --json");
    return check_format(action, c);
}

static int run_action(struct results *r, int argc, char **argv, const struct choice *c)
{
    const char *action = argc > 1 ? argv[1] : "list", *word = argc > 2 ? argv[2] : NULL;
    if (strcmp(action, "show") == 0) return c->follow ? follow_run(r, word) : print_run(r, word, c);
    if (strcmp(action, "compare") == 0) return print_comparison(r, argv + 2, argc - 2, c);
    if (strcmp(action, "export") == 0) return export_run(r, word, c);
    if (strcmp(action, "delete") == 0) return delete_run(r, word, c->yes);
    return strcmp(action, "verify") == 0 ? verify_runs(r, word, c->json) : print_list(r, c);
}

int cmd_results(int argc, char **argv)
{
    struct choice c = {.filter = show_everything};
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record (default: $DAWN_RESULTS, else results.db)", &c.db, 0, 0},
        {OPTION_TEXT, 0, "task", "TASK", "list only runs of this task", &c.filter.task, 0, 0},
        {OPTION_TEXT, 0, "status", "WORD", "list only runs of this status, such as running or done", &c.filter.status, 0, 0},
        {OPTION_TEXT, 0, "model", "NAME", "list only runs of this model", &c.filter.model, 0, 0},
        {OPTION_TEXT, 0, "tag", "WORD", "list only runs with this tag", &c.filter.tag, 0, 0},
        {OPTION_GROUP, 0, "group", "GROUP", "list only runs of this group: 1 or g1", &c.filter.group, 1, 1e15},
        {OPTION_INT, 0, "seed", "N", "list only runs with this seed", &c.filter.seed, 0, 1e15},
        {OPTION_TEXT, 0, "sort", "BY", "order of a list: run, seed, task, model, status, score (best first) or time",
         &c.filter.sort, 0, 0},
        {OPTION_INT, 0, "limit", "N", "list only so many runs: the first of --sort, else the newest", &c.filter.limit, 1, 1e9},
        {OPTION_FLAG, 0, "groups", NULL, "list groups, with mean, sigma, interval and p, not runs", &c.filter.groups, 0, 0},
        {OPTION_FLAG, 0, "follow", NULL, "show each epoch of a run as it ends, until the run ends", &c.follow, 0, 0},
        {OPTION_TEXT, 'f', "format", "FORMAT",
         "of a list: text, json or csv; of an export: json, csv, html, svg, md, dawnbench, mllog or reference (default: as PATH "
         "ends, else json)",
         &c.format, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "one JSON value instead of text", &c.json, 0, 0},
        {OPTION_PATH, 0, "to", "PATH",
         "file of an export; for csv a folder for all tables, or a file that ends in .csv for the runs; for dawnbench a folder",
         &c.to, 0, 0},
        {OPTION_TEXT, 0, "author", "NAME", "author in DAWNBench's files, organisation in MLPerf's log", &c.author, 0, 0},
        {OPTION_TEXT, 0, "code-url", "URL", "address of the code in DAWNBench's files", &c.code_url, 0, 0},
        {OPTION_FLAG, 'y', "yes", NULL, "delete: agree to it", &c.yes, 0, 0},
        {OPTION_FLAG, 0, "ascii", NULL, "plain characters even in a terminal", &c.ascii, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "results",
        .operands = "[list|show|compare|export|verify|delete] [RUN...] [OPTIONS]",
        .about = "Lists, shows, compares, exports, verifies and deletes recorded runs. RUN is a number, a name or \"last\"; for "
                 "export and verify also \"all\". Without RUN, show takes the last run, and export and verify take all. compare "
                 "takes two to eight runs, or groups (g1 g2). show takes a group, too. RUN alone shows that run.",
        .options = options,
        .more = "Examples:\n"
                "  dawn results                                one line per run\n"
                "  dawn results list --task cifar10 --json     the same for programs\n"
                "  dawn results list --sort score --limit 5    the five best\n"
                "  dawn results list --groups                  means of groups, and their spread\n"
                "  dawn results 3                              everything about run 3, or g1\n"
                "  dawn results show                           everything about the last run\n"
                "  dawn results show --follow                  the epochs of a running run\n"
                "  dawn results compare 3 7 wide               clocks, curves, what differs\n"
                "  dawn results export --format csv --to dir   every table as a file\n"
                "  dawn results export 3 --to run.html         a page of run 3, or of g1\n"
                "  dawn results verify                         whether a record was changed\n"
                "  dawn results delete 3 --yes                 a run, or g1; verify reports it\n\n"
                "verify finds missing runs by gaps in the numbers and in groups. It cannot see\n"
                "that the newest runs were deleted with all that names them.\n\n"
                "MLPerf's log calls a run of CIFAR10 \"resnet\" (submission_benchmark), because\n"
                "MLPerf's checker knows no other name for it; init_start names the task.",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    char show[] = "show", *words[] = {argv[0], show, argc > 1 ? argv[1] : NULL, NULL};
    if (argc == 2 && is_run(argv[1])) argc = 3, argv = words;
    TRY(check_words(argc, argv, &c));
    struct results *r;
    const bool deletes = argc > 1 && strcmp(argv[1], "delete") == 0;
    if (deletes && argc < 3) return fail(ERR_USAGE, "delete needs the run, or the group (g1)");
    if (deletes && !file_exists(results_path(c.db)))  // opening a missing file to write would create it
        return fail(ERR_MISSING, "there is no record at %s", results_path(c.db));
    TRY(results_open(c.db, deletes ? RESULTS_WRITE : RESULTS_READ, &r));
    rc = run_action(r, argc, argv, &c);
    results_close(r);
    return rc;
}
