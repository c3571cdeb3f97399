// SPDX-License-Identifier: Apache-2.0
#include "data/read/wiki/wiki_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct wiki_articles *articles_of(const struct dataset *ds, enum split split)
{
    const struct wiki_set *set = ds->own;
    return &set->split[split];
}

void wiki_fields(struct dataset_facts *facts, int64_t longest)
{
    facts->field[0] = (struct field){"text", U8, SHAPE(longest), 0, 0};
    facts->fields = 1;
}

static void count_articles(struct dataset *ds)
{
    int64_t longest = 1;
    ds->facts.left_out = 0;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        const struct wiki_articles *a = articles_of(ds, s);
        ds->facts.count[s] = a->articles, ds->facts.left_out += a->empty;
        longest = a->longest > longest ? a->longest : longest;
    }
    wiki_fields(&ds->facts, longest);
}

int wiki_filled(struct dataset *ds)
{
    count_articles(ds);
    for (int s = 0; s < SPLIT_COUNT; s++)
        if (ds->facts.count[s] < 2)
            return fail(ERR_INPUT, "%s: the %s text is one article; a sentence of another one can only be drawn from two or more",
                        ds->facts.folder != NULL ? ds->facts.folder : ds->facts.name, split_name(s));
    return 0;
}

void wiki_close(struct dataset *ds)
{
    struct wiki_set *set = ds->own;
    if (set == NULL) return;
    for (int s = 0; s < SPLIT_COUNT; s++) wiki_free(&set->split[s]);
    free(set->folder);
    free(set);
}

int wiki_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into, size_t capacity,
              int64_t *length)
{
    const struct wiki_articles *a = articles_of(ds, split);
    *length = a->at[index + 1] - a->at[index];
    if ((size_t)*length > capacity) return kind_too_small(ds, split, field, index, *length, capacity);
    memcpy(into, a->text + a->at[index], (size_t)*length);
    return 0;
}

int wiki_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    const struct wiki_articles *a = articles_of(ds, split);
    (void)field;
    for (int64_t i = 0; i < a->articles; i++) lengths[i] = (int32_t)(a->at[i + 1] - a->at[i]);
    return 0;
}

int wiki_show(struct dataset *ds, enum split split, int64_t number, struct text *into)
{
    const struct wiki_articles *a = articles_of(ds, split);
    const char *at = a->text + a->at[number - 1], *end = a->text + a->at[number];
    for (int sentence = 1; at < end; sentence++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct text plain = {0};
        char label[32];
        text_plain(&plain, at, (size_t)(stop - at));
        snprintf(label, sizeof label, "%d", sentence);
        text_entry(into, label, "%s", plain.at);
        text_free(&plain);
        at = stop + 1;
    }
    return 0;
}

// ---- lines from the user

static void ask_close(struct dataset *ds)
{
    struct wiki_set *set = ds->own;
    memset(&set->split[SPLIT_TRAIN], 0, sizeof set->split[SPLIT_TRAIN]);  // another set owns it
    wiki_close(ds);
}

static const struct kind ask_kind = {.name = "lines", .close = ask_close, .item = wiki_item, .lengths = wiki_lengths};

bool wiki_is_asked(const struct dataset *ds)
{
    return ds->kind == &ask_kind;
}

static int take_lines(struct wiki_articles *into, const char *text, size_t n)
{
    int64_t number = 1;
    for (size_t at = 0; at < n; number++) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : n - at;
        char name[48];
        snprintf(name, sizeof name, "line %lld of the text", (long long)number);
        TRY(wiki_parse_lines(name, text + at, length, into));
        at += length + 1;
    }
    return number > 1 ? 0 : fail(ERR_INPUT, "the text has no line");
}

int wiki_ask(const struct dataset *like, const char *text, size_t n, struct dataset **into)
{
    struct dataset *ds = zalloc(sizeof *ds);
    struct wiki_set *set = ds->own = zalloc(sizeof *set);
    *ds = (struct dataset){.kind = &ask_kind, .own = set,
                           .facts = {.name = "lines", .title = "lines of a text", .split_name = {"train", "test"},
                                     .unfit_seed = -1}};
    int rc = take_lines(&set->split[SPLIT_TEST], text, n);
    if (rc == 0 && like != NULL && like->kind->item == wiki_item) {
        const struct wiki_set *of = like->own;
        set->split[SPLIT_TRAIN] = of->split[SPLIT_TRAIN];
        ds->facts.synthetic = like->facts.synthetic;
    }
    count_articles(ds);
    if (rc == 0) *into = ds;
    else dataset_close(ds);
    return rc;
}
