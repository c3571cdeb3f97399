// SPDX-License-Identifier: Apache-2.0
// Shared by the API's handlers. Answers are JSON: figures of statements are the integers that were signed; only derived values
// and intervals are floats.
#pragma once

#include <jansson.h>

#include "scoreboard/api/api.h"

enum { API_LOG_LIMIT = 200 };  // statements of an answer

// The handler of a route, and the head of its body, which borrows an arena.
typedef int api_body(const struct request *, struct arena *, struct answer *);
int api_make(const struct request *, struct answer *, api_body *) MUST_CHECK;
#define API(handler)                                                                                                   \
    static api_body handler##_body;                                                                                    \
    int handler(const struct request *request, struct answer *answer)                                                  \
    {                                                                                                                  \
        return api_make(request, answer, handler##_body);                                                              \
    }                                                                                                                  \
    static int handler##_body(const struct request *request, struct arena *arena, struct answer *answer)

int api_send(struct answer *, json_t *value) MUST_CHECK;  // the reference passes over
json_t *api_text(const char *);                           // text that is not UTF-8 is left out
json_t *api_float(double);                                // null for infinity and NaN
json_t *api_sequence(int64_t);                            // null for 0
json_t *api_stored(const struct stored *);                // a statement as lists show it
json_t *api_findings(const struct findings *);
json_t *api_objections(const struct objection *, int count);
json_t *api_entry(const struct entry *);                  // a row of a board
// Reads a query of whole numbers: the members `names` (ends with NULL), each at most once and within 0 to 2^53. `values` keeps
// its numbers for missing members. ERR_INPUT names the fault.
int api_query(const char *query, const char *const names[], int64_t values[]) MUST_CHECK;

// ---- openapi_shapes.c: the schemas of the document, by name, made of tables
json_t *openapi_shapes(void);
json_t *openapi_typed(const char *type, const char *what);  // "int", "text?", "[Finding]", ...: a schema
