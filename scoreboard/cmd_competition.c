// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard competition: opens a competition that a file describes, lists all, cancels one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/cli/json_text.h"
#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/store/store.h"

struct wanted {
    const char *db, *by, *reason;
    const char *what, *word;  // "add" and the file, "list", "cancel" and the name
    bool json;
};

static int add(struct store *store, const struct wanted *w, struct acceptance *done)
{
    char *bytes;
    size_t count;
    json_t *members = NULL;
    TRY(file_read(w->word, COMPETITION_FILE, &bytes, &count));
    int rc = competition_read(bytes, count, &members);
    free(bytes);
    if (rc < 0) return fail_prefix(rc, "%s: ", w->word);
    const char *name = json_string_value(json_object_get(members, "name"));
    char *kept = copy_text(name != NULL ? name : "");
    rc = store_competition_open(store, members, clock_unix_ms(), done);
    if (rc < 0) rc = fail_prefix(rc, "%s: ", w->word);
    if (rc == 0 && done->problem == PROBLEM_NONE)
        printf("statement %lld: the competition %s is open, /competitions/%s\n", (long long)done->sequence, kept, kept);
    free(kept);
    return rc;
}

static int cancel(struct store *store, const struct wanted *w, struct acceptance *done)
{
    const struct decision decision = {.verdict = "cancelled", .about = w->word, .by = w->by, .reason = w->reason};
    TRY(store_decide(store, &decision, clock_unix_ms(), done));
    if (done->problem == PROBLEM_NONE)
        printf("statement %lld: the competition %s is cancelled\n", (long long)done->sequence, w->word);
    return 0;
}

static const char *phase_of(const struct competition_stored *c)
{
    static const char *const phases[] = {"not yet begun", "takes commitments", "takes runs", "over"};
    return c->cancelled != 0 ? "cancelled" : phases[competition_phase(&c->about, clock_unix_ms())];
}

static void print_competition(const struct competition_stored *stored)
{
    char until[TEXT_FIGURE];
    const struct competition *c = &stored->about;
    printf("%-24s %s, %lld committed, %lld entered\n", c->name, phase_of(stored), (long long)stored->contenders,
           (long long)stored->entered);
    printf("  commitments until %s", text_moment(until, c->commits_until_ms));
    printf(", runs until %s\n", text_moment(until, c->reveals_until_ms));
}

static json_t *competition_row(const struct competition_stored *stored)
{
    const struct competition *c = &stored->about;
    return json_pack("{ss ss ss sI sI sI ss sI sI}", "name", c->name, "phase", phase_of(stored), "task", c->task, "begins_ms",
                     (json_int_t)c->begins_ms, "commits_until_ms", (json_int_t)c->commits_until_ms, "reveals_until_ms",
                     (json_int_t)c->reveals_until_ms, "statement", stored->digest, "contenders", (json_int_t)stored->contenders,
                     "entered", (json_int_t)stored->entered);
}

static int list(const struct wanted *w)
{
    struct store *store;
    struct reader *reader;
    struct arena arena = {0};
    struct competition_stored *all;
    int count = 0;
    json_t *rows = json_array();
    TRY(store_open(&(struct store_settings){.path = w->db}, STORE_READ, &store));
    int rc = store_reader(store, &reader);
    if (rc == 0) {
        rc = store_competitions(reader, &arena, &all, &count);
        store_reader_close(reader);
    }
    for (int i = 0; rc == 0 && i < count; i++) {
        if (w->json) json_text_row(&rows, competition_row(&all[i]));
        else print_competition(&all[i]);
    }
    if (rc == 0 && w->json) rc = json_text_print(json_incref(rows));
    else if (rc == 0 && count == 0) printf("There is no competition.\n");
    json_decref(rows);
    arena_free(&arena);
    store_close(store);
    return rc;
}

static int change(const struct wanted *w)
{
    struct store *store;
    struct acceptance done = {0};
    TRY(store_open(&(struct store_settings){.path = w->db}, STORE_WRITE, &store));
    int rc = strcmp(w->what, "add") == 0 ? add(store, w, &done) : cancel(store, w, &done);
    store_close(store);
    free(done.receipt);
    TRY(rc);
    if (done.problem == PROBLEM_CHECKS && done.findings.count > 0) return fail(ERR_INPUT, "%s", done.findings.at[0].text);
    return done.problem != PROBLEM_NONE ? fail(ERR_INPUT, "%s", done.detail) : 0;
}

static int check_words(const struct wanted *w)
{
    const bool cancels = strcmp(w->what, "cancel") == 0;
    if (w->json && strcmp(w->what, "list") != 0) return fail(ERR_USAGE, "--json is for competition list");
    if (!cancels && (w->by != NULL || w->reason != NULL)) return fail(ERR_USAGE, "--by and --reason are for cancel");
    return cancels ? cmd_audit_check_words("competition cancel", w->by, w->reason) : 0;
}

static int run(struct wanted *w, int argc, char **argv)
{
    static const char *const words[] = {"add", "list", "cancel", NULL};
    if (argc < 2) return fail(ERR_USAGE, "competition needs a sub-command: add FILE, list, or cancel NAME");
    w->what = argv[1];
    const bool lists = strcmp(w->what, "list") == 0;
    if (!lists && strcmp(w->what, "add") != 0 && strcmp(w->what, "cancel") != 0)
        return fail_unknown(ERR_USAGE, "sub-command", w->what, words, NULL);
    if (argc != (lists ? 2 : 3))
        return fail(ERR_USAGE, "competition %s takes %s", w->what,
                    lists ? "nothing more" : strcmp(w->what, "add") == 0 ? "one file" : "the name of one competition");
    if (!lists) w->word = argv[2];
    TRY(check_words(w));
    if (!file_exists(w->db)) return fail(ERR_DATABASE, "there is no record at %s: name the file with --db", w->db);
    return lists ? list(w) : change(w);
}

int cmd_competition(int argc, char **argv)
{
    struct wanted w = {.db = "scoreboard.db"};
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record", &w.db, 0, 0},
        {OPTION_FLAG, 0, "json", NULL, "list: one JSON array instead of text", &w.json, 0, 0},
        {OPTION_TEXT, 0, "by", "NAME", "cancel: the person who decided; shown to everybody", &w.by, 0, 0},
        {OPTION_TEXT, 0, "reason", "TEXT", "cancel: why; shown to everybody", &w.reason, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "competition",
        .operands = "add FILE|list|cancel NAME [OPTIONS]",
        .about = "add: opens the competition that FILE describes (JSON, see docs/deploy.md). Its dates and rules become a "
                 "statement in the log, signed by the server's key, and cannot change. list: all competitions. cancel: the "
                 "competition then takes nothing more; it stays visible. The server may run meanwhile.",
        .options = options,
        .more = "Examples:\n"
                "  dawn-scoreboard competition add winter.json --db scoreboard.db\n"
                "  dawn-scoreboard competition cancel winter-2026 --by 'Ann Lee' \\\n"
                "    --reason 'the deadline was wrong'",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    return run(&w, argc, argv);
}
