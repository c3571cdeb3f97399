// SPDX-License-Identifier: Apache-2.0
// Every use of the generator (rng.h): where it is in the sources, and which counters it takes. Two uses that can have the same
// key take disjoint counters, or one draw would be in two permutations, masks or weights at once.
#include "test/unit/test.h"
#include "test/unit/fixture_folders.h"

#include "data/feed/order.h"
#include "data/pack/packer.h"
#include "runtime/common/base/rng.h"

// ---- the uses

// KEY_RUN: chosen by a person
enum key { KEY_RUN, KEY_NOISE, KEY_PICTURES, KEY_IMAGES, KEY_STORIES, KEY_PHRASES, KEY_PIECES, KEY_PAIRS, KEY_LINES, KEY_CASES,
           KEY_ARTICLES, KEY_CLOZE, KEY_CELLS, KEY_PEOPLE, KEY_CHORDS, KEY_VOICES, KEY_DIGITS,
           KEY_FEATURES, KEY_SCORED, KEY_PLAYOUTS, KEY_GO_GAMES, KEY_GO_OPENINGS };
// Those that differ are never in one training.
enum only { EVERYWHERE, RESIDENT, ALTERNATE, DECODED, BLOCKS, LADDER, VALUES, BOXED, PARTS, SPOKEN };

struct range {
    uint32_t least, most;
};
#define ANY_WORD {0, UINT32_MAX}

struct use {
    const char *name;
    uint32_t purpose;     // the low byte of word 2
    struct range above;   // the bytes above
    struct range block;   // word 3
    enum key key;
    enum only only;
    bool site;            // `above` is the site of a node, of which a graph has one each (test_squad_model proves it)
};
enum {
    INIT_FLAT, INIT_BELL, ORDER_SAMPLES, ORDER_CUT, ORDER_PAGES, ORDER_GROWN, PACK, FLIP_EACH, FLIP_ONCE, FLIP_DECODED, CROP,
    CROP_DECODED, JITTER, DROPOUT, ATTENTION, RANDOM,
    SHIFT, WRITING, NOISE, NOISE_LENGTHS, PICTURES, IMAGES, STORIES, PHRASES, PIECES, PAIRS, LINES, CASE_VALUES, CASE_LADDER,
    ARTICLES, CLOZE, SENTENCE_PAIRS, SENTENCE_ORDER, SENTENCE_MASKS, SCORED_PAIRS, SCORED_ORDER, SCORED_MASKS, CELLS, PEOPLE,
    VIEW_BOXED, FLIP_BOXED, PART_BOXED, COLOURS_BOXED, CHORDS, VOICES, SPECTRA, DIGITS, FEATURES, SCORED_NOISE,
    PLAYOUTS, PLAYED, PLAYED_GO, LEAVES_GO, GO_GAMES, GO_OPENINGS, USES, NO_USE
};
enum { CROP_TRIES = 10, PART_TRIES = 128 };
static const struct use uses[USES] = {
    [INIT_FLAT] = {"uniform weights", RNG_INIT, {0, 0}, {0, 0}},
    [INIT_BELL] = {"normal weights", RNG_INIT, {0, 0}, {1, 1}},
    [ORDER_SAMPLES] = {"order of samples", RNG_ORDER, {0, 0}, {0, 0}},
    [ORDER_CUT] = {"order of batches", RNG_ORDER, {0, 0}, {1, 1}},
    [ORDER_PAGES] = {"order of pages", RNG_ORDER, {0, 0}, {2, 2}},
    [ORDER_GROWN] = {"samples of a growing set", RNG_ORDER, {0, 0}, {3, 3}},
    [PACK] = {"order of a pack", RNG_PACK, {0, 0}, {0, 0}},
    [FLIP_EACH] = {"flips", RNG_FLIP, {0, 0}, {0, 0}, .only = RESIDENT},
    [FLIP_ONCE] = {"alternating flips", RNG_FLIP, {0, 0}, {0, 0}, .only = ALTERNATE},  // the recipe chooses one of the two
    [FLIP_DECODED] = {"flips of decoded pictures", RNG_FLIP, {0, 0}, {0, 0}, .only = DECODED},
    [CROP] = {"crops", RNG_CROP, {0, 0}, {0, 0}, .only = RESIDENT},
    [CROP_DECODED] = {"crops of decoded pictures", RNG_CROP, {0, 0}, {0, CROP_TRIES - 1}, .only = DECODED},
    [JITTER] = {"colours", RNG_JITTER, {0, 0}, {0, 0}, .only = RESIDENT},
    [DROPOUT] = {"dropout", RNG_DROPOUT, {0, 0xffffff}, ANY_WORD, .site = true},
    [ATTENTION] = {"dropout of attention", RNG_DROPOUT, {0, 0xffffff}, ANY_WORD, .site = true},
    [RANDOM] = {"random numbers", RNG_RANDOM, {0, 0xffffff}, ANY_WORD, .site = true},
    [SHIFT] = {"where an epoch's blocks begin", RNG_CROP, {0, 0}, {0, 0}, .only = BLOCKS},
    [WRITING] = {"tokens that are written", RNG_WRITE, {0, 0}, {0, 0}},
    [NOISE] = {"noise", RNG_SYNTHETIC, {0, DATASET_FIELDS - 1}, {0, UINT32_MAX - 1}, KEY_NOISE},
    [NOISE_LENGTHS] = {"lengths of noise", RNG_SYNTHETIC, {0, 0}, {UINT32_MAX, UINT32_MAX}, KEY_NOISE},
    [PICTURES] = {"sizes of pictures", RNG_SYNTHETIC, {0, 0}, {0, 0}, KEY_PICTURES},
    [IMAGES] = {"drawn images", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_IMAGES},
    [STORIES] = {"stories", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_STORIES},
    [PHRASES] = {"phrases", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_PHRASES},
    [PIECES] = {"noise of texts", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_PIECES},
    [PAIRS] = {"noise of pairs", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_PAIRS},
    [ARTICLES] = {"articles", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_ARTICLES},
    [CLOZE] = {"noise of masked texts", RNG_SYNTHETIC, {0, 0}, {0, 0}, KEY_CLOZE},
    [SENTENCE_PAIRS] = {"pairs of texts", RNG_SENTENCES, {0, 0}, ANY_WORD},
    [SENTENCE_ORDER] = {"order of articles", RNG_SENTENCES, {1, 1}, ANY_WORD},
    [SENTENCE_MASKS] = {"masks", RNG_SENTENCES, {2, 2}, ANY_WORD},
    [SCORED_PAIRS] = {"pairs of scored texts", RNG_SENTENCES, {3, 3}, ANY_WORD},
    [SCORED_ORDER] = {"order of scored texts", RNG_SENTENCES, {4, 4}, ANY_WORD},
    [SCORED_MASKS] = {"masks of scored texts", RNG_SENTENCES, {5, 5}, ANY_WORD},
    [CELLS] = {"drawn cells", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_CELLS},
    [PEOPLE] = {"drawn people", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_PEOPLE},
    [VIEW_BOXED] = {"views of pictures with boxes", RNG_CROP, {0, 0}, {0, 0}, .only = BOXED},
    [PART_BOXED] = {"parts of pictures with boxes", RNG_CROP, {0, 0}, {0, 2 * PART_TRIES - 1}, .only = PARTS},
    [COLOURS_BOXED] = {"colours of pictures with boxes", RNG_JITTER, {0, 0}, {0, 1}, .only = BOXED},
    [FLIP_BOXED] = {"flips of pictures with boxes", RNG_FLIP, {0, 0}, {0, 0}, .only = BOXED},
    [CHORDS] = {"drawn chords", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_CHORDS},
    [VOICES] = {"voices of chords", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_VOICES},
    [DIGITS] = {"drawn digits", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_DIGITS},
    [FEATURES] = {"weights of random features", RNG_SYNTHETIC, {0, 0}, {0, 0}, KEY_FEATURES},
    [SPECTRA] = {"augmented spectra", RNG_JITTER, {0, 0}, {0, 16}, .only = SPOKEN},
    [SCORED_NOISE] = {"noise of scored pictures", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_SCORED},
    [PLAYOUTS] = {"random playouts", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_PLAYOUTS},
    [PLAYED] = {"noise and moves of games", RNG_PLAY, {0, 0}, {0, 2}},
    [PLAYED_GO] = {"resigning, and gamma numbers of 82 moves", RNG_PLAY, {0, 0}, {3, 3 + 82 * 16}},
    [LEAVES_GO] = {"symmetries of leaves", RNG_PLAY, {0, 0}, {1 << 16, (1 << 16) + 1000}},
    [GO_GAMES] = {"random games of the opponent in Go", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_GO_GAMES},
    [GO_OPENINGS] = {"openings and positions of Go", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_GO_OPENINGS},
    [LINES] = {"drawn lines", RNG_SYNTHETIC, {0, 0}, ANY_WORD, KEY_LINES},
    [CASE_VALUES] = {"values of cases", RNG_TEST, {0, 0}, {0, 0}, KEY_CASES, .only = VALUES},
    [CASE_LADDER] = {"ladders of cases", RNG_TEST, {0, 0}, {0, 0}, KEY_CASES, .only = LADDER},
};

static bool overlap(const struct range *a, const struct range *b)
{
    return a->least <= b->most && b->least <= a->most;
}

// Words 0 and 1 (sample and epoch) take all values in every use. A constant key may be chosen as a run's seed, too.
static bool may_meet(const struct use *a, const struct use *b)
{
    bool key = a->key == b->key || a->key == KEY_RUN || b->key == KEY_RUN;
    bool apart = a->only != b->only && a->only != EVERYWHERE && b->only != EVERYWHERE;
    if (!key || apart || (a->site && b->site)) return false;
    return a->purpose == b->purpose && overlap(&a->above, &b->above) && overlap(&a->block, &b->block);
}

TEST(no_two_uses_share_a_counter)
{
    for (int a = 0; a < USES; a++) {
        assert_true(uses[a].name != NULL && uses[a].purpose > 0 && uses[a].purpose < 256);
        for (int b = 0; b < a; b++)
            if (may_meet(&uses[a], &uses[b])) fail_msg("%s and %s share counters", uses[a].name, uses[b].name);
    }
    struct use old = uses[PACK];  // of packs of version 1
    old.purpose = RNG_ORDER;
    assert_true(may_meet(&old, &uses[ORDER_SAMPLES]));
    assert_false(may_meet(&old, &uses[ORDER_PAGES]));
}

// ---- the sources

// Lines of a source that name a purpose, in the order of the file; several uses on one line are no exception here.
struct mention {
    const char *file, *purpose;
    int lines;
    int use[2];
};
static const struct mention mentions[] = {
    {"data/audio/augment.c", "RNG_JITTER", 1, {SPECTRA, NO_USE}},
    {"data/feed/order.c", "RNG_ORDER", 4, {ORDER_SAMPLES, ORDER_CUT}},  // and ORDER_PAGES, ORDER_GROWN
    {"data/image/crop.c", "RNG_CROP", 1, {CROP_DECODED, NO_USE}},
    {"data/image/crop.c", "RNG_FLIP", 1, {FLIP_DECODED, NO_USE}},
    {"data/image/jitter.c", "RNG_JITTER", 2, {COLOURS_BOXED, NO_USE}},
    {"data/pack/packer.c", "RNG_PACK", 1, {PACK, NO_USE}},
    {"data/read/draws.h", "RNG_SYNTHETIC", 1, {IMAGES, NO_USE}},  // on behalf of all that say DRAWS(seed, split, sample)
    {"data/read/draws.h", "DRAWS(", 1, {IMAGES, NO_USE}},
    {"data/read/noise.c", "RNG_SYNTHETIC", 2, {NOISE, NOISE_LENGTHS}},
    {"data/read/pictures.c", "RNG_SYNTHETIC", 1, {PICTURES, NO_USE}},
    {"data/read/go/go_opponent.c", "DRAWS(", 3, {GO_GAMES, GO_OPENINGS}},
    {"data/read/mnist/digits.c", "DRAWS(", 1, {DIGITS, NO_USE}},
    {"data/read/speech/chords.c", "DRAWS(", 2, {CHORDS, VOICES}},
    {"data/read/squad/stories.c", "DRAWS(", 1, {STORIES, NO_USE}},
    {"data/read/bitext/phrases.c", "DRAWS(", 1, {PHRASES, NO_USE}},
    {"data/read/synthetic.c", "DRAWS(", 2, {IMAGES, NO_USE}},
    {"data/read/voc/cells.c", "DRAWS(", 1, {CELLS, NO_USE}},
    {"data/read/voc/people.c", "DRAWS(", 1, {PEOPLE, NO_USE}},
    {"data/read/wiki/articles.c", "DRAWS(", 1, {ARTICLES, NO_USE}},
    {"data/read/text/drawn_lines.c", "DRAWS(", 1, {LINES, NO_USE}},
    {"runtime/cases/cases.c", "RNG_TEST", 2, {CASE_VALUES, CASE_LADDER}},
    {"runtime/cpu/loops/loops_attention.c", "RNG_DROPOUT", 1, {ATTENTION, NO_USE}},
    {"runtime/cpu/loops/loops_element.c", "RNG_DROPOUT", 1, {DROPOUT, NO_USE}},
    {"runtime/cpu/loops/loops_element.c", "RNG_RANDOM", 1, {RANDOM, NO_USE}},
    {"runtime/cpu/product/pairs_scores.c", "RNG_DROPOUT", 1, {ATTENTION, NO_USE}},
    {"runtime/element.h", "RNG_CROP", 1, {CROP, NO_USE}},
    {"runtime/element.h", "RNG_DROPOUT", 1, {DROPOUT, ATTENTION}},
    {"runtime/element.h", "RNG_FLIP", 2, {FLIP_EACH, FLIP_ONCE}},
    {"runtime/element.h", "RNG_JITTER", 1, {JITTER, NO_USE}},
    {"runtime/element.h", "RNG_RANDOM", 1, {RANDOM, NO_USE}},
    {"runtime/slot.c", "RNG_INIT", 2, {INIT_FLAT, INIT_BELL}},
    {"tasks/bert/cloze.c", "RNG_SYNTHETIC", 1, {CLOZE, NO_USE}},
    {"tasks/common/words/sentence_pairs.c", "RNG_SENTENCES", 1, {SENTENCE_PAIRS, SENTENCE_ORDER}},  // and the other four
    {"tasks/detection/overlap_crop.c", "RNG_CROP", 2, {PART_BOXED, NO_USE}},
    {"tasks/detection/photos.c", "RNG_CROP", 1, {VIEW_BOXED, NO_USE}},
    {"tasks/detection/photos.c", "RNG_FLIP", 1, {FLIP_BOXED, NO_USE}},
    {"tasks/gpt/blocks.c", "RNG_CROP", 1, {SHIFT, NO_USE}},
    {"tasks/play/chance.c", "RNG_PLAY", 1, {PLAYED, PLAYED_GO}},
    {"tasks/play/match.c", "RNG_PLAY", 1, {LEAVES_GO, NO_USE}},
    {"tasks/play/playouts.c", "DRAWS(", 1, {PLAYOUTS, NO_USE}},
    {"tasks/squad/text/texts.c", "RNG_SYNTHETIC", 1, {PIECES, NO_USE}},
    {"tasks/tools/infer/infer_write.c", "RNG_WRITE", 1, {WRITING, NO_USE}},
    {"tasks/wgan/lenet.c", "RNG_SYNTHETIC", 1, {FEATURES, NO_USE}},
    {"tasks/translation/pairs.c", "RNG_SYNTHETIC", 1, {PAIRS, NO_USE}},
    {"tasks/wgan/wgan_feed.c", "RNG_SYNTHETIC", 1, {SCORED_NOISE, NO_USE}},
};
enum { PLACES = sizeof mentions / sizeof mentions[0] };
static int found[PLACES];

// Calls without a purpose on their line: in noise.c, where it is a variable.
static const char nameless_file[] = "data/read/noise.c";
static int nameless;

static void count_line(const char *file, char *line)
{
    char *comment = strstr(line, "//");
    if (comment != NULL) *comment = '\0';
    const char *purpose = strstr(line, "RNG_");
    if (purpose == NULL) purpose = strstr(line, "DRAWS(");
    if (purpose == NULL) {
        if (strstr(line, "rng_draw(") == NULL && strstr(line, "rng_philox(") == NULL) return;
        if (strcmp(file, nameless_file) != 0) fail_msg("%s draws without naming its purpose on the line: %s", file, line);
        nameless++;
        return;
    }
    for (int i = 0; i < PLACES; i++) {
        size_t n = strlen(mentions[i].purpose);
        if (strcmp(file, mentions[i].file) != 0 || strncmp(purpose, mentions[i].purpose, n) != 0) continue;
        found[i]++;
        return;
    }
    fail_msg("%s uses the generator, and this test does not know how: %s", file, line);
}

static int count_file(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)ftw;
    const char *end = strrchr(path, '.');
    bool source = kind == FTW_F && end != NULL && strchr("chi", end[1]) != NULL;  // c, cc, cu, cuh, h, inc
    if (!source || strcmp(path, "runtime/common/base/rng.h") == 0) return 0;
    FILE *file = fopen(path, "r");
    char line[512];
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) count_line(path, line);
    fclose(file);
    return 0;
}

// A new use fails here until it is listed above, and then has to prove itself.
TEST(every_use_is_listed)
{
    static const char *const rooms[] = {"runtime", "data", "tasks", "submit", "scoreboard"};
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) assert_int_equal(nftw(rooms[i], count_file, 16, FTW_PHYS), 0);
    bool listed[USES + 2] = {[ORDER_PAGES] = true, [ORDER_GROWN] = true};
    for (int u = SENTENCE_MASKS; u <= SCORED_MASKS; u++) listed[u] = true;
    for (int i = 0; i < PLACES; i++) {
        if (found[i] != mentions[i].lines)
            fail_msg("%s has %d lines with %s, not %d", mentions[i].file, found[i], mentions[i].purpose, mentions[i].lines);
        listed[mentions[i].use[0]] = listed[mentions[i].use[1]] = true;
    }
    for (int u = 0; u < USES; u++) assert_true(listed[u]);
    assert_int_equal(nameless, 1);
}

// The keys that are constants differ from each other.
TEST(constant_keys_differ)
{
    static const struct {
        const char *file, *text;
    } keys[] = {{"data/read/noise.c", "NOISE_SEED = "},        {"data/read/pictures.c", "PICTURES_SEED = "},
                {"data/read/synthetic.c", "SYNTHETIC_SEED "},  {"data/read/squad/stories.c", " SEED = "},
                {"data/read/bitext/phrases.c", " SEED = "},    {"data/read/text/drawn_lines.c", " SEED = "},
                {"data/read/wiki/articles.c", " SEED = "},     {"data/read/voc/cells.c", " SEED = "},
                {"tasks/wgan/wgan_feed.c", "SCORED_SEED "},
                {"data/read/voc/people.c", " SEED = "},        {"data/read/speech/chords.c", " SEED = "},
                {"data/read/speech/chords.c", "VOICES_SEED = "}, {"data/read/mnist/digits.c", " SEED = "},
                {"tasks/bert/cloze.c", "NOISE_SEED = "}, {"tasks/squad/text/texts.c", "NOISE_SEED = "},
                {"tasks/translation/pairs.c", "NOISE_SEED = "}, {"tasks/wgan/lenet.c", "DRAWN_SEED = "},
                {"tasks/play/playouts.c", "PLAYOUTS_SEED = "}, {"data/read/go/go_opponent.c", "GAMES_SEED = "},
                {"data/read/go/go_opponent.c", "OPENINGS_SEED = "}};
    enum { KEYS = sizeof keys / sizeof keys[0] };
    unsigned long value[KEYS];
    for (int i = 0; i < KEYS; i++) {
        char *text;
        size_t count;
        assert_int_equal(file_read(keys[i].file, 1 << 20, &text, &count), 0);
        const char *found_at = strstr(text, keys[i].text);
        assert_non_null(found_at);
        value[i] = strtoul(found_at + strlen(keys[i].text), NULL, 0);
        assert_true(value[i] > 0);
        free(text);
        for (int k = 0; k < i; k++) assert_true(value[i] != value[k]);
    }
}

// ---- a pack and the first epochs with its seed

// Neighbours of equal class, in a pack of 10 classes with PER_CLASS pictures each, read in the order of an epoch.
enum { PER_CLASS = 12, PICTURES_ALL = 10 * PER_CLASS };
static int count_neighbours(struct dataset *ds, uint64_t seed, uint32_t epoch)
{
    struct order *o;
    int32_t label[PICTURES_ALL];
    int alike = 0;
    assert_int_equal(order_new(&(struct order_choice){.count = PICTURES_ALL, .buckets = 1, .batch = {10}}, &o), 0);
    order_draw(o, seed, epoch, 0);
    assert_int_equal(dataset_read(ds, SPLIT_TRAIN, "labels", 0, PICTURES_ALL, label), 0);
    for (int i = 0; i + 1 < PICTURES_ALL; i++) alike += label[order_samples(o)[i]] == label[order_samples(o)[i + 1]];
    order_free(o);
    return alike;
}

// 11 of 119 neighbours are expected to be alike, with a deviation of 3.2. Class by class 110 are.
TEST_WITH(no_epoch_undoes_a_pack, set_up, leave)
{
    make_pictures("src", PER_CLASS, 1);
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct packer_choice choice = {.flavour = imagenet_flavour("imagenette"), .from = in("src"), .to = in("p.dawnpack"),
                                       .quality = 90, .seed = seed};
        struct packer_report report;
        struct dataset *ds;
        assert_int_equal(packer_run(&choice, &report), 0);
        assert_int_equal(dataset_open("imagenette", in("p.dawnpack"), &ds), 0);
        for (uint32_t epoch = 0; epoch < 3; epoch++) assert_in_range(count_neighbours(ds, seed, epoch), 0, 11 + 6 * 4);
        dataset_close(ds);
        assert_int_equal(unlink(in("p.dawnpack")), 0);
    }
}
