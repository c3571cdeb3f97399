// SPDX-License-Identifier: Apache-2.0
// What a statement says of a run, taken from its record: its members under their names there (docs/statements.md), without the
// words of the submitter, the division and the recipe's text. The chain binds these members, so they are made in one place.
#ifndef DAWN_TASKS_STATED_H
#define DAWN_TASKS_STATED_H

#include <jansson.h>

json_t *stated_run(const json_t *record);   // what record_read gave; the caller ends the reference
json_t *stated_latency(const json_t *row);  // one of its latencies

#endif
