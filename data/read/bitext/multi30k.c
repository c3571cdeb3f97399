// SPDX-License-Identifier: Apache-2.0
// Multi30k (Elliott et al. 2016), task 1: captions of photographs in English and German. The tokenised files in lower case, so
// that published scores compare and no tokenizer is needed. The kind "multi30k-val" has the validation files as its test split,
// so that people can choose settings without looking at the test.
#include <stdlib.h>

#include "data/fetch/source.h"
#include "data/read/bitext/bitext_set.h"
#include "runtime/common/base/text.h"

#define URL "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/tok/"

// Source and target of the training, the test and the validation.
const struct source multi30k_source = {
    .name = "multi30k",
    .title = "Multi30k",
    .page = "https://github.com/multi30k/dataset",
    .part = {{.url = URL "train.lc.norm.tok.en"}, {.url = URL "train.lc.norm.tok.de"},
             {.url = URL "test_2016_flickr.lc.norm.tok.en"}, {.url = URL "test_2016_flickr.lc.norm.tok.de"},
             {.url = URL "val.lc.norm.tok.en"}, {.url = URL "val.lc.norm.tok.de"}},
    .folder = "multi30k",
    .file = {{"train.lc.norm.tok.en", SPLIT_TRAIN, 1837696,
              "08925f8e0572bcd5a006702fc5fe20e2d77c6917d4eebd576fc20de6693c2119"},
             {"train.lc.norm.tok.de", SPLIT_TRAIN, 2150008,
              "cb5a23529b65ec2061f1dc446192a9c37382b63cc75f81a0be59d34894b3a505"},
             {"test_2016_flickr.lc.norm.tok.en", SPLIT_TEST, 63307,
              "5b7f32627cf99eced828311b955dae9800bb52bc8b91cf8b6526829e605b29d2"},
             {"test_2016_flickr.lc.norm.tok.de", SPLIT_TEST, 71917,
              "c6a33d39d48f9f510de147651316cd9d918e09ad0219df734a2f16b6baccacc4"},
             {"val.lc.norm.tok.en", SPLIT_COUNT, 64608,
              "46573ce391ae227f1c72f873392436a20ef18e0a6d518098cfbd70b77c8572ec"},
             {"val.lc.norm.tok.de", SPLIT_COUNT, 77273,
              "97232bd273eceb7207f689527386a97e4be2616b18ada47576bdaf96c8ae1f00"}},
    .checked = "The authors publish no digests. The SHA-256 are of the files in commit a3d2e0d of the authors' repository.",
};

static void multi30k_published(struct dataset_facts *facts)
{
    facts->title = multi30k_source.title;
    facts->split_name[SPLIT_TEST] = "test 2016";
    facts->count[SPLIT_TRAIN] = 29000, facts->count[SPLIT_TEST] = 1000;
    bitext_fields(facts, 512);
}

static void val_published(struct dataset_facts *facts)
{
    multi30k_published(facts);
    facts->title = "Multi30k, scored on its validation text";
    facts->split_name[SPLIT_TEST] = "validation";
    facts->count[SPLIT_TEST] = 1014;
}

static int read_side(struct bitext_set *set, const struct source_file *file, struct bitext_file *into)
{
    struct text path = {0};
    char *text = NULL;
    size_t n = 0;
    text_add(&path, "%s/%s", set->folder, file->name);
    into->name = path.at;
    TRY(file_read(path.at, BITEXT_BYTES, &text, &n));
    return bitext_take(into, path.at, text, n);
}

static int multi30k_open(struct dataset *ds, const char *given)
{
    struct bitext_set *set = ds->own = zalloc(sizeof *set);
    const struct source_file *all = ds->source->file, *of[] = {all, all + (ds->kind == &multi30k_kind ? 2 : 4)};
    ds->kind->published(&ds->facts);
    ds->facts.fields = 0;
    TRY(source_folder(ds->source, given, all->name, &set->folder));
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) {
        for (int side = 0; side < BITEXT_SIDES; side++) TRY(read_side(set, &of[s][side], &set->file[s][side]));
        TRY(bitext_pair(ds, s, of[s][BITEXT_SOURCE].name, of[s][BITEXT_TARGET].name));
    }
    ds->facts.folder = set->folder;
    return 0;
}

// The source's files without a split are the validation text.
static int val_digest(struct dataset *ds, enum split split, char hex[DIGEST_HEX])
{
    return source_digest(ds, split == SPLIT_TEST ? SPLIT_COUNT : split, hex);
}

// The published bytes, but no contest's: their scores are for choosing, and no board takes them.
static int val_verify(struct dataset *ds, bool read, enum dataset_verdict *verdict)
{
    TRY(source_verify(ds, read, verdict));
    *verdict = DATASET_CUSTOM;
    return 0;
}

#define SHARED                                                                                                       \
    .source = &multi30k_source, .open = multi30k_open, .close = bitext_close, .item = bitext_item, .lengths = bitext_lengths, \
    .sample = "pair", .show = bitext_show
const struct kind multi30k_kind = {.name = "multi30k", .published = multi30k_published, SHARED};
const struct kind multi30k_val_kind = {
    .name = "multi30k-val", .elsewhere = "made of files of multi30k, which \"dawn data fetch multi30k\" downloads",
    .published = val_published, .digest = val_digest, .content_digest = val_digest,
    .verify = val_verify, SHARED,
};
const struct kind *const kinds_bitext[] = {&multi30k_kind, &multi30k_val_kind, &wmt16_kind, &wmt17_kind, &phrases_kind, NULL};
