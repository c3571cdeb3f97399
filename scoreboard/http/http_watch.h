// SPDX-License-Identifier: Apache-2.0
// Deadlines of connections. libmicrohttpd's own timeout covers only inactivity, so a client that sends one byte per second could
// hold its connection forever. Here every request has a deadline.
#pragma once

#include "runtime/common/base/error.h"

struct watch;
int watch_start(struct watch **) MUST_CHECK;  // with a thread of its own
void watch_stop(struct watch *);

// Between open and close the descriptor belongs to this connection: watch_close runs before the system can reuse the number.
// `busy`: a request is in progress, and a stop lets it end.
void watch_open(struct watch *, int fd, int64_t milliseconds);
void watch_set(struct watch *, int fd, int64_t milliseconds, bool busy);
void watch_close(struct watch *, int fd);
// From now on, shuts down every idle connection.
void watch_drain(struct watch *);
int watch_busy(struct watch *);  // requests in progress
