// SPDX-License-Identifier: Apache-2.0
#include "tasks/play/search.h"

#include <math.h>
#include <string.h>

// ---- the tree

static void open_node(struct search_node *n, const struct connect4 *board, int parent, int by)
{
    memset(n, 0, sizeof *n);
    n->board = *board, n->parent = (int16_t)parent, n->by = by;
}

void tree_begin(struct tree *t, const struct connect4 *board)
{
    t->count = 1, t->waiting = 0;
    open_node(&t->node[0], board, TREE_NONE, 0);
}

// The player to move in the new position has lost if this move won.
static int add_child(struct tree *t, int parent, int move)
{
    int number = t->count++;
    struct search_node *n = &t->node[number];
    open_node(n, &t->node[parent].board, parent, move);
    bool won = connect4_drop(&n->board, move);
    if (won || connect4_full(&n->board)) n->state = SEARCH_OVER, n->value = won ? -1 : 0;
    return t->node[parent].child[move] = (int16_t)number;
}

int tree_visits(const struct tree *t)
{
    int visits = 0;
    for (int m = 0; m < SEARCH_MOVES; m++) visits += t->node[0].visits[m];
    return visits;
}

int tree_most_visited(const struct tree *t)
{
    int best = 0;
    for (int m = 1; m < SEARCH_MOVES; m++)
        if (t->node[0].visits[m] > t->node[0].visits[best]) best = m;
    return best;
}

// ---- a simulation

// A move without visits is worth what the position is worth so far. A leaf that waits counts as a loss.
static int best_move(const struct search_node *n, float puct)
{
    int all = 0, ahead = 0, best = TREE_NONE;
    float sum = n->value, most = 0;
    for (int m = 0; m < SEARCH_MOVES; m++) all += n->visits[m], ahead += n->ahead[m], sum += n->sum[m];
    const float mean = sum / (float)(1 + all), bonus = puct * sqrtf((float)(all + ahead > 1 ? all + ahead : 1));
    for (int m = 0; m < SEARCH_MOVES; m++) {
        int visits = n->visits[m] + n->ahead[m];
        float q = visits ? (n->sum[m] - (float)n->ahead[m]) / (float)visits : mean;
        float score = q + bonus * n->prior[m] / (float)(1 + visits);
        if (!connect4_may(&n->board, m) || (best != TREE_NONE && !(score > most))) continue;
        best = m, most = score;
    }
    BUG_IF(best == TREE_NONE);
    return best;
}

// From a node to the root: `value` is for the player to move at the node, and the players take turns.
static void add_result(struct tree *t, int number, float value)
{
    for (const struct search_node *n = &t->node[number]; n->parent != TREE_NONE; n = &t->node[n->parent]) {
        value = -value;
        t->node[n->parent].sum[n->by] += value;
        t->node[n->parent].visits[n->by]++;
    }
}

static void add_ahead(struct tree *t, int number, int by)
{
    for (const struct search_node *n = &t->node[number]; n->parent != TREE_NONE; n = &t->node[n->parent])
        t->node[n->parent].ahead[n->by] = (int16_t)(t->node[n->parent].ahead[n->by] + by);
    t->waiting += by;
}

static int descend(struct tree *t, float puct)
{
    int at = 0;
    while (t->node[at].state == SEARCH_OPEN) {
        int move = best_move(&t->node[at], puct), next = t->node[at].child[move];
        at = next ? next : add_child(t, at, move);
    }
    return at;
}

// Games that are over need no network.
int tree_select(struct tree *t, const struct search *s)
{
    while (tree_visits(t) + t->waiting < s->simulations) {
        int leaf = descend(t, s->puct);
        struct search_node *n = &t->node[leaf];
        if (n->state == SEARCH_WAITS) return TREE_NONE;
        if (n->state == SEARCH_NEW) {
            n->state = SEARCH_WAITS;
            add_ahead(t, leaf, 1);
            return leaf;
        }
        add_result(t, leaf, n->value);
    }
    return TREE_NONE;
}

void tree_expand(struct tree *t, int leaf, const float *logits, float value)
{
    struct search_node *n = &t->node[leaf];
    float most = -INFINITY, sum = 0;
    BUG_IF(n->state != SEARCH_WAITS);
    for (int m = 0; m < SEARCH_MOVES; m++)
        if (connect4_may(&n->board, m) && logits[m] > most) most = logits[m];
    for (int m = 0; m < SEARCH_MOVES; m++) {
        n->prior[m] = connect4_may(&n->board, m) ? expf(logits[m] - most) : 0;
        sum += n->prior[m];
    }
    for (int m = 0; m < SEARCH_MOVES; m++) n->prior[m] /= sum;
    n->state = SEARCH_OPEN, n->value = value;
    add_ahead(t, leaf, -1);
    add_result(t, leaf, value);
}

// ---- moves

void tree_add_noise(struct tree *t, const struct search *s, const float *noise)
{
    struct search_node *n = &t->node[0];
    float sum = 0;
    for (int m = 0; m < SEARCH_MOVES; m++) sum += connect4_may(&n->board, m) ? noise[m] : 0;
    for (int m = 0; m < SEARCH_MOVES; m++)
        if (connect4_may(&n->board, m)) n->prior[m] += s->noise * (noise[m] / sum - n->prior[m]);
}

void tree_advance(struct tree *t, int move)
{
    int16_t to[SEARCH_MOST + 1];
    const int root = t->node[0].child[move];
    int count = 0;
    BUG_IF(!root || t->waiting);
    for (int i = root; i < t->count; i++) {
        const int parent = t->node[i].parent;
        to[i] = TREE_NONE;
        if (i != root && (parent < root || to[parent] == TREE_NONE)) continue;
        to[i] = (int16_t)count;
        struct search_node n = t->node[i];
        n.parent = i == root ? TREE_NONE : to[parent];
        if (i != root) t->node[n.parent].child[n.by] = to[i];
        t->node[count++] = n;
    }
    t->count = count;
}

// ---- a tree from outside

static bool has_sound_figures(const struct search_node *n)
{
    bool sound = isfinite(n->value);
    for (int m = 0; m < SEARCH_MOVES; m++)
        sound = sound && isfinite(n->prior[m]) && isfinite(n->sum[m]) && n->visits[m] >= 0 && n->ahead[m] == 0;
    return sound;
}

// Each node is its parent's child, by a move that leads from one position to the other.
static bool has_sound_place(const struct tree *t, int number)
{
    const struct search_node *n = &t->node[number];
    if (n->by < 0 || n->by >= SEARCH_MOVES || n->parent < 0 || n->parent >= number) return false;
    const struct search_node *parent = &t->node[n->parent];
    struct connect4 board = parent->board;
    if (parent->state != SEARCH_OPEN || parent->child[n->by] != number || !connect4_may(&board, n->by)) return false;
    bool over = connect4_drop(&board, n->by) || connect4_full(&board);
    return !memcmp(&board, &n->board, sizeof board) && n->state == (over ? SEARCH_OVER : SEARCH_OPEN);
}

bool tree_is_sound(const struct tree *t, const struct search *s, const struct connect4 *board)
{
    const struct search_node *root = &t->node[0];
    int children = 0;
    if (t->count < 1 || t->count > s->simulations + 1 || t->waiting || memcmp(&root->board, board, sizeof *board) ||
        (root->state != SEARCH_OPEN && (root->state != SEARCH_NEW || t->count > 1)) || root->parent != TREE_NONE) return false;
    for (int i = 0; i < t->count; i++) {
        if (!has_sound_figures(&t->node[i]) || (i > 0 && !has_sound_place(t, i))) return false;
        for (int m = 0; m < SEARCH_MOVES; m++) children += t->node[i].child[m] != 0;
    }
    return children == t->count - 1 && tree_visits(t) <= s->simulations;
}
