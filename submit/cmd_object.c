// SPDX-License-Identifier: Apache-2.0
// dawn object: a signed objection to a run of another person. The board's operator decides about it; both stay in the log. Cost:
// three requests.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/base/file.h"
#include "runtime/common/cli/options.h"
#include "submit/cmd_sending.h"
#include "submit/submit_commands.h"
#include "submit/format/fields.h"

struct objecting {
    struct sending sending;
    const char *reason, *url;
};

// The record is only read, and only if there is one.
static int compare_address(const struct sending *s)
{
    struct results *r = NULL;
    if (file_exists(results_path(NULL))) TRY(results_open(NULL, RESULTS_READ, &r));
    int rc = sending_compare(s, r);
    results_close(r);
    return rc;
}

static int fetch_run(struct sending *sending, const char *name, struct statement *run)
{
    TRY(delivery_named(sending->client, &sending->about, name, run));
    if (run->type == STATEMENT_RUN) return 0;
    return fail(ERR_INPUT, "statement %.12s is not a run: it is of type %s", name, statement_type_name(run->type));
}

static int send_objection(struct objecting *o, const struct statement *run)
{
    struct sending *s = &o->sending;
    struct statement statement;
    json_t *json = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:I}", "type", "object", "version", 1, "board", s->about.name,
                             "board_key", s->about_key, "statement", run->digest, "reason", o->reason, "made_ms",
                             (json_int_t)clock_unix_ms());
    if (o->url != NULL) json_object_set_new(json, "url", json_string(o->url));
    TRY(statement_make(json, &statement));
    printf("It is about the run %s of %s, by %s, on %s.\n", o->sending.named, canonical_text(run->json, "model.name"),
           canonical_text(run->json, "handle"), s->about.name);
    int rc = sending_ask(s, "Sign this objection and publish it?");
    if (rc == 0) rc = sending_send(s, NULL, 0, "objection", &statement);
    statement_free(&statement);
    return rc;
}

static int object(struct objecting *o)
{
    struct statement run = {0};
    TRY(sending_open(&o->sending));
    int rc = compare_address(&o->sending);
    if (rc == 0) rc = fetch_run(&o->sending, o->sending.named, &run);
    if (rc == 0) rc = send_objection(o, &run);
    statement_free(&run);
    return rc;
}

// "https://board.example/runs/12", or a number or a digest of the board that --server names.
static int read_run(struct objecting *o, const char *word)
{
    const size_t length = strlen(word);
    const bool digest = length == DIGEST_HEX - 1 && strspn(word, "0123456789abcdef") == length;
    const bool number = length > 0 && length < 19 && *word != '0' && strspn(word, "0123456789") == length;
    if (digest || number) {
        snprintf(o->sending.named, sizeof o->sending.named, "%s", word);
        return 0;
    }
    return sending_address(&o->sending, word);
}

static int check_words(const struct objecting *o)
{
    const struct field *fields = statement_fields[STATEMENT_OBJECT];
    if (o->reason == NULL)
        return fail(ERR_USAGE, "an objection needs a reason: give --reason TEXT, which is shown with it");
    TRY(fields_check_typed("the reason", fields, "reason", o->reason));
    return o->url != NULL ? fields_check_typed("the address", fields, "url", o->url) : 0;
}

int cmd_object(int argc, char **argv)
{
    struct objecting o = {0};
    const struct option options[] = {
        {OPTION_TEXT, 0, "reason", "TEXT", "the fault of the run; it is shown", &o.reason, 0, 0},
        {OPTION_TEXT, 0, "url", "URL", "https address of the evidence", &o.url, 0, 0},
        SENDING_BOARD(o.sending), SENDING_KEY(o.sending), SENDING_YES(o.sending),
    };
    const struct usage usage = {
        .command = "object",
        .operands = "URL|NUMBER|DIGEST --reason TEXT [OPTIONS]",
        .about = "Objects to a run of another person. It needs a key that has submitted a run or a measurement to this "
                 "scoreboard. The objection and the operator's decision about it are shown with the run, and stay.",
        .options = options,
        .more = "Example:\n  dawn object https://board.example/runs/12 --reason \"that machine has 16 cores\"",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc < 2) return fail(ERR_USAGE, "object needs a run: its address, or with --server its number or digest");
    if (argc > 2) return fail(ERR_USAGE, "object takes one run, not also \"%s\"", argv[2]);
    TRY(check_words(&o));
    rc = read_run(&o, argv[1]);
    if (rc == 0) rc = object(&o);
    sending_close(&o.sending);
    return rc;
}
