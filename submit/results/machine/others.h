// SPDX-License-Identifier: Apache-2.0
// Detects other programs that use the machine during a measurement: the processor time in /proc/stat minus the time of this
// process. In a container /proc/stat describes the whole machine. Resolution: a tick of 10 ms on each processor, so a short
// measurement has no verdict.
#pragma once

#include "runtime/common/base/error.h"

struct others {
    int64_t wall_ns, own_ns;  // at the beginning
    int64_t busy_ticks;       // -1: /proc/stat is not readable
    int processors;
};
struct others_share {
    double own, others;  // processors in use on average, by this process and by all others; others -1: unknown
    int processors;
    bool disturbed;      // others used more than 5% of the processors and more than the resolution
};
void others_begin(struct others *);
struct others_share others_end(const struct others *);
// "other programs used 1.20 of 2 processors: ..."; NULL if the machine was quiet or that is unknown.
enum { OTHERS_TEXT = 160 };
char *others_text(const struct others_share *, const char *consequence, char into[OTHERS_TEXT]);
// The reason why measured peaks may be too low: other programs, or tries that differ by far (`spread`: device_facts.peak_spread).
// NULL: there is no reason to doubt them.
char *others_doubt(const struct others_share *, double spread, char into[OTHERS_TEXT]);

// Pure: busy ticks of all processors (including time stolen from a virtual machine), and the number of processors.
int others_parse(const char *stat, int64_t *busy_ticks, int *processors) MUST_CHECK;
struct others_share others_judge(int64_t wall_ns, int64_t own_ns, int64_t busy_ns, int64_t tick_ns, int processors);
