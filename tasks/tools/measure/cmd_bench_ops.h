// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/common/base/error.h"

struct bench_ops {
    const char *op;         // only cases whose name contains this text; NULL: all
    const char *precision;  // NULL or "auto": each type that is fast on this device
    const char *device;
    int64_t threads;
    bool measure, json;  // measure: the peaks, for shares of the product rate
};
int cmd_bench_ops(const struct bench_ops *) MUST_CHECK;
