// SPDX-License-Identifier: Apache-2.0
// Checks whether the packed archives and labels are the published ones.
//
// ImageNet's download page and torchvision have the MD5 of ImageNet's tars. torchvision also has the MD5 of Imagenette's
// archive. The labels are identified by a digest over two public lists that agree: the development kit's numbering (first
// lines 490, 361, 171) and the positions among the sorted ids, whose published MD5 is f31656d784908741c59ccb6823cf0bea.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/pack/origin.h"
#include "data/pack/origin_md5.h"
#include "data/read/imagenet/truth.h"
#include "runtime/common/base/arena.h"

static const struct published {
    const char *name;
    const char *md5[SPLIT_COUNT];  // of the archives; the second is NULL if one archive holds both splits
    const char *labels;            // NULL: the labels come from the folders in the archive
} published[] = {
    {"imagenet", {"1d675b47d978889d74fa0da5fadfb00e", "29b22e2961454d5413ddabcf34fc5622"},
     "2707a43f27dcd55fef87fbef0730966cb91c3aba99eb0c9e6f021217a553a3b1"},
    {"imagenette", {"e793b78cc4c9e9a4ccc0c1155377a412", NULL}, NULL},
};

static const struct published *find_published(const struct imagenet_flavour *flavour)
{
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        if (strcmp(published[i].name, flavour->name) == 0) return &published[i];
    BUG("a data set without published digests");
}

bool origin_is_official(const struct imagenet_flavour *flavour, const int64_t count[SPLIT_COUNT],
                        char md5[SPLIT_COUNT][MD5_HEX], const char *labels)
{
    const struct published *p = find_published(flavour);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        if (count[s] != flavour->count[s]) return false;
        if (strcmp(md5[s], p->md5[s] != NULL ? p->md5[s] : "") != 0) return false;
    }
    return p->labels == NULL || strcmp(labels, p->labels) == 0;
}

void origin_labels_digest(const struct listing *l, char hex[DIGEST_HEX])
{
    int64_t n = l->count[SPLIT_TEST];
    char *ids = zalloc((size_t)n * (SYNSETS_WNID + 1) + 1);
    bool each = true;  // each of the numbers from 1 to n occurs
    for (int64_t i = 0; i < n && each; i++) {
        const struct listed *picture = &l->picture[SPLIT_TEST][i];
        int64_t number = truth_number(picture->file, strlen(picture->file));
        each = number >= 1 && number <= n;
        if (!each) break;
        char *at = ids + (number - 1) * (SYNSETS_WNID + 1);
        memcpy(at, l->synsets->wnid[picture->label], SYNSETS_WNID);
        at[SYNSETS_WNID] = number < n ? '\n' : '\0';
    }
    if (each && n > 0) digest_bytes(ids, (size_t)n * (SYNSETS_WNID + 1) - 1, hex);
    else hex[0] = '\0';
    free(ids);
}

// Checks that the MD5s belong to the packed archives.
static int check_unchanged(const struct origin *o)
{
    for (int i = 0; i < o->archives; i++) {
        struct manifest_key now;
        TRY(manifest_key_of(o->archive[i], &now));
        if (memcmp(&now, &o->key[i], sizeof now) != 0)
            return fail(ERR_INPUT, "%s changed while it was packed: the same command starts again with the new files",
                        o->archive[i]);
    }
    return 0;
}

int origin_official(struct origin *o, bool *official, char says[ERROR_TEXT_MAX])
{
    const struct published *p = find_published(o->flavour);
    char md5[SPLIT_COUNT][MD5_HEX] = {"", ""}, labels[DIGEST_HEX];
    *official = false;
    if (o->archives == 0) {
        snprintf(says, ERROR_TEXT_MAX, "the source is folders, so nobody can tell whether they are the published archives");
        return 0;
    }
    for (int i = 0; i < o->archives; i++) TRY(origin_md5_of(o->md5, i, md5[i]));
    TRY(check_unchanged(o));
    origin_labels_digest(&o->listing, labels);
    *official = origin_is_official(o->flavour, o->listing.count, md5, labels);
    if (*official) {
        snprintf(says, ERROR_TEXT_MAX, "the source is %s as published", o->flavour->title);
        return 0;
    }
    int wrong = 0;
    while (wrong < o->archives && strcmp(md5[wrong], p->md5[wrong] != NULL ? p->md5[wrong] : "") == 0) wrong++;
    if (wrong < o->archives)
        snprintf(says, ERROR_TEXT_MAX, "%s has MD5 %s, which no published archive of %s has", o->archive[wrong], md5[wrong],
                 o->flavour->title);
    else
        snprintf(says, ERROR_TEXT_MAX, "the labels of the validation pictures differ from %s as published",
                 o->flavour->title);
    return 0;
}
