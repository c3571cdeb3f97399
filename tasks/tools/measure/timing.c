// SPDX-License-Identifier: Apache-2.0
#include "tasks/tools/measure/timing.h"

#include <math.h>

enum { TRIAL = 2 };  // the first step touches memory; the second is timed to fit the protocol

struct timed_steps {
    const struct timing_choice *choice;
    struct timing *into;
};

static int run_steps(struct timed_steps *g, int64_t steps, double *seconds_per_step)
{
    double seconds;
    TRY(g->choice->run(g->choice->context, steps, &seconds));
    g->into->spent += seconds;
    g->into->steps += steps;
    *seconds_per_step = (seconds > 0 ? seconds : 1e-9) / (double)(steps ? steps : 1);
    return 0;
}

static int warm_up(struct timed_steps *g)
{
    struct protocol *p = &g->into->protocol;
    double step;
    TRY(run_steps(g, 1, &step));
    TRY(run_steps(g, 1, &step));
    *p = protocol_fit(step, g->choice->seconds, g->choice->repeats);
    if (p->ignored < TRIAL) p->ignored = TRIAL;
    return p->ignored > TRIAL ? run_steps(g, p->ignored - TRIAL, &step) : 0;
}

static int block_count(const struct protocol *p)
{
    return p->timed < TIMING_BLOCKS ? (int)p->timed : TIMING_BLOCKS;
}

// True if another block and the remaining repeats fit into the time limit.
static bool time_is_left(const struct timed_steps *g, const struct timing_repeat *r, int64_t steps)
{
    const struct timing *t = g->into;
    double after = (double)((t->protocol.repeats - t->repeats - 1) * t->protocol.timed);
    return t->spent + r->window.mean * ((double)steps + after) <= g->choice->seconds;
}

static int time_window(struct timed_steps *g, struct timing_repeat *r)
{
    const struct protocol *p = &g->into->protocol;
    int blocks = block_count(p);
    double block[TIMING_BLOCKS], sum = 0;
    for (int i = 0; i < blocks; i++) {
        int64_t steps = p->timed * (i + 1) / blocks - p->timed * i / blocks;
        TRY(run_steps(g, steps, &block[i]));
        sum += block[i] * (double)steps;
    }
    r->window = fit_window(block, blocks);
    r->step = sum / (double)p->timed;
    int64_t each = p->timed / blocks;
    for (int more = 0; r->window.judged && !r->window.accepted && more < blocks && time_is_left(g, r, each); more++) {
        for (int i = 1; i < blocks; i++) block[i - 1] = block[i];
        TRY(run_steps(g, each, &block[blocks - 1]));
        r->extended += each;
        r->window = fit_window(block, blocks);
        r->step = r->window.mean;
    }
    return 0;
}

static void sum_up(struct timing *t)
{
    double step[PROTOCOL_REPEATS_MAX];
    for (int64_t i = 0; i < t->repeats; i++) {
        const struct timing_repeat *r = &t->repeat[i];
        step[i] = r->step;
        t->variation = fmax(t->variation, r->window.variation);
        t->slope = fmax(t->slope, fabs(r->window.slope));
        t->judged += r->window.judged;
        t->accepted += r->window.accepted;
        t->extended += r->extended;
    }
    t->step = protocol_spread(step, (int)t->repeats);
}

int timing_run(const struct timing_choice *choice, struct timing *into)
{
    struct timed_steps g = {choice, into};
    struct others others;
    *into = (struct timing){0};
    BUG_IF(choice->repeats < 1 || choice->repeats > PROTOCOL_REPEATS_MAX);
    TRY(warm_up(&g));
    others_begin(&others);
    while (into->repeats < into->protocol.repeats) {
        TRY(time_window(&g, &into->repeat[into->repeats]));
        into->repeats++;
        if (choice->each_repeat) choice->each_repeat(choice->listener, into);
    }
    into->machine = others_end(&others);
    sum_up(into);
    return 0;
}
