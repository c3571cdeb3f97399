// SPDX-License-Identifier: Apache-2.0
#include "tasks/squad/sample/buckets.h"

#include "runtime/common/base/arena.h"

#include <stdlib.h>

enum { STEPS_MAX = BUCKETS_LONGEST / BUCKETS_STEP };

struct choosing {
    int64_t below[STEPS_MAX + 1];  // samples with at most i steps
    int64_t batch, least;
    int steps;
};

// Padding that a bucket of the steps (from, to] computes, plus the cost of the samples that it leaves out.
static double waste_of(const struct choosing *c, int from, int to)
{
    double waste = (double)c->batch * to / 2;
    for (int i = from; i < to; i++) waste += (double)(c->below[i + 1] - c->below[i]) * (to - i - 1);
    return waste;
}

// best[b][i]: the least waste of the first i steps in b buckets; from[b][i]: the begin of the last of these buckets.
static int choose_limits(const struct choosing *c, int limit[BUCKETS_MOST])
{
    static const double never = 1e30;
    double best[BUCKETS_MOST + 1][STEPS_MAX + 1];
    int from[BUCKETS_MOST + 1][STEPS_MAX + 1] = {0};
    for (int b = 0; b <= BUCKETS_MOST; b++)
        for (int i = 0; i <= c->steps; i++) best[b][i] = b == 0 && i == 0 ? 0 : never;
    for (int b = 1; b <= BUCKETS_MOST; b++)
        for (int i = 1; i <= c->steps; i++)
            for (int j = 0; j < i; j++) {
                if (best[b - 1][j] == never || c->below[i] - c->below[j] < c->least) continue;
                double waste = best[b - 1][j] + waste_of(c, j, i);
                if (waste < best[b][i]) best[b][i] = waste, from[b][i] = j;
            }
    int buckets = 1;
    for (int b = 2; b <= BUCKETS_MOST; b++)
        if (best[b][c->steps] < best[buckets][c->steps]) buckets = b;
    for (int b = buckets, i = c->steps; b > 0; i = from[b--][i]) limit[b - 1] = i;
    return buckets;
}

void buckets_choose(const int32_t *lengths, int64_t count, int64_t longest, int64_t batch, int64_t least,
                    struct order_choice *into)
{
    struct choosing *c = zalloc(sizeof *c);
    int limit[BUCKETS_MOST];
    BUG_IF(longest > BUCKETS_LONGEST);
    for (int64_t i = 0; i < count; i++) {
        int steps = (lengths[i] + BUCKETS_STEP - 1) / BUCKETS_STEP;
        c->steps = steps > c->steps ? steps : c->steps;
        c->below[steps]++;
    }
    if (c->steps == 0) c->steps = 1;
    for (int i = 1; i <= STEPS_MAX; i++) c->below[i] += c->below[i - 1];
    c->batch = batch, c->least = least < count ? least : count;
    into->buckets = choose_limits(c, limit);
    for (int b = 0; b < into->buckets; b++) {
        int64_t length = (int64_t)limit[b] * BUCKETS_STEP;
        into->limit[b] = (int32_t)(length < longest ? length : longest);
        into->batch[b] = batch;
    }
    free(c);
}
