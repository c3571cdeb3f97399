// SPDX-License-Identifier: Apache-2.0
// Invariant: at most four tries per second while the board answers, else one. The pauses of one state
// double up to a minute. A newer state may be the one that meets the target, which has to arrive within 2 s (ticket.h), so no
// pause of an older one holds it back.
#include "submit/client/pace.h"

enum { STEADY_MS = 250, AGAIN_MS = 1000, AGAIN_MAX_MS = 60000, MS_NS = 1000000 };

void pace_tried(struct pace *p, int64_t now_ns, bool newer, bool arrived)
{
    const int64_t pause_ms = p->pause_ms > 0 && !newer ? p->pause_ms : AGAIN_MS;
    p->tried_ns = now_ns;
    p->next_ns = now_ns + (arrived ? STEADY_MS : pause_ms) * MS_NS;
    if (arrived || p->ends) p->pause_ms = AGAIN_MS;
    else p->pause_ms = pause_ms * 2 < AGAIN_MAX_MS ? pause_ms * 2 : AGAIN_MAX_MS;
}

void pace_end(struct pace *p)
{
    if (!p->ends) p->next_ns = 0, p->pause_ms = AGAIN_MS;
    p->ends = true;
}

int64_t pace_due(const struct pace *p, bool newer)
{
    const int64_t soon = p->tried_ns + AGAIN_MS * (int64_t)MS_NS;
    return newer && soon < p->next_ns ? soon : p->next_ns;
}
