// SPDX-License-Identifier: Apache-2.0
// BCCD: 364 photographs of blood with boxes of red cells, white cells and platelets (github.com/Shenggan/BCCD_Dataset, MIT). The
// 292 of trainval.txt train, the 72 of test.txt are scored.
#include <stdlib.h>
#include <string.h>

#include "data/fetch/source.h"
#include "data/read/voc/voc_set.h"

static const char TRAIN[] = "ImageSets/Main/trainval.txt", TEST[] = "ImageSets/Main/test.txt";
static const char *const classes[] = {"RBC", "WBC", "Platelets", NULL};

static const struct source bccd_source = {
    .name = "bccd",
    .title = "BCCD",
    .page = "https://github.com/Shenggan/BCCD_Dataset",
    .part = {{.url = "https://raw.githubusercontent.com/Shenggan/BCCD_Dataset/d272fb14cdff6e473fafeeeba32aba5f560e9e43/BCCD",
              .bytes = 8795974}},
    .folder = "bccd",
    .list = "data/read/voc/bccd.txt",
    .content =
        {
            [SPLIT_TRAIN] = "f2854352b8aae56ef516543f419eb3cba369f6343a637485ac30d8db3d8df015",
            [SPLIT_TEST] = "5d742510e628ec44d2e60f9edc0c36d8d7e7a07d7c70a96c2e7e656001f16672",
        },
    .checked = "The author publishes no digests. The SHA-256 of the 730 files are from commit d272fb1 of the repository. "
               "The digest of a split is the SHA-256 of the lines \"SHA-256  NAME\" of its list, then of each annotation and "
               "photograph.",
};

static void bccd_published(struct dataset_facts *facts)
{
    facts->title = bccd_source.title;
    facts->count[SPLIT_TRAIN] = 292, facts->count[SPLIT_TEST] = 72;
    facts->split_name[SPLIT_TRAIN] = "trainval";
    voc_fields(facts, classes, 32 << 10, 0);
    memcpy(facts->mean, (float[]){0.7371f, 0.6959f, 0.7153f}, sizeof facts->mean);
    memcpy(facts->std, (float[]){0.0606f, 0.1020f, 0.0754f}, sizeof facts->std);
}

static int check_apart(const struct voc_set *set)
{
    const struct voc_split *train = &set->split[SPLIT_TRAIN], *test = &set->split[SPLIT_TEST];
    for (int64_t i = 0; i < train->count; i++)
        for (int64_t k = 0; k < test->count; k++)
            if (strcmp(train->sample[i].name, test->sample[k].name) == 0)
                return fail(ERR_INPUT, "%s is in %s and in %s", test->sample[k].name, TRAIN, TEST);
    return 0;
}

// The folder of the files, or the repository with the folder BCCD.
static int find_folder(const struct source *source, const char *given, char **found)
{
    if (source_find_folder("BCCD", given, TRAIN, found)) return 0;
    return source_folder(source, given, TRAIN, found);
}

static int bccd_open(struct dataset *ds, const char *given)
{
    struct voc_set *set = ds->own = zalloc(sizeof *set);
    bccd_published(&ds->facts);
    TRY(find_folder(ds->source, given, &set->folder));
    ds->facts.folder = set->folder, set->photographs = "JPEGImages", set->ending = ".jpg";
    TRY(voc_open_split(ds, SPLIT_TRAIN, TRAIN));
    TRY(voc_open_split(ds, SPLIT_TEST, TEST));
    TRY(check_apart(set));
    voc_filled(ds);
    return 0;
}

static const struct kind bccd_kind = {
    .name = "bccd", .source = &bccd_source, .published = bccd_published, .open = bccd_open, .close = voc_close, .read = voc_read,
    .item = voc_item, .lengths = voc_lengths, .sample_name = voc_sample_name, .digest = voc_digest, .content_digest = voc_digest,
    .verify = voc_verify, .remark = voc_remark, .sample = "picture", .show = voc_show, .draw = voc_draw, .whole = voc_whole,
};
const struct kind *const kinds_voc[] = {&bccd_kind, &cells_kind, &pennfudan_kind, &people_kind, NULL};
