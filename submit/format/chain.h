// SPDX-License-Identifier: Apache-2.0
// The hash chain over a run's points: h_i = SHA-256(h_{i-1} || canonical JSON of point i), h_0 being the
// SHA-256 of the run's initial facts. Changing, removing or inserting a point changes every hash after it. Canonical
// JSON: keys sorted, compact, integers and strings only.
//
// The chain binds every member of a statement that describes a run. The root binds the members that are known when the run
// begins, the last hash those that are known when it ends. Each latency has a hash over its figures and the root. A server
// recomputes all of them from the statement. The chain has no secret: a forger of all members can forge the hashes, too
// (docs/threats.md).
#pragma once

#include <jansson.h>

#include "runtime/common/base/file.h"
#include "submit/format/run_metric.h"

struct chain {
    unsigned char head[32];
};
struct chain_point {
    int64_t step, epoch_micro;
    int64_t t_ns;         // end-to-end clock at the end of its evaluation
    int64_t classic_ns, warm_ns, warm_with_evaluation_ns;
    int64_t samples;      // seen since the start
    int64_t stall_ns;
    int64_t loss_micro;   // mean training loss since the point before, in millionths
    const json_t *losses; // the member `losses`; NULL or empty: not part of the JSON. Its names have a canonical form
    const struct run_metric *metrics;
    int metric_count;
    int64_t score[RUN_METRICS_MAX];  // RUN_SCORE_NONE: not part of the JSON
};
// Reads a run in a statement. Members that the chain does not bind are ignored. ERR_INPUT if a text has no canonical form.
int chain_bind(struct chain *, const json_t *run) MUST_CHECK;                              // the root
int chain_end(const struct chain *, const json_t *run, char hex[DIGEST_HEX]) MUST_CHECK;   // after the last point
int chain_latency(const char *root, const json_t *latency, char hex[DIGEST_HEX]) MUST_CHECK;
void chain_add(struct chain *, const struct chain_point *);
void chain_hex(const struct chain *, char hex[DIGEST_HEX]);
bool chain_from_hex(struct chain *, const char *hex);  // continues from a stored head
