// SPDX-License-Identifier: Apache-2.0
// From an answer to libmicrohttpd's response: the headers that every response has, ETags, and the form of refusals. A
// response takes ownership of the answer's bytes, so nothing is copied. Where memory is missing for one header the whole response
// becomes NULL: without its headers it must not be sent.
#include "scoreboard/http/http_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char POLICY[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                             "frame-ancestors 'none'; base-uri 'none'; form-action 'self'";

static void add_header(struct MHD_Response **response, const char *name, const char *value)
{
    if (*response == NULL || MHD_add_response_header(*response, name, value) == MHD_YES) return;
    MHD_destroy_response(*response);
    *response = NULL;
}

static bool below_api(const char *path)
{
    return strncmp(path, "/api", 4) == 0 && (path[4] == '/' || path[4] == 0);
}

// Addresses for programs: the API, and the log's files.
static bool for_programs(const char *path)
{
    return below_api(path) || strncmp(path, "/log/", 5) == 0;
}

// Data may be read from any site; pages and their assets only from this one.
static bool is_shared(const char *path)
{
    const char *end = strrchr(path, '.');
    return for_programs(path) || (end != NULL && (strcmp(end, ".atom") == 0 || strcmp(end, ".csv") == 0));
}

static void add_common(struct MHD_Response **response, enum reply_use use, const char *path)
{
    add_header(response, "Content-Security-Policy", POLICY);
    add_header(response, "X-Content-Type-Options", "nosniff");
    add_header(response, "Referrer-Policy", "no-referrer");
    add_header(response, "Cross-Origin-Resource-Policy", is_shared(path) ? "cross-origin" : "same-origin");
    if (use != REPLY_POST) add_header(response, "Access-Control-Allow-Origin", "*");
    if (use == REPLY_OPTIONS) add_header(response, "Access-Control-Allow-Methods", "GET, HEAD");
}

static void add_caching(struct MHD_Response **response, const struct answer *answer, const char *tag)
{
    const char *how = *tag == 0 ? "no-store"
                      : answer->immutable ? "public, max-age=31536000, immutable" : "public, max-age=0, must-revalidate";
    add_header(response, "Cache-Control", how);
    if (*tag != 0) add_header(response, "ETag", tag);
}

// A location contains client input (a handle, a digest), which must never put a control character into a header.
static void add_location(struct MHD_Response **response, const char *location)
{
    for (const char *at = location; *at != 0; at++) BUG_IF(*at <= ' ' || *at > '~');
    add_header(response, "Location", location);
}

struct MHD_Response *reply_make(struct answer *answer, enum reply_use use, const char *path, const char *tag, bool close)
{
    char line[320];
    struct MHD_Response *response = MHD_create_response_from_buffer(
        answer->body.length, answer->body.at, answer->body.at != NULL ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (response == NULL) text_free(&answer->body);
    answer->body = (struct text){0};
    add_common(&response, use, path);
    add_caching(&response, answer, tag);
    if (answer->type != NULL) add_header(&response, "Content-Type", answer->type);
    if (*answer->location != 0) add_location(&response, answer->location);
    if (*answer->file_name != 0) {
        snprintf(line, sizeof line, "attachment; filename=\"%s\"", answer->file_name);
        add_header(&response, "Content-Disposition", line);
    }
    if (answer->retry_after > 0) {
        snprintf(line, sizeof line, "%d", answer->retry_after);
        add_header(&response, "Retry-After", line);
    }
    if (*answer->next != 0) {
        char link[sizeof answer->next + 24];
        snprintf(link, sizeof link, "<%s>; rel=\"next\"", answer->next);
        add_header(&response, "Link", link);
    }
    if (close) add_header(&response, "Connection", "close");
    return response;
}

struct MHD_Response *reply_unchanged(const struct answer *answer, const char *path, const char *tag)
{
    static char nothing[1];
    struct MHD_Response *response = MHD_create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    add_common(&response, REPLY_GET, path);
    add_caching(&response, answer, tag);
    return response;
}

void reply_tag(const struct answer *answer, char tag[CACHE_TAG])
{
    char hex[DIGEST_HEX];
    digest_bytes(answer->body.at != NULL ? answer->body.at : "", answer->body.length, hex);
    snprintf(tag, CACHE_TAG, "\"%.32s\"", hex);
}

void reply_allow(struct MHD_Response **response, const struct route *table, const char *path)
{
    char word[REQUEST_WORDS][256], line[64];
    bool others;
    snprintf(line, sizeof line, "%s%sOPTIONS", route_find(table, "GET", path, word, &others) != NULL ? "GET, HEAD, " : "",
             route_find(table, "POST", path, word, &others) != NULL ? "POST, " : "");
    add_header(response, "Allow", line);
}

enum problem reply_problem_of(int rc)
{
    switch (rc) {
    case ERR_MISSING: return PROBLEM_NOT_FOUND;
    case ERR_INPUT: return PROBLEM_MALFORMED;
    case ERR_DATABASE:
    case ERR_MEMORY: return PROBLEM_STORAGE;
    default: return PROBLEM_INSIDE;
    }
}

void answer_problem(struct answer *answer, enum problem problem, const char *detail, const struct findings *findings)
{
    answer->body.length = 0;
    answer->file_name[0] = 0;
    answer->location[0] = 0;
    answer->next[0] = 0;
    answer->immutable = false;
    answer->status = problem_status(problem);
    answer->type = "application/problem+json";
    problem_write(problem, detail, findings, &answer->body);
}

void reply_problem(const struct server_settings *settings, struct answer *answer, const char *path, enum problem problem,
                   const char *detail)
{
    answer_problem(answer, problem, detail, NULL);
    if (problem_status(problem) == 503 && answer->retry_after == 0) answer->retry_after = 5;
    if (for_programs(path)) return;
    answer->body.length = 0;
    answer->type = "text/html; charset=utf-8";
    settings->problem_page(problem, detail, answer);
}
