// SPDX-License-Identifier: Apache-2.0
// The published files of SQuAD 1.1, and the split of the smaller file by article.
//
// A file is read once, digested and parsed. So a run trains on the digested bytes, and no digest is remembered between runs.
// A split's digest is its file's SHA-256, which is published. For squad-split it is the SHA-256 of a line with the file's digest
// and the split, because both splits come from one file.
#include "data/read/squad/squad_kind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/fetch/source.h"
#include "data/kind.h"
#include "data/read/squad/squad_parse.h"
#include "runtime/common/base/text.h"

enum { FOLDS = 6, FOLD = 3 };  // squad-split: articles at positions FOLD modulo FOLDS of the sorted titles

static const struct source_file *file_of(enum split split)
{
    return &squad_source.file[split];
}

// ---- files

static int read_file(struct squad_set *set, const char *name, struct squad *squad, char hex[DIGEST_HEX])
{
    struct text path = {0};
    char *bytes = NULL;
    size_t count = 0;
    text_add(&path, "%s/%s", set->folder, name);
    int rc = file_read(path.at, SQUAD_BYTES, &bytes, &count);
    if (rc == 0) rc = squad_parse(path.at, bytes, count, &set->arena, squad);
    if (rc == 0) digest_bytes(bytes, count, hex);
    free(bytes);
    text_free(&path);
    return rc;
}

// ---- squad

static void squad_published(struct dataset_facts *facts)
{
    facts->title = squad_source.title;
    facts->split_name[SPLIT_TEST] = "dev";
    facts->count[SPLIT_TRAIN] = 87599;
    facts->count[SPLIT_TEST] = 10570;
    squad_fields(facts, 4096, 512);
}

static int squad_open(struct dataset *ds, const char *given)
{
    struct squad_set *set = ds->own = zalloc(sizeof *set);
    bool official = true;
    squad_published(&ds->facts);
    TRY(source_folder(ds->source, given, file_of(SPLIT_TRAIN)->name, &set->folder));
    for (int s = 0; s < SPLIT_COUNT; s++) {
        TRY(read_file(set, file_of(s)->name, &set->split[s], ds->digest[s]));
        official = official && strcmp(ds->digest[s], file_of(s)->sha256) == 0;
    }
    kind_known(ds, official);
    ds->facts.folder = set->folder;
    squad_fill_facts(ds);
    return 0;
}

const struct kind squad_kind = {
    .name = "squad", .source = &squad_source, .published = squad_published, .open = squad_open, SQUAD_KIND};

// ---- squad-split

struct titled {
    const char *title;
    int64_t article;
};

static int by_title(const void *a, const void *b)
{
    const struct titled *x = a, *y = b;
    int order = strcmp(x->title, y->title);
    return order != 0 ? order : (x->article > y->article) - (x->article < y->article);
}

// held[i]: article i belongs to validation.
static bool *hold_articles(const struct squad *all)
{
    struct titled *sorted = zalloc((size_t)all->articles * sizeof *sorted);
    bool *held = zalloc((size_t)all->articles * sizeof *held);
    for (int64_t i = 0; i < all->articles; i++) sorted[i] = (struct titled){all->article[i].title, i};
    qsort(sorted, (size_t)all->articles, sizeof *sorted, by_title);
    for (int64_t i = 0; i < all->articles; i++) held[sorted[i].article] = i % FOLDS == FOLD;
    free(sorted);
    return held;
}

// Takes the articles for which held[i] is `wanted`, in the order of the file. Texts are shared, tables are new.
static void take_articles(struct arena *arena, const struct squad *all, const bool *held, bool wanted, struct squad *into)
{
    struct squad_article *article = arena_alloc(arena, (size_t)all->articles * sizeof *article);
    const char **context = arena_alloc(arena, (size_t)all->paragraphs * sizeof *context);
    struct squad_question *question = arena_alloc(arena, (size_t)all->questions * sizeof *question);
    int64_t next = 0;  // questions have the order of their paragraphs
    *into = (struct squad){.article = article, .context = context, .question = question};
    for (int64_t i = 0; i < all->articles; i++) {
        const struct squad_article *from = &all->article[i];
        int64_t moved = into->paragraphs - from->first, behind = from->first + from->paragraphs;
        for (; next < all->questions && all->question[next].paragraph < behind; next++) {
            if (held[i] != wanted) continue;
            struct squad_question *q = &question[into->questions++];
            *q = all->question[next];
            q->paragraph += moved;
            into->answers += q->answers;
            for (int k = 0; k < q->answers; k++) into->lost += q->answer[k].start == SQUAD_NOWHERE;
        }
        if (held[i] != wanted) continue;
        article[into->articles++] = (struct squad_article){from->title, into->paragraphs, from->paragraphs};
        memcpy(context + into->paragraphs, all->context + from->first, (size_t)from->paragraphs * sizeof *context);
        into->paragraphs += from->paragraphs;
    }
    if (into->lost > 0) into->lost_first = all->lost_first;
}

static void split_published(struct dataset_facts *facts)
{
    facts->title = "SQuAD 1.1 dev, split by article";
    facts->split_name[SPLIT_TEST] = "validation";
    facts->count[SPLIT_TRAIN] = 8896;
    facts->count[SPLIT_TEST] = 1674;
    squad_fields(facts, 4096, 512);
}

static void split_digest(const char *of_file, enum split split, char hex[DIGEST_HEX])
{
    char line[160];
    int n = snprintf(line, sizeof line, "squad-split 1 %s of %s", split_name(split), of_file);
    digest_bytes(line, (size_t)n, hex);
}

static int split_open(struct dataset *ds, const char *given)
{
    struct squad_set *set = ds->own = zalloc(sizeof *set);
    struct squad all;
    char hex[DIGEST_HEX];
    const struct source_file *file = file_of(SPLIT_TEST);
    split_published(&ds->facts);
    TRY(source_folder(ds->source, given, file->name, &set->folder));
    TRY(read_file(set, file->name, &all, hex));
    bool *held = hold_articles(&all);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        take_articles(&set->arena, &all, held, s == SPLIT_TEST, &set->split[s]);
        split_digest(hex, s, ds->digest[s]);
    }
    free(held);
    for (int s = 0; s < SPLIT_COUNT; s++) {
        if (set->split[s].questions == 0)
            return fail(ERR_INPUT, "%s/%s has too few articles to split: none with a question is left for %s", set->folder,
                        file->name, s == SPLIT_TEST ? "validation" : "training");
    }
    kind_known(ds, strcmp(hex, file->sha256) == 0);
    ds->facts.folder = set->folder;
    squad_fill_facts(ds);
    return 0;
}

const struct kind squad_split_kind = {
    .name = "squad-split", .source = &squad_source, .published = split_published, .open = split_open, SQUAD_KIND,
    .elsewhere = "made of a file of squad, which \"dawn data fetch squad\" downloads"};
