// SPDX-License-Identifier: Apache-2.0
// The clocks of the rules: one monotonic clock that cannot be paused.
//
// Exactly one segment is open at any time. Entering another segment closes it at the same nanosecond, so the segments of a
// run always sum to its end-to-end time. There is no stop and no pause. The three clocks of docs/rules.md are sums over
// segments and can be read at any moment. Cost: one clock read per entry.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// SEGMENT(NAME, text in the record, counts in the classic clock, what happens in it)
#define SEGMENT_LIST                                                                                                   \
    SEGMENT(PROCESS, "process", true, "from the start of the process to the first line of the command")                \
    SEGMENT(INIT, "init", true, "building graphs, plans and the device")                                               \
    SEGMENT(DATA, "data", true, "reading and preparing stored samples")                                                \
    SEGMENT(COMPILE, "compile", true, "compiling and tuning for the device")                                           \
    SEGMENT(WARMUP, "warmup", true, "steps whose results are thrown away")                                             \
    SEGMENT(TRAIN, "train", true, "reset, whitening, augmentation and training steps")                                 \
    SEGMENT(EVALUATE, "evaluate", false, "measuring accuracy")                                                         \
    SEGMENT(CHECKPOINT, "checkpoint", false, "writing weights and the record")                                         \
    SEGMENT(IDLE, "idle", true, "anything else; it counts")                                                             \
    SEGMENT(AWAY, "away", false, "between an interruption and the moment at which the training was resumed")

enum segment {
#define SEGMENT(name, text, classic, what) SEGMENT_##name,
    SEGMENT_LIST
#undef SEGMENT
        SEGMENT_END
};

// All clocks at one moment. The warm clock is comparable with public speedruns, which start after everything is compiled: it
// counts only `train`. The variant with_evaluation also counts `evaluate`, because both customs exist.
struct stopwatch_clocks {
    int64_t end_to_end_ns;
    int64_t classic_ns;  // all segments except evaluate, checkpoint and away
    int64_t warm_ns;
    int64_t warm_with_evaluation_ns;
};

// One stay in a segment, in nanoseconds since the stopwatch's start. Adjacent spans of one kind are merged.
struct stopwatch_span {
    enum segment segment;
    int64_t start_ns, end_ns;
};

struct stopwatch {
    int64_t start_ns;  // time of clock_ns()
    int64_t entered_ns;
    enum segment open;
    int64_t closed_ns[SEGMENT_END];  // sums of closed spans
    struct stopwatch_span *spans;    // closed spans, in order, without gaps
    int count, capacity;
};

void stopwatch_from_process(struct stopwatch *);  // for a single run: segment `process` is open since the process began
void stopwatch_from_now(struct stopwatch *);      // for later runs of a group: segment `init` is open since now
// For a resumed training: the earlier spans, without a gap from 0 on, then `away_ns` of `away` until now. Segment `init` is
// open.
void stopwatch_resume(struct stopwatch *, const struct stopwatch_span *, int count, int64_t away_ns);
void stopwatch_free(struct stopwatch *);

// Closes the open segment and opens `next`. Entering the open segment again changes nothing. Returns the clocks at that
// moment, so the end of an evaluation and the start of the next segment are one instant.
struct stopwatch_clocks stopwatch_enter(struct stopwatch *, enum segment next);
struct stopwatch_clocks stopwatch_read(const struct stopwatch *);
int64_t stopwatch_end_to_end_ns(const struct stopwatch *);
int64_t stopwatch_warm_ns(const struct stopwatch *);

const char *stopwatch_name(enum segment);
bool stopwatch_find(const char *name, enum segment *);

// The same functions with time as an argument instead of clock_ns(), for replays and tests.
void stopwatch_start_at(struct stopwatch *, int64_t start_ns, enum segment first);
struct stopwatch_clocks stopwatch_enter_at(struct stopwatch *, enum segment next, int64_t now_ns);
struct stopwatch_clocks stopwatch_read_at(const struct stopwatch *, int64_t now_ns);
