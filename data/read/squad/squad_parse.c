// SPDX-License-Identifier: Apache-2.0
// {"version": "1.1", "data": [{"title", "paragraphs": [{"context", "qas": [{"id", "question", "answers":
//   [{"text", "answer_start"}]}]}]}]}
//
// The JSON is walked twice: once to count, once to copy. answer_start counts code points. A table with the byte of every
// 256th code point makes it cheap to find one in a context of any length.
#include "data/read/squad/squad_parse.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { STRIDE = 256 };

struct reader {
    struct arena *arena;
    struct squad_article *article;
    const char **context;
    struct squad_question *question;
    struct squad_answer *answer;
    struct squad *squad;  // its counts grow while the tables are filled
    size_t *mark;         // positions of code points 0, STRIDE, 2 STRIDE, ... of the current context
    size_t marks, capacity, length;
};

static char *copy_string(struct arena *arena, const json_t *string)
{
    size_t n = json_string_length(string);
    char *copy = arena_alloc(arena, n + 1);
    memcpy(copy, json_string_value(string), n);
    return copy;
}

static bool starts_character(char byte)
{
    return ((unsigned char)byte & 0xC0) != 0x80;
}

static void mark_context(struct reader *r, const char *context, size_t length)
{
    size_t codes = 0;
    r->marks = 0, r->length = length;
    for (size_t i = 0; i < length; i++) {
        if (!starts_character(context[i]) || codes++ % STRIDE != 0) continue;
        if (r->marks == r->capacity) {
            r->capacity = 2 * r->capacity + 16;
            r->mark = grow(r->mark, r->capacity * sizeof *r->mark);
        }
        r->mark[r->marks++] = i;
    }
}

// The byte of a code point of the current context; the context's length for a code point beyond its end.
static size_t byte_of(const struct reader *r, const char *context, uint64_t code)
{
    if (code / STRIDE >= r->marks) return r->length;
    size_t at = r->mark[code / STRIDE];
    for (uint64_t left = code % STRIDE; left > 0 && at < r->length; left--)
        do at++;
        while (at < r->length && !starts_character(context[at]));
    return at;
}

// ---- single values

static int read_answer(struct reader *r, const char *context, const struct squad_question *q, int number, const json_t *json)
{
    const json_t *text = json_object_get(json, "text"), *start = json_object_get(json, "answer_start");
    if (!json_is_string(text)) return fail(ERR_INPUT, "answer %d has no text", number);
    if (!json_is_integer(start) || json_integer_value(start) < 0)
        return fail(ERR_INPUT, "answer %d has no \"answer_start\" from 0 on", number);
    struct squad_answer *answer = &r->answer[r->squad->answers++];
    size_t n = json_string_length(text), at = byte_of(r, context, (uint64_t)json_integer_value(start));
    *answer = (struct squad_answer){copy_string(r->arena, text), SQUAD_NOWHERE};
    if (n > 0 && n <= r->length - at && memcmp(context + at, answer->text, n) == 0) {
        answer->start = (int64_t)at;
    } else if (r->squad->lost++ == 0) {
        char *said = arena_text(r->arena, "question %.60s: \"%.60s\" is not in its context at character %lld", q->id,
                                answer->text, (long long)json_integer_value(start));
        for (char *c = said; *c != '\0'; c++)
            if ((unsigned char)*c < ' ' || *c == 0x7F) *c = ' ';  // the title is printed
        r->squad->lost_first = said;
    }
    return 0;
}

static int read_question(struct reader *r, const char *context, const json_t *json)
{
    const json_t *id = json_object_get(json, "id"), *text = json_object_get(json, "question");
    const json_t *answers = json_object_get(json, "answers");
    if (!json_is_string(id) || json_string_length(id) == 0) return fail(ERR_INPUT, "it has no id");
    struct squad_question *q = &r->question[r->squad->questions++];
    q->id = copy_string(r->arena, id);
    if (!json_is_string(text)) return fail(ERR_INPUT, "id %.60s has no text \"question\"", q->id);
    if (!json_is_array(answers)) return fail(ERR_INPUT, "id %.60s has no list of answers", q->id);
    if (json_is_true(json_object_get(json, "is_impossible")) || json_array_size(answers) == 0) {
        return fail(ERR_INPUT, "id %.60s has no answer: such questions are of SQuAD 2.0, and this program reads version 1.1",
                    q->id);
    }
    q->text = copy_string(r->arena, text);
    q->paragraph = r->squad->paragraphs - 1;
    q->answer = r->answer + r->squad->answers;
    q->answers = (int)json_array_size(answers);
    for (int i = 0; i < q->answers; i++) {
        int rc = read_answer(r, context, q, i + 1, json_array_get(answers, (size_t)i));
        if (rc < 0) return fail_prefix(rc, "id %.60s: ", q->id);
    }
    return 0;
}

static int read_paragraph(struct reader *r, const json_t *json)
{
    const json_t *context = json_object_get(json, "context"), *questions = json_object_get(json, "qas"), *question;
    size_t i;
    if (json_string_length(context) == 0) return fail(ERR_INPUT, "its context is empty");
    char *text = copy_string(r->arena, context);
    r->context[r->squad->paragraphs++] = text;
    mark_context(r, text, json_string_length(context));
    json_array_foreach(questions, i, question) {
        int rc = read_question(r, text, question);
        if (rc < 0) return fail_prefix(rc, "question %zu: ", i + 1);
    }
    return 0;
}

static int read_article(struct reader *r, const json_t *json)
{
    const json_t *title = json_object_get(json, "title"), *paragraphs = json_object_get(json, "paragraphs"), *paragraph;
    struct squad_article *article = &r->article[r->squad->articles++];
    size_t i;
    if (!json_is_string(title)) return fail(ERR_INPUT, "it has no title");
    article->title = copy_string(r->arena, title);
    article->first = r->squad->paragraphs;
    article->paragraphs = (int64_t)json_array_size(paragraphs);
    json_array_foreach(paragraphs, i, paragraph) {
        int rc = read_paragraph(r, paragraph);
        if (rc < 0) return fail_prefix(rc, "\"%.60s\", paragraph %zu: ", article->title, i + 1);
    }
    return 0;
}

// ---- the whole file

// Counts the entries of the tables, and refuses JSON of another form.
static int count_paragraph(const json_t *json, struct squad *size)
{
    const json_t *questions = json_object_get(json, "qas"), *question;
    size_t i;
    if (!json_is_string(json_object_get(json, "context"))) return fail(ERR_INPUT, "it has no text \"context\"");
    if (!json_is_array(questions)) return fail(ERR_INPUT, "it has no list \"qas\" of questions");
    size->paragraphs++;
    json_array_foreach(questions, i, question) {
        size_t answers = json_array_size(json_object_get(question, "answers"));
        if (answers > SQUAD_ANSWERS) return fail(ERR_INPUT, "question %zu has more than %d answers", i + 1, SQUAD_ANSWERS);
        size->questions++;
        size->answers += (int64_t)answers;
    }
    if (size->questions > SQUAD_QUESTIONS) return fail(ERR_INPUT, "there are more than %d questions up to here", SQUAD_QUESTIONS);
    return 0;
}

static int count_all(const json_t *root, struct squad *size)
{
    const json_t *articles = json_object_get(root, "data"), *article, *paragraph;
    size_t i, k;
    if (!json_is_array(articles)) return fail(ERR_INPUT, "there is no list \"data\" of articles: this is not SQuAD's JSON");
    json_array_foreach(articles, i, article) {
        const json_t *paragraphs = json_object_get(article, "paragraphs");
        if (!json_is_array(paragraphs)) return fail(ERR_INPUT, "article %zu has no list of paragraphs", i + 1);
        size->articles++;
        json_array_foreach(paragraphs, k, paragraph) {
            int rc = count_paragraph(paragraph, size);
            if (rc < 0) return fail_prefix(rc, "article %zu, paragraph %zu: ", i + 1, k + 1);
        }
    }
    return size->questions > 0 ? 0 : fail(ERR_INPUT, "there is no question in it");
}

static int by_id(const void *a, const void *b)
{
    return strcmp((*(const struct squad_question *const *)a)->id, (*(const struct squad_question *const *)b)->id);
}

// Ids must differ, because predictions are stored by id.
static int refuse_twins(const struct squad *squad)
{
    const struct squad_question **sorted = zalloc((size_t)squad->questions * sizeof *sorted);
    int rc = 0;
    for (int64_t i = 0; i < squad->questions; i++) sorted[i] = &squad->question[i];
    qsort(sorted, (size_t)squad->questions, sizeof *sorted, by_id);
    for (int64_t i = 1; i < squad->questions && rc == 0; i++)
        if (by_id(&sorted[i - 1], &sorted[i]) == 0) rc = fail(ERR_INPUT, "two questions have the id %.60s", sorted[i]->id);
    free(sorted);
    return rc;
}

static int read_all(const json_t *root, struct arena *arena, struct squad *squad)
{
    struct squad size = {0};
    TRY(count_all(root, &size));
    struct reader r = {.arena = arena, .squad = squad};
    r.article = arena_alloc(arena, (size_t)size.articles * sizeof *r.article);
    r.context = arena_alloc(arena, (size_t)size.paragraphs * sizeof *r.context);
    r.question = arena_alloc(arena, (size_t)size.questions * sizeof *r.question);
    r.answer = arena_alloc(arena, (size_t)size.answers * sizeof *r.answer);
    squad->article = r.article, squad->context = r.context, squad->question = r.question;
    const json_t *article;
    size_t i;
    int rc = 0;
    json_array_foreach(json_object_get(root, "data"), i, article) {
        rc = read_article(&r, article);
        if (rc < 0) rc = fail_prefix(rc, "article %zu: ", i + 1);
        if (rc < 0) break;
    }
    free(r.mark);
    return rc < 0 ? rc : refuse_twins(squad);
}

int squad_parse(const char *name, const char *bytes, size_t count, struct arena *arena, struct squad *squad)
{
    json_error_t error;
    *squad = (struct squad){0};
    if (count > SQUAD_BYTES) return fail(ERR_INPUT, "%s is larger than %d bytes", name, SQUAD_BYTES);
    json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) return fail(ERR_INPUT, "%s: byte %d: %s", name, error.position, error.text);
    int rc = read_all(root, arena, squad);
    json_decref(root);
    return rc < 0 ? fail_prefix(rc, "%s: ", name) : 0;
}

int squad_read_file(const char *path, struct arena *arena, struct squad *squad)
{
    char *bytes = NULL;
    size_t count = 0;
    TRY(file_read(path, SQUAD_BYTES, &bytes, &count));
    int rc = squad_parse(path, bytes, count, arena, squad);
    free(bytes);
    return rc;
}
