// SPDX-License-Identifier: Apache-2.0
// The recipe keys of translation: the samples made from pairs of lines, and the shape of the network. The defaults make
// the smallest Transformer.
#include "tasks/translation/keys.h"

#include "tasks/translation/pairs.h"
#include "tasks/translation/translation.h"

static const char *const parts[] = {"Transformer"};
static const char *const norms[] = {"post", "pre", NULL};

#define OWN(field) RECIPE_OWN(struct translation_keys, field)
_Static_assert(sizeof(struct translation_keys) <= RECIPE_OWN_BYTES, "RECIPE_OWN_BYTES");
static const struct recipe_key keys[] = {
    {"data.length", NULL, KEY_WHOLE, OWN(length), 2, PAIRS_LONGEST, NULL, "64",
     .about = "symbols of the longest sentence of training, its end included; longer pairs are left out"},
    {"data.tokens", NULL, KEY_WHOLE, OWN(tokens), 0, 1 << 24, NULL, "0",
     .about = "places of a batch's targets: batches of short sentences have more samples; 0: data.batch in each", .batch = true},
    {"text.merges", NULL, KEY_WHOLE, OWN(merges), 0, 1 << 20, NULL, "4000",
     .about = "pairs of symbols of both languages that are joined, the most frequent first"},

    {"model.layers", NULL, KEY_WHOLE, OWN(layers), 1, 64, NULL, "4", .about = "of the encoder, and of the decoder"},
    {"model.width", NULL, KEY_WHOLE, OWN(width), 8, 16384, NULL, "128", .about = "numbers per symbol"},
    {"model.heads", NULL, KEY_WHOLE, OWN(heads), 1, 256, NULL, "4", .about = "of each attention", .part = PART_TRANSFORMER},
    {"model.feed_forward", NULL, KEY_WHOLE, OWN(feed_forward), 8, 65536, NULL, "256",
     .about = "width between the two matrix products of a layer", .part = PART_TRANSFORMER},
    {"model.positions", NULL, KEY_WHOLE, OWN(positions), 2, PAIRS_LONGEST, NULL, "1024",
     .about = "rows of the table of positions; no sentence is longer", .part = PART_TRANSFORMER},
    {"model.norm", NULL, KEY_CHOICE, OWN(norm), 0, 0, norms, "post",
     .about = "place of the layer norms: after each sum, or before each part", .part = PART_TRANSFORMER},
    {"model.dropout", NULL, KEY_NUMBER, OWN(dropout), 0, 0.9, NULL, "0.1",
     .about = "dropout rate of embeddings and parts; of recurrent layers: of their inputs"},
    {"model.attention_dropout", NULL, KEY_NUMBER, OWN(attention_dropout), 0, 0.9, NULL, "0",
     .about = "dropout rate of attention probabilities", .part = PART_TRANSFORMER},
    {"model.act_dropout", NULL, KEY_NUMBER, OWN(act_dropout), 0, 0.9, NULL, "0", .about = "dropout rate after ReLU",
     .part = PART_TRANSFORMER},

    SEARCH_KEYS,
    {.path = NULL},
};

static int check_translation(const char *where, const struct recipe *r)
{
    const struct translation_keys *k = translation_keys(r);
    if (!recipe_has_part(r, PART_TRANSFORMER) && k->layers < 2)
        return fail(ERR_USAGE, "%s: \"model.layers\" is 1, and a recurrent encoder has at least 2 layers", where);
    if (!recipe_has_part(r, PART_TRANSFORMER)) return 0;
    if (k->width % k->heads || k->width % 2)
        return fail(ERR_USAGE, "%s: a \"model.width\" of %lld is odd, or cannot be shared by %lld heads (\"model.heads\")",
                    where, (long long)k->width, (long long)k->heads);
    if (k->length > k->positions)
        return fail(ERR_USAGE, "%s: \"data.length\" is %lld, and there are %lld positions (\"model.positions\")", where,
                    (long long)k->length, (long long)k->positions);
    return 0;
}

static const char *const also[] = {"wmt17-transformer", "wmt16-gnmt", NULL};
const struct recipe_table recipe_table_translation = {
    .task = "multi30k", .also = also, .models = translation_models, .keys = keys, .parts = parts, .check = check_translation,
};
