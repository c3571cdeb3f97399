// SPDX-License-Identifier: Apache-2.0
#include "data/read/bitext/bitext_set.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/text.h"

static const struct bitext_lines *lines_of(struct dataset *ds, enum split split, const struct field *field)
{
    struct bitext_set *set = ds->own;
    return &set->file[split][kind_field_is(field, "target") ? BITEXT_TARGET : BITEXT_SOURCE].lines;
}

void bitext_fields(struct dataset_facts *facts, int64_t longest)
{
    facts->field[0] = (struct field){"source", U8, SHAPE(longest), 0, 0};
    facts->field[1] = (struct field){"target", U8, SHAPE(longest), 0, 0};
    facts->fields = 2;
}

int bitext_take(struct bitext_file *file, const char *name, char *text, size_t n)
{
    file->text = text;
    return bitext_parse(name, text, n, &file->lines);
}

int bitext_match(const struct bitext_lines *a, const struct bitext_lines *b, const char *source, const char *target)
{
    if (a->lines == b->lines) return 0;
    return fail(ERR_INPUT, "%s has %lld line%s and %s has %lld; each line of one must translate that line of the other", source,
                (long long)a->lines, a->lines == 1 ? "" : "s", target, (long long)b->lines);
}

int bitext_pair(struct dataset *ds, enum split split, const char *source, const char *target)
{
    struct bitext_set *set = ds->own;
    for (int side = 0; side < BITEXT_SIDES; side++)
        if (set->file[split][side].name == NULL) set->file[split][side].name = copy_text(side == BITEXT_SOURCE ? source : target);
    const struct bitext_lines *a = &set->file[split][BITEXT_SOURCE].lines, *b = &set->file[split][BITEXT_TARGET].lines;
    TRY(bitext_match(a, b, source, target));
    int32_t longest = a->longest > b->longest ? a->longest : b->longest;
    ds->facts.count[split] = a->lines;
    if (ds->facts.fields == 0 || longest > ds->facts.field[0].shape.dim[0]) bitext_fields(&ds->facts, longest);
    return 0;
}

void bitext_close(struct dataset *ds)
{
    struct bitext_set *set = ds->own;
    if (set == NULL) return;
    for (int i = 0; i < SPLIT_COUNT * BITEXT_SIDES; i++) {
        free(set->file[i / BITEXT_SIDES][i % BITEXT_SIDES].name);
        free(set->file[i / BITEXT_SIDES][i % BITEXT_SIDES].text);
        free(set->file[i / BITEXT_SIDES][i % BITEXT_SIDES].lines.line);
    }
    free(set->folder);
    free(set->subtokens);
    free(set);
}

int bitext_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into, size_t capacity,
                int64_t *length)
{
    const struct bitext_line *line = &lines_of(ds, split, field)->line[index];
    *length = line->length;
    if ((size_t)line->length > capacity) return kind_too_small(ds, split, field, index, line->length, capacity);
    memcpy(into, line->at, (size_t)line->length);
    return 0;
}

int bitext_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    const struct bitext_lines *l = lines_of(ds, split, field);
    for (int64_t i = 0; i < l->lines; i++) lengths[i] = l->line[i].length;
    return 0;
}

const char *bitext_subtokens(const struct dataset *ds)
{
    const struct bitext_set *set = ds->kind->item == bitext_item ? ds->own : NULL;
    return set != NULL ? set->subtokens : NULL;
}

const char *bitext_file_name(const struct dataset *ds, enum split split, enum bitext_side side)
{
    const struct bitext_set *set = ds->kind->item == bitext_item ? ds->own : NULL;
    return set != NULL ? set->file[split][side].name : ds->facts.name;
}

int bitext_show(struct dataset *ds, enum split split, int64_t number, struct text *into)
{
    for (int i = 0; i < ds->facts.fields; i++) {
        const struct bitext_line *line = &lines_of(ds, split, &ds->facts.field[i])->line[number - 1];
        struct text words = {0};
        text_plain(&words, line->at, (size_t)line->length);
        text_entry(into, ds->facts.field[i].name, "%s", words.at);
        text_free(&words);
    }
    return 0;
}

// ---- lines from the user

static void ask_close(struct dataset *ds)
{
    struct bitext_set *set = ds->own;
    memset(set->file[SPLIT_TRAIN], 0, sizeof set->file[SPLIT_TRAIN]);  // another set owns it
    bitext_close(ds);
}

static const struct kind ask_kind = {.name = "lines", .close = ask_close, .item = bitext_item, .lengths = bitext_lengths};

static int take_lines(struct dataset *ds, const char *text, size_t n)
{
    struct bitext_set *set = ds->own;
    for (int side = 0; side < BITEXT_SIDES; side++) {
        struct bitext_file *file = &set->file[SPLIT_TEST][side];
        file->text = memcpy(zalloc(n + 1), text, n);
        TRY(bitext_cut("the text", file->text, n, &file->lines));
        for (int64_t i = 0; i < file->lines.lines; i++) TRY(bitext_check("the text", i + 1, &file->lines.line[i]));
    }
    return bitext_pair(ds, SPLIT_TEST, "the text", "the text");
}

int bitext_ask(const struct dataset *like, const char *text, size_t n, struct dataset **into)
{
    struct dataset *ds = zalloc(sizeof *ds);
    struct bitext_set *set = ds->own = zalloc(sizeof *set);
    *ds = (struct dataset){.kind = &ask_kind, .own = set,
                           .facts = {.name = "lines", .title = "lines of a text", .split_name = {"train", "text"},
                                     .unfit_seed = -1}};
    int rc = take_lines(ds, text, n);
    if (rc == 0 && like && like->kind->item == bitext_item) {
        const struct bitext_set *of = like->own;
        memcpy(set->file[SPLIT_TRAIN], of->file[SPLIT_TRAIN], sizeof set->file[SPLIT_TRAIN]);
        set->subtokens = of->subtokens != NULL ? copy_text(of->subtokens) : NULL;
        ds->facts.synthetic = like->facts.synthetic;
        rc = bitext_pair(ds, SPLIT_TRAIN, "", "");
    }
    if (rc == 0) *into = ds;
    else dataset_close(ds);
    return rc;
}
