// SPDX-License-Identifier: Apache-2.0
// The damaged pictures of a split (decoder_damage). Each counts once, however often it is drawn. Several threads note at once.
// The count after an epoch depends on its draws alone: a draw sees the damage only if it needs the rows behind it.
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
const char *damage_first(const struct damage *);  // while no thread notes

#endif
