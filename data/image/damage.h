// SPDX-License-Identifier: Apache-2.0
// The damaged pictures of a split (decoder_damage). Each counts once, however often it is drawn. Several threads use it at once.
// A draw sees the damage only if it needs the rows behind it.
#ifndef DAWN_DATA_DAMAGE_H
#define DAWN_DATA_DAMAGE_H

#include "data/dataset.h"

struct damage;
struct damage *damage_new(int64_t samples, int64_t limit);  // how many may be damaged; below 0: all. Never NULL
void damage_free(struct damage *);                          // NULL is fine

// A sample of the split has the damage `words`. An error where that is one more than may be.
int damage_note(struct damage *, struct dataset *, enum split, int64_t sample, const char *words) MUST_CHECK;
// A sample that an earlier process noted, whatever the limit. What is no number of a sample is passed over.
void damage_restore(struct damage *, int64_t sample);
// The first damaged sample from number `from` on; -1: there is none.
int64_t damage_next(struct damage *, int64_t from);

struct damage_report {
    int64_t count;
    int64_t first;    // the lowest number; -1: none
    char words[320];  // its name and its damage; "": an earlier process knew
};
void damage_report(struct damage *, struct damage_report *);

#endif
