// SPDX-License-Identifier: Apache-2.0
// Statements, envelopes and receipts: accepted ones are returned unchanged; everything else is refused by name.

#include "runtime/common/base/arena.h"
#include "submit/format/fields.h"
#include "test/unit/test.h"
#include "test/unit/fixture_statement.h"

static struct sshkey_secret alice, bob;

SETUP(make_keys)
{
    sshkey_new(&alice, "alice");
    sshkey_new(&bob, "bob");
    return 0;
}

// ---- fields

// Every member of the table is left out once, and once given as what no member is: each time its path is named.
static void try_members(json_t *run, json_t *object, const struct field *fields, const char *parent)
{
    for (const struct field *f = fields; f->name != NULL; f++) {
        bool optional = (f->presence & FIELD_OPTIONAL) != 0;
        json_t *kept = json_incref(json_object_get(object, f->name));
        char path[128];
        snprintf(path, sizeof path, "%s%s%s", parent, *parent != 0 ? "." : "", f->name);
        json_object_del(object, f->name);
        int rc = fields_check("the payload", statement_fields[STATEMENT_RUN], run);
        if (optional && rc != 0) fail_msg("%s: %s", path, error_text());
        if (!optional && (rc != ERR_INPUT || strstr(error_text(), path) == NULL))
            fail_msg("%s was not missed: %s", path, error_text());
        json_object_set_new(object, f->name, json_true());
        rc = fields_check("the payload", statement_fields[STATEMENT_RUN], run);
        if (rc != ERR_INPUT || strstr(error_text(), path) == NULL) fail_msg("%s may be true: %s", path, error_text());
        json_object_del(object, f->name);
        if (kept == NULL) continue;
        json_object_set_new(object, f->name, kept);
        if (f->kind == FIELD_OBJECT) try_members(run, kept, f->members, path);
        if (f->kind != FIELD_LIST || json_array_size(kept) == 0) continue;
        strcat(path, "[0]");
        try_members(run, json_array_get(kept, 0), f->members, path);
    }
}

TEST(every_member_is_asked_for)
{
    json_t *run = fixture_run();
    try_members(run, run, statement_fields[STATEMENT_RUN], "");
    if (fields_check("the payload", statement_fields[STATEMENT_RUN], run) < 0) fail_msg("%s", error_text());
    json_decref(run);
}

// A member, what it is given as JSON, what the sentence says of it.
static const struct {
    const char *path, *value, *says;
} wrong[] = {
    {"version", "2", "version must be 1; got 2"},
    {"version", "\"1\"", "version must be a whole number"},
    {"metric", "\"top1\"", "metric is a member nobody knows"},
    {"target_micro", "0", "target_micro must be between"},
    {"target_micro", "1.5", "target_micro must be a whole number"},
    {"official", "2", "official must be between 0 and 1"},
    {"official", "\"1\"", "official must be a whole number"},
    {"handle", "\"\"", "handle must not be empty"},
    {"handle", "\"ada lovelace\"", "handle may hold a-z A-Z 0-9 . _ + - only, but its character 4"},
    {"handle", "\"ad\xc3\xa9\"", "handle may hold"},
    {"handle", "\"a23456789012345678901234567890123456789x\"", "handle must have 1 to 39 characters; got 40"},
    {"handle", "\"a\\u0000b\"", "handle holds a NUL"},
    {"team", "\"\xe2\x80\xaegnitset\"", "team cannot be shown: the text holds U+202E at byte 0"},
    {"team", "\" padded\"", "team cannot be shown"},
    {"team", "[]", "team must be text"},
    {"handle", "\"..\"", "handle must begin with a letter or digit"},
    {"handle", "\"-a\"", "handle must begin with a letter or digit"},
    {"recipe.text", "\"a\\nb\"", "recipe.text cannot be shown: the text holds U+000A at byte 1, which is a control character"},
    {"recipe.text", "\"a\xc2\x9b" "b\"", "recipe.text cannot be shown"},
    {"recipe.text", "\"a\xe2\x80\xae" "b\"", "recipe.text cannot be shown: the text holds U+202E at byte 1"},
    {"software.commit", "\"\xe2\x80\x8b\"", "software.commit cannot be shown: the text holds U+200B at byte 0"},
    {"software.flags", "\"-O2 \xe2\x80\xae\"", "software.flags cannot be shown: the text holds U+202E at byte 4"},
    {"nonce", "\"0123\"", "nonce must have 32 digits; got 4"},
    {"nonce", "\"0123456789ABCDEF0123456789abcdef\"", "nonce may hold digits and a to f only"},
    {"price.date", "\"2027-02-29\"", "price.date is a day that does not exist"},
    {"price.date", "\"2027-13-01\"", "price.date is a day that does not exist"},
    {"price.date", "\"1 Jan 2027\"", "price.date must be a date"},
    {"price.date", "\"2027-1a-01\"", "price.date must be a date"},
    {"status", "\"running\"", "status must be one of done|missed|interrupted|failed"},
    {"status", "\"done|missed\"", "status must be one of"},
    {"status", "\"\"", "status must be one of"},
    {"status", "\"don\"", "status must be one of"},
    {"model", "[]", "model must be an object"},
    {"model.colour", "1", "model.colour is a member nobody knows"},
    {"colour", "1", "colour is a member nobody knows"},
    {"data", "{}", "data must be a list"},
    {"data", "[1]", "data[0] must be an object"},
    {"data", "[{},{},{},{},{},{},{},{},{}]", "data must have 0 to 8 entries; got 9"},
    {"tags", "[\"b\",\"a\"]", "tags[1] must come after the entry before it"},
    {"tags", "[\"a\",\"a\"]", "tags[1] must come after the entry before it"},
    {"tags", "[\"a b\"]", "tags[0] may hold"},
    {"tags", "[\"\"]", "tags[0] must not be empty"},
    {"code_url", "\"http://code.example\"", "code_url cannot be published: an address must begin with https://"},
    {"code_url", "\"https://x y\"", "the address \"https://x y\" holds a blank"},
    {"code_url", "\"https://x/a\xe2\x80\x83" "b\"", "holds a blank"},
    {"code_url", "\"https://x/ \"", "holds a blank"},
    {"code_url", "\"https://\"", "names no host"},
    {"code_url", "\"https:///x\"", "names no host"},
    {"code_url", "\"https://?x\"", "names no host"},
    {"code_url", "\"https://:443/x\"", "names no host"},
    {"code_url", "\"https://ada@code.example/x\"", "has a user in it"},
    {"code_url", "\"https://x/\xe2\x80\xae\"", "the text holds U+202E at byte 10"},
    {"tags", "[1]", "tags[0] must be text"},
    {"tags", "\"a\"", "tags must be a list"},
};

TEST(wrong_members_are_named)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *run = fixture_run();
        fixture_set(run, wrong[i].path, json_loads(wrong[i].value, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL));
        if (fields_check("the payload", statement_fields[STATEMENT_RUN], run) != ERR_INPUT)
            fail_msg("taken: %s %s", wrong[i].path, wrong[i].value);
        if (strncmp(error_text(), "the payload: ", 13) != 0 || strstr(error_text(), wrong[i].says) == NULL)
            fail_msg("%s = %s: %s", wrong[i].path, wrong[i].value, error_text());
        json_decref(run);
    }
    json_t *run = fixture_run();
    json_object_set_new(run, "code_url", json_string("https://code.example:8443/a@b?c#d"));
    if (fields_check("the payload", statement_fields[STATEMENT_RUN], run) < 0) fail_msg("%s", error_text());
    json_object_set_new(fixture_item(run, "points", 3), "samples", json_integer(-1));
    assert_int_equal(fields_check("the payload", statement_fields[STATEMENT_RUN], run), ERR_INPUT);
    assert_non_null(strstr(error_text(), "points[3].samples must be between 0 and"));
    json_object_set_new(fixture_item(run, "points", 3), "samples", json_integer(1));
    json_object_set_new(run, "\xe2\x80\xae", json_integer(1));
    assert_int_equal(fields_check("the payload", statement_fields[STATEMENT_RUN], run), ERR_INPUT);
    assert_null(strstr(error_text(), "\xe2\x80\xae"));
    json_decref(run);
    assert_int_equal(fields_check("the receipt", receipt_fields, NULL), ERR_INPUT);
    assert_string_equal(error_text(), "the receipt must be an object");
}

// ---- statements

TEST(a_statement_reads_back)
{
    struct statement made, read;
    char hex[DIGEST_HEX];
    assert_int_equal(statement_make(fixture_run(), &made), 0);
    assert_int_equal(made.type, STATEMENT_RUN);
    digest_bytes(made.payload, made.count, hex);
    assert_string_equal(made.digest, hex);
    assert_int_equal(statement_read(made.payload, made.count, &read), 0);
    assert_string_equal(read.payload, made.payload);
    assert_string_equal(read.digest, made.digest);
    statement_free(&read);
    for (size_t cut = 0; cut < made.count; cut += 1 + cut / 4) {
        assert_int_equal(statement_read(made.payload, cut, &read), ERR_INPUT);
        assert_null(read.json);
    }
    statement_free(&made);
    statement_free(&made);  // twice is nothing
}

static json_t *rotation(const char *key)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", "rotate", "version", 1, "board", "test", "handle", "ada", "key",
                     key, "made_ms", (json_int_t)FIXTURE_NOW_MS);
}

TEST(why_is_never_empty)
{
    struct statement s;
    json_t *value = json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", "withdraw", "version", 1, "board", "test", "statement",
                              FIXTURE_HEX, "reason", "", "made_ms", (json_int_t)FIXTURE_NOW_MS);
    assert_int_equal(statement_make(value, &s), ERR_INPUT);
    assert_string_equal(error_text(), "the payload: reason must not be empty");
    value = json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", "revoke", "version", 1, "board", "test", "reason", "", "key",
                      "SHA256:0123456789012345678901234567890123456789012", "made_ms", (json_int_t)FIXTURE_NOW_MS);
    assert_int_equal(statement_make(value, &s), ERR_INPUT);
    assert_string_equal(error_text(), "the payload: reason must not be empty");
}

// An error in a typed text names the text in the user's words, and is wrong usage.
TEST(typed_words_are_named_as_they_were_typed)
{
    static const struct {
        const char *what, *name, *text, *says;
    } cases[] = {
        {"the note", "note", " x", "the note cannot be shown: the text begins with the blank U+0020"},
        {"a tag", "tags", "a b", "a tag may hold a-z A-Z 0-9 . _ + - only, but its character 2 is another one"},
        {"a tag", "tags", "", "a tag must not be empty"},
        {"the board's name", "board", "a/b",
         "the board's name may hold a-z A-Z 0-9 . _ + - only, but its character 2 is another one"},
        {"the address of the code", "code_url", "https://",
         "the address of the code cannot be published: the address \"https://\" names no host"},
    };
    const struct field *run = statement_fields[STATEMENT_RUN];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(fields_check_typed(cases[i].what, run, cases[i].name, cases[i].text), ERR_USAGE);
        assert_string_equal(error_text(), cases[i].says);
    }
    assert_int_equal(fields_check_typed("the note", run, "note", ""), 0);
    assert_int_equal(fields_check_typed("the address of the code", run, "code_url", ""), 0);
    assert_int_equal(fields_check_typed("a tag", run, "tags", "a.b"), 0);
}

static json_t *revocation(const char *key)
{
    return json_pack("{s:s, s:i, s:s, s:s, s:s, s:I}", "type", "revoke", "version", 1, "board", "test", "reason", "lost", "key",
                     key, "made_ms", (json_int_t)FIXTURE_NOW_MS);
}

static const char *key_line(const struct sshkey *key)
{
    static char line[SSHKEY_TEXT];
    struct sshkey bare = *key;
    bare.comment[0] = 0;
    return sshkey_line(&bare, line);
}

TEST(other_types_read_back)
{
    struct statement s;
    char id[SSHKEY_ID], line[SSHKEY_TEXT];
    snprintf(line, sizeof line, "%s", key_line(&bob.key));
    assert_int_equal(statement_make(rotation(line), &s), 0);
    assert_int_equal(s.type, STATEMENT_ROTATE);
    statement_free(&s);
    strcat(line, " ");
    assert_int_equal(statement_make(rotation(line), &s), ERR_INPUT);
    strcat(line, "bob");
    assert_int_equal(statement_make(rotation(line), &s), ERR_INPUT);
    line[80] = '\0';
    line[79]--;
    line[30] = '*';
    assert_int_equal(statement_make(rotation(line), &s), ERR_INPUT);
    assert_int_equal(statement_make(revocation(sshkey_id(&bob.key, id)), &s), 0);
    statement_free(&s);
    id[20] = '*';
    assert_int_equal(statement_make(revocation(id), &s), ERR_INPUT);
    assert_int_equal(statement_make(json_pack("{s:s}", "type", "praise"), &s), ERR_INPUT);
    assert_int_equal(statement_make(json_pack("{s:i}", "type", 1), &s), ERR_INPUT);
    assert_int_equal(statement_make(json_array(), &s), ERR_INPUT);
    assert_int_equal(statement_make(NULL, &s), ERR_INPUT);
    for (int i = 0; i < STATEMENT_TYPES; i++)
        assert_true(strncmp(statement_namespace((enum statement_type)i), statement_type_name((enum statement_type)i),
                            strlen(statement_type_name((enum statement_type)i))) == 0);
}

// ---- envelopes

static char *signature_of(const struct statement *s, const char *space, const struct sshkey_secret *key, char into[SSHSIG_MAX])
{
    return sshsig_sign(space, s->payload, s->count, key, into);
}

static int read_text(const struct text *t, struct envelope *e)
{
    return envelope_read(t->at, t->length, e);
}

TEST(an_envelope_reads_back)
{
    struct statement s;
    struct envelope e;
    struct text text = {0};
    char signature[SSHSIG_MAX], id[SSHKEY_ID], other[SSHKEY_ID];
    assert_int_equal(statement_make(fixture_run(), &s), 0);
    signature_of(&s, statement_namespace(s.type), &alice, signature);
    assert_int_equal(envelope_write(&s, signature, NULL, &text), 0);
    if (read_text(&text, &e) < 0) fail_msg("%s", error_text());
    assert_string_equal(e.statement.digest, s.digest);
    assert_string_equal(e.signature, signature);
    assert_null(e.countersignature);
    assert_string_equal(sshkey_id(&e.key, id), sshkey_id(&alice.key, other));
    envelope_free(&e);
    // no other member, no other namespace, no other payload
    text.length--;
    text_add(&text, ",\"more\":1}");
    assert_fails(read_text(&text, &e), ERR_INPUT, "holds more than");
    text_free(&text);
    signature_of(&s, "amend-v1@dawn", &alice, signature);
    assert_int_equal(envelope_write(&s, signature, NULL, &text), 0);
    assert_int_equal(read_text(&text, &e), ERR_INPUT);
    assert_null(e.statement.json);
    text_free(&text);
    struct statement changed;
    json_t *run = fixture_run();
    fixture_set(run, "handle", json_string("eve"));
    signature_of(&s, statement_namespace(s.type), &alice, signature);
    assert_int_equal(statement_make(run, &changed), 0);
    assert_int_equal(envelope_write(&changed, signature, NULL, &text), 0);
    assert_int_equal(read_text(&text, &e), ERR_INPUT);
    text_free(&text);
    assert_int_equal(envelope_write(&s, signature, signature, &text), 0);  // only a rotation is countersigned
    assert_fails(read_text(&text, &e), ERR_INPUT, "countersignature");
    text_free(&text);
    statement_free(&changed);
    statement_free(&s);
}

TEST(broken_envelopes_are_refused)
{
    static const char *const bad[] = {
        "", "{", "[]", "1", "{}", "null", "{\"payload\":\"{}\"}", "{\"payload\":1,\"signature\":\"\"}",
        "{\"payload\":\"{}\",\"payload\":\"{}\",\"signature\":\"\"}", "{\"payload\":\"{}\",\"signature\":\"\",\"more\":1}",
        "{\"payload\":\"\\u0000\",\"signature\":\"\"}", "{\"payload\":\"{}\",\"signature\":null}",
        "{\"payload\":\"{\\\"a\\\":99999999999999999999}\",\"signature\":\"x\"}", "{\"payload\":\"\xff\",\"signature\":\"\"}",
    };
    struct envelope e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (envelope_read(bad[i], strlen(bad[i]), &e) != ERR_INPUT) fail_msg("taken: %s", bad[i]);
    enum { MUCH = CANONICAL_MAX + 1 };
    char *deep = zalloc(MUCH);
    memset(deep, '[', MUCH);
    assert_int_equal(envelope_read(deep, 1000, &e), ERR_INPUT);
    assert_int_equal(envelope_read(deep, MUCH - 1, &e), ERR_INPUT);
    assert_fails(envelope_read(deep, MUCH, &e), ERR_INPUT, "at most");
    free(deep);
}

TEST(a_rotation_needs_both_keys)
{
    struct statement s;
    struct envelope e;
    struct text text = {0};
    char first[SSHSIG_MAX], second[SSHSIG_MAX];
    const char *space = statement_namespace(STATEMENT_ROTATE);
    assert_int_equal(statement_make(rotation(key_line(&bob.key)), &s), 0);
    signature_of(&s, space, &alice, first);
    signature_of(&s, space, &bob, second);
    const struct {
        const char *signature, *countersignature;
        int rc;
    } tries[] = {{first, second, 0},
                 {first, NULL, ERR_INPUT},
                 {first, first, ERR_INPUT},
                 {second, first, ERR_INPUT},
                 {second, second, ERR_INPUT}};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        assert_int_equal(envelope_write(&s, tries[i].signature, tries[i].countersignature, &text), 0);
        int rc = read_text(&text, &e);
        if (rc != tries[i].rc) fail_msg("case %zu: %d, %s", i, rc, error_text());
        if (rc == 0) {
            assert_memory_equal(e.key.at, alice.key.at, 32);
            assert_memory_equal(e.next_key.at, bob.key.at, 32);
            assert_string_equal(e.countersignature, second);
        }
        envelope_free(&e);
        text_free(&text);
    }
    statement_free(&s);
}

// ---- receipts

TEST(a_receipt_reads_back)
{
    struct receipt r = {.sequence = 12, .accepted_ms = FIXTURE_NOW_MS, .board = "test", .payload = FIXTURE_HEX}, read;
    struct sshkey server;
    char *bytes, signature[SSHSIG_MAX];
    size_t count;
    sshkey_id(&alice.key, r.signer);
    assert_int_equal(receipt_write(&r, &bytes, &count), 0);
    sshsig_sign(RECEIPT_NAMESPACE, bytes, count, &bob, signature);
    assert_int_equal(receipt_read(bytes, count, signature, &read, &server), 0);
    assert_int_equal(read.sequence, 12);
    assert_int_equal(read.accepted_ms, FIXTURE_NOW_MS);
    assert_string_equal(read.board, "test");
    assert_string_equal(read.payload, FIXTURE_HEX);
    assert_string_equal(read.signer, r.signer);
    assert_memory_equal(server.at, bob.key.at, 32);
    bytes[count - 2]++;
    assert_int_equal(receipt_read(bytes, count, signature, &read, &server), ERR_INPUT);
    free(bytes);
    sshsig_sign(RECEIPT_NAMESPACE, "{}", 2, &bob, signature);  // signed, but no receipt
    assert_int_equal(receipt_read("{}", 2, signature, &read, &server), ERR_INPUT);
    r.sequence = 0;
    assert_int_equal(receipt_write(&r, &bytes, &count), ERR_INPUT);
}

TEST_GROUP(make_keys, NULL)
