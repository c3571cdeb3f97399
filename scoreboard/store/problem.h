// SPDX-License-Identifier: Apache-2.0
// Every reason to refuse a request, as RFC 9457 problem+json with a stable code.
#pragma once

#include "submit/format/check/check.h"

// PROBLEM(NAME, HTTP status, code, title)
#define PROBLEM_LIST                                                                                                   \
    PROBLEM(NONE, 200, "none", "Nothing is wrong")                                                                     \
    PROBLEM(MALFORMED, 400, "malformed", "The request is malformed")                                                   \
    PROBLEM(SIGNATURE, 401, "bad-signature", "The signature does not fit the statement")                               \
    PROBLEM(UNKNOWN_KEY, 401, "unknown-key", "This key has not submitted anything here")                               \
    PROBLEM(REVOKED, 403, "revoked-key", "This key was revoked or replaced here")                                              \
    PROBLEM(NOT_YOURS, 403, "not-yours", "The statement belongs to another person")                                    \
    PROBLEM(HANDLE, 403, "handle-taken", "The handle belongs to another key")                                          \
    PROBLEM(KEY_TAKEN, 403, "key-taken", "The key already has a handle")                                               \
    PROBLEM(STANDING, 403, "no-standing", "This person has no run or measurement here")                                \
    PROBLEM(NOT_FOUND, 404, "not-found", "There is nothing at this address")                                           \
    PROBLEM(METHOD, 405, "method-not-allowed", "This address does not take that method")                               \
    PROBLEM(CONFLICT, 409, "conflict", "It conflicts with a statement that is here already")                           \
    PROBLEM(COMPETITION, 409, "competition", "The competition does not take it")                                        \
    PROBLEM(LENGTH, 411, "length-required", "The request has no Content-Length")                                 \
    PROBLEM(TOO_LARGE, 413, "too-large", "The statement is larger than 1 MiB")                                         \
    PROBLEM(MEDIA, 415, "unsupported-media-type", "A statement must be sent as application/json")                             \
    PROBLEM(FOREIGN, 422, "foreign-board", "The statement is meant for another board")                                 \
    PROBLEM(CHECKS, 422, "checks-failed", "The statement fails checks")                                                \
    PROBLEM(RATE, 429, "too-many-submissions", "Too many submissions by this person in the last hour")                 \
    PROBLEM(BUSY, 429, "too-much-work", "This address asks for too much at a time")                                     \
    PROBLEM(HEADERS, 431, "headers-too-large", "The request's headers are too large")                                  \
    PROBLEM(INSIDE, 500, "internal", "The server made a mistake")                                                      \
    PROBLEM(STORAGE, 503, "storage", "The record cannot be written at the moment")
enum problem {
#define PROBLEM(name, status, code, title) PROBLEM_##name,
    PROBLEM_LIST
#undef PROBLEM
        PROBLEMS
};
int problem_status(enum problem);
const char *problem_code(enum problem);
const char *problem_title(enum problem);
// The verdict of a rule about a statement or a beat.
struct ruling {
    enum problem problem;  // NONE: it may count
    char detail[ERROR_TEXT_MAX];
};
enum { RULED = 1 };
// For rules, which return 0 to go on, RULED, or a negative error.
#define STEP(call)                                                                                                     \
    do {                                                                                                               \
        int step_rc_ = (call);                                                                                         \
        if (step_rc_ != 0) return step_rc_;                                                                            \
    } while (0)
// Stores a refusal. Returns RULED.
int problem_rule(struct ruling *, enum problem, const char *format, ...) __attribute__((format(printf, 3, 4)));
// {"type":"about:blank","title":..,"status":..,"code":..,"detail":..,"checks":[{"code","level","text"}]}
void problem_write(enum problem, const char *detail, const struct findings *, struct text *into);
