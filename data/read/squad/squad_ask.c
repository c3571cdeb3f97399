// SPDX-License-Identifier: Apache-2.0
// One question about a text, asked by the user, as a data set. It has no expected answer.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "data/kind.h"
#include "data/read/squad/squad_parse.h"

static const struct squad_answer unknown = {"", SQUAD_NOWHERE};

// The rules of the files: UTF-8 without a zero byte.
static int check_utf8(const char *what, const char *text, size_t n)
{
    json_t *string = strlen(text) == n ? json_stringn(text, n) : NULL;
    json_decref(string);
    return string ? 0 : fail(ERR_INPUT, "the %s is not text in UTF-8", what);
}

static const struct kind ask_kind = {.name = "question", SQUAD_KIND};

static char *copy_bytes(struct arena *arena, const char *text, size_t n)
{
    char *copy = arena_alloc(arena, n + 1);
    memcpy(copy, text, n);
    return copy;
}

static void fill_split(struct squad_set *set, const char *text, size_t n, const char *question)
{
    const char **context = arena_alloc(&set->arena, sizeof *context);
    struct squad_article *article = arena_alloc(&set->arena, sizeof *article);
    struct squad_question *asked = arena_alloc(&set->arena, sizeof *asked);
    *context = copy_bytes(&set->arena, text, n);
    *article = (struct squad_article){"question", 0, 1};
    *asked = (struct squad_question){.id = "question", .text = copy_bytes(&set->arena, question, strlen(question)),
                                     .answer = &unknown, .answers = 1};
    set->split[SPLIT_TEST] = (struct squad){.article = article, .articles = 1, .context = context, .paragraphs = 1,
                                            .question = asked, .questions = 1, .answers = 1};
}

int squad_ask(const struct dataset *like, const char *text, size_t n, const char *question, struct dataset **into)
{
    TRY(check_utf8("text", text, n));
    TRY(check_utf8("question", question, strlen(question)));
    struct dataset *ds = zalloc(sizeof *ds);
    struct squad_set *set = ds->own = zalloc(sizeof *set);
    const struct squad *train = like ? squad_of(like, SPLIT_TRAIN) : NULL;
    ds->kind = &ask_kind;
    ds->facts = (struct dataset_facts){.name = "question", .title = "a question", .unfit_seed = -1,
                                       .split_name = {"train", "test"}, .synthetic = like && dataset_facts(like)->synthetic};
    kind_known(ds, false);
    if (train) set->split[SPLIT_TRAIN] = *train;
    fill_split(set, text, n, question);
    squad_fill_facts(ds);
    *into = ds;
    return 0;
}
