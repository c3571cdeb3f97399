// SPDX-License-Identifier: Apache-2.0
// Digests of a data set and of the files given to a training. A thread looks up remembered digests and hashes changed files
// while the main thread opens the device, plans and compiles. dataset_facts()->remembered says whether a digest was looked up or
// computed.
#pragma once

#include "data/dataset.h"
#include "submit/results/result.h"
#include "tasks/common/step/task.h"

struct digests;
// Also sets dataset_facts()->official. The paths of the files are borrowed until digests_wait.
int digests_start(struct dataset *, const struct task_files *, struct digests **) MUST_CHECK;
int digests_wait(struct digests *) MUST_CHECK;                      // joins the thread; returns its first failure
const char *digests_hex(const struct digests *, enum split);        // valid after digests_wait, like the functions below
// Fills in the given files as the record stores them and returns their number. Names are borrowed.
int digests_files(const struct digests *, struct run_file into[TASK_FILES]);
// Fails unless the scored samples, made from the published test samples, are the ones that the contest names.
// `scored`: task->scored_digest of the view.
int digests_check_scored(const struct task *, const struct dataset_facts *stored, const char *scored) MUST_CHECK;
// False: nobody waited, and the thread still reads the data set. It closes the data set when it is done. NULL is fine.
bool digests_end(struct digests *) MUST_CHECK;
