// SPDX-License-Identifier: Apache-2.0
// Makes the members of a statement that come from a run's record, under their names there (docs/statements.md): all but the
// submitter's words, the division and the recipe's text. The chain binds these members, so they are made in one place.
#pragma once

#include <jansson.h>

json_t *stated_run(const json_t *record);   // takes the result of record_read; the caller ends the reference
json_t *stated_latency(const json_t *row);  // one of its latencies
// A measurement: rows of `benches` with their number of repeats, and the rows of their machine and software.
json_t *stated_bench(const json_t *rows, const json_t *machine, const json_t *software);
// The same of rows of `scalings`.
json_t *stated_scaling(const json_t *rows, const json_t *machine, const json_t *software);
