// SPDX-License-Identifier: Apache-2.0
// The chain that ties a run's points together: h_i = SHA-256(h_{i-1} || canonical JSON of point i), h_0 being the
// SHA-256 of what the run set out with. No point can be changed, left out or put in later without changing every
// hash after it. Canonical JSON: keys sorted, compact, integers and strings only.
#ifndef DAWN_FORMAT_CHAIN_H
#define DAWN_FORMAT_CHAIN_H

#include "runtime/base/file.h"

struct chain {
    unsigned char head[32];
};
struct chain_root {
    const char *nonce;          // 32 hex digits
    const char *task_digest;    // 64 hex digits, as the two below
    const char *binary_digest;
    const char *const *data_digests;  // in any order
    int data_count;
    int64_t seed;
    const char *recipe_digest;
};
struct chain_point {
    int64_t epoch;    // epochs begun, 1 for the first
    int64_t t_ns;     // end-to-end clock at the end of its evaluation
    int64_t classic_ns, warm_ns, warm_with_evaluation_ns;
    int64_t samples;  // seen since the start
    int64_t k;        // correct items; negative: not evaluated, and then not part of the JSON
    int64_t loss_micro;  // mean training loss of the epoch in millionths
};
void chain_begin(struct chain *, const struct chain_root *);
void chain_add(struct chain *, const struct chain_point *);
void chain_hex(const struct chain *, char hex[DIGEST_HEX]);
bool chain_from_hex(struct chain *, const char *hex);  // to go on from a stored head

#endif
