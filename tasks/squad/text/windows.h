// SPDX-License-Identifier: Apache-2.0
// A question and its context as sequences for an encoder: [CLS] question [SEP] part of the context [SEP]. A context that
// does not fit is cut into overlapping windows (Devlin et al. 2019, run_squad.py). Models of words read question and context
// apart. Pure arithmetic on numbers of pieces.
//
// Every piece has exactly one owner: of the windows with the piece, the one that has the most context on both sides of it
// (windows_owner).
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct windows_rule {
    int64_t length;    // length of the longest sequence, including special pieces
    int64_t stride;    // pieces between the beginnings of two windows
    int64_t question;  // pieces of a question that are read; the rest is cut off. Below length - 3
    bool apart;        // the question is a sequence of its own, and the other sequence is the context alone
};
enum { WINDOWS_SPECIAL = 3 };  // [CLS] and two [SEP]

struct windows {       // the windows of one question and one context
    int64_t question;  // pieces of the question that are read
    int64_t context;   // pieces of the context
    int64_t begin, behind;  // places before and after the context
    int64_t capacity, stride;
    int64_t count;     // at least 1: an empty context has one empty window
};
struct window {
    int64_t first, count;  // pieces of the context
};

struct windows windows_of(const struct windows_rule *, int64_t question, int64_t context);
struct window windows_at(const struct windows *, int64_t number);
int64_t windows_owner(const struct windows *, int64_t piece);
static inline int64_t windows_begin(const struct windows *w)  // the position of the context in a sequence
{
    return w->begin;
}
static inline int64_t windows_length(const struct windows *w, int64_t number)  // length of the sequence
{
    return w->begin + windows_at(w, number).count + w->behind;
}
// The places of the context's pieces [begin, end) in the sequence. False if the window does not hold all of them.
bool windows_span(const struct windows *, int64_t number, int64_t begin, int64_t end, int32_t *first, int32_t *last);
