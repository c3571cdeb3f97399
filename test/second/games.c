// SPDX-License-Identifier: Apache-2.0
// The samples of the driven task (driven.c): boards, which are drawn from their numbers, and games, which the host plays between
// steps and keeps. The games are the growing set of a feed, and the state of the host that --resume restores.
#include "test/second/second.h"

#include "runtime/common/base/rng.h"
#include "runtime/common/base/text.h"
#include "tasks/common/step/drive.h"

enum { WIDE = DRIVEN_WIDE, MOVES = DRIVEN_MOVES, GAMES_MAX = 4000, BOARDS_MAX = 64 };

struct game {
    float board[WIDE];
    int32_t move, reply;  // -1: not valid
};
struct games {
    int64_t count;
    struct game game[GAMES_MAX];
};

// Sets 0 and 1 are the splits; set 2 + k has the boards that are played after step k.
static void draw_board(uint64_t seed, uint32_t set, uint32_t number, float board[WIDE])
{
    struct rng4 r = rng_draw(seed, RNG_TEST, set, number, 0);
    for (int i = 0; i < WIDE; i++) board[i] = (float)r.v[i] * 0x1p-31f - 1;
}

// ---- the three feeds: training, test, games

static int fill_drawn(void *context, const struct feed_item *item, void *const field[])
{
    (void)context;
    draw_board(17, item->split, (uint32_t)item->index, field[0]);
    *(int32_t *)field[1] = item->index % 4 ? 0 : -1;  // the critic's label: a real board, but every fourth is not valid
    *(float *)field[2] = item->index % 4 != 0;
    return 0;
}

static int fill_game(void *context, const struct feed_item *item, void *const field[])
{
    const struct games *games = context;
    BUG_IF(item->index >= games->count);
    const struct game *game = &games->game[item->index];
    memcpy(field[0], game->board, sizeof game->board);
    *(int32_t *)field[1] = game->move, *(float *)field[2] = game->move >= 0;
    *(int32_t *)field[3] = game->reply, *(float *)field[4] = game->reply >= 0;
    return 0;
}

int driven_feed(const struct setting *c, int number, struct feed_choice *f)
{
    static const char *const names[] = {"board", "label", "valid", "reply", "valid reply"};
    bool plays = number == DRIVEN_GAMES;
    f->fields = plays ? 5 : 3;
    for (int i = 0; i < f->fields; i++)
        f->field[i] = (struct feed_field){.name = names[i], .dtype = i == 1 || i == 3 ? I32 : F32};
    f->field[0].shape[0] = SHAPE(WIDE);
    f->fill = plays ? fill_game : fill_drawn, f->context = c->host;
    if (plays) f->order.count = GAMES_MAX;
    return 0;
}

// ---- the host plays

int32_t driven_best(const float *x)
{
    int32_t best = 0;
    for (int32_t k = 1; k < MOVES; k++) best = x[k] > x[best] ? k : best;
    return best;
}

// Draws a batch of boards, lets the policy move on each, and keeps them as games. A third of the moves and most replies are not
// valid, so that the two losses of the player count different rows.
static int play(struct drive *d)
{
    struct games *games = d->setting->host;
    int64_t batch = d->setting->recipe->batch;
    float board[BOARDS_MAX][WIDE], moves[BOARDS_MAX][MOVES];
    BUG_IF(batch > BOARDS_MAX);
    for (int64_t i = 0; i < batch; i++) draw_board(d->seed, 2 + (uint32_t)d->step, (uint32_t)i, board[i]);
    TRY(drive_write(d, "boards", board, (size_t)batch * sizeof *board));
    TRY(drive_run(d, DRIVEN_POLICY));
    TRY(drive_read(d, "moves", moves, (size_t)batch * sizeof *moves));
    for (int64_t i = 0; i < batch && games->count < GAMES_MAX; i++) {
        struct game *game = &games->game[games->count];
        memcpy(game->board, board[i], sizeof game->board);
        game->move = games->count % 3 ? driven_best(moves[i]) : -1;
        game->reply = games->count % 16 < 5 ? (game->move + 1) % MOVES : -1;
        games->count++;
    }
    return drive_grow(d, DRIVEN_GAMES, games->count);
}

// ---- the host's state: made, played from, saved, loaded

static int open_games(const struct setting *c, void **state)
{
    (void)c;
    *state = zalloc(sizeof(struct games));
    return 0;
}

static int begin_games(struct drive *d)
{
    ((struct games *)d->setting->host)->count = 0;
    return play(d);
}

static int between(struct drive *d) { return d->step % 2 ? play(d) : 0; }

static void save_games(const struct setting *c, struct text *bytes)
{
    const struct games *games = c->host;
    text_bytes(bytes, games->game, (size_t)games->count * sizeof *games->game);
}

static int load_games(struct drive *d, const char *bytes, size_t count)
{
    struct games *games = d->setting->host;
    if (count % sizeof *games->game || count > sizeof games->game) return fail(ERR_INPUT, "%zu bytes are no games", count);
    games->count = (int64_t)(count / sizeof *games->game);
    memcpy(games->game, bytes, count);
    for (int64_t i = 0; i < games->count; i++)
        if (games->game[i].move >= MOVES || games->game[i].reply >= MOVES) return fail(ERR_INPUT, "a game has no such move");
    return drive_grow(d, DRIVEN_GAMES, games->count);
}

const struct host driven_host = {.open = open_games, .close = free, .begin = begin_games, .between = between,
                                 .save = save_games, .load = load_games};
