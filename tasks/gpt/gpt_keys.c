// SPDX-License-Identifier: Apache-2.0
// The recipe keys of GPTs: the shape of the network. The defaults are for the task of characters.
#include "tasks/gpt/gpt_keys.h"

#include "tasks/gpt/gpt.h"

static const char *const parts[] = {"rotary positions"};

#define OWN(field) RECIPE_OWN(struct gpt_keys, field)
_Static_assert(sizeof(struct gpt_keys) <= RECIPE_OWN_BYTES, "RECIPE_OWN_BYTES");
static const struct recipe_key keys[] = {
    {"model.layers", NULL, KEY_WHOLE, OWN(layers), 1, 96, NULL, "6", .about = "blocks of attention and two products"},
    {"model.width", NULL, KEY_WHOLE, OWN(width), 8, 16384, NULL, "192", .about = "numbers per token"},
    {"model.heads", NULL, KEY_WHOLE, OWN(heads), 1, 256, NULL, "6", .about = "of each attention"},
    {"model.feed_forward", NULL, KEY_WHOLE, OWN(feed_forward), 8, 65536, NULL, "768",
     .about = "width between the two matrix products of a layer"},
    {"model.dropout", NULL, KEY_NUMBER, OWN(dropout), 0, 0.9, NULL, "0.1", .about = "dropout rate of embeddings and parts"},
    {"model.attention_dropout", NULL, KEY_NUMBER, OWN(attention_dropout), 0, 0.9, NULL, "0",
     .about = "dropout rate of attention probabilities"},
    {"model.cap", NULL, KEY_NUMBER, OWN(cap), 0, 1e4, NULL, "0", .about = "logits z become cap x tanh(z / cap); 0: they stay"},
    {"optimiser.embedding.lr", NULL, KEY_NUMBER, OWN(embedding_lr), 0, 100, NULL, "0.3",
     .about = "learning rate of the table of tokens", .part = PART_ROTARY},
    NET_MODERN_KEYS(struct gpt_keys, modern),
    {.path = NULL},
};

static int check_gpt(const char *where, const struct recipe *r)
{
    return net_modern_check(where, r, gpt_keys(r)->width, gpt_keys(r)->heads);
}

static const char *const also[] = {"fineweb-gpt", NULL};
const struct recipe_table recipe_table_gpt = {
    .task = "gpt-char", .also = also, .models = gpt_models, .keys = keys, .parts = parts, .check = check_gpt,
};
