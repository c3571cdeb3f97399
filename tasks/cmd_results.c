// SPDX-License-Identifier: Apache-2.0
// dawn results: the recorded runs, as a list, as a page or as files for other programs. It only reads the record.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/file.h"
#include "runtime/base/options.h"
#include "tasks/commands.h"
#include "tasks/record/export.h"
#include "tasks/record/mllog.h"
#include "tasks/record/show.h"

struct choice {
    const char *db, *format, *to, *author, *code_url;
    bool ascii;
};

static bool says_utf8(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && (strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL || strstr(value, "UTF8") != NULL);
}

// The first of the three that is set decides, as in the C library.
static bool terminal_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++)
        if (getenv(names[i]) != NULL && *getenv(names[i]) != 0) return says_utf8(names[i]);
    return false;
}

static struct show_style style_of(const struct choice *choice)
{
    bool terminal = isatty(STDOUT_FILENO) != 0;
    const char *no_color = getenv("NO_COLOR");
    return (struct show_style){.unicode = terminal && terminal_utf8() && !choice->ascii,
                               .bold = terminal && !choice->ascii && (no_color == NULL || *no_color == 0)};
}

static int print_and_free(struct text *text)  // a failed write is noticed once, at the end of dawn.c
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

static bool is_folder(const char *path)
{
    struct stat info;
    size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

static int export_tables_to(struct results *r, int64_t id, const char *folder)
{
    TRY(file_make_folder(folder));
    for (int i = 0; export_tables[i] != NULL; i++) {
        struct text text = {0};
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.csv", folder, export_tables[i]);
        int rc = export_csv(r, export_tables[i], id, &text);
        if (rc == 0 && text.at != NULL) rc = write_and_free(&text, path);
        else text_free(&text);
        TRY(rc);
    }
    return 0;
}

// Calls `tell` for every run, or for the one of that id: `broken` is the first fault, NULL where there is none. The number
// of broken ones, or an error.
static int for_chains(struct results *r, int64_t id, void (*tell)(const json_t *run, const char *broken))
{
    json_t *rows, *row, *run;
    size_t i;
    int broken = 0, rc = 0;
    TRY(record_rows(r, "SELECT id FROM runs WHERE ?1 IN (0, id) ORDER BY id", id, &rows));
    json_array_foreach(rows, i, row)
    {
        rc = record_read(r, record_int(row, "id"), &run);
        if (rc < 0) break;
        int fault = record_chain(run);
        tell(run, fault < 0 ? error_text() : NULL);
        broken += fault < 0;
        json_decref(run);
    }
    json_decref(rows);
    return rc < 0 ? rc : broken;
}

static void tell_chain(const json_t *run, const char *broken)
{
    size_t points = json_array_size(json_object_get(run, "points"));
    if (broken != NULL) printf("run %lld  BROKEN: %s\n", (long long)record_int(run, "id"), broken);
    else printf("run %lld  good: root and %zu point%s; %s\n", (long long)record_int(run, "id"), points, points == 1 ? "" : "s",
                record_bound(run) ? "all that is submitted is bound"
                                  : "settings, machine and price are not bound, because an older program began it");
}

static void warn_of_chain(const json_t *run, const char *broken)
{
    if (broken == NULL) return;
    fprintf(stderr, "dawn results: run %lld was changed since the training wrote it: %s\n", (long long)record_int(run, "id"),
            broken);
}

static int verify_runs(struct results *r, const char *word)
{
    int64_t id = 0;
    if (word != NULL && strcmp(word, "all") != 0) TRY(record_find(r, word, &id));
    int broken = for_chains(r, id, tell_chain);
    if (broken <= 0) return broken;
    return fail(ERR_INPUT, "%d run%s changed since the training wrote %s", broken, broken == 1 ? " was" : "s were",
                broken == 1 ? "it" : "them");
}

static int export_run(struct results *r, const char *word, const struct choice *c)
{
    struct text text = {0};
    int64_t id = 0;
    int rc = 0;
    if (strcmp(c->format, "dawnbench") == 0) {
        TRY(record_find(r, word != NULL ? word : "last", &id));
        const struct export_entry entry = {.author = c->author, .code_url = c->code_url};
        rc = export_dawnbench(r, id, c->to != NULL ? c->to : "dawnbench", &entry, &text);
        if (rc == 0) return print_and_free(&text);
        text_free(&text);
        return rc;
    }
    if (strcmp(c->format, "mllog") == 0) {
        TRY(record_find(r, word != NULL ? word : "last", &id));
        rc = mllog_export(r, id, c->author, &text);
        if (rc == 0) return write_and_free(&text, c->to);
        text_free(&text);
        return rc;
    }
    if (word != NULL && strcmp(word, "all") != 0) TRY(record_find(r, word, &id));
    TRY(for_chains(r, id, warn_of_chain));
    if (strcmp(c->format, "csv") == 0 && c->to != NULL && is_folder(c->to)) return export_tables_to(r, id, c->to);
    if (strcmp(c->format, "csv") == 0) rc = export_csv(r, "runs", id, &text);
    else rc = export_json(r, id, &text);
    if (rc == 0) return write_and_free(&text, c->to);
    text_free(&text);
    return rc;
}

static int print_run(struct results *r, const char *word, const struct choice *c)
{
    const struct show_style style = style_of(c);
    struct text text = {0};
    int64_t id;
    TRY(record_find(r, word != NULL ? word : "last", &id));
    int rc = show_run(r, id, &style, &text);
    if (rc == 0) return print_and_free(&text);
    text_free(&text);
    return rc;
}

static int print_list(struct results *r, const struct choice *c)
{
    const struct show_style style = style_of(c);
    struct text text = {0};
    int rc = show_list(r, &style, &text);
    if (rc == 0) return print_and_free(&text);
    text_free(&text);
    return rc;
}

static int check_words(int argc, char **argv, const struct choice *c)
{
    static const char *const actions[] = {"list", "show", "export", "verify", NULL};
    static const char *const formats[] = {"json", "csv", "dawnbench", "mllog", NULL};
    const char *action = argc > 1 ? argv[1] : "list";
    bool known = false, format = false;
    for (int i = 0; actions[i] != NULL; i++) known = known || strcmp(actions[i], action) == 0;
    for (int i = 0; formats[i] != NULL; i++) format = format || strcmp(formats[i], c->format) == 0;
    if (!known) return fail_unknown(ERR_USAGE, "results command", action, actions, NULL);
    if (!format) return fail(ERR_USAGE, "--format must be json, csv, dawnbench or mllog; got \"%s\"", c->format);
    if (argc > (strcmp(action, "list") == 0 ? 2 : 3))
        return fail(ERR_USAGE, "results %s does not take \"%s\"", action, argv[argc - 1]);
    return 0;
}

int cmd_results(int argc, char **argv)
{
    struct choice c = {.format = "json"};
    const struct option options[] = {
        {OPTION_TEXT, 0, "db", "FILE", "the record (default: $DAWN_RESULTS, else results.db)", &c.db, 0, 0},
        {OPTION_TEXT, 'f', "format", "FORMAT", "format of an export: json, csv, dawnbench or mllog", &c.format, 0, 0},
        {OPTION_TEXT, 0, "to", "PATH", "file of an export; for csv also a folder; for dawnbench a folder", &c.to, 0, 0},
        {OPTION_TEXT, 0, "author", "NAME", "author in DAWNBench's files, organisation in MLPerf's log", &c.author, 0, 0},
        {OPTION_TEXT, 0, "code-url", "URL", "where the code is, in DAWNBench's files", &c.code_url, 0, 0},
        {OPTION_FLAG, 0, "ascii", NULL, "plain characters even in a terminal", &c.ascii, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "results",
        .operands = "[list | show [RUN] | export [RUN] | verify [RUN]] [OPTIONS]",
        .about = "Shows, exports and verifies what has been recorded. RUN is a number or last; for export and "
                 "verify also all, which is what they take by themselves.",
        .options = options,
        .more = "Examples:\n"
                "  dawn results                                  one line a run\n"
                "  dawn results show last                        everything about the last run\n"
                "  dawn results export --format csv --to tables/ every table as a file\n"
                "  dawn results export 3 --format dawnbench      DAWNBench's JSON and TSV\n"
                "  dawn results export last --format mllog       MLPerf's log of a run\n"
                "  dawn results verify                           whether a record was changed",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc == OPTIONS_HELPED ? 0 : rc;
    TRY(check_words(argc, argv, &c));
    const char *action = argc > 1 ? argv[1] : "list", *word = argc > 2 ? argv[2] : NULL;
    struct results *r;
    TRY(results_open(c.db, RESULTS_READ, &r));
    if (strcmp(action, "show") == 0) rc = print_run(r, word, &c);
    else if (strcmp(action, "export") == 0) rc = export_run(r, word, &c);
    else if (strcmp(action, "verify") == 0) rc = verify_runs(r, word);
    else rc = print_list(r, &c);
    results_close(r);
    return rc;
}
