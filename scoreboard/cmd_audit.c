// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard audit: the operator confirms that a person has examined a run, withdraws the confirmation, decides about an
// objection, or has the runs trained again that the log drew.
#include <stdio.h>
#include <stdlib.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/cmd_audit.h"
#include "scoreboard/store/store.h"
#include "submit/format/fields.h"

// Finds a statement by its number or digest; its digest lives in the arena.
static int find_statement(struct store *store, const char *id, struct arena *arena, struct stored *run)
{
    struct reader *reader;
    TRY(store_reader(store, &reader));
    int rc = store_statement(reader, id, arena, run);
    store_reader_close(reader);
    return rc;
}

struct wanted {
    struct decision decision;
    bool withdraw, uphold, dismiss;
};

static int record_decision(struct store *store, const char *id, struct wanted *w, struct acceptance *done)
{
    struct arena arena = {0};
    struct stored about;
    struct decision *d = &w->decision;
    const bool objects = w->uphold || w->dismiss;
    int rc = find_statement(store, id, &arena, &about);
    d->about = rc == 0 ? about.digest : "";
    d->verdict = w->uphold ? "upheld" : w->dismiss ? "dismissed" : w->withdraw ? "withdrawn" : "confirmed";
    if (rc == 0) rc = store_decide(store, d, clock_unix_ms(), done);
    if (rc == 0 && done->problem == PROBLEM_NONE)
        printf("statement %lld: %s %lld is %s\n", (long long)done->sequence, objects ? "objection" : "run",
               (long long)about.sequence, objects ? d->verdict : w->withdraw ? "no longer audited" : "audited");
    arena_free(&arena);
    return rc;
}

int cmd_audit_check_words(const char *command, const char *by, const char *reason)
{
    const struct field *fields = statement_fields[STATEMENT_AUDIT];
    if (by == NULL && reason == NULL)
        return fail(ERR_USAGE, "%s needs --by NAME and --reason TEXT; both are shown to everybody", command);
    if (by == NULL) return fail(ERR_USAGE, "%s needs --by NAME, the person who decided; it is shown to everybody", command);
    if (reason == NULL) return fail(ERR_USAGE, "%s needs --reason TEXT; it is shown to everybody", command);
    TRY(fields_check_typed("the name", fields, "by", by));
    return fields_check_typed("the reason", fields, "reason", reason);
}

static int audit_what_is_drawn(int argc, char **argv, const char *db, const struct wanted *w, struct audit_drawn *again)
{
    const char *by = w->decision.by;
    if (again->replayed != NULL && argc != 2) return fail(ERR_USAGE, "--replayed needs one run, the one that was trained again");
    if ((argc > 1 && again->replayed == NULL) || w->decision.reason != NULL || w->uphold || w->dismiss || w->withdraw)
        return fail(ERR_USAGE, "--drawn takes no run, no reason and no decision");
    again->db = db;
    again->run = argv[1];
    again->by = by != NULL ? by : "the operator";
    return cmd_audit_drawn(again);
}

int cmd_audit(int argc, char **argv)
{
    const char *db = "scoreboard.db";
    struct wanted w = {0};
    struct audit_drawn again = {0};
    bool drawn = false;
    struct decision *decision = &w.decision;
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record", &db, 0, 0},
        {OPTION_TEXT, 0, "by", "NAME", "the person who examined the run; shown to everybody", &decision->by, 0, 0},
        {OPTION_TEXT, 0, "reason", "TEXT", "the examination and its result; shown to everybody", &decision->reason, 0, 0},
        {OPTION_FLAG, 0, "withdraw", NULL, "take an earlier confirmation back", &w.withdraw, 0, 0},
        {OPTION_FLAG, 0, "uphold", NULL, "the objection is right: its run gets a flag", &w.uphold, 0, 0},
        {OPTION_FLAG, 0, "dismiss", NULL, "the objection is not right", &w.dismiss, 0, 0},
        {OPTION_FLAG, 0, "drawn", NULL, "train again the drawn runs that nobody has repeated", &drawn, 0, 0},
        {OPTION_INT, 0, "epochs", "N", "with --drawn: of each run the first N epochs alone", &again.epochs, 1, 1000000},
        {OPTION_INT, 0, "seconds", "N", "with --drawn: stop a training that takes longer; its run stays open", &again.seconds, 1,
         100000000},
        {OPTION_FLAG, 0, "list", NULL, "with --drawn: only list the drawn runs that are open", &again.list, 0, 0},
        {OPTION_PATH, 0, "data", "DIR", "with --drawn: the folder that holds the data set", &again.data, 0, 0},
        {OPTION_PATH, 0, "dawn", "PROGRAM", "with --drawn: the dawn that trains (default: in the folder of this program)",
         &again.program, 0, 0},
        {OPTION_PATH, 0, "replayed", "FILE", "of RUN: sign what \"dawn replay --json\" printed about it elsewhere",
         &again.replayed, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "audit",
        .operands = "RUN|OBJECTION|--drawn [OPTIONS]",
        .about = "Records that a person has examined RUN (its number or digest) and confirms it. The run is then shown "
                 "as audited, the highest level of trust. The decision is a statement in the log, signed by the server's "
                 "key. A group is audited when all its runs are.\n\n"
                 "With --uphold or --dismiss it records the decision about an OBJECTION.\n\n"
                 "With --drawn it has \"dawn replay\" train the runs again that the log drew and nobody has repeated, and signs "
                 "each result: equal to the last bit, or differs, which is a flag. A run whose program, device or data are "
                 "not here stays open. The server may run meanwhile.",
        .options = options,
        .more = "Examples:\n  dawn-scoreboard audit 12 --by 'Ann Lee' --reason 'repeated on our p3.2xlarge'\n"
                "  dawn-scoreboard audit 15 --uphold --by 'Ann Lee' \\\n    --reason 'the machine has 16 cores'",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (!drawn && (again.epochs > 0 || again.seconds > 0 || again.list || again.data != NULL || again.program != NULL))
        return fail(ERR_USAGE, "--epochs, --seconds, --list, --data and --dawn are for --drawn");
    if (drawn || again.replayed != NULL) return audit_what_is_drawn(argc, argv, db, &w, &again);
    if (argc < 2) return fail(ERR_USAGE, "audit needs the number or the digest of a run");
    if (argc > 2) return fail(ERR_USAGE, "audit does not take \"%s\"", argv[2]);
    if (w.uphold + w.dismiss + w.withdraw > 1)
        return fail(ERR_USAGE, "--withdraw, --uphold and --dismiss exclude each other");
    TRY(cmd_audit_check_words("audit", decision->by, decision->reason));
    struct store *store;
    struct acceptance done = {0};
    if (!file_exists(db)) return fail(ERR_DATABASE, "there is no record at %s: name the file with --db", db);
    TRY(store_open(&(struct store_settings){.path = db}, STORE_WRITE, &store));
    rc = record_decision(store, argv[1], &w, &done);
    store_close(store);
    free(done.receipt);
    TRY(rc);
    return done.problem != PROBLEM_NONE ? fail(ERR_INPUT, "%s", done.detail) : 0;
}
