// SPDX-License-Identifier: Apache-2.0
// From the games to their finished positions, the batches of leaves, the training's batches, and the state that --resume reads.
#include "tasks/play/selfplay.h"

#include "runtime/common/base/rng.h"
#include "runtime/common/base/text.h"
#include "runtime/common/base/threads.h"
#include "tasks/common/step/drive.h"
#include "tasks/play/play_keys.h"
#include "tasks/play/search.h"

#include <math.h>
#include <stdlib.h>

enum { MOVES = SEARCH_MOVES, PLIES = CONNECT4_CELLS, BOARD = CONNECT4_PLANES, HALVES = 2 };

struct turn {
    int16_t visits[MOVES];  // of the root, when the move was made
    int16_t move;
};
struct game {
    int64_t number;
    int64_t plies;
    struct turn turn[PLIES];
};
// A position of a finished game. `result` is for the player to move.
struct position {
    struct connect4 board;
    int16_t visits[MOVES], result;
};
struct totals {
    int64_t positions;  // of all finished games
    int64_t games;      // that have begun
};
struct selfplay;
struct half {
    struct selfplay *of;
    int64_t first;            // of its games
    int *leaf;                // [game][leaf]: its node; TREE_NONE: none
    bool *over;               // a game that its last move has ended
    uint8_t *boards;
};
struct selfplay {
    struct search search;
    int64_t games, leaves, opening, window;  // leaves: of a tree in a batch
    uint64_t seed;
    struct totals is;
    struct game *game;
    struct position *position;  // number i at i % window
    size_t tree_bytes;
    char *trees;
    struct half half[HALVES];
    float *policy, *value;      // the network's answers for a half
};

static struct tree *tree_of(const struct selfplay *p, int64_t game)
{
    return (struct tree *)(void *)(p->trees + (size_t)game * p->tree_bytes);
}

int64_t selfplay_batch(const struct setting *c)
{
    const struct play_keys *k = play_keys(c->recipe);
    return k->games / HALVES * k->leaves;
}

// ---- games

static void begin_game(struct selfplay *p, int64_t game)
{
    const struct connect4 empty = {0};
    p->game[game].number = p->is.games++, p->game[game].plies = 0;
    tree_begin(tree_of(p, game), &empty);
}

// Numbers of one ply: block 0 and 1 are the noise, 2 is the move.
static struct rng4 draw(const struct selfplay *p, const struct game *g, uint32_t block)
{
    return rng_draw(p->seed, RNG_PLAY, (uint32_t)g->number, (uint32_t)g->plies, block);
}

// A Dirichlet distribution of 1.0 is that of exponential numbers, scaled.
static void add_noise(const struct selfplay *p, const struct game *g, struct tree *t)
{
    const struct rng4 low = draw(p, g, 0), high = draw(p, g, 1);
    float noise[MOVES];
    for (int m = 0; m < MOVES; m++) noise[m] = -logf(1 - rng_unit(m < 4 ? low.v[m] : high.v[m - 4])) + 1e-6f;
    tree_add_noise(t, &p->search, noise);
}

static int choose_move(const struct selfplay *p, const struct game *g, const struct tree *t)
{
    int m = 0;
    if (g->plies >= p->opening) return tree_most_visited(t);
    int left = (int)rng_below(draw(p, g, 2).v[0], (uint32_t)tree_visits(t));
    while (left >= t->node[0].visits[m]) left -= t->node[0].visits[m++];
    return m;
}

static void make_move(struct selfplay *p, int64_t game)
{
    struct game *g = &p->game[game];
    struct tree *t = tree_of(p, game);
    struct turn *turn = &g->turn[g->plies];
    turn->move = (int16_t)choose_move(p, g, t);
    memcpy(turn->visits, t->node[0].visits, sizeof turn->visits);
    tree_advance(t, turn->move);
    g->plies++;
    if (tree_is_open(t)) add_noise(p, g, t);
}

// The player who moved last has won, or nobody.
static void finish_game(struct selfplay *p, int64_t game)
{
    const struct game *g = &p->game[game];
    const bool won = tree_of(p, game)->node[0].value < 0;
    struct connect4 board = {0};
    for (int64_t i = 0; i < g->plies; i++) {
        struct position *to = &p->position[p->is.positions++ % p->window];
        *to = (struct position){.board = board, .result = (int16_t)(!won ? 0 : (g->plies - 1 - i) % 2 ? -1 : 1)};
        memcpy(to->visits, g->turn[i].visits, sizeof to->visits);
        (void)connect4_drop(&board, g->turn[i].move);
    }
    begin_game(p, game);
}

// ---- batches of leaves

static void select_leaves(void *context, int64_t begin, int64_t end, int thread)
{
    struct half *h = context;
    const struct selfplay *p = h->of;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        struct tree *t = tree_of(p, h->first + i);
        for (int64_t row = i * p->leaves; row < (i + 1) * p->leaves; row++) {
            h->leaf[row] = tree_select(t, &p->search);
            if (h->leaf[row] != TREE_NONE) connect4_planes(&t->node[h->leaf[row]].board, h->boards + row * BOARD);
        }
    }
}

static void expand_leaves(void *context, int64_t begin, int64_t end, int thread)
{
    struct half *h = context;
    struct selfplay *p = h->of;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        struct tree *t = tree_of(p, h->first + i);
        for (int64_t row = i * p->leaves; row < (i + 1) * p->leaves; row++) {
            if (h->leaf[row] == TREE_NONE) continue;
            tree_expand(t, h->leaf[row], p->policy + row * MOVES, p->value[row]);
            if (h->leaf[row] == 0) add_noise(p, &p->game[h->first + i], t);
        }
        if (tree_visits(t) >= p->search.simulations) make_move(p, h->first + i);
        h->over[i] = t->node[0].state == SEARCH_OVER;
    }
}

static int send_leaves(struct drive *d, const struct half *h)
{
    TRY(drive_write(d, SELFPLAY_BOARDS, h->boards, (size_t)(selfplay_batch(d->setting) * BOARD)));
    return drive_run(d, SELFPLAY_PROGRAM);
}

static int receive_answers(struct drive *d, struct selfplay *p)
{
    const size_t rows = (size_t)selfplay_batch(d->setting);
    TRY(drive_read(d, SELFPLAY_POLICY, p->policy, rows * MOVES * sizeof *p->policy));
    return drive_read(d, SELFPLAY_VALUE, p->value, rows * sizeof *p->value);
}

// Games end in their order, which numbers the new ones.
static void use_answers(struct selfplay *p, struct half *h)
{
    threads_for(p->games / HALVES, 1, expand_leaves, h);
    for (int64_t i = 0; i < p->games / HALVES; i++)
        if (h->over[i]) finish_game(p, h->first + i);
}

// Until `positions` positions are finished.
static int play(struct drive *d, int64_t positions)
{
    struct selfplay *p = d->setting->host;
    struct half *now = &p->half[0], *next = &p->half[1];
    if (p->is.positions >= positions) return 0;
    threads_for(p->games / HALVES, 1, select_leaves, now);
    TRY(send_leaves(d, now));
    while (p->is.positions < positions) {
        threads_for(p->games / HALVES, 1, select_leaves, next);
        TRY(receive_answers(d, p));
        TRY(send_leaves(d, next));
        use_answers(p, now);
        struct half *other = now;
        now = next, next = other;
    }
    TRY(receive_answers(d, p));
    use_answers(p, now);
    return 0;
}

// ---- the training's batches

enum { FIELD_BOARD, FIELD_POLICY, FIELD_MASK, FIELD_VALUE, FIELDS };

// Every second row of a batch is mirrored.
static int fill_position(void *context, const struct feed_item *item, void *const field[])
{
    const struct position *from = &((const struct selfplay *)context)->position[item->index];
    float *policy = field[FIELD_POLICY], *mask = field[FIELD_MASK], all = 0;
    const bool mirrored = item->place % 2;
    const struct connect4 mirror = connect4_mirror(&from->board);
    connect4_planes(mirrored ? &mirror : &from->board, field[FIELD_BOARD]);
    for (int m = 0; m < MOVES; m++) all += from->visits[m];
    for (int m = 0; m < MOVES; m++) {
        int at = mirrored ? MOVES - 1 - m : m;
        policy[at] = from->visits[m] / all;
        mask[at] = connect4_may(&from->board, m) ? 0 : SELFPLAY_NEVER;
    }
    *(float *)field[FIELD_VALUE] = from->result;
    return 0;
}

int selfplay_feed(const struct setting *c, struct feed_choice *f)
{
    static const struct feed_field field[FIELDS] = {
        [FIELD_BOARD] = {.name = "board", .dtype = U8, .shape = {SHAPE(CONNECT4_ROWS, CONNECT4_COLUMNS, 2)}},
        [FIELD_POLICY] = {.name = "policy", .dtype = F32, .shape = {SHAPE(MOVES)}},
        [FIELD_MASK] = {.name = "mask", .dtype = F32, .shape = {SHAPE(MOVES)}},
        [FIELD_VALUE] = {.name = "value", .dtype = F32, .shape = {SHAPE(1)}},
    };
    memcpy(f->field, field, sizeof field);
    f->fields = FIELDS, f->fill = fill_position, f->context = c->host;
    f->order.count = play_keys(c->recipe)->window;
    return 0;
}

// ---- the state of the host

static int open_selfplay(const struct setting *c, void **state)
{
    const struct play_keys *k = play_keys(c->recipe);
    const size_t rows = (size_t)selfplay_batch(c), games = (size_t)k->games;
    struct selfplay *p = zalloc(sizeof *p);
    p->search = (struct search){(int)k->simulations, (float)k->puct, (float)k->noise};
    p->games = k->games, p->leaves = k->leaves, p->opening = k->opening, p->window = k->window;
    p->tree_bytes = tree_bytes(&p->search);
    p->game = zalloc(games * sizeof *p->game);
    p->position = zalloc((size_t)p->window * sizeof *p->position);
    p->trees = zalloc(games * p->tree_bytes);
    p->policy = zalloc(rows * MOVES * sizeof *p->policy);
    p->value = zalloc(rows * sizeof *p->value);
    for (int i = 0; i < HALVES; i++)
        p->half[i] = (struct half){p, i * p->games / HALVES, zalloc(rows * sizeof(int)), zalloc(games), zalloc(rows * BOARD)};
    *state = p;
    return 0;
}

static void close_selfplay(void *state)
{
    struct selfplay *p = state;
    for (int i = 0; i < HALVES; i++) free(p->half[i].leaf), free(p->half[i].over), free(p->half[i].boards);
    free(p->game), free(p->position), free(p->trees), free(p->policy), free(p->value);
    free(p);
}

static int64_t kept_positions(const struct selfplay *p) { return p->is.positions < p->window ? p->is.positions : p->window; }

static int tell_positions(struct drive *d) { return drive_grow(d, FEED_TRAIN, kept_positions(d->setting->host)); }

// After each step, so many positions that each is trained on as often as the recipe says.
static int between(struct drive *d)
{
    const struct recipe *r = d->setting->recipe;
    const struct play_keys *k = play_keys(r);
    if (d->step == d->setting->steps) return 0;
    TRY(play(d, k->first + (int64_t)((double)(d->step * r->batch) / k->reuse)));
    return tell_positions(d);
}

static int begin(struct drive *d)
{
    struct selfplay *p = d->setting->host;
    p->seed = d->seed, p->is = (struct totals){0};
    for (int64_t i = 0; i < p->games; i++) begin_game(p, i);
    return between(d);
}

// Kept subtrees and games that end within a tree need fewer leaves; games that go on after the last step are not counted.
static int64_t count_runs(const struct setting *c, int program)
{
    const struct play_keys *k = play_keys(c->recipe);
    const double positions = (double)k->first + (double)(c->steps * c->recipe->batch) / k->reuse;
    return program == SELFPLAY_PROGRAM ? (int64_t)(positions * (double)k->simulations / (double)selfplay_batch(c)) : 0;
}

// ---- as bytes: totals, positions, and each game with its tree

static size_t used_bytes(const struct tree *t) { return sizeof *t + (size_t)t->count * sizeof *t->node; }

static void save_selfplay(const struct setting *c, struct text *bytes)
{
    const struct selfplay *p = c->host;
    text_bytes(bytes, &p->is, sizeof p->is);
    text_bytes(bytes, p->position, (size_t)kept_positions(p) * sizeof *p->position);
    for (int64_t i = 0; i < p->games; i++) {
        text_bytes(bytes, &p->game[i], sizeof *p->game);
        text_bytes(bytes, tree_of(p, i), used_bytes(tree_of(p, i)));
    }
}

struct bytes {
    const char *at;
    size_t left;
};

static int take(struct bytes *b, void *into, size_t count)
{
    if (count > b->left) return fail(ERR_INPUT, "the state of the games is too short: %zu of %zu bytes", b->left, count);
    memcpy(into, b->at, count);
    b->at += count, b->left -= count;
    return 0;
}

// Its moves lead to the tree's position.
static bool is_sound_game(const struct selfplay *p, int64_t number)
{
    const struct game *g = &p->game[number];
    struct connect4 board = {0};
    if (g->plies < 0 || g->plies >= PLIES) return false;
    for (int64_t i = 0; i < g->plies; i++) {
        int move = g->turn[i].move;
        if (move < 0 || move >= MOVES || !connect4_may(&board, move) || connect4_drop(&board, move)) return false;
    }
    return tree_is_sound(tree_of(p, number), &p->search, &board);
}

static bool is_sound_position(const struct position *p)
{
    int64_t all = 0;
    for (int m = 0; m < MOVES; m++) {
        if (p->visits[m] < 0) return false;
        all += p->visits[m];
    }
    return all > 0 && p->result >= -1 && p->result <= 1;
}

static int take_game(struct selfplay *p, struct bytes *b, int64_t number)
{
    struct tree *t = tree_of(p, number);
    TRY(take(b, &p->game[number], sizeof *p->game));
    TRY(take(b, t, sizeof *t));
    if (t->count < 1 || t->count > p->search.simulations + 1)
        return fail(ERR_INPUT, "the state of the games: a tree of %d positions", t->count);
    TRY(take(b, t->node, (size_t)t->count * sizeof *t->node));
    return is_sound_game(p, number) ? 0 : fail(ERR_INPUT, "the state of the games: game %lld is impossible", (long long)number);
}

static int load_selfplay(struct drive *d, const char *bytes, size_t count)
{
    struct selfplay *p = d->setting->host;
    struct bytes b = {bytes, count};
    p->seed = d->seed;
    TRY(take(&b, &p->is, sizeof p->is));
    if (p->is.positions < 1 || p->is.games < p->games) return fail(ERR_INPUT, "the state of the games: totals are impossible");
    TRY(take(&b, p->position, (size_t)kept_positions(p) * sizeof *p->position));
    for (int64_t i = 0; i < kept_positions(p); i++)
        if (!is_sound_position(&p->position[i]))
            return fail(ERR_INPUT, "the state of the games: position %lld is impossible", (long long)i);
    for (int64_t i = 0; i < p->games; i++) TRY(take_game(p, &b, i));
    if (b.left) return fail(ERR_INPUT, "the state of the games is too long by %zu bytes", b.left);
    return tell_positions(d);
}

const struct host selfplay_host = {.open = open_selfplay, .close = close_selfplay, .begin = begin, .between = between,
                                   .runs = count_runs,
                                   .save = save_selfplay, .load = load_selfplay};
