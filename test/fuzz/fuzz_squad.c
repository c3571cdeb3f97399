// SPDX-License-Identifier: Apache-2.0
// Any bytes as SQuAD's JSON. An accepted file is whole: every position is in its context, every index inside its table. Each
// answer, evaluated against itself, is exact.
#include "data/read/squad/squad_parse.h"
#include "tasks/squad/evaluate.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    struct arena arena = {0};
    struct squad squad;
    if (squad_parse("questions", (const char *)bytes, count, &arena, &squad) < 0) {
        BUG_IF(strncmp(error_text(), "questions", 9) != 0);
        arena_free(&arena);
        return 0;
    }
    int64_t paragraphs = 0, answers = 0, lost = 0;
    for (int64_t i = 0; i < squad.articles; i++) {
        BUG_IF(squad.article[i].first != paragraphs || squad.article[i].paragraphs < 0);
        paragraphs += squad.article[i].paragraphs;
    }
    BUG_IF(paragraphs != squad.paragraphs || squad.questions < 1);
    for (int64_t i = 0; i < squad.questions; i++) {
        const struct squad_question *q = &squad.question[i];
        BUG_IF(q->paragraph < 0 || q->paragraph >= paragraphs || q->answers < 1 || q->text == NULL || *q->id == '\0');
        const char *context = squad.context[q->paragraph];
        for (int k = 0; k < q->answers; k++) {
            const struct squad_answer *a = &q->answer[k];
            size_t length = strlen(a->text);
            lost += a->start == SQUAD_NOWHERE;
            BUG_IF(a->start != SQUAD_NOWHERE && (a->start < 0 || (size_t)a->start + length > strlen(context) ||
                                                 memcmp(context + a->start, a->text, length) != 0));
            BUG_IF(i < 16 && !evaluate_pair(a->text, a->text).exact);
        }
        answers += q->answers;
    }
    BUG_IF(answers != squad.answers || lost != squad.lost || (lost > 0) != (squad.lost_first != NULL));
    arena_free(&arena);
    return 0;
}
