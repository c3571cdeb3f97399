// SPDX-License-Identifier: Apache-2.0
// The table is Jansson's object.
#include "tasks/squad/predictions.h"

#include <jansson.h>
#include <stdlib.h>

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
