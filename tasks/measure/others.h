// SPDX-License-Identifier: Apache-2.0
// Notices that other programs use the machine while something is measured: the processor time that the system has given out
// (/proc/stat), without the time that this process took. In a container /proc/stat tells of the whole machine.
// Resolution: a tick of 10 ms on each processor, so short measurements say nothing.
#ifndef DAWN_TASKS_OTHERS_H
#define DAWN_TASKS_OTHERS_H

#include "runtime/base/error.h"

struct others {
    int64_t wall_ns, own_ns;  // at the beginning
    int64_t busy_ticks;       // -1: /proc/stat cannot be read
    int processors;
};
struct others_share {
    double own, others;  // processors in use on average, by this process and by all the rest; others -1: unknown
    int processors;
    bool disturbed;      // others used more than 5% of the processors, and more than the resolution
};
void others_begin(struct others *);
struct others_share others_end(const struct others *);

// Pure: ticks that all processors were busy (the time stolen from a virtual machine too), and how many there are.
int others_parse(const char *stat, int64_t *busy_ticks, int *processors) MUST_CHECK;
struct others_share others_judge(int64_t wall_ns, int64_t own_ns, int64_t busy_ns, int64_t tick_ns, int processors);

#endif
