// SPDX-License-Identifier: Apache-2.0
// From the games to their finished positions, the batches of leaves, the training's batches, and the state that --resume reads.
#include "tasks/play/selfplay.h"

#include "runtime/common/base/text.h"
#include "runtime/common/base/threads.h"
#include "tasks/common/step/drive.h"
#include "tasks/play/chance.h"
#include "tasks/play/play_keys.h"
#include "tasks/play/match.h"

#include <math.h>
#include <stdlib.h>

enum { HALVES = 2 };

// The root's visits when a move was made, and the move; or of a position of a finished game the visits and the result for the
// player to move, after what the network sees of it.
struct visited {
    int16_t what, visits[];  // of the game's moves
};
struct line {
    int64_t number, plies;
    int64_t gave_up;  // 1, 2: the player who would have resigned first, in a game that is played to its end; 0: none
    // then a struct visited for each ply
};
struct totals {
    int64_t positions;  // of all finished games
    int64_t games;      // that have begun
    struct selfplay_resigned resigned;
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
    const struct game *game;
    const struct play_keys *keys;
    struct search search, begins;  // begins: until `first` positions are there
    int64_t games, leaves, window;  // leaves: of a tree in a batch
    uint64_t seed;
    struct totals is;
    size_t visited_bytes, line_bytes, position_bytes, tree_bytes;
    char *lines, *positions, *trees;  // position i at i % window
    struct half half[HALVES];
    float *policy, *value;      // the network's answers for a half
};

static struct tree *tree_of(const struct selfplay *p, int64_t game)
{
    return (struct tree *)(void *)(p->trees + (size_t)game * p->tree_bytes);
}

static struct line *line_of(const struct selfplay *p, int64_t game)
{
    return (struct line *)(void *)(p->lines + (size_t)game * p->line_bytes);
}

static struct visited *visited_at(const struct selfplay *p, const struct line *l, int64_t ply)
{
    return (struct visited *)(void *)((char *)(uintptr_t)(l + 1) + (size_t)ply * p->visited_bytes);
}

static char *position_at(const struct selfplay *p, int64_t number)
{
    return p->positions + (size_t)(number % p->window) * p->position_bytes;
}

static struct visited *visited_in(const struct selfplay *p, char *position)
{
    return (struct visited *)(void *)(position + p->game->seen_bytes);
}

static const struct search *search_now(const struct selfplay *p)
{
    return p->is.positions < p->keys->first ? &p->begins : &p->search;
}

struct search selfplay_search(const struct setting *c)
{
    const struct play_keys *k = play_keys(c->recipe);
    return (struct search){game_of(c), (int)k->simulations, (float)k->puct, (float)k->noise, (float)k->growth, (float)k->penalty};
}

int64_t selfplay_batch(const struct setting *c)
{
    const struct play_keys *k = play_keys(c->recipe);
    return k->games / HALVES * k->leaves;
}

// ---- games

static void begin_game(struct selfplay *p, int64_t game)
{
    union game_board empty;
    p->game->begin(&empty);
    *line_of(p, game) = (struct line){.number = p->is.games++};
    tree_begin(tree_of(p, game), &p->search, &empty);
}

static struct chance chance_of(const struct selfplay *p, const struct line *g)
{
    return (struct chance){p->seed, g->number, g->plies};
}

static void add_noise(const struct selfplay *p, const struct line *g, struct tree *t)
{
    const struct chance c = chance_of(p, g);
    float noise[GAME_MOVES_MOST];
    chance_noise(&c, (float)p->keys->alpha, p->game->moves, noise);
    tree_add_noise(t, &p->search, noise);
}

static int choose_move(const struct selfplay *p, const struct line *g, const struct tree *t)
{
    const struct chance c = chance_of(p, g);
    if (g->plies >= p->keys->opening) return tree_most_visited(t, &p->search);
    return chance_move(&c, tree_root(t)->move, p->game->moves, (float)p->keys->power);
}

// Each game has a threshold of its own. One that is played to its end keeps who would have resigned first. The first move is
// always made, so that every game has a position.
static bool resigns(const struct selfplay *p, struct line *g, const struct tree *t)
{
    const struct play_keys *k = p->keys;
    if (k->resign_high <= -1 || !g->plies) return false;
    const struct chance_end end = chance_end(p->seed, g->number, k->resign_low, k->resign_high, k->played_out);
    if (tree_value(t, &p->search) >= end.threshold) return false;
    if (end.played_out && !g->gave_up) g->gave_up = 1 + g->plies % 2;
    return !end.played_out;
}

static void make_move(struct selfplay *p, int64_t game)
{
    struct line *g = line_of(p, game);
    struct tree *t = tree_of(p, game);
    struct visited *turn = visited_at(p, g, g->plies);
    turn->what = (int16_t)choose_move(p, g, t);
    for (int m = 0; m < p->game->moves; m++) turn->visits[m] = tree_root(t)->move[m].visits;
    tree_advance(t, &p->search, turn->what);
    g->plies++;
    if (tree_is_open(t)) add_noise(p, g, t);
}

// `result` is the result of the player who moved last.
static void count_resigned(struct selfplay *p, const struct line *g, int result)
{
    const int64_t last = 1 + (g->plies - 1) % 2;
    p->is.resigned.games++;
    p->is.resigned.wrong += g->gave_up == last ? result > 0 : result < 0;
}

struct selfplay_resigned selfplay_take_resigned(const struct setting *c)
{
    struct selfplay *p = c->host;
    if (!p) return (struct selfplay_resigned){0};
    const struct selfplay_resigned taken = p->is.resigned;
    p->is.resigned = (struct selfplay_resigned){0};
    return taken;
}

// A game that is not over at its root was resigned by the player to move there.
static void finish_game(struct selfplay *p, int64_t game)
{
    const struct line *g = line_of(p, game);
    const struct search_node *root = tree_root(tree_of(p, game));
    const float value = root->state == SEARCH_OVER ? root->value : -1;
    const int result = value < 0 ? 1 : value > 0 ? -1 : 0;  // for the player who moved last
    union game_board board;
    p->game->begin(&board);
    for (int64_t i = 0; i < g->plies; i++) {
        const struct visited *turn = visited_at(p, g, i);
        char *to = position_at(p, p->is.positions++);
        memset(to, 0, p->position_bytes);
        memcpy(to, &board, p->game->seen_bytes);
        memcpy(visited_in(p, to), turn, p->visited_bytes);
        visited_in(p, to)->what = (int16_t)((g->plies - 1 - i) % 2 ? -result : result);
        (void)p->game->play(&board, turn->what);
    }
    if (g->gave_up) count_resigned(p, g, result);
    begin_game(p, game);
}

// ---- batches of leaves

static int turn_of(const struct selfplay *p, int64_t game, int leaf)
{
    const struct line *g = line_of(p, game);
    return leaf_turn(p->game, p->seed, g->number, g->plies, leaf);
}

static void select_leaves(void *context, int64_t begin, int64_t end, int thread)
{
    struct half *h = context;
    const struct selfplay *p = h->of;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        struct tree *t = tree_of(p, h->first + i);
        for (int64_t row = i * p->leaves; row < (i + 1) * p->leaves; row++) {
            const int leaf = h->leaf[row] = tree_select(t, search_now(p));
            if (leaf == TREE_NONE) continue;
            p->game->planes_of(tree_board(t, &p->search, leaf), turn_of(p, h->first + i, leaf),
                               h->boards + row * game_bytes(p->game));
        }
    }
}

static void expand_leaves(void *context, int64_t begin, int64_t end, int thread)
{
    struct half *h = context;
    struct selfplay *p = h->of;
    float logits[GAME_MOVES_MOST];
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        struct tree *t = tree_of(p, h->first + i);
        for (int64_t row = i * p->leaves; row < (i + 1) * p->leaves; row++) {
            const int leaf = h->leaf[row];
            if (leaf == TREE_NONE) continue;
            turn_back(p->game, turn_of(p, h->first + i, leaf), p->policy + row * p->game->moves, logits);
            tree_expand(t, &p->search, leaf, logits, p->value[row]);
            if (leaf == 0) add_noise(p, line_of(p, h->first + i), t);
        }
        const bool ready = tree_visits(t, &p->search) >= search_now(p)->simulations;
        h->over[i] = ready && resigns(p, line_of(p, h->first + i), t);
        if (ready && !h->over[i]) make_move(p, h->first + i);
        h->over[i] = h->over[i] || tree_root(t)->state == SEARCH_OVER;
    }
}

static int send_leaves(struct drive *d, const struct half *h)
{
    TRY(drive_write(d, SELFPLAY_BOARDS, h->boards, (size_t)(selfplay_batch(d->setting) * game_bytes(game_of(d->setting)))));
    return drive_run(d, SELFPLAY_PROGRAM);
}

static int receive_answers(struct drive *d, struct selfplay *p)
{
    const size_t rows = (size_t)selfplay_batch(d->setting);
    const size_t figures = rows * (size_t)p->game->moves;
    bool finite = true;
    TRY(drive_read(d, SELFPLAY_POLICY, p->policy, figures * sizeof *p->policy));
    TRY(drive_read(d, SELFPLAY_VALUE, p->value, rows * sizeof *p->value));
    for (size_t i = 0; i < figures; i++) finite &= isfinite(p->policy[i]) != 0;
    for (size_t i = 0; i < rows; i++) finite &= isfinite(p->value[i]) != 0;
    return finite ? 0 : fail(ERR_INPUT, "the network's output is not a number in step %lld of the training", (long long)d->step);
}

// Games end in their order, which numbers the new ones.
static void use_answers(struct selfplay *p, struct half *h)
{
    threads_for(p->games / HALVES, 1, expand_leaves, h);
    for (int64_t i = 0; i < p->games / HALVES; i++)
        if (h->over[i]) finish_game(p, h->first + i);
}

// Plays until `positions` positions are finished.
static int play(struct drive *d, int64_t positions)
{
    struct selfplay *p = d->setting->host;
    struct half *now = &p->half[0], *next = &p->half[1];
    if (p->is.positions >= positions) return 0;
    threads_for(p->games / HALVES, 1, select_leaves, now);
    TRY(send_leaves(d, now));
    while (p->is.positions < positions) {
        TRY(drive_between(d, "playing games, position", p->is.positions, positions));
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

// Rows of a batch are turned in turn.
static int fill_position(void *context, const struct feed_item *item, void *const field[])
{
    const struct selfplay *p = context;
    const struct game *g = p->game;
    char *from = position_at(p, item->index);
    const struct visited *is = visited_in(p, from);
    float *policy = field[FIELD_POLICY], *mask = field[FIELD_MASK], all = 0;
    const int turn = (int)(item->row % g->turns);
    g->planes_of(from, turn, field[FIELD_BOARD]);
    for (int m = 0; m < g->moves; m++) all += is->visits[m];
    for (int m = 0; m < g->moves; m++) {
        const int at = g->turned(m, turn);
        policy[at] = is->visits[m] / all;
        mask[at] = g->may(from, m) ? 0 : SELFPLAY_NEVER;
    }
    *(float *)field[FIELD_VALUE] = is->what;
    return 0;
}

int selfplay_feed(const struct setting *c, struct feed_choice *f)
{
    const struct game *g = game_of(c);
    const struct feed_field field[FIELDS] = {
        [FIELD_BOARD] = {.name = "board", .dtype = U8, .shape = {SHAPE(g->rows, g->columns, g->planes)}},
        [FIELD_POLICY] = {.name = "policy", .dtype = F32, .shape = {SHAPE(g->moves)}},
        [FIELD_MASK] = {.name = "mask", .dtype = F32, .shape = {SHAPE(g->moves)}},
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
    const struct game *g = game_of(c);
    const size_t rows = (size_t)selfplay_batch(c), games = (size_t)k->games, moves = (size_t)g->moves;
    struct selfplay *p = zalloc(sizeof *p);
    p->game = g, p->keys = k, p->games = k->games, p->leaves = k->leaves, p->window = k->window;
    p->search = p->begins = selfplay_search(c);
    if (k->simulations_first) p->begins.simulations = (int)k->simulations_first;
    p->visited_bytes = (1 + moves) * sizeof(int16_t);
    p->line_bytes = arena_round_up(sizeof(struct line) + (size_t)g->plies * p->visited_bytes, 8);
    p->position_bytes = arena_round_up(g->seen_bytes + p->visited_bytes, 16);
    p->tree_bytes = tree_bytes(&p->search);
    p->lines = zalloc(games * p->line_bytes);
    p->positions = zalloc((size_t)p->window * p->position_bytes);
    p->trees = zalloc(games * p->tree_bytes);
    p->policy = zalloc(rows * moves * sizeof *p->policy);
    p->value = zalloc(rows * sizeof *p->value);
    for (int i = 0; i < HALVES; i++)
        p->half[i] = (struct half){p, i * p->games / HALVES, zalloc(rows * sizeof(int)), zalloc(games),
                                   zalloc(rows * (size_t)game_bytes(g))};
    *state = p;
    return 0;
}

static void close_selfplay(void *state)
{
    struct selfplay *p = state;
    for (int i = 0; i < HALVES; i++) free(p->half[i].leaf), free(p->half[i].over), free(p->half[i].boards);
    free(p->lines), free(p->positions), free(p->trees), free(p->policy), free(p->value);
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
    const int64_t first = k->simulations_first ? k->simulations_first : k->simulations;
    const double later = (double)(c->steps * c->recipe->batch) / k->reuse;
    const double leaves = (double)(k->first * first) + later * (double)k->simulations;
    return program == SELFPLAY_PROGRAM ? (int64_t)(leaves / (double)selfplay_batch(c)) : 0;
}

// ---- as bytes: totals, positions, and each game with its tree

static size_t used_bytes(const struct selfplay *p, const struct tree *t)
{
    return sizeof *t + (size_t)t->count * node_bytes(p->game);
}

static void save_selfplay(const struct setting *c, struct text *bytes)
{
    const struct selfplay *p = c->host;
    text_bytes(bytes, &p->is, sizeof p->is);
    text_bytes(bytes, p->positions, (size_t)kept_positions(p) * p->position_bytes);
    for (int64_t i = 0; i < p->games; i++) {
        text_bytes(bytes, line_of(p, i), p->line_bytes);
        text_bytes(bytes, tree_of(p, i), used_bytes(p, tree_of(p, i)));
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
    const struct line *g = line_of(p, number);
    union game_board board;
    if (g->plies < 0 || g->plies >= p->game->plies || g->gave_up < 0 || g->gave_up > 2) return false;
    p->game->begin(&board);
    for (int64_t i = 0; i < g->plies; i++) {
        const int move = visited_at(p, g, i)->what;
        if (move < 0 || move >= p->game->moves || !p->game->may(&board, move)) return false;
        if (p->game->play(&board, move) != GAME_ON) return false;
    }
    return tree_is_sound(tree_of(p, number), &p->search, &board);
}

static bool is_sound_position(const struct selfplay *p, int64_t number)
{
    const struct visited *is = visited_in(p, position_at(p, number));
    int64_t all = 0;
    for (int m = 0; m < p->game->moves; m++) {
        if (is->visits[m] < 0) return false;
        all += is->visits[m];
    }
    return all > 0 && is->what >= -1 && is->what <= 1;
}

static int take_game(struct selfplay *p, struct bytes *b, int64_t number)
{
    struct tree *t = tree_of(p, number);
    TRY(take(b, line_of(p, number), p->line_bytes));
    TRY(take(b, t, sizeof *t));
    if (t->count < 1 || t->count > p->search.simulations + 1)
        return fail(ERR_INPUT, "the state of the games: a tree of %d positions", t->count);
    TRY(take(b, t->bytes, (size_t)t->count * node_bytes(p->game)));
    return is_sound_game(p, number) ? 0 : fail(ERR_INPUT, "the state of the games: game %lld is impossible", (long long)number);
}

static int load_selfplay(struct drive *d, const char *bytes, size_t count)
{
    struct selfplay *p = d->setting->host;
    struct bytes b = {bytes, count};
    p->seed = d->seed;
    TRY(take(&b, &p->is, sizeof p->is));
    const struct selfplay_resigned *r = &p->is.resigned;
    if (p->is.positions < 1 || p->is.games < p->games || r->wrong < 0 || r->games < r->wrong || r->games > p->is.games)
        return fail(ERR_INPUT, "the state of the games: totals are impossible");
    TRY(take(&b, p->positions, (size_t)kept_positions(p) * p->position_bytes));
    for (int64_t i = 0; i < kept_positions(p); i++)
        if (!is_sound_position(p, i))
            return fail(ERR_INPUT, "the state of the games: position %lld is impossible", (long long)i);
    for (int64_t i = 0; i < p->games; i++) TRY(take_game(p, &b, i));
    if (b.left) return fail(ERR_INPUT, "the state of the games is too long by %zu bytes", b.left);
    return tell_positions(d);
}

const struct host selfplay_host = {.open = open_selfplay, .close = close_selfplay, .begin = begin, .between = between,
                                   .runs = count_runs,
                                   .save = save_selfplay, .load = load_selfplay};
