// SPDX-License-Identifier: Apache-2.0
// Which pictures of a split turned out to be damaged (decoder_damage): each counts once, however often it is drawn. Several
// threads note at once. What was counted after an epoch depends on its draws alone, because a draw sees the damage only if
// it needs the rows behind it.
#ifndef DAWN_DATA_DAMAGE_H
#define DAWN_DATA_DAMAGE_H

#include "runtime/base/error.h"

struct damage;
struct damage *damage_new(int64_t samples, int64_t limit);  // how many may be damaged; below 0: all. Never NULL
void damage_free(struct damage *);                          // NULL is fine

// Sample `what`, number `sample`, has the damage `words`. An error where that is one more than may be.
int damage_note(struct damage *, const char *what, int64_t sample, const char *words) MUST_CHECK;
int64_t damage_count(const struct damage *);
// The damaged sample with the lowest number and its damage, "train 7: Premature end of JPEG file"; "" if there is none.
const char *damage_first(const struct damage *);  // while nobody notes

#endif
