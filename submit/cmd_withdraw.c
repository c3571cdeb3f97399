// SPDX-License-Identifier: Apache-2.0
// dawn withdraw and dawn amend: signed changes of an own entry. Neither changes a figure, and the accepted statement stays in
// the board's log. Cost: two requests.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/cli/options.h"
#include "submit/cmd_sending.h"
#include "submit/submit_commands.h"
#include "submit/format/fields.h"
#include "submit/payload.h"

struct target {
    const char *digest;  // of the statement to change
    int64_t run;         // its run in the record; 0: none
    json_t *row;         // its receipt; NULL
};

// A run of the record names its last accepted statement. A digest needs no record.
static int find_target(struct results *r, const char *word, const struct sending *s, struct target *t)
{
    const char *board = s->about.name;
    *t = (struct target){0};
    if (digest_is_hex(word)) {
        t->digest = word;
        if (r != NULL) TRY(receipts_find(r, board, s->about_key, word, &t->row));
    } else {
        TRY(record_find(r, word, &t->run));
        TRY(receipts_last(r, t->run, "run", board, s->about_key, &t->row));
        if (t->row == NULL)
            return fail(ERR_MISSING, "run %lld has not been submitted to %s from this record", (long long)t->run, board);
        t->digest = record_text(t->row, "statement");
    }
    if (t->row != NULL) t->run = record_int(t->row, "run");
    return 0;
}

static json_t *begin_statement(const char *type, const struct sending *s, const struct target *t)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", type, "version", 1, "board", s->about.name, "board_key",
                     s->about_key, "statement", t->digest, "made_ms", (json_int_t)clock_unix_ms());
}

// Lists the further consequences of a withdrawal, as far as the record knows them.
static int say_what_goes(struct results *r, const struct target *t)
{
    json_t *rows = NULL;
    if (t->run != 0) TRY(record_rows(r, "SELECT group_id FROM runs WHERE id = ?", t->run, &rows));
    int64_t group = record_int(json_array_get(rows, 0), "group_id");
    json_decref(rows);
    if (group != 0)
        printf("Group %lld will no longer be official, and will be on no board.\n", (long long)group);
    printf("A withdrawn run cannot come back.\n");
    return 0;
}

static int send_it(struct sending *s, struct results *r, const struct target *t, json_t *json, const char *question)
{
    struct statement statement;
    TRY(statement_make(json, &statement));
    if (t->row != NULL)
        printf("This concerns run %lld, #%lld on %s.\n", (long long)t->run, (long long)record_int(t->row, "sequence"),
               s->about.name);
    else printf("This concerns the statement %.12s on %s.\n", t->digest, s->about.name);
    if (t->row != NULL) snprintf(s->about_run, sizeof s->about_run, "%lld", (long long)record_int(t->row, "sequence"));
    else snprintf(s->about_run, sizeof s->about_run, "%s", t->digest);
    int rc = statement.type == STATEMENT_WITHDRAW ? say_what_goes(r, t) : 0;
    if (rc == 0) rc = sending_ask(s, question);
    if (rc == 0) rc = sending_send(s, r, t->run, statement_type_name(statement.type), &statement);
    statement_free(&statement);
    return rc;
}

// The record is needed for a run's number and used for a digest or an address. It is never created here.
static int open_record(const char *db, const char *word, struct results **r)
{
    *r = NULL;
    bool needed = (!digest_is_hex(word) && strstr(word, "://") == NULL) || db != NULL;
    return needed || file_exists(results_path(db)) ? sending_record(db, RESULTS_WRITE, r) : 0;
}

struct second_thought {
    struct sending sending;
    const char *word, *db;
    char digest[DIGEST_HEX];  // of the statement in an address, after the board's answer
    json_t *(*json)(const struct second_thought *, const struct target *);
    const char *question;
    const char *reason, *team, *note, *code_url;
    struct option_list tags;
    bool no_tags;
};

// The board's receipt gives the digest of a statement that is named by its number.
static int resolve_address(struct second_thought *t)
{
    struct statement s;
    if (t->sending.base == NULL) return 0;
    TRY(delivery_named(t->sending.client, &t->sending.about, t->sending.named, &s));
    snprintf(t->digest, sizeof t->digest, "%s", s.digest);
    const bool run = s.type == STATEMENT_RUN;
    char moment[TEXT_FIGURE];
    printf("The address names a %s of %s: %s, %s.\n", statement_type_name(s.type), canonical_text(s.json, "handle"),
           canonical_text(s.json, "task"), text_moment(moment, canonical_int(s.json, run ? "ended_ms" : "made_ms")));
    t->word = t->digest;
    statement_free(&s);
    return 0;
}

static int carry_out(struct second_thought *t)
{
    struct results *r = NULL;
    struct target target = {0};
    int rc = strstr(t->word, "://") != NULL ? sending_address(&t->sending, t->word) : 0;
    if (rc == 0) rc = open_record(t->db, t->word, &r);
    if (rc == 0) rc = sending_open(&t->sending);
    if (rc == 0) rc = sending_compare(&t->sending, r);
    if (rc == 0) rc = resolve_address(t);
    if (rc == 0) rc = find_target(r, t->word, &t->sending, &target);
    if (rc == 0) rc = send_it(&t->sending, r, &target, t->json(t, &target), t->question);
    json_decref(target.row);
    sending_close(&t->sending);
    results_close(r);
    return rc;
}

static json_t *withdrawal(const struct second_thought *t, const struct target *target)
{
    json_t *json = begin_statement("withdraw", &t->sending, target);
    json_object_set_new(json, "reason", json_string(t->reason));
    return json;
}

static json_t *amendment(const struct second_thought *t, const struct target *target)
{
    json_t *json = begin_statement("amend", &t->sending, target);
    if (t->team != NULL) json_object_set_new(json, "team", json_string(t->team));
    if (t->note != NULL) json_object_set_new(json, "note", json_string(t->note));
    if (t->code_url != NULL) json_object_set_new(json, "code_url", json_string(t->code_url));
    if (t->tags.count > 0 || t->no_tags) json_object_set_new(json, "tags", payload_tags(t->tags.word, t->tags.count));
    return json;
}

// argv after the options: the run or digest, and the record.
static int operands(struct second_thought *t, const char *command, int argc, char **argv)
{
    if (argc < 2) return fail(ERR_USAGE, "expected a run: its number in the record, \"last\", its address on the board, or the "
                               "digest of its statement");
    if (argc > 3) return fail(ERR_USAGE, "%s takes one run and one record, not also \"%s\"", command, argv[3]);
    t->word = argv[1];
    t->db = argc > 2 ? argv[2] : NULL;
    return 0;
}

int cmd_withdraw(int argc, char **argv)
{
    struct second_thought t = {.json = withdrawal, .question = "Remove it from the boards for good?"};
    const struct option options[] = {
        {OPTION_TEXT, 0, "reason", "TEXT", "why; it is shown", &t.reason, 0, 0},
        SENDING_BOARD(t.sending), SENDING_KEY(t.sending), SENDING_YES(t.sending),
    };
    const struct usage usage = {
        .command = "withdraw",
        .operands = "RUN|URL|DIGEST [results.db] --reason TEXT [OPTIONS]",
        .about = "Removes one of your entries from the boards. It stays in the log, with the reason.",
        .options = options,
        .more = "Example:\n  dawn withdraw 3 --reason \"a shared machine\" --server https://board.example",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    TRY(operands(&t, "withdraw", argc, argv));
    if (t.reason == NULL) return fail(ERR_USAGE, "a withdrawal needs a reason: give --reason TEXT, which is shown with it");
    TRY(fields_check_typed("the reason", statement_fields[STATEMENT_WITHDRAW], "reason", t.reason));
    return carry_out(&t);
}

int cmd_amend(int argc, char **argv)
{
    struct second_thought t = {.json = amendment, .question = "Change these texts?"};
    const struct option options[] = {
        {OPTION_TEXT, 0, "team", "TEXT", "team or organisation, as you say", &t.team, 0, 0},
        {OPTION_TEXT, 0, "note", "TEXT", "the remark; \"\" removes it", &t.note, 0, 0},
        {OPTION_TEXT, 0, "code-url", "URL", "https address of the code; \"\" removes it", &t.code_url, 0, 0},
        {OPTION_LIST, 0, "tag", "WORD", "all tags from now on", &t.tags, 0, 0},
        {OPTION_FLAG, 0, "clear-tags", NULL, "none from now on", &t.no_tags, 0, 0},
        SENDING_BOARD(t.sending), SENDING_KEY(t.sending), SENDING_YES(t.sending),
    };
    const struct usage usage = {
        .command = "amend",
        .operands = "RUN|URL|DIGEST [results.db] [OPTIONS]",
        .about = "Changes the descriptive texts of one of your entries. Figures never change.",
        .options = options,
        .more = "Example:\n  dawn amend 3 --code-url https://code.example --server https://board.example",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    TRY(operands(&t, "amend", argc, argv));
    if (t.team == NULL && t.note == NULL && t.code_url == NULL && t.tags.count == 0 && !t.no_tags)
        return fail(ERR_USAGE, "nothing to change: give --team, --note, --code-url or --tag");
    const struct payload_words words = {.team = t.team, .note = t.note, .code_url = t.code_url, .tags = t.tags.word,
                                        .tag_count = t.tags.count};
    TRY(payload_check_words(&words));
    return carry_out(&t);
}
