// SPDX-License-Identifier: Apache-2.0
// Questions in memory as the fields of a data set, from any source.
#include <stdlib.h>
#include <string.h>

#include "data/kind.h"
#include "data/read/squad/squad_parse.h"

const struct squad *squad_of(const struct dataset *ds, enum split split)
{
    const struct squad_set *set = ds->own;
    return ds->kind->item == squad_item ? &set->split[split] : NULL;
}

void squad_fields(struct dataset_facts *facts, int64_t context, int64_t question)
{
    facts->field[0] = (struct field){"contexts", U8, SHAPE(context), 0, 0};
    facts->field[1] = (struct field){"questions", U8, SHAPE(question), 0, 0};
    facts->field[2] = (struct field){"answers", I32, SHAPE(2), FIELD_FIXED, 0};
    facts->fields = 3;
}

void squad_fill_facts(struct dataset *ds)
{
    const struct squad_set *set = ds->own;
    int64_t context = 1, question = 1;
    for (int s = 0; s < SPLIT_COUNT; s++) {
        const struct squad *squad = &set->split[s];
        for (int64_t i = 0; i < squad->paragraphs; i++) {
            int64_t n = (int64_t)strlen(squad->context[i]);
            if (n > context) context = n;
        }
        for (int64_t i = 0; i < squad->questions; i++) {
            int64_t n = (int64_t)strlen(squad->question[i].text);
            if (n > question) question = n;
        }
        ds->facts.count[s] = squad->questions;
    }
    squad_fields(&ds->facts, context, question);
}

void squad_close(struct dataset *ds)
{
    struct squad_set *set = ds->own;
    if (set == NULL) return;
    arena_free(&set->arena);
    free(set->folder);
    free(set);
}

int squad_read(struct dataset *ds, enum split split, const struct field *field, int64_t first, int64_t count, void *into)
{
    const struct squad_set *set = ds->own;
    int32_t *pair = into;
    (void)field;  // there is one fixed field
    for (int64_t i = 0; i < count && into != NULL; i++) {
        const struct squad_answer *answer = set->split[split].question[first + i].answer;
        bool there = answer->start != SQUAD_NOWHERE;
        pair[2 * i] = (int32_t)answer->start;
        pair[2 * i + 1] = there ? (int32_t)(answer->start + (int64_t)strlen(answer->text)) : SQUAD_NOWHERE;
    }
    return 0;
}

static const char *text_of(const struct squad *squad, const struct field *field, int64_t index)
{
    const struct squad_question *question = &squad->question[index];
    return kind_field_is(field, "questions") ? question->text : squad->context[question->paragraph];
}

int squad_item(struct dataset *ds, enum split split, const struct field *field, int64_t index, void *into, size_t capacity,
               int64_t *length)
{
    const struct squad_set *set = ds->own;
    const char *text = text_of(&set->split[split], field, index);
    *length = (int64_t)strlen(text);
    if ((size_t)*length > capacity) return kind_too_small(ds, split, field, index, *length, capacity);
    memcpy(into, text, (size_t)*length);
    return 0;
}

int squad_lengths(struct dataset *ds, enum split split, const struct field *field, int32_t *lengths)
{
    const struct squad_set *set = ds->own;
    const struct squad *squad = &set->split[split];
    for (int64_t i = 0; i < squad->questions; i++) lengths[i] = (int32_t)strlen(text_of(squad, field, i));
    return 0;
}
