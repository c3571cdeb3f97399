// SPDX-License-Identifier: Apache-2.0
// Limits the CPU time per client for uncached pages: `milliseconds` per second, with bursts of up to four times as much. A client
// above its budget has to wait, so it cannot keep others from being served.
#pragma once

#include "runtime/common/base/error.h"

struct sockaddr;
struct meter;
struct meter *meter_new(int64_t milliseconds);  // 0: no limit
void meter_free(struct meter *);
// A number for an address: an IPv4 address, the first 64 bits of an IPv6 address. `forwarded` is what a proxy on this machine
// says about its client, or NULL; it counts only if `peer` is this machine (127.0.0.0/8, also as ::ffff:127.0.0.1, or ::1).
uint64_t meter_address(const struct sockaddr *peer, const char *forwarded);
// Seconds until the client may send the next request; 0: now.
int meter_wait(struct meter *, uint64_t address, int64_t now_ns);
void meter_take(struct meter *, uint64_t address, int64_t now_ns, int64_t taken_ns);
