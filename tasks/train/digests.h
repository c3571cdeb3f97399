// SPDX-License-Identifier: Apache-2.0
// The digests of a data set, computed beside the work of making ready: a thread reads and hashes while the main thread
// plans and compiles, so that a believable record costs no time of its own.
#ifndef DAWN_DIGESTS_H
#define DAWN_DIGESTS_H

#include "data/dataset.h"

struct digests;
int digests_start(struct dataset *, struct digests **) MUST_CHECK;  // also verifies: dataset_facts()->official
int digests_wait(struct digests *) MUST_CHECK;                      // joins; the first failure, if there was one
const char *digests_hex(const struct digests *, enum split);        // after digests_wait
void digests_free(struct digests *);                                // joins first when nobody has; NULL is fine

#endif
