// SPDX-License-Identifier: Apache-2.0
// MLPerf's sample of Wikipedia of January 2020: four files of WikiExtractor, of which the first three train and the last is
// scored.
#include <stdlib.h>

#include "data/fetch/source.h"
#include "data/read/wiki/wiki_set.h"

#define URL                                                                                                                     \
    "https://raw.githubusercontent.com/mlcommons/training/aa344c7fb900e82ed19fb94aebfed50c63ab2204/"                             \
    "retired_benchmarks/bert/cleanup_scripts/sample_data/"
enum { FILE_BYTES = 1 << 30 };

const struct source wiki_sample_source = {
    .name = "wiki-sample",
    .title = "MLPerf's sample of Wikipedia",
    .page = "https://github.com/mlcommons/training/tree/master/retired_benchmarks/bert",
    .part = {{.url = URL "wiki_00"}, {.url = URL "wiki_01"}, {.url = URL "wiki_02"}, {.url = URL "wiki_03"}},
    .folder = "wiki-sample",
    .file = {{"wiki_00", SPLIT_TRAIN, 1034712, "6d1a2760f0473258a2d34bf0ac303311a518c6ba717f73e299730e90bd865996"},
             {"wiki_01", SPLIT_TRAIN, 1028653, "ac1d7cc47a526ed0df0aa9e2a0e5526f076158e20c56bdb8885c26b541444f17"},
             {"wiki_02", SPLIT_TRAIN, 1040636, "a6603415eaf1de31fa793b5c7c6605ab1aebb12281c253be42c2e6750f5e2c4f"},
             {"wiki_03", SPLIT_TEST, 1038863, "0f58a4be4f3db09ddedcbca9f91309f8aebaa3cdc77f22bfb6a429b48095d637"}},
    .checked = "MLPerf publishes no digests. The SHA-256 are of the files in commit aa344c7 of its repository.",
};

// Without files the length of an article is the mean.
static void sample_published(struct dataset_facts *facts)
{
    facts->title = wiki_sample_source.title;
    facts->split_name[SPLIT_TEST] = "wiki_03";
    facts->count[SPLIT_TRAIN] = 120, facts->count[SPLIT_TEST] = 32;
    wiki_fields(facts, 25600);
}

static int read_file(struct wiki_set *set, const struct source_file *file)
{
    struct text path = {0};
    char *text = NULL;
    size_t n = 0;
    text_add(&path, "%s/%s", set->folder, file->name);
    int rc = file_read(path.at, FILE_BYTES, &text, &n);
    if (rc == 0) rc = wiki_parse(path.at, text, n, &set->split[file->split]);
    free(text);
    text_free(&path);
    return rc;
}

static int sample_open(struct dataset *ds, const char *given)
{
    struct wiki_set *set = ds->own = zalloc(sizeof *set);
    sample_published(&ds->facts);
    TRY(source_folder(ds->source, given, ds->source->file->name, &set->folder));
    ds->facts.folder = set->folder;
    for (const struct source_file *file = ds->source->file; file->name != NULL; file++) TRY(read_file(set, file));
    return wiki_filled(ds);
}

const struct kind wiki_sample_kind = {
    .name = "wiki-sample", .source = &wiki_sample_source, .published = sample_published, .open = sample_open, .close = wiki_close,
    .item = wiki_item, .lengths = wiki_lengths, .sample = "article", .show = wiki_show,
};
const struct kind *const kinds_wiki[] = {&wiki_sample_kind, &wiki_kind, &articles_kind, NULL};
