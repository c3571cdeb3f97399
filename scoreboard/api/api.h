// SPDX-License-Identifier: Apache-2.0
// The door of the API: every address below /api. GET /api/v1/openapi.json says the same to programs.
#ifndef DAWN_SCOREBOARD_API_H
#define DAWN_SCOREBOARD_API_H

#include "scoreboard/http/server.h"

// ROUTE(method, pattern, handler, what it shows)
#define API_ROUTES                                                                                                     \
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
API_ROUTES
#undef ROUTE

#endif
