// SPDX-License-Identifier: Apache-2.0
// The log and its statements. The exact signed bytes are sent as the record has them and never change. Their state (withdrawn,
// superseded, trust) may.
#include "scoreboard/api/api_inside.h"

#include <string.h>

enum { LOG_DEFAULT = 50 };

API(api_log)
{
    static const char *const names[] = {"after", "limit", NULL};
    int64_t values[] = {0, LOG_DEFAULT};
    struct stored *stored;
    int count;
    TRY(api_query(request->query, names, values));
    if (values[1] < 1 || values[1] > API_LOG_LIMIT) return fail(ERR_INPUT, "limit must be between 1 and %d", API_LOG_LIMIT);
    TRY(store_log(request->reader, values[0], (int)values[1], arena, &stored, &count));
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, api_stored(&stored[i]));
    json_t *next = count == values[1] ? json_integer(stored[count - 1].sequence) : json_null();
    return api_send(answer, json_pack("{s:o, s:o}", "statements", list, "next", next));
}

typedef int show_stored(const struct stored *, struct answer *);

static int with_statement(const struct request *request, struct answer *answer, show_stored *show)
{
    struct arena arena = {0};
    struct stored stored;
    int rc = store_statement(request->reader, request->word[0], &arena, &stored);
    if (rc == 0) rc = show(&stored, answer);
    arena_free(&arena);
    return rc;
}

static json_t *state_of(const struct stored *stored, int64_t ticket, int64_t vouched)
{
    json_t *state = json_pack("{s:b, s:o, s:o, s:o}", "counts", stored->withdrawn == 0 && stored->superseded == 0, "withdrawn_by",
                              api_sequence(stored->withdrawn), "withdrawn_reason", api_text(stored->withdrawn_reason),
                              "superseded_by", api_sequence(stored->superseded));
    if (stored->type != STATEMENT_RUN) return state;
    json_object_set_new(state, "trust", json_string(trust_word(stored->trust)));
    json_object_set_new(state, "reproduced_by", api_sequence(stored->reproduced_by));
    json_object_set_new(state, "ticket", api_sequence(ticket));
    json_object_set_new(state, "vouched_by", api_sequence(vouched));
    json_object_set_new(state, "group", api_text(stored->group));
    json_object_set_new(state, "findings", api_findings(stored->findings));
    json_object_set_new(state, "words", json_pack("{s:o, s:o, s:o, s:o}", "team", api_text(stored->team), "note",
                                                  api_text(stored->note), "code_url", api_text(stored->code_url), "tags",
                                                  api_text(stored->tags)));
    return state;
}

static int show_statement(const struct stored *stored, json_t *state, struct answer *answer)
{
    json_t *payload = json_stringn(stored->payload, stored->payload_count);
    if (payload == NULL) {
        json_decref(state);
        return fail(ERR_DATABASE, "the payload of statement %lld is not UTF-8", (long long)stored->sequence);
    }
    json_t *value = json_pack("{s:I, s:s, s:s, s:I, s:o, s:o, s:o}", "sequence", (json_int_t)stored->sequence, "digest",
                              stored->digest, "type", statement_type_name(stored->type), "accepted_ms",
                              (json_int_t)stored->accepted_ms, "key", api_text(stored->key), "key_line",
                              api_text(stored->key_line), "handle", api_text(stored->handle));
    json_t *envelope = json_pack("{s:o, s:o}", "payload", payload, "signature", api_text(stored->signature));
    if (stored->countersignature != NULL && *stored->countersignature != 0)
        json_object_set_new(envelope, "countersignature", api_text(stored->countersignature));
    json_object_set_new(value, "envelope", envelope);
    json_object_set_new(value, "receipt", api_text(stored->receipt));
    json_object_set_new(value, "receipt_signature", api_text(stored->receipt_signature));
    json_object_set_new(value, "state", state);
    return api_send(answer, value);
}

static json_t *drawn_json(const struct drawn *d)
{
    static const char *const whys[] = {"new", "again", "best"}, *const verdicts[] = {"", "equal", "differs"};
    json_t *value = json_pack("{s:s, s:I, s:I, s:b, s:o, s:o}", "why", whys[d->why], "checkpoint", (json_int_t)d->checkpoint,
                              "since_ms", (json_int_t)d->since_ms, "waits", d->waits, "verdict",
                              d->verdict == DRAWN_OPEN ? json_null() : json_string(verdicts[d->verdict]), "audited_by",
                              api_sequence(d->audit));
    if (d->audit == 0) return value;
    json_object_set_new(value, "audited_ms", json_integer(d->audited_ms));
    json_object_set_new(value, "epoch_micro", json_integer(d->epoch_micro));
    json_object_set_new(value, "points", json_integer(d->points));
    json_object_set_new(value, "equal", json_integer(d->equal));
    json_object_set_new(value, "hardware", api_text(d->hardware));
    if (d->follows > 0) json_object_set_new(value, "follows", json_integer(d->follows));
    return value;
}

API(api_statement)
{
    struct stored stored;
    static const char *const names[] = {"objections", NULL};
    struct objections objections = {0};
    struct drawn drawn;
    int64_t ticket = 0, vouched = 0, skip = 0;
    TRY(api_query(request->query, names, &skip));
    TRY(store_statement(request->reader, request->word[0], arena, &stored));
    if (stored.type == STATEMENT_RUN) TRY(store_vouched_by(request->reader, stored.sequence, &ticket, &vouched));
    if (stored.type == STATEMENT_RUN) TRY(store_objections(request->reader, stored.sequence, skip, arena, &objections));
    json_t *state = state_of(&stored, ticket, vouched);
    if (stored.type == STATEMENT_RUN) {
        json_object_set_new(state, "objections", api_objections(objections.at, objections.count));
        json_object_set_new(state, "objections_total", json_integer(objections.total));
        const int found = store_drawn(request->reader, stored.sequence, arena, &drawn);
        if (found == 0) json_object_set_new(state, "drawn", drawn_json(&drawn));
        else if (found != ERR_MISSING) return json_decref(state), found;
    }
    return show_statement(&stored, state, answer);
}

static int show_payload(const struct stored *stored, struct answer *answer)
{
    answer->type = "application/json";
    answer->immutable = true;
    text_bytes(&answer->body, stored->payload, stored->payload_count);
    return 0;
}

int api_payload(const struct request *request, struct answer *answer)
{
    return with_statement(request, answer, show_payload);
}

static int show_signature(const struct stored *stored, struct answer *answer)
{
    answer->type = "text/plain; charset=utf-8";
    answer->immutable = true;
    text_bytes(&answer->body, stored->signature, strlen(stored->signature));
    return 0;
}

int api_signature(const struct request *request, struct answer *answer)
{
    return with_statement(request, answer, show_signature);
}

static int show_receipt(const struct stored *stored, struct answer *answer)
{
    answer->immutable = true;
    return api_send(answer, json_pack("{s:I, s:s, s:o, s:o}", "sequence", (json_int_t)stored->sequence, "statement",
                                      stored->digest, "receipt", api_text(stored->receipt), "signature",
                                      api_text(stored->receipt_signature)));
}

int api_receipt(const struct request *request, struct answer *answer)
{
    return with_statement(request, answer, show_receipt);
}
