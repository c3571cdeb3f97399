// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of the server: http.c (start, stop), http_request.c (head to answer), http_reply.c (answer to response).
#pragma once

#include "scoreboard/http/http_cache.h"
#include "scoreboard/http/http_guard.h"
#include "scoreboard/http/http_meter.h"
#include "scoreboard/http/http_watch.h"
#include "scoreboard/http/server.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

enum {
    UPLOADS_MAX = 64 << 20,       // bytes received so far of all unfinished bodies
    WRITE_MILLISECONDS = 30000,   // for the client to receive an answer
};

// State of one of libmicrohttpd's threads.
struct worker {
    struct server *server;
    bool taken;              // by a thread; under the server's lock
    struct reader *reader;
    struct cache *cache;
    struct worker *next;
};
struct server {
    struct server_settings settings;
    struct MHD_Daemon *daemon;
    struct watch *watch;
    struct meter *meter;
    int listening, port;
    char url[300];           // settings.url, where that was not given
    atomic_size_t uploading;
    pthread_mutex_t lock;
    struct worker *workers;  // under the lock
};

// ---- http_request.c: libmicrohttpd's callbacks; the first argument is the server
void *request_begin(void *, const char *target, struct MHD_Connection *);
enum MHD_Result request_go_on(void *, struct MHD_Connection *, const char *target, const char *method, const char *version,
                              const char *bytes, size_t *count, void **exchange);
void request_end(void *, struct MHD_Connection *, void **exchange, enum MHD_RequestTerminationCode);
int request_descriptor(struct MHD_Connection *);
struct worker *request_worker(struct server *);  // a new one; the caller excludes other threads

// ---- http_reply.c
enum reply_use { REPLY_GET, REPLY_POST, REPLY_OPTIONS };
// Takes ownership of the answer's body. `tag`: "" or the ETag; `close`: the connection ends after it.
struct MHD_Response *reply_make(struct answer *, enum reply_use, const char *path, const char *tag, bool close);
struct MHD_Response *reply_unchanged(const struct answer *, const char *path, const char *tag);
void reply_tag(const struct answer *, char tag[CACHE_TAG]);
void reply_allow(struct MHD_Response **, const struct route *table, const char *path);  // adds the Allow header of this address
// Turns a refusal into the answer that fits the address: JSON below /api, a page elsewhere.
void reply_problem(const struct server_settings *, struct answer *, const char *path, enum problem, const char *detail);
enum problem reply_problem_of(int rc);
