// SPDX-License-Identifier: Apache-2.0
// The API as an OpenAPI 3.0 document, generated from the server's own tables: addresses (api.h), keys of a filter, problems,
// shapes of answers. Workload: rare, and then cached. Cost: some milliseconds.
#include "scoreboard/api/api_inside.h"

#include <stdio.h>
#include <string.h>

#include "scoreboard/rank/table.h"

static const struct {
    const char *method, *pattern, *name, *shape, *what;
} routes[] = {
#define ROUTE(method, pattern, handler, shape, what) {method, pattern, #handler, shape, what},
    API_ROUTES
#undef ROUTE
};

static const char ABOUT[] =
    "Signed records of training runs, and the boards they are on. Every GET answers HEAD and If-None-Match, and may be read "
    "from any origin; OPTIONS lists the methods of an address. Figures of statements are the integers that were signed; "
    "fractions appear only in figures derived from them. Every refusal is a problem (RFC 9457) with a stable code.";

// ---- parameters
static json_t *parameter(const char *name, const char *where, const char *what, json_t *schema)
{
    json_t *value = json_pack("{s:s, s:s, s:s, s:o}", "name", name, "in", where, "description", what, "schema", schema);
    if (strcmp(where, "path") == 0) json_object_set_new(value, "required", json_true());
    return value;
}

static json_t *one_of(const char *const *words, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, json_string(words[i]));
    return json_pack("{s:s, s:o}", "type", "string", "enum", list);
}

static json_t *whole(int64_t low, int64_t high)
{
    json_t *schema = json_pack("{s:s, s:s, s:I}", "type", "integer", "format", "int64", "minimum", (json_int_t)low);
    if (high > 0) json_object_set_new(schema, "maximum", json_integer(high));
    return schema;
}

static json_t *text_like(const char *pattern)
{
    json_t *schema = json_pack("{s:s}", "type", "string");
    if (pattern != NULL) json_object_set_new(schema, "pattern", json_string(pattern));
    return schema;
}

static void add_path_parameters(json_t *list, const char *pattern)
{
    static const struct {
        const char *name, *below, *pattern, *what;
    } names[] = {
        {"task", "", "^[a-z0-9-]+$", "A task, as /api/v1/tasks names it"},
        {"board", "", "", "A board, as /api/v1/tasks names it"},
        {"id", "/statements/", "^([1-9][0-9]{0,18}|[0-9a-f]{64})$", "Sequence number or digest of a statement"},
        {"id", "/keys/", "^(SHA256:)?([A-Za-z0-9+/_-]|%2F)+$",
         "Fingerprint of a key, with or without \"SHA256:\"; a slash in it is written %2F"},
        {"nonce", "", "^[0-9a-f]{32}$", "Nonce of a group"},
        {"digest", "", "^[0-9a-f]{64}$", "Digest of a ticket: of a statement of type ticket"},
        {"tile", "", "^([0-9]+|entries)/(x[0-9]{3}/)*[0-9]{3}(\\.p/[0-9]+)?$", "A tile, as C2SP's tlog-tiles writes its path"},
        {"handle", "", "^[A-Za-z0-9][A-Za-z0-9._+-]{0,38}$", "A person's name on the boards"},
        {"machine", "", "^[a-z0-9-]{1,79}$", "A machine, as /api/v1/machines names it"},
        {"name", "", "^[A-Za-z0-9][A-Za-z0-9._+-]{0,38}$", "A competition, as /api/v1/competitions names it"},
    };
    for (const char *at = strchr(pattern, '{'); at != NULL; at = strchr(at + 1, '{')) {
        const size_t count = strcspn(at + 1, "*}");
        bool listed = false;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            if (strlen(names[i].name) != count || strncmp(names[i].name, at + 1, count) != 0) continue;
            if (strstr(pattern, names[i].below) == NULL) continue;
            const char *boards[BOARDS];
            for (int b = 0; b < BOARDS; b++) boards[b] = board_word((enum board)b);
            json_array_append_new(list, parameter(names[i].name, "path", names[i].what, strcmp(names[i].name, "board") == 0
                                                      ? one_of(boards, BOARDS) : text_like(names[i].pattern)));
            listed = true;
        }
        BUG_IF(!listed);
    }
}

static void add_filter(json_t *list, bool pages)
{
    for (int i = 0; i < filter_keys(); i++) {
        struct filter_key key;
        filter_key(i, &key);
        if (key.order && !pages) continue;
        json_t *schema = key.words != NULL ? one_of(key.words, key.word_count)
                         : key.high > 0    ? whole(1, key.high)
                                           : text_like(key.pattern);
        json_array_append_new(list, parameter(key.name, "query", key.what, schema));
    }
}

static json_t *parameters_of(const char *name, const char *pattern)
{
    json_t *list = json_array();
    add_path_parameters(list, pattern);
    if (strcmp(name, "api_board") == 0) add_filter(list, true);
    if (strcmp(name, "api_history") == 0) add_filter(list, false);
    if (strcmp(name, "api_person") == 0)
        json_array_append_new(list, parameter("before", "query", "Statements before this one", whole(0, 0)));
    if (strcmp(name, "api_statement") == 0)
        json_array_append_new(list, parameter("objections", "query", "Objections to skip", whole(0, 0)));
    if (strcmp(name, "api_machines") == 0)
        json_array_append_new(list, parameter("before", "query", "`next` of the previous page",
                                              text_like("^[0-9]{1,19}\\.[a-z0-9-]{1,79}$")));
    if (strcmp(name, "api_machine") == 0)
        json_array_append_new(list, parameter("before", "query", "Measurements before this statement", whole(0, 0)));
    if (strcmp(name, "api_log") == 0) {
        json_array_append_new(list, parameter("after", "query", "The log from the statement after this one", whole(0, 0)));
        json_array_append_new(list, parameter("limit", "query", "Statements of an answer", whole(1, API_LOG_LIMIT)));
    }
    return list;
}

// ---- responses
static json_t *content(const char *type, json_t *schema)
{
    return json_pack("{s:{s:o}}", type, "schema", schema);
}

static json_t *header_text(void)
{
    return json_pack("{s:{s:s}}", "schema", "type", "string");
}

static json_t *answer_of(const char *shape, const char *what, const char *const *headers)
{
    const bool bytes = strcmp(shape, "bytes") == 0, text = bytes || strcmp(shape, "text") == 0;
    const bool object = strcmp(shape, "object") == 0;
    json_t *schema = text || object ? json_pack("{s:s}", "type", text ? "string" : "object") : openapi_typed(shape, NULL);
    if (bytes) json_object_set_new(schema, "format", json_string("binary"));
    json_t *said = json_object();
    for (int i = 0; headers[i] != NULL; i++) json_object_set_new(said, headers[i], header_text());
    return json_pack("{s:s, s:o, s:o}", "description", what, "headers", said, "content",
                     content(bytes ? "application/octet-stream" : text ? "text/plain" : "application/json", schema));
}

// "code: title; code: title" of all problems with that status; 0 when there are none.
static int problems_of(int status, struct text *into)
{
    int count = 0;
    for (int i = PROBLEM_NONE + 1; i < PROBLEMS; i++) {
        if (problem_status((enum problem)i) != status) continue;
        text_add(into, "%s%s: %s", count++ > 0 ? "; " : "", problem_code((enum problem)i), problem_title((enum problem)i));
    }
    return count;
}

static json_t *responses(void)
{
    json_t *all = json_object();
    json_object_set_new(all, "NotModified", json_pack("{s:s}", "description", "If-None-Match matches the current answer"));
    for (int status = 400; status < 600; status++) {
        struct text what = {0};
        char name[24];
        if (problems_of(status, &what) > 0) {
            snprintf(name, sizeof name, "Problem%d", status);
            json_t *value = json_pack("{s:s, s:o}", "description", what.at, "content",
                                      content("application/problem+json", openapi_typed("Problem", NULL)));
            const char *header = status == 405 ? "Allow" : status == 429 || status == 503 ? "Retry-After" : NULL;
            if (header != NULL) json_object_set_new(value, "headers", json_pack("{s:o}", header, header_text()));
            json_object_set_new(all, name, value);
        }
        text_free(&what);
    }
    return all;
}

// A GET is refused for its address, its head or a fault of the server; a POST for any reason.
static void add_refusals(json_t *to, bool post, bool named)
{
    static const int of_get[] = {400, 404, 405, 429, 431, 500, 503};
    for (int status = 400; status < 600; status++) {
        struct text what = {0};
        char name[24];
        bool taken = post && problems_of(status, &what) > 0;
        for (size_t i = 0; !post && i < sizeof of_get / sizeof *of_get; i++)
            taken |= of_get[i] == status && (status != 404 || named);
        snprintf(name, sizeof name, "%d", status);
        if (taken)
            json_object_set_new(to, name, json_pack("{s:o}", "$ref", json_sprintf("#/components/responses/Problem%d", status)));
        text_free(&what);
    }
}

// What a POST takes, and what its answers mean.
static const struct posted {
    const char *name, *body, *size, *again;
    const char *headers[2];
} posts[] = {
    {"api_accept", "Envelope", "At most 1 MiB, with Content-Length", "It was accepted before: the same receipt", {"Location"}},
    {"api_beat", "Beat", "151 bytes of canonical JSON, with Content-Length", "The state came before: its first stamp", {NULL}},
};

static const struct posted *posted_of(const char *name)
{
    for (size_t i = 0; i < sizeof posts / sizeof *posts; i++)
        if (strcmp(posts[i].name, name) == 0) return &posts[i];
    return NULL;
}

static json_t *operation(size_t i)
{
    const bool post = strcmp(routes[i].method, "POST") == 0;
    const struct posted *p = posted_of(routes[i].name);
    json_t *answers = json_object(), *value;
    const char *of_get[] = {"ETag", "Cache-Control", NULL};
    BUG_IF(post != (p != NULL));
    if (post) {
        json_object_set_new(answers, "200", answer_of(routes[i].shape, p->again, p->headers));
        json_object_set_new(answers, "201", answer_of(routes[i].shape, "Accepted and durable", p->headers));
    } else {
        json_object_set_new(answers, "200", answer_of(routes[i].shape, "What was asked for", of_get));
        json_object_set_new(answers, "304", json_pack("{s:s}", "$ref", "#/components/responses/NotModified"));
    }
    add_refusals(answers, post, strchr(routes[i].pattern, '{') != NULL);
    value = json_pack("{s:s, s:s, s:o}", "operationId", routes[i].name, "summary", routes[i].what, "parameters",
                      parameters_of(routes[i].name, routes[i].pattern));
    if (post)
        json_object_set_new(value, "requestBody", json_pack("{s:b, s:s, s:o}", "required", 1, "description", p->size, "content",
                                                            content("application/json", openapi_typed(p->body, NULL))));
    json_object_set_new(value, "responses", answers);
    return value;
}

// Without the mark of a name that takes all the rest of a path.
static const char *plain_pattern(const char *pattern, char into[128])
{
    size_t length = 0;
    for (; *pattern != 0 && length < 127; pattern++)
        if (*pattern != '*') into[length++] = *pattern;
    into[length] = 0;
    return into;
}

int api_openapi(const struct request *request, struct answer *answer)
{
    json_t *paths = json_object();
    (void)request;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        char buffer[128];
        const char *pattern = plain_pattern(routes[i].pattern, buffer);
        json_t *path = json_object_get(paths, pattern);
        if (path == NULL) {
            path = json_object();
            json_object_set_new(paths, pattern, path);
        }
        json_object_set_new(path, strcmp(routes[i].method, "POST") == 0 ? "post" : "get", operation(i));
    }
    return api_send(answer, json_pack("{s:s, s:{s:s, s:s, s:s, s:{s:s, s:s}}, s:o, s:{s:o, s:o}}", "openapi", "3.0.3", "info",
                                      "title", "DAWN scoreboard", "version", "1", "description", ABOUT, "license", "name",
                                      "Apache-2.0", "url", "https://www.apache.org/licenses/LICENSE-2.0", "paths", paths,
                                      "components", "schemas", openapi_shapes(), "responses", responses()));
}
