// SPDX-License-Identifier: Apache-2.0
// The recipe keys of the tasks that learn by playing against themselves.
#include "tasks/play/play_keys.h"

#include "tasks/play/play_network.h"
#include "tasks/play/search.h"

static const char *const parts[] = {"MiniGo's search"};
#define OWN(field) RECIPE_OWN(struct play_keys, field)
_Static_assert(sizeof(struct play_keys) <= RECIPE_OWN_BYTES, "RECIPE_OWN_BYTES");
static const struct recipe_key keys[] = {
    {"model.width", NULL, KEY_WHOLE, OWN(width), 1, 1024, NULL, "32", .about = "channels of the residual blocks"},
    {"model.blocks", NULL, KEY_WHOLE, OWN(blocks), 1, 64, NULL, "4", .about = "residual blocks"},

    {"games.parallel", NULL, KEY_WHOLE, OWN(games), 2, 65536, NULL, "128",
     .about = "games at the same time, an even number: one half waits for the network while the other is searched"},
    {"games.first", NULL, KEY_WHOLE, OWN(first), 1, 1e6, NULL, "3600",
     .about = "positions of finished games before the first step"},
    {"games.window", NULL, KEY_WHOLE, OWN(window), 1, 1e7, NULL, "60000",
     .about = "the last positions, from which batches are drawn; an epoch is as many samples"},
    {"games.reuse", NULL, KEY_NUMBER, OWN(reuse), 0.01, 1000, NULL, "8",
     .about = "how often a position is trained on, in the mean: games go on between steps until enough were played"},

    {"search.simulations", NULL, KEY_WHOLE, OWN(simulations), 1, SEARCH_MOST, NULL, "100",
     .about = "visits of the root before a move"},
    {"search.leaves", NULL, KEY_WHOLE, OWN(leaves), 1, 64, NULL, "1",
     .about = "leaves of a tree in one batch, which virtual losses keep apart"},
    {"search.puct", NULL, KEY_NUMBER, OWN(puct), 0, 100, NULL, "2", .about = "weight of the network's policy in the search"},
    {"search.noise", NULL, KEY_NUMBER, OWN(noise), 0, 1, NULL, "0.25",
     .about = "share of Dirichlet noise in the policy at the root"},
    {"search.opening", NULL, KEY_WHOLE, OWN(opening), 0, 1000, NULL, "10",
     .about = "plies whose moves are drawn by their visits; then the most visited move is made"},

    {"search.first", NULL, KEY_WHOLE, OWN(simulations_first), 0, SEARCH_MOST, NULL, "0",
     .about = "visits of the root before a move of the games.first positions; 0: as search.simulations",
     .part = PART_MINIGO},
    {"search.growth", NULL, KEY_NUMBER, OWN(growth), 0, 100, NULL, "0",
     .about = "of search.puct with the visits N of a position: times log((1 + N + 19652) / 19652)",
     .part = PART_MINIGO},
    {"search.penalty", NULL, KEY_NUMBER, OWN(penalty), -1, 2, NULL, "-1",
     .about = "a move begins with one result, the position's value less this; -1: with none, and its mean stands in",
     .part = PART_MINIGO},
    {"search.alpha", NULL, KEY_NUMBER, OWN(alpha), 0.01, 1, NULL, "1", .about = "of the Dirichlet noise", .part = PART_MINIGO},
    {"search.power", NULL, KEY_NUMBER, OWN(power), 0.01, 1, NULL, "1",
     .about = "of the visits by which moves are drawn", .part = PART_MINIGO},

    {"resign.low", NULL, KEY_NUMBER, OWN(resign_low), -1, 0, NULL, "-1",
     .about = "a player resigns who expects less than a number that each game draws between resign.low and resign.high",
     .part = PART_MINIGO},
    {"resign.high", NULL, KEY_NUMBER, OWN(resign_high), -1, 0, NULL, "-1", .about = "see resign.low; -1: nobody resigns",
     .part = PART_MINIGO},
    {"resign.played_out", NULL, KEY_NUMBER, OWN(played_out), 0, 1, NULL, "0",
     .about = "share of the games that nobody resigns, which show how lost games end",
     .part = PART_MINIGO},

    {"loss.value", NULL, KEY_NUMBER, OWN(value), 0, 100, NULL, "1", .about = "weight of the results' squared errors in the loss"},
    {.path = NULL},
};

static int check_play(const char *where, const struct recipe *r)
{
    if (play_keys(r)->games % 2)
        return fail(ERR_USAGE, "%s: \"games.parallel\" must be even, because one half waits while the other is searched", where);
    if (play_keys(r)->simulations_first > play_keys(r)->simulations)
        return fail(ERR_USAGE, "%s: \"search.first\" must be at most \"search.simulations\"", where);
    if (play_keys(r)->resign_low > play_keys(r)->resign_high)
        return fail(ERR_USAGE, "%s: \"resign.low\" must be at most \"resign.high\"", where);
    if (r->label_smoothing > 0)
        return fail(ERR_USAGE, "%s: games have no \"loss.label_smoothing\": it must be 0", where);
    return 0;
}

static const struct recipe_table minigo = {
    .task = "minigo-9", .models = minigo_models, .keys = keys, .parts = parts, .check = check_play,
};
const struct recipe_table recipe_table_play = {
    .task = "connect4", .models = play_models, .next = &minigo, .keys = keys, .parts = parts, .check = check_play,
};
