// SPDX-License-Identifier: Apache-2.0
// The tree search: PUCT by hand, wins and threats, virtual losses, kept subtrees.
#include "test/unit/test.h"

#include "runtime/common/base/arena.h"
#include "tasks/play/search.h"

#include <math.h>
#include <stdlib.h>

enum { MOVES = CONNECT4_COLUMNS };
#define SEARCH(...) {.game = &game_connect4, .puct = 2, .penalty = SEARCH_MEAN, __VA_ARGS__}
static const struct search HOW = SEARCH(.simulations = 100);
static const float EVEN[MOVES] = {0};

static struct connect4 board_after(const char *moves)
{
    struct connect4 b = {0};
    for (; *moves; moves++) assert_false(connect4_drop(&b, *moves - '1'));
    return b;
}

static struct tree *begin(const struct search *how, const char *moves)
{
    const struct connect4 b = board_after(moves);
    struct tree *t = zalloc(tree_bytes(how));
    tree_begin(t, how, &b);
    return t;
}

// A network whose answers depend on the position alone.
static float judge(const struct connect4 *b, float logits[MOVES])
{
    uint64_t mix = b->own * 0x9E3779B97F4A7C15u + b->all * 0xC2B2AE3D27D4EB4Fu;
    for (int m = 0; m < MOVES; m++) logits[m] = (float)(mix >> 8 * m & 255) / 128;
    return (float)(mix >> 56) / 128 - 1;
}

// Selects `ahead` leaves before it expands them.
static void search(struct tree *t, const struct search *how, int ahead, bool even)
{
    int leaf[16], count;
    do {
        for (count = 0; count < ahead && (leaf[count] = tree_select(t, how)) != TREE_NONE;) count++;
        for (int i = 0; i < count; i++) {
            float logits[MOVES], value = judge(tree_board(t, how, leaf[i]), logits);
            tree_expand(t, how, leaf[i], even ? EVEN : logits, even ? 0 : value);
        }
    } while (count > 0);
    assert_int_equal(tree_visits(t, how), how->simulations);
    assert_int_equal(t->waiting, 0);
}

static int best_after(const char *moves)
{
    struct tree *t = begin(&HOW, moves);
    search(t, &HOW, 1, true);
    int best = tree_most_visited(t, &HOW) + 1;
    free(t);
    return best;
}

TEST(a_win_in_one_is_found)
{
    assert_int_equal(best_after("121212"), 1);     // upwards
    assert_int_equal(best_after("112233"), 4);     // along a row
}

TEST(a_loss_in_one_is_blocked)
{
    assert_int_equal(best_after("12121"), 1);
    assert_int_equal(best_after("4141421"), 4);
}

// From an empty board with priors P and value v of the root: the first move is the likeliest. Its result q for the player at the
// root makes the second choice: q + c P1 / 2 against the mean (v + q) / 2 + c P2, with sqrt(max(1, visits)) = 1.
TEST(puct_is_as_by_hand)
{
    const struct search how = SEARCH(.simulations = 3);
    for (int lost = 0; lost < 2; lost++) {
        struct tree *t = begin(&how, "");
        float logits[MOVES] = {0, 0, 0, logf(3), logf(2), 0, 0};  // of 10: 3 for the centre, 2 for its neighbour
        assert_int_equal(tree_select(t, &how), 0);
        tree_expand(t, &how, 0, logits, 0.5f);
        int leaf = tree_select(t, &how);
        assert_int_equal(tree_node(t, &how, leaf)->by, 3);
        tree_expand(t, &how, leaf, EVEN, lost ? 0.9f : -0.9f);  // for the other player
        assert_float_equal(tree_root(t)->move[3].sum, lost ? -0.9f : 0.9f, 1e-6f);
        leaf = tree_select(t, &how);
        assert_int_equal(tree_node(t, &how, leaf)->parent, lost ? 0 : 1);  // -0.9 + 0.3 < -0.2 + 0.4, but 0.9 + 0.3 > 0.7 + 0.4
        assert_int_equal(tree_node(t, &how, leaf)->by, lost ? 4 : 0);
        free(t);
    }
}

TEST(full_columns_have_no_prior)
{
    struct tree *t = begin(&HOW, "222222");
    search(t, &HOW, 1, false);
    assert_float_equal(tree_root(t)->move[1].prior, 0, 0);
    assert_int_equal(tree_root(t)->move[1].visits, 0);
    float sum = 0;
    for (int m = 0; m < MOVES; m++) sum += tree_root(t)->move[m].prior;
    assert_float_equal(sum, 1, 1e-6f);
    free(t);
}

// A leaf that waits counts as lost, so the next one is another; afterwards the figures are those of a search without.
TEST(virtual_losses_are_restored)
{
    struct tree *t = begin(&HOW, "44");
    int root = tree_select(t, &HOW);
    assert_int_equal(tree_select(t, &HOW), TREE_NONE);  // the root itself waits
    tree_expand(t, &HOW, root, EVEN, 0);
    int leaf[MOVES];
    for (int i = 0; i < MOVES; i++) leaf[i] = tree_select(t, &HOW);
    for (int i = 0; i < MOVES; i++) assert_int_equal(tree_node(t, &HOW, leaf[i])->by, i);  // seven different moves
    assert_int_equal(t->waiting, MOVES);
    for (int i = MOVES - 1; i >= 0; i--) tree_expand(t, &HOW, leaf[i], EVEN, 0.25f);
    assert_int_equal(t->waiting, 0);
    for (int m = 0; m < MOVES; m++) {
        assert_int_equal(tree_root(t)->move[m].ahead, 0);
        assert_int_equal(tree_root(t)->move[m].visits, 1);
        assert_float_equal(tree_root(t)->move[m].sum, -0.25f, 0);
    }
    free(t);
}

// A move keeps what is below it, and the tree stays sound to the end of a game.
TEST(a_subtree_is_kept)
{
    struct connect4 b = {0};
    struct tree *t = begin(&HOW, "");
    for (int ply = 0; tree_root(t)->state != SEARCH_OVER; ply++) {
        search(t, &HOW, 1 + ply % 8, false);
        const int move = tree_most_visited(t, &HOW), visits = tree_root(t)->move[move].visits;
        struct search_node *child = zalloc(node_bytes(&game_connect4));
        memcpy(child, tree_node(t, &HOW, tree_root(t)->move[move].child), node_bytes(&game_connect4));
        (void)connect4_drop(&b, move);
        tree_advance(t, &HOW, move);
        assert_int_equal(tree_is_sound(t, &HOW, &b), child->state == SEARCH_OPEN);
        assert_int_equal(tree_visits(t, &HOW), child->state == SEARCH_OVER ? 0 : visits - 1);
        for (int m = 0; m < MOVES; m++) assert_float_equal(tree_root(t)->move[m].sum, child->move[m].sum, 0);
        free(child);
    }
    free(t);
}

TEST(noise_keeps_a_distribution)
{
    const struct search how = SEARCH(.simulations = 10, .noise = 0.25f);
    const float noise[MOVES] = {1, 100, 1, 1, 1, 1, 3};
    struct tree *t = begin(&how, "222222");
    tree_expand(t, &how, tree_select(t, &how), EVEN, 0);
    tree_add_noise(t, &how, noise);
    assert_float_equal(tree_root(t)->move[0].prior, 0.75f / 6 + 0.25f / 8, 1e-6f);
    assert_float_equal(tree_root(t)->move[1].prior, 0, 0);
    assert_float_equal(tree_root(t)->move[6].prior, 0.75f / 6 + 0.25f * 3 / 8, 1e-6f);
    free(t);
}

// Trees from outside: every damage that could lead a search astray is seen.
TEST(broken_trees_are_refused)
{
    struct tree *t = begin(&HOW, "4"), *whole = begin(&HOW, "4");
    const struct connect4 b = board_after("4"), other = board_after("3");
    search(whole, &HOW, 1, false);
    assert_true(tree_is_sound(whole, &HOW, &b));
    assert_false(tree_is_sound(whole, &HOW, &other));
    for (int i = 0; i < 9; i++) {
        memcpy(t, whole, tree_bytes(&HOW));
        struct search_node *n = tree_node(t, &HOW, 5);
        if (i == 0) ((struct connect4 *)tree_board(t, &HOW, 5))->own ^= 1;
        if (i == 1) n->parent = 6;
        if (i == 2) n->by = 7;
        if (i == 3) n->state = SEARCH_WAITS;
        if (i == 4) n->value = NAN;
        if (i == 5) n->move[0].visits = -1;
        if (i == 6) tree_root(t)->move[0].child = 5;
        if (i == 7) t->count = HOW.simulations + 2;
        if (i == 8) t->waiting = 1;
        if (tree_is_sound(t, &HOW, &b)) fail_msg("damage %d is not seen", i);
    }
    free(t), free(whole);
}
