// SPDX-License-Identifier: Apache-2.0
// A scoreboard of its own for a test, on a free port, and a client that sends exactly the bytes it is given. Also signed
// runs by the number, all different and all fit to be accepted now.
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "runtime/common/base/clock.h"
#include "scoreboard/pages/pages.h"
#include "scoreboard/routes.h"
#include "test/unit/fixture_statement.h"

struct fixture_server {
    char folder[64], path[96];
    struct store *store;
    struct server *server;
    int port;
};

static char fixture_board_key[SSHKEY_ID];  // of the board that statements are signed for

static inline void fixture_must(int rc)
{
    if (rc >= 0) return;
    fprintf(stderr, "fixture: %s\n", error_text());
    abort();
}

static inline void fixture_complain(const char *sentence)
{
    fprintf(stderr, "server: %s\n", sentence);
}

// `more`: settings other than the usual; NULL for none. The store is opened where f->path says, or in a new folder.
static inline void fixture_start(struct fixture_server *f, const struct server_settings *more)
{
    if (*f->path == 0) {
        strcpy(f->folder, "/tmp/dawn-test-XXXXXX");
        if (mkdtemp(f->folder) == NULL) abort();
        snprintf(f->path, sizeof f->path, "%s/board.db", f->folder);
    }
    const struct store_settings settings = {.path = f->path, .origin = "test"};
    fixture_must(store_open(&settings, STORE_WRITE, &f->store));
    sshkey_id(store_key(f->store), fixture_board_key);
    struct server_settings own = more != NULL ? *more : (struct server_settings){0};
    own.listen = "127.0.0.1:0";
    if (own.routes == NULL) own.routes = route_table;
    own.problem_page = page_problem;
    own.store = f->store;
    int listening;
    fixture_must(server_listen(own.listen, &listening));
    fixture_must(server_start(&own, listening, &f->server));
    f->port = server_port(f->server);
}

static inline void fixture_stop(struct fixture_server *f)
{
    if (f->server != NULL) server_stop(f->server);
    if (f->store != NULL) store_close(f->store);
    f->server = NULL;
    f->store = NULL;
}

static inline void fixture_remove(struct fixture_server *f)
{
    char command[128];
    fixture_stop(f);
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    if (*f->folder != 0 && system(command) != 0) abort();
    *f = (struct fixture_server){0};
}

// ---- the client --------------------------------------------------------------------------------------------------
static inline int fixture_connect(int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {.tv_sec = 30};
    const int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) < 0) {
        if (fd >= 0) close(fd);
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static inline bool fixture_send(int fd, const void *bytes, size_t count)
{
    for (const char *at = bytes; count > 0;) {
        ssize_t sent = send(fd, at, count, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        at += sent;
        count -= (size_t)sent;
    }
    return true;
}

struct reply {
    int status;        // 0: the connection ended without one
    struct text head;  // with the status line
    struct text body;
};

static inline void reply_free(struct reply *reply)
{
    text_free(&reply->head);
    text_free(&reply->body);
    *reply = (struct reply){0};
}

// The value of a header, or NULL; valid until the next call.
static inline const char *reply_header(const struct reply *reply, const char *name)
{
    static _Thread_local char value[1024];
    const size_t length = strlen(name);
    for (const char *line = reply->head.at; line != NULL && *line != 0; line = strstr(line, "\r\n")) {
        if (*line == '\r') line += 2;
        if (strncasecmp(line, name, length) != 0 || line[length] != ':') continue;
        snprintf(value, sizeof value, "%.*s", (int)strcspn(line + length + 2, "\r"), line + length + 2);
        return value;
    }
    return NULL;
}

// Reads one answer; `head_only` for HEAD.
static inline void reply_read(int fd, bool head_only, struct reply *reply)
{
    char c;
    *reply = (struct reply){0};
    while (reply->head.length < 4 || memcmp(reply->head.at + reply->head.length - 4, "\r\n\r\n", 4) != 0) {
        if (recv(fd, &c, 1, 0) != 1) return;
        text_bytes(&reply->head, &c, 1);
    }
    reply->status = atoi(reply->head.at + 9);
    const char *length = reply_header(reply, "Content-Length");
    size_t left = head_only || length == NULL || reply->status == 304 ? 0 : (size_t)atol(length);
    char piece[4096];
    while (left > 0) {
        ssize_t got = recv(fd, piece, left < sizeof piece ? left : sizeof piece, 0);
        if (got <= 0) break;
        text_bytes(&reply->body, piece, (size_t)got);
        left -= (size_t)got;
    }
}

// Whether the other side has ended the connection (waits up to a second for it).
static inline bool fixture_ended(int fd)
{
    char c;
    struct pollfd waiting = {.fd = fd, .events = POLLIN};
    return poll(&waiting, 1, 1000) > 0 && recv(fd, &c, 1, MSG_PEEK) <= 0;
}

// One request on a connection of its own.
static inline void fixture_ask(int port, const void *bytes, size_t count, struct reply *reply)
{
    int fd = fixture_connect(port);
    *reply = (struct reply){0};
    if (fd < 0) return;
    fixture_send(fd, bytes, count);  // a refusal may come before all is sent
    reply_read(fd, count > 4 && memcmp(bytes, "HEAD", 4) == 0, reply);
    close(fd);
}

static inline void fixture_get(int port, const char *target, struct reply *reply)
{
    struct text request = {0};
    text_add(&request, "GET %s HTTP/1.1\r\nHost: test\r\n\r\n", target);
    fixture_ask(port, request.at, request.length, reply);
    text_free(&request);
}

static inline void fixture_post_request(const struct text *body, struct text *into)
{
    text_add(into, "POST /api/v1/statements HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n");
    text_add(into, "Content-Length: %zu\r\n\r\n", body->length);
    text_bytes(into, body->at, body->length);
}

static inline void fixture_post(int port, const struct text *body, struct reply *reply)
{
    struct text request = {0};
    fixture_post_request(body, &request);
    fixture_ask(port, request.at, request.length, reply);
    text_free(&request);
}

// ---- signed runs -------------------------------------------------------------------------------------------------
static inline void fixture_today(char date[11])
{
    const time_t now = (time_t)(clock_unix_ms() / 1000);
    struct tm day;
    gmtime_r(&now, &day);
    strftime(date, 11, "%Y-%m-%d", &day);
}

// Run `number`: its own nonce, seed, curve and one of 40 machines, ended a minute ago, in no group.
static inline json_t *fixture_numbered(int number, const char *handle)
{
    static const char *const names[] = {"EPYC", "Xeon", "Graviton", "Ampere", "Core"};
    char nonce[33], date[11], cpu[64];
    int64_t scores[FIXTURE_EPOCHS];
    json_t *run = fixture_run(), *latency = fixture_item(run, "latencies", 0);
    const int64_t ended = clock_unix_ms() - 60000;
    snprintf(nonce, sizeof nonce, "%032x", (unsigned)number + 1);
    snprintf(cpu, sizeof cpu, "%s %d", names[number % 5], 7000 + number % 8);
    fixture_today(date);
    for (int i = 0; i < FIXTURE_EPOCHS; i++) scores[i] = 6000 + 355 * i + number % 89 + (i == FIXTURE_EPOCHS - 1 ? 205 : 0);
    json_object_del(run, "group");
    fixture_set(run, "handle", json_string(handle));
    fixture_set(run, "nonce", json_string(nonce));
    fixture_set(run, "seed", json_integer(number));
    fixture_set(run, "hardware.cpu", json_string(cpu));
    fixture_set(run, "started_ms", json_integer(ended - 130000));
    fixture_set(run, "ended_ms", json_integer(ended));
    fixture_set(run, "price.date", json_string(date));
    json_object_set_new(latency, "measured_ms", json_integer(ended));
    json_object_set_new(json_object_get(latency, "price"), "date", json_string(date));
    fixture_curve(run, scores, FIXTURE_EPOCHS);
    fixture_again(run, 0, number + 1);
    return run;
}

// Signs a payload (the reference passes over) and appends the envelope.
static inline void fixture_sign(json_t *payload, const struct sshkey_secret *secret, struct text *envelope)
{
    struct statement statement;
    char signature[SSHSIG_MAX];
    if (*fixture_board_key != 0 && json_object_get(payload, "board_key") == NULL)
        json_object_set_new(payload, "board_key", json_string(fixture_board_key));
    fixture_must(statement_make(payload, &statement));
    sshsig_sign(statement_namespace(statement.type), statement.payload, statement.count, secret, signature);
    fixture_must(envelope_write(&statement, signature, NULL, envelope));
    statement_free(&statement);
}

static inline void fixture_envelope(int number, const char *handle, const struct sshkey_secret *secret, struct text *envelope)
{
    fixture_sign(fixture_numbered(number, handle), secret, envelope);
}

// For store_check.
static inline int fixture_say(void *context, const char *sentence)
{
    (void)context;
    fprintf(stderr, "%s\n", sentence);
    return 0;
}
