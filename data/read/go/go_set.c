// SPDX-License-Identifier: Apache-2.0
// The games of minigo-9's judge: their openings, against the opponent whose digest identifies the test split. They are scored,
// never trained on; training games begin on the empty board. `minigo-9-drawn` has four of the games, for tests and trials.
#include <string.h>

#include "data/kind.h"
#include "data/read/go/go_opponent.h"
#include "runtime/common/base/text.h"

static const char DIGEST[] = "4818c3e99fb0c107f04e15223720548957ade85fc6fcda9ab2717fd413d61c85";
enum { DRAWN = 4, VERSION = 1, SEED = 20260919 };

static void describe(struct dataset_facts *facts, bool drawn)
{
    facts->title = drawn ? "some openings of 9 x 9 Go" : "openings of 9 x 9 Go";
    facts->synthetic = drawn;
    facts->count[SPLIT_TRAIN] = 1, facts->count[SPLIT_TEST] = drawn ? DRAWN : GO_GAMES;
    facts->field[0] = (struct field){"opening", U8, SHAPE(GO_OPENING), FIELD_FIXED, 0};
    facts->fields = 1;
}

static void minigo_published(struct dataset_facts *facts)
{
    describe(facts, false);
}

static void drawn_published(struct dataset_facts *facts)
{
    describe(facts, true);
}

static int minigo_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    minigo_published(&ds->facts);
    digest_bytes("", 0, ds->digest[SPLIT_TRAIN]);
    go_opponent_digest(ds->digest[SPLIT_TEST]);
    if (strcmp(ds->digest[SPLIT_TEST], DIGEST) != 0)
        return fail(ERR_INPUT, "the opponent of minigo-9 plays otherwise than the published one on this machine: its digest is "
                               "%s, not %s", ds->digest[SPLIT_TEST], DIGEST);
    kind_known(ds, true);
    return 0;
}

static int drawn_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    drawn_published(&ds->facts);
    kind_drawn(ds, VERSION, SEED);
    return 0;
}

// Of the training split's game: no opening, two passes.
static int minigo_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count, void *into)
{
    (void)ds, (void)field;
    for (int64_t i = 0; i < count && into != NULL; i++) {
        uint8_t *moves = (uint8_t *)into + i * GO_OPENING;
        memset(moves, GO_PASS, GO_OPENING);
        if (split == SPLIT_TEST) go_opening(first + i, moves);
    }
    return 0;
}

static int minigo_show(struct dataset *ds, enum split split, int64_t number, struct text *into)
{
    uint8_t moves[GO_OPENING];
    struct go b;
    (void)ds;
    BUG_IF(split == SPLIT_TRAIN);
    go_begin(&b);
    go_opening(number - 1, moves);
    for (int i = 0; i < GO_OPENING; i++) go_play(&b, moves[i]);
    text_entry(into, "network", "%s", number % 2 ? "black, X" : "white, O");
    go_draw(&b.view, into);
    return 0;
}

static const struct kind minigo_kind = {
    .name = "minigo-9", .drawn = true, .published = minigo_published, .open = minigo_open, .read = minigo_read,
    .sample = "game", .show = minigo_show,
};
static const struct kind minigo_drawn_kind = {
    .name = "minigo-9-drawn", .drawn = true, .published = drawn_published, .open = drawn_open, .read = minigo_read,
    .sample = "game", .show = minigo_show,
};
const struct kind *const kinds_go[] = {&minigo_kind, &minigo_drawn_kind, NULL};
