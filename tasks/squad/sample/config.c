// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/sample/config.h"

#include "runtime/common/base/file.h"
#include "runtime/common/base/text.h"
#include "tasks/squad/squad_keys.h"

#include <stdlib.h>
#include <string.h>

// ---- reading

static int read_whole(const char *where, const json_t *o, const char *key, int64_t *into)
{
    const json_t *v = json_object_get(o, key);
    *into = 0;
    if (!v) return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > INT32_MAX)
        return fail(ERR_INPUT, "%s: \"%s\" must be a whole number from 1", where, key);
    *into = json_integer_value(v);
    return 0;
}

// Fails if the text is there and differs from `wanted`.
static int check_member(const char *where, const json_t *o, const char *key, const char *wanted)
{
    const json_t *v = json_object_get(o, key);
    const char *text = json_string_value(v);
    if (!v || (text && !strcmp(text, wanted))) return 0;
    return fail(ERR_UNSUPPORTED, "%s: \"%s\" is \"%.40s\", and this program computes \"%s\"", where, key, text ? text : "no text",
                wanted);
}

static int check_kind(const char *where, const json_t *o)
{
    const json_t *eps = json_object_get(o, "layer_norm_eps"), *types = json_object_get(o, "type_vocab_size");
    TRY(check_member(where, o, "model_type", "bert"));
    TRY(check_member(where, o, "hidden_act", "gelu"));
    TRY(check_member(where, o, "position_embedding_type", "absolute"));
    if (types && json_integer_value(types) != 2)
        return fail(ERR_UNSUPPORTED, "%s: \"type_vocab_size\" must be 2, of the question and of the context", where);
    // An epsilon up to 1e-8 is below the precision of f32 when added to a variance near 1.
    if (eps && !(json_number_value(eps) <= 1e-8 && json_number_value(eps) >= 0))
        return fail(ERR_UNSUPPORTED, "%s: \"layer_norm_eps\" is %g, and this program computes with 1e-12", where,
                    json_number_value(eps));
    return 0;
}

static int read_shape(const char *where, const json_t *o, struct config *c)
{
    if (!json_is_object(o)) return fail(ERR_INPUT, "%s: not a JSON object", where);
    TRY(check_kind(where, o));
    TRY(read_whole(where, o, "num_hidden_layers", &c->layers));
    TRY(read_whole(where, o, "hidden_size", &c->width));
    TRY(read_whole(where, o, "num_attention_heads", &c->heads));
    TRY(read_whole(where, o, "intermediate_size", &c->feed_forward));
    TRY(read_whole(where, o, "max_position_embeddings", &c->positions));
    return read_whole(where, o, "vocab_size", &c->pieces);
}

int config_parse(const char *where, const char *bytes, size_t count, struct config *into)
{
    json_error_t error;
    json_t *o = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &error);
    if (!o) return fail(ERR_INPUT, "%s:%d: %s", where, error.line, error.text);
    int rc = read_shape(where, o, into);
    json_decref(o);
    return rc;
}

// ---- comparing

static void compare(struct text *set, const char *key, int64_t says, int64_t has)
{
    if (says && says != has) text_add(set, " --set %s=%lld", key, (long long)says);
}

static int check_against(const char *where, const struct config *c, const struct recipe *r, int64_t pieces)
{
    struct text set = {0};
    compare(&set, "layers", c->layers, squad_keys(r)->layers);
    compare(&set, "width", c->width, squad_keys(r)->width);
    compare(&set, "heads", c->heads, squad_keys(r)->heads);
    compare(&set, "feed_forward", c->feed_forward, squad_keys(r)->feed_forward);
    compare(&set, "positions", c->positions, squad_keys(r)->positions);
    int rc = set.at ? fail(ERR_USAGE, "%s: the encoder has another shape than recipe %s:%s", where, r->name, set.at) : 0;
    text_free(&set);
    if (rc == 0 && c->pieces && c->pieces != pieces)
        rc = fail(ERR_INPUT, "%s: the encoder has %lld pieces, and the vocabulary has %lld: it belongs to another one", where,
                  (long long)c->pieces, (long long)pieces);
    return rc;
}

int config_check(const char *weights, const struct recipe *r, int64_t pieces)
{
    const char *slash = strrchr(weights, '/');
    struct text path = {0};
    struct config c = {0};
    char *bytes = NULL;
    size_t count;
    text_add(&path, "%.*sconfig.json", slash ? (int)(slash + 1 - weights) : 0, weights);
    int rc = file_exists(path.at) ? file_read(path.at, CONFIG_FILE, &bytes, &count) : 0;
    if (rc == 0 && bytes) rc = config_parse(path.at, bytes, count, &c);
    if (rc == 0 && bytes) rc = check_against(path.at, &c, r, pieces);
    free(bytes);
    text_free(&path);
    return rc;
}
