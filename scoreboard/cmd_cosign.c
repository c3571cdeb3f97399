// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard cosign: prints the request to a witness, and reads its answer. Another program carries both, so that this one
// opens no connections.
#include <stdio.h>
#include <stdlib.h>

#include "runtime/common/base/file.h"
#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/store/store.h"

enum { FILE_MOST = 1 << 18 };

static int read_text(const char *path, struct text *into)
{
    char *bytes;
    size_t count;
    TRY(file_read(path, FILE_MOST, &bytes, &count));
    text_bytes(into, bytes, count);
    free(bytes);
    return 0;
}

static int take(struct store *store, const struct note_witness *witness, char **files)
{
    struct text request = {0}, answer = {0};
    struct checkpoint head;
    int64_t when;
    int rc = read_text(files[0], &request);
    if (rc == 0) rc = read_text(files[1], &answer);
    if (rc == 0) rc = store_witness_take(store, witness, &request, &answer, &head, &when);
    if (rc == 0) printf("%s cosigned %lld entries\n", witness->name, (long long)head.size);
    text_free(&request);
    text_free(&answer);
    return rc;
}

static int write_request(struct store *store, const struct note_witness *witness, int64_t old)
{
    struct text request = {0};
    int rc = store_witness_ask(store, witness, old, &request);
    if (rc == 0) fputs(request.at, stdout);
    text_free(&request);
    return rc;
}

int cmd_cosign(int argc, char **argv)
{
    const char *db = "scoreboard.db", *key = NULL;
    int64_t old = -1;
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record", &db, 0, 0},
        {OPTION_TEXT, 0, "witness", "KEY", "the witness: NAME+NUMBER+KEY, as it publishes it", &key, 0, 0},
        {OPTION_INT, 0, "old", "N", "entries that it cosigned before (default: as its last answer here says)", &old, 0,
         TREE_MOST},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "cosign",
        .operands = "--witness KEY [REQUEST ANSWER] [OPTIONS]",
        .about = "Prints the request to a witness for the newest checkpoint of the log (c2sp.org/tlog-witness). With two files, "
                 "checks the ANSWER to a REQUEST and keeps its cosignature: the board shows it with that checkpoint. The server "
                 "may run meanwhile.",
        .options = options,
        .more = "Example, every few minutes:\n"
                "  dawn-scoreboard cosign --witness KEY >request\n"
                "  curl -sS --data-binary @request https://witness.example/add-checkpoint >answer\n"
                "  dawn-scoreboard cosign --witness KEY request answer",
    };
    struct note_witness witness;
    struct store *store;
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc != 1 && argc != 3) return fail(ERR_USAGE, "cosign takes a request and its answer, or neither");
    if (key == NULL) return fail(ERR_USAGE, "cosign needs --witness KEY, the key of the witness");
    TRY(note_read_witness(key, &witness));
    TRY(store_open(&(struct store_settings){.path = db}, STORE_READ, &store));
    rc = argc == 3 ? take(store, &witness, argv + 1) : write_request(store, &witness, old);
    store_close(store);
    return rc;
}
