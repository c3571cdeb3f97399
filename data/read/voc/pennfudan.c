// SPDX-License-Identifier: Apache-2.0
// Penn-Fudan: 170 photographs of streets with 423 people and their masks (Wang et al. 2007), as PNGImages/NAME.png and
// PedMasks/NAME_mask.png. The authors publish no division: of the names in order, of each of the two places (FudanPed, PennPed)
// by itself, every third is scored, from the first on, and the others train. Boxes are what the masks reach; the folder
// Annotation is not read.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/fetch/source.h"
#include "data/folder.h"
#include "data/image/head.h"
#include "data/read/voc/masks.h"
#include "data/read/voc/voc_set.h"

enum { EVERY = 3 };
static const char FIRST[] = "PNGImages/FudanPed00001.png", ENDING[] = ".png";
static const char *const classes[] = {"person", NULL};

static const struct source pennfudan_source = {
    .name = "pennfudan",
    .title = "Penn-Fudan",
    .page = "https://www.cis.upenn.edu/~jshi/ped_html",
    .part = {{.url = "https://raw.githubusercontent.com/gmguarino/PennFudan/4d34ade817620786f55ef379ac51534d4d6ea218/data/"
                     "PennFudanPed",
              .bytes = 53664443}},
    .folder = "pennfudan",
    .list = "data/read/voc/pennfudan.txt",
    .content =
        {
            [SPLIT_TRAIN] = "e4be0971ded2f42d63b350e5e33a417b735b6e811bb01f17a530ddae3c4335d4",
            [SPLIT_TEST] = "fcb9a7d0bafdb0bb4c607504eee15d91601af35599a703a13edd8ff9b144144f",
        },
    .checked = "The authors publish no digests. The SHA-256 of the 340 files are those of commit 4d34ade of a repository that "
               "has them. The digest of a split is that of the lines \"SHA-256  NAME\" of its photographs, each followed by its "
               "mask.",
};

static void pennfudan_published(struct dataset_facts *facts)
{
    facts->title = pennfudan_source.title;
    facts->count[SPLIT_TRAIN] = 113, facts->count[SPLIT_TEST] = 57;
    voc_fields(facts, classes, 1 << 20, 1 << 19);
    memcpy(facts->mean, (float[]){0.4358f, 0.4395f, 0.4007f}, sizeof facts->mean);
    memcpy(facts->std, (float[]){0.2614f, 0.2487f, 0.2554f}, sizeof facts->std);
}

// ---- files

static int read_mask(struct voc_set *set, struct voc_sample *s, struct text *lines)
{
    char *bytes = NULL, name[VOC_NAME + 32];
    size_t count;
    snprintf(name, sizeof name, "PedMasks/%s_mask.png", s->name);
    int rc = voc_read_file(set, name, lines, &bytes, &count);
    if (rc < 0) return fail_prefix(rc, "each photograph in PNGImages requires its mask in PedMasks: ");
    rc = masks_parse(name, (const uint8_t *)bytes, count, &s->is, &s->labels);
    free(bytes);
    return voc_named(set, rc);
}

static int read_sample(struct voc_set *set, struct voc_sample *s, struct text *lines)
{
    struct head head;
    char *bytes = NULL, name[VOC_NAME + 32];
    size_t count;
    snprintf(name, sizeof name, "PNGImages/%s.png", s->name);
    TRY(voc_read_file(set, name, lines, &bytes, &count));
    s->jpeg = (uint8_t *)bytes, s->bytes = (int64_t)count;
    TRY(voc_named(set, head_read(name, s->jpeg, count, &head)));
    TRY(read_mask(set, s, lines));
    if (head.width == s->is.width && head.height == s->is.height) return 0;
    return fail(ERR_INPUT, "%s/%s has %d x %d pixels, and its mask, PedMasks/%s_mask.png, %d x %d", set->folder, name,
                head.width, head.height, s->name, s->is.width, s->is.height);
}

static bool is_photograph(const char *name)
{
    size_t length = strlen(name), ending = sizeof ENDING - 1;
    return length > ending && length - ending < VOC_NAME && strcmp(name + length - ending, ENDING) == 0;
}

// Letters at the start of a name: the place where its photograph was taken.
static bool same_place(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] == b[i] && a[i] > '9') i++;
    return a[i] <= '9' && b[i] <= '9';
}

static int read_samples(struct dataset *ds, const struct folder *folder)
{
    struct voc_set *set = ds->own;
    struct text lines[SPLIT_COUNT] = {{0}};
    int rc = 0;
    for (int s = 0; s < SPLIT_COUNT; s++) set->split[s].sample = zalloc((size_t)folder->count * sizeof *set->split[s].sample);
    for (int i = 0, number = 0; i < folder->count && rc == 0; i++, number++) {
        const char *name = folder->entry[i]->d_name;
        if (i > 0 && !same_place(name, folder->entry[i - 1]->d_name)) number = 0;
        enum split which = number % EVERY == 0 ? SPLIT_TEST : SPLIT_TRAIN;
        struct voc_split *split = &set->split[which];
        struct voc_sample *s = &split->sample[split->count++];
        snprintf(s->name, sizeof s->name, "%.*s", (int)(strlen(name) - (sizeof ENDING - 1)), name);
        rc = read_sample(set, s, &lines[which]);
    }
    for (int s = 0; s < SPLIT_COUNT; s++) {
        if (rc == 0 && set->split[s].count == 0) rc = fail(ERR_INPUT, "PNGImages has too few photographs for two splits");
        if (rc == 0) digest_bytes(lines[s].at, lines[s].length, set->digest[s]);
        text_free(&lines[s]);
    }
    return rc;
}

// The folder of the files, or the repository with the folder PennFudanPed.
static int find_folder(const struct source *source, const char *given, char **found)
{
    if (source_find_folder("PennFudanPed", given, FIRST, found)) return 0;
    return source_folder(source, given, FIRST, found);
}

static int pennfudan_open(struct dataset *ds, const char *given)
{
    struct voc_set *set = ds->own = zalloc(sizeof *set);
    struct folder folder = {0};
    struct text path = {0};
    pennfudan_published(&ds->facts);
    TRY(find_folder(ds->source, given, &set->folder));
    ds->facts.folder = set->folder, set->photographs = "PNGImages", set->ending = ENDING;
    text_add(&path, "%s/PNGImages", set->folder);
    int rc = folder_list(path.at, FOLDER_BY_BYTES, &folder);
    text_free(&path);
    TRY(rc);
    folder_keep(&folder, is_photograph);
    rc = read_samples(ds, &folder);
    folder_end(&folder);
    if (rc == 0) voc_filled(ds);
    return rc;
}

const struct kind pennfudan_kind = {
    .name = "pennfudan", .source = &pennfudan_source, .published = pennfudan_published, .open = pennfudan_open,
    .close = voc_close, .read = voc_read, .item = voc_item, .lengths = voc_lengths, .sample_name = voc_sample_name,
    .digest = voc_digest,
    .content_digest = voc_digest, .verify = voc_verify, .sample = "picture", .show = voc_show, .draw = voc_draw,
    .whole = voc_whole,
};
