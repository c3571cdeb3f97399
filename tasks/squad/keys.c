// SPDX-License-Identifier: Apache-2.0
// The recipe keys of SQuAD: the sequences made from texts, and the shape of the model. The defaults are those of BERT-base
// and FastFusionNet.
#include "tasks/squad/keys.h"

#include "tasks/squad/network/layers.h"
#include "tasks/squad/sample/buckets.h"
#include "tasks/squad/text/windows.h"

#include <string.h>

enum { ENCODER = 1, OWN_WORDS = 2, RECURRENT = 4 };
static const char *const parts[] = {"encoder of pieces", "vocabulary of its own", "recurrent layers"};
static const struct recipe_model models[] = {
    {"bert", ENCODER}, {"encoder", ENCODER | OWN_WORDS}, {"fastfusionnet", OWN_WORDS | RECURRENT},
    {"drqa", OWN_WORDS | RECURRENT}, {NULL, 0}};
static const char *const cases[] = {"no", "yes", NULL};

#define NUMBER(own) RECIPE_OWN(own, number)
#define WHOLE(own) RECIPE_OWN(own, whole)
static const struct recipe_key keys[] = {
    {"data.length", NULL, KEY_WHOLE, WHOLE(OWN_LENGTH), 32, BUCKETS_LONGEST, NULL, "384",
     .about = "pieces of the longest sequence: question, context and three special ones; of words: of a context"},
    {"data.stride", NULL, KEY_WHOLE, WHOLE(OWN_STRIDE), 1, BUCKETS_LONGEST, NULL, "128",
     .about = "distance between the windows of a long context, in pieces or words"},
    {"data.question", NULL, KEY_WHOLE, WHOLE(OWN_QUESTION), 1, BUCKETS_LONGEST, NULL, "64",
     .about = "pieces or words of a question that are read"},
    {"data.lower_case", NULL, KEY_CHOICE, RECIPE_OWN(OWN_LOWER_CASE, choice), 0, 0, cases, "yes",
     .about = "the vocabulary has lower-case words without accents", .part = ENCODER},
    {"data.vocabulary", NULL, KEY_WHOLE, WHOLE(OWN_VOCABULARY), 256, 1 << 20, NULL, "30522",
     .about = "largest vocabulary to make of the training texts without --vocab; rows of learned words without --vectors",
     .part = OWN_WORDS},

    {"model.layers", NULL, KEY_WHOLE, WHOLE(OWN_LAYERS), 1, 96, NULL, "12", .about = "of the encoder", .part = ENCODER},
    {"model.width", NULL, KEY_WHOLE, WHOLE(OWN_WIDTH), 8, 16384, NULL, "768", .about = "numbers a piece", .part = ENCODER},
    {"model.heads", NULL, KEY_WHOLE, WHOLE(OWN_HEADS), 1, 256, NULL, "12", .about = "of each attention", .part = ENCODER},
    {"model.feed_forward", NULL, KEY_WHOLE, WHOLE(OWN_FEED_FORWARD), 8, 65536, NULL, "3072",
     .about = "width between the two matrix products of a layer", .part = ENCODER},
    {"model.positions", NULL, KEY_WHOLE, WHOLE(OWN_POSITIONS), 32, BUCKETS_LONGEST, NULL, "512",
     .about = "rows of the table of positions; no sequence is longer", .part = ENCODER},
    {"model.dropout", NULL, KEY_NUMBER, NUMBER(OWN_DROPOUT), 0, 0.9, NULL, "0.1",
     .about = "dropout rate of activations and attention probabilities; of words: of the inputs of layers"},
    {"model.vectors", NULL, KEY_WHOLE, WHOLE(OWN_VECTORS), 1, 4096, NULL, "300", .about = "dimension of word vectors",
     .part = RECURRENT},
    {"model.vectors_multiple", NULL, KEY_WHOLE, WHOLE(OWN_MULTIPLE), 1, 64, NULL, "1",
     .about = "pad vectors to a multiple of this length, vectors from a file with zeros; 8 suits GPU libraries",
     .part = RECURRENT},
    {"model.tuned", NULL, KEY_WHOLE, WHOLE(OWN_TUNED), 1, 1 << 20, NULL, "1000",
     .about = "number of frequent words of --vectors whose vectors are trained", .part = RECURRENT},
    {"model.hidden", NULL, KEY_WHOLE, WHOLE(OWN_HIDDEN), 1, 4096, NULL, "125",
     .about = "units of each direction of a recurrent layer", .part = RECURRENT},
    {"model.recurrent_layers", NULL, KEY_WHOLE, WHOLE(OWN_RECURRENT), 1, LAYERS_MOST, NULL, "2",
     .about = "of each recurrent encoder", .part = RECURRENT},
    {"model.word_dropout", NULL, KEY_NUMBER, NUMBER(OWN_WORD_DROPOUT), 0, 0.9, NULL, "0.4",
     .about = "dropout rate of word vectors", .part = RECURRENT},
    {.path = NULL},
};

static bool is_recurrent(const struct recipe *r)
{
    const struct recipe_model *m = models;
    while (m->name && strcmp(m->name, r->model)) m++;
    return m->parts & RECURRENT;
}

static int check_encoder(const char *where, const struct recipe *r)
{
    int64_t length = r->own[OWN_LENGTH].whole, question = r->own[OWN_QUESTION].whole, width = r->own[OWN_WIDTH].whole;
    int64_t heads = r->own[OWN_HEADS].whole;
    if (length > r->own[OWN_POSITIONS].whole)
        return fail(ERR_USAGE, "%s: \"data.length\" is %lld, and there are %lld positions (\"model.positions\")", where,
                    (long long)length, (long long)r->own[OWN_POSITIONS].whole);
    if (question + WINDOWS_SPECIAL >= length)
        return fail(ERR_USAGE, "%s: questions of %lld pieces (\"data.question\") leave no room in sequences of %lld", where,
                    (long long)question, (long long)length);
    if (width % heads)
        return fail(ERR_USAGE, "%s: a \"model.width\" of %lld cannot be shared by %lld heads (\"model.heads\")", where,
                    (long long)width, (long long)heads);
    return 0;
}

static int check_squad(const char *where, const struct recipe *r)
{
    if (!is_recurrent(r)) TRY(check_encoder(where, r));
    if (r->label_smoothing > 0)
        return fail(ERR_USAGE, "%s: the beginning of an answer is one place: \"loss.label_smoothing\" must be 0", where);
    return 0;
}

const struct recipe_table recipe_table_squad = {
    .task = "squad", .also = "squad-split", .models = models, .keys = keys, .parts = parts, .check = check_squad,
};
