// SPDX-License-Identifier: Apache-2.0
// Drawn pairs of an English and a German sentence, for tests and trials. They need no download, and a small network learns them
// in seconds, but not by looking up words: German puts a place or a time first and the verb second, and its articles and
// adjectives follow the noun's gender and case.
//
// Everything depends on split and sample alone (draws.h). Cost: 10 ms for all of it.
#include <stdio.h>

#include "data/read/bitext/bitext_set.h"
#include "data/read/draws.h"
#include "runtime/common/base/text.h"

// Part of every digest. Raise the version with every change of a sentence.
enum { VERSION = 1, SEED = 20151129 };
static const int64_t samples_of[SPLIT_COUNT] = {6000, 500};

enum gender { MASCULINE, FEMININE, NEUTER };
static const struct noun {
    const char *english, *german;
    enum gender gender;
} nouns[] = {
    {"dog", "hund", MASCULINE},       {"boy", "jungen", MASCULINE},  {"man", "mann", MASCULINE},
    {"ball", "ball", MASCULINE},      {"baker", "bäcker", MASCULINE}, {"bird", "vogel", MASCULINE},
    {"tree", "baum", MASCULINE},      {"cat", "katze", FEMININE},     {"woman", "frau", FEMININE},
    {"goose", "gans", FEMININE},      {"flower", "blume", FEMININE},  {"bridge", "brücke", FEMININE},
    {"mouse", "maus", FEMININE},      {"teacher", "lehrerin", FEMININE}, {"child", "kind", NEUTER},
    {"horse", "pferd", NEUTER},       {"girl", "mädchen", NEUTER},    {"book", "buch", NEUTER},
    {"bicycle", "fahrrad", NEUTER},   {"sheep", "schaf", NEUTER},
};
static const char *const adjectives[][2] = {
    {"big", "groß"}, {"small", "klein"}, {"red", "rot"},      {"green", "grün"}, {"quick", "schnell"}, {"beautiful", "schön"},
    {"new", "neu"},  {"white", "weiß"},  {"strong", "stark"}, {"tired", "müd"},  {"quiet", "leis"},    {"young", "jung"},
};
static const char *const verbs[][2] = {
    {"sees", "sieht"},    {"chases", "jagt"}, {"carries", "trägt"}, {"finds", "findet"}, {"holds", "hält"},
    {"pushes", "schiebt"}, {"hears", "hört"}, {"loves", "liebt"},   {"seeks", "sucht"},  {"draws", "malt"},
    {"greets", "grüßt"},  {"follows", "begleitet"},
};
static const char *const places[][2] = {
    {"in the garden", "im garten"},      {"at the beach", "am strand"}, {"in front of the house", "vor dem haus"},
    {"on the street", "auf der straße"}, {"in the snow", "im schnee"},  {"under a tree", "unter einem baum"},
};
static const char *const times[][2] = {{"today", "heute"}, {"tonight", "heute abend"}, {"on sunday", "am sonntag"}};
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

// An article, perhaps an adjective, and a noun, in both languages. Ends of adjectives by article, case and gender.
static void draw_noun(struct draws *d, bool object, char english[64], char german[64])
{
    static const char *const article[2][2][3] = {{{"ein", "eine", "ein"}, {"einen", "eine", "ein"}},
                                                 {{"der", "die", "das"}, {"den", "die", "das"}}};
    static const char *const end[2][2][3] = {{{"er", "e", "es"}, {"en", "e", "es"}}, {{"e", "e", "e"}, {"en", "e", "e"}}};
    const struct noun *noun = &nouns[draws_below(d, COUNT(nouns))];
    int definite = draws_below(d, 2), which = draws_below(d, 2 * COUNT(adjectives));
    const char *name = !object && noun->german[0] == 'j' ? "junge" : noun->german;  // the one noun here whose accusative differs
    const char *of_german = article[definite][object][noun->gender], *of_english = definite ? "the" : "a";
    if (which >= COUNT(adjectives)) {
        snprintf(english, 64, "%s %s", of_english, noun->english);
        snprintf(german, 64, "%s %s", of_german, name);
        return;
    }
    snprintf(english, 64, "%s %s %s", of_english, adjectives[which][0], noun->english);
    snprintf(german, 64, "%s %s%s %s", of_german, adjectives[which][1], end[definite][object][noun->gender], name);
}

static void draw_pair(struct draws *d, struct text into[BITEXT_SIDES])
{
    char subject[2][64], object[2][64];
    draw_noun(d, false, subject[0], subject[1]);
    draw_noun(d, true, object[0], object[1]);
    const char *const *verb = verbs[draws_below(d, COUNT(verbs))];
    const char *const *place = places[draws_below(d, COUNT(places))], *const *time = times[draws_below(d, COUNT(times))];
    struct text *english = &into[BITEXT_SOURCE], *german = &into[BITEXT_TARGET];
    switch (draws_below(d, 3)) {
    case 0:
        text_add(english, "%s %s %s .\n", subject[0], verb[0], object[0]);
        text_add(german, "%s %s %s .\n", subject[1], verb[1], object[1]);
        return;
    case 1:
        text_add(english, "%s %s %s %s .\n", subject[0], verb[0], object[0], place[0]);
        text_add(german, "%s %s %s %s .\n", place[1], verb[1], subject[1], object[1]);
        return;
    default:
        text_add(english, "%s %s %s %s %s .\n", subject[0], verb[0], object[0], place[0], time[0]);
        text_add(german, "%s %s %s %s %s .\n", time[1], verb[1], subject[1], place[1], object[1]);
    }
}

static void phrases_published(struct dataset_facts *facts)
{
    facts->title = "drawn phrases";
    facts->synthetic = true;
    for (int s = 0; s < SPLIT_COUNT; s++) facts->count[s] = samples_of[s];
    bitext_fields(facts, 128);
}

static int draw_split(struct dataset *ds, enum split split)
{
    struct bitext_set *set = ds->own;
    struct text side[BITEXT_SIDES] = {{0}};
    for (int64_t i = 0; i < samples_of[split]; i++)
        draw_pair(&DRAWS(SEED, split, i), side);
    for (int k = 0; k < BITEXT_SIDES; k++)
        if (bitext_take(&set->file[split][k], "phrases", side[k].at, side[k].length) < 0) BUG("drawn phrases are text");
    return bitext_pair(ds, split, "phrases", "phrases");
}

static int phrases_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    ds->own = zalloc(sizeof(struct bitext_set));
    phrases_published(&ds->facts);
    kind_drawn(ds, VERSION, SEED);
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) TRY(draw_split(ds, s));
    return 0;
}

const struct kind phrases_kind = {
    .name = "phrases", .drawn = true, .published = phrases_published, .open = phrases_open, .close = bitext_close,
    .item = bitext_item, .lengths = bitext_lengths, .sample = "pair", .show = bitext_show,
};
