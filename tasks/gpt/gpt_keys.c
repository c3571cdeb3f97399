// SPDX-License-Identifier: Apache-2.0
// The recipe keys of GPTs: the shape of the network. The defaults are those of the task of characters.
#include "tasks/gpt/gpt_keys.h"

#include "tasks/gpt/gpt.h"

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
    {.path = NULL},
};

static int check_gpt(const char *where, const struct recipe *r)
{
    const struct gpt_keys *k = gpt_keys(r);
    if (k->width % k->heads)
        return fail(ERR_USAGE, "%s: a \"model.width\" of %lld cannot be shared by %lld heads (\"model.heads\")", where,
                    (long long)k->width, (long long)k->heads);
    return 0;
}

static const char *const also[] = {"fineweb-gpt", NULL};
const struct recipe_table recipe_table_gpt = {
    .task = "gpt-char", .also = also, .models = gpt_models, .keys = keys, .check = check_gpt,
};
