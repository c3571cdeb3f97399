// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/sample/decode.h"

#include <math.h>

struct candidate {
    int64_t piece;
    float score;
};

// Keeps the best candidates in falling order. Of equal scores the earlier piece comes first.
static int keep_candidate(struct candidate *best, int count, int64_t piece, float score)
{
    if (isnan(score) || (count == DECODE_BEST && score <= best[count - 1].score)) return count;
    int at = count < DECODE_BEST ? count++ : count - 1;
    for (; at > 0 && best[at - 1].score < score; at--) best[at] = best[at - 1];
    best[at] = (struct candidate){piece, score};
    return count;
}

bool decode_window(const struct windows *w, int64_t number, const float *start, const float *end, struct decoded *into)
{
    struct candidate starts[DECODE_BEST], ends[DECODE_BEST];
    int n = 0, m = 0;
    struct window at = windows_at(w, number);
    int64_t base = windows_begin(w) - at.first;
    bool found = false;
    for (int64_t p = at.first; p < at.first + at.count; p++) {
        if (windows_owner(w, p) == number) n = keep_candidate(starts, n, p, start[base + p]);
        m = keep_candidate(ends, m, p, end[base + p]);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int64_t first = starts[i].piece, last = ends[j].piece;
            float score = starts[i].score + ends[j].score;
            if (last < first || last - first >= DECODE_LONGEST || (found && !(score > into->score))) continue;
            *into = (struct decoded){first, last, score};
            found = true;
        }
    if (found || n == 0) return found;
    // If no pair fits, the best beginning is the whole answer.
    float alone = starts[0].score + end[base + starts[0].piece];
    *into = (struct decoded){starts[0].piece, starts[0].piece, alone};
    return !isnan(alone);
}

bool decode_words(const struct windows *w, int64_t number, const float *start, const float *end, struct decoded *into)
{
    struct window at = windows_at(w, number);
    int64_t base = windows_begin(w) - at.first, behind = at.first + at.count;
    bool found = false;
    for (int64_t first = at.first; first < behind; first++) {
        if (windows_owner(w, first) != number) continue;
        for (int64_t last = first; last < behind && last - first < DECODE_WORDS; last++) {
            float score = start[base + first] + end[base + last];
            if (isnan(score) || (found && !(score > into->score))) continue;
            *into = (struct decoded){first, last, score};
            found = true;
        }
    }
    return found;
}
