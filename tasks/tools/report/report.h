// SPDX-License-Identifier: Apache-2.0
// A report of a results.db: the runs and their curves, the throughput that `dawn bench` measured, rooflines, memory and the
// machines. It is one HTML file without scripts or external links, Markdown, or CSV of the throughput. Throughput has
// DLPerf's columns (node_num, gpu_num_per_node, batch_size_per_device, samples/s, speedup), followed by others.
#pragma once

#include "runtime/common/cli/options.h"
#include "submit/results/record.h"
#include "tasks/tools/show/sheet.h"

// Pictures are files of SVG or PNG, which the HTML shows after the runs; NULL: none. ERR_DATABASE if the record has neither a run
// nor a measurement; for CSV, if it has no measurement.
int report_write(struct results *, enum sheet_form, const struct option_list *pictures, struct text *into) MUST_CHECK;
