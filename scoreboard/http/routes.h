// SPDX-License-Identifier: Apache-2.0
// Every address of the scoreboard, in one list. GET routes answer HEAD too, with ETag and 304. A test holds the part
// below /api/v1 against docs/api/openapi.json.
#ifndef DAWN_SCOREBOARD_ROUTES_H
#define DAWN_SCOREBOARD_ROUTES_H

#include "scoreboard/http/server.h"

// ROUTE(method, pattern, handler, what it shows)
#define ROUTE_LIST                                                                                                     \
    ROUTE("GET", "/", page_home, "tasks and their current records")                                                    \
    ROUTE("GET", "/boards/{task}", page_task, "a task: the best of every board")                                       \
    ROUTE("GET", "/boards/{task}/{board}", page_board, "a board")                                                      \
    ROUTE("GET", "/boards/{task}/{board}/history", page_history, "the history of a record")                            \
    ROUTE("GET", "/boards/{task}/pareto", page_pareto, "training time against cost")                                   \
    ROUTE("GET", "/runs/{id}", page_run, "a run: curve, clocks, checks, how to verify it")                             \
    ROUTE("GET", "/groups/{nonce}", page_group, "a group and its runs")                                                \
    ROUTE("GET", "/archive/{task}/{kind}/{stem}", page_archive, "an imported entry")                                   \
    ROUTE("GET", "/compare", page_compare, "two to four runs side by side: ?run=12&run=15")                            \
    ROUTE("GET", "/people/{handle}", page_person, "a person: keys and runs")                                           \
    ROUTE("GET", "/log", page_log, "every accepted statement in order")                                                \
    ROUTE("GET", "/rules", page_rules, "the rules")                                                                    \
    ROUTE("GET", "/submit", page_submit, "how to take part")                                                           \
    ROUTE("GET", "/record", page_record, "how a program of another framework takes part")                              \
    ROUTE("GET", "/statements", page_statements, "the form of what is signed")                                         \
    ROUTE("GET", "/threats", page_threats, "what is stopped, what becomes visible, what remains")                      \
    ROUTE("GET", "/trust", page_trust, "what the levels of trust mean, and what they do not")                          \
    ROUTE("GET", "/feed.atom", page_feed, "news of all boards, as Atom")                                               \
    ROUTE("GET", "/boards/{task}/feed.atom", page_task_feed, "news of a task, as Atom")                                \
    ROUTE("GET", "/boards/{task}/{board}.csv", page_csv, "a board as CSV")                                             \
    ROUTE("GET", "/style.css", asset_style, "the stylesheet")                                                          \
    ROUTE("GET", "/script.js", asset_script, "comfort: copy buttons, sorting without reloading")                       \
    ROUTE("GET", "/favicon.svg", asset_icon, "the sign")                                                               \
    ROUTE("GET", "/robots.txt", asset_robots, "what crawlers may read")                                                \
    ROUTE("GET", "/api/v1", api_about, "board name, server key, limits, tasks")                                        \
    ROUTE("GET", "/api/v1/health", api_health, "whether the record can be read")                                       \
    ROUTE("GET", "/api/v1/openapi.json", api_openapi, "this API as OpenAPI 3.0")                                       \
    ROUTE("GET", "/api/v1/tasks", api_tasks, "the contests and their rules")                                           \
    ROUTE("GET", "/api/v1/boards/{task}/{board}", api_board, "a board; filters as on the page; pages by cursor")       \
    ROUTE("GET", "/api/v1/boards/{task}/{board}/history", api_history, "the history of a record")                      \
    ROUTE("GET", "/api/v1/statements", api_log, "the log: ?after=SEQUENCE&limit=N")                                    \
    ROUTE("POST", "/api/v1/statements", api_accept, "submit a signed statement")                                       \
    ROUTE("GET", "/api/v1/statements/{id}", api_statement, "a statement: envelope, receipt, state, findings")          \
    ROUTE("GET", "/api/v1/statements/{id}/payload", api_payload, "the exact signed bytes")                             \
    ROUTE("GET", "/api/v1/statements/{id}/signature", api_signature, "the SSH signature")                              \
    ROUTE("GET", "/api/v1/statements/{id}/receipt", api_receipt, "the receipt and its signature")                      \
    ROUTE("GET", "/api/v1/groups/{nonce}", api_group, "a group: its runs and its verdict")                             \
    ROUTE("GET", "/api/v1/people/{handle}", api_person, "a person: keys and statements")                               \
    ROUTE("GET", "/api/v1/keys/{id}", api_key, "whose key it is, and whether it still counts (SHA256:... or its tail)")

#define ROUTE(method, pattern, handler, what) int handler(const struct request *, struct answer *);
ROUTE_LIST
#undef ROUTE

struct route {
    const char *method, *pattern, *what;
    handler *run;
};
extern const struct route route_table[];  // ends with method NULL
// Matches a decoded path. Returns the route, or NULL; `*others` says whether the path exists with another method.
// {name} takes one part without a slash, at most 255 bytes, copied into `room`.
const struct route *route_find(const char *method, const char *path, char room[REQUEST_WORDS][256], bool *others);

#endif
