// SPDX-License-Identifier: Apache-2.0
// The table is Jansson's object.
#include "tasks/squad/predictions.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/common/base/arena.h"
#include "runtime/common/base/file.h"

struct predictions {
    json_t *of;
};

void predictions_free(struct predictions *p)
{
    if (p == NULL) return;
    json_decref(p->of);
    free(p);
}

static int check_values(const char *name, json_t *root)
{
    const char *id;
    json_t *text;
    if (!json_is_object(root)) return fail(ERR_INPUT, "%s is not an object of ids and texts", name);
    json_object_foreach(root, id, text) {
        if (!json_is_string(text)) return fail(ERR_INPUT, "%s: the prediction of %.60s is not a text", name, id);
    }
    return 0;
}

int predictions_parse(const char *name, const char *bytes, size_t count, struct predictions **parsed)
{
    json_error_t error;
    *parsed = NULL;
    if (count > PREDICTIONS_BYTES) return fail(ERR_INPUT, "%s is larger than %d bytes", name, PREDICTIONS_BYTES);
    json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) return fail(ERR_INPUT, "%s: line %d, byte %d: %s", name, error.line, error.position, error.text);
    int rc = check_values(name, root);
    if (rc < 0) {
        json_decref(root);
        return rc;
    }
    *parsed = zalloc(sizeof **parsed);
    (*parsed)->of = root;
    return 0;
}

int predictions_open(const char *path, struct predictions **opened)
{
    char *bytes = NULL;
    size_t count = 0;
    *opened = NULL;
    TRY(file_read(path, PREDICTIONS_BYTES, &bytes, &count));
    int rc = predictions_parse(path, bytes, count, opened);
    free(bytes);
    return rc;
}

int64_t predictions_count(const struct predictions *p)
{
    return (int64_t)json_object_size(p->of);
}

const char *predictions_of(const struct predictions *p, const char *id)
{
    return json_string_value(json_object_get(p->of, id));
}

struct evaluate_total predictions_score(const struct predictions *p, const struct squad *squad)
{
    struct evaluate_total total = {0};
    for (int64_t i = 0; i < squad->questions; i++)
        evaluate_add(&total, predictions_of(p, squad->question[i].id), &squad->question[i]);
    return total;
}

// ---- the scores as text

// The shortest digits that parse to the number, as Python prints it.
static const char *shortest(double value, char into[32])
{
    for (int digits = 3; digits <= 17; digits++) {
        snprintf(into, 32, "%.*g", digits, value);
        if (strtod(into, NULL) == value) break;
    }
    if (strpbrk(into, ".e") == NULL) strcat(into, ".0");
    return into;
}

static void add_scores(const struct evaluate_total *total, const struct squad *squad, int64_t predictions, struct text *into)
{
    char figure[TEXT_FIGURE];
    text_add(into, "F1           %.4f%%\n", evaluate_f1(total));
    text_add(into, "exact match  %.4f%%  (%s", evaluate_exact(total), text_count(figure, total->exact));
    text_add(into, " of %s questions)\n", text_count(figure, total->questions));
    if (total->missing > 0) text_add(into, "%s have no prediction and score 0\n", text_count(figure, total->missing));
    int64_t strange = predictions - (total->questions - total->missing);
    if (strange > 0)
        text_add(into, "%s prediction%s no question of the file\n", text_count(figure, strange),
                 strange == 1 ? " belongs to" : "s belong to");
    if (squad->lost > 0)
        text_add(into, "%s answer%s in %s context, which does not change the scores; the first: %s\n",
                 text_count(figure, squad->lost), squad->lost == 1 ? " is not" : "s are not", squad->lost == 1 ? "its" : "their",
                 squad->lost_first);
}

static void add_json(const struct evaluate_total *total, struct text *into)
{
    char f1[32], exact[32];
    text_add(into, "{\"exact_match\": %s, \"f1\": %s}\n", shortest(evaluate_exact(total), exact),
             shortest(evaluate_f1(total), f1));
}

int predictions_evaluate(const char *truth, const char *answers, bool json, struct text *into)
{
    struct squad squad;
    struct arena arena = {0};
    struct predictions *predictions = NULL;
    int rc = squad_read_file(truth, &arena, &squad);
    if (rc == 0) rc = predictions_open(answers, &predictions);
    if (rc == 0) {
        struct evaluate_total total = predictions_score(predictions, &squad);
        if (json) add_json(&total, into);
        else add_scores(&total, &squad, predictions_count(predictions), into);
    }
    predictions_free(predictions);
    arena_free(&arena);
    return rc;
}
