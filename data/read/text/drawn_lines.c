// SPDX-License-Identifier: Apache-2.0
// A drawn play, for tests and trials. It needs no download, and a small network learns it in seconds, but not by counting a few
// characters: two speakers take turns, a verb agrees with a noun three words before it, and an answer takes up the object of what
// was said.
//
// Everything depends on split and scene alone (draws.h). Cost: 10 ms for all of it.

#include "data/read/draws.h"
#include "data/read/text/corpus_set.h"
#include "runtime/common/base/arena.h"
#include "runtime/common/base/text.h"

// Part of every digest. Raise the version with every change of a line.
enum { VERSION = 1, SEED = 20151201 };
enum { BLOCK = 64, SYMBOLS = 43, SCENE_LINES = 4 };
static const size_t characters_of[SPLIT_COUNT] = {60000, 6001};

static const char *const speakers[] = {"ANNA", "BRUNO", "CLARA", "DAVID", "EMMA", "FELIX"};
static const char *const adjectives[] = {"old", "young", "quiet", "green", "tired", "golden", "small", "clever"};
static const char *const nouns[] = {"king", "river", "garden", "horse", "baker", "tower", "song", "winter", "bird", "letter"};
static const char *const verbs[] = {"love", "follow", "hear", "find", "remember", "paint", "fear", "greet"};
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

static void draw_scene(struct draws *d, struct text *into)
{
    int first = draws_below(d, COUNT(speakers)), second = (first + 1 + draws_below(d, COUNT(speakers) - 1)) % COUNT(speakers);
    int subject = draws_below(d, COUNT(nouns));
    for (int i = 0; i < SCENE_LINES; i++) {
        int many = draws_below(d, 2), object = draws_below(d, COUNT(nouns));
        const char *adjective = adjectives[draws_below(d, COUNT(adjectives))], *verb = verbs[draws_below(d, COUNT(verbs))];
        text_add(into, "%s:\nThe %s %s%s %s%s the %s.\n\n", speakers[i % 2 ? second : first], adjective, nouns[subject],
                 many ? "s" : "", verb, many ? "" : "s", nouns[object]);
        subject = object;
    }
}

static void lines_published(struct dataset_facts *facts)
{
    facts->title = "drawn lines";
    facts->synthetic = true;
    for (int s = 0; s < SPLIT_COUNT; s++) facts->count[s] = corpus_blocks((int64_t)characters_of[s], BLOCK);
    corpus_fields(facts, BLOCK, SYMBOLS);
}

static int lines_open(struct dataset *ds, const char *folder)
{
    (void)folder;
    struct corpus *c = ds->own = zalloc(sizeof *c);
    struct text play = {0};
    c->block = BLOCK;
    lines_published(&ds->facts);
    kind_drawn(ds, VERSION, SEED);
    for (uint32_t s = 0, all = 0; s < SPLIT_COUNT; s++) {
        all += (uint32_t)characters_of[s];
        for (uint32_t i = 0; play.length < all; i++) draw_scene(&DRAWS(SEED, s, i), &play);
        play.length = all;
    }
    if (corpus_take(ds, "lines", play.at, play.length, characters_of[SPLIT_TRAIN]) < 0) BUG("drawn lines are a text");
    BUG_IF(c->symbols.count != SYMBOLS);
    return 0;
}

const struct kind lines_kind = {
    .name = "lines", .drawn = true, .published = lines_published, .open = lines_open, .close = corpus_close,
    .item = corpus_item, .lengths = corpus_lengths, .sample = "block", .show = corpus_show,
};
