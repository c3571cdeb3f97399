// SPDX-License-Identifier: Apache-2.0
// The recipe keys of the tasks that learn by playing against themselves.
#include "tasks/play/play_keys.h"

#include "tasks/play/play_network.h"
#include "tasks/play/search.h"

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
     .about = "share of Dirichlet noise (1.0) in the policy at the root"},
    {"search.opening", NULL, KEY_WHOLE, OWN(opening), 0, 1000, NULL, "10",
     .about = "plies whose moves are drawn by their visits; then the most visited move is made"},

    {"loss.value", NULL, KEY_NUMBER, OWN(value), 0, 100, NULL, "1", .about = "weight of the results' squared errors in the loss"},
    {.path = NULL},
};

static int check_play(const char *where, const struct recipe *r)
{
    if (play_keys(r)->games % 2)
        return fail(ERR_USAGE, "%s: \"games.parallel\" must be even, because one half waits while the other is searched", where);
    if (r->label_smoothing > 0)
        return fail(ERR_USAGE, "%s: games have no \"loss.label_smoothing\": it must be 0", where);
    return 0;
}

const struct recipe_table recipe_table_play = {
    .task = "connect4", .models = play_models, .keys = keys, .check = check_play,
};
