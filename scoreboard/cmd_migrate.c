// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard migrate: brings the record to this program's format, or makes a new one, without serving.
#include <stdio.h>

#include "runtime/common/cli/options.h"
#include "scoreboard/commands.h"
#include "scoreboard/store/store.h"

int cmd_migrate(int argc, char **argv)
{
    const char *db = "scoreboard.db", *origin = NULL;
    char id[SSHKEY_ID];
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record", &db, 0, 0},
        {OPTION_TEXT, 0, "origin", "NAME", "the board's name, of a new record", &origin, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "migrate",
        .operands = "[OPTIONS]",
        .about = "Migrates the record to the format of this program, completely or not at all. Creates it, and the "
                 "server's key FILE.key, if there is none. The server does the same when it starts.",
        .options = options,
        .more = "Back the record up before: dawn-scoreboard backup TO",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc == OPTIONS_HELPED ? 0 : rc;
    if (argc > 1) return fail(ERR_USAGE, "migrate does not take \"%s\"", argv[1]);
    struct store *store;
    TRY(store_open(&(struct store_settings){.path = db, .origin = origin}, STORE_WRITE, &store));
    printf("%s: board \"%s\", key %s\n", db, store_origin(store), sshkey_id(store_key(store), id));
    store_close(store);
    return 0;
}
