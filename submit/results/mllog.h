// SPDX-License-Identifier: Apache-2.0
// A run as MLPerf's training log: lines ":::MLLOG {...}", which the compliance checker of mlcommons/logging reads (open
// division, ruleset 4.0.0, the last one with both benchmarks that are close to DAWN's tasks). The checker refuses names of
// benchmarks that it does not know, so CIFAR10 is called "resnet"; init_start names the task.
//
// Times are of the run's own clock, shifted to the wall clock at the end of the run. init ends and the run starts when
// the data are first touched. The log ends at the evaluation that met the target. Without such an evaluation it ends at the
// last point, as aborted.
#pragma once

#include "runtime/common/base/text.h"
#include "submit/results/record.h"

// `org` names the submitter; NULL or "": "unknown". Refuses a run that was changed after it was recorded, and a run without
// an evaluation.
int mllog_export(struct results *, int64_t run, const char *org, struct text *into) MUST_CHECK;
