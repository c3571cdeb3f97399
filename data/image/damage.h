// SPDX-License-Identifier: Apache-2.0
// The damaged pictures of a split (decoder_damage). Each counts once, however often it is drawn. Several threads use it at
// once. A draw notices damage only in the rows that it needs.
#pragma once

#include "data/dataset.h"

struct damage;
struct damage *damage_new(int64_t samples, int64_t limit);  // `limit` damaged samples are accepted; below 0: any number. Never
                                                            // NULL
void damage_free(struct damage *);                          // NULL is fine

// Notes a sample of the split with the damage `words`. Fails if this exceeds the limit.
int damage_note(struct damage *, struct dataset *, enum split, int64_t sample, const char *words) MUST_CHECK;
int damage_check(struct damage *) MUST_CHECK;  // fails if more samples are marked, or were restored, than the limit allows
// Marks a sample that an earlier process noted, without a limit. Ignores numbers outside the split.
void damage_restore(struct damage *, int64_t sample);
// The first damaged sample from number `from` on; -1 if there is none.
int64_t damage_next(struct damage *, int64_t from);

struct damage_report {
    int64_t count;
    int64_t first;    // the lowest number; -1 if there is none
    char words[320];  // its name and its damage; "" if an earlier process noted it
};
void damage_report(struct damage *, struct damage_report *);
