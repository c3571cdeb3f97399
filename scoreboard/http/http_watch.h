// SPDX-License-Identifier: Apache-2.0
// Deadlines of connections. libmicrohttpd's own timeout sees only inactivity, so a client that drips a byte a second
// would keep its place for ever; here every connection has a moment by which what it is doing must be done.
#ifndef DAWN_SCOREBOARD_HTTP_WATCH_H
#define DAWN_SCOREBOARD_HTTP_WATCH_H

#include "runtime/base/error.h"

struct watch;
int watch_start(struct watch **) MUST_CHECK;  // with a thread of its own
void watch_stop(struct watch *);

// Between open and close the descriptor is this connection's: close is told before the system can give the number away
// again. `busy`: a request is under way that a stop lets end.
void watch_open(struct watch *, int fd, int64_t milliseconds);
void watch_set(struct watch *, int fd, int64_t milliseconds, bool busy);
void watch_close(struct watch *, int fd);
// From now on, whatever is idle or becomes idle is shut down.
void watch_drain(struct watch *);
int watch_busy(struct watch *);  // requests under way

#endif
