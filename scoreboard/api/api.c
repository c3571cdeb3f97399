// SPDX-License-Identifier: Apache-2.0
// The server's description of itself, and helpers for all of the API.
#include "scoreboard/api/api_inside.h"

#include "runtime/common/base/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_DIGITS = 15 };  // floats are derived values: 15 digits are enough, and 0.1 stays 0.1

int api_make(const struct request *request, struct answer *answer, api_body *body)
{
    struct arena arena = {0};
    int rc = body(request, &arena, answer);
    arena_free(&arena);
    return rc;
}

int api_send(struct answer *answer, json_t *value)
{
    char *bytes = value != NULL ? json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(LARGEST_DIGITS)) : NULL;
    json_decref(value);
    if (bytes == NULL) return fail(ERR_MEMORY, "an answer could not be made into JSON");
    answer->type = "application/json";
    text_add(&answer->body, "%s\n", bytes);
    free(bytes);
    return 0;
}

json_t *api_text(const char *text)
{
    json_t *value = json_string(text != NULL ? text : "");
    return value != NULL ? value : json_string("");
}

json_t *api_float(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *api_sequence(int64_t sequence)
{
    return sequence != 0 ? json_integer(sequence) : json_null();
}

json_t *api_findings(const struct findings *findings)
{
    json_t *list = json_array();
    const int count = findings == NULL ? 0 : findings->count < FINDINGS_MAX ? findings->count : FINDINGS_MAX;
    for (int i = 0; i < count; i++) {
        const enum check check = findings->at[i].check;
        json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "code", check_code(check), "level",
                                              check_level(check) == CHECK_REJECT ? "reject" : "flag", "text",
                                              api_text(findings->at[i].text)));
    }
    return list;
}

static json_t *objection_json(const struct objection *o)
{
    json_t *value = json_pack("{s:I, s:I, s:o, s:o, s:o}", "sequence", (json_int_t)o->sequence, "accepted_ms",
                              (json_int_t)o->accepted_ms, "handle", api_text(o->handle), "reason", api_text(o->reason), "url",
                              api_text(o->url));
    json_object_set_new(value, "verdict", o->decision == 0 ? json_null() : json_string(o->upheld ? "upheld" : "dismissed"));
    json_object_set_new(value, "decided_by", api_sequence(o->decision));
    json_object_set_new(value, "decided_ms", api_sequence(o->decided_ms));
    json_object_set_new(value, "by", api_text(o->by));
    json_object_set_new(value, "why", api_text(o->why));
    return value;
}

json_t *api_objections(const struct objection *at, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, objection_json(&at[i]));
    return list;
}

json_t *api_stored(const struct stored *stored)
{
    json_t *value = json_pack("{s:I, s:s, s:s, s:I, s:o, s:o, s:o, s:o}", "sequence", (json_int_t)stored->sequence, "digest",
                              stored->digest, "type", statement_type_name(stored->type), "accepted_ms",
                              (json_int_t)stored->accepted_ms, "key", api_text(stored->key), "handle", api_text(stored->handle),
                              "withdrawn_by", api_sequence(stored->withdrawn), "superseded_by", api_sequence(stored->superseded));
    json_object_set_new(value, "key_revoked_by", api_sequence(stored->revoked));
    if (stored->type != STATEMENT_RUN) return value;
    json_object_set_new(value, "trust", json_string(trust_word(stored->trust)));
    json_object_set_new(value, "group", api_text(stored->group));
    json_object_set_new(value, "unfinished", api_text(stored->status));
    return value;
}

// ---- queries of numbers ------------------------------------------------------------------------------------------
static int take_number(const char *at, size_t count, const char *const names[], int64_t values[], bool seen[])
{
    const char *equals = memchr(at, '=', count);
    const size_t name = equals != NULL ? (size_t)(equals - at) : count, digits = equals != NULL ? count - name - 1 : 0;
    char word[24];
    for (int i = 0; names[i] != NULL; i++) {
        if (strlen(names[i]) != name || memcmp(names[i], at, name) != 0) continue;
        if (seen[i]) return fail(ERR_INPUT, "%s is given twice in the query", names[i]);
        seen[i] = true;
        if (digits == 0) return 0;  // an empty value requests nothing
        snprintf(word, sizeof word, "%.*s", digits < sizeof word ? (int)digits : 0, equals + 1);
        if (text_to_int(word, 0, (int64_t)1 << 53, &values[i]) < 0)
            return fail(ERR_INPUT, "%s is not a whole number of at least 0", names[i]);
        return 0;
    }
    return fail(ERR_INPUT, "there is no query key \"%.*s\"", name < 40 ? (int)name : 40, at);
}

int api_query(const char *query, const char *const names[], int64_t values[])
{
    bool seen[8] = {false};
    int known = 0;
    while (names[known] != NULL) known++;
    BUG_IF(known > 8);
    for (const char *at = query != NULL ? query : ""; *at != 0;) {
        const size_t count = strcspn(at, "&");
        if (count > 0) TRY(take_number(at, count, names, values, seen));
        at += count + (at[count] == '&');
    }
    return 0;
}

// ---- the server's description of itself --------------------------------------------------------------------------
static json_t *limits_of(const struct server_settings *settings)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:I, s:i}", "body_bytes", GUARD_BODY, "header_bytes", GUARD_HEAD,
                     "path_bytes", GUARD_PATH, "query_bytes", GUARD_QUERY, "connections", settings->connections,
                     "connections_per_address", settings->per_address, "submissions_per_hour",
                     (json_int_t)settings->submissions_per_hour, "page", FILTER_LIMIT);
}

int api_about(const struct request *request, struct answer *answer)
{
    char id[SSHKEY_ID], line[SSHKEY_TEXT];
    struct totals totals;
    int count;
    const struct contest *contests = contest_table(&count);
    TRY(store_totals(request->reader, &totals));
    json_t *tasks = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(tasks, api_text(contests[i].name));
    json_t *value = json_pack("{s:o, s:s, s:s, s:s, s:o, s:o}", "board", api_text(store_origin(request->store)), "key",
                              sshkey_id(store_key(request->store), id), "key_line", sshkey_line(store_key(request->store), line),
                              "software", build_version(), "limits", limits_of(request->settings), "tasks", tasks);
    json_object_set_new(value, "totals",
                        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "statements", (json_int_t)totals.statements, "runs",
                                  (json_int_t)totals.runs, "groups", (json_int_t)totals.groups, "people",
                                  (json_int_t)totals.people, "imports", (json_int_t)totals.imports, "newest_ms",
                                  (json_int_t)totals.newest_ms));
    return api_send(answer, value);
}

// Answers 200 only if the record can be read and written: the version comes from the file.
int api_health(const struct request *request, struct answer *answer)
{
    int64_t version;
    TRY(store_version(request->reader, &version));
    TRY(store_writable(request->store));
    answer->live = true;
    return api_send(answer, json_pack("{s:s}", "status", "ok"));
}

static json_t *contest_json(const struct contest *contest)
{
    json_t *targets = json_array(), *value;
    for (int i = 0; i < CONTEST_TARGETS && contest->target_micro[i] != 0; i++)
        json_array_append_new(targets, json_integer(contest->target_micro[i]));
    value = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:b}", "name", api_text(contest->name), "title",
                      api_text(contest->title), "about", api_text(contest->about), "metric", api_text(contest->metric),
                      "metric_title", api_text(contest->metric_title), "test_name", api_text(contest->test_name), "items",
                      (json_int_t)contest->items, "test_items", (json_int_t)contest->test_items, "targets_micro", targets,
                      "demonstration", contest->synthetic);
    json_object_set_new(value, "train_digest", contest->train_digest != NULL ? api_text(contest->train_digest) : json_null());
    json_object_set_new(value, "test_digest", contest->test_digest != NULL ? api_text(contest->test_digest) : json_null());
    return value;
}

int api_tasks(const struct request *request, struct answer *answer)
{
    int count;
    const struct contest *contests = contest_table(&count);
    json_t *tasks = json_array(), *boards = json_array(), *value;
    (void)request;
    for (int i = 0; i < count; i++) json_array_append_new(tasks, contest_json(&contests[i]));
    for (int b = 0; b < BOARDS; b++) {
        value = json_pack("{s:s, s:s, s:s}", "name", board_word(b), "title", board_title(b), "unit", board_unit(b));
        json_object_set_new(value, "counts", json_pack("{s:s, s:s}", rank_word(RANK_CLASSIC), board_counts(b, RANK_CLASSIC),
                                                       rank_word(RANK_GROUP), board_counts(b, RANK_GROUP)));
        json_array_append_new(boards, value);
    }
    return api_send(answer, json_pack("{s:o, s:o}", "tasks", tasks, "boards", boards));
}
