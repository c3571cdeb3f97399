// SPDX-License-Identifier: Apache-2.0
// Checks the form of a request before anything else reads it. Pure functions over the target and the header lines.
// libmicrohttpd (0.9.75) accepts requests that a proxy may interpret differently (two lengths, a length with chunks, folded
// lines, bare line ends, NULs); every ambiguous request is refused here.
#pragma once

#include "scoreboard/http/server.h"

// Facts of the header lines: zero it, pass every line to guard_line, then call the checks.
struct guard {
    int hosts, lengths, codings, types, empty;
    bool broken;          // a character that is not allowed in a name or a value
    size_t written;       // bytes of all lines, each written as "Name: value" and CR LF
    char length[24];      // the value of Content-Length; "?" when it is longer
    char type[64];        // of Content-Type
};
void guard_line(struct guard *, const char *name, size_t name_count, const char *value, size_t value_count);
bool guard_bodiless(const char *method);  // GET, HEAD, OPTIONS: a request of this method has no body

// Each returns PROBLEM_NONE or why the request is refused, `*detail` a sentence for people.
// `head`: bytes from the method to the empty line, as they came.
enum problem guard_head(const struct guard *, const char *method, const char *target, size_t head, const char **detail);
// Splits a target into the decoded path and the raw query (NULL: none). An encoded slash stays "%2F", so that no part of a
// path gains a slash; everything else is decoded.
enum problem guard_target(const char *target, char path[GUARD_PATH + 1], const char **query, const char **detail);
// For a request with a body: the number of bytes announced.
enum problem guard_body(const struct guard *, size_t *count, const char **detail);

// True if If-None-Match names this tag ("..." with its quotes). Weak tags count too, as allowed for GET.
bool guard_matches(const char *if_none_match, const char *tag);
