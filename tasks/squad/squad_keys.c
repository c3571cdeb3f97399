// SPDX-License-Identifier: Apache-2.0
// The recipe keys of SQuAD: the sequences made from texts, and the shape of the model. The defaults follow BERT-base
// and FastFusionNet.
#include "tasks/squad/squad_keys.h"

#include "tasks/squad/network/layers.h"
#include "tasks/squad/network/squad_networks.h"
#include "tasks/squad/sample/buckets.h"
#include "tasks/squad/text/windows.h"

static const char *const parts[] = {"encoder of pieces", "vocabulary of its own", "recurrent layers"};
static const char *const cases[] = {"no", "yes", NULL};

#define OWN(field) RECIPE_OWN(struct squad_keys, field)
_Static_assert(sizeof(struct squad_keys) <= RECIPE_OWN_BYTES, "RECIPE_OWN_BYTES");
static const struct recipe_key keys[] = {
    {"data.length", NULL, KEY_WHOLE, OWN(length), 32, BUCKETS_LONGEST, NULL, "384",
     .about = "pieces of the longest sequence: question, context and three special ones; of words: of a context"},
    {"data.stride", NULL, KEY_WHOLE, OWN(stride), 1, BUCKETS_LONGEST, NULL, "128",
     .about = "distance between the windows of a long context, in pieces or words"},
    {"data.question", NULL, KEY_WHOLE, OWN(question), 1, BUCKETS_LONGEST, NULL, "64",
     .about = "pieces or words of a question that are read"},
    {"data.lower_case", NULL, KEY_CHOICE, OWN(lower_case), 0, 0, cases, "yes",
     .about = "the vocabulary has lower-case words without accents", .part = PART_ENCODER},
    {"data.vocabulary", NULL, KEY_WHOLE, OWN(vocabulary), 256, 1 << 20, NULL, "30522",
     .about = "largest vocabulary to make of the training texts without --vocab; rows of learned words without --vectors",
     .part = PART_WORDS},

    {"model.layers", NULL, KEY_WHOLE, OWN(layers), 1, 96, NULL, "12", .about = "of the encoder", .part = PART_ENCODER},
    {"model.width", NULL, KEY_WHOLE, OWN(width), 8, 16384, NULL, "768", .about = "numbers a piece", .part = PART_ENCODER},
    {"model.heads", NULL, KEY_WHOLE, OWN(heads), 1, 256, NULL, "12", .about = "of each attention", .part = PART_ENCODER},
    {"model.feed_forward", NULL, KEY_WHOLE, OWN(feed_forward), 8, 65536, NULL, "3072",
     .about = "width between the two matrix products of a layer", .part = PART_ENCODER},
    {"model.positions", NULL, KEY_WHOLE, OWN(positions), 32, BUCKETS_LONGEST, NULL, "512",
     .about = "rows of the table of positions; no sequence is longer", .part = PART_ENCODER},
    {"model.dropout", NULL, KEY_NUMBER, OWN(dropout), 0, 0.9, NULL, "0.1",
     .about = "dropout rate of activations and attention probabilities; of words: of the inputs of layers"},
    {"model.vectors", NULL, KEY_WHOLE, OWN(vectors), 1, 4096, NULL, "300", .about = "dimension of word vectors",
     .part = PART_RECURRENT},
    {"model.vectors_multiple", NULL, KEY_WHOLE, OWN(multiple), 1, 64, NULL, "1",
     .about = "pad vectors to a multiple of this length, vectors from a file with zeros; 8 suits GPU libraries",
     .part = PART_RECURRENT},
    {"model.tuned", NULL, KEY_WHOLE, OWN(tuned), 1, 1 << 20, NULL, "1000",
     .about = "number of frequent words of --vectors whose vectors are trained", .part = PART_RECURRENT},
    {"model.hidden", NULL, KEY_WHOLE, OWN(hidden), 1, 4096, NULL, "125",
     .about = "units of each direction of a recurrent layer", .part = PART_RECURRENT},
    {"model.recurrent_layers", NULL, KEY_WHOLE, OWN(recurrent), 1, LAYERS_MOST, NULL, "2",
     .about = "of each recurrent encoder", .part = PART_RECURRENT},
    {"model.word_dropout", NULL, KEY_NUMBER, OWN(word_dropout), 0, 0.9, NULL, "0.4",
     .about = "dropout rate of word vectors", .part = PART_RECURRENT},
    {.path = NULL},
};

static int check_encoder(const char *where, const struct recipe *r)
{
    const struct squad_keys *own = squad_keys(r);
    if (own->length > own->positions)
        return fail(ERR_USAGE, "%s: \"data.length\" is %lld, and there are %lld positions (\"model.positions\")", where,
                    (long long)own->length, (long long)own->positions);
    if (own->question + WINDOWS_SPECIAL >= own->length)
        return fail(ERR_USAGE, "%s: questions of %lld pieces (\"data.question\") leave no room in sequences of %lld", where,
                    (long long)own->question, (long long)own->length);
    if (own->width % own->heads)
        return fail(ERR_USAGE, "%s: a \"model.width\" of %lld cannot be shared by %lld heads (\"model.heads\")", where,
                    (long long)own->width, (long long)own->heads);
    return 0;
}

static int check_squad(const char *where, const struct recipe *r)
{
    if (recipe_has_part(r, PART_ENCODER)) TRY(check_encoder(where, r));
    if (r->label_smoothing > 0)
        return fail(ERR_USAGE, "%s: the beginning of an answer is one place: \"loss.label_smoothing\" must be 0", where);
    return 0;
}

static const char *const also[] = {"squad-split", NULL};
const struct recipe_table recipe_table_squad = {
    .task = "squad", .also = also, .models = squad_models, .keys = keys, .parts = parts, .check = check_squad,
};
