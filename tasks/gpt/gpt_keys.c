// SPDX-License-Identifier: Apache-2.0
// The recipe keys of GPTs: the shape of the network. The defaults are those of the task of characters.
#include "tasks/gpt/gpt_keys.h"

#include "tasks/gpt/gpt.h"

#include <string.h>

static const char *const parts[] = {"rotary positions"};
static const char *const activations[] = {"relu-squared", "swiglu", NULL};

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
    {"model.activation", NULL, KEY_CHOICE, OWN(between), 0, 0, activations, "relu-squared",
     .about = "between the two products of a layer; swiglu has a third one", .part = PART_ROTARY},
    {"model.rotary", NULL, KEY_NUMBER, OWN(base), 1, 1e9, NULL, "10000",
     .about = "base of the wave lengths of positions, in tokens", .part = PART_ROTARY},

    {"optimiser.embedding.lr", NULL, KEY_NUMBER, OWN(embedding_lr), 0, 100, NULL, "0.3",
     .about = "learning rate of the table of tokens", .part = PART_ROTARY},
    {"optimiser.muon.beta2", NULL, KEY_NUMBER, OWN(beta2), 0, 0.99999, NULL, "0.95",
     .about = "decay of the second moment of what AdamW updates beside Muon; optimiser.momentum is that of the first",
     .rules = FOR_MUON},
    {.path = NULL},
};

static bool has_part(const struct recipe *r, unsigned part)
{
    const struct model *m = gpt_models;
    while (m->name && strcmp(m->name, r->model)) m++;
    return m->parts & part;
}

static int check_gpt(const char *where, const struct recipe *r)
{
    const struct gpt_keys *k = gpt_keys(r);
    if (k->width % k->heads)
        return fail(ERR_USAGE, "%s: a \"model.width\" of %lld cannot be shared by %lld heads (\"model.heads\")", where,
                    (long long)k->width, (long long)k->heads);
    if (has_part(r, PART_ROTARY) && (k->width / k->heads % 2 || k->width / k->heads > ROTARY_MOST))
        return fail(ERR_USAGE, "%s: a head has %lld numbers (\"model.width\" / \"model.heads\"); rotary positions need an even "
                    "number up to %d", where, (long long)(k->width / k->heads), ROTARY_MOST);
    return 0;
}

static const char *const also[] = {"fineweb-gpt", NULL};
const struct recipe_table recipe_table_gpt = {
    .task = "gpt-char", .also = also, .models = gpt_models, .keys = keys, .parts = parts, .check = check_gpt,
};
