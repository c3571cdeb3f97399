// SPDX-License-Identifier: Apache-2.0
// A report of a results.db: the runs and their curves, the throughput that `dawn bench` measured, rooflines, memory and the
// machines. It is one HTML file without scripts or external links, Markdown, or CSV of the throughput. Throughput has
// DLPerf's columns (node_num, gpu_num_per_node, batch_size_per_device, samples/s, speedup), followed by others.
#pragma once

#include "runtime/common/cli/options.h"
#include "submit/results/record.h"
#include "tasks/tools/show/sheet.h"

struct report_pictures {  // of the HTML
    struct option_list files;  // of SVG, PNG or JPEG
    bool answers;              // to test samples, of each task that can show them, by weights of its newest run
};
// Pictures NULL: none. ERR_DATABASE if the record has neither a run nor a measurement; for CSV, if it has no measurement.
int report_write(struct results *, enum sheet_form form, const struct report_pictures *, struct text *into) MUST_CHECK;
