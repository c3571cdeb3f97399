// SPDX-License-Identifier: Apache-2.0
// Drawn articles about invented towns, for tests and trials. They need no download and have the form of WikiExtractor's. A town
// has a river, a fruit, an animal, a craft and a colour, which its sentences name again and again: a masked word follows from its
// sentence or from another one of the article, and a sentence of another article names other things.
//
// Everything depends on split and article alone (draws.h). Cost: 4 ms for all of it.
#include <stdio.h>

#include "data/read/draws.h"
#include "data/read/wiki/wiki_set.h"

// Part of every digest. Raise the version with every change of a sentence.
enum { VERSION = 1, SEED = 20181011 };
enum { PARAGRAPHS = 6, SENTENCES = 5 /* of a paragraph */, THINGS = 6, CHOICES = 12 };
static const int64_t articles_of[SPLIT_COUNT] = {240, 24};

static const char *const things[THINGS][CHOICES] = {
    {"Alba", "Brena", "Corvo", "Delmar", "Espera", "Fjordby", "Göring", "Halden", "Ilmen", "Jura", "Kolding", "Lumen"},
    {"Arva", "Bela", "Cinca", "Drau", "Elbe", "Fulda", "Gail", "Havel", "Isar", "Jalón", "Kocher", "Lahn"},
    {"apples", "plums", "pears", "cherries", "figs", "grapes", "lemons", "olives", "melons", "quinces", "almonds", "peaches"},
    {"storks", "goats", "horses", "otters", "geese", "sheep", "donkeys", "herons", "foxes", "owls", "beavers", "swans"},
    {"pottery", "weaving", "fishing", "mining", "printing", "baking", "brewing", "carving", "dyeing", "tanning", "milling",
     "sailing"},
    {"red", "white", "green", "yellow", "blue", "grey", "brown", "black", "orange", "pink", "purple", "golden"},
};
// %1$s: the town; then river, fruit, animals, craft and colour.
static const char *const sentences[] = {
    "%1$s is a town on the river %2$s.",
    "The people of %1$s live by %5$s, and some of them grow %3$s.",
    "Along the %2$s there are gardens full of %3$s.",
    "Most houses of %1$s have %6$s roofs.",
    "In spring the %4$s come to the banks of the %2$s.",
    "The flag of the town shows two %4$s on a %6$s ground.",
    "A school for %5$s was opened in %1$s by the mayor.",
    "Every autumn the market sells %3$s from the whole valley.",
    "Travellers like the old bridge over the %2$s.",
    "The museum of %5$s stands next to a %6$s tower.",
    "Children feed the %4$s behind the church.",
    "For many years %5$s was forbidden, and the town lived on %3$s!",
};
enum { FORMS = sizeof sentences / sizeof *sentences };

static void draw_article(struct draws *d, struct text *into)
{
    const char *of[THINGS];
    for (int i = 0; i < THINGS; i++) of[i] = things[i][draws_below(d, CHOICES)];
    text_add(into, "<doc id=\"%u\" url=\"\" title=\"%s\">\n%s\n", d->sample, of[0], of[0]);
    for (int p = 0; p < PARAGRAPHS; p++) {
        text_add(into, "\n");
        for (int s = 0; s < SENTENCES; s++) {
            char line[256];
            snprintf(line, sizeof line, sentences[draws_below(d, FORMS)], of[0], of[1], of[2], of[3], of[4], of[5]);
            text_add(into, "%s%s", s > 0 ? " " : "", line);
        }
        text_add(into, "\n");
    }
    text_add(into, "</doc>\n");
}

static void articles_published(struct dataset_facts *facts)
{
    facts->title = "drawn articles";
    facts->synthetic = true;
    for (int s = 0; s < SPLIT_COUNT; s++) facts->count[s] = articles_of[s];
    wiki_fields(facts, 1600);
}

static int articles_open(struct dataset *ds, const char *folder)
{
    struct wiki_set *set = ds->own = zalloc(sizeof *set);
    (void)folder;
    articles_published(&ds->facts);
    kind_drawn(ds, VERSION, SEED);
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) {
        struct text text = {0};
        for (int64_t i = 0; i < articles_of[s]; i++) draw_article(&DRAWS(SEED, s, i), &text);
        if (wiki_parse("articles", text.at, text.length, &set->split[s]) < 0) BUG("drawn articles have the form of articles");
        text_free(&text);
    }
    return wiki_filled(ds);
}

const struct kind articles_kind = {
    .name = "articles", .drawn = true, .published = articles_published, .open = articles_open, .close = wiki_close,
    .item = wiki_item, .lengths = wiki_lengths, .sample = "article", .show = wiki_show,
};
