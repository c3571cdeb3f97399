// SPDX-License-Identifier: Apache-2.0
// The shapes of the API's answers, as tables. A test compares every answer with them and fails for an unlisted member. Members of
// statements come from the format's own fields, members of an entry from its columns, and each list of words from its own table.
#include "scoreboard/api/api_inside.h"

#include <stdio.h>
#include <string.h>

#include "scoreboard/rank/table.h"
#include "submit/format/fields.h"

// The members of a shape are consecutive. A name that ends with "?" may be absent. Types: int, number, bool, text, digest,
// another shape. A type with "?" may be null, one in brackets is a list.
static const struct {
    const char *shape, *name, *type, *what;
} members[] = {
    {"About", "board", "text", "Name of the board: every statement names the board it is meant for"},
    {"About", "key", "text", "Fingerprint of the key that signs receipts"},
    {"About", "key_line", "text", "That key, as a line of an allowed signers file has it"},
    {"About", "software", "text", "Version of the server"},
    {"About", "limits", "Limits", ""},
    {"About", "tasks", "[text]", ""},
    {"About", "totals", "Totals", ""},
    {"Limits", "body_bytes", "int", ""},
    {"Limits", "header_bytes", "int", ""},
    {"Limits", "path_bytes", "int", ""},
    {"Limits", "query_bytes", "int", ""},
    {"Limits", "connections", "int", ""},
    {"Limits", "connections_per_address", "int", "0: no limit here"},
    {"Limits", "submissions_per_hour", "int", "New statements of a type per hour and person; 0: no limit"},
    {"Limits", "page", "int", "Largest number of rows of an answer"},
    {"Totals", "statements", "int", ""},
    {"Totals", "runs", "int", ""},
    {"Totals", "groups", "int", ""},
    {"Totals", "people", "int", ""},
    {"Totals", "imports", "int", ""},
    {"Totals", "newest_ms", "int", "Time of the last acceptance, 0 when there is none"},
    {"Health", "status", "text", ""},
    {"Tasks", "tasks", "[Task]", ""},
    {"Tasks", "boards", "[BoardAbout]", ""},
    {"Task", "name", "text", ""},
    {"Task", "title", "text", ""},
    {"Task", "about", "text", ""},
    {"Task", "metric", "text", ""},
    {"Task", "metric_title", "text", ""},
    {"Task", "test_name", "text", ""},
    {"Task", "items", "int", "N of \"k of N\"; a million if the metric is not a count"},
    {"Task", "test_items", "int", "Items of the whole test set"},
    {"Task", "targets_micro", "[int]", "Millionths; the board's own target first"},
    {"Task", "demonstration", "bool", "Nothing here is a result"},
    {"Task", "train_digest", "text?", "SHA-256 of the published training data"},
    {"Task", "test_digest", "text?", "SHA-256 of the published test data"},
    {"BoardAbout", "name", "text", ""},
    {"BoardAbout", "title", "text", ""},
    {"BoardAbout", "unit", "Unit", "Unit of a value; less is better on all boards"},
    {"BoardAbout", "counts", "Counts", ""},
    {"Counts", "classic", "text", "What is counted"},
    {"Counts", "group", "text", "What is counted"},
    {"Board", "task", "text", ""},
    {"Board", "board", "text", ""},
    {"Board", "unit", "Unit", ""},
    {"Board", "rank", "Rank", ""},
    {"Board", "filter", "text", "The query in its canonical form"},
    {"Board", "entries", "[Entry]", ""},
    {"Board", "total", "int", "Rows that pass the filter, on all pages"},
    {"Board", "next", "text?", "Cursor of the next page"},
    {"History", "task", "text", ""},
    {"History", "board", "text", ""},
    {"History", "unit", "Unit", ""},
    {"History", "rank", "Rank", ""},
    {"History", "filter", "text", "The query in its canonical form"},
    {"History", "entries", "[Entry]", ""},
    {"Listed", "sequence", "int", "Place in the log, from 1"},
    {"Listed", "digest", "digest", "SHA-256 of the payload"},
    {"Listed", "type", "Type", ""},
    {"Listed", "accepted_ms", "int", "Server time, milliseconds since 1970"},
    {"Listed", "key", "text", "Fingerprint of the signing key"},
    {"Listed", "handle", "text", ""},
    {"Listed", "withdrawn_by", "int?", "Sequence of the statement that withdrew it"},
    {"Listed", "superseded_by", "int?", "Sequence of the statement that replaced it"},
    {"Listed", "key_revoked_by", "int?", "Sequence of the statement that revoked its key since"},
    {"Listed", "unfinished?", "text", "Runs only; failed or interrupted, empty for one that finished"},
    {"Listed", "trust?", "Trust", "Runs only"},
    {"Listed", "group?", "text", "Runs only; nonce or empty"},
    {"Log", "statements", "[Listed]", ""},
    {"Log", "next", "int?", "Give this as `after` for the next page"},
    {"Competitions", "competitions", "[Competition]", ""},
    {"Competition", "name", "text", ""},
    {"Competition", "title", "text", ""},
    {"Competition", "rules", "text", "What holds besides the board's rules"},
    {"Competition", "url", "text", "Empty if there is none"},
    {"Competition", "sequence", "int", "Of its statement"},
    {"Competition", "statement", "digest", "What commitments and runs name"},
    {"Competition", "task", "text", ""},
    {"Competition", "ranked_by", "text", "The board whose figure ranks the entries"},
    {"Competition", "rank", "Rank", ""},
    {"Competition", "target_micro", "int", "Millionths"},
    {"Competition", "division", "text", "closed: the closed division alone; open: any run"},
    {"Competition", "trust", "Trust", "The least level that gets a place"},
    {"Competition", "begins_ms", "int", "Commitments are accepted from this moment of the server's clock on"},
    {"Competition", "commits_until_ms", "int", "and before this one; runs from this one on"},
    {"Competition", "reveals_until_ms", "int", "and before this one"},
    {"Competition", "cancelled_by", "int?", "Sequence of the decision"},
    {"Competition", "contenders", "int", "People who committed"},
    {"Competition", "entered", "int", "Those of them who sent all runs"},
    {"CompetitionEntries", "competition", "Competition", ""},
    {"CompetitionEntries", "entries", "[Contender]", "Those with a place first, best first"},
    {"Contender", "place", "int?", "Null: the mark says why"},
    {"Contender", "handle", "text", ""},
    {"Contender", "commitment", "int", "Sequence of the statement"},
    {"Contender", "committed_ms", "int", ""},
    {"Contender", "runs", "int", "Runs committed"},
    {"Contender", "revealed", "int", "Of them sent"},
    {"Contender", "withdrawn", "int", "Of them withdrawn since"},
    {"Contender", "run", "int?", "Sequence of a run that was sent"},
    {"Contender", "group", "text", "Nonce or empty"},
    {"Contender", "value", "number?", "In the unit of the board; null where it has no row there"},
    {"Contender", "unit", "Unit", ""},
    {"Contender", "mark", "text", "Why there is no place; empty if there is one"},
    {"Contender", "objections_undecided", "int", "To its runs"},
    {"Contender", "objections_upheld", "int", ""},
    {"Contender", "trust?", "Trust", "Of an entry with a value"},
    {"Envelope", "payload", "text", "The canonical bytes of the statement, as a JSON string: the signed bytes"},
    {"Envelope", "signature", "text", "SSHSIG in its armour, Ed25519, over the payload, in the namespace of its type"},
    {"Envelope", "countersignature?", "text", "Of a rotation only: the new key's"},
    {"Finding", "code", "text", "Stable name of the check"},
    {"Finding", "level", "Level", ""},
    {"Finding", "text", "text", "A sentence with the figures"},
    {"Accepted", "sequence", "int", ""},
    {"Accepted", "statement", "digest", "SHA-256 of the payload"},
    {"Accepted", "receipt", "text", "Canonical JSON that the server signs"},
    {"Accepted", "signature", "text", "SSHSIG of the receipt, namespace receipt-v1@dawn"},
    {"Accepted", "findings", "[Finding]", ""},
    {"Statement", "sequence", "int", ""},
    {"Statement", "digest", "digest", ""},
    {"Statement", "type", "Type", ""},
    {"Statement", "accepted_ms", "int", ""},
    {"Statement", "key", "text", ""},
    {"Statement", "key_line", "text", "ssh-ed25519 ..."},
    {"Statement", "handle", "text", ""},
    {"Statement", "envelope", "Envelope", ""},
    {"Statement", "receipt", "text", ""},
    {"Statement", "receipt_signature", "text", ""},
    {"Statement", "state", "State", ""},
    {"State", "counts", "bool", ""},
    {"State", "withdrawn_by", "int?", ""},
    {"State", "withdrawn_reason", "text", ""},
    {"State", "superseded_by", "int?", ""},
    {"State", "trust?", "Trust", "Runs only"},
    {"State", "reproduced_by?", "int?", "Runs only"},
    {"State", "ticket?", "int?", "Runs only; sequence of the ticket that announced it"},
    {"State", "vouched_by?", "int?", "Runs only; sequence of the board's word about its clock"},
    {"State", "group?", "text", "Runs only"},
    {"State", "findings?", "[Finding]", "Flags: of the checks at acceptance, and objections that were upheld since"},
    {"State", "objections?", "[Objection]", "Runs only; upheld ones first, then of people with a finished run; at most 100"},
    {"State", "objections_total?", "int", "Runs only"},
    {"State", "drawn?", "Drawn", "Of a run that the log drew"},
    {"State", "words?", "Words", ""},
    {"Drawn", "why", "text", "new: by the checkpoint of its receipt; again: by a later one; best: it was the best of a board"},
    {"Drawn", "checkpoint", "int", "Sequence of the statement whose checkpoint drew it, or that made it the best"},
    {"Drawn", "since_ms", "int", ""},
    {"Drawn", "waits", "bool", "Nobody whose repetition counts has repeated it"},
    {"Drawn", "verdict", "text?", "equal or differs, when the operator trained it again; null: not yet"},
    {"Drawn", "audited_by", "int?", "Sequence of that outcome"},
    {"Drawn", "audited_ms?", "int", "With an outcome only, like the members after it"},
    {"Drawn", "epoch_micro?", "int", "Epochs that were trained again, in millionths"},
    {"Drawn", "points?", "int", "Points of the run up to there"},
    {"Drawn", "equal?", "int", "Of these, points that are the same to the last bit"},
    {"Drawn", "hardware?", "text", "What trained it again"},
    {"Drawn", "follows?", "int", "An older run of another person that begins with the same figures: equality raises nothing"},
    {"Objection", "sequence", "int", "Of its statement"},
    {"Objection", "accepted_ms", "int", ""},
    {"Objection", "handle", "text", "Who objected"},
    {"Objection", "reason", "text", ""},
    {"Objection", "url", "text", "Of the evidence; empty if there is none"},
    {"Objection", "verdict", "text?", "upheld: it counts as a flag; dismissed; null: nobody has decided yet"},
    {"Objection", "decided_by", "int?", "Sequence of the decision"},
    {"Objection", "decided_ms", "int?", ""},
    {"Objection", "by", "text", "Who decided"},
    {"Objection", "why", "text", "The reason of the decision"},
    {"Words", "team", "text", ""},
    {"Words", "note", "text", ""},
    {"Words", "code_url", "text", ""},
    {"Words", "tags", "text", ""},
    {"Receipt", "sequence", "int", ""},
    {"Receipt", "statement", "digest", ""},
    {"Receipt", "receipt", "text", "Canonical JSON"},
    {"Receipt", "signature", "text", "SSHSIG, namespace receipt-v1@dawn"},
    {"Mean", "mean", "number?", ""},
    {"Mean", "sigma", "number?", "Of the sample"},
    {"Mean", "low", "number?", "95% interval"},
    {"Mean", "high", "number?", ""},
    {"Group", "group", "text", ""},
    {"Group", "planned", "int", "Runs that were announced"},
    {"Group", "runs", "[Listed]", ""},
    {"Group", "verdict", "Verdict", ""},
    {"Verdict", "verdict", "text", "Stable name"},
    {"Verdict", "sentence", "text", ""},
    {"Verdict", "official", "bool", ""},
    {"Verdict", "finished", "int", ""},
    {"Verdict", "seconds", "Mean", ""},
    {"Verdict", "accuracy", "Mean", ""},
    {"Verdict", "p", "number?", "One-sided t-test against the target"},
    {"Key", "key", "text", "Fingerprint"},
    {"Key", "key_line", "text", ""},
    {"Key", "counts", "bool", "Whether statements it signs are accepted"},
    {"Key", "since", "int?", "Sequence of its first statement"},
    {"Key", "revoked_by", "int?", ""},
    {"Key", "revoked_reason", "text", ""},
    {"Key", "replaced_by", "int?", ""},
    {"Key", "handle?", "text", "Whose it is; left out inside a person"},
    {"Person", "handle", "text", ""},
    {"Person", "keys", "[Key]", ""},
    {"Person", "tickets", "Tickets", ""},
    {"Person", "drawn", "DrawnRuns", ""},
    {"Person", "statements", "[Listed]", "The newest first"},
    {"Person", "next", "int?", "Give this as `before` for the next page"},
    {"Machines", "machines", "[MachineLine]", "The last to change first, at most 200"},
    {"Machines", "total", "int", "Machines in all"},
    {"Machines", "next", "text?", "Give this as `before` for the next page"},
    {"MachineLine", "machine", "text", "Its word in addresses"},
    {"MachineLine", "name", "text", "Model of the GPU or processor, as its first statement spells it; nobody confirms it"},
    {"MachineLine", "entries", "int", "Uploads on boards"},
    {"MachineLine", "benches", "int", "Measurements that were not withdrawn"},
    {"MachineLine", "newest_ms", "int", "Time of the newest of both"},
    {"Machine", "machine", "MachineLine", ""},
    {"Machine", "entries", "[Entry]", "One row of each of its newest uploads, at every level of trust"},
    {"Machine", "benches", "[Bench]", "The newest first; nobody but their authors saw them"},
    {"Machine", "next", "int?", "Give this as `before` for older measurements"},
    {"Bench", "sequence", "int", ""},
    {"Bench", "digest", "digest", ""},
    {"Bench", "accepted_ms", "int", ""},
    {"Bench", "handle", "text", ""},
    {"Bench", "payload", "Payload_bench", ""},
    {"Tickets", "announced", "int", "Runs that were announced with a ticket"},
    {"Tickets", "finished", "int", "Of these, tickets whose run was submitted, finished and evaluated"},
    {"Tickets", "failed", "int", "Those whose submitted run did not finish"},
    {"Tickets", "withdrawn", "int", "Those whose run was withdrawn"},
    {"Tickets", "open", "int", "Not submitted, 30 days old or younger"},
    {"Tickets", "missing", "int", "Not submitted within 30 days: they count as failed"},
    {"DrawnRuns", "drawn", "int", "Runs that the log drew"},
    {"DrawnRuns", "equal", "int", "Of these, those that the operator trained again to the same figures"},
    {"DrawnRuns", "differs", "int", "Those that came to others"},
    {"DrawnRuns", "waits", "int", "The runs that nobody has repeated"},
    {"DrawnRuns", "withdrawn", "int", "Those that were withdrawn before anybody repeated them"},
    {"Beat", "hash", "digest", "The last hash of the run's chain"},
    {"Beat", "secret", "digest", "The secret whose SHA-256 is the lock of the ticket"},
    {"Stamped", "stamped_ms", "int", "When that state came first, milliseconds since 1970"},
    {"Problem", "type", "text", ""},
    {"Problem", "title", "text", ""},
    {"Problem", "status", "int", ""},
    {"Problem", "code", "ProblemCode", "Stable"},
    {"Problem", "detail", "text", "A sentence for people"},
    {"Problem", "checks", "[Finding]", ""},
};

static json_t *words_schema(json_t *words)
{
    return json_pack("{s:s, s:o}", "type", "string", "enum", words);
}

// "" and NULL add nothing.
static void describe(json_t *schema, const char *what)
{
    if (what != NULL && *what != 0) json_object_set_new(schema, "description", json_string(what));
}

static json_t *plain_type(const char *type, size_t count)
{
    static const char *const names[][2] = {{"int", "integer"}, {"number", "number"}, {"bool", "boolean"}, {"text", "string"}};
    json_t *schema = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strlen(names[i][0]) != count || strncmp(names[i][0], type, count) != 0) continue;
        json_object_set_new(schema, "type", json_string(names[i][1]));
        if (i == 0) json_object_set_new(schema, "format", json_string("int64"));
        return schema;
    }
    if (count == 6 && strncmp(type, "digest", 6) == 0) {
        json_object_set_new(schema, "type", json_string("string"));
        json_object_set_new(schema, "pattern", json_string("^[0-9a-f]{64}$"));
        return schema;
    }
    json_object_set_new(schema, "$ref", json_sprintf("#/components/schemas/%.*s", (int)count, type));
    return schema;
}

json_t *openapi_typed(const char *type, const char *what)
{
    size_t count = strlen(type);
    json_t *schema;
    if (*type == '[') {
        schema = json_pack("{s:s, s:o}", "type", "array", "items", plain_type(type + 1, count - 2));
    } else {
        const bool null = type[count - 1] == '?';
        schema = plain_type(type, count - null);
        if (null) json_object_set_new(schema, "nullable", json_true());
    }
    if (json_object_get(schema, "$ref") == NULL) describe(schema, what);  // a reference allows no other member
    return schema;
}

static void add_member(json_t *shape, const char *name, bool optional, json_t *schema)
{
    json_t *properties = json_object_get(shape, "properties");
    if (properties == NULL) {
        properties = json_object();
        json_object_set_new(shape, "type", json_string("object"));
        json_object_set_new(shape, "properties", properties);
        json_object_set_new(shape, "required", json_array());
    }
    json_object_set_new(properties, name, schema);
    if (!optional) json_array_append_new(json_object_get(shape, "required"), json_string(name));
}

static void add_members(json_t *shapes)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        json_t *shape = json_object_get(shapes, members[i].shape);
        if (shape == NULL) {
            shape = json_object();
            json_object_set_new(shapes, members[i].shape, shape);
        }
        char name[40];
        const size_t count = strlen(members[i].name);
        const bool optional = members[i].name[count - 1] == '?';
        snprintf(name, sizeof name, "%.*s", (int)(count - optional), members[i].name);
        add_member(shape, name, optional, openapi_typed(members[i].type, members[i].what));
    }
    json_object_set_new(json_object_get(shapes, "Envelope"), "additionalProperties", json_false());
    json_object_set_new(json_object_get(shapes, "Beat"), "additionalProperties", json_false());
}

static void add_entry(json_t *shapes)
{
    json_t *entry = json_object();
    for (int i = 0; i < table_columns(); i++) {
        const struct table_column *column = table_column(i);
        const bool unit = strcmp(column->name, "unit") == 0, trust = strcmp(column->name, "trust") == 0;
        const char *type = column->type[0] == 'i' ? "int" : column->type[0] == 'n' ? "number" : "text";
        json_t *schema = openapi_typed(unit ? "Unit" : trust ? "Trust" : type, column->what);
        if (column->nullable) json_object_set_new(schema, "nullable", json_true());
        add_member(entry, column->name, false, schema);
    }
    json_object_set_new(shapes, "Entry", entry);
}

static void add_words(json_t *shapes)
{
    json_t *ranks = json_array(), *trusts = json_array(), *units = json_array(), *types = json_array(), *codes = json_array();
    for (int i = 0; i < RANKS; i++) json_array_append_new(ranks, json_string(rank_word((enum rank)i)));
    for (int i = 0; i < TRUSTS; i++) json_array_append_new(trusts, json_string(trust_word((enum trust)i)));
    for (int i = 0; i < BOARDS; i++) json_array_append_new(units, json_string(board_unit((enum board)i)));
    for (int i = 0; i < STATEMENT_TYPES; i++)
        json_array_append_new(types, json_string(statement_type_name((enum statement_type)i)));
    for (int i = PROBLEM_NONE + 1; i < PROBLEMS; i++)
        json_array_append_new(codes, json_string(problem_code((enum problem)i)));
    json_object_set_new(shapes, "Rank", words_schema(ranks));
    json_object_set_new(shapes, "Trust", words_schema(trusts));
    json_object_set_new(shapes, "Unit", words_schema(units));
    json_object_set_new(shapes, "Type", words_schema(types));
    json_object_set_new(shapes, "ProblemCode", words_schema(codes));
    json_object_set_new(shapes, "Level", words_schema(json_pack("[s, s]", "reject", "flag")));
}

// ---- payloads
#define WORD "^[A-Za-z0-9._+-]"
static json_t *field_schema(const struct field *field);

static json_t *fields_schema(const struct field *fields)
{
    json_t *shape = json_object();
    for (; fields->name != NULL; fields++) add_member(shape, fields->name, fields->presence != 0, field_schema(fields));
    json_object_set_new(shape, "additionalProperties", json_false());
    return shape;
}

static json_t *one_of(const char *words)
{
    json_t *list = json_array();
    for (size_t count; *words != 0; words += count + (words[count] == '|')) {
        count = strcspn(words, "|");
        json_array_append_new(list, json_stringn(words, count));
    }
    return words_schema(list);
}

static json_t *field_schema(const struct field *field)
{
    json_t *schema;
    switch (field->kind) {
    case FIELD_INT:
    case FIELD_YES:
        schema = json_pack("{s:s, s:s, s:I, s:I}", "type", "integer", "format", "int64", "minimum", (json_int_t)field->low,
                           "maximum", (json_int_t)field->high);
        break;
    case FIELD_ONE_OF: schema = one_of(field->words); break;
    case FIELD_HEX:
        schema = json_pack("{s:s, s:o}", "type", "string", "pattern", json_sprintf("^[0-9a-f]{%d}$", (int)field->low));
        break;
    case FIELD_OBJECT: schema = fields_schema(field->members); break;
    case FIELD_LIST:
        schema = json_pack("{s:s, s:I, s:I, s:o}", "type", "array", "minItems", (json_int_t)field->low, "maxItems",
                           (json_int_t)field->high, "items", fields_schema(field->members));
        break;
    case FIELD_TAGS:
        schema = json_pack("{s:s, s:I, s:b, s:{s:s, s:s}}", "type", "array", "maxItems", (json_int_t)field->high, "uniqueItems",
                           1, "items", "type", "string", "pattern", WORD "{1,32}$");
        break;
    case FIELD_WORD:
        schema = json_pack("{s:s, s:o}", "type", "string", "pattern",
                           json_sprintf(WORD "{%d,%d}$", (int)field->low, (int)field->high));
        break;
    case FIELD_HANDLE:
        schema = json_pack("{s:s, s:o}", "type", "string", "pattern",
                           json_sprintf("^[A-Za-z0-9][A-Za-z0-9._+-]{0,%d}$", (int)field->high - 1));
        break;
    case FIELD_DATE:
        schema = json_pack("{s:s, s:s, s:s}", "type", "string", "format", "date", "pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}$");
        break;
    case FIELD_URL:
        schema = json_pack("{s:s, s:I, s:s}", "type", "string", "maxLength", (json_int_t)field->high, "pattern",
                           "^(https://[^\\s@/]+([/?#]\\S*)?)?$");
        break;
    default:  // bounds are in bytes, which are at least the characters; only keys have a fixed number
        schema = json_pack("{s:s, s:I, s:I}", "type", "string", "minLength",
                           (json_int_t)(field->low == field->high ? field->low : field->low > 0), "maxLength",
                           (json_int_t)field->high);
    }
    describe(schema, field->what);
    return schema;
}

json_t *openapi_shapes(void)
{
    json_t *shapes = json_object();
    add_members(shapes);
    add_entry(shapes);
    add_words(shapes);
    for (int i = 0; i < STATEMENT_TYPES; i++) {
        char name[40];
        snprintf(name, sizeof name, "Payload_%s", statement_type_name((enum statement_type)i));
        json_object_set_new(shapes, name, fields_schema(statement_fields[i]));
    }
    return shapes;
}
