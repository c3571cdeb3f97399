// SPDX-License-Identifier: Apache-2.0
// The recipe keys of BERT's pre-training. The defaults make BERT-base. What is scored is no key: it is the task's
// (cloze.c).
#include "tasks/bert/bert_keys.h"

#include "tasks/bert/bert.h"
#include "tasks/bert/cloze.h"

static const char *const parts[] = {"rotary positions"};

#define OWN(field) RECIPE_OWN(struct bert_keys, field)
_Static_assert(sizeof(struct bert_keys) <= RECIPE_OWN_BYTES, "RECIPE_OWN_BYTES");
static const struct recipe_key keys[] = {
    {"data.length", NULL, KEY_WHOLE, OWN(length), 16, CLOZE_LONGEST, NULL, "128",
     .about = "pieces of a sample of the training: two texts and three special ones"},
    {"data.predictions", NULL, KEY_WHOLE, OWN(predictions), 1, CLOZE_LONGEST, NULL, "20",
     .about = "masked pieces of a sample of the training, at most"},
    {"data.masked", NULL, KEY_NUMBER, OWN(masked), 0.01, 0.9, NULL, "0.15",
     .about = "share of the pieces of a sample of the training that are masked"},
    {"data.short_length", NULL, KEY_WHOLE, OWN(short_length), 16, CLOZE_LONGEST, NULL, "32",
     .about = "pieces of a sample in the first epochs, which learn neighbours sooner from short texts"},
    {"data.short_epochs", NULL, KEY_WHOLE, OWN(short_epochs), 0, 1 << 20, NULL, "0", .about = "number of these epochs"},

    {"loss.next_factor", NULL, KEY_NUMBER, OWN(next_factor), 0, 1000, NULL, "1", .about = "factor of the next sentence's loss"},

    {"model.layers", NULL, KEY_WHOLE, OWN(layers), 1, 96, NULL, "12", .about = "of the encoder"},
    {"model.width", NULL, KEY_WHOLE, OWN(width), 8, 16384, NULL, "768", .about = "numbers per piece"},
    {"model.heads", NULL, KEY_WHOLE, OWN(heads), 1, 256, NULL, "12", .about = "of each attention"},
    {"model.feed_forward", NULL, KEY_WHOLE, OWN(feed_forward), 8, 65536, NULL, "3072",
     .about = "width between the two matrix products of a layer"},
    {"model.positions", NULL, KEY_WHOLE, OWN(positions), 32, CLOZE_LONGEST, NULL, "512",
     .about = "rows of the table of positions; no sample is longer"},
    {"model.dropout", NULL, KEY_NUMBER, OWN(dropout), 0, 0.9, NULL, "0.1",
     .about = "dropout rate of activations and attention probabilities"},
    NET_MODERN_KEYS(struct bert_keys, modern),
    {.path = NULL},
};

static int check_bert(const char *where, const struct recipe *r)
{
    const struct bert_keys *k = bert_keys(r);
    if (k->length > k->positions)
        return fail(ERR_USAGE, "%s: \"data.length\" is %lld, and there are %lld positions (\"model.positions\")", where,
                    (long long)k->length, (long long)k->positions);
    if (k->short_epochs > 0 && k->short_length >= k->length)
        return fail(ERR_USAGE, "%s: \"data.short_length\" is %lld, and later samples have no more (\"data.length\": %lld)", where,
                    (long long)k->short_length, (long long)k->length);
    if (r->label_smoothing > 0)
        return fail(ERR_USAGE, "%s: a masked piece is one piece: \"loss.label_smoothing\" must be 0", where);
    return net_modern_check(where, r, k->width, k->heads);
}

static const char *const also[] = {"bert-pretraining", NULL};
const struct recipe_table recipe_table_bert = {
    .task = "wiki-mlm", .also = also, .models = bert_models, .keys = keys, .parts = parts, .check = check_bert,
};
