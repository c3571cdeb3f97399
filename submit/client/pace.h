// SPDX-License-Identifier: Apache-2.0
// When the next state of a run is sent to a board that may be down. Pure: the moment is an argument.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pace {  // zero at the beginning
    int64_t tried_ns, next_ns;  // the last try; the next of the same state
    int64_t pause_ms;           // after the next failure
    bool ends;
};
// `newer`: the state changed since the last try, so its pauses begin again.
void pace_tried(struct pace *, int64_t now_ns, bool newer, bool arrived);
// The run has ended: its last state is sent at once, and again after each second.
void pace_end(struct pace *);
// The earliest moment of the next try. A state that is newer than the one of the last try waits for a second at most.
int64_t pace_due(const struct pace *, bool newer);
