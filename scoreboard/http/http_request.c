// SPDX-License-Identifier: Apache-2.0
// A request from its first line to its answer. libmicrohttpd calls request_begin with the target, request_go_on with the
// head, with each piece of a body and at its end, then request_end. A request refused at its head is answered before any byte
// of its body is read, and the connection ends.
//
// Workload: nearly all requests are GET, most of them for an answer that the cache has: those cost the guard, one
// query of the store's version and a look-up. No lock is held across a handler.
#include "scoreboard/http/http_inside.h"

#include "runtime/common/base/arena.h"
#include "runtime/common/base/clock.h"
#include "runtime/common/base/reserve.h"

#include <stdlib.h>
#include <string.h>

struct exchange {
    struct server *server;
    struct MHD_Connection *connection;
    char *target;  // as it came
    bool begun;    // the head has been checked and accepted
    bool crowded;  // other bodies used up the memory: this one is read to its end and discarded
    size_t announced;
    struct text body;  // its length is counted in the server's `uploading`
};

struct resource {  // where a target leads
    char path[GUARD_PATH + 1];
    char word[REQUEST_WORDS][256];
    const char *query;
    const struct route *route;
};

static _Thread_local struct worker *own;
static const char starved[] = "the server is short of memory; try again in a moment";
static const char crowded[] = "too many statements are being sent at once; try again in a moment";

struct worker *request_worker(struct server *server)
{
    struct worker *worker = zalloc(sizeof *worker);
    worker->server = server;
    worker->cache = cache_new();
    worker->next = server->workers;
    server->workers = worker;
    return worker;
}

// This thread's reader and cache: those that server_start made ready, if any are left.
static int worker_of(struct server *server, struct worker **into)
{
    if (own == NULL || own->server != server) {
        pthread_mutex_lock(&server->lock);
        for (own = server->workers; own != NULL && own->taken;) own = own->next;
        if (own == NULL) own = request_worker(server);
        own->taken = true;
        pthread_mutex_unlock(&server->lock);
    }
    if (own->reader == NULL) TRY(store_reader(server->settings.store, &own->reader));
    *into = own;
    return 0;
}

int request_descriptor(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static int64_t read_milliseconds(const struct exchange *exchange)
{
    return exchange->server->settings.read_seconds * (int64_t)1000;
}

// Sets the deadline of the next step.
static void set_deadline(const struct exchange *exchange, int64_t milliseconds, bool busy)
{
    watch_set(exchange->server->watch, request_descriptor(exchange->connection), milliseconds, busy);
}

void *request_begin(void *context, const char *target, struct MHD_Connection *connection)
{
    struct exchange *exchange = zalloc(sizeof *exchange);
    exchange->server = context;
    exchange->connection = connection;
    exchange->target = copy_text(target);
    return exchange;
}

static void drop_body(struct exchange *exchange)
{
    atomic_fetch_sub(&exchange->server->uploading, exchange->body.length);
    text_free(&exchange->body);
}

void request_end(void *context, struct MHD_Connection *connection, void **at, enum MHD_RequestTerminationCode code)
{
    struct exchange *exchange = *at;
    (void)context, (void)connection, (void)code;
    if (exchange == NULL) return;
    drop_body(exchange);
    set_deadline(exchange, read_milliseconds(exchange), false);
    free(exchange->target);
    free(exchange);
    *at = NULL;
}

// ---- answers -----------------------------------------------------------------------------------------------------
static enum MHD_Result queue_response(struct exchange *exchange, int status, struct MHD_Response *response)
{
    set_deadline(exchange, WRITE_MILLISECONDS, true);
    return MHD_queue_response(exchange->connection, (unsigned)status, response);
}

static enum MHD_Result send_answer(struct exchange *exchange, struct answer *answer, enum reply_use use, const char *path,
                                   bool close)
{
    struct MHD_Response *response = reply_make(answer, use, path, "", close);
    if (answer->status == 405 || use == REPLY_OPTIONS) reply_allow(&response, exchange->server->settings.routes, path);
    if (response == NULL) return MHD_NO;  // the connection ends
    enum MHD_Result result = queue_response(exchange, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_refusal(struct exchange *exchange, enum reply_use use, const char *path, enum problem problem,
                              const char *detail, bool close)
{
    struct answer answer = {0};
    reply_problem(&exchange->server->settings, &answer, path, problem, detail);
    return send_answer(exchange, &answer, use, path, close);
}

// The operator gets the full sentence of an internal failure, the client a general one.
static void fail_answer(struct server *server, struct answer *answer, const char *path, int rc)
{
    enum problem problem = reply_problem_of(rc);
    const char *detail = error_text();
    if (problem_status(problem) >= 500) {
        if (server->settings.fault != NULL) server->settings.fault(detail);
        detail = problem == PROBLEM_STORAGE ? "the storage does not respond; try again later" : "see the server's log";
    }
    text_free(&answer->body);
    *answer = (struct answer){0};
    reply_problem(&server->settings, answer, path, problem, detail);
}

// Names the fault of an address that no route has, or none of that method.
static const char *route_fault(const char *path, bool others)
{
    static const char list[] = "/api/v1/openapi.json lists the addresses of the API";
    if (others) (void)fail(ERR_INPUT, "the header Allow names the methods that this address takes");
    else if (strncmp(path, "/api", 4) == 0) (void)fail(ERR_MISSING, "there is no address \"%.200s\" here; %s", path, list);
    else (void)fail(ERR_MISSING, "there is no page \"%.200s\" here", path);
    return error_text();
}

static enum problem find_resource(const struct exchange *exchange, const char *method, struct resource *resource,
                                  const char **detail)
{
    const char *target = exchange->target;
    bool others = false;
    resource->route = NULL;
    enum problem problem = guard_target(target, resource->path, &resource->query, detail);
    if (problem != PROBLEM_NONE) {  // the form of the refusal depends on a path
        strcpy(resource->path, strncmp(target, "/api/", 5) == 0 ? "/api" : "/");
        return problem;
    }
    resource->route = route_find(exchange->server->settings.routes, method, resource->path, resource->word, &others);
    *detail = resource->route != NULL ? NULL : route_fault(resource->path, others);
    return resource->route != NULL ? PROBLEM_NONE : others ? PROBLEM_METHOD : PROBLEM_NOT_FOUND;
}

// ---- the head ----------------------------------------------------------------------------------------------------
static enum MHD_Result take_line(void *context, enum MHD_ValueKind kind, const char *name, size_t name_count, const char *value,
                                 size_t value_count)
{
    (void)kind;
    guard_line(context, name, name_count, value != NULL ? value : "", value != NULL ? value_count : 0);
    return MHD_YES;
}

// A request that brings a body: address, method, length and type must be right before it is read.
static enum problem check_upload(struct exchange *exchange, const char *method, const struct guard *guard,
                                 struct resource *resource, const char **detail)
{
    enum problem problem = find_resource(exchange, method, resource, detail);
    if (problem == PROBLEM_NONE) problem = guard_body(guard, &exchange->announced, detail);
    if (problem == PROBLEM_NONE && exchange->announced + atomic_load(&exchange->server->uploading) > UPLOADS_MAX) {
        *detail = crowded;
        return PROBLEM_STORAGE;
    }
    return problem;
}

// A piece of a body. Only received bytes count, so a client that announces much and sends little blocks nobody.
static void take_piece(struct exchange *exchange, const char *bytes, size_t count)
{
    atomic_size_t *uploading = &exchange->server->uploading;
    if (exchange->crowded) return;
    text_bytes(&exchange->body, bytes, count);
    if (atomic_fetch_add(uploading, count) + count <= UPLOADS_MAX) return;
    drop_body(exchange);
    exchange->crowded = true;
}

static enum MHD_Result take_head(struct exchange *exchange, const char *method)
{
    const bool bodiless = guard_bodiless(method);
    struct MHD_Connection *connection = exchange->connection;
    const union MHD_ConnectionInfo *size = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    struct guard guard = {0};
    struct resource resource;
    const char *detail;
    BUG_IF(size == NULL);
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_line, &guard);
    strcpy(resource.path, strncmp(exchange->target, "/api/", 5) == 0 ? "/api" : "/");
    enum problem problem = guard_head(&guard, method, exchange->target, size->header_size, &detail);
    if (problem == PROBLEM_NONE && reserve_low()) problem = PROBLEM_STORAGE, detail = starved;
    if (problem == PROBLEM_NONE && !bodiless) problem = check_upload(exchange, method, &guard, &resource, &detail);
    if (problem != PROBLEM_NONE) {
        return send_refusal(exchange, bodiless ? REPLY_GET : REPLY_POST, resource.path, problem, detail, true);
    }
    exchange->begun = true;
    set_deadline(exchange, read_milliseconds(exchange), true);
    return MHD_YES;
}

// ---- handlers ----------------------------------------------------------------------------------------------------
static int run_handler(struct exchange *exchange, struct worker *worker, const struct resource *resource, struct answer *answer)
{
    const struct server_settings *settings = &exchange->server->settings;
    const struct text *body = &exchange->body;
    struct request request = {
        .path = resource->path, .query = resource->query, .body = body->at != NULL ? body->at : "", .body_count = body->length,
        .store = settings->store, .reader = worker->reader, .settings = settings,
    };
    for (int i = 0; i < REQUEST_WORDS; i++) request.word[i] = resource->word[i];
    if (strcmp(resource->route->method, "POST") == 0) request.now_ms = clock_unix_ms();
    *answer = (struct answer){.status = 200, .type = "text/html; charset=utf-8"};
    return resource->route->run(&request, answer);
}

static enum MHD_Result send_cached(struct exchange *exchange, const struct cached *cached)
{
    const char *known = MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, "If-None-Match");
    const bool same = known != NULL && guard_matches(known, cached->tag);
    return queue_response(exchange, same ? 304 : 200, same ? cached->unchanged : cached->whole);
}

static enum MHD_Result send_fresh(struct exchange *exchange, struct worker *worker, const char *path, struct answer *answer)
{
    struct cached fresh = {0};
    const size_t bytes = answer->body.length;
    reply_tag(answer, fresh.tag);
    fresh.unchanged = reply_unchanged(answer, path, fresh.tag);
    fresh.whole = reply_make(answer, REPLY_GET, path, fresh.tag, false);
    const bool made = fresh.whole != NULL && fresh.unchanged != NULL;
    enum MHD_Result result = made ? send_cached(exchange, &fresh) : MHD_NO;
    if (made && cache_keep(worker->cache, exchange->target, &fresh, bytes)) return result;
    if (fresh.whole != NULL) MHD_destroy_response(fresh.whole);
    if (fresh.unchanged != NULL) MHD_destroy_response(fresh.unchanged);
    return result;
}

// The version is read before the answer is made: an answer may be newer than its version, never older.
static int look_up_cached(struct exchange *exchange, struct worker **worker, const struct cached **hit)
{
    int64_t version = 0;
    TRY(worker_of(exchange->server, worker));
    int rc = store_version((*worker)->reader, &version);
    if (rc < 0) {  // a failed reader is reopened for the next request
        store_reader_close((*worker)->reader);
        (*worker)->reader = NULL;
        return rc;
    }
    cache_renew((*worker)->cache, version);
    *hit = cache_find((*worker)->cache, exchange->target);
    return 0;
}

static uint64_t address_of(const struct exchange *exchange)
{
    const union MHD_ConnectionInfo *peer = MHD_get_connection_info(exchange->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return meter_address(peer != NULL ? peer->client_addr : NULL,
                         MHD_lookup_connection_value(exchange->connection, MHD_HEADER_KIND, "X-Real-IP"));
}

static enum MHD_Result send_wait(struct exchange *exchange, const char *path, int seconds)
{
    struct answer answer = {.retry_after = seconds};
    reply_problem(&exchange->server->settings, &answer, path, PROBLEM_BUSY,
                  "this address has asked for much that has to be worked out; try again later");
    return send_answer(exchange, &answer, REPLY_GET, path, false);
}

static enum MHD_Result answer_get(struct exchange *exchange)
{
    struct resource resource;
    struct answer answer = {0};
    struct worker *worker = NULL;
    const struct cached *hit = NULL;
    const char *detail = NULL;
    int rc = look_up_cached(exchange, &worker, &hit);
    if (rc == 0 && hit != NULL) return send_cached(exchange, hit);
    enum problem problem = find_resource(exchange, "GET", &resource, &detail);
    if (problem != PROBLEM_NONE) {  // after a malformed target, nothing that follows can be trusted
        return send_refusal(exchange, REPLY_GET, resource.path, problem, detail, problem == PROBLEM_MALFORMED);
    }
    const char *health = exchange->server->settings.health;
    const uint64_t address = address_of(exchange);
    const int64_t begin = clock_ns();
    int wait = health != NULL && strcmp(resource.path, health) == 0 ? 0 : meter_wait(exchange->server->meter, address, begin);
    if (wait > 0) return send_wait(exchange, resource.path, wait);
    if (rc == 0) rc = run_handler(exchange, worker, &resource, &answer);
    meter_take(exchange->server->meter, address, begin, clock_ns() - begin);
    if (rc == 0 && answer.status == 200 && !answer.live) return send_fresh(exchange, worker, resource.path, &answer);
    if (rc < 0) fail_answer(exchange->server, &answer, resource.path, rc);
    return send_answer(exchange, &answer, REPLY_GET, resource.path, false);
}

static enum MHD_Result answer_post(struct exchange *exchange)
{
    struct resource resource;
    struct answer answer = {0};
    struct worker *worker;
    const char *detail;
    BUG_IF(find_resource(exchange, "POST", &resource, &detail) != PROBLEM_NONE);  // check_upload has asked before
    if (exchange->crowded) return send_refusal(exchange, REPLY_POST, resource.path, PROBLEM_STORAGE, crowded, true);
    int rc = worker_of(exchange->server, &worker);
    if (rc == 0) rc = run_handler(exchange, worker, &resource, &answer);
    if (rc < 0) fail_answer(exchange->server, &answer, resource.path, rc);
    return send_answer(exchange, &answer, REPLY_POST, resource.path, false);
}

static enum MHD_Result answer_options(struct exchange *exchange)
{
    struct resource resource;
    struct answer answer = {.status = 204};
    const char *detail;
    enum problem problem = find_resource(exchange, "OPTIONS", &resource, &detail);
    if (problem != PROBLEM_METHOD) return send_refusal(exchange, REPLY_GET, resource.path, problem, detail, false);
    return send_answer(exchange, &answer, REPLY_OPTIONS, resource.path, false);
}

enum MHD_Result request_go_on(void *context, struct MHD_Connection *connection, const char *target, const char *method,
                              const char *version, const char *bytes, size_t *count, void **at)
{
    struct exchange *exchange = *at;
    (void)context, (void)connection, (void)target, (void)version;
    BUG_IF(exchange == NULL);
    if (!exchange->begun) return take_head(exchange, method);
    if (*count > 0) {
        if (*count > exchange->announced - exchange->body.length) return MHD_NO;  // more than Content-Length said
        take_piece(exchange, bytes, *count);
        *count = 0;
        return MHD_YES;
    }
    set_deadline(exchange, WRITE_MILLISECONDS, true);  // the client has sent all of it: a slow machine is not its fault
    if (strcmp(method, "POST") == 0) return answer_post(exchange);
    if (strcmp(method, "OPTIONS") == 0) return answer_options(exchange);
    return answer_get(exchange);
}
