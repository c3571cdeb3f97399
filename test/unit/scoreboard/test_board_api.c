// SPDX-License-Identifier: Apache-2.0
// The server's answers: headers, methods, problems, submissions, and every address of the table.
#include <pthread.h>

#include "scoreboard/routes.h"
#include "test/unit/test.h"
#include "test/unit/scoreboard/fixture_client.h"

static void assert_holds(const struct reply *reply, const char *what)
{
    if (reply->body.at == NULL || strstr(reply->body.at, what) == NULL)
        printf("no %s in: %s\n", what, reply->body.at != NULL ? reply->body.at : "nothing");
    assert_true(reply->body.at != NULL && strstr(reply->body.at, what) != NULL);
}

// ---- answers -----------------------------------------------------------------------------------------------------
TEST_WITH(get_head_and_304, set_up, tear_down)
{
    struct reply get, head, same, other;
    struct text request = {0};
    char tag[64];
    fixture_get(board.port, "/api/v1/tasks", &get);
    assert_status(&get, 200);
    assert_string_equal(reply_header(&get, "Cache-Control"), "public, max-age=0, must-revalidate");
    assert_string_equal(reply_header(&get, "Access-Control-Allow-Origin"), "*");
    assert_string_equal(reply_header(&get, "X-Content-Type-Options"), "nosniff");
    assert_string_equal(reply_header(&get, "Referrer-Policy"), "no-referrer");
    assert_string_equal(reply_header(&get, "Content-Security-Policy"),
                        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                        "frame-ancestors 'none'; base-uri 'none'; form-action 'self'");
    assert_null(reply_header(&get, "Set-Cookie"));
    snprintf(tag, sizeof tag, "%.60s", reply_header(&get, "ETag"));
    assert_int_equal(strlen(tag), 34);

    const char ask_head[] = "HEAD /api/v1/tasks HTTP/1.1\r\nHost: test\r\n\r\n";
    fixture_ask(board.port, ask_head, strlen(ask_head), &head);
    assert_status(&head, 200);
    assert_string_equal(reply_header(&head, "ETag"), tag);
    assert_int_equal(atoi(reply_header(&head, "Content-Length")), get.body.length);

    text_add(&request, "GET /api/v1/tasks HTTP/1.1\r\nHost: test\r\nIf-None-Match: \"no\", %s\r\n\r\n", tag);
    fixture_ask(board.port, request.at, request.length, &same);
    assert_status(&same, 304);
    assert_string_equal(reply_header(&same, "ETag"), tag);
    const char ask_other[] = "GET /api/v1/tasks HTTP/1.1\r\nHost: test\r\nIf-None-Match: \"no\"\r\n\r\n";
    fixture_ask(board.port, ask_other, strlen(ask_other), &other);
    assert_status(&other, 200);
    text_free(&request);
    reply_free(&get), reply_free(&head), reply_free(&same), reply_free(&other);
}

TEST_WITH(methods, set_up, tear_down)
{
    struct reply reply;
    const char put[] = "PUT /api/v1/statements HTTP/1.1\r\nHost: test\r\nContent-Length: 3\r\n\r\nabc";
    fixture_ask(board.port, put, strlen(put), &reply);
    assert_status(&reply, 405);
    assert_string_equal(reply_header(&reply, "Allow"), "GET, HEAD, POST, OPTIONS");
    assert_string_equal(reply_header(&reply, "Content-Type"), "application/problem+json");
    assert_holds(&reply, "\"method-not-allowed\"");
    reply_free(&reply);
    const char options[] = "OPTIONS /api/v1/tasks HTTP/1.1\r\nHost: test\r\n\r\n";
    fixture_ask(board.port, options, strlen(options), &reply);
    assert_status(&reply, 204);
    assert_string_equal(reply_header(&reply, "Allow"), "GET, HEAD, OPTIONS");
    assert_string_equal(reply_header(&reply, "Access-Control-Allow-Origin"), "*");
    reply_free(&reply);
    assert_int_equal(status_of("DELETE / HTTP/1.1\r\nHost: test\r\n\r\n"), 405);
    assert_int_equal(status_of("TRACE / HTTP/1.1\r\nHost: test\r\n\r\n"), 405);
    assert_int_equal(status_of("OPTIONS /nowhere HTTP/1.1\r\nHost: test\r\n\r\n"), 404);
    assert_int_equal(status_of("POST /rules HTTP/1.1\r\nHost: test\r\nContent-Length: 0\r\n\r\n"), 405);
}

TEST_WITH(problems_fit_the_address, set_up, tear_down)
{
    struct reply reply;
    fixture_get(board.port, "/api/v1/nothing", &reply);
    assert_status(&reply, 404);
    assert_holds(&reply, "\"code\":\"not-found\"");
    assert_holds(&reply, "\"detail\":\"there is no address \\\"/api/v1/nothing\\\" here; /api/v1/openapi.json");
    assert_string_equal(reply_header(&reply, "Cache-Control"), "no-store");
    assert_null(reply_header(&reply, "ETag"));
    reply_free(&reply);
    fixture_get(board.port, "/nothing", &reply);
    assert_status(&reply, 404);
    assert_string_equal(reply_header(&reply, "Content-Type"), "text/html; charset=utf-8");
    assert_holds(&reply, "<h1>");
    assert_holds(&reply, "There is no page &quot;/nothing&quot; here");
    reply_free(&reply);
    fixture_get(board.port, "/%3Cb%3Enothing", &reply);
    assert_holds(&reply, "&quot;/&lt;b&gt;nothing&quot;");
    reply_free(&reply);
    fixture_get(board.port, "/api/v1/statements?limit=9999", &reply);
    assert_status(&reply, 400);
    assert_holds(&reply, "limit must be between");
    reply_free(&reply);
    static const char *const bad[] = {"limit=1&limit=2", "after=-1", "after=1.5", "nothing=1", "after=9999999999999999999", "=1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char target[96];
        snprintf(target, sizeof target, "/api/v1/statements?%s", bad[i]);
        fixture_get(board.port, target, &reply);
        assert_status(&reply, 400);
        reply_free(&reply);
    }
    fixture_get(board.port, "/api/v1/boards/cifar10/training-time?sort=nothing", &reply);
    assert_status(&reply, 400);
    reply_free(&reply);
}

// ---- submissions -------------------------------------------------------------------------------------------------
TEST_WITH(a_run_is_accepted_once, set_up, tear_down)
{
    struct text envelope = {0};
    struct reply first, again, got, unknown;
    fixture_envelope(1, "ada", &ada, &envelope);
    fixture_post(board.port, &envelope, &first);
    assert_status(&first, 201);
    assert_string_equal(reply_header(&first, "Location"), "/api/v1/statements/1");
    assert_null(reply_header(&first, "Access-Control-Allow-Origin"));
    assert_string_equal(reply_header(&first, "Cache-Control"), "no-store");
    fixture_post(board.port, &envelope, &again);
    assert_status(&again, 200);

    json_t *one = json_loads(first.body.at, 0, NULL), *two = json_loads(again.body.at, 0, NULL);
    assert_string_equal(canonical_text(one, "receipt"), canonical_text(two, "receipt"));
    assert_string_equal(canonical_text(one, "signature"), canonical_text(two, "signature"));
    struct receipt receipt;
    struct sshkey server;
    const char *bytes = canonical_text(one, "receipt");
    assert_int_equal(receipt_read(bytes, strlen(bytes), canonical_text(one, "signature"), &receipt, &server), 0);
    assert_int_equal(receipt.sequence, 1);
    assert_memory_equal(server.at, store_key(board.store)->at, 32);

    fixture_get(board.port, "/api/v1/statements/1", &got);
    assert_status(&got, 200);
    json_t *three = json_loads(got.body.at, 0, NULL);
    assert_string_equal(canonical_text(three, "digest"), canonical_text(one, "statement"));
    fixture_get(board.port, "/api/v1/statements/2", &unknown);
    assert_status(&unknown, 404);
    json_decref(one), json_decref(two), json_decref(three);
    reply_free(&first), reply_free(&again), reply_free(&got), reply_free(&unknown);
    text_free(&envelope);
}

TEST_WITH(an_acceptance_shows_at_once, set_up, tear_down)
{
    static const char address[] = "/api/v1/boards/cifar10/training-time";
    struct text envelope = {0};
    struct reply reply;
    for (int i = 0; i < 8; i++) {  // into the cache of both threads
        fixture_get(board.port, address, &reply);
        assert_holds(&reply, "\"total\":0");
        reply_free(&reply);
    }
    fixture_envelope(2, "ada", &ada, &envelope);
    fixture_post(board.port, &envelope, &reply);
    assert_status(&reply, 201);
    reply_free(&reply);
    for (int i = 0; i < 8; i++) {
        fixture_get(board.port, address, &reply);
        assert_holds(&reply, "\"total\":1");
        assert_holds(&reply, "\"author\":\"ada\"");
        reply_free(&reply);
    }
    text_free(&envelope);
}

static void body_case(const char *body, int status, const char *code)
{
    struct text text = {0};
    struct reply reply;
    text_add(&text, "%s", body);
    fixture_post(board.port, &text, &reply);
    if (reply.status != status) printf("%.60s\n", body);
    assert_status(&reply, status);
    assert_holds(&reply, code);
    reply_free(&reply);
    text_free(&text);
}

// Every address of the table, with a run of a group behind it. Fingerprints hold slashes, which addresses have as %2F.
static void fill_pattern(const struct route *route, char path[512])
{
    char id[SSHKEY_ID];
    size_t length = 0;
    sshkey_id(&ada.key, id);
    for (const char *at = route->pattern; *at != 0; at++) {
        if (*at != '{') {
            path[length++] = *at;
            continue;
        }
        const size_t count = strcspn(at, "}") + 1;
        const struct {
            const char *name, *value;
        } names[] = {{"{task}", "cifar10"}, {"{board}", "training-time"}, {"{nonce}", "fedcba9876543210fedcba9876543210"},
                     {"{handle}", "ada"}, {"{machine}", "test-cpu"}, {"{kind}", "train"}, {"{stem}", "x"},
                     {"{name}", "winter"},
                     {"{tile*}", "entries/000.p/1"},
                     {"{id}", strstr(route->pattern, "keys") ? id : "1"}};
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
            if (strncmp(names[n].name, at, count) != 0) continue;
            for (const char *from = names[n].value; *from != 0; from++)
                length += (size_t)sprintf(path + length, *from == '/' && at[count - 2] != '*' ? "%%2F" : "%c", *from);
        }
        at += count - 1;
    }
    path[length] = 0;
}

// ---- the document of the API
static json_t *document_of_the_api(void)
{
    struct reply reply;
    fixture_get(board.port, "/api/v1/openapi.json", &reply);
    json_t *document = json_loadb(reply.body.at, reply.body.length, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    reply_free(&reply);
    return document;
}

static const json_t *resolve(const json_t *document, const json_t *schema)
{
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    if (reference == NULL) return schema;
    const json_t *shape = json_object_get(canonical_at(document, "components.schemas"), strrchr(reference, '/') + 1);
    assert_non_null(shape);
    return shape;
}

static bool has_type(const json_t *schema, const json_t *value)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    assert_non_null(type);
    return strcmp(type, "object") == 0 ? json_is_object(value) : strcmp(type, "array") == 0 ? json_is_array(value)
           : strcmp(type, "string") == 0 ? json_is_string(value) : strcmp(type, "integer") == 0 ? json_is_integer(value)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(value) : json_is_number(value);
}

// How a value differs from its schema: a sentence, or NULL. Nothing that the document does not name may be there.
static const char *differs(const json_t *document, const json_t *schema, const json_t *value)
{
    const char *name, *wrong = NULL;
    json_t *member, *wanted;
    size_t i;
    schema = resolve(document, schema);
    if (json_is_null(value)) return json_is_true(json_object_get(schema, "nullable")) ? NULL : "is null";
    if (!has_type(schema, value)) return "has another type";
    const json_t *words = json_object_get(schema, "enum"), *properties = json_object_get(schema, "properties");
    bool known = words == NULL;
    json_array_foreach(words, i, wanted) known |= json_equal(wanted, value);
    if (!known) return "is none of the words";
    json_array_foreach(json_object_get(schema, "required"), i, wanted)
        if (json_object_get(value, json_string_value(wanted)) == NULL) return json_string_value(wanted);
    if (properties != NULL)
        json_object_foreach((json_t *)value, name, member)
        {
            const json_t *of = json_object_get(properties, name);
            wrong = of == NULL ? "is not in the document" : differs(document, of, member);
            if (wrong != NULL) printf("  in %s: %s\n", name, wrong);
            if (wrong != NULL) return wrong;
        }
    json_array_foreach(value, i, member)
        if (wrong == NULL) wrong = differs(document, json_object_get(schema, "items"), member);
    return wrong;
}

static void test_against_document(const json_t *document, const struct route *route, const json_t *value)
{
    const json_t *operation = json_object_get(json_object_get(json_object_get(document, "paths"), route->pattern), "get");
    const json_t *answer = json_object_get(json_object_get(operation, "responses"), "200");
    const json_t *schema = json_object_get(json_object_get(json_object_get(answer, "content"), "application/json"), "schema");
    assert_non_null(schema);
    const char *wrong = differs(document, schema, value);
    if (wrong != NULL) printf("%s: %s\n", route->pattern, wrong);
    assert_null(wrong);
}

TEST_WITH(payloads_have_the_shape_of_their_fields, set_up, tear_down)
{
    json_t *document = document_of_the_api(), *run = fixture_run();
    const json_t *schema = json_object_get(canonical_at(document, "components.schemas"), "Payload_run");
    assert_null(differs(document, schema, run));
    fixture_set(run, "seed", json_string("5"));
    assert_non_null(differs(document, schema, run));
    json_decref(run);
    json_decref(document);
}

static void open_competition(void)
{
    const json_int_t now = (json_int_t)clock_unix_ms();
    struct acceptance *done = zalloc(sizeof *done);
    json_t *members = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I}", "name", "winter", "title",
                                "Winter", "rules", "None.", "task", "cifar10", "ranked_by", "training-time", "rank", "classic",
                                "division", "open", "trust", "signed", "target_micro", 940000, "begins_ms", now,
                                "commits_until_ms", now + 3600000, "reveals_until_ms", now + 7200000);
    fixture_must(store_competition_open(board.store, members, now, done));
    assert_int_equal(done->problem, PROBLEM_NONE);
    struct receipt receipt;
    struct sshkey server;
    fixture_must(receipt_read(done->receipt, strlen(done->receipt), done->receipt_signature, &receipt, &server));
    json_t *commit = json_pack("{s:s, s:i, s:s, s:s, s:s, s:[{s:s}], s:I}", "type", "commit", "version", 1, "board", "test",
                               "handle", "ada", "competition", receipt.payload, "runs", "statement", FIXTURE_HEX, "made_ms", now);
    struct text envelope = {0};
    fixture_sign(commit, &ada, &envelope);
    body_case(envelope.at, 201, "receipt");
    text_free(&envelope);
    free(done->receipt);
    free(done);
}

TEST_WITH(every_address_answers, set_up, tear_down)
{
    json_t *document = document_of_the_api();
    struct text envelope = {0};
    struct reply reply;
    json_t *run = fixture_numbered(6, "ada");
    json_object_set_new(run, "group", json_pack("{s:s, s:i, s:i, s:I}", "nonce", "fedcba9876543210fedcba9876543210", "index", 2,
                                                "planned", 5, "announced_ms", canonical_int(run, "started_ms") - 1000));
    fixture_chain(run);
    fixture_sign(run, &ada, &envelope);
    body_case(envelope.at, 201, "receipt");
    text_free(&envelope);
    open_competition();
    for (const struct route *route = route_table; route->method != NULL; route++) {
        char path[512];
        if (strcmp(route->method, "GET") != 0) continue;
        fill_pattern(route, path);
        fixture_get(board.port, path, &reply);
        const int expected = strncmp(path, "/archive/", 9) == 0 ? 404 : 200;
        if (reply.status != expected) printf("%s\n", path);
        assert_status(&reply, expected);
        if (strncmp(reply_header(&reply, "Content-Type"), "application/json", 16) == 0) {
            json_t *value = json_loadb(reply.body.at, reply.body.length, JSON_REJECT_DUPLICATES, NULL);
            assert_non_null(value);
            test_against_document(document, route, value);
            json_decref(value);
        }
        if (strcmp(path, "/log/checkpoint") == 0) {
            assert_string_equal(reply_header(&reply, "Cache-Control"), "no-store");
            assert_string_equal(reply_header(&reply, "Content-Type"), "text/plain; charset=utf-8");
        }
        if (strstr(path, "/tile/") != NULL) assert_string_equal(reply_header(&reply, "Content-Type"), "application/octet-stream");
        if (strstr(path, "/payload") != NULL || strstr(path, "/tile/") != NULL)
            assert_string_equal(reply_header(&reply, "Cache-Control"), "public, max-age=31536000, immutable");
        reply_free(&reply);
    }
    json_decref(document);
}

// Every way in which an address may name a key.
TEST_WITH(keys_have_several_names, set_up, tear_down)
{
    struct text envelope = {0};
    struct reply reply;
    char id[SSHKEY_ID];
    do sshkey_new(&ada, "ada");
    while (strchr(sshkey_id(&ada.key, id), '/') == NULL || strchr(id, '+') == NULL);
    fixture_envelope(5, "ada", &ada, &envelope);
    body_case(envelope.at, 201, "receipt");
    text_free(&envelope);
    for (int form = 0; form < 6; form++) {
        char path[512];
        size_t length = (size_t)sprintf(path, "/api/v1/keys/%s", form % 2 == 0 ? "SHA256:" : "");
        for (const char *from = id + 7; *from != 0; from++) {
            const char *slash = form < 4 ? "%2F" : "_", *plus = form < 2 ? "+" : "-";
            length += (size_t)sprintf(path + length, "%.*s", *from == '/' ? 3 : 1,
                                      *from == '/' ? slash : *from == '+' ? plus : from);
        }
        fixture_get(board.port, path, &reply);
        if (reply.status != 200) printf("%s\n", path);
        assert_status(&reply, 200);
        assert_holds(&reply, "\"handle\":\"ada\"");
        reply_free(&reply);
    }
}

TEST_WITH(bad_bodies_are_refused, set_up, tear_down)
{
    struct text deep = {0};
    body_case("", 400, "malformed");
    body_case("{", 400, "malformed");
    body_case("[]", 400, "malformed");
    body_case("\xff\xfe", 400, "malformed");
    body_case("{\"payload\":\"\xc3\x28\",\"signature\":\"x\"}", 400, "malformed");
    body_case("{\"payload\":\"{}\",\"payload\":\"{}\",\"signature\":\"x\"}", 400, "malformed");
    body_case("{\"payload\":\"{\\\"a\\\":1,\\\"a\\\":2}\",\"signature\":\"x\"}", 400, "malformed");
    body_case("{\"payload\":\"{\\\"version\\\":99999999999999999999}\",\"signature\":\"x\"}", 400, "malformed");
    body_case("{\"payload\":\"{\\\"version\\\":1e400}\",\"signature\":\"x\"}", 400, "malformed");
    body_case("{\"payload\":1,\"signature\":\"x\"}", 400, "malformed");
    body_case("{\"payload\":\"{}\",\"signature\":\"x\",\"more\":1}", 400, "malformed");
    for (int i = 0; i < 1000; i++) text_add(&deep, "[");
    body_case(deep.at, 400, "malformed");
    deep.length = 0;
    text_add(&deep, "{\"signature\":\"x\",\"payload\":\"");
    for (int i = 0; i < 1000; i++) text_add(&deep, "{\\\"a\\\":");
    text_add(&deep, "1");
    for (int i = 0; i < 1000; i++) text_add(&deep, "}");
    text_add(&deep, "\"}");
    body_case(deep.at, 400, "malformed");
    text_free(&deep);
}

// Refusals that are not the shape's: another signature, another board, figures that cannot be.
TEST_WITH(bad_statements_are_refused, set_up, tear_down)
{
    struct text envelope = {0};
    struct sshkey_secret eve;
    json_t *run = fixture_numbered(3, "ada");
    sshkey_new(&eve, "eve");
    struct statement statement;
    char signature[SSHSIG_MAX];
    fixture_must(statement_make(json_incref(run), &statement));
    sshsig_sign("other@dawn", statement.payload, statement.count, &ada, signature);
    fixture_must(envelope_write(&statement, signature, NULL, &envelope));
    body_case(envelope.at, 401, "bad-signature");
    statement_free(&statement);

    json_t *foreign = json_deep_copy(run);
    fixture_set(foreign, "board", json_string("elsewhere"));
    envelope.length = 0;
    fixture_sign(foreign, &ada, &envelope);
    body_case(envelope.at, 422, "foreign-board");

    json_t *late = json_deep_copy(run);
    fixture_set(late, "ended_ms", json_integer(canonical_int(late, "ended_ms") + 3600000));
    envelope.length = 0;
    fixture_sign(late, &ada, &envelope);
    body_case(envelope.at, 422, "client-time");

    envelope.length = 0;
    fixture_sign(json_deep_copy(run), &ada, &envelope);
    body_case(envelope.at, 201, "receipt");
    envelope.length = 0;
    fixture_envelope(4, "ada", &eve, &envelope);
    body_case(envelope.at, 403, "handle-taken");
    envelope.length = 0;
    fixture_envelope(4, "countess", &ada, &envelope);
    body_case(envelope.at, 403, "key-taken");
    text_free(&envelope);
    json_decref(run);
}

// In every form that a program asks for, an entry has the same columns in the same order.
TEST_WITH(entries_have_the_same_columns_everywhere, set_up, tear_down)
{
    json_t *document = document_of_the_api();
    const json_t *names = canonical_at(document, "components.schemas.Entry.required");
    struct text envelope = {0}, header = {0};
    struct reply reply;
    fixture_envelope(1, "ada", &ada, &envelope);
    body_case(envelope.at, 201, "receipt");
    text_free(&envelope);
    fixture_get(board.port, "/api/v1/boards/cifar10/training-time", &reply);
    json_t *answer = json_loadb(reply.body.at, reply.body.length, 0, NULL);
    json_t *entry = json_array_get(json_object_get(answer, "entries"), 0);
    reply_free(&reply);
    void *at = json_object_iter(entry);
    for (size_t i = 0; i < json_array_size(names); i++, at = json_object_iter_next(entry, at)) {
        const char *name = json_string_value(json_array_get(names, i));
        assert_non_null(at);
        assert_string_equal(json_object_iter_key(at), name);
        text_add(&header, "%s%s", i > 0 ? "," : "", name);
    }
    assert_null(at);
    text_add(&header, "\r\n1,");
    fixture_get(board.port, "/boards/cifar10/training-time.csv", &reply);
    assert_int_equal(strncmp(reply.body.at, header.at, header.length), 0);
    reply_free(&reply);
    text_free(&header);
    json_decref(answer), json_decref(document);
}

// Readers and writers at once: for the thread sanitizer.
static void *ask_much(void *at)
{
    static const char *const targets[] = {"/", "/log", "/api/v1/boards/cifar10/training-time?limit=3", "/api/v1/statements",
                                          "/style.css"};
    bool *well = at;
    for (int i = 0; i < 40; i++) {
        struct reply reply;
        fixture_get(board.port, targets[i % 5], &reply);
        *well = *well && reply.status == 200;
        reply_free(&reply);
    }
    return NULL;
}

TEST_WITH(readers_and_writers_do_not_mix_up, set_up, tear_down)
{
    enum { READERS = 3 };
    pthread_t threads[READERS];
    bool well[READERS] = {true, true, true};
    for (int i = 0; i < READERS; i++) assert_int_equal(pthread_create(&threads[i], NULL, ask_much, &well[i]), 0);
    for (int i = 0; i < 12; i++) {
        struct text envelope = {0};
        struct reply reply;
        fixture_envelope(100 + i, "ada", &ada, &envelope);
        fixture_post(board.port, &envelope, &reply);
        assert_status(&reply, 201);
        reply_free(&reply);
        text_free(&envelope);
    }
    for (int i = 0; i < READERS; i++) {
        pthread_join(threads[i], NULL);
        assert_true(well[i]);
    }
}
