// SPDX-License-Identifier: Apache-2.0
// dawn keys rotate and dawn keys revoke: inform a scoreboard that a key was replaced or lost. Both are final. Earlier statements
// of the key stay valid. Cost: two requests.
#include <stdio.h>
#include <string.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/cli/options.h"
#include "submit/cmd_sending.h"
#include "submit/submit_commands.h"
#include "submit/format/fields.h"
#include "submit/keys/handle.h"

// ---- rotate

struct rotation {
    struct sending sending;  // its signer has the old key
    struct signer next;
    const char *given;
    char handle[HANDLE_MAX];
};

static int write_rotation(const struct rotation *r, struct statement *s)
{
    char line[SSHKEY_TEXT];
    struct sshkey bare = r->next.key;
    bare.comment[0] = 0;
    return statement_make(json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:I}", "type", "rotate", "version", 1, "board",
                                    r->sending.about.name, "board_key", r->sending.about_key, "handle", r->handle, "key",
                                    sshkey_line(&bare, line), "made_ms", (json_int_t)clock_unix_ms()),
                          s);
}

static void print_rotation(const struct rotation *r)
{
    char from[SSHKEY_ID], to[SSHKEY_ID];
    printf("On %s the handle %s moves\n  from %s\n  to   %s.\nThe old key can then sign nothing there.\n",
           r->sending.about.name, r->handle, sshkey_id(&r->sending.signer.key, from), sshkey_id(&r->next.key, to));
}

// deliver() with both signatures.
static int send_rotation(struct rotation *r, const struct statement *s)
{
    struct sending *to = &r->sending;
    const char *space = statement_namespace(s->type);
    char signature[SSHSIG_MAX], countersignature[SSHSIG_MAX];
    struct text envelope = {0}, answer = {0}, checks = {0};
    struct delivery d = {0};
    TRY(signer_sign(&to->signer, space, s->payload, s->count, signature));
    TRY(signer_sign(&r->next, space, s->payload, s->count, countersignature));
    int rc = envelope_write(s, signature, countersignature, &envelope);
    if (rc == 0) rc = client_post(to->client, envelope.at, envelope.length, &answer, &d.again, &checks);
    if (rc == 0)
        rc = delivery_read(answer.at != NULL ? answer.at : "", answer.length, &to->about, s, &to->signer.key, clock_unix_ms(),
                           &d);
    if (rc == 0) printf("rotate: accepted as #%lld on %s\n", (long long)d.receipt.sequence, d.receipt.board);
    delivery_free(&d);
    text_free(&envelope);
    text_free(&answer);
    text_free(&checks);
    return rc;
}

static int rotate(struct rotation *r, const char *name)
{
    struct statement s;
    if (sshkey_same(&r->next.key, &r->sending.signer.key))
        return fail(ERR_USAGE, "%s is the key that signs now; --key names the old one", name);
    TRY(write_rotation(r, &s));
    print_rotation(r);
    int rc = sending_ask(&r->sending, "Move it for good?");
    if (rc == 0) rc = send_rotation(r, &s);
    statement_free(&s);
    if (rc == 0) printf("From now on sign with the new key: --key %s, or DAWN_KEY.\n", name);
    return rc;
}

int cmd_keys_rotate(int argc, char **argv)
{
    struct rotation r = {0};
    const struct option options[] = {
        {OPTION_TEXT, 0, "key", "KEY", "the old key, which also signs (default: as \"dawn keys\" marks it)",
         &r.sending.key, 0, 0},
        {OPTION_TEXT, 0, "handle", "NAME", "your handle (default: $DAWN_HANDLE, else the one remembered)", &r.given, 0, 0},
        SENDING_BOARD(r.sending), SENDING_YES(r.sending),
    };
    const struct usage usage = {
        .command = "keys rotate",
        .operands = "NEW [OPTIONS]",
        .about = "Moves your handle on a scoreboard to the key NEW, which the board must not know yet. Both keys sign. What the "
                 "old key signed before stays yours.",
        .options = options,
        .more = "Example:\n  dawn keys new second\n  dawn keys rotate second --key dawn --server https://board.example",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc < 2) return fail(ERR_USAGE, "keys rotate needs the new key, named as \"dawn keys\" lists it");
    if (argc > 2) return fail(ERR_USAGE, "keys rotate takes one key, not also \"%s\"", argv[2]);
    TRY(handle_choose(r.given, r.handle));
    TRY(keyring_choose(argv[1], &r.next));
    rc = sending_open(&r.sending);
    if (rc == 0) rc = rotate(&r, argv[1]);
    sending_close(&r.sending);
    return rc;
}

// ---- revoke

static int revoke(struct sending *s, const char *reason)
{
    struct statement statement;
    char id[SSHKEY_ID];
    sshkey_id(&s->signer.key, id);
    TRY(statement_make(json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:I}", "type", "revoke", "version", 1, "board", s->about.name,
                                 "board_key", s->about_key, "key", id, "reason", reason, "made_ms",
                                 (json_int_t)clock_unix_ms()),
                       &statement));
    printf("On %s, what this key signs will no longer count:\n  %s\nWhat it signed before stays. You lose the handle, too. "
           "To keep it, move it to\nanother key with \"dawn keys rotate\", which also ends this key.\n",
           s->about.name, id);
    int rc = sending_ask(s, "Revoke it for good?");
    if (rc == 0) rc = sending_send(s, NULL, 0, "revoke", &statement);
    statement_free(&statement);
    return rc;
}

int cmd_keys_revoke(int argc, char **argv)
{
    struct sending s = {0};
    const char *reason = NULL;
    const struct option options[] = {
        {OPTION_TEXT, 0, "reason", "TEXT", "why; it is shown", &reason, 0, 0},
        SENDING_BOARD(s), SENDING_YES(s),
    };
    const struct usage usage = {
        .command = "keys revoke",
        .operands = "[KEY] --reason TEXT [OPTIONS]",
        .about = "Tells a scoreboard that one of your keys no longer counts, for example because it was stolen. The key signs "
                 "that itself; if you lost it, ask the board's operator. You also lose the handle: to keep it, \"dawn "
                 "keys rotate\" to another key instead.\n\n"
                 "KEY is a name as \"dawn keys\" lists it; the default is the marked one.",
        .options = options,
        .more = "Example:\n  dawn keys revoke dawn --reason \"stolen laptop\" --server https://board.example",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc > 2) return fail(ERR_USAGE, "keys revoke takes one key, not also \"%s\"", argv[2]);
    if (reason == NULL) return fail(ERR_USAGE, "a revocation needs a reason: give --reason TEXT, which is shown with the key");
    TRY(fields_check_typed("the reason", statement_fields[STATEMENT_REVOKE], "reason", reason));
    if (argc > 1) s.key = argv[1];
    rc = sending_open(&s);
    if (rc == 0) rc = revoke(&s, reason);
    sending_close(&s);
    return rc;
}
