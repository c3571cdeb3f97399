// SPDX-License-Identifier: Apache-2.0
// The digests of a data set, and of the files that a training takes besides it, found beside the work of making ready: a
// thread asks what is remembered, and reads and hashes what changed, while the main thread plans and compiles.
// dataset_facts()->remembered says which it was.
#ifndef DAWN_DIGESTS_H
#define DAWN_DIGESTS_H

#include "data/dataset.h"
#include "tasks/record/result.h"
#include "tasks/step/task_files.h"

struct digests;
// Also checks: dataset_facts()->official. The paths of the files are borrowed until digests_wait.
int digests_start(struct dataset *, const struct task_files *, struct digests **) MUST_CHECK;
int digests_wait(struct digests *) MUST_CHECK;                      // joins; the first failure, if there was one
const char *digests_hex(const struct digests *, enum split);        // after digests_wait, as what follows
// The files that were given, as the record has them; returns their number. Names are borrowed.
int digests_files(const struct digests *, struct run_file into[TASK_FILES]);
void digests_free(struct digests *);                                // joins first when nobody has; NULL is fine

#endif
