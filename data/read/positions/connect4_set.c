// SPDX-License-Identifier: Apache-2.0
// Solved positions of Connect Four, which are part of the program: 4,000 of random play, plies 14 to 24
// (test/bench/connect4_positions.c). They are scored and never trained on; games begin on the training split's only board, the
// empty one. `connect4-drawn` has the first 400, for tests and trials.
#include <stdlib.h>
#include <string.h>

#include "data/kind.h"
#include "data/read/positions/positions.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/embed.h"
#include "runtime/common/base/text.h"

static const char FILE_NAME[] = "data/read/positions/positions.txt";
static const char DIGEST[] = "c3bf6f6809578601d28cfb1f4d63f4871f1ac827177b95aaf103b730c18ab80c";  // of the file
enum { DRAWN = 400, PUBLISHED = 4000, VERSION = 1, SEED = 20261129 };

static void describe(struct dataset_facts *facts, bool drawn)
{
    facts->title = drawn ? "some solved positions" : "solved positions";
    facts->synthetic = drawn;
    facts->count[SPLIT_TRAIN] = 1, facts->count[SPLIT_TEST] = drawn ? DRAWN : PUBLISHED;
    facts->field[0] = (struct field){"board", U8, SHAPE(CONNECT4_ROWS, CONNECT4_COLUMNS, 2), FIELD_FIXED, 0};
    facts->field[1] = (struct field){"values", U8, SHAPE(CONNECT4_COLUMNS), FIELD_FIXED, 0};
    facts->fields = 2;
}

static void connect4_published(struct dataset_facts *facts)
{
    describe(facts, false);
}

static void drawn_published(struct dataset_facts *facts)
{
    describe(facts, true);
}

static int connect4_open(struct dataset *ds, const char *folder)
{
    const struct embedded *file = embedded_find(FILE_NAME);
    (void)folder;
    connect4_published(&ds->facts);
    digest_bytes("", 0, ds->digest[SPLIT_TRAIN]);
    digest_bytes(file->at, file->size, ds->digest[SPLIT_TEST]);
    kind_known(ds, strcmp(ds->digest[SPLIT_TEST], DIGEST) == 0);
    ds->own = zalloc(sizeof(struct positions));
    TRY(positions_parse(FILE_NAME, file->at, file->size, ds->own));
    ds->facts.count[SPLIT_TEST] = ((struct positions *)ds->own)->count;
    return 0;
}

static int drawn_open(struct dataset *ds, const char *folder)
{
    TRY(connect4_open(ds, folder));
    BUG_IF(ds->facts.count[SPLIT_TEST] < DRAWN);
    drawn_published(&ds->facts);
    kind_drawn(ds, VERSION, SEED);
    return 0;
}

static void connect4_close(struct dataset *ds)
{
    if (ds->own != NULL) positions_free(ds->own);
    free(ds->own);
}

static int connect4_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count,
                         void *into)
{
    static const struct position start = {.value = {POSITION_DRAWS}};
    const struct positions *p = ds->own;
    const bool board = kind_field_is(field, "board");
    uint8_t *bytes = into;
    for (int64_t i = first; i < first + count && bytes != NULL; i++) {
        const struct position *at = split == SPLIT_TRAIN ? &start : &p->at[i];
        if (board) connect4_planes(&at->board, bytes);
        else memcpy(bytes, at->value, sizeof at->value);
        bytes += board ? CONNECT4_PLANES : CONNECT4_COLUMNS;
    }
    return 0;
}

static int connect4_show(struct dataset *ds, enum split split, int64_t number, struct text *into)
{
    static const char *const words[] = {"loses", "draws", "wins", "is full"};
    const struct positions *p = ds->own;
    const struct position *at = &p->at[number - 1];
    BUG_IF(split == SPLIT_TRAIN);
    text_entry(into, "moves", "%s, then %c", at->moves, connect4_mover(&at->board));
    connect4_draw(&at->board, into);
    for (int c = 0; c < CONNECT4_COLUMNS; c++)
        text_add(into, "%s%d %s", c == 0 ? "  " : ", ", c + 1, words[at->value[c]]);
    text_add(into, "\n");
    return 0;
}

static const struct kind connect4_kind = {
    .name = "connect4", .drawn = true, .published = connect4_published, .open = connect4_open, .close = connect4_close,
    .read = connect4_read, .sample = "position", .show = connect4_show,
};
static const struct kind connect4_drawn_kind = {
    .name = "connect4-drawn", .drawn = true, .published = drawn_published, .open = drawn_open, .close = connect4_close,
    .read = connect4_read, .sample = "position", .show = connect4_show,
};
const struct kind *const kinds_positions[] = {&connect4_kind, &connect4_drawn_kind, NULL};
