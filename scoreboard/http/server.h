// SPDX-License-Identifier: Apache-2.0
// The HTTP server: libmicrohttpd (epoll, 2 threads) on loopback behind nginx. This folder owns connections,
// limits, guard and cache; the caller passes the table of addresses. Handlers (api_*.c, page_*.c) turn a request into an answer
// and never see a socket.
#pragma once

#include "scoreboard/store/store.h"

// Limits on the bytes of a request; http_guard.h enforces them.
enum { GUARD_HEAD = 16 << 10, GUARD_PATH = 2048, GUARD_QUERY = 4096, GUARD_BODY = 1 << 20 };

enum { REQUEST_WORDS = 4 };
struct request {
    const char *path;                 // decoded, without the query
    const char *query;                // as it came, NULL when there is none
    const char *word[REQUEST_WORDS];  // what the pattern's {names} matched
    const char *body;
    size_t body_count;
    struct store *store;
    struct reader *reader;            // this thread's
    int64_t now_ms;                   // POST only: GET answers depend on the store alone, unless `live`
    const struct server_settings *settings;
};
struct answer {
    int status;                       // 200 by default
    const char *type;                 // "text/html; charset=utf-8" by default
    struct text body;                 // http.c frees it
    char file_name[64];               // for downloads; "": shown in place
    char location[256];               // "" or an address, for 201 and redirects
    int retry_after;
    bool immutable;                   // never changes: exact bytes of statements, assets named by their digest
    bool live;                        // depends on more than the record: never kept
    char next[2560];                  // "" or the address of the next page, for the header Link
};
// Returns 0 or an error: ERR_MISSING becomes 404, ERR_INPUT 400, ERR_DATABASE 503, all else 500.
// On an error the answer's body is discarded and a problem is sent: JSON below /api and /log/, a page elsewhere.
typedef int handler(const struct request *, struct answer *);
// Refuses a request in a handler: fills in status, type and body.
void answer_problem(struct answer *, enum problem, const char *detail, const struct findings *);

struct route {
    const char *method, *pattern, *what;
    handler *run;
};
// Matches a decoded path against a table that ends with method NULL. Returns the route, or NULL; `*others` says whether the path
// exists with another method. {name} takes one part without a slash, {name*} all the rest, at most 255 bytes, copied to `buffer`.
const struct route *route_find(const struct route *table, const char *method, const char *path, char buffer[REQUEST_WORDS][256],
                               bool *others);

// The contest that a path names first, and the board it names second with the query's filter. ERR_MISSING with a sentence.
int request_contest(const struct request *, const struct contest **) MUST_CHECK;
int request_filter(const struct request *, struct filter *) MUST_CHECK;
// The cursor of a query that has nothing else; NULL without a query.
int request_cursor(const struct request *, const char *name, const char **cursor) MUST_CHECK;

struct server;
struct server_settings {
    const struct route *routes;      // GET routes answer HEAD too, with ETag and 304
    void (*problem_page)(enum problem, const char *detail, struct answer *);  // of every address that is for people
    const char *url;                 // where people reach it, without a slash at the end; NULL: http:// and where it listens
    int64_t copy_ms;                 // pages are for a static copy of that moment, without fields to fill in; 0: for a server
    const char *listen;              // as given to server_listen: "127.0.0.1:8080", "[::1]:0"; port 0: a free one
    struct store *store;
    int threads;                     // 2
    int connections, per_address;    // 512, 32; per_address 0: no limit (behind a proxy all come from one)
    int read_seconds;                // deadline of a head: 5; its body has as long again
    int64_t submissions_per_hour;    // published by GET /api/v1; the store enforces it
    int64_t work_milliseconds;       // CPU budget per client, in ms per second, for uncached pages; 0: no limit
    const char *health;              // the path that this limit exempts; may be NULL
    void (*fault)(const char *sentence);  // reports a 500 or 503 to the operator; called from any thread; may be NULL
};
// The socket is opened first, so that an address in use is found before a record is created. server_start owns it, also when
// it fails.
int server_listen(const char *listen_at, int *listening) MUST_CHECK;
int server_start(const struct server_settings *, int listening, struct server **) MUST_CHECK;
int server_port(const struct server *);
void server_stop(struct server *);   // accepts no new connections, lets requests end (at most 10 s), then frees
