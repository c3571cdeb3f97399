// SPDX-License-Identifier: Apache-2.0
// The measurements of `dawn bench` in a record, as text in 80 columns.
#pragma once

#include "runtime/common/base/text.h"
#include "submit/results/record.h"

int show_bench_list(struct results *, struct text *into) MUST_CHECK;
