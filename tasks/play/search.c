// SPDX-License-Identifier: Apache-2.0
#include "tasks/play/search.h"

#include <math.h>
#include <string.h>

// What a move's prior is at least, so that 0 says that a move is illegal.
static const float LEAST_PRIOR = 1e-30f;

// ---- the tree

static void open_node(struct tree *t, const struct search *s, int number, int parent, int by)
{
    memset(tree_node(t, s, number), 0, node_bytes(s->game) - s->game->board_bytes);
    tree_node(t, s, number)->parent = (int16_t)parent, tree_node(t, s, number)->by = (int16_t)by;
}

void tree_begin(struct tree *t, const struct search *s, const void *board)
{
    *t = (struct tree){.count = 1};
    open_node(t, s, 0, TREE_NONE, 0);
    memcpy(tree_board(t, s, 0), board, s->game->board_bytes);
}

// The result is the mover's, and the other player is to move in the new position.
static int add_child(struct tree *t, const struct search *s, int parent, int move)
{
    const int number = t->count++;
    open_node(t, s, number, parent, move);
    memcpy(tree_board(t, s, number), tree_board(t, s, parent), s->game->board_bytes);
    const int result = s->game->play(tree_board(t, s, number), move);
    struct search_node *n = tree_node(t, s, number);
    if (result != GAME_ON) n->state = SEARCH_OVER, n->value = (float)-result;
    return tree_node(t, s, parent)->move[move].child = (int16_t)number;
}

static inline int root_visits(const struct tree *t, int moves)
{
    int visits = 0;
    for (int m = 0; m < moves; m++) visits += tree_root(t)->move[m].visits;
    return visits;
}

int tree_visits(const struct tree *t, const struct search *s)
{
    return root_visits(t, s->game->moves);
}

float tree_value(const struct tree *t, const struct search *s)
{
    float sum = tree_root(t)->value;
    for (int m = 0; m < s->game->moves; m++) sum += tree_root(t)->move[m].sum;
    return sum / (float)(1 + tree_visits(t, s));
}

int tree_most_visited(const struct tree *t, const struct search *s)
{
    int best = 0;
    for (int m = 1; m < s->game->moves; m++)
        if (tree_root(t)->move[m].visits > tree_root(t)->move[best].visits) best = m;
    return best;
}

// ---- a simulation

static inline float weight_of(const struct search *s, int visits)
{
    enum { BASE = 19652 };
    return s->growth > 0 ? s->puct + s->growth * logf((float)(1 + visits + BASE) / BASE) : s->puct;
}

// A leaf that waits counts as a loss.
static inline int best_move(const struct search_node *n, const struct search *s, int moves)
{
    int all = 0, ahead = 0, best = TREE_NONE;
    float sum = n->value, most = 0;
    for (int m = 0; m < moves; m++) all += n->move[m].visits, ahead += n->move[m].ahead, sum += n->move[m].sum;
    const bool begun = s->penalty > SEARCH_MEAN;
    const float mean = begun ? fmaxf(n->value - s->penalty, -1) : sum / (float)(1 + all);
    const float bonus = weight_of(s, 1 + all) * sqrtf((float)(all + ahead > 1 ? all + ahead : 1));
    for (int m = 0; m < moves; m++) {
        const struct search_move *move = &n->move[m];
        const int visits = move->visits + move->ahead;
        float q = visits ? (move->sum - (float)move->ahead) / (float)visits : mean;
        if (begun) q = (mean + move->sum - (float)move->ahead) / (float)(1 + visits);
        const float score = q + bonus * move->prior / (float)(1 + visits);
        if (!(move->prior > 0) || (best != TREE_NONE && !(score > most))) continue;
        best = m, most = score;
    }
    BUG_IF(best == TREE_NONE);
    return best;
}

// From a node to the root: `value` is for the player to move at the node, and the players take turns.
static void add_result(struct tree *t, const struct search *s, int number, float value)
{
    for (const struct search_node *n = tree_node(t, s, number); n->parent != TREE_NONE;) {
        struct search_node *parent = tree_node(t, s, n->parent);
        value = -value;
        parent->move[n->by].sum += value;
        parent->move[n->by].visits++;
        n = parent;
    }
}

static void add_ahead(struct tree *t, const struct search *s, int number, int by)
{
    for (const struct search_node *n = tree_node(t, s, number); n->parent != TREE_NONE;) {
        struct search_node *parent = tree_node(t, s, n->parent);
        parent->move[n->by].ahead = (int16_t)(parent->move[n->by].ahead + by);
        n = parent;
    }
    t->waiting += by;
}

static inline int descend(struct tree *t, const struct search *s, int moves)
{
    int at = 0;
    for (const struct search_node *n; (n = tree_node(t, s, at))->state == SEARCH_OPEN;) {
        const int move = best_move(n, s, moves), next = n->move[move].child;
        at = next ? next : add_child(t, s, at, move);
    }
    return at;
}

// Games that are over need no network.
static inline int select_leaf(struct tree *t, const struct search *s, int moves)
{
    while (root_visits(t, moves) + t->waiting < s->simulations) {
        const int leaf = descend(t, s, moves);
        struct search_node *n = tree_node(t, s, leaf);
        if (n->state == SEARCH_WAITS) return TREE_NONE;
        if (n->state == SEARCH_NEW) {
            n->state = SEARCH_WAITS;
            add_ahead(t, s, leaf, 1);
            return leaf;
        }
        add_result(t, s, leaf, n->value);
    }
    return TREE_NONE;
}

// Loops over seven moves are unrolled.
int tree_select(struct tree *t, const struct search *s)
{
    return s->game->moves == CONNECT4_COLUMNS ? select_leaf(t, s, CONNECT4_COLUMNS) : select_leaf(t, s, s->game->moves);
}

void tree_expand(struct tree *t, const struct search *s, int leaf, const float *logits, float value)
{
    const struct game *g = s->game;
    const void *board = tree_board(t, s, leaf);
    struct search_node *n = tree_node(t, s, leaf);
    float most = -INFINITY, sum = 0;
    BUG_IF(n->state != SEARCH_WAITS);
    for (int m = 0; m < g->moves; m++)
        if (g->may(board, m) && logits[m] > most) most = logits[m];
    for (int m = 0; m < g->moves; m++) {
        n->move[m].prior = g->may(board, m) ? fmaxf(expf(logits[m] - most), LEAST_PRIOR) : 0;
        sum += n->move[m].prior;
    }
    for (int m = 0; m < g->moves; m++) n->move[m].prior /= sum;
    n->state = SEARCH_OPEN, n->value = value;
    add_ahead(t, s, leaf, -1);
    add_result(t, s, leaf, value);
}

// ---- moves

void tree_add_noise(struct tree *t, const struct search *s, const float *noise)
{
    struct search_node *n = tree_root(t);
    float sum = 0;
    for (int m = 0; m < s->game->moves; m++) sum += n->move[m].prior > 0 ? noise[m] : 0;
    for (int m = 0; m < s->game->moves; m++)
        if (n->move[m].prior > 0) n->move[m].prior += s->noise * (noise[m] / sum - n->move[m].prior);
}

void tree_advance(struct tree *t, const struct search *s, int move)
{
    int16_t to[SEARCH_MOST + 1];
    const int root = tree_root(t)->move[move].child;
    int count = 0;
    BUG_IF(!root || t->waiting);
    for (int i = root; i < t->count; i++) {
        const struct search_node *from = tree_node(t, s, i);
        const int parent = from->parent;
        to[i] = TREE_NONE;
        if (i != root && (parent < root || to[parent] == TREE_NONE)) continue;
        to[i] = (int16_t)count;
        struct search_node *n = tree_node(t, s, count++);
        memmove(n, from, node_bytes(s->game));
        n->parent = i == root ? TREE_NONE : to[parent];
        if (i != root) tree_node(t, s, n->parent)->move[n->by].child = to[i];
    }
    t->count = count;
}

// ---- a tree from outside

static bool has_sound_figures(const struct tree *t, const struct search *s, int number)
{
    const struct search_node *n = tree_node(t, s, number);
    bool sound = isfinite(n->value);
    for (int m = 0; m < s->game->moves; m++) {
        const struct search_move *move = &n->move[m];
        const bool may = n->state == SEARCH_OPEN && s->game->may(tree_board(t, s, number), m);
        sound = sound && isfinite(move->prior) && isfinite(move->sum) && move->visits >= 0 && move->ahead == 0;
        sound = sound && (move->prior > 0) == may && (may || (!move->visits && !move->child));
    }
    return sound;
}

// Each node is its parent's child, by a move that leads from one position to the other. `board` has a board's bytes.
static bool has_sound_shape(const struct tree *t, const struct search *s, int number, void *board)
{
    const struct search_node *n = tree_node(t, s, number);
    if (n->by < 0 || n->by >= s->game->moves || n->parent < 0 || n->parent >= number) return false;
    const struct search_node *parent = tree_node(t, s, n->parent);
    memcpy(board, tree_board(t, s, n->parent), s->game->board_bytes);
    if (parent->state != SEARCH_OPEN || parent->move[n->by].child != number || !s->game->may(board, n->by)) return false;
    const bool over = s->game->play(board, n->by) != GAME_ON;
    return !memcmp(board, tree_board(t, s, number), s->game->board_bytes) && n->state == (over ? SEARCH_OVER : SEARCH_OPEN);
}

bool tree_is_sound(const struct tree *t, const struct search *s, const void *board)
{
    const struct search_node *root = tree_root(t);
    union game_board next;
    int children = 0;
    if (t->count < 1 || t->count > s->simulations + 1 || t->waiting ||
        memcmp(tree_board(t, s, 0), board, s->game->board_bytes) ||
        (root->state != SEARCH_OPEN && (root->state != SEARCH_NEW || t->count > 1)) || root->parent != TREE_NONE) return false;
    for (int i = 0; i < t->count; i++) {
        if ((i > 0 && !has_sound_shape(t, s, i, &next)) || !has_sound_figures(t, s, i)) return false;
        for (int m = 0; m < s->game->moves; m++) children += tree_node(t, s, i)->move[m].child != 0;
    }
    return children == t->count - 1 && tree_visits(t, s) <= s->simulations;
}
