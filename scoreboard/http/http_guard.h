// SPDX-License-Identifier: Apache-2.0
// What a request must look like before anything else is asked of it. Pure functions over the target and the header
// lines, no socket: libmicrohttpd (0.9.75) takes requests that a proxy in front may read otherwise (two lengths, a length
// beside chunks, folded lines, bare line ends, NULs), and whatever two readers can read in two ways is refused here.
#ifndef DAWN_SCOREBOARD_HTTP_GUARD_H
#define DAWN_SCOREBOARD_HTTP_GUARD_H

#include "scoreboard/http/server.h"

// What the header lines said: zero it, give every line to guard_line, then ask.
struct guard {
    int hosts, lengths, codings, types, empty;
    bool broken;          // a character that no name or value has
    size_t written;       // bytes of all lines, each written as "Name: value" and CR LF
    char length[24];      // the value of Content-Length; "?" when it is longer
    char type[64];        // of Content-Type
};
void guard_line(struct guard *, const char *name, size_t name_count, const char *value, size_t value_count);
bool guard_bodiless(const char *method);  // GET, HEAD, OPTIONS: a request of this method brings no body

// Each returns PROBLEM_NONE or why the request is refused, `*detail` a sentence for people.
// `head`: bytes from the method to the empty line, as they came.
enum problem guard_head(const struct guard *, const char *method, const char *target, size_t head, const char **detail);
// Splits a target into the decoded path and the query as it came (NULL: none). An encoded slash stays "%2F", so that no
// part of a path ever gains a slash; nothing else stays encoded.
enum problem guard_target(const char *target, char path[GUARD_PATH + 1], const char **query, const char **detail);
// For a request with a body: how many bytes are to come.
enum problem guard_body(const struct guard *, size_t *count, const char **detail);

// Whether If-None-Match names this tag ("..." with its quotes); weak ones count too, as they may for GET.
bool guard_matches(const char *if_none_match, const char *tag);

#endif
