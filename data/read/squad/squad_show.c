// SPDX-License-Identifier: Apache-2.0
// `dawn data show squad N`: one question, its answers, and its context with the first answer marked; and what `dawn data verify`
// says about the answers.
#include <string.h>

#include "data/read/squad/squad_parse.h"
#include "runtime/common/base/text.h"

static void add_answers(const struct squad_question *q, struct text *into)
{
    for (int i = 0; i < q->answers; i++) {
        const struct squad_answer *a = &q->answer[i];
        struct text words = {0};
        text_plain(&words, a->text, strlen(a->text));
        if (a->start == SQUAD_NOWHERE) text_add(&words, " (not where the file says)");
        else text_add(&words, " (bytes %lld to %lld)", (long long)a->start, (long long)a->start + (long long)strlen(a->text));
        text_entry(into, i == 0 ? "answers" : "", "%s", words.at);
        text_free(&words);
    }
}

static void add_context(const char *context, const struct squad_answer *a, struct text *into)
{
    struct text words = {0};
    size_t n = strlen(context), begin = a->start == SQUAD_NOWHERE ? n : (size_t)a->start;
    size_t length = begin == n ? 0 : strlen(a->text);
    text_plain(&words, context, begin);
    if (length > 0) {
        text_add(&words, ">>>");
        text_plain(&words, context + begin, length);
        text_add(&words, "<<<");
    }
    text_plain(&words, context + begin + length, n - begin - length);
    text_entry(into, "context", "%s", words.at);
    text_free(&words);
}

static const char *title_of(const struct squad *squad, int64_t paragraph, int64_t *number)
{
    int64_t i = 0;
    while (squad->article[i].first + squad->article[i].paragraphs <= paragraph) i++;
    *number = paragraph - squad->article[i].first + 1;
    return squad->article[i].title;
}

int squad_show(struct dataset *ds, enum split split, int64_t number, struct text *into)
{
    const struct squad *squad = squad_of(ds, split);
    const struct squad_question *q = &squad->question[number - 1];
    int64_t paragraph;
    const char *title = title_of(squad, q->paragraph, &paragraph);
    struct text from = {0}, question = {0};
    text_plain(&from, title, strlen(title));
    text_add(&from, ", paragraph %lld, id ", (long long)paragraph);
    text_plain(&from, q->id, strlen(q->id));
    text_plain(&question, q->text, strlen(q->text));
    text_entry(into, "from", "%s", from.at);
    text_entry(into, "question", "%s", question.at);
    add_answers(q, into);
    add_context(squad->context[q->paragraph], &q->answer[0], into);
    text_free(&from);
    text_free(&question);
    return 0;
}

void squad_remark(struct dataset *ds, enum split split, struct text *into)
{
    const struct squad *squad = squad_of(ds, split);
    if (squad->lost > 0)
        text_add(into, "%lld %s answers are not in their context; the first: %s\n", (long long)squad->lost,
                 dataset_facts(ds)->split_name[split], squad->lost_first);
}
