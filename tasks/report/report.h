// SPDX-License-Identifier: Apache-2.0
// A report of a results.db: the runs and their curves, the throughput that `dawn bench` measured, rooflines, memory and the
// machines, as one HTML file without scripts or links to elsewhere, as Markdown, or as CSV of the throughput. Throughput is laid
// out in DLPerf's columns (node_num, gpu_num_per_node, batch_size_per_device, samples/s, speedup), with more behind them.
#ifndef DAWN_REPORT_REPORT_H
#define DAWN_REPORT_REPORT_H

#include "runtime/base/text.h"
#include "tasks/record/record.h"

enum report_form { REPORT_HTML, REPORT_MARKDOWN, REPORT_CSV };
// ERR_DATABASE if neither a run nor a measurement is in it; for CSV, if no measurement is.
int report_write(struct results *, enum report_form, struct text *into) MUST_CHECK;

#endif
