// SPDX-License-Identifier: Apache-2.0
// dawn-scoreboard draw: shows the rules of the draw, or signs new ones.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/common/base/clock.h"
#include "runtime/common/cli/options.h"
#include "scoreboard/board_commands.h"
#include "scoreboard/store/store.h"
#include "submit/format/fields.h"

static int show_rules(const char *db)
{
    struct store *store;
    struct reader *reader;
    struct arena arena = {0};
    struct draw_rules rules = {0};
    char since[TEXT_FIGURE];
    TRY(store_open(&(struct store_settings){.path = db}, STORE_READ, &store));
    int rc = store_reader(store, &reader);
    if (rc == 0) {
        rc = store_draw_rules(reader, &arena, &rules);
        store_reader_close(reader);
    }
    store_close(store);
    if (rc == 0 && rules.sequence == 0) printf("There are no rules: nothing is drawn, and nobody's repetition counts.\n");
    if (rc == 0 && rules.sequence != 0) {
        printf("share %.4g%% of new runs, again %.4g%% of all by each %dth statement (statement %lld, %s)\n",
               (double)rules.share_micro * 1e-4, (double)rules.again_micro * 1e-4, DRAW_AGAIN, (long long)rules.sequence,
               text_moment(since, rules.made_ms));
        for (int i = 0; i < rules.key_count; i++) printf("key %s\n", rules.keys[i]);
    }
    arena_free(&arena);
    return rc;
}

static int sign_rules(const char *db, const struct draw_rules *rules, const char *by)
{
    struct store *store;
    struct acceptance done = {0};
    TRY(fields_check_typed("the name", statement_fields[STATEMENT_DRAW], "by", by));
    for (int i = 0; i < rules->key_count; i++)
        if (!sshkey_is_id(rules->keys[i]))
            return fail(ERR_USAGE, "\"%.60s\" is not a fingerprint of a key: SHA256: and 43 base64 digits", rules->keys[i]);
    if (!file_exists(db)) return fail(ERR_DATABASE, "there is no record at %s: name the file with --db", db);
    TRY(store_open(&(struct store_settings){.path = db}, STORE_WRITE, &store));
    int rc = store_draw(store, rules, by, clock_unix_ms(), &done);
    store_close(store);
    free(done.receipt);
    TRY(rc);
    if (done.problem != PROBLEM_NONE) return fail(ERR_INPUT, "%s", done.detail);
    printf("statement %lld: these rules are in force from the next statement on\n", (long long)done.sequence);
    return 0;
}

int cmd_draw(int argc, char **argv)
{
    const char *db = "scoreboard.db", *by = NULL;
    double share = 0, again = 0;
    struct option_list keys = {0};
    const struct option options[] = {
        {OPTION_PATH, 0, "db", "FILE", "the record", &db, 0, 0},
        {OPTION_TEXT, 0, "by", "NAME", "the person who decides; shown to everybody", &by, 0, 0},
        {OPTION_FLOAT, 0, "share", "PERCENT", "of new runs, which the checkpoint of their own receipt draws", &share, 0, 100},
        {OPTION_FLOAT, 0, "again", "PERCENT", "of all runs that count, which each 256th statement draws", &again, 0, 100},
        {OPTION_LIST, 0, "key", "SHA256:...", "a key whose repetitions count; may be given several times", &keys, 0, 0},
        {OPTION_END, 0, NULL, NULL, NULL, NULL, 0, 0},
    };
    const struct usage usage = {
        .command = "draw",
        .operands = "[OPTIONS]",
        .about = "With --by: signs new rules of the draw; an option left out counts as 0 or nobody. They are a statement in the "
                 "log: which share of runs the log draws from then on, and whose repetitions make a run \"reproduced\". The best "
                 "of each board of training is always drawn. Without --by: shows the rules in force. The server may run "
                 "meanwhile.",
        .options = options,
        .more = "Example, and then each night \"dawn-scoreboard audit --drawn --epochs 2\":\n"
                "  dawn-scoreboard draw --by 'Ann Lee' --share 10 --again 1 --key SHA256:...",
    };
    int rc = options_parse(&usage, &argc, argv);
    if (rc != 0) return rc;
    if (argc > 1) return fail(ERR_USAGE, "draw does not take \"%.60s\"", argv[1]);
    if (by == NULL && (share > 0 || again > 0 || keys.count > 0))
        return fail(ERR_USAGE, "new rules need --by NAME, the person who decides; it is shown to everybody");
    if (by == NULL) return show_rules(db);
    return sign_rules(db, &(struct draw_rules){.share_micro = llround(share * 1e4), .again_micro = llround(again * 1e4),
                                               .keys = keys.word, .key_count = keys.count}, by);
}
