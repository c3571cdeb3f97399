// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard backup: copies the record at one moment, while the server runs.
#include <stdio.h>

#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/store/store.h"

int cmd_backup(int argc, char **argv)
{
    const char *db = "scoreboard.db";
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record", &db, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "backup",
        .operands = "TO [OPTIONS]",
        .about = "Copies a consistent snapshot of the record into the new file TO. The server may keep running.",
        .options = options,
        .more = "The copy holds no key: keep the server's key (FILE.key) apart and secret.\n"
                "Nor does it hold FILE.checkpoint, which says how far the board has signed\n"
                "its log: leave that file in place when you put a copy back.",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc < 2) return fail(ERR_USAGE, "backup needs the name of the new file");
    if (argc > 2) return fail(ERR_USAGE, "backup does not take \"%s\"", argv[2]);
    struct store *store;
    TRY(store_open(&(struct store_settings){.path = db}, STORE_READ, &store));
    rc = store_backup(store, argv[1]);
    store_close(store);
    TRY(rc);
    printf("%s\n", argv[1]);
    return 0;
}
