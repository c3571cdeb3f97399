// SPDX-License-Identifier: Apache-2.0
// The door of the API: every address below /api, and the log's files below /log. GET /api/v1/openapi.json describes them for
// programs.
#pragma once

#include "scoreboard/http/server.h"

// ROUTE(method, pattern, handler, shape of the answer, what it shows). The shape is one of openapi_shapes.c, "object" for any
// JSON, "text" or "bytes". The OpenAPI document is generated from this list and from those shapes.
#define API_ROUTES                                                                                                             \
    ROUTE("GET", "/api/v1", api_about, "About", "board name, server key, limits, tasks")                                       \
    ROUTE("GET", "/api/v1/health", api_health, "Health", "whether the record can be read and written")                         \
    ROUTE("GET", "/api/v1/openapi.json", api_openapi, "object", "this API as OpenAPI 3.0")                                     \
    ROUTE("GET", "/api/v1/tasks", api_tasks, "Tasks", "the contests and their rules")                                          \
    ROUTE("GET", "/api/v1/boards/{task}/{board}", api_board, "Board", "a board; filters as on the page; pages by cursor")      \
    ROUTE("GET", "/api/v1/boards/{task}/{board}/history", api_history, "History", "the history of a record")                   \
    ROUTE("GET", "/api/v1/statements", api_log, "Log", "the log: ?after=SEQUENCE&limit=N")                                     \
    ROUTE("POST", "/api/v1/statements", api_accept, "Accepted", "submit a signed statement")                                   \
    ROUTE("GET", "/api/v1/statements/{id}", api_statement, "Statement", "a statement: envelope, receipt, state, findings")     \
    ROUTE("GET", "/api/v1/statements/{id}/payload", api_payload, "object", "the exact signed bytes")                           \
    ROUTE("GET", "/api/v1/statements/{id}/signature", api_signature, "text", "the SSH signature")                              \
    ROUTE("GET", "/api/v1/statements/{id}/receipt", api_receipt, "Receipt", "the receipt and its signature")                   \
    ROUTE("POST", "/api/v1/tickets/{digest}/beats", api_beat, "Stamped", "a state of a run that a ticket announced")            \
    ROUTE("GET", "/api/v1/groups/{nonce}", api_group, "Group", "a group: its runs and its verdict")                            \
    ROUTE("GET", "/api/v1/people/{handle}", api_person, "Person", "a person: keys and statements, ?before=SEQUENCE")           \
    ROUTE("GET", "/api/v1/competitions", api_competitions, "Competitions", "the competitions, newest first")                   \
    ROUTE("GET", "/api/v1/competitions/{name}", api_competition, "CompetitionEntries", "a competition: who committed, ranked") \
    ROUTE("GET", "/api/v1/keys/{id}", api_key, "Key", "whose key it is, and whether it still counts (SHA256:... or its tail)") \
    ROUTE("GET", "/api/v1/machines", api_machines, "Machines", "machines by the model of their GPU or processor, ?before=NEXT") \
    ROUTE("GET", "/api/v1/machines/{machine}", api_machine, "Machine", "a machine: uploads, measured throughput, ?before=N")   \
    ROUTE("GET", "/log/checkpoint", api_checkpoint, "text", "the log's size and root, signed (C2SP tlog-checkpoint)")          \
    ROUTE("GET", "/log/tile/{tile*}", api_tile, "bytes", "hashes or entries of the log (C2SP tlog-tiles): LEVEL/NUMBER[.p/WIDTH]")

#define ROUTE(method, pattern, handler, shape, what) int handler(const struct request *, struct answer *);
API_ROUTES
#undef ROUTE
