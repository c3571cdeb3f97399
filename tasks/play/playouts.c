// SPDX-License-Identifier: Apache-2.0
#include "tasks/play/playouts.h"

#include <stdlib.h>

#include "runtime/common/base/arena.h"
#include "tasks/play/search.h"

enum { PLAYOUTS_SEED = 20060918 };

// For the player to move.
static float random_result(struct connect4 b, struct draws *d)
{
    for (float sign = 1; !connect4_full(&b); sign = -sign) {
        int column = draws_below(d, CONNECT4_COLUMNS);
        while (!connect4_may(&b, column)) column = draws_below(d, CONNECT4_COLUMNS);
        if (connect4_drop(&b, column)) return sign;
    }
    return 0;
}

int playouts_move(const struct connect4 *b, int count, int64_t number)
{
    static const float equal[CONNECT4_COLUMNS];
    const struct search how = {.game = &game_connect4, .simulations = count, .puct = 1, .penalty = SEARCH_MEAN};
    struct tree *t = zalloc(tree_bytes(&how));
    struct draws d = DRAWS(PLAYOUTS_SEED, connect4_discs(b), number);
    tree_begin(t, &how, b);
    for (int leaf; (leaf = tree_select(t, &how)) != TREE_NONE;)
        tree_expand(t, &how, leaf, equal, random_result(*(const struct connect4 *)tree_board(t, &how, leaf), &d));
    const int best = tree_most_visited(t, &how);
    free(t);
    return best;
}
