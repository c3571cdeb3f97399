// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard revoke: the server revokes a key, for people who have lost theirs.
#include <stdio.h>
#include <stdlib.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/store/store.h"
#include "submit/format/fields.h"

int cmd_revoke(int argc, char **argv)
{
    const char *db = "scoreboard.db", *reason = NULL;
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record", &db, 0, 0},
        {OPTION_TEXT, 0, "reason", "TEXT", "why; shown to everybody", &reason, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "revoke",
        .operands = "KEY --reason TEXT [OPTIONS]",
        .about = "The server then refuses everything that KEY (SHA256:...) signs. What it signed before stays. The "
                 "server may run meanwhile.",
        .options = options,
        .more = "Example:\n  dawn-scoreboard revoke SHA256:... --reason 'the laptop was stolen'",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc < 2) return fail(ERR_USAGE, "revoke needs the fingerprint of a key: SHA256:...");
    if (argc > 2) return fail(ERR_USAGE, "revoke does not take \"%s\"", argv[2]);
    if (!sshkey_is_id(argv[1]))
        return fail(ERR_USAGE, "\"%.60s\" is not a fingerprint of a key: SHA256: and 43 base64 digits", argv[1]);
    if (reason == NULL) return fail(ERR_USAGE, "a revocation needs a reason: give --reason TEXT, which is shown with the key");
    TRY(fields_check_typed("the reason", statement_fields[STATEMENT_REVOKE], "reason", reason));
    struct store *store;
    struct acceptance done = {0};
    if (!file_exists(db)) return fail(ERR_DATABASE, "there is no record at %s: name the file with --db", db);
    TRY(store_open(&(struct store_settings){.path = db}, STORE_WRITE, &store));
    rc = store_revoke(store, argv[1], reason, clock_unix_ms(), &done);
    store_close(store);
    free(done.receipt);
    TRY(rc);
    if (done.problem != PROBLEM_NONE) return fail(ERR_INPUT, "%s", done.detail);
    printf("statement %lld: %s is revoked\n", (long long)done.sequence, argv[1]);
    return 0;
}
