// SPDX-License-Identifier: Apache-2.0
// The digests of a data set, found beside the work of making ready: a thread asks what is remembered, and reads and hashes
// what changed, while the main thread plans and compiles. dataset_facts()->remembered says which it was.
#ifndef DAWN_DIGESTS_H
#define DAWN_DIGESTS_H

#include "data/dataset.h"

struct digests;
int digests_start(struct dataset *, struct digests **) MUST_CHECK;  // also checks: dataset_facts()->official
int digests_wait(struct digests *) MUST_CHECK;                      // joins; the first failure, if there was one
const char *digests_hex(const struct digests *, enum split);        // after digests_wait
void digests_free(struct digests *);                                // joins first when nobody has; NULL is fine

#endif
