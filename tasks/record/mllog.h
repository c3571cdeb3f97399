// SPDX-License-Identifier: Apache-2.0
// A run as MLPerf's training log: lines ":::MLLOG {...}", which the compliance checker of mlcommons/logging reads (open
// division, ruleset 4.0.0, the last one with both of its benchmarks that are near to DAWN's tasks).
//
// Times are those of the run's own clock, put to the wall clock by the end of the run. init ends and the run starts where the
// data are touched for the first time. The log ends at the evaluation that met the target; without one, at the last point, as
// aborted.
#ifndef DAWN_TASKS_MLLOG_H
#define DAWN_TASKS_MLLOG_H

#include "runtime/base/text.h"
#include "tasks/record/record.h"

// `org`: who submits; NULL or "": "unknown". Refuses a run that was changed since it was recorded, and one without an evaluation.
int mllog_export(struct results *, int64_t run, const char *org, struct text *into) MUST_CHECK;

#endif
