// SPDX-License-Identifier: Apache-2.0
// The whole English Wikipedia of January 2020 in MLPerf's own form, the folder "results" of its preprocessed archive: a sentence
// per line, an empty line between articles, part-00000-of-00500 and so on to train, eval.txt to score. Fewer parts make a smaller
// set.
//
// MLPerf publishes MD5 of files, so a digest is SHA-256 of these: "wiki test MD5". Of the parts it names a few only, so the
// training text is not checked, and the contest leaves it free. Cost: opening reads, checks and copies all of it.
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "data/fetch/source.h"
#include "data/pack/md5.h"
#include "data/read/wiki/wiki_set.h"

static const char EVALUATION[] = "eval.txt", EVALUATION_MD5[] = "2a220f790517261547b1b45ed3ada07a", PART[] = "part-";
enum { FILE_BYTES = INT32_MAX };

static void whole_published(struct dataset_facts *facts)
{
    facts->title = "Wikipedia, as MLPerf's BERT reads it";
    facts->split_name[SPLIT_TEST] = "eval.txt";
    facts->count[SPLIT_TRAIN] = 6000000, facts->count[SPLIT_TEST] = 10000;  // about
    wiki_fields(facts, 2200);
}

static int read_file(struct dataset *ds, enum split split, const char *name, struct text *digest)
{
    struct wiki_set *set = ds->own;
    struct text path = {0};
    char *text = NULL, hex[MD5_HEX];
    size_t n = 0;
    text_add(&path, "%s/%s", set->folder, name);
    int rc = file_read(path.at, FILE_BYTES, &text, &n);
    if (rc == 0) {
        md5_of(text, n, hex);
        text_add(digest, " %s", hex);
        if (split == SPLIT_TEST) kind_known(ds, strcmp(hex, EVALUATION_MD5) == 0);
        rc = wiki_parse_lines(path.at, text, n, &set->split[split]);
    }
    free(text);
    text_free(&path);
    return rc;
}

static int is_part(const struct dirent *entry)
{
    return strncmp(entry->d_name, PART, strlen(PART)) == 0;
}

static int byte_order(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_split(struct dataset *ds, enum split split)
{
    const struct wiki_set *set = ds->own;
    struct dirent **entry = NULL;
    struct text digest = {0};
    int rc = 0, count = split == SPLIT_TRAIN ? scandir(set->folder, &entry, is_part, byte_order) : 0;
    text_add(&digest, "wiki %s", split_name(split));
    if (split == SPLIT_TEST) rc = read_file(ds, split, EVALUATION, &digest);
    else if (count < 1) rc = fail(ERR_MISSING, "%s has no %s00000-of-00500 and the like (docs/language.md)", set->folder, PART);
    for (int i = 0; i < count; i++) {
        if (rc == 0) rc = read_file(ds, split, entry[i]->d_name, &digest);
        free(entry[i]);
    }
    free(entry);
    if (rc == 0) digest_bytes(digest.at, digest.length, ds->digest[split]);
    text_free(&digest);
    return rc;
}

static int whole_open(struct dataset *ds, const char *given)
{
    struct wiki_set *set = ds->own = zalloc(sizeof *set);
    whole_published(&ds->facts);
    if (!source_find_folder("wiki", given, EVALUATION, &set->folder))
        return fail(ERR_MISSING, "there is no wiki in %s: %s is missing, a file of MLPerf's preprocessed text "
                    "(docs/language.md); --data names its folder", given, EVALUATION);
    ds->facts.folder = set->folder;
    for (enum split s = SPLIT_TRAIN; s < SPLIT_COUNT; s++) TRY(read_split(ds, s));
    return wiki_filled(ds);
}

const struct kind wiki_kind = {
    .name = "wiki", .elsewhere = "not downloaded: MLPerf hands its files out (docs/language.md)", .published = whole_published,
    .open = whole_open, .close = wiki_close, .item = wiki_item, .lengths = wiki_lengths, .sample = "article", .show = wiki_show,
};
