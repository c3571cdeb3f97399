// SPDX-License-Identifier: Apache-2.0
// A question and its context as sequences for an encoder: [CLS] question [SEP] part of the context [SEP]. A context that does
// not fit is cut into windows that overlap (Devlin et al. 2019, run_squad.py). Models of words read the two apart. Pure
// arithmetic on numbers of pieces.
//
// A piece in several windows is answered by the one in which it has the most context on both sides (windows_owner): every
// piece has exactly one owner.
#ifndef DAWN_SQUAD_WINDOWS_H
#define DAWN_SQUAD_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

struct windows_rule {
    int64_t length;    // of the longest sequence, special pieces included
    int64_t stride;    // pieces from the beginning of one window to that of the next
    int64_t question;  // pieces of a question that are read; the rest is cut off. Below length - 3
    bool apart;        // the question is a sequence of its own: the other one is the context alone
};
enum { WINDOWS_SPECIAL = 3 };  // [CLS] and two [SEP]

struct windows {       // of one question on one context
    int64_t question;  // pieces that are read
    int64_t context;   // pieces
    int64_t begin, behind;  // places before the context, and after it
    int64_t room, stride;
    int64_t count;     // at least 1: an empty context has one empty window
};
struct window {
    int64_t first, count;  // pieces of the context
};

struct windows windows_of(const struct windows_rule *, int64_t question, int64_t context);
struct window windows_at(const struct windows *, int64_t number);
int64_t windows_owner(const struct windows *, int64_t piece);
static inline int64_t windows_begin(const struct windows *w)  // where the context begins in a sequence
{
    return w->begin;
}
static inline int64_t windows_length(const struct windows *w, int64_t number)  // of the sequence
{
    return w->begin + windows_at(w, number).count + w->behind;
}
// Where in the sequence the pieces [begin, end) of the context stand; false if the window does not hold all of them.
bool windows_place(const struct windows *, int64_t number, int64_t begin, int64_t end, int32_t *first, int32_t *last);

#endif
